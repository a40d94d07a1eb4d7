"""The weights of least (penalised) squares from exact moments, and what is known about them afterwards.

prior None       min |y - Xw|^2 / 2                        least squares: maximum likelihood under Gaussian noise
prior gaussian   ... + |s w|^2 / (2 scale^2)               w ~ N(0, (noise scale / s)^2), s = standard deviations
prior laplace    ... + |s w|_1 / scale                     p(w | noise^2) ~ exp(-|s w| / (scale noise^2))

How wide the prior should be follows from the evidence (type-II maximum likelihood). With R = X'X in the columns' units,
eigenvalues l and rotated moments c, and t = scale^2:

    log p(y | scale) = -sum log(1 + t l) / 2 - (df / 2) log S(t) + constant
    S(t) = y'y - sum t c^2 / (1 + t l) = least squares + sum c^2 / (l (1 + t l))

The second form has no cancellation: rows that lie on a plane are seen to do so. The noise is integrated out under
p(noise^2) ~ 1 / noise^2 and the intercept under a flat prior; the noise at its most probable value gives the same
maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.linalg import LinAlgError

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.special import cho_factor, cho_solve, gammaln
from bayeswise.models.regression.features import refuse_extreme
from bayeswise.models.regression.solving.exact_solve import (
    MOST_EXACT,
    independent_columns,
    inverse_exactly,
    solve_exactly,
    solve_refined,
    symmetric_inverse,
)
from bayeswise.statistics.numbers.regression_moments import RegressionMoments

WIDEST = 1e8
SPREADS = (1e-120, 1e120)  # whose squares, times the number of rows, are floats


@dataclass(frozen=True)
class NormalEquations:
    """X'X and X'y, exact, about the means or about 0; times the weight of the rows where they are about the means."""

    matrix: Dyadic  # (n, n)
    right: Dyadic  # (n,)
    square: Dyadic  # y'y, ()
    n_rows: float
    centred: bool
    mean: FloatArray  # (n + 1,) the target's last
    unit: FloatArray  # (n,) standard deviations of numbers, 1 for indicators and constant columns
    measured: BoolArray  # (n,) whether the unit is a standard deviation

    @classmethod
    def of(
        cls,
        moments: RegressionMoments,
        positions: IntArray,
        names: Sequence[str],
        *,
        centred: bool,
        standardised: FloatArray,
        marked_by: IntArray,
    ) -> NormalEquations:
        """Of the features at these positions; `standardised` is 1 for those to be measured in standard deviations.

        A feature with the indicator `marked_by` (-1: none) was summed up as 0 where it is missing. There it shall be
        its mean over the other rows, so that mean times indicator is added to it, in all products.
        """
        columns = np.append(positions, moments.scatter.n_columns - 1)
        fill = _Fill.of(moments, columns, np.append(marked_by, -1))
        products = fill.added(moments.products(columns, centred=centred))
        about_mean = products if centred else fill.added(moments.products(columns, centred=True))
        weight = Dyadic.of(moments.scatter.weight)[0]
        squares = Dyadic(np.diagonal(about_mean.integers), about_mean.exponent)
        spreads = squares.sqrt_over(weight * weight)
        refuse_extreme([*names, "y"], spreads, *SPREADS)
        spread = spreads[:-1]
        measured = (standardised > 0) & (spread > 0)
        return cls(
            matrix=products[:-1, :-1],
            right=products[:-1, -1],
            square=products[-1, -1],
            n_rows=moments.n_rows(),
            centred=centred,
            mean=fill.means(moments, columns),
            unit=np.where(measured, spread, 1.0),
            measured=measured,
        )

    @property
    def divisor(self) -> float:
        """What the exact products are too large by."""
        return self.n_rows if self.centred else 1.0

    @property
    def df(self) -> float:
        """The rows that are left after the intercept."""
        return self.n_rows - float(self.centred)

    @cached_property
    def products(self) -> FloatArray:
        """(n, n) X'X, each entry correctly rounded."""
        return self.matrix.over(Dyadic.of_floats(self.divisor))

    @cached_property
    def correlation(self) -> FloatArray:
        """(n, n) X'X in the columns' units."""
        return np.asarray(self.products / np.outer(self.unit, self.unit))

    @cached_property
    def moment(self) -> FloatArray:
        """(n,) X'y in the columns' units."""
        return self.right.over(Dyadic.of_floats(self.divisor)) / self.unit

    @cached_property
    def total(self) -> float:
        """y'y."""
        return float(self.square.over(Dyadic.of_floats(self.divisor)))

    # -- weights, in original units ---------------------------------------------------------------------------
    def flat(self) -> tuple[FloatArray, IntArray]:
        """The least squares, with 0 for columns that are combinations of earlier ones; and the columns that are not."""
        n = len(self.unit)
        if n <= MOST_EXACT:
            solution = solve_exactly(self.matrix, self.right)
            return solution.x, solution.kept
        diagonal = np.sqrt(np.maximum(np.diag(self.products), 0.0))
        safe = np.where(diagonal > 0, diagonal, 1.0)
        kept = independent_columns(self.products / np.outer(safe, safe))
        w = np.zeros(n)
        block = self.matrix[np.ix_(kept, kept)]
        w[kept] = solve_refined(block, self.right[kept], 0.0, safe[kept], self.divisor)
        return w, kept

    def gaussian(self, scale: float) -> FloatArray:
        return solve_refined(self.matrix, self.right, scale**-2, self.unit, self.divisor)

    def laplace(self, scale: float, start: FloatArray | None = None) -> FloatArray:
        n = len(self.unit)
        near = None if start is None else start * self.unit
        return sparse_minimum(self.correlation, self.moment, np.full(n, 1.0 / scale), near) / self.unit

    # -- what is left -----------------------------------------------------------------------------------------
    def residual_square(self, w: FloatArray) -> float:
        """|y - Xw|^2, from exact products: no cancellation however good the fit."""
        exact = Dyadic.of_floats(w)
        quadratic = (self.matrix * exact[None, :] * exact[:, None]).sum(axis=0).sum(axis=0)
        linear = (self.right * exact).sum(axis=0)
        left = self.square - linear - linear + quadratic
        return max(float(left.over(Dyadic.of_floats(self.divisor))), 0.0)

    def inverse(self, kept: IntArray, scale: float | None) -> FloatArray:
        """(n, n) the inverse of X'X + prior, zero at columns that are not kept, in original units."""
        n = len(self.unit)
        full = np.zeros((n, n))
        block = np.ix_(kept, kept)
        if scale is None and n <= MOST_EXACT:
            full[block] = inverse_exactly(self.matrix, kept) * self.divisor
            return full
        if scale is not None:
            root = self.inverse_root(scale)
            return root @ root.T
        unit = self.unit[kept]
        full[block] = symmetric_inverse(self.correlation[block], 0.0)(np.eye(len(kept))) / np.outer(unit, unit)
        return full

    def inverse_root(self, scale: float) -> FloatArray:
        """(n, n) R with R R' = (X'X + prior)^-1, in original units: |z R|^2 does not cancel where the inverse does.

        A direction that the rows say nothing about is as wide as the prior, up to WIDEST: beyond it a row in the span
        of the others could not be distinguished from one outside.
        """
        values, vectors = np.linalg.eigh(self.correlation)
        seen = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
        below = np.where(seen, values + scale**-2, min(scale, WIDEST) ** -2)
        return np.asarray(vectors / np.sqrt(below) / self.unit[:, None])


