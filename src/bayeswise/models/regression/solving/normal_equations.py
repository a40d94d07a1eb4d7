"""The weights of least (penalised) squares from exact moments, and what is known about them afterwards.

prior None       min |y - Xw|^2 / 2                        least squares: maximum likelihood under Gaussian noise
prior gaussian   ... + |s w|^2 / (2 scale^2)               w ~ N(0, (noise scale / s)^2), s = standard deviations
prior laplace    ... + |s w|_1 / scale                     p(w | noise^2) ~ exp(-|s w| / (scale noise^2))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.models.regression.features import refuse_extreme
from bayeswise.models.regression.solving.exact_solve import (
    MOST_EXACT,
    independent_columns,
    inverse_exactly,
    solve_exactly,
    solve_refined,
    symmetric_inverse,
)
from bayeswise.models.regression.solving.sparse_weights import sparse_minimum
from bayeswise.statistics.regression import RegressionMoments

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
    ) -> NormalEquations:
        """Of the features at these positions; `standardised` is 1 for those to be measured in standard deviations."""
        columns = np.append(positions, moments.scatter.n_columns - 1)
        products = moments.products(columns, centred=centred)
        about_mean = products if centred else moments.products(columns, centred=True)
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
            mean=moments.mean()[columns],
            unit=np.where(measured, spread, 1.0),
            measured=measured,
        )

    @property
    def divisor(self) -> float:
        """What the exact products are too large by."""
        return self.n_rows if self.centred else 1.0

    @property
    def freedom(self) -> float:
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
        of the others could not be told from one beside it.
        """
        values, vectors = np.linalg.eigh(self.correlation)
        seen = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
        below = np.where(seen, values + scale**-2, min(scale, WIDEST) ** -2)
        return np.asarray(vectors / np.sqrt(below) / self.unit[:, None])
