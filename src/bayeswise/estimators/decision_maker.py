"""Any classifier with probabilities, and costs: an estimator whose predictions are actions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import Tags, _safe_indexing, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import Decisions, columns_for, decide_rows
from bayeswise.decisions.policy.action_account import ActionAccount, with_change
from bayeswise.decisions.policy.rule import Rule
from bayeswise.estimators.cost_scorer import table_of
from bayeswise.estimators.inputs.targets import n_rows_of
from bayeswise.evaluation.evaluate import paid_for
from bayeswise.evaluation.novelty import ModelTail, OrdinaryRows
from bayeswise.evaluation.reliability import stakes, weights_by_stakes
from bayeswise.explanations.account import CalibratedAccount
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    CostError,
    FitError,
    MissingColumnError,
    ParameterError,
    TooLargeError,
    row_number,
)
from bayeswise.models.held_out import held_out, rows_at
from bayeswise.posteriors.calibration import fit_calibration
from bayeswise.posteriors.calibration_maps import AsItIs
from bayeswise.posteriors.normalise import check_posterior
from bayeswise.tables.encoding.one_row import series_as_frame
from bayeswise.tables.schema.labels import Label, Vocabulary, label_of

AMBIGUOUS, UNKNOWN = "ambiguous", "unknown"


def _is_model(maker: DecisionMaker) -> bool:
    return hasattr(maker.estimator, "schema")


@dataclass(eq=False, repr=False)
class DecisionMaker(ClassifierMixin, BaseEstimator):
    """The action of least expected cost, on the posterior of any classifier with `predict_proba`, or of a fitted model.

    costs       {action: {state: cost}}, `Costs` or the path of a decision file, whose prior is not used; 0-1 loss if
                there are none. Formulas name columns of X (x0, x1, ... if it has no names) or of the table given as
                `rows`
    calibrate   "temperature", "platt", "isotonic", "dirichlet" or "auto", the one that does best on rows it was not
                fitted to; fitted to posteriors of rows that were left out: exactly, where the estimator has
                `leave_one_out`, else by folds. Where costs depend on the row, rows count by what is at stake in
                them, if X or the `rows` given to `fit` have the columns that the formulas name
    novelty     the share of ordinary rows that may be called unknown: a row is `unknown` if log p(row) is as low as
                that of so few left-out rows; needs an estimator with `log_evidence`. A fitted model that is not
                fitted here again has no rows to leave out: the tail of its own distribution is used
    cv          the folds for both where nothing is exact, as scikit-learn takes them
    unknown     what is predicted for an unknown row

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["no", "no", "yes", "yes"]
    >>> costs = {"act": {"yes": 0, "no": 9}, "wait": {"yes": 1, "no": 0}}
    >>> DecisionMaker(LogisticRegression(), costs).fit(X, y).predict([[2.0], [9.0]]).tolist()
    ['wait', 'act']
    """

    __metadata_request__fit = {"rows": True}  # noqa: RUF012, scikit-learn reads it from the class

    estimator: Any = None
    costs: Any = None
    _: KW_ONLY
    calibrate: str | None = None
    novelty: float | None = None
    cv: Any = 5
    unknown: Any = UNKNOWN

    # -- learning ---------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, rows: Any = None, **fit_params: Any) -> Self:
        """Fit the classifier, then calibration and novelty if set; a fitted model, which knows these rows, is kept.

        fit_params   what the classifier's own `fit` takes besides, such as sample_weight
        """
        if self.novelty is not None and not 0.0 < self.novelty < 1.0:
            raise ParameterError(f"novelty is {self.novelty!r}", fix="give the share of rows to call unknown")
        if not _is_model(self):
            _refuse_other_things(self.estimator)
        given = self._routed(fit_params)
        self.estimator_ = self.estimator if _is_model(self) else clone(self.estimator).fit(X, y, **given)
        _refuse_without_probabilities(self.estimator_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.costs_ = self._costs()
        X, y, rows, given = _with_weight(X, y, rows, given)
        self.calibration_ = None if self.calibrate is None else self._calibration(X, y, rows, given)
        self.ordinary_ = None if self.novelty is None else OrdinaryRows.of(self._left_out_evidence(X, y, given))
        return self

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """What goes to the classifier's `fit`: everything, or what it requests where metadata routing is on."""
        if not get_config()["enable_metadata_routing"] or _is_model(self):
            return fit_params
        return dict(process_routing(self, "fit", **fit_params).estimator.fit)

    def get_metadata_routing(self) -> MetadataRouter:
        """`rows` and `sample_weight` go to `predict` and `score` if requested; the rest to the classifier."""
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    def _calibration(self, X: Any, y: Any, rows: Any, given: dict[str, Any]) -> Any:
        weights = given.get("sample_weight")
        posterior = _left_out(self.estimator_, "leave_one_out", X, y, weights)
        if posterior is None and _is_model(self):
            posterior = held_out(self.estimator_, X, targets=y, cv=10).posterior
        if posterior is None:
            posterior = cross_val_predict(
                self.estimator, X, y, cv=self.cv, method="predict_proba", params=given or None
            )
        mass = self._by_stakes(X, rows, len(posterior), weights)
        return fit_calibration(str(self.calibrate), posterior, self._positions(y), mass)

    def _by_stakes(self, X: Any, rows: Any, n_rows: int, weights: Any) -> Any:
        """Weights of rows times what is at stake in them: a map of few numbers cannot fit all, so let it fit these."""
        if self.costs_.constant:
            return weights
        try:
            columns = columns_for(self.costs_, table_of(X, rows, self.costs_), n_rows)
        except MissingColumnError:
            if rows is not None:
                raise
            return weights  # X alone does not have these columns
        stake = weights_by_stakes(stakes(self.costs_, columns, n_rows))
        return stake if weights is None else stake * np.asarray(weights, dtype=np.float64)

    def _left_out_evidence(self, X: Any, y: Any, given: dict[str, Any]) -> FloatArray:
        """log p(row) of each row under a model that has not seen it."""
        found = _left_out(self.estimator_, "leave_one_out_evidence", X, y, given.get("sample_weight"))
        if found is not None:
            return found
        if not hasattr(self.estimator_, "log_evidence"):
            raise ParameterError(
                f"{type(self.estimator_).__name__} has no log_evidence, so that it cannot detect unknown rows",
                fix="leave novelty out, or use a model of the rows such as bw.NaiveBayes()",
            )
        truth = np.asarray(y)
        evidence = np.empty(len(truth))
        for outside, inside in check_cv(self.cv, truth, classifier=True).split(np.zeros((len(truth), 1)), truth):
            part = {name: rows_at(np.asarray(value), outside) for name, value in given.items()}
            again = clone(self.estimator).fit(rows_at(X, outside), truth[outside], **part)
            evidence[inside] = again.log_evidence(rows_at(X, inside))
        return evidence

    # -- answering --------------------------------------------------------------------------------------------
    @property
    def classes_(self) -> Any:
        """The states, in the order of the columns of `predict_proba`."""
        return _classes(self._fitted())

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_states) the posterior, calibrated if `calibrate` is set."""
        X = series_as_frame(X, getattr(self, "feature_names_in_", None))
        posterior = np.asarray(self._fitted().predict_proba(X), dtype=np.float64)
        calibration = getattr(self, "calibration_", None)
        return posterior if calibration is None else np.asarray(calibration.apply(posterior))

    def decide(self, X: Any, rows: Any = None) -> Decisions:
        """The action of each row by its costs, with the expected cost of every action; novelty is ignored here."""
        X = series_as_frame(X, getattr(self, "feature_names_in_", None))
        costs = self._costs()
        posterior = self.predict_proba(X)
        check_posterior(posterior, costs.states)
        return decide_rows(posterior, costs, columns_for(costs, table_of(X, rows, costs), len(posterior)))

    def rule(self, row: Any = None) -> Rule:
        """The policy that the costs make, in words and with exact thresholds; formulas need the `row`."""
        return self._costs().rule(row)

    def predict(self, X: Any, rows: Any = None) -> Any:
        """The action of each row; `unknown` where the row is unlike any that was learned."""
        return self._as_array(self._actions(X, self.decide(X, rows)))

    def explain(self, X: Any, rows: Any = None, *, against: Any = None) -> ActionAccount:
        """Why this action for one row: posterior, threshold, what each column moved, the least change of it."""
        model = self._fitted()
        if not hasattr(model, "explain"):
            raise ParameterError(
                f"{type(model).__name__} does not provide what each column adds to its answer",
                fix="decide with an estimator of bayeswise, such as bw.NaiveBayes()",
            )
        account = model.explain(X)
        calibration = getattr(self, "calibration_", None)
        if calibration is not None and not isinstance(calibration, AsItIs):
            account = CalibratedAccount.of(account, calibration)
        costs = self._costs()
        cells = columns_for(costs, table_of(X, rows, costs), 1)
        table = costs if costs.constant else costs.for_row({name: float(value[0]) for name, value in cells.items()})
        return with_change(model, ActionAccount.of(account, table, against), keep=costs.columns)

    def refusals(self, X: Any, rows: Any = None) -> ObjectArray:
        """(n_rows,) why a row is not decided: "ambiguous" by its posterior, "unknown" by log p(row), else ""."""
        refused = np.where(self.decide(X, rows).refused, AMBIGUOUS, "").astype(object)
        if self.novelty is not None:
            refused[self.is_unknown(X)] = UNKNOWN
        return refused

    def novelty_p_value(self, X: Any) -> FloatArray:
        """(n_rows,) the share of ordinary rows at most this probable, the row itself counted."""
        if self.novelty is None:
            raise ParameterError("novelty is not set", fix="set novelty=0.01, and fit")
        model, ordinary = self._fitted(), getattr(self, "ordinary_", None)
        if ordinary is not None:
            return np.asarray(ordinary.p_value(np.asarray(model.log_evidence(X))))
        tail = ModelTail(model)
        return np.concatenate([tail.p_value(batch) for batch in model.batches(X)] or [np.zeros(0)])

    def is_unknown(self, X: Any) -> BoolArray:
        """(n_rows,) whether the row is unlike any that was learned; never, if `novelty` is not set."""
        if self.novelty is None:
            return np.zeros(self._n_rows(X), dtype=bool)
        return np.asarray(self.novelty_p_value(X) <= self.novelty)

    def score(self, X: Any, y: Any, sample_weight: Any = None, rows: Any = None) -> float:
        """Minus the mean cost of the actions in the true states: higher is better."""
        return -float(np.average(self.cost_of_each(X, y, rows), weights=sample_weight))

    def cost_of_each(self, X: Any, y: Any, rows: Any = None) -> FloatArray:
        """(n_rows,) what each row's action costs in its true state; an unknown row costs what refusing does."""
        decisions = self.decide(X, rows)
        costs = decisions.costs
        paid = paid_for(costs, columns_for(costs, table_of(X, rows, costs), len(decisions)), self._positions(y))
        taken = decisions.best.copy()
        if self.novelty is not None:
            unknown = self.is_unknown(X)
            taken[unknown] = self._refusing(costs) if unknown.any() else 0
        return np.asarray(paid[np.arange(len(taken)), taken])

    # -- inside -----------------------------------------------------------------------------------------------
    def _fitted(self) -> Any:
        if not hasattr(self, "estimator_") and _is_model(self):
            return self.estimator
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _n_rows(self, X: Any) -> int:
        """How many rows there are, without an answer for each."""
        model = self._fitted()
        return sum(batch.n_rows for batch in model.batches(X)) if _is_model(self) else n_rows_of(X)

    def _costs(self) -> Costs:
        return Costs.of(self.costs, [label_of(label) for label in _classes(self._fitted())])

    def _refusing(self, costs: Costs) -> int:
        for name in (self.unknown, costs.reject):
            if name is not None and name in costs.actions:
                return costs.actions.index(name)
        raise CostError(
            f"rows are unknown, and the costs have no action {self.unknown!r} with the cost of that",
            fix=f"add {self.unknown!r}: COST to the costs",
        )

    def _actions(self, X: Any, decisions: Decisions) -> ObjectArray:
        actions = decisions.action.copy()
        if self.novelty is not None:
            actions[self.is_unknown(X)] = self.unknown
        return actions

    def _as_array(self, actions: ObjectArray) -> Any:
        labels: set[Label] = {*self._costs().actions, *([self.unknown] if self.novelty is not None else [])}
        same = len({type(label) for label in labels}) == 1
        return np.array(actions.tolist(), dtype=None if len(actions) else object) if same else actions

    def _positions(self, y: Any) -> IntArray:
        states = Vocabulary(label_of(label) for label in _classes(self._fitted()))
        positions = states.encode(np.asarray(y).tolist()).astype(np.int64)
        if (positions < 0).any():
            row = int(np.argmax(positions < 0))
            found = f"y has {label_of(np.asarray(y)[row])!r} in row {row_number(row)}"
            raise FitError(f"{found}; the classifier knows {list(states)[:8]}", fix="leave such rows out, or fit again")
        return positions

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_") or _is_model(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and not _is_model(self):
            inner = get_tags(self.estimator)
            tags.input_tags = inner.input_tags
            if inner.classifier_tags is not None and tags.classifier_tags is not None:
                tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def _refuse_other_things(estimator: Any) -> None:
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        shown = f"the class {estimator.__name__}" if isinstance(estimator, type) else repr(estimator)
        raise ParameterError(
            f"a DecisionMaker needs a classifier; found {shown}",
            fix="give one with probabilities, such as bw.NaiveBayes(), or a fitted model",
        )


