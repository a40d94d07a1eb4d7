"""Tables of exact sums that are mostly zero: only the others are held.

Ten thousand classes of ten thousand levels have a hundred million counts, of which a table of rows fills as many as it
has rows. Which form a table has follows from its contents alone (`fitting`), so that equal tables have equal bytes.

>>> table = SparseExact.summed((2, 3), np.array([5, 0, 5]), ExactArray.from_integers([1, 4, 2]))
>>> table.places.tolist(), table.values, table.dense()
([0, 5], ExactArray([4.0, 3.0]), ExactArray([[4.0, 0.0, 0.0], [0.0, 0.0, 3.0]]))
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import TooLargeError
from bayeswise.foundation.exact import ExactArray, side_by_side

ALWAYS_DENSE = 1 << 20
"""Cells of a table that is never sparse: 8 MB, less than the program around it."""

CELLS_FOR_EACH = 4
"""Cells of a larger table, for each that is not zero, from which on it is sparse."""

MOST_CELLS = 1 << 28
"""Cells that a sparse table is spread out to at most: 2 GB."""


@dataclass(frozen=True, eq=False, repr=False)
class SparseExact:
    """Exact sums by place, row * n_columns + column, in ascending order; none of them is zero."""

    shape: tuple[int, int]
    places: IntArray  # (n,)
    values: ExactArray  # (n,)

    # -- birth ------------------------------------------------------------------------------------------------
    @classmethod
    def of_dense(cls, table: ExactArray) -> SparseExact:
        n_rows, n_columns = table.shape
        flat = table.reshape(n_rows * n_columns)
        places = np.flatnonzero(flat.digits.any(axis=-1))
        return cls((n_rows, n_columns), places, flat[places])

    @classmethod
    def summed(cls, shape: tuple[int, int], places: IntArray, values: ExactArray) -> SparseExact:
        """From places in any order; the values of one that is there several times add up."""
        order = np.argsort(places, kind="stable")  # runs in order, as those of a merge are, take linear time
        sorted_places = places[order]
        first = np.flatnonzero(_differs(sorted_places))
        if len(first) == len(places):
            added = values[order]
        else:
            added = ExactArray.from_limbs(np.add.reduceat(values.digits[order], first, axis=0), values.low)
        kept = np.flatnonzero(~added.is_zero())
        return cls(shape, sorted_places[first][kept], added if len(kept) == len(first) else added[kept])

    @classmethod
    def counted(cls, shape: tuple[int, int], places: IntArray, weights: FloatArray | None = None) -> SparseExact:
        """How often each place is there, or the sum of the weights that it has."""
        if weights is not None:
            return cls.summed(shape, places, ExactArray.from_floats(weights))
        ordered = np.sort(places)
        first = np.flatnonzero(_differs(ordered))
        n_times = np.diff(np.append(first, len(ordered)))
        return cls(shape, ordered[first], ExactArray.from_integers(n_times))

    # -- where things are -------------------------------------------------------------------------------------
    @property
    def rows(self) -> IntArray:
        """(n,) the row of each value."""
        return self.places // max(self.shape[1], 1)

    @property
    def columns(self) -> IntArray:
        """(n,) the column of each value."""
        return self.places % max(self.shape[1], 1)

    def is_seen(self) -> BoolArray:
        """(n_columns,) whether a column has a value other than zero."""
        seen = np.zeros(self.shape[1], dtype=bool)
        seen[self.columns] = True
        return seen

    def dense(self, first: int = 0, end: int | None = None) -> ExactArray:
        """All columns, or a range of them, with their zeros."""
        end = self.shape[1] if end is None else end
        refuse_dense(self.shape[0], end - first)
        rows, columns = self.rows, self.columns
        inside = np.flatnonzero((columns >= first) & (columns < end))
        part = self.values[inside]
        digits = np.zeros((self.shape[0], end - first, part.digits.shape[-1]), dtype=np.int64)
        digits[rows[inside], columns[inside] - first] = part.digits
        return ExactArray(digits, part.low)

    def sum_of_rows(self, first: int, end: int) -> ExactArray:
        """(n_rows,) the sums over a range of columns."""
        inside = np.flatnonzero((self.columns >= first) & (self.columns < end))
        return _added(self.rows[inside], self.values[inside], self.shape[0])

    def sum_of_columns(self) -> ExactArray:
        """(n_columns,) the sums over all rows."""
        return _added(self.columns, self.values, self.shape[1])

    # -- the group, and the axis of rows as that of groups ----------------------------------------------------
    def zero(self) -> SparseExact:
        return SparseExact(self.shape, self.places[:0], ExactArray.zeros(0))

    def merge(self, other: SparseExact) -> SparseExact:
        both = side_by_side([self.values, other.values])
        return SparseExact.summed(self.shape, np.concatenate([self.places, other.places]), both)

    def subtract(self, other: SparseExact) -> SparseExact:
        return self.merge(SparseExact(other.shape, other.places, -other.values))

    def regroup(self, positions: IntArray, n_groups: int) -> SparseExact:
        """Row g becomes row positions[g] of so many."""
        places = np.asarray(positions, dtype=np.int64)[self.rows] * self.shape[1] + self.columns
        return SparseExact.summed((n_groups, self.shape[1]), places, self.values)

    def take(self, groups: IntArray) -> SparseExact:
        """The chosen rows, each once, in the chosen order."""
        position = np.full(self.shape[0], -1, dtype=np.int64)
        position[groups] = np.arange(len(groups))
        kept = np.flatnonzero(position[self.rows] >= 0)
        places = position[self.rows[kept]] * self.shape[1] + self.columns[kept]
        return SparseExact.summed((len(groups), self.shape[1]), places, self.values[kept])

    def pooled(self) -> ExactArray:
        return self.sum_of_columns()[None]

    def moved(self, positions: IntArray, n_columns: int) -> SparseExact:
        """Column c becomes column positions[c] of so many; -1 leaves it out."""
        columns = positions[self.columns]
        kept = np.flatnonzero(columns >= 0)
        places = self.rows[kept] * n_columns + columns[kept]
        return SparseExact.summed((self.shape[0], n_columns), places, self.values[kept])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseExact):
            return NotImplemented
        same = self.shape == other.shape and np.array_equal(self.places, other.places)
        return same and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SparseExact({self.shape[0]} x {self.shape[1]}, {len(self.places)} values)"


Table: TypeAlias = ExactArray | SparseExact


def is_sparse(n_cells: int, n_values: int) -> bool:
    """Whether a table with so many cells, and so many of them not zero, is held without its zeros.

    >>> is_sparse(1 << 20, 0), is_sparse(1 << 24, 1 << 22), is_sparse(1 << 24, (1 << 22) + 1)
    (False, True, False)
    """
    return n_cells > ALWAYS_DENSE and CELLS_FOR_EACH * n_values <= n_cells


def fitting(table: Table) -> Table:
    """The table in the one form that its contents have."""
    n_cells = table.shape[0] * table.shape[1]
    if isinstance(table, SparseExact):
        return table if is_sparse(n_cells, len(table.places)) else table.dense()
    if n_cells <= ALWAYS_DENSE or not is_sparse(n_cells, n_cells - int(np.count_nonzero(table.is_zero()))):
        return table
    return SparseExact.of_dense(table)


def as_sparse(table: Table) -> SparseExact:
    return table if isinstance(table, SparseExact) else SparseExact.of_dense(table)


def refuse_dense(n_rows: int, n_columns: int) -> None:
    """`TooLargeError` for a table whose zeros would not fit into an ordinary machine."""
    if n_rows * n_columns > MOST_CELLS:
        raise TooLargeError(
            f"a full table of {n_rows:,} classes and {n_columns:,} levels would take "
            f"{8 * n_rows * n_columns / 1e9:,.1f} GB; at most {8 * MOST_CELLS / 1e9:.1f} are taken",
            fix="choose a target with fewer classes, or leave out the column with most levels",
        )


def _differs(ordered: IntArray) -> BoolArray:
    """(n,) whether each is another than the one before it."""
    return np.concatenate([np.ones(min(len(ordered), 1), dtype=bool), ordered[1:] != ordered[:-1]])


def _added(positions: IntArray, values: ExactArray, length: int) -> ExactArray:
    """(length,) the values summed by position."""
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    first = np.flatnonzero(_differs(ordered))
    limbs = np.zeros((length, values.digits.shape[-1]), dtype=np.int64)
    if len(first):
        limbs[ordered[first]] = np.add.reduceat(values.digits[order], first, axis=0)
    return ExactArray.from_limbs(limbs, values.low)
