"""Number columns of every other family: Poisson, exponential, log-normal, gamma, ...

Conjugate families start from `smoothing` pseudo-counts of the whole column, so that a class of zeros still allows a
one. For the others a class whose likelihood has no maximum takes the limit that it climbs towards: the normal
distribution for Student's t, a spread of a tiny share (`variance_floor`) of the whole column's for a class of one
value. A class without rows takes the whole column's estimate; if that has no density either, the column says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.engines import Request
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.naive_bayes.factors import LinearTerm, pseudo_rows_of
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import Schema, positions_in

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.families.protocol import Estimate
    from bayeswise.statistics.numbers.extents import Span

_BLOCK_ROWS = 4096
_ALTERNATIVES = 25


@dataclass(frozen=True)
class Others:
    """The columns of one family that is neither normal nor categorical."""

    columns: tuple[str, ...]
    family: Any

    @property
    def name(self) -> str:
        return str(self.family.name)

    def request(self, schema: Schema) -> Request:
        return Request.numbers(self.name, self.columns, self.family.statistic)

    def scores(self, statistic: Any, settings: NaiveBayesSettings, schema: Schema) -> FamilyScores:
        positions = positions_in(schema.numbers, self.columns)
        return FamilyScores(
            self.columns, self.family, positions, statistic, settings.pseudo_rows, settings.variance_floor
        )


def without_each_row(
    family: Any, statistic: Any, values: FloatArray, groups: CodeArray, weights: FloatArray | None
) -> tuple[Any, Iterator[Any]]:
    """The whole column and then each class without each of these rows, which are the groups of what is given back."""
    n_rows = len(values)
    each = family.statistic(values, np.arange(n_rows, dtype=np.int32), n_rows, weights)

    def of_class(state: int) -> Any:
        mine, own = statistic.take(np.full(n_rows, state)), np.flatnonzero(groups == state)
        return mine.subtract(each.take(own).regroup(own, n_rows)) if len(own) else mine

    whole = statistic.pooled().take(np.zeros(n_rows, dtype=np.int64)).subtract(each)
    return whole, map(of_class, range(statistic.weight_of_rows.shape[0]))


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """One family's parameters for each state and column."""

    columns: tuple[str, ...]
    family: Any
    positions: IntArray  # of the columns in Batch.values
    statistic: Any
    pseudo_rows: float
    variance_floor: float = 0.0  # the least variance of a class, as a share of the whole column's

    @cached_property
    def parameters(self) -> tuple[Any, BoolArray]:
        """The parameters (n_states, n_columns), and where they mean anything."""
        whole = self.statistic.pooled()
        n_states = self.statistic.weight_of_rows.shape[0]
        return self._estimated(self.statistic, whole.take(np.zeros(n_states, dtype=np.int64)))

    def values(self, batch: Batch) -> FloatArray:
        return batch.values[:, self.positions]

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        for start in range(0, batch.n_rows, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            log_joint[rows] += self._log_cells(*self.parameters, self.values(batch)[rows]).sum(axis=1)

    def by_column(self, batch: Batch) -> FloatArray:
        return self._log_cells(*self.parameters, self.values(batch))

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        values = self.values(batch)
        n_states = self.statistic.weight_of_rows.shape[0]
        log_sums = np.empty((batch.n_rows, n_states))
        for start in range(0, batch.n_rows, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            taken = None if weights is None else weights[rows]
            log_sums[rows] = self._left_out_block(values[rows], groups[rows], taken)
        return log_sums

    def _left_out_block(self, values: FloatArray, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        whole, classes = without_each_row(self.family, self.statistic, values, groups, weights)
        log_sums = []
        for mine in classes:
            parameters, known = self._estimated(mine, whole)
            log_cells = np.asarray(self.family.log_density(parameters, values))  # (n_rows, n_columns)
            log_sums.append(np.where(np.isnan(values) | ~known, 0.0, log_cells).sum(axis=1))
        return np.stack(log_sums, axis=1)

    def _log_cells(self, parameters: Any, known: BoolArray, values: FloatArray) -> FloatArray:
        """(n_rows, n_columns, n_states)."""
        cells = values[:, None, :]
        log_cells = np.asarray(self.family.log_density(parameters, cells))
        return np.where(np.isnan(cells) | ~known, 0.0, log_cells).transpose(0, 2, 1)

    def _estimated(self, statistic: Any, whole: Any) -> tuple[Any, BoolArray]:
        """Parameters and where they are known; `whole` has the same groups, each the whole column."""
        estimate, prior = self.family.estimate(statistic), pseudo_rows_of(self.family, whole, self.pseudo_rows)
        if prior is not None:
            known = estimate.exists | self.family.estimate(whole).exists
            return self.family.parameters(statistic, prior), known
        own, usable = self._limited(estimate, whole)
        if usable.all():
            return own, usable
        otherwise, usable_otherwise = self._limited(self.family.estimate(whole), whole)
        chosen = {
            each.name: np.where(usable, getattr(own, each.name), getattr(otherwise, each.name)) for each in fields(own)
        }
        return type(own)(**chosen), usable | usable_otherwise

    def _limited(self, estimate: Estimate[Any], whole: Any) -> tuple[Any, BoolArray]:
        """The parameters, or their limit where there is no maximum, and where they have a density."""
        if not hasattr(self.family, "with_least_spread"):
            return estimate.parameters, estimate.exists
        least = np.sqrt(self.variance_floor) * self.family.spread_of(whole)
        found = self.family.with_least_spread(estimate.parameters, least)
        return found, np.asarray(estimate.exists | (estimate.limit & ~found.is_certain))

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        drawn = self.family.sample(self.parameters[0], len(states), generator)  # (n, n_states, n_columns)
        picked = drawn[np.arange(len(states)), states]
        return {name: picked[:, c] for c, name in enumerate(self.columns)}

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        """Numbers drawn from the model itself, the only ones that every family is sure to allow; between its values."""
        from bayeswise.explanations.account import Contribution
        from bayeswise.explanations.alternatives import short_numbers

        at = self.columns.index(column)
        drawn = self.family.sample(self.parameters[0], _ALTERNATIVES, np.random.default_rng(0))[..., at]
        grid = np.unique(np.quantile(drawn, np.linspace(0.0, 1.0, _ALTERNATIVES), method="nearest"))
        rounded = short_numbers(grid, span, whole=bool((grid == np.round(grid)).all()))
        inside = np.isfinite(self._log_cells_at(at, rounded, drawn)).any(axis=1)
        grid = rounded[inside] if inside.any() else grid
        log_cells = self._log_cells_at(at, grid, drawn)
        return tuple(Contribution(column, float(x), log_cells[k]) for k, x in enumerate(grid))

    def _log_cells_at(self, at: int, grid: FloatArray, drawn: FloatArray) -> FloatArray:
        """(n_values, n_states) of one column."""
        values = np.zeros((len(grid), len(self.columns)))
        values[:] = drawn.ravel()[0]
        values[:, at] = grid
        return self._log_cells(*self.parameters, values)[:, at]

    def linear_terms(self) -> Iterator[LinearTerm] | None:
        """Of a family whose log density is linear in x; what depends on x alone is in no difference."""
        if not hasattr(self.family, "linear_term"):
            return None
        weight, constant = self.family.linear_term(self.parameters[0])
        return (LinearTerm(name, None, weight[:, c], constant[:, c]) for c, name in enumerate(self.columns))

    def n_free_parameters(self) -> int:
        n_states = int(self.statistic.weight_of_rows.shape[0])
        return int(self.family.n_free_parameters()) * n_states * len(self.columns)
