"""How wide the prior should be, from the evidence (type-II maximum likelihood), by moments alone.

With R = X'X in the columns' units, eigenvalues l and rotated moments c, and t = scale^2:

    log p(y | scale) = -sum log(1 + t l) / 2 - (freedom / 2) log S(t) + constant
    S(t) = y'y - sum t c^2 / (1 + t l) = least squares + sum c^2 / (l (1 + t l))

The second form has no cancellation: rows that lie on a plane are seen to do so.

The noise is integrated out under p(noise^2) ~ 1 / noise^2 and the intercept under a flat prior; the noise at its most
probable value gives the same maximum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression.solving.exact_solve import MOST_EXACT
from bayeswise.models.regression.solving.normal_equations import NormalEquations

LOG_NARROWEST, LOG_WIDEST = -28.0, 28.0  # of scale^2


@dataclass(frozen=True)
class ScaleEvidence:
    """log p(y | scale) of one set of moments."""

    values: FloatArray  # (n,) eigenvalues of X'X
    squares: FloatArray  # (n,) squared moments along them
    least: float  # least squares
    freedom: float

    @classmethod
    def of(cls, equations: NormalEquations) -> ScaleEvidence:
        values, vectors = np.linalg.eigh(equations.correlation)
        values = np.where(values > len(values) * np.finfo(float).eps * values.max(initial=0.0), values, 0.0)
        squares = np.where(values > 0, (vectors.T @ equations.moment) ** 2, 0.0)
        return cls(values, squares, _least_squares(equations, values, squares), equations.freedom)

    def log_evidence(self, scale: float) -> float:
        """log p(y | scale) for p(noise^2) = 1 / noise^2 and a flat intercept."""
        t = scale**2
        left = self._left(t)
        if left <= 0 or self.freedom <= 0:
            return np.inf if left <= 0 else np.nan
        determinant = -0.5 * float(np.log1p(t * self.values).sum())
        half = 0.5 * self.freedom
        return determinant - half * float(np.log(np.pi * left)) + float(gammaln(half))

    def best_scale(self) -> float:
        """The scale of largest evidence: the best of a grid, then where the slope is zero."""
        grid = np.linspace(LOG_NARROWEST, LOG_WIDEST, 225)
        slopes = np.array([self._slope(log_t) for log_t in grid])
        falls = np.flatnonzero((slopes[:-1] > 0) & (slopes[1:] <= 0))
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
        return -0.5 * float((t * self.values * shrunk).sum()) + 0.5 * self.freedom * fitted / left


def _least_squares(equations: NormalEquations, values: FloatArray, squares: FloatArray) -> float:
    """What the best weights without a prior leave: exact for few columns."""
    if len(values) <= MOST_EXACT:
        return equations.residual_square(equations.flat()[0])
    left = equations.total - float(_over(squares, values).sum())
    return left if left > 64 * np.finfo(float).eps * equations.total else 0.0


def _over(squares: FloatArray, values: FloatArray) -> FloatArray:
    return np.divide(squares, values, out=np.zeros_like(squares), where=values > 0)