@dataclass(frozen=True)
class _Fill:
    """z + mean(z where it is there) * indicator(it is missing), as a change of exact sums; None if nothing changes."""

    mean: Dyadic | None  # (n,) 0 where a column has no indicator
    indicator: IntArray  # (n,) the place of its indicator, or its own

    @classmethod
    def of(cls, moments: RegressionMoments, columns: IntArray, marked_by: IntArray) -> _Fill:
        indicator = np.where(marked_by >= 0, marked_by, np.arange(len(columns)))
        if not (marked_by >= 0).any():
            return cls(None, indicator)
        total = Dyadic.of(moments.scatter.total)[0][columns]
        there = Dyadic.of(moments.scatter.weight)[0] - total[indicator]
        none = (marked_by < 0) | there.is_zero()
        return cls(Dyadic.of_floats(np.where(none, 0.0, total.over(there.or_one(none)))), indicator)

    def added(self, products: Dyadic) -> Dyadic:
        """(n, n) the products of the columns after the change."""
        if self.mean is None:
            return products
        rows = products + self.mean[:, None] * products[self.indicator]
        return rows + self.mean[None, :] * rows[:, self.indicator]

    def means(self, moments: RegressionMoments, columns: IntArray) -> FloatArray:
        """(n,) the means of the columns after the change."""
        if self.mean is None:
            return moments.mean()[columns]
        total = Dyadic.of(moments.scatter.total)[0][columns]
        return (total + self.mean * total[self.indicator]).over(Dyadic.of(moments.scatter.weight)[0])


MOST_ROUNDS, ROUNDS_AT_ONCE = 2_000, 8


