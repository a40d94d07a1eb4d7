"""Weight, sum and sum of squares of number columns, exactly; from them mean and variance, rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import SchemaError, TooFewRowsError
from bayeswise.foundation.exact import ExactArray, side_by_side, stacked
from bayeswise.foundation.threads import each
from bayeswise.statistics.numbers.kernel_numbers import halves, is_wide, real_cells, refusing_infinity
from bayeswise.statistics.protocol import Additive, Weights, refuse_amounts, refuse_negative, refuse_negative_spread

Divisor = Literal["n", "n-1", "n-K"]
MANY_ROWS = 20_000  # which are shared out by rows
ENTRIES_WORTH_A_THREAD = 8_000
CELLS_IN_CACHE = 2_000  # columns times groups whose running sums stay in the first caches


@dataclass(frozen=True)
class Moments(Additive):
    """n, sum x, sum x^2 of each column in each group; missing cells (NaN) are not in n.

    >>> Moments.of(np.array([[1.0], [2.0], [3.0]])).variance("n-1").tolist()
    [[1.0]]
    """

    rows: ExactArray  # (n_groups,) the weight of all rows
    weight: ExactArray  # (n_groups, n_columns) the weight of the cells that are not missing
    total: ExactArray  # (n_groups, n_columns) sum of x
    squares: ExactArray  # (n_groups, n_columns) sum of x^2

    sums = ("rows", "weight", "total", "squares")

    def __post_init__(self) -> None:
        shapes = {self.weight.shape, self.total.shape, self.squares.shape}
        if shapes != {(*self.rows.shape, *self.weight.shape[1:])} or len(self.weight.shape) != 2:
            raise SchemaError("weights, sums and groups of number columns do not match in number")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.rows, self.weight, self.rows.sum()], "a count of rows")
        below_zero = (self.rows[:, None] - self.weight).is_negative() | self.squares.is_negative()
        without_cells = self.is_empty() & ~(self.total.is_zero() & self.squares.is_zero())
        if below_zero.any() or without_cells.any() or self._has_negative_spread():
            raise SchemaError("counts, sums and sums of squares of number columns contradict each other")
        if not all(np.isfinite(each).all() for each in (self.mean(empty=0.0), self.stddev(empty=0.0))):
            raise SchemaError("sums of number columns are those of infinite numbers")

    @classmethod
    def of(
        cls, values: FloatArray, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> Moments:
        """The moments of some rows; a negative group is left out, a weight of k counts as k rows."""
        if n_groups == 0:
            return cls.empty(values.shape[1], 0)
        if is_wide(values):
            return cls._of_wide(values, groups, n_groups, weights)
        cells = real_cells(values)
        rows = Weights.of(len(cells), groups, n_groups, weights).weight

        def sums(columns: slice) -> list[ExactArray]:
            found = _kernels.moments(cells[:, columns], groups, n_groups, weights)
            return [ExactArray.from_kernel(digits, low) for digits, low in found]

        step = max(128, CELLS_IN_CACHE // n_groups)
        parts = _pieces(cells.shape[1], step) if len(cells) < MANY_ROWS else [slice(None)]
        try:
            by_part = each(sums, parts)
        except _kernels.InfiniteValueError:  # the first one of the rows, which may be in another part
            by_part = [refusing_infinity(lambda: sums(slice(None)))]
        return cls(rows, *map(side_by_side, zip(*by_part, strict=True)))

    @classmethod
    def _of_wide(cls, values: Any, groups: CodeArray | None, n_groups: int, weights: FloatArray | None) -> Moments:
        """With x = u + l:  sum x = sum u + sum l  and  sum x^2 = sum u^2 + 2 sum u l + sum l^2."""
        from bayeswise.statistics.numbers.scatter import Scatter

        parts = [
            Scatter.of(np.column_stack([half[:, c] for half in halves(values)]), groups, n_groups, weights)
            for c in range(values.shape[1])
        ]
        totals = [part.total.sum(axis=1) for part in parts]
        squares = [part.cross.sum(axis=1) + part.cross[:, 1] for part in parts]  # u^2 + u l + l^2, and u l again
        rows = Weights.of(len(values), groups, n_groups, weights).weight
        weight = stacked([rows] * values.shape[1])
        return cls(rows, weight, stacked(totals), stacked(squares))

    @classmethod
    def empty(cls, n_columns: int, n_groups: int = 1) -> Moments:
        """The moments of no rows."""
        shape = (n_groups, n_columns)
        return cls(ExactArray.zeros(n_groups), *(ExactArray.zeros(shape) for _ in range(3)))

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.rows

    @property
    def n_groups(self) -> int:
        return self.weight.shape[0]

    def _refuse_unmerged(self) -> None:
        refuse_negative([self.rows, self.weight], "a count of rows")
        refuse_negative([self.squares], "a sum of squares")
        refuse_negative_spread(self._has_negative_spread())

    def columns(self, positions: IntArray) -> Moments:
        """The chosen columns, in the chosen order."""
        return Moments(self.rows, self.weight[:, positions], self.total[:, positions], self.squares[:, positions])

    def are_whole(self) -> bool:
        """Whether all values can be whole numbers: the sums of them and of their squares are."""
        sums = (*self.total.to_fractions().ravel(), *self.squares.to_fractions().ravel())
        return all(each.denominator == 1 for each in sums)

    # -- derived quantities, rounded once -----------------------------------------------------------------------
    def is_empty(self) -> BoolArray:
        """(n_groups, n_columns) no cell seen."""
        return self.weight.is_zero()

    def mean(self, empty: float | None = None) -> FloatArray:
        """(n_groups, n_columns) sum x / n, correctly rounded; `empty` where there is no cell, an error by default."""
        return self.mean_pair(empty)[0]

    def mean_pair(self, empty: float | None = None) -> tuple[FloatArray, FloatArray]:
        """The mean as high + low, beyond 53 bits: at 1e15 a rounded mean is not enough."""
        none = self._no_cell(empty)
        counts = self.weight.as_counts()
        if counts is not None:
            high, low = np.empty(counts.shape), np.empty(counts.shape)

            def divide(part: slice) -> bool:
                sums, n = _flat(self.total.digits, 1)[part], _flat(counts)[part]
                return _kernels.exact_means(_flat(high)[part], _flat(low)[part], sums, self.total.low, n)

            if all(each(divide, _pieces(counts.size, ENTRIES_WORTH_A_THREAD))):
                return np.where(none, 0.0 if empty is None else empty, high), low
        weight = Dyadic.of(self.weight).or_one(none)
        high, low = Dyadic.of(self.total).over_pair(weight)
        return np.where(none, 0.0 if empty is None else empty, high), low

    def variance(self, divisor: Divisor = "n", empty: float | None = None) -> FloatArray:
        """(n_groups, n_columns) (n sum x^2 - (sum x)^2) / (n d), correctly rounded; d is n or n - 1.

        "n-K" pools the groups: the sum over groups of n_g variance_g, over the weight less the number of groups; it is
        the same in each row.
        """
        if divisor == "n-K":
            return np.broadcast_to(self._pooled_variance(empty), self.weight.shape).copy()
        return self._spread_over(divisor, empty, root=False)

    def stddev(self, divisor: Divisor = "n", empty: float | None = None) -> FloatArray:
        """The square root of the variance; finite even where the variance itself would overflow."""
        if divisor == "n-K":
            return np.sqrt(self.variance(divisor, empty))
        return self._spread_over(divisor, empty, root=True)

    def _spread_over(self, divisor: Divisor, empty: float | None, *, root: bool) -> FloatArray:
        """(n sum x^2 - (sum x)^2) / (n d) or its root: by a kernel where weights are counts, else in long integers."""
        fast = self._counted_spread(0 if divisor == "n" else 1, root=root)
        if fast is not None:
            none, found = fast
            if empty is None and none.any():
                raise _too_few(none, f"a variance with divisor {divisor}")
        else:
            above, below, none = self._variance_ratio(divisor, empty)
            found = above.sqrt_over(below) if root else above.over(below)
        return np.where(none, 0.0 if empty is None else empty, found)

    def _counted_spread(self, less: int, *, root: bool) -> tuple[BoolArray, FloatArray] | None:
        """Where there are too few cells, and the answer in the others; None if the kernel cannot decide."""
        counts = self.weight.as_counts()
        if counts is None:
            return None
        found, total, squares = np.empty(counts.shape), self.total, self.squares

        def spread(part: slice) -> bool:
            above, below = _flat(squares.digits, 1)[part], _flat(total.digits, 1)[part]
            answers, n = _flat(found)[part], _flat(counts)[part]
            return _kernels.exact_spreads(answers, below, total.low, above, squares.low, n, less, root)

        done = all(each(spread, _pieces(counts.size, ENTRIES_WORTH_A_THREAD)))
        return (np.asarray(counts <= less), found) if done else None

    def _spread(self) -> Dyadic:
        """n sum x^2 - (sum x)^2: never negative for merged rows."""
        weight, total, squares = Dyadic.of(self.weight), Dyadic.of(self.total), Dyadic.of(self.squares)
        return weight * squares - total * total

    def _has_negative_spread(self) -> bool:
        """Whether no rows can have these sums; the kernel, which is a hundred times as fast, answers for counts."""
        return self._counted_spread(0, root=False) is None and bool(self._spread().is_negative().any())

    def _variance_ratio(self, divisor: Divisor, empty: float | None) -> tuple[Dyadic, Dyadic, BoolArray]:
        weight = Dyadic.of(self.weight)
        df = weight if divisor == "n" else weight - Dyadic.of_integers([[1]])
        none = np.asarray(df.is_zero() | df.is_negative())
        if empty is None and none.any():
            raise _too_few(none, f"a variance with divisor {divisor}")
        return self._spread(), weight.or_one(none) * df.or_one(none), none

    def _pooled_variance(self, empty: float | None) -> FloatArray:
        spread, weight = self._spread().to_fractions(), Dyadic.of(self.weight).to_fractions()
        within = [
            sum((s / w for s, w in zip(spread[:, c], weight[:, c], strict=True) if w), Fraction(0))
            for c in range(weight.shape[1])
        ]
        df = [sum(weight[:, c], Fraction(0)) - sum(1 for w in weight[:, c] if w) for c in range(weight.shape[1])]
        none = np.array([f <= 0 for f in df], dtype=np.bool_)
        if empty is None and none.any():
            raise _too_few(none[None, :], "a pooled variance with divisor n-K")
        return np.array([float(w / f) if f > 0 else empty for w, f in zip(within, df, strict=True)])

    def _no_cell(self, empty: float | None) -> BoolArray:
        none = self.is_empty()
        if empty is None and none.any():
            raise _too_few(none, "a mean")
        return none

    def __repr__(self) -> str:
        n_groups, n_columns = self.weight.shape
        return f"Moments({self.rows.sum().to_floats():g} rows, {n_groups} groups, {n_columns} columns)"


def _pieces(n: int, step: int) -> list[slice]:
    return [slice(first, min(first + step, n)) for first in range(0, max(n, 1), step)]


def _flat(array: Any, n_inside: int = 0) -> Any:
    """The entries of all groups and columns in a row, as a view (n_entries, 1, ...)."""
    inside = array.shape[array.ndim - n_inside :]
    return array.reshape(math.prod(array.shape[: array.ndim - n_inside]), 1, *inside)


def _too_few(none: BoolArray, what: str) -> TooFewRowsError:
    group, column = (int(k) for k in np.argwhere(none)[0])
    return TooFewRowsError(
        f"{what} does not exist for column {column} of group {group}: too few cells there",
        fix="give more rows, or set the result with empty=...",
    )
