"""Costs as a score, for `cross_validate` and `GridSearchCV`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import columns_for, decide_rows
from bayeswise.evaluation.evaluate import paid_for
from bayeswise.foundation.errors import CostError, FitError, row_number
from bayeswise.posteriors.normalise import check_posterior
from bayeswise.tables.schema.labels import Vocabulary, label_of


class ExpectedCostScorer:
    """Minus the mean cost of the actions in the true states: higher is better.

    `rows`, the table that formulas of costs are about, and `sample_weight` are routed to it if they are requested:
    `expected_cost_scorer(costs).set_score_request(rows=True)`, with scikit-learn's metadata routing enabled. In
    `TunedThresholdClassifierCV` the actions are the classes themselves, and the threshold of least cost is chosen.
    """

    def __init__(self, costs: Any = None) -> None:
        self.costs = costs
        self._requests: dict[str, Any] = {}

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, rows: Any = None) -> float:
        """The decisions of a `DecisionMaker`; of another classifier those that its posterior and the costs make."""
        if self.costs is None and hasattr(estimator, "cost_of_each"):
            return float(estimator.score(X, y, sample_weight, rows))
        states = [label_of(label) for label in estimator.classes_]
        costs = Costs.of(self.costs, states)
        columns = columns_for(costs, table_of(X, rows, costs), len(np.asarray(y)))
        posterior = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        check_posterior(posterior, states)
        truth = Vocabulary(states).encode(np.asarray(y).tolist()).astype(np.int64)
        if (truth < 0).any():
            row = int(np.argmax(truth < 0))
            raise FitError(
                f"y has {np.asarray(y).tolist()[row]!r} in row {row_number(row)}; the classifier knows {states[:8]}",
                fix="give every fold rows of every state, or leave out those of a rare one",
            )
        paid = paid_for(costs, columns, truth)
        best = decide_rows(posterior, costs, columns).best
        return -float(np.average(paid[np.arange(len(truth)), best], weights=sample_weight))

    # -- what TunedThresholdClassifierCV needs of a scorer: the cost of labels, for each threshold --------------
    _sign = -1
    _kwargs: ClassVar[Mapping[str, Any]] = {}

    def _score_func(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        """The mean cost where each predicted class is the action of that name."""
        truth, taken = np.asarray(y_true).tolist(), np.asarray(y_pred).tolist()
        if self.costs is None:
            paid = np.array([one != other for one, other in zip(truth, taken, strict=True)], dtype=np.float64)
            return float(np.average(paid, weights=sample_weight))
        costs = Costs.of(self.costs)
        if not costs.constant:
            raise CostError(
                "the costs depend on the row, which a threshold does not see", fix="use bw.DecisionMaker instead"
            )
        state_of, action_of = Vocabulary(costs.states).encode(truth), Vocabulary(costs.actions).encode(taken)
        for codes, labels, what in ((state_of, truth, "state"), (action_of, taken, "action")):
            if (codes < 0).any():
                unknown = label_of(labels[int(np.argmax(codes < 0))])
                raise CostError(
                    f"a threshold chooses between classes, and the costs have no {what} {unknown!r}",
                    fix="give costs whose actions are the classes, or use bw.DecisionMaker",
                )
        paid = paid_for(costs, {}, state_of.astype(np.int64))
        return float(np.average(paid[np.arange(len(paid)), action_of], weights=sample_weight))

    def set_score_request(self, **requests: Any) -> Self:
        """Which of `rows` and `sample_weight` to be given: True, False, or the name under which they are passed."""
        self._requests = requests
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """The requests, as scikit-learn's routing needs them."""
        request = MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        return request

    def __repr__(self) -> str:
        return f"expected_cost_scorer({self.costs!r})"


def expected_cost_scorer(costs: Any = None) -> ExpectedCostScorer:
    """Minus the mean cost, for `scoring=`: of a `DecisionMaker` by its own costs, of any classifier by these."""
    return ExpectedCostScorer(costs)


def table_of(X: Any, rows: Any, costs: Costs) -> Any:
    """The table that the formulas are about: the one given, else X with its names, else x0, x1, ..."""
    if rows is not None or costs.constant:
        return rows
    if hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__") or isinstance(X, Mapping | list | str):
        return X
    matrix = np.asarray(X)
    return {f"x{k}": matrix[:, k] for k in range(matrix.shape[1])}
