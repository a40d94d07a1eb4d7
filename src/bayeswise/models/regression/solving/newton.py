"""Newton's method for a convex loss and a prior, with a certificate: the gradient that is left.

What a prior adds to the loss is minus its log:

gaussian    v^2 / (2 scale^2)          laplace    |v| / scale
student-t   (df + 1) / 2 log(1 + v^2 / (df scale^2))
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.linalg import LinAlgError

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.special import cho_factor, cho_solve, gammaln

EPSILON = float(np.finfo(np.float64).eps)
SMALL_SYSTEM = 64  # equations: LAPACK takes longer to be called than they take to be solved
LEAST_PIVOT = 1e-7  # of a factor in scaled units; below, the matrix is singular


@dataclass(frozen=True)
class Certificate:
    """How good the weights are: the largest entry of the gradient of loss + penalty, for each row of weight 1.

    The gradient is that of the standardised weights. The objective is convex (but for student-t priors), so a gradient
    of zero is the best there is.
    """

    gradient_norm: float
    iterations: int
    converged: bool
    tolerance: float

    def __str__(self) -> str:
        word = "converged" if self.converged else "stopped"
        return f"{word} after {self.iterations} iterations; gradient norm {self.gradient_norm:.1e}"


@dataclass(frozen=True, eq=False)
class Point:
    """The loss at some weights, without the penalty."""

    weights: FloatArray  # (n,)
    loss: float
    gradient: FloatArray  # (n,)
    hessian: FloatArray  # (n, n)

    def holding(self, weights: BoolArray) -> Point:
        """The same where nothing moves some weights."""
        self.gradient[weights] = 0.0
        self.hessian[weights] = 0.0
        self.hessian[:, weights] = 0.0
        self.hessian[weights, weights] = 1.0
        return self


class Loss(Protocol):
    """A loss with its derivatives."""

    @property
    def rows(self) -> Any:
        """The rows, which know their total weight."""

    @property
    def is_intercept(self) -> BoolArray:
        """(n_weights,) of the flattened weights."""

    def evaluate(self, weights: FloatArray) -> Point:
        """Loss, gradient and Hessian."""


def intercepts_of(shape: tuple[int, int]) -> BoolArray:
    """(n_vectors * n,) where the intercepts stand among flattened weights: the last of each vector."""
    mask = np.zeros(shape, dtype=np.bool_)
    mask[:, -1] = True
    return mask.ravel()


def minimise(
    loss: Loss, penalty: Penalty, start: FloatArray, *, tolerance: float, most_iterations: int
) -> tuple[Point, Certificate]:
    """The weights of least loss + penalty; a step that does not descend is halved."""
    point, total_weight = loss.evaluate(start), loss.rows.total_weight
    norm = _norm(point, penalty, total_weight)
    iterations = 0
    while norm > tolerance and iterations < most_iterations:
        found = _descended(loss, penalty, point, norm, total_weight)
        iterations += 1
        if found is None:
            break
        point, norm = found
    return point, Certificate(norm, iterations, norm <= tolerance, tolerance)


def _descended(
    loss: Loss, penalty: Penalty, point: Point, norm: float, total_weight: float
) -> tuple[Point, float] | None:
    step = _step(point, penalty)
    here = point.loss + penalty.value(point.weights)
    slope = _slope(point, penalty, step)
    length = 1.0
    for _ in range(40):
        ahead = loss.evaluate(point.weights + length * step)
        there = ahead.loss + penalty.value(ahead.weights)
        ahead_norm = _norm(ahead, penalty, total_weight)
        # Near the minimum the objective is flat to the last digit, and only the gradient still changes.
        rounding = 16.0 * EPSILON * max(abs(here), 1.0)
        if there <= here + 1e-4 * length * slope or (abs(there - here) <= rounding and ahead_norm < norm):
            return ahead, ahead_norm
        length *= 0.5
    return None


def _step(point: Point, penalty: Penalty) -> FloatArray:
    gradient = point.gradient + penalty.gradient(point.weights)
    hessian = point.hessian + np.diag(penalty.curvature(point.weights))
    if penalty.kind == "laplace":
        from bayeswise.models.regression.solving.normal_equations import sparse_minimum

        moment = hessian @ point.weights - gradient
        return sparse_minimum(hessian, moment, penalty.absolute, point.weights) - point.weights
    return -solve_symmetric(hessian, gradient)


def solve_symmetric(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution by Cholesky; the shortest one in scaled units where the matrix is singular."""
    if len(right) <= SMALL_SYSTEM:
        found = np.empty(len(right))
        if _kernels.solve_positive(matrix, right, found) > LEAST_PIVOT:
            return found
    diagonal = np.diag(matrix)
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = matrix / np.outer(unit, unit)
    if len(right) > SMALL_SYSTEM:
        with suppress(LinAlgError):
            factor = cho_factor(scaled, lower=True)
            if np.diag(factor[0]).min() > LEAST_PIVOT:
                return np.asarray(cho_solve(factor, right / unit) / unit)
    return np.asarray(np.linalg.lstsq(scaled, right / unit, rcond=1e-13)[0] / unit)


