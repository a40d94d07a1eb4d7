"""Categories: the evidence of counts under a Dirichlet prior, class by class or all together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswise.families.evidence import log_dirichlet_evidence
from bayeswise.families.special import log_gamma_ratio
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.models.averaged_naive_bayes.mixing import log_mixture
from bayeswise.models.averaged_naive_bayes.settings import AveragedSettings
from bayeswise.models.naive_bayes.categories import CategoryScores, CategoryTable, Imagined
from bayeswise.models.naive_bayes.factors import Leaving
from bayeswise.statistics import Counts, Product
from bayeswise.tables.schema import Column, Schema


@dataclass(frozen=True)
class AveragedTable(CategoryTable):
    """One column: p(level | state) mixed with p(level), by the weight of the column."""

    log_prior_odds: float = 0.0

    @classmethod
    def averaged(cls, counts: Counts, settings: AveragedSettings, column: Column) -> AveragedTable:
        plain = CategoryTable.of(counts, settings, column)
        odds = float(settings.log_prior_odds((column.name,))[0])
        return cls(column, counts, plain.count, plain.imagined, odds)

    @cached_property
    def whole(self) -> CategoryTable:
        """All classes as one."""
        count = self.count.sum(axis=0, keepdims=True)
        return CategoryTable(self.column, self.counts.pooled(), count, self.imagined)

    @cached_property
    def log_odds(self) -> float:
        """log p(relevant | rows) - log p(not relevant | rows)."""
        return self.log_prior_odds + _log_evidence_ratio(self.count, self.imagined)

    def log_probability(self) -> FloatArray:
        return log_mixture(np.asarray(self.log_odds), super().log_probability(), self.whole.log_probability())

    def log_unseen(self) -> FloatArray:
        return log_mixture(np.asarray(self.log_odds), super().log_unseen(), self.whole.log_unseen())

    def left_out(self, codes: CodeArray, leaving: Leaving) -> FloatArray:
        """Each row taken out of the counts, and so out of the weight of the column."""
        everyone = Leaving(np.zeros_like(leaving.groups), leaving.weights)
        log_relevant, log_irrelevant = super().left_out(codes, leaving), self.whole.left_out(codes, everyone)
        return log_mixture(self._log_odds_left(codes, leaving)[:, None], log_relevant, log_irrelevant)

    def _log_odds_left(self, codes: CodeArray, leaving: Leaving) -> FloatArray:
        """(n_rows,) by the chain rule: the evidence of all rows less that of the row given the others."""
        cells = self._cells(codes)
        present = cells >= 0
        at = np.where(present, cells, 0)
        weight = np.where(present, leaving.weights, 0.0)
        mine = self._log_of_row(self.count[leaving.groups, at], self.total[leaving.groups], at, weight)
        ours = self._log_of_row(self.whole.count[0, at], self.whole.total[0], at, weight)
        log_odds = self.log_odds - (mine - ours)
        vanishes = present & ~self._is_fixed(at) & (self.whole.count[0, at] <= weight)
        for row in np.flatnonzero(vanishes).tolist():
            log_odds[row] = self.log_prior_odds + self._log_ratio_without(at, row)
        return np.asarray(log_odds)

    def _log_of_row(self, count: FloatArray, total: FloatArray, at: IntArray, weight: FloatArray) -> FloatArray:
        n_cells = self.count.shape[1]
        level, below = self.imagined.by_cell(n_cells)[at], self.imagined.below(n_cells)
        return np.asarray(
            log_gamma_ratio(level + count - weight, weight) - log_gamma_ratio(below + total - weight, weight)
        )

    def _log_ratio_without(self, at: IntArray, row: int) -> float:
        """The row was the last of its level: the column has one level fewer."""
        return _log_evidence_ratio(np.delete(self.count, at[row], axis=1), self.imagined)


def _log_evidence_ratio(count: FloatArray, imagined: Imagined) -> float:
    """log p(cells | classes, relevant) - log p(cells | not relevant), of counts (n_states, n_cells)."""
    if count.shape[1] == 0:
        return 0.0
    prior = imagined.by_cell(count.shape[1])
    return float(log_dirichlet_evidence(prior, count).sum() - log_dirichlet_evidence(prior, count.sum(axis=0)))


def averaged_categories(
    columns: tuple[str, ...], statistic: Product, settings: AveragedSettings, schema: Schema
) -> CategoryScores:
    """The scores of all category columns."""
    tables = [AveragedTable.averaged(statistic[name], settings, schema[name]) for name in columns]
    positions = [schema.categories.index(name) for name in columns]
    return CategoryScores(tuple(tables), np.array(positions, dtype=np.int64))
