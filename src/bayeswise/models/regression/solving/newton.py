"""Newton's method for a convex loss and a prior, with a certificate: the gradient that is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression.solving.penalties import Penalty
from bayeswise.models.regression.solving.sparse_weights import sparse_minimum, subgradient

EPSILON = float(np.finfo(np.float64).eps)


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


@dataclass(frozen=True)
class Point:
    """The loss at some weights, without the penalty."""

    weights: FloatArray  # (n,)
    loss: float
    gradient: FloatArray  # (n,)
    hessian: FloatArray  # (n, n)


@dataclass(frozen=True)
class Minimum:
    """Where Newton's method ended."""

    point: Point
    certificate: Certificate


def minimise(
    evaluate: Callable[[FloatArray], Point],
    penalty: Penalty,
    start: FloatArray,
    *,
    total_weight: float,
    tolerance: float,
    most_iterations: int,
) -> Minimum:
    """The weights of least loss + penalty; a step that does not descend is halved."""
    point = evaluate(start)
    norm = _norm(point, penalty, total_weight)
    iterations = 0
    while norm > tolerance and iterations < most_iterations:
        found = _descended(evaluate, penalty, point, norm, total_weight)
        iterations += 1
        if found is None:
            break
        point, norm = found
    return Minimum(point, Certificate(norm, iterations, norm <= tolerance, tolerance))


def _descended(
    evaluate: Callable[[FloatArray], Point], penalty: Penalty, point: Point, norm: float, total_weight: float
) -> tuple[Point, float] | None:
    step = _step(point, penalty)
    here = point.loss + penalty.value(point.weights)
    slope = _slope(point, penalty, step)
    length = 1.0
    for _ in range(40):
        ahead = evaluate(point.weights + length * step)
        there = ahead.loss + penalty.value(ahead.weights)
        ahead_norm = _norm(ahead, penalty, total_weight)
        # Near the minimum the objective is flat to the last digit, and only the gradient still tells.
        rounding = 16.0 * EPSILON * max(abs(here), 1.0)
        if there <= here + 1e-4 * length * slope or (abs(there - here) <= rounding and ahead_norm < norm):
            return ahead, ahead_norm
        length *= 0.5
    return None


def _step(point: Point, penalty: Penalty) -> FloatArray:
    gradient = point.gradient + penalty.gradient(point.weights)
    hessian = point.hessian + np.diag(penalty.curvature(point.weights))
    if penalty.kind == "laplace":
        moment = hessian @ point.weights - gradient
        return sparse_minimum(hessian, moment, penalty.absolute, point.weights) - point.weights
    return -solve_symmetric(hessian, gradient)


def solve_symmetric(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution by Cholesky; the shortest one in scaled units where the matrix is singular."""
    diagonal = np.diag(matrix)
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = matrix / np.outer(unit, unit)
    try:
        factor = cho_factor(scaled, lower=True)
        if np.diag(factor[0]).min() > 1e-7:
            return np.asarray(cho_solve(factor, right / unit) / unit)
    except LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(scaled, right / unit, rcond=1e-13)[0] / unit)


def _slope(point: Point, penalty: Penalty, step: FloatArray) -> float:
    smooth = (point.gradient + penalty.gradient(point.weights)) @ step
    sharp = penalty.absolute @ (np.abs(point.weights + step) - np.abs(point.weights))
    return float(smooth + sharp)


def _norm(point: Point, penalty: Penalty, total_weight: float) -> float:
    gradient = point.gradient + penalty.gradient(point.weights)
    if penalty.kind == "laplace":
        gradient = subgradient(gradient, penalty.absolute, point.weights)
    return float(np.abs(gradient).max(initial=0.0)) / total_weight
