"""All values of number columns as multisets: for families without a statistic of fixed size, such as a median.

It grows with the different values seen, up to `MOST_VALUES`; but it merges and subtracts exactly like every other
statistic, so that files and pipes are read in pieces, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray, ObjectArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import SchemaError, SupportError, TooFewRowsError, TooLargeError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.protocol import Weights, refuse_amounts, refuse_negative

MOST_VALUES = 5_000_000  # different ones, over all columns and groups: about 1 GB while they are sorted


@dataclass(frozen=True)
class Sample:
    """Each different value of each column in each group, ascending, with its weight; missing cells are not in it.

    >>> seen = Sample.of(np.array([[3.0], [1.0], [3.0]]))
    >>> seen.values.tolist(), seen.weight.to_floats().tolist(), seen.median().tolist()
    ([1.0, 3.0], [1.0, 2.0], [[3.0]])
    """

    rows: ExactArray  # (n_groups,) the weight of all rows
    sizes: IntArray  # (n_groups, n_columns) how many different values
    values: FloatArray  # (sizes.sum(),) cell by cell, group after group
    weight: ExactArray  # (sizes.sum(),)

    def __post_init__(self) -> None:
        shape = (*self.rows.shape, *self.sizes.shape[1:])
        shapes = (self.sizes.shape, self.weight.shape, self.rows.shape, self.values.shape)
        if shapes != (shape, (int(self.sizes.sum()),), shape[:1], self.weight.shape) or self.sizes.ndim != 2:
            raise SchemaError("values, their weights and groups of number columns do not match in number")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.rows, self.weight, self.rows.sum(), self.weight.sum()], "the weight of a value")
        if (self.sizes < 0).any() or self.weight.is_zero().any():
            raise SchemaError("a value of a column has no weight")
        ascending = (np.diff(self.values) > 0) | (np.diff(self._cells()) > 0)
        if not np.isfinite(self.values).all() or not ascending.all():
            raise SchemaError("the values of a column must be finite and ascending")

    @classmethod
    def of(
        cls, values: FloatArray, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> Sample:
        """The values of some rows; a negative group is left out, a weight of k counts as k rows."""
        table = np.asarray(values, dtype=np.float64) + 0.0  # -0.0 and 0.0 are one value
        group = np.zeros(len(table), dtype=np.int64) if groups is None else groups.astype(np.int64)
        counted = (group >= 0) if weights is None else (group >= 0) & (weights > 0)
        kept = ~np.isnan(table) & counted[:, None]
        _refuse_infinite(table, kept)
        cell = group[:, None] * table.shape[1] + np.arange(table.shape[1])  # (n_rows, n_columns)
        weight = _weight_of_cells(kept, weights)
        rows = Weights.of(len(table), groups, n_groups, weights).weight
        return _gathered(rows, (n_groups, table.shape[1]), cell[kept], table[kept], weight)

    @classmethod
    def empty(cls, n_columns: int, n_groups: int = 1) -> Sample:
        """The values of no rows."""
        sizes = np.zeros((n_groups, n_columns), dtype=np.int64)
        return cls(ExactArray.zeros(n_groups), sizes, np.zeros(0), ExactArray.zeros(0))

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.rows

    def zero(self) -> Sample:
        return Sample.empty(self.sizes.shape[1], self.sizes.shape[0])

    def merge(self, other: Sample) -> Sample:
        return self._joined(other, other.weight, self.rows + other.rows)

    def subtract(self, other: Sample) -> Sample:
        left = self._joined(other, -other.weight, self.rows - other.rows)
        refuse_negative([left.rows, left.weight], "the weight of a value")
        return left

    def regroup(self, positions: IntArray, n_groups: int) -> Sample:
        n_columns = self.sizes.shape[1]
        group, column = np.divmod(self._cells(), max(n_columns, 1))
        cell = np.asarray(positions, dtype=np.int64)[group] * n_columns + column
        rows = self.rows.scatter_to(positions, n_groups)
        return _gathered(rows, (n_groups, n_columns), cell, self.values, self.weight)

    def take(self, groups: IntArray) -> Sample:
        bounds = np.concatenate([[0], np.cumsum(self.sizes.sum(axis=1))])
        kept = [np.arange(bounds[group], bounds[group + 1]) for group in groups]
        order = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
        return Sample(self.rows[groups], self.sizes[groups], self.values[order], self.weight[order])

    def pooled(self) -> Sample:
        n_columns = self.sizes.shape[1]
        column = self._cells() % max(n_columns, 1)
        return _gathered(self.rows.sum(axis=0)[None], (1, n_columns), column, self.values, self.weight)

    def columns(self, positions: IntArray) -> Sample:
        """The chosen columns, in the chosen order."""
        bounds = np.concatenate([[0], np.cumsum(self.sizes)])
        starts = bounds[:-1].reshape(self.sizes.shape)[:, positions].ravel()
        sizes = self.sizes[:, positions]
        kept = [np.arange(start, start + size) for start, size in zip(starts, sizes.ravel(), strict=True)]
        order = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
        return Sample(self.rows, sizes, self.values[order], self.weight[order])

    def _joined(self, other: Sample, weight: ExactArray, rows: ExactArray) -> Sample:
        mine, theirs = len(self.values), len(other.values)
        both = self.weight.scatter_to(np.arange(mine), mine + theirs)
        both = both + weight.scatter_to(np.arange(mine, mine + theirs), mine + theirs)
        cell = np.concatenate([self._cells(), other._cells()])
        return _gathered(rows, self.sizes.shape, cell, np.concatenate([self.values, other.values]), both)

    def _cells(self) -> IntArray:
        """(sizes.sum(),) the cell of each value, counted group after group."""
        return np.repeat(np.arange(self.sizes.size), self.sizes.ravel())

    # -- derived quantities, rounded once -----------------------------------------------------------------------
    def cells(self) -> Iterator[tuple[FloatArray, ExactArray]]:
        """The values and weights of each cell, group after group."""
        stop = np.cumsum(self.sizes)
        for first, last in zip(stop - self.sizes.ravel(), stop, strict=True):
            yield self.values[first:last], self.weight[first:last]

    def median(self, empty: float | None = None) -> FloatArray:
        """(n_groups, n_columns) the middle value; halfway between two where half the weight lies on each side."""
        middles = [_middle(values, weight) if len(values) else self._or_error(empty) for values, weight in self.cells()]
        rounded = [float((Fraction(low) + Fraction(high)) / 2) for low, high in middles]
        return np.array(rounded).reshape(self.sizes.shape)

    def mean_absolute_deviation(self, empty: float | None = None) -> FloatArray:
        """(n_groups, n_columns) the mean of |x - median|, correctly rounded; it is the same for every median."""
        spreads = [_deviation(v, weight) if len(v) else self._or_error(empty)[0] for v, weight in self.cells()]
        return np.array(spreads).reshape(self.sizes.shape)

    def spread(self) -> FloatArray:
        """(n_groups, n_columns) the mean of |x - mean| in floats, fit for a scale; 0 without cells."""
        spreads = [_spread(values, weight.to_floats()) if len(values) else 0.0 for values, weight in self.cells()]
        return np.array(spreads).reshape(self.sizes.shape)

    def _or_error(self, empty: float | None) -> tuple[float, float]:
        if empty is None:
            group, column = (int(k) for k in np.argwhere(self.sizes == 0)[0])
            raise TooFewRowsError(
                f"a median does not exist for column {column} of group {group}: it has no cells",
                fix="give more rows, or set the result with empty=...",
            )
        return empty, empty

    def __repr__(self) -> str:
        n_groups, n_columns = self.sizes.shape
        return f"Sample({self.rows.sum().to_floats():g} rows, {n_groups} groups, {n_columns} columns)"


def _weight_of_cells(kept: BoolArray, weights: FloatArray | None) -> ExactArray:
    """The weight of each cell that is kept, row after row."""
    if weights is None:
        return ExactArray.from_integers(np.ones(np.count_nonzero(kept), dtype=np.int64))
    return ExactArray.from_floats(np.broadcast_to(weights[:, None], kept.shape)[kept])


def _gathered(
    rows: ExactArray, shape: tuple[int, ...], cell: IntArray, values: FloatArray, weight: ExactArray
) -> Sample:
    """Equal values of one cell become one, their weights added; a value without weight vanishes."""
    order = np.lexsort((values, cell))
    cell, values, digits = cell[order], values[order], weight.digits[order]
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = (cell[1:] != cell[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(new)
    if len(starts):
        digits = np.add.reduceat(digits, starts, axis=0)
    total = ExactArray.from_limbs(digits, weight.low)
    kept = np.flatnonzero(~total.is_zero())
    if len(kept) > MOST_VALUES:
        raise TooLargeError(
            f"a family without a statistic of fixed size (laplace, student-t) keeps every different value: more than "
            f"{MOST_VALUES:,} are too many",
            fix="choose a family that sums, such as normal, or round the column",
        )
    sizes = np.bincount(cell[starts][kept], minlength=int(np.prod(shape))).reshape(shape)
    return Sample(rows, sizes.astype(np.int64), values[starts][kept], total[kept])


def _middle(values: FloatArray, weight: ExactArray) -> tuple[float, float]:
    """The lowest and the highest median."""
    below = np.cumsum(_units(weight))
    low, high = np.searchsorted(2 * below, below[-1], side="left"), np.searchsorted(2 * below, below[-1], side="right")
    return float(values[low]), float(values[high])


def _deviation(values: FloatArray, weight: ExactArray) -> float:
    """sum w |x - m| / sum w, with m the lowest median."""
    m = _middle(values, weight)[0]
    above = values > m
    weigh, away = Dyadic.of(weight), Dyadic.of_floats(values) - Dyadic.of_floats([m])
    signed = Dyadic(np.where(above, away.integers, -away.integers), away.exponent)
    return float((weigh * signed).sum(axis=0).over(weigh.sum(axis=0)))


def _spread(values: FloatArray, weight: FloatArray) -> float:
    share = weight / weight.max()
    share /= share.sum()
    half = 0.5 * values  # the distance of the largest floats is none
    return 2.0 * min(float(share @ np.abs(half - share @ half)), 0.25 * np.finfo(np.float64).max)


def _units(weight: ExactArray) -> IntArray | ObjectArray:
    """Weights as integers in a common unit, of any size if need be."""
    return weight.digits[:, 0] if weight.digits.shape[-1] == 1 else weight.to_ints()[0]


def _refuse_infinite(table: FloatArray, kept: BoolArray) -> None:
    places = np.argwhere(np.isinf(table) & kept)
    if len(places):
        row, column = (int(k) for k in places[0])
        raise SupportError("a value must be finite", row=row, column=column, value=float(table[row, column]))
