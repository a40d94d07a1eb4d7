"""Averaged one-dependence estimators (AODE): the mean over networks in which all columns depend on the same column.

Webb, Boughton and Wang (2005). With x_i for the superparent,

    p(state, row) = mean over i of p(state) p(x_i | state) prod over j of p(x_j | x_i, state)

over the superparents whose level occurs in at least `min_frequency` rows; naive Bayes where there is none. Missing
cells are summed out, a missing superparent over its levels that are frequent enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from bayeswise import _kernels
from bayeswise.engines.local import over_ranges
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.settings.network import NetworkSettings
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.networks.classifiers.counted import Counted, log_ratio, pseudo_rows_of, with_unseen
from bayeswise.networks.classifiers.graph_scores import GraphScores, change_of_share, without


@dataclass(frozen=True, eq=False)
class AveragedScores:
    """The base of averages over superparents."""

    counted: Counted
    settings: NetworkSettings
    log_prior: FloatArray  # (n_states,)

    @property
    def n_columns(self) -> int:
        return len(self.counted.levels)

    @property
    def n_states(self) -> int:
        return len(self.log_prior)


class SuperparentScores(AveragedScores):
    """The tables of all pairs of columns."""

    # -- tables, states last ----------------------------------------------------------------------------------
    def _pseudo_count(self, column: int, parent: int | None = None) -> float:
        sizes = self.counted.sizes
        n_configurations = self.n_states * (1 if parent is None else int(sizes[parent]))
        return pseudo_rows_of(self.settings.prior, self.settings.smoothing, int(sizes[column]), n_configurations)

    @cached_property
    def log_singles(self) -> tuple[FloatArray, ...]:
        """(n_levels + 1, n_states) log p(level | state) of each column."""
        return tuple(
            with_unseen(counts, self._pseudo_count(column)).T for column, counts in enumerate(self.counted.singles)
        )

    def log_pair(self, parent: int, column: int) -> FloatArray:
        """(n_levels of the parent + 1, n_levels + 1, n_states) log p(column | parent, state)."""
        return self.log_pairs[self._slots[parent], self._slots[column]]

    @cached_property
    def _slots(self) -> list[slice]:
        """The slots of each column: its levels, then one for unseen levels."""
        bounds = np.concatenate([[0], np.cumsum(self.counted.sizes + 1)])
        return [slice(int(start), int(stop)) for start, stop in pairwise(bounds)]

    @cached_property
    def log_pairs(self) -> FloatArray:
        """(n_slots, n_slots, n_states) log p(slot of a column | slot of its superparent, state), 0 given itself."""
        table, sizes, columns = self.counted.needed_pairs, self.counted.sizes, range(self.n_columns)
        own = np.repeat(np.arange(self.n_columns), sizes + 1)  # the column of each slot
        unseen = np.zeros(len(own), dtype=np.int64)
        unseen[table.starts + sizes] = 1
        levels = sizes[own] + unseen  # how many levels share a row of the table
        each = np.array([[self._pseudo_count(column, parent) for column in columns] for parent in columns])[own][:, own]
        total = np.add.reduceat(table.present, table.starts, axis=2)[:, :, own]
        log_share = log_ratio(table.present + each, total + each * levels, levels)
        log_share[:, own[:, None] == own] = 0.0
        return np.ascontiguousarray(np.moveaxis(log_share, 0, -1))

    @cached_property
    def frequency(self) -> tuple[FloatArray, ...]:
        """(n_levels + 1,) the weight of each level of each column, and 0 for unseen ones."""
        return tuple(np.append(counts.sum(axis=0), 0.0) for counts in self.counted.singles)

    def _allows(self, column: int, frequency: FloatArray) -> BoolArray:
        """A column of one level is not a superparent: nothing depends on it."""
        return np.asarray(frequency >= self.settings.min_frequency) & bool(self.counted.sizes[column] > 1)

    @cached_property
    def allowed(self) -> tuple[BoolArray, ...]:
        return tuple(self._allows(column, frequency) for column, frequency in enumerate(self.frequency))

    # -- rows -------------------------------------------------------------------------------------------------
    def log_joint(self, codes: CodeArray) -> FloatArray:
        """(n_rows, n_states); -1 is summed out, -2 is an unseen level."""
        joint = np.empty((len(codes), self.n_states))
        sizes, pairs = self.counted.sizes, self.log_pairs
        singles = np.ascontiguousarray(np.concatenate(self.log_singles))
        allowed = np.concatenate(self.allowed)

        def fill(rows: slice) -> None:
            joint[rows] = self.log_prior
            _kernels.add_superparents(joint[rows], codes[rows], sizes, pairs, singles, allowed)

        over_ranges(fill, len(codes))
        return joint

    def one(self, parent: int) -> GraphScores:
        """The network of one superparent."""
        alone = self.counted.sizes[parent] == 0
        parents = [() if alone or column == parent else (parent,) for column in range(self.n_columns)]
        return GraphScores(Graph.of_parents(parents), self.counted, self.settings, self.log_prior)

    def n_free_parameters(self) -> int:
        return sum(self.one(parent).n_free_parameters() for parent in range(self.n_columns))

    # -- rows left out ----------------------------------------------------------------------------------------
    def left_out(self, codes: CodeArray, groups: CodeArray, weights: FloatArray, log_prior: FloatArray) -> FloatArray:
        """(n_rows, n_states) the leave-one-out log joint of each row."""
        total = np.full((len(codes), self.n_states), -np.inf)
        n_parents = np.zeros(len(codes))
        for parent in range(self.n_columns):
            allowed = np.zeros(len(codes), dtype=bool)
            for level, chosen in self._levels_of(parent, codes):
                term = self._term(parent, level, codes[chosen])
                if level is None:
                    change = self._change(parent, codes[chosen], groups[chosen], weights[chosen])
                    term[np.arange(len(chosen)), groups[chosen]] += change
                    left = without(self.frequency[parent][codes[chosen, parent]], weights[chosen])
                    kept = self._allows(parent, left)
                else:
                    kept = np.full(len(chosen), self.allowed[parent][level])
                total[chosen[kept]] = np.logaddexp(total[chosen[kept]], term[kept])
                allowed[chosen[kept]] = True
            n_parents += allowed
        none = n_parents == 0
        if none.any():
            total[none] = self._naive_left_out(codes[none], groups[none], weights[none])
        return np.asarray(total + log_prior - np.log(np.maximum(n_parents, 1.0))[:, None])

    def _levels_of(self, parent: int, codes: CodeArray) -> Iterator[tuple[int | None, IntArray]]:
        """The rows that have the cell (None), and for each level those in which it is missing."""
        yield None, np.flatnonzero(codes[:, parent] != -1)
        missing = np.flatnonzero(codes[:, parent] == -1)
        if len(missing):
            yield from ((level, missing) for level in range(int(self.counted.sizes[parent])))

    def _term(self, parent: int, level: int | None, codes: CodeArray) -> FloatArray:
        """(n_rows, n_states) log p(x_i | state) prod p(x_j | x_i, state) over the present cells."""
        at = codes[:, parent] if level is None else np.full(len(codes), level)
        term = self.log_singles[parent][at].copy()
        for column in range(self.n_columns):
            if column != parent:
                table, cell = self.log_pair(parent, column), codes[:, column]
                term += np.where((cell == -1)[:, None], 0.0, table[at, np.where(cell == -2, -1, cell)])
        return np.asarray(term)

    def _change(self, parent: int, codes: CodeArray, groups: CodeArray, weights: FloatArray) -> FloatArray:
        change = self.change_of_single(parent, codes, groups, weights)
        for column in range(self.n_columns):
            if column != parent:
                change += self.change_of_pair(parent, column, codes, groups, weights)
        return change

    def change_of_pair(
        self, parent: int, column: int, codes: CodeArray, groups: CodeArray, weights: FloatArray
    ) -> FloatArray:
        """(n_rows,) the change of log p(column | parent, own state) without the row; 0 where the cell is missing."""
        change = np.zeros(len(codes))
        rows = np.flatnonzero(codes[:, column] >= 0)
        if len(rows):
            at = codes[rows, parent]
            counts = self.counted.needed_pairs.pair(parent, column)[groups[rows], at]  # (n_rows, n_levels)
            count = counts[np.arange(len(rows)), codes[rows, column]]
            pseudo_count = self._pseudo_count(column, parent)
            change[rows] = change_of_share(count, counts.sum(axis=1), weights[rows], pseudo_count, counts.shape[1])
        return change

    def change_of_single(self, column: int, codes: CodeArray, groups: CodeArray, weights: FloatArray) -> FloatArray:
        """(n_rows,) the change of log p(column | own state) without the row."""
        counts = self.counted.singles[column][groups]  # (n_rows, n_levels)
        rows = np.flatnonzero(codes[:, column] >= 0)
        change = np.zeros(len(codes))
        count = counts[rows, codes[rows, column]]
        pseudo_count = self._pseudo_count(column)
        change[rows] = change_of_share(count, counts[rows].sum(axis=1), weights[rows], pseudo_count, counts.shape[1])
        return change

    def _naive_left_out(self, codes: CodeArray, groups: CodeArray, weights: FloatArray) -> FloatArray:
        rows = np.arange(len(codes))
        total = np.zeros((len(codes), self.n_states))
        for column, table in enumerate(self.log_singles):
            cell = codes[:, column]
            total += np.where((cell == -1)[:, None], 0.0, table[np.where(cell == -2, -1, cell)])
            total[rows, groups] += self.change_of_single(column, codes, groups, weights)
        return total