def _slope(point: Point, penalty: Penalty, step: FloatArray) -> float:
    smooth = (point.gradient + penalty.gradient(point.weights)) @ step
    sharp = penalty.absolute @ (np.abs(point.weights + step) - np.abs(point.weights))
    return float(smooth + sharp)


def _norm(point: Point, penalty: Penalty, total_weight: float) -> float:
    gradient = point.gradient + penalty.gradient(point.weights)
    if penalty.kind == "laplace":
        from bayeswise.models.regression.solving.normal_equations import subgradient

        gradient = subgradient(gradient, penalty.absolute, point.weights)
    return float(np.abs(gradient).max(initial=0.0)) / total_weight


def scale_by_evidence(
    top: Callable[[float, FloatArray], Point],
    log_evidence: Callable[[float, Point], float],
    start: FloatArray,
    widest: float,
) -> tuple[float, FloatArray]:
    """The scale of largest evidence from 1 / widest to widest, and the weights of the last one that was looked at.

    `top` is the best point at a scale, from the weights at another one.
    """
    last = start

    def minus_log_evidence(log_scale: float) -> float:
        nonlocal last
        scale = float(np.exp(log_scale))
        point = top(scale, last)
        last = point.weights
        return -log_evidence(scale, point)

    from scipy.optimize import minimize_scalar  # late: it takes longer to import than a small table

    bounds = (float(np.log(1.0 / widest)), float(np.log(widest)))
    found = minimize_scalar(minus_log_evidence, bounds=bounds, method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x)), last


@dataclass(frozen=True, eq=False)
class Penalty:
    """The prior of the weights that are not free.

    >>> Penalty("gaussian", 2.0, np.array([False, True])).value(np.array([4.0, 9.0]))
    2.0
    """

    kind: str | None
    scale: float
    free: BoolArray  # (n,) intercepts
    df: float = 4.0

    def value(self, v: FloatArray) -> float:
        held = v[~self.free] / self.scale
        if self.kind == "gaussian":
            return float(0.5 * (held @ held))
        if self.kind == "laplace":
            return float(np.abs(held).sum())
        if self.kind == "student-t":
            return float(0.5 * (self.df + 1.0) * np.log1p(held**2 / self.df).sum())
        return 0.0

    def gradient(self, v: FloatArray) -> FloatArray:
        """Of the smooth part: 0 for laplace, whose part is `absolute`."""
        return self.curvature(v) * v

    def curvature(self, v: FloatArray) -> FloatArray:
        """A parabola of this curvature touches the penalty at v and stays above it, so that each step descends."""
        if self.kind == "gaussian":
            bent = np.full(len(v), self.scale**-2)
        elif self.kind == "student-t":
            bent = (self.df + 1.0) / (self.df * self.scale**2 + v**2)
        else:
            bent = np.zeros(len(v))
        return np.where(self.free, 0.0, bent)

    def second(self, v: FloatArray) -> FloatArray:
        """The second derivative itself, for the Laplace approximation."""
        if self.kind != "student-t":
            return self.curvature(v)
        wide = self.df * self.scale**2
        return np.where(self.free, 0.0, (self.df + 1.0) * (wide - v**2) / (wide + v**2) ** 2)

    @property
    def absolute(self) -> FloatArray:
        """(n,) what |v| is multiplied by."""
        return np.where(self.free, 0.0, 1.0 / self.scale if self.kind == "laplace" else 0.0)

    def log_normaliser(self) -> float:
        """log of what exp(-value) integrates to over the weights that are not free."""
        n = int(np.count_nonzero(~self.free))
        if self.kind == "gaussian":
            each = 0.5 * np.log(2.0 * np.pi) + np.log(self.scale)
        elif self.kind == "student-t":
            half = 0.5 * self.df
            each = gammaln(half) - gammaln(half + 0.5) + 0.5 * np.log(self.df * np.pi) + np.log(self.scale)
        else:
            raise ParameterError(f"a {self.kind} prior has no evidence in closed form", fix="choose a gaussian prior")
        return float(n * each)
