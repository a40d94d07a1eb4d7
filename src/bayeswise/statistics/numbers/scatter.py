"""Sums of all cross products of number columns, exactly: covariances, and X'X, X'y, y'y for regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray, ObjectArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import SchemaError, TooFewRowsError
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.threads import each
from bayeswise.statistics.numbers.kernel_numbers import halves, is_wide, real_cells, refusing_infinity
from bayeswise.statistics.numbers.moments import Divisor, Moments
from bayeswise.statistics.protocol import Additive, refuse_amounts, refuse_negative, refuse_negative_spread

_ROUNDING = 1e-6  # of an eigenvalue of a correlation matrix that is singular


@dataclass(frozen=True)
class Scatter(Additive):
    """n, sum x, sum x x' over rows without a missing cell; the others are counted as incomplete.

    >>> Scatter.of(np.array([[0.0, 0.0], [2.0, 4.0]])).covariance().tolist()
    [[[1.0, 2.0], [2.0, 4.0]]]
    """

    weight: ExactArray  # (n_groups,)
    total: ExactArray  # (n_groups, n_columns)
    cross: ExactArray  # (n_groups, n_columns (n_columns + 1) / 2): the lower triangle, row by row
    incomplete: ExactArray  # (n_groups,) the weight of rows with a missing cell

    sums = ("weight", "total", "cross", "incomplete")

    def __post_init__(self) -> None:
        groups, n_columns = self.weight.shape, self.total.shape[-1]
        shapes = ((*groups, n_columns), (*groups, n_columns * (n_columns + 1) // 2), groups)
        if len(groups) != 1 or shapes != (self.total.shape, self.cross.shape, self.incomplete.shape):
            raise SchemaError("sums, cross products and groups of number columns do not match in number")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.weight, self.incomplete, self.weight_of_rows.sum()], "a count of rows")
        empty = self.weight.is_zero()
        if not (self.total[empty].is_zero().all() and self.cross[empty].is_zero().all()):
            raise SchemaError("sums of number columns are there without rows")
        filled = self.take(np.flatnonzero(~empty))
        diagonal = np.arange(self.n_columns)
        if filled._spread(diagonal, diagonal).is_negative().any():
            raise SchemaError("counts, sums and sums of squares of number columns contradict each other")
        if not np.isfinite(filled.mean()).all():
            raise SchemaError("sums of number columns are those of infinite numbers")
        for correlation in filled._correlations():
            if not np.isfinite(correlation).all() or np.linalg.eigvalsh(correlation).min(initial=0.0) < -_ROUNDING:
                raise SchemaError("the cross products of number columns are those of no rows")

    def _correlations(self) -> FloatArray:
        """(n_groups, n_columns, n_columns), rounded; a column that never varies is uncorrelated."""
        diagonal = np.arange(self.n_columns)
        spread = self._spread(diagonal, diagonal)
        stddev = spread.sqrt_over(Dyadic.of_integers([[1]]))
        unit = np.where(stddev > 0, stddev, 1.0)
        rows, columns = np.tril_indices(self.n_columns)
        below = Dyadic.of_floats(unit)
        return self._square(self._spread(rows, columns).over(below[:, rows] * below[:, columns]))

    @classmethod
    def of(
        cls, values: FloatArray, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> Scatter:
        """The scatter of some rows; a negative group is left out, a weight of k counts as k rows."""
        if is_wide(values):
            return cls._of_wide(values, groups, n_groups, weights)
        cells = real_cells(values)
        sums = refusing_infinity(lambda: _kernels.scatter(cells, groups, n_groups, weights))
        return cls(*(ExactArray.from_limbs(digits, low) for digits, low in sums))

    @classmethod
    def _of_wide(cls, values: Any, groups: CodeArray | None, n_groups: int, weights: FloatArray | None) -> Scatter:
        """With x = u + l:  sum x_i x_j = sum u_i u_j + u_i l_j + l_i u_j + l_i l_j."""
        d = values.shape[1]
        both = cls.of(np.hstack(halves(values)), groups, n_groups, weights)
        rows, columns = np.tril_indices(d)
        cross = ExactArray.zeros((n_groups, len(rows)))
        for left in (0, d):
            for right in (0, d):
                packed = [packed_position(int(i) + left, int(j) + right) for i, j in zip(rows, columns, strict=True)]
                cross = cross + both.cross[:, np.array(packed, dtype=np.int64)]
        return cls(both.weight, both.total[:, :d] + both.total[:, d:], cross, both.incomplete)

    @classmethod
    def empty(cls, n_columns: int, n_groups: int = 1) -> Scatter:
        """The scatter of no rows."""
        shapes = ((n_groups,), (n_groups, n_columns), (n_groups, n_columns * (n_columns + 1) // 2), (n_groups,))
        return cls(*(ExactArray.zeros(shape) for shape in shapes))

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.weight + self.incomplete

    @property
    def n_columns(self) -> int:
        return self.total.shape[1]

    def _refuse_unmerged(self) -> None:
        refuse_negative([self.weight, self.incomplete], "a count of rows")
        diagonal = np.arange(self.n_columns)
        refuse_negative_spread(bool(self._spread(diagonal, diagonal).is_negative().any()))

    def columns(self, positions: IntArray) -> Scatter:
        """The chosen columns, in the chosen order."""
        packed = [packed_position(int(i), int(j)) for a, i in enumerate(positions) for j in positions[: a + 1]]
        return Scatter(self.weight, self.total[:, positions], self.cross[:, np.array(packed, int)], self.incomplete)

    # -- derived quantities, rounded once -----------------------------------------------------------------------
    def mean(self) -> FloatArray:
        """(n_groups, n_columns) sum x / n, correctly rounded."""
        self._refuse_too_few(0)
        return Dyadic.of(self.total).over(Dyadic.of(self.weight)[:, None])

    def mean_pair(self) -> tuple[FloatArray, FloatArray]:
        """The mean as high + low, beyond 53 bits."""
        self._refuse_too_few(0)
        return Dyadic.of(self.total).over_pair(Dyadic.of(self.weight)[:, None])

    def covariance(self, divisor: Divisor = "n") -> FloatArray:
        """(n_groups, n_columns, n_columns) (n sum x_i x_j - sum x_i sum x_j) / (n d), each correctly rounded."""
        if divisor == "n-K":
            raise TooFewRowsError("the divisor n-K needs the groups pooled", fix="call within_covariance()")
        less = 0 if divisor == "n" else 1
        self._refuse_too_few(less)
        weight = Dyadic.of(self.weight)
        rows, columns = np.tril_indices(self.n_columns)
        below = (weight * (weight - Dyadic.of_integers([less])))[:, None]
        return self._square(self._spread(rows, columns).over(below))

    def covariance_in(self, unit: FloatArray) -> FloatArray:
        """(n_groups, n_columns, n_columns) the covariance (divisor n) over unit_i unit_j, whatever the units.

        Each is correctly rounded, and 0 in a group without a complete row.

        >>> Scatter.of(np.array([[0.0, 0.0], [2e300, 4e300]])).covariance_in(np.array([1e300, 2e300])).tolist()
        [[[1.0, 1.0], [1.0, 1.0]]]
        """
        rows, columns = np.tril_indices(self.n_columns)
        weight, exact_unit = Dyadic.of(self.weight), Dyadic.of_floats(unit)
        safe = weight.or_one(weight.is_zero())
        below = (safe * safe)[:, None] * (exact_unit[rows] * exact_unit[columns])[None]
        return self._square(self._spread(rows, columns).over(below))

    def about_means(self, exponents: IntArray) -> FloatArray:
        """(n_groups, n_columns, n_columns) the sum of (x_i - mean_i)(x_j - mean_j) / 2^(e_i + e_j).

        Each is correctly rounded, and 0 in a group without a complete row.

            exponents   (n_columns,) e: each column is in units of 2^e

        >>> Scatter.of(np.array([[0.0, 0.0], [2.0, 4.0]])).about_means(np.array([0, 1])).tolist()
        [[[2.0, 2.0], [2.0, 2.0]]]
        """
        rows, columns = np.tril_indices(self.n_columns)
        counts = self.weight.as_counts()
        if counts is not None:
            lower = np.empty((len(counts), len(rows)))

            def divide(group: int) -> bool:
                own = slice(group, group + 1)
                sums = self.total.digits[own], self.total.low, self.cross.digits[own], self.cross.low
                return _kernels.exact_scatters(lower[own], *sums, counts[own, None], exponents)

            if all(each(divide, range(len(counts)))):
                return self._square(lower)
        weight, unit = Dyadic.of(self.weight), Dyadic.of_floats(np.ldexp(1.0, exponents))
        divisor = weight.or_one(weight.is_zero())[:, None]
        return self._square(self._spread(rows, columns).over(divisor * (unit[rows] * unit[columns])[None]))

    def within_covariance(self, divisor: Divisor = "n") -> FloatArray:
        """(n_columns, n_columns) the groups' scatters about their own means, added and divided by n, n-1 or n-K."""
        rows, columns = np.tril_indices(self.n_columns)
        spread, weight = self._spread(rows, columns).to_fractions(), self.weight.to_fractions()
        kept = np.flatnonzero(weight != 0)
        total = sum(weight[kept])
        df = total - {"n": 0, "n-1": 1, "n-K": len(kept)}[divisor]
        if df <= 0:
            raise TooFewRowsError(f"a pooled covariance with divisor {divisor} does not exist for {total} rows")
        within: ObjectArray = sum(spread[g] / weight[g] for g in kept) / df
        return np.asarray(self._square(np.array([float(value) for value in within])[None])[0])

    def _spread(self, rows: IntArray, columns: IntArray) -> Dyadic:
        """n sum x_i x_j - sum x_i sum x_j for the chosen pairs."""
        packed = rows * (rows + 1) // 2 + columns
        total = Dyadic.of(self.total)
        return Dyadic.of(self.weight)[:, None] * Dyadic.of(self.cross)[:, packed] - total[:, rows] * total[:, columns]

    def _square(self, lower: FloatArray) -> FloatArray:
        rows, columns = np.tril_indices(self.n_columns)
        full = np.empty((lower.shape[0], self.n_columns, self.n_columns))
        full[:, rows, columns] = lower
        full[:, columns, rows] = lower
        return full

    def _refuse_too_few(self, least: int) -> None:
        counted: ObjectArray = self.weight.to_fractions()
        for group, weight in enumerate(counted):
            if weight <= least:
                raise TooFewRowsError(
                    f"group {group} has {weight} complete rows; more than {least} are needed",
                    fix="give more rows, or leave the group out with take()",
                )

    def __repr__(self) -> str:
        n_groups, n_columns = self.total.shape
        return f"Scatter({self.weight.sum().to_floats():g} rows, {n_groups} groups, {n_columns} columns)"


