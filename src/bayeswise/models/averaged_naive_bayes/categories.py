"""Categories: the evidence of counts under a Dirichlet prior, class by class or all together."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from bayeswise.families.arithmetic.evidence import log_dirichlet_evidence
from bayeswise.families.arithmetic.stable_functions import log_gamma_ratio
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.averaged_naive_bayes.category_pairs import CategorySpread
from bayeswise.models.averaged_naive_bayes.mixing import Cells, log_mixture, tempered_cells
from bayeswise.models.naive_bayes.categories import CategoryScores, CategoryTable, PseudoRows
from bayeswise.models.naive_bayes.factors import Leaving
from bayeswise.models.settings.averaged import AveragedSettings
from bayeswise.statistics import ColumnCounts, Counts, PairCounts
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.schema import Schema, positions_in


@dataclass(frozen=True, eq=False)
class AveragedTable(CategoryTable):
    """One column: p(level | state) mixed with p(level), by the weight of the column."""

    log_prior_odds: float = 0.0
    temper: float = 1.0  # the exponent of what the column says of the classes

    @classmethod
    def averaged(cls, counts: Counts, settings: AveragedSettings, column: Column) -> AveragedTable:
        plain = CategoryTable.of(counts, settings, column)
        odds = float(settings.log_prior_odds((column.name,))[0])
        return cls(column, counts, plain.count, plain.pseudo_rows, odds)

    @cached_property
    def whole(self) -> CategoryTable:
        """All classes as one."""
        count = self.count.sum(axis=0, keepdims=True)
        return CategoryTable(self.column, self.counts.pooled(), count, self.pseudo_rows)

    @cached_property
    def plain(self) -> CategoryTable:
        """The column as a relevant one."""
        return CategoryTable(self.column, self.counts, self.count, self.pseudo_rows)

    @cached_property
    def log_factor(self) -> float:
        """log p(cells | relevant) - log p(cells | not relevant)."""
        return _log_evidence_ratio(self.count, self.pseudo_rows)

    @property
    def log_odds(self) -> float:
        """log p(relevant | rows) - log p(not relevant | rows)."""
        return self.log_prior_odds + self.log_factor

    def log_probability(self) -> FloatArray:
        return self._mixed(super().log_probability(), self.whole.log_probability())

    def log_unseen(self) -> FloatArray:
        return self._mixed(super().log_unseen(), self.whole.log_unseen())

    def _mixed(self, log_relevant: FloatArray, log_irrelevant: FloatArray) -> FloatArray:
        tempered = tempered_cells(log_relevant, log_irrelevant, self.temper)
        return log_mixture(np.asarray(self.log_odds), tempered, log_irrelevant)

    def cells(self, codes: CodeArray) -> tuple[FloatArray, FloatArray]:
        """(n_rows, n_states) and (n_rows, 1) what the cells say if the column is relevant, and if it is not."""
        slots = np.where(codes >= 0, codes, self.n_levels - 1 - codes)
        log_irrelevant = self.whole.with_ends()
        return tempered_cells(self.plain.with_ends(), log_irrelevant, self.temper)[slots], log_irrelevant[slots]

    def left_out(self, codes: CodeArray, leaving: Leaving) -> FloatArray:
        """Each row taken out of the counts, and so out of the weight of the column."""
        log_relevant, log_irrelevant, log_factor = self.cells_left_out(codes, leaving)
        return log_mixture((self.log_prior_odds + log_factor)[:, None], log_relevant, log_irrelevant)

    def cells_left_out(self, codes: CodeArray, leaving: Leaving) -> tuple[FloatArray, FloatArray, FloatArray]:
        """As `cells`, and the column's factor (n_rows,), for rows that were never learned."""
        everyone = Leaving(np.zeros_like(leaving.groups), leaving.weights)
        log_irrelevant = self.whole.left_out(codes, everyone)
        return self.plain.left_out(codes, leaving), log_irrelevant, self._log_factor_left(codes, leaving)

    def _log_factor_left(self, codes: CodeArray, leaving: Leaving) -> FloatArray:
        """(n_rows,) by the chain rule: the evidence of all rows less that of the row given the others."""
        cells = self._cells(codes)
        present = cells >= 0
        if not present.any():
            return np.full(len(codes), self.log_factor)
        at = np.where(present, cells, 0)
        weight = np.where(present, leaving.weights, 0.0)
        mine = self._log_of_row(self.count[leaving.groups, at], self.total[leaving.groups], at, weight)
        ours = self._log_of_row(self.whole.count[0, at], self.whole.total[0], at, weight)
        log_factor = self.log_factor - (mine - ours)
        vanishes = present & ~self._is_fixed(at) & (self.whole.count[0, at] <= weight)
        for row in np.flatnonzero(vanishes).tolist():
            log_factor[row] = self._log_ratio_without(at, row)
        return np.asarray(log_factor)

    def _log_of_row(self, count: FloatArray, total: FloatArray, at: IntArray, weight: FloatArray) -> FloatArray:
        n_cells = self.count.shape[1]
        level, below = self.pseudo_rows.by_cell(n_cells)[at], self.pseudo_rows.below(n_cells)
        return np.asarray(
            log_gamma_ratio(level + count - weight, weight) - log_gamma_ratio(below + total - weight, weight)
        )

    def _log_ratio_without(self, at: IntArray, row: int) -> float:
        """The row was the last of its level: the column has one level fewer."""
        return _log_evidence_ratio(np.delete(self.count, at[row], axis=1), self.pseudo_rows)


