"""Where the values of number columns lie, as counts that add up and can be taken back: no least value could.

The real line is cut into buckets, eight to each power of two on either side of 0: what sign, exponent and three bits of
the mantissa of a double have in common. A bucket is at most an eighth of its numbers wide. The least value of a column
is in its lowest bucket, so whatever lies between the lowest and the highest bucket lies between two values.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray, stacked
from bayeswise.statistics.numbers.kernel_numbers import real_cells
from bayeswise.statistics.protocol import Additive, Weights, refuse_amounts, refuse_negative

MOST_COLUMNS = 256  # of which extents are kept: about 8 bytes for each bucket, a few hundred buckets for each column
_OF_COLUMN = 1 << 15  # keys; that of bucket b of column c is c 2^15 + 2^14 + b
_ZERO = 1 << 14
_LARGEST = (0x7FF << 3) - 1
_DROPPED_BITS = 49


@dataclass(frozen=True)
class Span:
    """The edges of the lowest bucket of a column, and those of its highest.

    >>> Span((3.0, 3.25), (40.0, 44.0)).inside(), Span((3.0, 3.25), (40.0, 44.0)).inside(whole=True)
    ((3.25, 40.0), (3.0, 40.0))
    """

    lowest: tuple[float, float]
    highest: tuple[float, float]

    def inside(self, *, whole: bool = False) -> tuple[float, float]:
        """From where to where all numbers are between two values; of whole numbers if all values are.

        The first is above the second where the values share a bucket, or all but do.
        """
        (_, low), (high, _) = self.lowest, self.highest
        if not whole:
            return low, high
        largest_low = math.ceil(low) - 1 if low > 0 else math.floor(low)  # the edge away from 0 is not in the bucket
        least_high = math.ceil(high) if high >= 0 else math.floor(high) + 1
        return float(largest_low), float(least_high)


@dataclass(frozen=True, eq=False)
class Extents(Additive):
    """How many cells of each column are in each bucket, of all groups together; missing cells are in none.

    >>> Extents.of(np.array([[3.1], [40.0], [np.nan]])).span(0)
    Span(lowest=(3.0, 3.25), highest=(40.0, 44.0))
    """

    rows: ExactArray  # (n_groups,) the weight of all rows
    n_columns: int
    keys: CodeArray  # (n_buckets,) of the buckets that have cells, ascending
    weight: ExactArray  # (n_buckets,) of the cells in them, above zero

    sums = ("rows",)  # whose first axis is that of groups; buckets are those of all

    def __post_init__(self) -> None:
        if self.weight.shape != self.keys.shape or len(self.rows.shape) != 1:
            raise SchemaError("buckets of number columns and their counts do not match in number")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.rows, self.weight, self.rows.sum()], "a count of rows")
        if self.keys.dtype != np.int32 or self.keys.ndim != 1 or not 0 <= self.n_columns < 1 << 16:
            raise SchemaError("buckets of number columns must have keys of 32 bits")
        first, last = (self.keys[0], self.keys[-1]) if len(self.keys) else (0, 0)
        if first < 0 or last >= max(self.n_columns, 1) * _OF_COLUMN or (np.diff(self.keys) <= 0).any():
            raise SchemaError("buckets of number columns must stand in order, each in a column")
        if (np.abs(self.keys % _OF_COLUMN - _ZERO) > _LARGEST).any() or self.weight.is_zero().any():
            raise SchemaError("buckets of number columns must hold finite numbers")
        if (stacked([self.rows.sum()] * self.n_columns) - self._of_columns(self.weight)).is_negative().any():
            raise SchemaError("a number column has more cells than rows")

    @classmethod
    def of(
        cls, values: Any, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> Extents:
        """The extents of some rows; a negative group is left out, a weight of k counts as k rows."""
        cells = real_cells(values)
        rows = Weights.of(len(cells), groups, n_groups, weights).weight if n_groups else ExactArray.zeros(0)
        keys, counted = _kernels.buckets(cells, groups, n_groups, weights)
        return cls(rows, cells.shape[1], keys, ExactArray.from_counts(counted))

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.rows

    # -- the group --------------------------------------------------------------------------------------------
    def zero(self) -> Extents:
        return Extents(ExactArray.zeros(self.rows.shape), self.n_columns, self.keys[:0], ExactArray.zeros(0))

    def merge(self, other: Extents) -> Extents:
        keys, mine, theirs = self._side_by_side(other)
        return Extents(self.rows + other.rows, self.n_columns, keys, mine + theirs)

    def subtract(self, other: Extents) -> Extents:
        keys, mine, theirs = self._side_by_side(other)
        rows, left = self.rows - other.rows, mine - theirs
        refuse_negative([rows, left], "a count of rows")
        seen = ~left.is_zero()
        return Extents(rows, self.n_columns, keys[seen], left[seen])

    def _side_by_side(self, other: Extents) -> tuple[CodeArray, ExactArray, ExactArray]:
        """The keys of both, and the weights of each there."""
        if np.array_equal(self.keys, other.keys):
            return self.keys, self.weight, other.weight
        both = np.sort(np.concatenate([self.keys, other.keys]), kind="stable")  # two runs, which are merged
        keys = both[np.diff(both, prepend=-1) > 0]
        places = (np.searchsorted(keys, each.keys) for each in (self, other))
        mine, theirs = (e.weight.scatter_to(at, len(keys)) for e, at in zip((self, other), places, strict=True))
        return keys, mine, theirs

    # -- derived values ---------------------------------------------------------------------------------------
    def span(self, column: int) -> Span | None:
        """Where the least and the largest value of a column are; None without a value."""
        first, last = np.searchsorted(self.keys, [column * _OF_COLUMN, (column + 1) * _OF_COLUMN])
        if first == last:
            return None
        lowest, highest = (int(self.keys[k]) % _OF_COLUMN - _ZERO for k in (first, last - 1))
        return Span(_edges(lowest), _edges(highest))

    def _of_columns(self, weight: ExactArray) -> ExactArray:
        """(n_columns,) the weight of all cells."""
        starts = np.searchsorted(self.keys, np.arange(self.n_columns + 1) * _OF_COLUMN)
        sums = np.concatenate([np.zeros((1, weight.digits.shape[-1]), np.int64), np.cumsum(weight.digits, axis=0)])
        return ExactArray.from_limbs(np.diff(sums[starts], axis=0), weight.low)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Extents):
            return NotImplemented
        mine, theirs = ((each.rows, each.n_columns, each.weight) for each in (self, other))
        return mine == theirs and np.array_equal(self.keys, other.keys)

    def __hash__(self) -> int:
        return hash((self.n_columns, self.keys.tobytes()))

    def __repr__(self) -> str:
        return f"Extents({self.rows.sum().to_floats():g} rows, {self.n_columns} columns, {len(self.keys)} buckets)"


def _edges(bucket: int) -> tuple[float, float]:
    """The edge on the side of 0 belongs to the bucket, the other one to the next; what is below 1e-308 counts as 0."""
    inner, outer = (_edge(abs(bucket)), _edge(abs(bucket) + 1))
    if bucket == 0:
        return 0.0, 0.0
    return (inner, outer) if bucket > 0 else (-outer, -inner)


def _edge(bucket: int) -> float:
    """The least positive number of a bucket; the largest double beyond the last bucket."""
    if bucket > _LARGEST:
        return float(np.finfo(np.float64).max)
    return float(np.array([bucket << _DROPPED_BITS], dtype=np.int64).view(np.float64)[0])
