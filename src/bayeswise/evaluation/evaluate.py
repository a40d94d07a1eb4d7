"""What decisions cost on rows whose state is known, beside what else one could have done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.costs.cost_cells import RowCostError
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import Decisions, columns_for, costs_and_prior, decide_rows
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.foundation.progress import Bar
from bayeswise.models.from_table import Progress
from bayeswise.models.held_out import AS_IT_IS, Folds, HeldOut, held_out, prior_of_model
from bayeswise.posteriors.calibration_fits import LOG_LEAST
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import distinct_texts
from bayeswise.render.plain import Tabular
from bayeswise.statistics.intervals import (
    MOST_FOLDS,
    Bounds,
    Estimate,
    check_level,
    exponent_of,
    mean_with_interval,
    variance_inflation,
)
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

if TYPE_CHECKING:
    from bayeswise.evaluation.plots import ConfusionDisplay, CostsDisplay, ReliabilityDisplay


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular):
    """The decisions of a model for rows with known states, and what each action really cost there."""

    decisions: Decisions
    truth: IntArray  # (n_rows,)
    weights: FloatArray  # (n_rows,)
    paid: FloatArray  # (n_rows, n_actions) what each action costs in the true state
    columns: dict[str, FloatArray]  # those that the formulas of the costs name
    how: str = AS_IT_IS
    level: float = 0.95
    n_folds: int = 0  # as many as rows where each was left out
    log_own: FloatArray | None = None  # (n_rows,) log p(true state) where p itself is too small for a number
    in_folds: Evaluation | None = None  # of few folds, where there are many: intervals hold theirs too

    # -- in cost per case -------------------------------------------------------------------------------------
    @cached_property
    def cost(self) -> FloatArray:
        """(n_rows,) what each row really cost."""
        return self.paid[np.arange(len(self.truth)), self.decisions.best]

    @property
    def cost_per_case(self) -> Estimate:
        """The mean cost, with its interval."""
        return self._over_folds(self.cost, self._bounds, "cost_per_case")

    @cached_property
    def always(self) -> dict[Label, Estimate]:
        """The mean cost of always taking the same action, for each."""
        return {
            action: self._mean(self.paid[:, k], self._bounds_of(slice(k, k + 1)))
            for k, action in enumerate(self.decisions.actions)
        }

    @property
    def best_constant(self) -> Label:
        """The action that costs least if it must always be the same."""
        return min(self.always, key=lambda action: self.always[action].mean)

    @property
    def saved(self) -> Estimate:
        """The mean of what `best_constant` costs more than the decisions, paired row by row; above 0 they save."""
        best = self.decisions.actions.index(self.best_constant)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.paid[:, best] - self.cost
        if not np.isfinite(values).all():  # costs at both ends of the range: nothing can be said
            return Estimate(0.0, -np.inf, np.inf)
        if not values.any():
            return Estimate(0.0, 0.0, 0.0)
        return self._over_folds(values, None, "saved")

    @cached_property
    def most_probable(self) -> Estimate:
        """The mean cost of believing the most probable state and acting on it as if it were certain."""
        believed = np.argmax(self.decisions.posterior, axis=1)
        one_hot = np.eye(len(self.decisions.states))[believed]
        acted = decide_rows(one_hot, self.decisions.costs, self.columns).best
        return self._over_folds(self.paid[np.arange(len(acted)), acted], self._bounds, "most_probable")

    @property
    def perfect(self) -> Estimate:
        """The mean cost of one who knows the state of every row."""
        if not self.decisions.costs.constant:
            return self._mean(self.paid.min(axis=1), (float(self.paid.min()), np.inf))
        least = self.decisions.costs.table.min(axis=0)
        return self._mean(self.paid.min(axis=1), (float(least.min()), float(least.max())))

    @property
    def expected(self) -> Estimate:
        """The mean cost that the posteriors promised; far from what was paid, they are not calibrated."""
        return self._over_folds(self.decisions.least_cost, self._bounds, "expected")

    @property
    def beyond_promise(self) -> Estimate:
        """The mean of what was paid less what the posteriors promised, row by row; above 0 they were overconfident."""
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(np.subtract(self._bounds[1], self._bounds[0]))
            values = self.cost - self.decisions.least_cost
        if not np.isfinite(values).all():  # costs at both ends of the range: nothing can be said
            return Estimate(0.0, -np.inf, np.inf)
        return self._over_folds(values, (-size, size) if np.isfinite(size) else None, "beyond_promise")

    @property
    def beyond_entropy(self) -> Estimate:
        """The mean log-loss less the entropy of the posteriors, which is what they promise it to be."""
        log_p = np.maximum(log(self.decisions.posterior), LOG_LEAST)
        entropy = -(self.decisions.posterior * log_p).sum(axis=1)
        return self._over_folds(np.minimum(self.surprise, -LOG_LEAST) - entropy, None, "beyond_entropy")

    @cached_property
    def surprise(self) -> FloatArray:
        """(n_rows,) -log p(true state): infinite only where the model rules it out, not where p is too small."""
        own = log(self.decisions.posterior[np.arange(len(self.truth)), self.truth])
        return -(own if self.log_own is None else np.where(np.isneginf(own), self.log_own, own))

    @property
    def log_loss(self) -> Estimate:
        """The mean log-loss, with its interval."""
        if not np.isfinite(self.surprise).all():
            return Estimate(np.inf, np.inf, np.inf)
        if len(self.decisions.states) < 2:  # the only one is certain
            return Estimate(0.0, 0.0, 0.0)
        return self._over_folds(self.surprise, (0.0, np.inf), "log_loss")

    @cached_property
    def paid_by_state(self) -> FloatArray:
        """(n_actions, n_states) the mean cost of each action where each state was true; 0 where none was."""
        n_states = len(self.decisions.states)
        mass = np.maximum(np.bincount(self.truth, self.weights, minlength=n_states), np.nextafter(0.0, 1.0))
        exponent = exponent_of(self.paid)  # sums stay in range
        paid = np.ldexp(self.paid, -exponent)
        sums = [np.bincount(self.truth, self.weights * column, minlength=n_states) for column in paid.T]
        return np.asarray(np.ldexp(np.stack(sums) / mass, exponent))

    # -- in counts --------------------------------------------------------------------------------------------
    @cached_property
    def confusion(self) -> FloatArray:
        """(n_states, n_actions) the weight of rows by true state and action."""
        return self._table(self.weights)

    @cached_property
    def confusion_cost(self) -> FloatArray:
        """(n_states, n_actions) what these rows cost together; infinite where no number is large enough."""
        with np.errstate(over="ignore"):
            return self._table(self.weights * self.cost)

    @property
    def accuracy(self) -> float:
        """The share of rows whose most probable state was true."""
        return float(np.average(np.argmax(self.decisions.posterior, axis=1) == self.truth, weights=self.weights))

    def _table(self, mass: FloatArray) -> FloatArray:
        n_states, n_actions = len(self.decisions.states), len(self.decisions.actions)
        cells = np.bincount(self.truth * n_actions + self.decisions.best, mass, minlength=n_states * n_actions)
        return np.asarray(cells, dtype=np.float64).reshape(n_states, n_actions)

    def _mean(self, values: FloatArray, bounds: Bounds) -> Estimate:
        """Of what no model has a part in."""
        return mean_with_interval(values, self.weights, self.level, bounds)

    def _over_folds(self, values: FloatArray, bounds: Bounds | None, name: str) -> Estimate:
        """Of what models of folds did, which share learning rows; `name` is what it is called in few folds."""
        inflation = variance_inflation(self.n_folds)
        found = mean_with_interval(values, self.weights, self.level, bounds, inflation)
        return found if self.in_folds is None else found.around(getattr(self.in_folds, name))

    @property
    def interval(self) -> str:
        """What low and high are."""
        corrected = ", corrected for shared training rows" if self.n_folds else ""
        return f"{100 * self.level:.4g} % interval{corrected}"

    @property
    def _bounds(self) -> Bounds:
        return self._bounds_of(slice(None))

    def _bounds_of(self, actions: slice) -> Bounds:
        """The least and the largest cost there can be; formulas have a least one in these rows, and no largest one."""
        if not self.decisions.costs.constant:
            return float(self.paid[:, actions].min()), np.inf
        cells = self.decisions.costs.table[actions]
        return float(cells.min()), float(cells.max())

    # -- as data, text, pages and pictures ----------------------------------------------------------------------
    def to_columns(self) -> dict[str, list[Any]]:
        """One line for each way to act: rule, cost_per_case, low, high."""
        named = distinct_texts(self.decisions.actions)
        lines: dict[str, Estimate] = {
            "least expected cost": self.cost_per_case,
            "most probable state": self.most_probable,
            **{f"always {name}": found for name, found in zip(named, self.always.values(), strict=True)},
            "perfect knowledge": self.perfect,
        }
        return {
            "rule": list(lines),
            "cost_per_case": [found.mean for found in lines.values()],
            "low": [found.low for found in lines.values()],
            "high": [found.high for found in lines.values()],
        }

    def plot(self, ax: Any = None) -> CostsDisplay:
        """Draw the cost per case of each way to act, with intervals."""
        from bayeswise.evaluation.plots import CostsDisplay

        return CostsDisplay(self).plot(ax)

    def plot_confusion(self, ax: Any = None) -> ConfusionDisplay:
        """Draw rows and costs by true state and action."""
        from bayeswise.evaluation.plots import ConfusionDisplay

        return ConfusionDisplay(self).plot(ax)

    def plot_reliability(self, state: Any = None, ax: Any = None, *, bins: int = 10) -> ReliabilityDisplay:
        """Draw predicted against observed shares of one state, by default the first."""
        from bayeswise.evaluation.reliability import reliability

        states = self.decisions.states
        k = 0 if state is None else find_state(state, states)
        true = self.truth == k
        found = reliability(self.decisions.posterior[:, k], true, states[k], bins=bins, weights=self.weights)
        return found.plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        from bayeswise.evaluation.report import evaluation_dict

        return evaluation_dict(self)

    def to_text(self) -> str:
        """For a terminal."""
        from bayeswise.evaluation.report import evaluation_text

        return evaluation_text(self)

    def _repr_html_(self) -> str:
        from bayeswise.evaluation.report import summary

        return summary(self)

    @property
    def rows_text(self) -> str:
        """The number of rows and, with cross-validation, how they were left out: "500 rows, 5 folds"."""
        n_rows = len(self.truth)
        how = "" if self.how == AS_IT_IS else f", {self.how}"
        return f"{n_rows:,} row{'s' * (n_rows != 1)}{how}"

    def __repr__(self) -> str:
        return f"Evaluation({self.rows_text}: {self.cost_per_case} per case)"


def evaluate(
    model: Any,
    table: Any,
    costs: Any = None,
    *,
    cv: Folds = None,
    targets: Any = None,
    prior: Mapping[Any, float] | None = None,
    level: float = 0.95,
    progress: Progress | bool | None = None,
) -> Evaluation:
    """What the decisions of a model cost per case on rows whose state is known.

    Without costs they are those of a `DecisionMaker`, else 0-1 loss. `prior` {state: p} replaces the model's, where
    the rows come from elsewhere; so does that of a decision file whose path is given as costs, unless `cv` is.

    `cv` None is for rows that the model has not seen; "loo" leaves each row out, a number makes folds, both for the
    rows it has learned. A scikit-learn classifier takes `targets=y` beside its X. `progress=True` shows a bar where it
    takes long, a function is called with rows as they pass.

    >>> import bayeswise as bw
    >>> rows = [{"wind": w, "play": p} for w, p in zip("aaabbbbb", "yynnnnyn")]
    >>> model = bw.fit(rows, target="play", model="naive-bayes")
    >>> evaluate(model, rows, {"go": {"y": 0, "n": 3}, "stay": {"y": 1, "n": 0}}, cv="loo")
    Evaluation(8 rows, leave-one-out: 0.375 (0.0198 to 2.22) per case)
    """
    check_level(level)
    before = None if prior is None else prior_of_model(model, cv)
    with Bar("Evaluating", shown=False, requested=progress is True) as bar:
        step = progress if callable(progress) else bar.advance
        known = held_out(model, table, targets=targets, cv=cv, progress=step, most_folds=MOST_FOLDS)
    own = getattr(model, "costs", None), None
    given, moved = own if costs is None else costs_and_prior(costs, known.states)
    if prior is not None and before is not None:
        known = known.under(before, prior_by_state(prior, known.states))
    elif moved is not None and cv is None:
        known = known.under(prior_of_model(model, cv), moved)
    return evaluation_of(known, given, table, level=level)


def evaluation_of(known: HeldOut, costs: Any, table: Any = None, *, level: float = 0.95) -> Evaluation:
    """The evaluation of posteriors that are already there."""
    aligned = Costs.of(costs, known.states)
    columns = {}
    if not aligned.constant:
        columns = {name: cells[known.kept] for name, cells in columns_for(aligned, table, len(known.kept)).items()}
    try:
        decisions = decide_rows(known.posterior, aligned, columns)
    except RowCostError as error:
        raise error.at(int(np.flatnonzero(known.kept)[error.row])) from None
    if not len(decisions):
        raise FitError("there is no row to evaluate", fix="give rows whose state is known")
    paid = paid_for(aligned, columns, known.truth)
    found = Evaluation(
        decisions, known.truth, known.weights, paid, columns, known.how, level, known.n_folds, known.log_own
    )
    if known.in_folds is None:
        return found
    decisions = decide_rows(known.in_folds.posterior, aligned, columns)
    inside = known.in_folds
    in_folds = replace(found, decisions=decisions, how=inside.how, n_folds=inside.n_folds, log_own=inside.log_own)
    return replace(found, in_folds=in_folds)


def paid_for(costs: Costs, columns: dict[str, FloatArray], truth: IntArray) -> FloatArray:
    """(n_rows, n_actions) the cost of each action in the true state."""
    if costs.constant:
        return np.ascontiguousarray(costs.table.T)[truth]
    cells = costs.of_rows(columns, len(truth))
    paid = np.empty((len(truth), len(costs.actions)))
    for s in range(len(costs.states)):
        rows = np.flatnonzero(truth == s)
        for a, line in enumerate(cells):
            cell = line[s]
            paid[rows, a] = cell if isinstance(cell, float) else cell[rows]
    return paid


@dataclass(frozen=True)
class Comparison:
    """The mean difference in cost per case, first less second; below 0 the first is cheaper."""

    difference: Estimate
    differing_rows: int
    n_rows: int

    @property
    def decided(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.difference.low > 0.0 or self.difference.high < 0.0

    def __str__(self) -> str:
        verdict = (
            "no difference can be seen"
            if not self.decided
            else ("the first costs less" if self.difference.mean < 0 else "the second costs less")
        )
        return f"{self.difference} per case; they differ in {self.differing_rows:,} of {self.n_rows:,} rows: {verdict}"


def compare(first: Evaluation, second: Evaluation, *, level: float = 0.95) -> Comparison:
    """The paired comparison of two evaluations of the same rows: what both pay alike is not noise.

    The interval of folds is corrected for the learning rows that they share.
    """
    order = Vocabulary(second.decisions.states).positions_in(Vocabulary(first.decisions.states))  # (n_states,)
    if not np.array_equal(first.truth, order[second.truth]):
        raise ParameterError("the evaluations are about different rows", fix="evaluate both models on the same table")
    difference = first.cost - second.cost
    inflation = variance_inflation(max(first.n_folds, second.n_folds))
    found = mean_with_interval(difference, first.weights, level, inflation=inflation)
    if first.in_folds is not None or second.in_folds is not None:
        found = found.around(compare(first.in_folds or first, second.in_folds or second, level=level).difference)
    return Comparison(found, int(np.count_nonzero(difference)), len(difference))
