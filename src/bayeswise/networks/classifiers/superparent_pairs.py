"""Averaged two-dependence estimators (A2DE): the mean over networks in which all columns depend on the same two.

Webb, Boughton, Zheng, Ting and Salem (2012). With x_i and x_j for the superparents,

    p(state, row) = mean over i != j of p(state) p(x_i | state) p(x_j | x_i, state) prod over k p(x_k | x_i, x_j, state)

over the pairs whose levels occur together in at least `min_frequency` rows; one superparent where there is no such
pair. Both orders of a pair are in the mean, so that the order of the columns does not matter. Missing cells are left
out of the product, and a pair with a missing cell is not a superparent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np

from bayeswise.engines.local import over_ranges
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.models.naive_bayes.factors import Leaving
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.networks.classifiers.counted import pseudo_rows_of, with_unseen
from bayeswise.networks.classifiers.graph_scores import GraphScores, change_of_share, without
from bayeswise.networks.classifiers.superparents import AveragedScores, SuperparentScores

_ROWS_AT_ONCE = 4_096


class SuperparentPairScores(AveragedScores):
    """The tables of all triples of columns."""

    @cached_property
    def of_one(self) -> SuperparentScores:
        """The average over single superparents, for rows in which no pair is frequent enough."""
        return SuperparentScores(self.counted, self.settings, self.log_prior)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of superparents, without columns of one level, on which nothing depends."""
        several = [column for column in range(self.n_columns) if self.counted.sizes[column] > 1]
        return tuple(combinations(several, 2))

    @property
    def ordered_pairs(self) -> tuple[tuple[int, int], ...]:
        """Each pair in both orders."""
        return tuple(ordered for one, other in self.pairs for ordered in ((one, other), (other, one)))

    def _others(self, pair: tuple[int, int]) -> Iterator[int]:
        return (column for column in range(self.n_columns) if column not in pair and self.counted.sizes[column])

    # -- tables, states last ----------------------------------------------------------------------------------
    def _counts(self, pair: tuple[int, int], column: int) -> FloatArray:
        """(n_states, n_levels of one, n_levels of the other, n_levels) over rows that have all three cells."""
        scope = tuple(sorted((*pair, column)))
        axes = [1 + scope.index(place) for place in (*pair, column)]
        return np.transpose(self.counted.triples[scope], (0, *axes))

    def _pseudo_count(self, pair: tuple[int, int], column: int) -> float:
        sizes = self.counted.sizes
        n_configurations = self.n_states * int(sizes[pair[0]]) * int(sizes[pair[1]])
        return pseudo_rows_of(self.settings.prior, self.settings.smoothing, int(sizes[column]), n_configurations)

    def log_triple(self, pair: tuple[int, int], column: int) -> FloatArray:
        """(n_levels of one, n_levels of the other, n_levels + 1, n_states) log p(column | pair, state)."""
        log_share = with_unseen(self._counts(pair, column), self._pseudo_count(pair, column))
        return np.moveaxis(log_share, 0, -1)

    def log_start(self, pair: tuple[int, int]) -> FloatArray:
        """(n_levels of one, n_levels of the other, n_states) the mean of p(x_i) p(x_j | x_i) in both orders."""
        one, other = pair
        forward = self.of_one.log_singles[one][:-1, None] + self.of_one.log_pair(one, other)[:-1, :-1]
        back = self.of_one.log_singles[other][None, :-1] + np.swapaxes(self.of_one.log_pair(other, one), 0, 1)[:-1, :-1]
        return np.asarray(np.logaddexp(forward, back) - np.log(2.0))

    @cached_property
    def _tables(self) -> dict[tuple[int, int], tuple[FloatArray, dict[int, FloatArray]]]:
        """By pair: its own table, and by column (n_configurations, n_levels + 2, n_states), unseen and missing last."""
        found = {}
        for pair in self.pairs:
            start = self.log_start(pair)
            tables = {}
            for column in self._others(pair):
                log_share = self.log_triple(pair, column)
                nothing = np.zeros((*log_share.shape[:2], 1, self.n_states))
                table = np.concatenate([log_share, nothing], axis=2)
                tables[column] = np.ascontiguousarray(table.reshape(-1, *table.shape[2:]))
            found[pair] = start.reshape(-1, self.n_states), tables
        return found

    def frequency(self, pair: tuple[int, int]) -> FloatArray:
        """(n_levels of one, n_levels of the other) the weight of the rows that have both."""
        return np.asarray(self.counted.needed_pairs.pair(*pair).sum(axis=0))

    def allows(self, frequency: FloatArray) -> BoolArray:
        """Whether a pair of levels is frequent enough, and occurs at all."""
        return np.asarray((frequency >= self.settings.min_frequency) & (frequency > 0.0))

    # -- rows -------------------------------------------------------------------------------------------------
    def log_joint(self, codes: CodeArray) -> FloatArray:
        """(n_rows, n_states); -1 is left out, -2 is an unseen level."""
        joint = np.empty((len(codes), self.n_states))
        _ = self._tables  # before threads need them

        def fill(rows: slice) -> None:
            for start in range(rows.start, rows.stop, _ROWS_AT_ONCE):
                some = slice(start, min(start + _ROWS_AT_ONCE, rows.stop))
                joint[some] = self._averaged(codes[some], self.log_prior, None)

        over_ranges(fill, len(codes))
        return joint

    def _averaged(self, codes: CodeArray, log_prior: FloatArray, leaving: Leaving | None) -> FloatArray:
        """(n_rows, n_states) the log joint of rows; with `leaving`, the leave-one-out log joint."""
        total = np.full((len(codes), self.n_states), -np.inf)
        n_pairs = np.zeros(len(codes))
        for pair in self.pairs:
            rows, frequency = self._rows_of(pair, codes)
            rows = rows[self.allows(frequency if leaving is None else without(frequency, leaving.weights[rows]))]
            term = self._term(pair, codes[rows])
            if leaving is not None:
                own = leaving.groups[rows]
                term[np.arange(len(rows)), own] += self._change(pair, codes[rows], own, leaving.weights[rows])
            total[rows] = np.logaddexp(total[rows], term)
            n_pairs[rows] += 1.0
        log_joint = np.asarray(total + log_prior - np.log(np.maximum(n_pairs, 1.0))[:, None])
        none = np.flatnonzero(n_pairs == 0.0)
        if len(none) and leaving is None:
            log_joint[none] = self.of_one.log_joint(np.ascontiguousarray(codes[none]))
        elif len(none) and leaving is not None:
            gone = leaving.groups[none], leaving.weights[none]
            log_joint[none] = self.of_one.left_out(codes[none], *gone, log_prior[none])
        return log_joint

    def _rows_of(self, pair: tuple[int, int], codes: CodeArray) -> tuple[IntArray, FloatArray]:
        """The rows that have both cells, and the weight of their pair of levels."""
        one, other = pair
        rows = np.flatnonzero((codes[:, one] >= 0) & (codes[:, other] >= 0))
        return rows, self.frequency(pair)[codes[rows, one], codes[rows, other]]

    def _term(self, pair: tuple[int, int], codes: CodeArray) -> FloatArray:
        """(n_rows, n_states) log p(x_i, x_j | state) prod p(x_k | x_i, x_j, state) over the present cells."""
        start, tables = self._tables[pair]
        at = codes[:, pair[0]].astype(np.int64) * int(self.counted.sizes[pair[1]]) + codes[:, pair[1]]
        term = start[at]
        for column, table in tables.items():
            cell = codes[:, column]  # -2: the slot before the last, -1: the last
            term = term + table[at, np.where(cell < 0, table.shape[1] + cell, cell)]
        return np.asarray(term)

    def one(self, pair: tuple[int, int]) -> GraphScores:
        """The network of one pair of superparents, in this order."""
        first, second = pair
        parents = [pair if column not in pair else (first,) if column == second else () for column in self._all]
        families = [
            self.counted.singles[column]
            if column == first
            else self.counted.needed_pairs.pair(first, second)
            if column == second
            else self._counts(pair, column)
            for column in self._all
        ]
        counted = replace(self.counted, families=tuple(families))
        return GraphScores(Graph.of_parents(parents), counted, self.settings, self.log_prior)

    @property
    def _all(self) -> range:
        return range(self.n_columns)

    def n_free_parameters(self) -> int:
        if not self.pairs:
            return self.of_one.n_free_parameters()
        return sum(self.one(pair).n_free_parameters() for pair in self.ordered_pairs)

    # -- rows left out ----------------------------------------------------------------------------------------
    def left_out(self, codes: CodeArray, groups: CodeArray, weights: FloatArray, log_prior: FloatArray) -> FloatArray:
        """(n_rows, n_states) the leave-one-out log joint of each row."""
        return self._averaged(codes, log_prior, Leaving(groups, weights))

    def _change(self, pair: tuple[int, int], codes: CodeArray, groups: CodeArray, weights: FloatArray) -> FloatArray:
        """(n_rows,) the change of the own class's term without the row."""
        first, second = codes[:, pair[0]], codes[:, pair[1]]
        change = self._change_of_start(pair, codes, groups, weights)
        for column in self._others(pair):
            rows = np.flatnonzero(codes[:, column] >= 0)
            counts = self._counts(pair, column)[groups[rows], first[rows], second[rows]]  # (n_rows, n_levels)
            count = counts[np.arange(len(rows)), codes[rows, column]]
            pseudo_count = self._pseudo_count(pair, column)
            change[rows] += change_of_share(count, counts.sum(axis=1), weights[rows], pseudo_count, counts.shape[1])
        return change

    def _change_of_start(
        self, pair: tuple[int, int], codes: CodeArray, groups: CodeArray, weights: FloatArray
    ) -> FloatArray:
        """(n_rows,) the change of `log_start` of the own class without the row."""
        before, after = [], []
        for one, other in (pair, pair[::-1]):
            log_own = self.of_one.log_singles[one][codes[:, one], groups]
            log_own = log_own + self.of_one.log_pair(one, other)[codes[:, one], codes[:, other], groups]
            change = self.of_one.change_of_single(one, codes, groups, weights)
            before.append(log_own)
            after.append(log_own + change + self.of_one.change_of_pair(one, other, codes, groups, weights))
        return np.asarray(np.logaddexp(*after) - np.logaddexp(*before))
