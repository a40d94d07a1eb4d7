"""Tables of counts in either form: dense, or sparse where many classes of many levels are mostly zeros.

What a sparse table (`foundation/sparse.py`) takes grows with the rows, and not with classes times levels.
"""

from __future__ import annotations

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.exact import ExactArray, side_by_side
from bayeswise.foundation.sparse import SparseExact, Table, as_sparse, is_sparse
from bayeswise.statistics.counts.column_levels import ColumnLevels

_CELLS_AT_A_TIME = 1 << 20


def counted_by_place(
    codes: CodeArray, levels: ColumnLevels, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
) -> SparseExact:
    """Counts of a table of which the rows fill a small part: sorted, some rows at a time, and not looked up."""
    shape = (n_groups, levels.n_slots)
    step = max(1, _CELLS_AT_A_TIME // max(codes.shape[1], 1))
    parts = []
    for start in range(0, max(len(codes), 1), step):
        rows = slice(start, start + step)
        part = codes[rows].astype(np.int64)
        group = np.zeros(len(part), np.int64) if groups is None else groups[rows].astype(np.int64)
        if ((part < -1) | (part >= levels.sizes)).any():
            _kernels.counts(codes[rows], levels.sizes, np.minimum(group, 0).astype(np.int32), 1, None)  # says which
        kept = np.flatnonzero(group >= 0)
        slots = np.where(part >= 0, part, levels.sizes) + levels.starts  # missing cells come last
        places = (group[kept, None] * levels.n_slots + slots[kept]).ravel()
        weigh = None if weights is None else np.repeat(weights[rows][kept], codes.shape[1])
        parts.append(SparseExact.counted(shape, places, weigh))
    both = side_by_side([part.values for part in parts])
    return SparseExact.summed(shape, np.concatenate([part.places for part in parts]), both)


def weight_of_first_column(table: Table, levels: ColumnLevels) -> ExactArray:
    """(n_groups,) from the first column: each row has one cell in it."""
    end = int(levels.sizes[0]) + 1
    return table.sum_of_rows(0, end) if isinstance(table, SparseExact) else table[:, :end].sum(axis=1)


def _n_held(table: Table) -> int:
    return len(table.places) if isinstance(table, SparseExact) else table.shape[0] * table.shape[1]


def over_levels(
    tables: tuple[Table, Table], held: tuple[ColumnLevels, ColumnLevels], levels: ColumnLevels
) -> tuple[ExactArray, ExactArray] | tuple[SparseExact, SparseExact]:
    """Both tables over the same levels, in one form: a table that will be sparse is never spread out before."""
    n_held = sum(map(_n_held, tables))
    if any(isinstance(each, SparseExact) for each in tables) or is_sparse(tables[0].shape[0] * levels.n_slots, n_held):
        mine, theirs = map(as_sparse, tables)
        return as_sparse(held[0].moved(mine, levels)), as_sparse(held[1].moved(theirs, levels))
    here, there = held[0].moved(tables[0], levels), held[1].moved(tables[1], levels)
    return here, there  # type: ignore[return-value]  # neither is sparse


def merged(tables: tuple[ExactArray, ExactArray] | tuple[SparseExact, SparseExact]) -> Table:
    """The sum of two tables over the same levels."""
    mine, theirs = tables
    return mine.merge(as_sparse(theirs)) if isinstance(mine, SparseExact) else mine + theirs  # type: ignore[operator]


def regrouped(table: Table, positions: IntArray, n_groups: int) -> Table:
    """The same counts, each group at its position among n_groups."""
    if isinstance(table, SparseExact) or is_sparse(n_groups * table.shape[1], _n_held(table)):
        return as_sparse(table).regroup(positions, n_groups)
    return table.scatter_to(positions, n_groups)