def sparse_minimum(
    matrix: FloatArray, moment: FloatArray, penalty: FloatArray, start: FloatArray | None = None
) -> FloatArray:
    """The weights of least penalised squares; a penalty of 0 leaves a weight free.

    With R = I each weight is the moment, shrunk by the penalty towards 0:

    >>> sparse_minimum(np.eye(2), np.array([3.0, 0.5]), np.array([1.0, 1.0])).tolist()
    [2.0, 0.0]
    """
    matrix = np.ascontiguousarray(matrix)
    v = np.zeros(len(moment)) if start is None else start.copy()
    v[np.diag(matrix) <= 0] = 0.0
    slope = moment - matrix @ v  # what each coordinate could still gain
    good = 1e-13 * float(np.abs(moment).max(initial=0.0))
    for _ in range(MOST_ROUNDS // ROUNDS_AT_ONCE):
        if _kernels.coordinate_rounds(matrix, penalty, v, slope, ROUNDS_AT_ONCE) <= 1e-9:
            break
        solved = _finished(matrix, moment, penalty, v)  # signs settle long before sizes do
        if violation(matrix, moment, penalty, solved) <= good:
            return solved
    return _finished(matrix, moment, penalty, v)


def _finished(matrix: FloatArray, moment: FloatArray, penalty: FloatArray, v: FloatArray) -> FloatArray:
    """With the signs known the rest is linear: solve it, and keep the answer if it meets the conditions."""
    active = np.flatnonzero(v)
    if not len(active):
        return v
    try:
        factor = cho_factor(matrix[np.ix_(active, active)], lower=True)
    except LinAlgError:
        return v
    solved = np.zeros_like(v)
    solved[active] = cho_solve(factor, moment[active] - penalty[active] * np.sign(v[active]))
    same_signs = bool(np.all(np.sign(solved[active]) == np.sign(v[active])))
    better = violation(matrix, moment, penalty, solved) <= violation(matrix, moment, penalty, v)
    return solved if same_signs and better else v


def violation(matrix: FloatArray, moment: FloatArray, penalty: FloatArray, v: FloatArray) -> float:
    """How far v is from the conditions of a minimum: the largest subgradient of least size."""
    return float(np.abs(subgradient(matrix @ v - moment, penalty, v)).max(initial=0.0))


def subgradient(gradient: FloatArray, penalty: FloatArray, v: FloatArray) -> FloatArray:
    """The subgradient of least size of a smooth function with that gradient, plus the penalised absolute values."""
    at_zero: BoolArray = v == 0
    inside = np.sign(gradient) * np.maximum(np.abs(gradient) - penalty, 0.0)
    return np.where(at_zero, inside, gradient + penalty * np.sign(v))


LOG_NARROWEST, LOG_WIDEST = -28.0, 28.0  # of scale^2


@dataclass(frozen=True)
class ScaleEvidence:
    """log p(y | scale) of one set of moments."""

    values: FloatArray  # (n,) eigenvalues of X'X
    squares: FloatArray  # (n,) squared moments along them
    least: float  # least squares
    df: float

    @classmethod
    def of(cls, equations: NormalEquations) -> ScaleEvidence:
        values, vectors = np.linalg.eigh(equations.correlation)
        values = np.where(values > len(values) * np.finfo(float).eps * values.max(initial=0.0), values, 0.0)
        squares = np.where(values > 0, (vectors.T @ equations.moment) ** 2, 0.0)
        return cls(values, squares, _least_squares(equations, values, squares), equations.df)

    def log_evidence(self, scale: float) -> float:
        """log p(y | scale) for p(noise^2) = 1 / noise^2 and a flat intercept."""
        return log_evidence_of(scale**2 * self.values, self._left(scale**2), self.df)

    def best_scale(self) -> float:
        """The scale of largest evidence: the best of a grid, then where the slope is zero."""
        grid = np.linspace(LOG_NARROWEST, LOG_WIDEST, 225)
        slopes = np.array([self._slope(log_t) for log_t in grid])
        falls = np.flatnonzero((slopes[:-1] > 0) & (slopes[1:] <= 0))
        from scipy.optimize import brentq  # late: it takes longer to import than a small table

        tops = [brentq(self._slope, grid[k], grid[k + 1], xtol=1e-15, rtol=1e-15) for k in falls]
        ends = [float(grid[0]), float(grid[-1])]
        best = max([*ends, *tops], key=lambda log_t: self.log_evidence(float(np.exp(0.5 * log_t))))
        return float(np.exp(0.5 * best))

    def left(self, scale: float) -> float:
        """S at a scale."""
        return self._left(scale**2)

    def _left(self, t: float) -> float:
        return self.least + float((_over(self.squares, self.values) / (1.0 + t * self.values)).sum())

    def _slope(self, log_t: float) -> float:
        """The derivative by log t."""
        t = float(np.exp(log_t))
        shrunk = 1.0 / (1.0 + t * self.values)
        fitted = float((self.squares * t * shrunk**2).sum())
        left = max(self._left(t), np.finfo(np.float64).tiny)
        return -0.5 * float((t * self.values * shrunk).sum()) + 0.5 * self.df * fitted / left


def log_evidence_of(widened: FloatArray, left: float, df: float) -> float:
    """log p(y | scale) from the eigenvalues times scale^2, and what the prior and the rows leave."""
    if left <= 0 or df <= 0:
        return np.inf if left <= 0 else np.nan
    determinant = -0.5 * float(np.log1p(widened).sum())
    half = 0.5 * df
    return determinant - half * float(np.log(np.pi * left)) + float(gammaln(half))


def _least_squares(equations: NormalEquations, values: FloatArray, squares: FloatArray) -> float:
    """What the best weights without a prior leave: exact for few columns."""
    if len(values) <= MOST_EXACT:
        return equations.residual_square(equations.flat()[0])
    left = equations.total - float(_over(squares, values).sum())
    return left if left > 64 * np.finfo(float).eps * equations.total else 0.0


def _over(squares: FloatArray, values: FloatArray) -> FloatArray:
    return np.divide(squares, values, out=np.zeros_like(squares), where=values > 0)
