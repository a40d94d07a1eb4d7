"""Pairs of categories, and of normal columns: a factor that counts them, and how often naive Bayes counts them twice.

As redundancy.py has it for normal columns, the log-likelihood ratio of two classes a and b is a sum over columns, of
scores s_j(level) = log p(level | a) - log p(level | b). Among the rows of a its variance would be V0 = sum_j Var(s_j)
if columns were independent, and is V = sum_ij Cov(s_i, s_j) by the counts of pairs: all is tempered by V0 / V.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.engines.request import ColumnStatistic, Request
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.averaged_naive_bayes.mixing import relevance_of
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.factors import Factor, Leaving
from bayeswise.models.naive_bayes.normal_columns import NormalScores, Numbers
from bayeswise.models.settings.averaged import given_temper
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.statistics.counts.pair_counts import PairCounts
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.models.averaged_naive_bayes.categories import AveragedTable
    from bayeswise.statistics.numbers.scatter import PairSums


_BLOCK_CELLS = 1 << 20


@dataclass(frozen=True)
class CategoryPairs:
    """Counts of all pairs of category columns; it says nothing of its own."""

    counted: tuple[str, ...]

    name = "pairs of categories"
    columns: tuple[str, ...] = ()

    def request(self, schema: Schema) -> Request:
        declared = [schema[column].levels for column in self.counted]

        def count(codes: Any, levels: Any, groups: Any, n_groups: int, weights: Any) -> PairCounts:
            return PairCounts.of(codes, levels, groups, n_groups, weights, declared)

        return Request({self.name: ColumnStatistic("categories", self.counted, count)})


@dataclass(frozen=True, eq=False)
class CategorySpread:
    """The counts of pairs beside the tables of the columns; slots are levels, then missing, column by column."""

    tables: tuple[AveragedTable, ...]
    pairs: PairCounts

    @cached_property
    def column(self) -> IntArray:
        """(n_slots,) the column of each slot."""
        return np.repeat(np.arange(len(self.tables)), [table.n_levels + 1 for table in self.tables])

    @cached_property
    def joint(self) -> FloatArray:
        """(n_states, n_slots, n_slots) the weight of each pair; the diagonal counts single slots."""
        return self.pairs.weight.to_floats()

    @cached_property
    def rows(self) -> FloatArray:
        """(n_states,)."""
        return self.pairs.rows.to_floats()

    @cached_property
    def apart(self) -> FloatArray:
        """(n_slots, n_slots) 1 for pairs of two columns."""
        return np.asarray(self.column[:, None] != self.column, dtype=np.float64)

    def temper(self) -> float:
        """The factor of all rows."""
        no_row = Leaving(np.zeros(1, dtype=np.int32), np.zeros(1))
        share = relevance_of(np.array([[table.log_factor for table in self.tables]]))
        return float(self._tempers(np.zeros((1, len(self.column))), no_row, share)[0])

    def temper_without(self, codes: CodeArray, leaving: Leaving, log_factor: FloatArray) -> FloatArray:
        """(n_rows,) the factor without each row; log_factor is (n_rows, n_columns), without it too."""
        step = max(1, _BLOCK_CELLS // (len(self.column) * len(self.rows)))
        found = np.empty(len(codes))
        sizes = np.array([table.n_levels for table in self.tables])
        starts = np.concatenate([[0], np.cumsum(sizes + 1)[:-1]])
        for start in range(0, len(codes), step):
            part = slice(start, start + step)
            own = np.where(codes[part] >= 0, codes[part], sizes) + starts
            shown = np.zeros((len(own), len(self.column)))
            np.put_along_axis(shown, own, 1.0, axis=1)
            leaves = Leaving(leaving.groups[part], leaving.weights[part])
            found[part] = self._tempers(shown, leaves, relevance_of(log_factor[part]))
        return found

    def _tempers(self, shown: FloatArray, leaving: Leaving, share: FloatArray) -> FloatArray:
        """(n_rows,) where rows with these slots (n_rows, n_slots) are left out."""
        n_states, n_rows = len(self.rows), len(shown)
        own = leaving.groups[:, None] == np.arange(n_states)  # (n_rows, n_states)
        gone = own * leaving.weights[:, None]
        log_p = self._log_probability(shown, gone)
        left = np.maximum(self.rows - gone, 0.0)
        log_sum, total = np.zeros(n_rows), np.zeros(n_rows)
        weigh = share[:, self.column]
        for a in range(n_states):
            for b in range(n_states):
                if a != b:
                    weight = left[:, a] * left[:, b]
                    score = weigh * (log_p[:, a] - log_p[:, b])
                    log_sum += weight * self._log_ratio(score, a, shown, gone[:, a], left[:, a])
                    total += weight
        mean = np.divide(log_sum, total, out=np.zeros(n_rows), where=total > 0)
        return np.exp(np.minimum(mean, 0.0))

    def _log_ratio(
        self, score: FloatArray, a: int, shown: FloatArray, gone: FloatArray, left: FloatArray
    ) -> FloatArray:
        """(n_rows,) log V0 - log V among the rows of a that are left; one pseudo-row knows of no pair."""
        n = np.where(left > 0, left, 1.0)
        single = (self.joint[a].diagonal() - gone[:, None] * shown) / n[:, None]
        scored = shown * score
        squares = (single * score**2).sum(axis=1)
        sums = self._by_column(single * score)  # (n_rows, n_columns) the mean score of each column
        claimed = squares - (sums**2).sum(axis=1)
        together = ((score @ (self.joint[a] * self.apart)) * score).sum(axis=1)
        together -= gone * (scored.sum(axis=1) ** 2 - (scored**2).sum(axis=1))
        beside = together / n - (sums.sum(axis=1) ** 2 - (sums**2).sum(axis=1))
        found = claimed + beside * left / (left + 1.0)
        says = (left > 0) & (claimed > 1e-12 * squares) & (found > 0)
        return np.where(says, np.log(np.where(says, claimed, 1.0)) - np.log(np.where(says, found, 1.0)), 0.0)

    def _by_column(self, slots: FloatArray) -> FloatArray:
        starts = np.flatnonzero(np.diff(self.column, prepend=-1))
        return np.add.reduceat(slots, starts, axis=1)

    def _log_probability(self, shown: FloatArray, gone: FloatArray) -> FloatArray:
        """(n_rows, n_states, n_slots) log p(level | state), 0 for missing cells that are left out."""
        log_p = np.zeros((*gone.shape, len(self.column)))
        start = 0
        for table in self.tables:
            n_cells = table.count.shape[1]
            slots = slice(start, start + n_cells)
            seen = shown[:, slots]
            count = table.count - gone[:, :, None] * seen[:, None, :]
            vanished = self._vanished(table, seen, gone.sum(axis=1))
            pseudo_counts, below = _pseudo_counts(table, n_cells, vanished)
            total = count.sum(axis=2) + below[:, None]
            with np.errstate(divide="ignore"):
                log_p[:, :, slots] = np.log(count + pseudo_counts[:, None, :]) - np.log(total)[:, :, None]
            start += table.n_levels + 1
        return log_p

    def _vanished(self, table: AveragedTable, seen: FloatArray, weight: FloatArray) -> IntArray:
        """(n_rows,) 1 where the row was the last of an undeclared level."""
        fixed = table._is_fixed(np.arange(seen.shape[1]))
        last = (seen > 0) & ~fixed & (table.count.sum(axis=0) <= weight[:, None]) & (weight[:, None] > 0)
        return np.asarray(last.any(axis=1), dtype=np.int64)


def _pseudo_counts(table: AveragedTable, n_cells: int, vanished: IntArray) -> tuple[FloatArray, FloatArray]:
    """Pseudo-counts of each cell (n_rows, n_cells) and in all (n_rows,)."""
    now, fewer = table.pseudo_rows, max(n_cells - 1, 0)
    each = np.broadcast_to(now.by_cell(n_cells), (len(vanished), n_cells))
    if now.shares is None and fewer:
        each = np.where(vanished[:, None] > 0, now.by_cell(fewer)[0], each)
    below = np.where(vanished > 0, now.below(fewer) if fewer else now.below(n_cells), now.below(n_cells))
    return np.asarray(each), below


def pairs_for(columns: Sequence[str]) -> CategoryPairs | None:
    """The factor that counts pairs, where there are any."""
    return CategoryPairs(tuple(columns)) if len(columns) > 1 else None


@dataclass(frozen=True)
class PairedNumbers(Numbers):
    """Normal columns with the sums of their pairs, up to `most_rows` rows (None: of any number)."""

    most_rows: int | None = None

    def request(self, schema: Schema) -> Request:
        return Request.numbers(self.name, self.columns, self._summed)

    def _summed(
        self, values: FloatArray, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
    ) -> PairSums:
        from bayeswise.statistics.numbers.scatter import PairSums

        return PairSums.of(values, groups, n_groups, weights, self.most_rows)

    def scores(self, statistic: Any, settings: NaiveBayesSettings, schema: Schema) -> NormalScores:
        return super().scores(statistic.moments, settings, schema)


def with_pairs(factors: tuple[Factor, ...], temper: Any = "auto") -> tuple[Factor, ...]:
    """The factors that a temper needs: pairs while they are cheap ("auto"), always ("pairs"), or never."""
    given_temper(temper)
    if not isinstance(temper, str):
        return factors
    always = temper == "pairs"
    paired = [_paired(factor, always) if type(factor) is Numbers else factor for factor in factors]
    counted = [pairs_for(factor.columns) for factor in factors if always and isinstance(factor, Categories)]
    return (*paired, *(factor for factor in counted if factor is not None))


def _paired(factor: Numbers, always: bool) -> Factor:
    from bayeswise.statistics.numbers.scatter import most_rows_for

    most = None if always else most_rows_for(len(factor.columns))
    return factor if most == 0 or len(factor.columns) < 2 else PairedNumbers(factor.columns, most)
