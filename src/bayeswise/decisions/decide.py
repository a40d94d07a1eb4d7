"""From a posterior and costs to the action of least expected cost, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise import _kernels
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.tables import numbers_of
from bayeswise.decisions.posterior_tables import posterior_of, states_of
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from bayeswise.foundation.errors import CostError, ParameterError
from bayeswise.render.labels import told_apart
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.decisions.plots import ActionsDisplay, ExpectedCostDisplay, SimplexDisplay

_BLOCK_ROWS = 1 << 12  # a block of a few actions and states stays in the cache


@dataclass(frozen=True, eq=False)
class Decisions(Tabular):
    """The action of each row, and what every action would cost there."""

    costs: Costs  # its states in the order of the posterior
    posterior: FloatArray  # (n_rows, n_states)
    expected_cost: FloatArray  # (n_rows, n_actions)
    best: IntArray  # (n_rows,) the position of the action that was chosen

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
    def _second(self) -> IntArray:
        others = self.expected_cost.copy()
        others[np.arange(len(self)), self.best] = np.inf
        return np.asarray(np.argmin(others, axis=1))

    @property
    def runner_up(self) -> ObjectArray:
        """(n_rows,) the next best action; None where there is only one."""
        if len(self.actions) < 2:
            return np.full(len(self), None, dtype=object)
        return as_labels(self.actions)[self._second]

    @property
    def margin(self) -> FloatArray:
        """(n_rows,) what the runner-up would cost more; infinite where there is none."""
        if len(self.actions) < 2:
            return np.full(len(self), np.inf)
        with np.errstate(over="ignore"):  # costs at both ends of the range are infinitely far apart
            return np.asarray(self.expected_cost[np.arange(len(self)), self._second] - self.least_cost)

    @property
    def refused(self) -> BoolArray:
        """(n_rows,) where the action is the one that refuses: the posterior is too ambiguous for its costs."""
        if self.costs.reject is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.best == self.costs.action(self.costs.reject))

    def cost_of(self, action: Any) -> FloatArray:
        """(n_rows,) what one action would cost."""
        return np.asarray(self.expected_cost[:, self.costs.action(action)])

    def to_columns(self) -> dict[str, list[Any]]:
        """action, expected_cost, runner_up, margin and cost_ACTION of every row."""
        named = told_apart(self.actions)
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

    def __repr__(self) -> str:
        counts = np.bincount(self.best, minlength=len(self.actions))
        shares = ", ".join(f"{action}: {n:,}" for action, n in zip(self.actions, counts.tolist(), strict=True))
        mean = f", mean expected cost {self.least_cost.mean():.6g}" if len(self) else ""
        return f"Decisions({len(self):,} rows; {shares}{mean})"


def decide(posterior: Any, costs: Any = None, *, states: Sequence[Any] | None = None, rows: Any = None) -> Decisions:
    """a* = argmin_a sum_s p(s | row) cost[a][s]; of equal actions the first one in the order of the costs.

    The posterior is {state: numbers}, a frame, or an array with `states`; `rows` is the table whose columns the
    formulas of the costs name. Without costs every mistake costs 1.

    >>> mail = Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
    >>> answer = decide({"spam": [0.99, 0.7, 0.2], "ham": [0.01, 0.3, 0.8]}, mail)
    >>> answer.action.tolist(), answer.runner_up.tolist()
    (['bin', 'ask', 'keep'], ['ask', 'keep', 'ask'])
    >>> answer.expected_cost.round(3).tolist()
    [[0.1, 0.99, 0.5], [3.0, 0.7, 0.5], [8.0, 0.2, 0.5]]
    """
    known = states_of(posterior, states) if costs is None else None
    table = Costs.zero_one(known) if known else costs if isinstance(costs, Costs) else Costs(costs)
    probability, labels = posterior_of(posterior, states, table.states)
    table = table.aligned(labels)
    return decide_rows(probability, table, columns_for(table, rows, len(probability)))


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
    """The decisions for a checked posterior whose states stand in the order of the costs."""
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
