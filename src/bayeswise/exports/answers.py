"""From the scores of a model to the outputs of a query: the prediction, posteriors, and with costs an action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.decisions.costs.expressions import Expression as Formula
from bayeswise.decisions.decide import costs_and_prior
from bayeswise.exports import gaussian, mixtures, naive_bayes, networks, regression
from bayeswise.exports.row_inputs import Row, TableRow
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ExportError, KindError
from bayeswise.models.auto.model import AutoModel
from bayeswise.models.base.table_model import TableModel
from bayeswise.models.calibrated import CalibratedModel
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.regression_model import RegressionModel
from bayeswise.networks.classifiers.model import NetworkClassifierModel
from bayeswise.networks.network import BeliefNetwork
from bayeswise.posteriors.prior import shift_factors
from bayeswise.render.expression import (
    Expression,
    both,
    choose,
    either,
    equal,
    is_missing,
    label,
    least,
    negated,
    nothing,
    number,
)
from bayeswise.render.labels import probability_names
from bayeswise.tables.schema.names import free_name, normal_name


@dataclass(frozen=True)
class Answer:
    """The outputs for each row, by name, in the order in which they are returned."""

    model: Any
    outputs: Mapping[str, Expression]
    kept: tuple[str, ...] = ()  # columns of the table that are returned unchanged

    @property
    def probabilities(self) -> list[str]:
        """The names of the outputs that hold the posterior."""
        return [name for name, each in self.outputs.items() if each.op != "label"][-len(self._classes) :]

    @property
    def _classes(self) -> tuple[Any, ...]:
        return tuple(self.model.classes) if self.model.capabilities.classes else (None,)


def answer_of(model: Any, costs: Any = None, columns: Sequence[str] | None = None) -> Answer:
    """The outputs of a model for one row of a table; `columns` are kept beside them, by default those that it reads."""
    if isinstance(model, BeliefNetwork):
        raise ExportError("a belief network is not exported", fix="convert it: bayeswise network convert FILE NEW.bif")
    if not isinstance(model, TableModel):
        raise ExportError(f"{type(model).__name__} is not exported", fix="export a model that bw.fit or bw.load gives")
    kept = tuple(dict.fromkeys(model.schema.used if columns is None else columns))
    taken = {_folded(name) for name in kept}
    row = TableRow(model.schema)
    if not model.capabilities.classes:
        if costs is not None:
            raise KindError(
                f"{type(model).__name__} answers with a number, and these costs are by class", fix="leave out the costs"
            )
        return Answer(model, _number(model, row, taken), kept)
    shares = mixtures.Shares(scores_of(model, row))
    refused = row.is_refused
    valid = shares.possible if refused is None else both(negated(refused), shares.possible)
    probability = [choose(valid, each, nothing()) for each in shares.probability]
    if costs is None:
        name = _name_of_answer(model, taken)
        best = [equal(score, shares.top) for score in shares.scores[:-1]]
        outputs = {name: label(best, model.classes, valid)}
    else:
        outputs, probability = _decided(model, costs, probability, row, taken)
    names = [free_name([each], taken, _folded) for each in probability_names(model.classes)]
    return Answer(model, {**outputs, **dict(zip(names, probability, strict=True))}, kept)


def _name_of_answer(model: Any, taken: set[str]) -> str:
    """The name of the target, unless a column that is kept has it."""
    return free_name([*([model.schema.target.name] if model.schema.target else []), "predicted"], taken, _folded)


def _folded(name: str) -> str:
    """The form of a name that is compared, as databases ignore the case of letters."""
    return normal_name(name).casefold()


def _number(model: Any, row: TableRow, taken: set[str]) -> dict[str, Expression]:
    if not isinstance(model, RegressionModel):
        raise _not_exported(model)
    regression.refuse_missing(model, row)
    found = regression.mean(model, row)
    refused = row.is_refused
    return {_name_of_answer(model, taken): found if refused is None else choose(refused, nothing(), found)}


def scores_of(model: Any, row: Row) -> list[Expression]:
    """log p(class | row) of any classifier, up to a constant for each row."""
    if isinstance(model, CalibratedModel):
        return mixtures.calibrated(model.calibration, scores_of(model.model, row))
    if isinstance(model, AutoModel):
        return mixtures.mixture(model, row, scores_of)
    if isinstance(model, NaiveBayesModel):
        return naive_bayes.log_joint(model, row)
    if isinstance(model, GaussianBayesModel):
        return gaussian.log_joint(model, row)
    if isinstance(model, LogisticModel):
        if isinstance(row, TableRow):
            regression.refuse_missing(model, row)
        return regression.log_scores(model, row)
    if isinstance(model, NetworkClassifierModel):
        return networks.log_joint(model, row)
    raise _not_exported(model)


def _not_exported(model: Any) -> ExportError:
    return ExportError(
        f"a {type(model).__name__} is not exported",
        fix="export naive-bayes, averaged, gaussian, logistic, linear, tan, aode, k-dependence, markov-blanket or auto",
    )


# -- costs --------------------------------------------------------------------------------------------------------
def _decided(
    model: Any, costs: Any, probability: list[Expression], row: TableRow, taken: set[str]
) -> tuple[dict[str, Expression], list[Expression]]:
    """action and expected_cost, and the posterior under the prior of the decision."""
    table, prior = costs_and_prior(costs, model.classes)
    if prior is not None:
        factors = shift_factors(np.exp(model.log_prior), prior, model.classes)
        weights = [p * factor for p, factor in zip(probability, factors.tolist(), strict=True)]
        probability = mixtures.normalised(weights)
    cells = {name: row.number(name) for name in table.columns}
    expected = [_expected(line, probability, cells) for line in table.cells]
    lowest = least(expected)
    unknown = either(*map(is_missing, expected))
    best = [equal(each, lowest) for each in expected[:-1]]
    action, cost = (free_name([name], taken, _folded) for name in ("action", "expected_cost"))
    return {action: label(best, table.actions, negated(unknown)), cost: choose(unknown, nothing(), lowest)}, probability


def _expected(line: Sequence[Any], probability: list[Expression], cells: Mapping[str, Expression]) -> Expression:
    """sum_s p(s) cost[s], in the order of the states; one cost for all states is that cost."""
    if all(isinstance(cost, float) and cost == line[0] for cost in line):
        return choose(is_missing(probability[0]), nothing(), number(line[0]))
    total = probability[0] * _cost(line[0], cells)
    for p, cost in zip(probability[1:], line[1:], strict=True):
        total = total + p * _cost(cost, cells)
    return total


def _cost(cost: Any, cells: Mapping[str, Expression]) -> Expression:
    """A number, or a formula over columns."""
    if not isinstance(cost, Formula):
        return number(float(cost))
    found: Expression = cost.computed(cells.__getitem__, number, _divided)
    return found


def _divided(left: Expression, right: Expression) -> Expression:
    return left / choose(equal(right, 0.0), nothing(), right)  # a cost divided by 0 is unknown
