"""From a posterior and costs to the action of least expected cost, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from bayeswise import _kernels
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.tables import numbers_of
from bayeswise.decisions.posterior_tables import posterior_of, states_of
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, KindError, ParameterError
from bayeswise.posteriors.prior import shifted
from bayeswise.render.labels import distinct_texts
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular
from bayeswise.tables.encoding.one_row import is_row, row_in, series_as_frame, swept_for
from bayeswise.tables.schema.labels import Label, label_of
from bayeswise.tables.sources.opening import spread

if TYPE_CHECKING:
    from bayeswise.decisions.plots import ActionsDisplay, ExpectedCostDisplay, SimplexDisplay
    from bayeswise.decisions.policy.action_account import ActionAccount

_BLOCK_ROWS = 1 << 12  # a block of a few actions and states stays in the cache


@dataclass(frozen=True, eq=False)
class Decisions(Tabular):
    """The action of each row, and what every action would cost there."""

    costs: Costs  # its states in the order of the posterior
    posterior: FloatArray  # (n_rows, n_states)
    expected_cost: FloatArray  # (n_rows, n_actions)
    best: IntArray  # (n_rows,) the position of the action that was chosen
    model: Any = None  # that the posterior is of, and the rows; both None where the posterior was given
    rows: Any = None
    prior: FloatArray | None = None  # (n_states,) what a decision file put in the place of the model's

    @property
    def actions(self) -> tuple[Label, ...]:
        return self.costs.actions

    @property
    def states(self) -> tuple[Label, ...]:
        return self.costs.states

    @cached_property
    def action(self) -> ObjectArray:
        """(n_rows,) the name of the action of each row."""
        return as_labels(self.actions)[self.best]

    @cached_property
    def least_cost(self) -> FloatArray:
        """(n_rows,) the expected cost of the action that was chosen."""
        return self.expected_cost[np.arange(len(self)), self.best]

    @cached_property
    def second(self) -> IntArray:
        others = self.expected_cost.copy()
        others[np.arange(len(self)), self.best] = np.inf
        return np.asarray(np.argmin(others, axis=1))

    @property
    def runner_up(self) -> ObjectArray:
        """(n_rows,) the next best action; None where there is only one."""
        if len(self.actions) < 2:
            return np.full(len(self), None, dtype=object)
        return as_labels(self.actions)[self.second]

    @property
    def margin(self) -> FloatArray:
        """(n_rows,) what the runner-up would cost more; infinite where there is none."""
        if len(self.actions) < 2:
            return np.full(len(self), np.inf)
        with np.errstate(over="ignore"):  # costs at both ends of the range are infinitely far apart
            return np.asarray(self.expected_cost[np.arange(len(self)), self.second] - self.least_cost)

    @property
    def refused(self) -> BoolArray:
        """(n_rows,) where the action is the one that refuses: the posterior is too ambiguous for its costs."""
        if self.costs.reject is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.best == self.costs.action(self.costs.reject))

    def cost_of(self, action: Any) -> FloatArray:
        """(n_rows,) what one action would cost."""
        return np.asarray(self.expected_cost[:, self.costs.action(action)])

    def explain(self, row: Any = 0, *, against: Any = None) -> ActionAccount:
        """Why this action for a row: posterior, thresholds, and what each column moved.

        A row is its position, or a row itself (a dict, a Series, a frame of one row). Only decisions of
        `decide(model, rows, costs)` know the model and the rows.
        """
        from bayeswise.decisions.policy.action_account import explain_action

        if self.model is None:
            raise ParameterError(
                "these decisions were made from a posterior alone, without a model and its rows",
                fix="call decide(model, rows, costs).explain(0), or explain_action(model, row, costs)",
            )
        prior = None if self.prior is None else dict(zip(self.states, self.prior.tolist(), strict=True))
        if not isinstance(row, int | np.integer) or isinstance(row, bool):
            given: Any = row
            found = _row_for(self.model, given)
            return explain_action(self.model, found, self.costs, against=against, prior=prior, columns=given)
        if not 0 <= row < len(self):
            raise ParameterError(f"there is no row {row} among {len(self)} decisions", fix="count from 0")
        cells = {name: float(values[row]) for name, values in columns_for(self.costs, self.rows, len(self)).items()}
        encoded = encoded_row(self.model, self.rows, int(row))
        return explain_action(self.model, encoded, self.costs, against=against, prior=prior, columns=cells)

    def to_columns(self) -> dict[str, list[Any]]:
        """action, expected_cost, runner_up, margin and cost_ACTION of every row."""
        named = distinct_texts(self.actions)
        return {
            "action": self.action.tolist(),
            "expected_cost": self.least_cost.tolist(),
            "runner_up": self.runner_up.tolist(),
            "margin": self.margin.tolist(),
            **{f"cost_{name}": column.tolist() for name, column in zip(named, self.expected_cost.T, strict=True)},
        }

    def plot(self, ax: Any = None) -> ExpectedCostDisplay | SimplexDisplay | ActionsDisplay:
        """Draw the rows among the actions of two or three states, else how many rows each action has."""
        from bayeswise.decisions.plots import display_of

        return display_of(self).plot(ax)

    def __len__(self) -> int:
        return len(self.best)

    def _repr_html_(self) -> str:
        from bayeswise.decisions.plots import ActionsDisplay
        from bayeswise.render.page import fragment, table

        columns = ActionsDisplay(self).to_columns()
        rows = [[a, f"{n:,}", number(c) if n else ""] for a, n, c in zip(*columns.values(), strict=True)]
        return fragment(f"<h3>Decisions of {len(self):,} rows</h3>", table(["action", "rows", "expected cost"], rows))

    def __repr__(self) -> str:
        counts = np.bincount(self.best, minlength=len(self.actions))
        shares = ", ".join(f"{action}: {n:,}" for action, n in zip(self.actions, counts.tolist(), strict=True))
        mean = f", mean expected cost {number(self.least_cost.mean(), 6)}" if len(self) else ""
        return f"Decisions({len(self):,} rows; {shares}{mean})"


@overload
def decide(
    posterior: Any, costs: Any = None, *, states: Sequence[Any] | None = None, rows: Any = None
) -> Decisions: ...


@overload
def decide(posterior: Any, rows: Any, costs: Any) -> Decisions: ...


def decide(  # type: ignore[misc]  # the names of positions are those of the overloads
    posterior: Any,
    second: Any = None,
    third: Any = None,
    *,
    costs: Any = None,
    rows: Any = None,
    states: Sequence[Any] | None = None,
) -> Decisions:
    """a* = argmin_a sum_s p(s | row) cost[a][s]; of equal actions the first one in the order of the costs.

    `decide(posterior, costs)`: the posterior is {state: numbers}, a frame, or an array with `states`; `rows` is the
    table whose columns the formulas of the costs name. `decide(model, rows, costs)`: the posterior is the model's, and
    one dict or Series is one row. Costs are a `Costs`, {action: {state: number}}, or the path of a decision file, whose
    prior takes the place of the model's; without costs every mistake costs 1.

    posterior   {state: numbers}, a frame, an array (n_rows, n_states) with `states`, or a model
    second      the costs; the rows where the first argument is a model
    third       the costs where the first argument is a model
    rows        the table whose columns formulas of the costs name
    states      the states of the columns of an array

    >>> mail = Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
    >>> answer = decide({"spam": [0.99, 0.7, 0.2], "ham": [0.01, 0.3, 0.8]}, mail)
    >>> answer.action.tolist(), answer.runner_up.tolist()
    (['bin', 'ask', 'keep'], ['ask', 'keep', 'ask'])
    >>> answer.expected_cost.round(3).tolist()
    [[0.1, 0.99, 0.5], [3.0, 0.7, 0.5], [8.0, 0.2, 0.5]]

    >>> import bayeswise as bw
    >>> rows = [{"caps": c, "kind": k} for c, k in [("yes", "spam"), ("no", "ham"), ("no", "ham")]]
    >>> model = bw.fit(rows, "kind", model="naive-bayes")
    >>> decide(model, {"caps": "yes"}, mail).action.tolist()
    ['ask']
    """
    if _is_model(posterior):
        return _of_model(posterior, second if rows is None else rows, third if costs is None else costs)
    if third is not None:
        raise ParameterError(
            f"decide(model, rows, costs) needs a model; found a {type(posterior).__name__}",
            fix="call decide(posterior, costs), and rows=... for costs that depend on columns",
        )
    given = second if costs is None else costs
    known = states_of(posterior, states) if given is None else None
    table = Costs.of(given, known)
    probability, labels = posterior_of(posterior, states, table.states)
    table = table.aligned(labels)
    return decide_rows(probability, table, columns_for(table, rows, len(probability)))


def _is_model(value: Any) -> bool:
    """Whether it answers about rows: a model of ours, or an estimator of any library."""
    return hasattr(value, "predict_proba") or hasattr(value, "capabilities")


def _of_model(model: Any, rows: Any, costs: Any) -> Decisions:
    if rows is None or isinstance(rows, Costs):
        raise ParameterError("a model decides about rows, and there are none", fix="call decide(model, rows, costs)")
    if not hasattr(model, "predict_proba"):
        raise KindError(
            f"{type(model).__name__} answers with a number, and these costs are by class",
            fix="use the quantile or the mean of model.predictive(rows), or `bayeswise decide` with [number] costs",
        )
    classes = tuple(map(label_of, model.classes if hasattr(model, "classes") else model.classes_))
    aligned, prior = costs_and_prior(costs, classes)
    if spread(rows) is not None:
        return _where_rows_are(model, rows, aligned, prior)  # type: ignore[no-any-return]  # a lazy frame
    return _of_local_rows(model, rows, aligned, prior)


def _of_local_rows(model: Any, rows: Any, aligned: Costs, prior: FloatArray | None) -> Decisions:
    row = row_in(rows, model.schema.used) if hasattr(model, "schema") else None
    rows = rows if hasattr(model, "schema") else series_as_frame(rows, getattr(model, "feature_names_in_", None))
    probability = np.asarray(model.predict_proba(_features_of(model, rows)))
    if prior is not None:
        probability = shifted(probability, learned_prior(model), prior, aligned.states)
    table_of_rows = rows if row is None else swept_for(rows, row)
    columns = columns_for(aligned, table_of_rows, len(probability))
    return replace(decide_rows(probability, aligned, columns), model=model, rows=table_of_rows, prior=prior)


def _features_of(model: Any, rows: Any) -> Any:
    """The columns that an estimator was fitted with, of a frame that has others, too: the target, those of costs."""
    names = getattr(model, "feature_names_in_", None)
    columns = getattr(rows, "columns", None)
    if names is None or columns is None or not hasattr(rows, "__getitem__"):
        return rows
    known, there = list(names), list(columns)
    return rows[known] if len(there) > len(known) and set(known) <= set(there) else rows


def learned_prior(model: Any) -> FloatArray:
    """(n_states,) the prior of a model, or of the one that an estimator of ours has learned."""
    own = getattr(model, "model_", model)
    if not hasattr(own, "log_prior"):
        raise ParameterError(
            f"another prior replaces the learned one, which a {type(model).__name__} does not provide",
            fix="leave the prior out (of the decision file, too), or give a model of bw.fit",
        )
    return np.asarray(np.exp(own.log_prior))


def _where_rows_are(model: Any, rows: Any, costs: Costs, prior: FloatArray | None) -> Any:
    """The rows of a frame of Dask or Spark with their decisions, as a lazy frame of the same library."""
    if not hasattr(model, "extended"):
        raise KindError(
            f"a {type(model).__name__} does not answer where the rows are", fix="give a model of bw.fit or bw.load"
        )
    by_action = [f"cost_{name}" for name in distinct_texts(costs.actions)]
    names = ["action", "expected_cost", "runner_up", "margin", *by_action]
    storages = {name: "text" if name in ("action", "runner_up") else "float" for name in names}
    return model.extended(rows, partial(_decided, costs=costs, prior=prior), storages)


def _decided(model: Any, rows: Any, costs: Costs, prior: FloatArray | None) -> dict[str, list[Any]]:
    return _of_local_rows(model, rows, costs, prior).to_columns()


def _row_for(model: Any, row: Any) -> Any:
    """What is not a position, if it is one row, as the model takes it: an estimator takes a frame."""
    fix = "give its position, explain(0), or the row itself, explain(rows.iloc[0])"
    cells = row_in(row, model.schema.used if hasattr(model, "schema") else getattr(model, "feature_names_in_", ()))
    if cells is None or not is_row(cells):
        found = f"{len(row):,} rows" if hasattr(row, "columns") else f"a {type(row).__name__}"
        raise ParameterError(f"one row is explained; found {found}", fix=fix)
    if hasattr(model, "schema"):
        return row
    names = getattr(model, "feature_names_in_", None)
    if names is None or not set(names) <= set(cells):
        raise ParameterError("an estimator of an array explains a row by its position", fix="give explain(0)")
    import pandas as pd  # an estimator with names of columns was fitted with a frame

    return pd.DataFrame([{name: cells[name] for name in names}])


def encoded_row(model: Any, rows: Any, row: int) -> Any:
    """One row of a table, by its position, as the model encodes it; an estimator takes rows of its own matrix."""
    if not hasattr(model, "batches"):
        features = _features_of(model, rows)
        return features.iloc[[row]] if hasattr(features, "iloc") else features[row : row + 1]
    first = 0
    for batch in model.batches(rows):
        if row < first + batch.n_rows:
            return batch.rows(slice(row - first, row - first + 1))
        first += batch.n_rows
    raise ParameterError(f"there is no row {row} in a table of {first} rows", fix="count from 0")


def costs_and_prior(costs: Any, classes: tuple[Label, ...]) -> tuple[Costs, FloatArray | None]:
    """Costs in the order of a model's classes, and a decision file's prior; without costs every mistake costs 1."""
    from bayeswise.decisions.costs.decision_file import DecisionFile

    decision = DecisionFile.read(costs, classes) if isinstance(costs, str | PathLike) else costs
    if isinstance(decision, DecisionFile):
        return decision.costs.aligned(classes), decision.prior_of(classes)
    return Costs.of(decision, classes), None


def columns_for(costs: Costs, rows: Any, n_rows: int) -> dict[str, FloatArray]:
    """The columns that the formulas of the costs need, as many rows as there are decisions."""
    if costs.constant:
        return {}
    if rows is None:
        raise CostError(
            f"the costs depend on the columns {', '.join(map(repr, costs.columns))}", fix="give the table: rows=..."
        )
    columns = numbers_of(rows, costs.columns)
    for name, values in columns.items():
        if len(values) != n_rows:
            raise ParameterError(
                f"column {name!r} of the rows has {len(values)} cells for {n_rows} posteriors",
                fix="give the rows that the posterior is about",
            )
    return columns


def decide_rows(probability: FloatArray, costs: Costs, columns: dict[str, FloatArray]) -> Decisions:
    """The decisions for a checked posterior whose states are in the order of the costs."""
    n_rows = len(probability)
    expected = np.empty((len(costs.actions), n_rows))  # action by action, so that blocks are written in one piece
    best = np.zeros(n_rows, dtype=np.int64)
    if costs.constant:
        _kernels.expected_costs(np.ascontiguousarray(probability), costs.table, expected, best)
        return Decisions(costs, probability, expected.T, best)
    cells = costs.of_rows(columns, n_rows)
    for rows in blocks(n_rows):
        share = np.ascontiguousarray(probability[rows].T)  # (n_states, n_block_rows)
        for a, line in enumerate(cells):
            _weigh(share, line, rows, expected[a, rows])
        _first_least(expected[:, rows], best[rows])
    return Decisions(costs, probability, expected.T, best)


def blocks(n_rows: int) -> Iterator[slice]:
    """Ranges of rows that fit into the cache."""
    for start in range(0, n_rows, _BLOCK_ROWS):
        yield slice(start, min(start + _BLOCK_ROWS, n_rows))


def _first_least(block: FloatArray, best: IntArray) -> None:
    """The position of the least of each column, the first one where several are; NaN never wins, as none gets here."""
    least = block[0].copy()
    for k in range(1, len(block)):
        np.copyto(best, k, where=block[k] < least)
        np.minimum(least, block[k], out=least)


def _weigh(share: FloatArray, line: list[Any], rows: slice, total: FloatArray) -> None:
    """sum_s p(s) cost[s], always in the same order, so that one row and a million give the same digits."""
    if all(isinstance(cell, float) and cell == line[0] for cell in line):
        total[:] = line[0]  # not cost * sum(p), which may miss the cost by a rounding
        return
    total[:] = 0.0
    for p, cell in zip(share, line, strict=True):
        if not isinstance(cell, float):
            total += p * cell[rows]
        elif cell != 0.0:
            total += p * cell


def as_labels(labels: Sequence[Label]) -> ObjectArray:
    """Labels as an array that keeps their types."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array
