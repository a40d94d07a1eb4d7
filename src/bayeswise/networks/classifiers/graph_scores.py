"""The log joint of rows under one graph: log p(state) + sum of log p(cell | parents, state), missing cells summed out.

A forest of columns is scored by message passing along its trees, in log space; any other graph by its tables where a
row is complete, and by a junction tree where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayeswise import _kernels
from bayeswise.engines.local import over_ranges
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log
from bayeswise.models.settings.network import NetworkSettings
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.networks.classifiers.counted import (
    Counted,
    log_ratio,
    log_shares,
    pseudo_rows_of,
    with_unseen,
    with_unseen_parent,
)
from bayeswise.networks.node import Node
from bayeswise.tables.schema.labels import Vocabulary

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_ROUNDING = 1e-12  # of weights that were subtracted in floats


@dataclass(frozen=True, eq=False)
class FamilyTable:
    """One column with its parents: counts (n_states, *levels of the parents, n_levels), one state for all if pooled."""

    column: int
    parents: tuple[int, ...]
    by_class: bool
    counts: FloatArray
    pseudo_count: float

    @cached_property
    def log_table(self) -> FloatArray:
        return log_shares(self.counts, self.pseudo_count)

    def of_rows(self, codes: CodeArray) -> FloatArray:
        """(n_rows, n_states or 1) log p(cell | parents, state) of rows that have all these cells."""
        index = tuple(codes[:, place] for place in (*self.parents, self.column))
        return np.asarray(np.moveaxis(self.log_table, 0, -1)[index])

    def change_without(self, codes: CodeArray, groups: CodeArray, weights: FloatArray) -> FloatArray:
        """(n_rows,) the change of log p(cell | parents, own class) without the row; 0 with a missing value."""
        scope = (*self.parents, self.column)
        rows = np.flatnonzero((codes[:, scope] >= 0).all(axis=1))
        change = np.zeros(len(codes))
        above = (groups[rows], *(codes[rows, place] for place in self.parents))
        count, total = self.counts[(*above, codes[rows, self.column])], self.counts.sum(axis=-1)[above]
        change[rows] = change_of_share(count, total, weights[rows], self.pseudo_count, self.counts.shape[-1])
        return change


def change_of_share(
    count: FloatArray, total: FloatArray, gone: FloatArray, pseudo_count: float, n_levels: int
) -> FloatArray:
    """The change of the log of a share when a weight is removed from its cell."""
    before = log(count + pseudo_count) - log(total + pseudo_count * n_levels)
    after = log_ratio(without(count, gone) + pseudo_count, without(total, gone) + pseudo_count * n_levels, n_levels)
    return np.asarray(after - before)


def _with_rows(counts: FloatArray) -> FloatArray:
    """A parent that has no level left counts as one of a single level."""
    shape = [max(size, 1) for size in counts.shape[:-1]]
    return np.zeros((*shape, counts.shape[-1])) if 0 in counts.shape[:-1] else counts


def without(weight: FloatArray, gone: FloatArray) -> FloatArray:
    """weight - gone, and 0 where only rounding error is left."""
    left = weight - gone
    return np.where(left <= _ROUNDING * weight, 0.0, left)


@dataclass(frozen=True, eq=False)
class GraphScores:
    """One graph with the tables of its counts."""

    graph: Graph
    counted: Counted
    settings: NetworkSettings
    log_prior: FloatArray  # (n_states,)

    @property
    def n_states(self) -> int:
        return len(self.log_prior)

    @cached_property
    def families(self) -> tuple[FamilyTable, ...]:
        return tuple(self._families())

    def _families(self) -> Iterator[FamilyTable]:
        sizes, settings = self.counted.sizes, self.settings
        for column, (above, by_class) in enumerate(zip(self.graph.parents, self.graph.given_class, strict=True)):
            counts = _with_rows(self.counted.family(column, above))
            counts = counts if by_class else counts.sum(axis=0, keepdims=True)
            n_configurations = int(np.prod(sizes[list(above)])) * (self.n_states if by_class else 1)
            pseudo_count = pseudo_rows_of(settings.prior, settings.smoothing, counts.shape[-1], n_configurations)
            yield FamilyTable(column, above, by_class, counts, pseudo_count)

    @cached_property
    def of_class(self) -> FamilyTable | None:
        """The class with its parents, (1, *levels of the parents, n_states); None if it has none."""
        if self.counted.above_class is None or not self.graph.class_parents:
            return None
        counts = _with_rows(np.moveaxis(self.counted.above_class, 0, -1)[None])
        n_configurations = int(np.prod(counts.shape[1:-1]))
        pseudo_count = pseudo_rows_of(self.settings.prior, self.settings.smoothing, self.n_states, n_configurations)
        return FamilyTable(-1, self.graph.class_parents, False, counts, pseudo_count)

    # -- rows -------------------------------------------------------------------------------------------------
    def log_joint(self, codes: CodeArray) -> FloatArray:
        """(n_rows, n_states); -1 is summed out, -2 is an unseen level."""
        return self._of_forest(codes) if self.graph.is_forest else self._of_any(codes)

    def _of_forest(self, codes: CodeArray) -> FloatArray:
        joint = np.empty((len(codes), self.n_states))
        sizes, forest, order = self.counted.sizes, self.graph.forest, np.array(self.graph.order, dtype=np.int64)
        starts, tables = self._flat

        def fill(rows: slice) -> None:
            joint[rows] = self.log_prior
            _kernels.add_tree(joint[rows], codes[rows], sizes, forest, order, starts, tables)

        over_ranges(fill, len(codes))
        return joint

    @cached_property
    def tables(self) -> list[FloatArray]:
        """log p(level | parent, state) of each column of a forest, (n_states, n_above + 1 or 1, n_levels + 1).

        The last place is for unseen levels; a column without a parent has one row.
        """
        return [
            with_unseen_parent(family.counts, family.pseudo_count)
            if family.parents
            else with_unseen(family.counts[:, None], family.pseudo_count)
            for family in self.families
        ]

    @cached_property
    def _flat(self) -> tuple[IntArray, FloatArray]:
        """The tables of a forest for the kernel, states fastest, each with a slot for unseen levels."""
        tables = [np.moveaxis(table, 0, -1).ravel() for table in self.tables]
        starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])[:-1]]).astype(np.int64)
        return starts, np.concatenate(tables)

    def _of_any(self, codes: CodeArray) -> FloatArray:
        """An unseen level is treated as missing: the tables of such a graph have no slot for it."""
        incomplete = (codes < 0).any(axis=1)
        if not incomplete.any():
            return self._of_whole(codes)
        joint = np.empty((len(codes), self.n_states))
        joint[~incomplete] = self._of_whole(codes[~incomplete])
        joint[incomplete] = self._summed_out(np.maximum(codes[incomplete], -1))
        return joint

    def _of_whole(self, codes: CodeArray) -> FloatArray:
        joint = np.broadcast_to(self._log_class(codes), (len(codes), self.n_states)).copy()
        for family in self.families:
            joint += family.of_rows(codes)
        return joint

    def _log_class(self, codes: CodeArray) -> FloatArray:
        if self.of_class is None:
            return self.log_prior
        index = tuple(codes[:, place] for place in self.of_class.parents)
        return np.asarray(self.of_class.log_table[0][index])

    def _summed_out(self, codes: CodeArray) -> FloatArray:
        from bayeswise.networks.inference.row_posteriors import posterior_and_evidence  # late: complete rows need none

        columns = list(range(codes.shape[1]))
        posterior, log_evidence = posterior_and_evidence(self.plain_network, len(columns), columns, codes)
        possible = (log_evidence > -np.inf)[:, None]
        return np.where(possible, log(np.where(possible, posterior, 1.0)) + log_evidence[:, None], -np.inf)

    # -- the network ------------------------------------------------------------------------------------------
    @cached_property
    def plain_network(self) -> BeliefNetwork:
        """The network with positions for names and states; the class is the last node."""
        names = [f"c{place}" for place in range(len(self.families))]
        return self.network(names, self.counted.levels, "class", Vocabulary(range(self.n_states)))

    def network(
        self, names: list[str], levels: tuple[Vocabulary, ...], target: str, classes: Vocabulary
    ) -> BeliefNetwork:
        """The same tables with names of columns and states; a column without levels gets a single one."""
        from bayeswise.networks.network import BeliefNetwork  # late: rows are scored without one

        nodes = []
        for family, name, states in zip(self.families, names, levels, strict=True):
            if not states:
                nodes.append(Node(name, ["(none)"], [1.0]))
                continue
            above = [*(names[place] for place in family.parents), *([target] if family.by_class else [])]
            table = np.moveaxis(np.exp(family.log_table), 0, -2)  # the class changes fastest
            nodes.append(Node(name, states, table.reshape(-1, len(states)), above))
        if self.of_class is None:
            nodes.append(Node(target, classes, np.exp(self.log_prior)[None]))
        else:
            table = np.exp(self.of_class.log_table[0]).reshape(-1, self.n_states)
            nodes.append(Node(target, classes, table, [names[place] for place in self.of_class.parents]))
        return BeliefNetwork(nodes)

    def n_free_parameters(self) -> int:
        """Those of the tables, and of an estimated class prior."""
        families = self.families if self.of_class is None else (*self.families, self.of_class)
        shapes = [each.counts.shape for each in families]
        counted_prior = self.of_class is None and self.settings.class_prior is None
        prior = self.n_states - 1 if counted_prior else 0
        return int(prior + sum(math.prod(shape[:-1]) * max(shape[-1] - 1, 0) for shape in shapes))

    # -- rows left out ----------------------------------------------------------------------------------------
    def left_out(self, codes: CodeArray, groups: CodeArray, weights: FloatArray, log_prior: FloatArray) -> FloatArray:
        """(n_rows, n_states) the leave-one-out log joint of each row; NaN where that needs a refit.

        A row is counted only in families in which it has no missing value, so only these change.
        """
        rows = np.arange(len(codes))
        joint = self.log_joint(codes)
        if self.of_class is None:
            joint = joint - np.where(np.isneginf(self.log_prior), 0.0, self.log_prior) + log_prior
        else:
            with np.errstate(invalid="ignore"):  # NaN where a state is no longer impossible
                joint += self._change_of_class(self.of_class, codes, groups, weights)
        for family in self.families:
            if family.by_class:
                joint[rows, groups] += family.change_without(codes, groups, weights)
            else:
                joint += family.change_without(codes, np.zeros_like(groups), weights)[:, None]
        return joint

    def _change_of_class(
        self, family: FamilyTable, codes: CodeArray, groups: CodeArray, weights: FloatArray
    ) -> FloatArray:
        """(n_rows, n_states) how log p(state | parents of the class) changes."""
        change = np.zeros((len(codes), self.n_states))
        rows = np.flatnonzero((codes[:, family.parents] >= 0).all(axis=1))
        before = family.counts[0][tuple(codes[rows, place] for place in family.parents)]  # (n_rows, n_states)
        after = before.copy()
        own = np.arange(len(rows)), groups[rows]
        after[own] = without(before[own], weights[rows])
        log_before, log_after = log_shares(before, family.pseudo_count), log_shares(after, family.pseudo_count)
        change[rows] = np.subtract(log_after, log_before, out=np.zeros_like(log_after), where=log_after != log_before)
        return change
