"""Scores of categories whose counts are mostly zero: many classes of many levels.

A level that a class never showed has the log-probability  log alpha - log(n + alpha |levels|),  the same for all such
levels of a column: one base for each class. Only the counts that are not zero have a value of their own, so that
the scores take as much room as the rows did, and not classes times levels.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.sparse import SparseExact, refuse_dense
from bayeswise.models.naive_bayes.categories import ColumnCells, ColumnTables, PseudoRows, log_ratio
from bayeswise.statistics.counts.column_levels import Form
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True)
class ByState:
    """The counts of each slot of a table: those of slot s, by state, lie between starts[s] and starts[s + 1]."""

    n_states: int
    starts: IntArray  # (n_slots + 1,)
    states: IntArray  # (n,)
    counts: FloatArray  # (n,)

    @classmethod
    def of(cls, table: SparseExact) -> ByState:
        slots = table.columns
        order = np.argsort(slots, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(slots, minlength=table.shape[1]))]).astype(np.int64)
        return cls(table.shape[0], starts, table.rows[order], table.values.to_floats()[order])

    def entries(self, slots: IntArray) -> tuple[IntArray, IntArray]:
        """Of each count of some slots: which of them it belongs to, and where it lies."""
        first, n_each = self.starts[slots], self.starts[slots + 1] - self.starts[slots]
        which = np.repeat(np.arange(len(slots)), n_each)
        before = np.cumsum(n_each) - n_each
        return which, np.arange(len(which)) + (first - before)[which]

    def spread(self, slots: IntArray) -> FloatArray:
        """(len(slots), n_states) the counts of some slots, with their zeros."""
        count = np.zeros((len(slots), self.n_states))
        which, at = self.entries(slots)
        count[which, self.states[at]] = self.counts[at]
        return count


@dataclass(frozen=True)
class SparseCells(ColumnCells):
    """One column: the counts of its cells, as slots of the table of all columns."""

    column: Column
    form: Form
    pseudo_rows: PseudoRows
    by_state: ByState
    start: int  # its first slot

    @property
    def levels(self) -> Vocabulary:
        return self.form[0]

    @property
    def declared(self) -> Vocabulary:
        return self.form[1]

    @property
    def n_cells(self) -> int:
        return len(self.levels) + (self.column.missing == "level")

    @cached_property
    def total(self) -> FloatArray:
        first, end = self.by_state.starts[self.start], self.by_state.starts[self.start + self.n_cells]
        own = slice(int(first), int(end))
        total = np.bincount(self.by_state.states[own], self.by_state.counts[own], minlength=self.by_state.n_states)
        return np.asarray(total, dtype=np.float64)

    def counted(self, cells: IntArray) -> FloatArray:
        return self.by_state.spread(self.start + cells)


@dataclass(frozen=True)
class SparseLogTable:
    """The table of the kernel: slot s has the row bases[base_of[s]], but for the states with values of their own."""

    bases: FloatArray  # (n_bases, n_states)
    base_of: IntArray  # (n_slots,) of each column its levels, then missing, then unseen
    starts: IntArray  # (n_slots + 1,)
    states: CodeArray  # (n,)
    values: FloatArray  # (n,)

    def add_to(self, log_joint: FloatArray, codes: CodeArray, sizes: IntArray) -> None:
        _kernels.add_levels(log_joint, codes, sizes, self.bases, self.base_of, self.starts, self.states, self.values)

    def __getitem__(self, slots: IntArray) -> FloatArray:
        """(..., n_states) the rows of some slots."""
        flat = np.ravel(slots)
        by_state = ByState(self.bases.shape[1], self.starts, self.states.astype(np.int64), self.values)
        rows = self.bases[self.base_of[flat]]
        which, at = by_state.entries(flat)
        rows[which, by_state.states[at]] = self.values[at]
        return rows.reshape(*np.shape(slots), -1)

    def dense(self) -> FloatArray:
        refuse_dense(self.bases.shape[1], len(self.base_of))
        return self[np.arange(len(self.base_of))]


class SparseTables:
    """The cells of each column, and the log-probabilities of all of them."""

    def __init__(self, tables: ColumnTables, table: SparseExact) -> None:
        self.tables, self.by_state = tables, ByState.of(table)

    def __getitem__(self, column: int) -> SparseCells:
        name, levels = self.tables.columns[column], self.tables.statistic.levels
        form = levels.forms[levels.form_of[column]]
        schema_column = self.tables.schema[name]
        pseudo_rows = PseudoRows.of(form[0], self.tables.settings, schema_column, n_states=self.by_state.n_states)
        return SparseCells(schema_column, form, pseudo_rows, self.by_state, int(levels.starts[column]))

    def log_table(self) -> SparseLogTable:
        """Columns one after the other; each has few different bases."""
        n_states, sizes = self.by_state.n_states, self.tables.sizes
        bases = [np.zeros((1, n_states))]  # of cells that say nothing
        base_of, n_own, kept, values = [], [], [], []
        n_bases = 1
        for k, size in enumerate(sizes.tolist()):
            cells = self[k]
            below = cells.total + cells.pseudo_rows.below(cells.n_cells)
            alpha = cells.pseudo_rows.by_cell(cells.n_cells)
            different, which = _different(alpha)
            unseen = cells.column.unseen != "ignore"
            bases.append(log_ratio(np.repeat(different[:, None], n_states, axis=1), below, cells.n_cells))
            if unseen:
                bases.append(cells.log_unseen()[None])
            slots = np.zeros(size + 2, dtype=np.int64)
            slots[: cells.n_cells] = n_bases + which
            slots[-1] = n_bases + len(different) if unseen else 0
            n_bases += len(different) + unseen
            starts = self.by_state.starts[cells.start : cells.start + cells.n_cells + 1]
            own = np.arange(starts[0], starts[-1])
            each = np.zeros(size + 2, dtype=np.int64)
            each[: cells.n_cells] = np.diff(starts)
            above = self.by_state.counts[own] + np.repeat(alpha, np.diff(starts))
            values.append(log_ratio(above, below[self.by_state.states[own]], cells.n_cells))
            base_of.append(slots)
            n_own.append(each)
            kept.append(own)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(n_own))]).astype(np.int64)
        states = self.by_state.states[np.concatenate(kept)].astype(np.int32)
        return SparseLogTable(np.concatenate(bases), np.concatenate(base_of), starts, states, np.concatenate(values))


def _different(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """The values that differ, and which of them each is."""
    if len(values) == 0 or (values == values[0]).all():
        return values[:1], np.zeros(len(values), dtype=np.int64)
    found, which = np.unique(values, return_inverse=True)
    return found, which
