"""Columns of a family with a closed-form evidence (Poisson, exponential, geometric, ...), parameters integrated out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeswise.families.distributions import kinds_of_one_number
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.averaged_naive_bayes.mixing import Cells, LeftOutInBlocks, relevance_of
from bayeswise.models.naive_bayes.factors import pseudo_rows_of
from bayeswise.models.naive_bayes.others import FamilyScores, without_each_row
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.statistics.numbers.extents import Span

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class Posteriors:
    """The posteriors of some columns, by class and as a whole; the first axis is the classes (or rows)."""

    by_class: Any  # the conjugate posterior of each class
    as_whole: Any
    log_factor: FloatArray  # (n_columns,) log p(cells | relevant) - log p(cells | not relevant)
    known: BoolArray  # where the column has any cell at all


@dataclass(frozen=True)
class AveragedFamilyScores(LeftOutInBlocks):
    """All columns of one family."""

    columns: tuple[str, ...]
    family: Any
    positions: IntArray  # of the columns in Batch.values
    statistic: Any
    pseudo_rows: float
    log_prior_odds: FloatArray  # (n_columns,)
    temper: ClassVar[float] = 1.0  # nothing is known of what these columns say together

    def __post_init__(self) -> None:
        if pseudo_rows_of(self.family, self.statistic.pooled(), self.pseudo_rows) is None:
            able = [name for name, kind in kinds_of_one_number().items() if hasattr(kind, "is_candidate")]
            raise ParameterError(
                f"the family {self.family.name!r} has no evidence in closed form, so that its columns "
                f"({', '.join(map(repr, self.columns))}) cannot be averaged over structures",
                fix=f"choose one of {', '.join(able)}, or take them as categories",
            )

    @property
    def n_states(self) -> int:
        return int(self.statistic.weight_of_rows.shape[0])

    @cached_property
    def prior(self) -> Any:
        """Pseudo-counts like the whole column."""
        return pseudo_rows_of(self.family, self.statistic.pooled(), self.pseudo_rows)

    @cached_property
    def posteriors(self) -> Posteriors:
        whole = self.statistic.pooled()
        by_class = self.family.log_marginal(self.statistic, self.prior).sum(axis=0)
        log_factor = by_class - self.family.log_marginal(whole, self.prior)[0]
        known = self.family.estimate(whole).exists[0]
        return Posteriors(
            self.family.posterior(self.statistic, self.prior),
            self.family.posterior(whole, self.prior),
            np.where(known, log_factor, 0.0),
            known,
        )

    @property
    def log_factor(self) -> FloatArray:
        """(n_columns,)."""
        return self.posteriors.log_factor

    def cells(self, batch: Batch) -> Cells:
        """What the cells say."""
        return self._cells(batch.values[:, self.positions])

    def _cells(self, values: FloatArray) -> Cells:
        cells, posteriors = values[:, None, :], self.posteriors
        says = ~np.isnan(cells) & posteriors.known
        log_relevant = _or_zero(says, self.family.log_predictive(posteriors.by_class, cells))
        log_irrelevant = _or_zero(says, self.family.log_predictive(posteriors.as_whole, cells))
        return Cells(log_relevant, log_irrelevant, posteriors.log_factor)

    def _log_cells(self, values: FloatArray) -> FloatArray:
        """(n_rows, n_states, n_columns)."""
        return self._cells(values).mixed(self.log_prior_odds)

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        values = batch.values[:, self.positions]
        for start in range(0, batch.n_rows, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            log_joint[rows] += self._log_cells(values[rows]).sum(axis=2)

    def _blocks_left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> Iterator[Cells]:
        values = np.ascontiguousarray(batch.values[:, self.positions])
        for start in range(0, max(batch.n_rows, 1), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            yield self._left_out_block(values[rows], groups[rows], None if weights is None else weights[rows])

    def _left_out_block(self, values: FloatArray, groups: CodeArray, weights: FloatArray | None) -> Cells:
        family = self.family
        whole, classes = without_each_row(family, self.statistic, values, groups, weights)
        prior = pseudo_rows_of(family, whole, self.pseudo_rows)
        says = ~np.isnan(values) & family.estimate(whole).exists
        log_factor = -family.log_marginal(whole, prior)
        log_relevant = []
        for mine in classes:
            log_factor = log_factor + family.log_marginal(mine, prior)
            log_relevant.append(_or_zero(says, family.log_predictive(family.posterior(mine, prior), values)))
        log_irrelevant = _or_zero(says, family.log_predictive(family.posterior(whole, prior), values))
        known = family.estimate(whole).exists
        return Cells(np.stack(log_relevant, axis=1), log_irrelevant[:, None], np.where(known, log_factor, 0.0))

    # -- the rest of what scores do -------------------------------------------------------------------------------
    @cached_property
    def _plain(self) -> FamilyScores:
        """The same columns with point estimates."""
        return FamilyScores(self.columns, self.family, self.positions, self.statistic, self.pseudo_rows)

    @cached_property
    def _pooled(self) -> FamilyScores:
        return FamilyScores(self.columns, self.family, self.positions, self.statistic.pooled(), self.pseudo_rows)

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        """Relevant or not, then the cell from the posterior mean of its parameters."""
        by_class = self._plain.sample(states, generator)
        as_whole = self._pooled.sample(np.zeros_like(states), generator)
        share = relevance_of(self.log_odds)
        return {
            name: np.where(generator.random(len(states)) < share[c], by_class[name], as_whole[name])
            for c, name in enumerate(self.columns)
        }

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        """The values that the plain model would show, with what they say here."""
        from bayeswise.explanations.account import Contribution

        at = self.columns.index(column)
        shown = self._plain.alternatives(column, span)
        values = np.repeat([[float(each.value) for each in shown]], len(self.columns), axis=0).T
        log_cells = self._log_cells(values)[:, :, at]
        return tuple(Contribution(column, each.value, log_cells[k]) for k, each in enumerate(shown))

    def n_free_parameters(self) -> int:
        return self._plain.n_free_parameters()


def _or_zero(says: BoolArray, log_cells: FloatArray) -> FloatArray:
    return np.where(says, log_cells, 0.0)