def _refuse_without_probabilities(estimator: Any) -> None:
    has_classes = hasattr(estimator, "classes") or hasattr(estimator, "classes_")
    if not (has_classes and hasattr(estimator, "predict_proba")):
        raise ParameterError(
            f"{type(estimator).__name__} has no class probabilities, which expected costs need",
            fix="use another classifier, or wrap this one in scikit-learn's CalibratedClassifierCV",
        )


def _classes(estimator: Any) -> Any:
    return estimator.classes if hasattr(estimator, "schema") else estimator.classes_


def _left_out(estimator: Any, question: str, X: Any, y: Any, weights: Any) -> FloatArray | None:
    """`leave_one_out` of an estimator, or of a fitted model, which takes its target by name; None where folds must do.

    They must where it cannot leave rows out, or where rows have selected cuts, a graph or families, and are too
    many for a fit without each.
    """
    answer = getattr(estimator, question, None)
    if answer is None:
        return None
    is_model = hasattr(estimator, "schema")
    try:
        if is_model:
            return np.asarray(answer(X, targets=y, weights=weights))
        return np.asarray(answer(X, y) if weights is None else answer(X, y, sample_weight=weights))
    except TooLargeError:
        if is_model and (weights is not None or question == "leave_one_out_evidence"):
            raise
        return None


def _with_weight(X: Any, y: Any, rows: Any, given: dict[str, Any]) -> tuple[Any, Any, Any, dict[str, Any]]:
    """The rows of weight above 0: the others are absent, and so is a class that only they have."""
    weights = given.get("sample_weight")
    if weights is None or np.ndim(weights) != 1 or not (np.asarray(weights) == 0).any():
        return X, y, rows, given
    n_rows, kept = len(weights), np.flatnonzero(np.asarray(weights) != 0)
    if n_rows_of(X) != n_rows or not len(kept):
        return X, y, rows, given  # the classifier says what is wrong with them
    parts = {
        name: _safe_indexing(value, kept) if hasattr(value, "__len__") and len(value) == n_rows else value
        for name, value in given.items()
    }
    return (
        _safe_indexing(X, kept),
        _safe_indexing(y, kept),
        None if rows is None else _safe_indexing(rows, kept),
        parts,
    )