def _log_evidence_ratio(count: FloatArray, pseudo_rows: PseudoRows) -> float:
    """log p(cells | classes, relevant) - log p(cells | not relevant), of counts (n_states, n_cells)."""
    if count.shape[1] == 0:
        return 0.0
    prior = pseudo_rows.by_cell(count.shape[1])
    return float(log_dirichlet_evidence(prior, count).sum() - log_dirichlet_evidence(prior, count.sum(axis=0)))


@dataclass(frozen=True, eq=False)
class AveragedCategoryScores(CategoryScores):
    """The scores of all category columns."""

    tables: tuple[AveragedTable, ...]
    spread: CategorySpread | None = None  # where pairs of columns were counted

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(table.column.name for table in self.tables)

    @property
    def log_factor(self) -> FloatArray:
        """(n_columns,)."""
        return np.array([table.log_factor for table in self.tables])

    @property
    def log_odds(self) -> FloatArray:
        """(n_columns,)."""
        return np.array([table.log_odds for table in self.tables])

    def cells(self, batch: Batch) -> Cells:
        """What the cells say."""
        codes = self.own(batch.codes)
        log_relevant, log_irrelevant = zip(
            *(table.cells(codes[:, c]) for c, table in enumerate(self.tables)), strict=True
        )
        return Cells(np.stack(log_relevant, axis=2), np.stack(log_irrelevant, axis=2), self.log_factor)

    def cells_left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> Cells:
        """What the cells say where each row has never been learned."""
        codes, leaving = self.own(batch.codes), Leaving.of(groups, weights)
        parts = [table.cells_left_out(codes[:, c], leaving) for c, table in enumerate(self.tables)]
        log_relevant, log_irrelevant, log_factor = (np.stack(each, axis=-1) for each in zip(*parts, strict=True))
        if self.spread is not None:
            temper = self.spread.temper_without(codes, leaving, log_factor)
            log_relevant = tempered_cells(log_relevant, log_irrelevant, temper[:, None, None])
        return Cells(log_relevant, log_irrelevant, log_factor)

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        if self.spread is None:
            return super().left_out(batch, groups, weights)
        odds = np.array([table.log_prior_odds for table in self.tables])
        return self.cells_left_out(batch, groups, weights).mixed_and_summed(odds)

    @property
    def temper(self) -> float:
        """The exponent of what the columns say: 1, or less where pairs were counted and say the same."""
        return self.tables[0].temper if self.tables else 1.0


def averaged_categories(
    columns: tuple[str, ...],
    statistic: ColumnCounts,
    settings: AveragedSettings,
    schema: Schema,
    pairs: PairCounts | None = None,
) -> AveragedCategoryScores:
    """The scores of all category columns; with the counts of their pairs what they say together is counted once."""
    tables = tuple(AveragedTable.averaged(statistic[name], settings, schema[name]) for name in columns)
    positions = positions_in(schema.categories, columns)
    if pairs is None:
        return AveragedCategoryScores(tables, positions)
    spread = CategorySpread(tables, pairs)
    temper = spread.temper()
    return AveragedCategoryScores(tuple(replace(table, temper=temper) for table in tables), positions, spread)