def packed_position(row: int, column: int) -> int:
    """Where the pair stands in the packed lower triangle."""
    high, low = max(row, column), min(row, column)
    return high * (high + 1) // 2 + low


LARGEST_SCATTER = 1 << 24


@dataclass(frozen=True)
class PairSums(Additive):
    """Moments, and the scatter of all pairs of columns up to `most_rows` rows (None: of any number).

    Beyond that the pairs are let go, and only the moments are kept: the same for any order of rows. Forgetting rows
    does not bring the pairs back.

    >>> PairSums.of(np.array([[0.0, 0.0], [2.0, 4.0]]), most_rows=2)
    PairSums(2 rows, 1 groups, 2 columns, pairs kept)
    >>> PairSums.of(np.array([[0.0, 0.0], [2.0, 4.0]]), most_rows=1)
    PairSums(2 rows, 1 groups, 2 columns, pairs let go)
    """

    moments: Moments
    scatter: Scatter  # of no columns once the pairs are let go
    most_rows: int | None = None

    sums = ("moments", "scatter")

    def __post_init__(self) -> None:
        if self.scatter.weight.shape != self.moments.rows.shape or self.scatter.n_columns not in (0, self.n_columns):
            raise SchemaError("moments and cross products do not match in number")

    def refuse_impossible(self) -> None:
        if self.keeps_pairs and self.scatter.weight_of_rows != self.moments.rows:
            raise SchemaError("moments and cross products are of other rows")

    @classmethod
    def of(
        cls,
        values: FloatArray,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        most_rows: int | None = None,
    ) -> PairSums:
        """The sums of some rows; a negative group is left out, a weight of k counts as k rows."""
        moments = Moments.of(values, groups, n_groups, weights)
        if _are_too_many(moments, most_rows):
            return cls(moments, Scatter.empty(0, n_groups), most_rows)
        return cls(moments, Scatter.of(values, groups, n_groups, weights), most_rows)

    @property
    def keeps_pairs(self) -> bool:
        """Whether there are cross products."""
        return self.scatter.n_columns > 0

    @property
    def n_columns(self) -> int:
        return self.moments.weight.shape[1]

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.moments.rows

    def zero(self) -> PairSums:
        nothing = self.moments.zero()
        return PairSums(nothing, Scatter.empty(self.n_columns, nothing.n_groups), self.most_rows)

    def merge(self, other: PairSums) -> PairSums:
        moments = self.moments.merge(other.moments)
        if not (self.keeps_pairs and other.keeps_pairs) or _are_too_many(moments, self.most_rows):
            return PairSums(moments, Scatter.empty(0, moments.n_groups), self.most_rows)
        return PairSums(moments, self.scatter.merge(other.scatter), self.most_rows)

    def subtract(self, other: PairSums) -> PairSums:
        moments = self.moments.subtract(other.moments)
        if not self.keeps_pairs:
            return PairSums(moments, Scatter.empty(0, moments.n_groups), self.most_rows)
        return PairSums(moments, self.scatter.subtract(other.scatter), self.most_rows)

    def columns(self, positions: IntArray) -> PairSums:
        """The chosen columns, in the chosen order."""
        scatter = self.scatter.columns(positions) if self.keeps_pairs else self.scatter
        return PairSums(self.moments.columns(positions), scatter, self.most_rows)

    def __repr__(self) -> str:
        pairs = "kept" if self.keeps_pairs else "let go"
        return f"PairSums{repr(self.moments).removeprefix('Moments')[:-1]}, pairs {pairs})"


def most_rows_for(n_columns: int) -> int:
    """The rows up to which the pairs of `n_columns` columns take next to no time.

    >>> most_rows_for(4), most_rows_for(64), most_rows_for(1000)
    (32768, 16384, 0)
    """
    return 0 if n_columns > 128 else min(1 << 15, (1 << 26) // max(n_columns, 1) ** 2)


def _are_too_many(moments: Moments, most_rows: int | None) -> bool:
    n_groups, n_columns = moments.weight.shape
    if n_groups * n_columns**2 > LARGEST_SCATTER:
        return True
    return most_rows is not None and bool(np.asarray(moments.rows.sum().to_floats()) > most_rows)
