"""Newton's method for many classes and columns, where the Hessian is applied but never written down.

Each step is found by conjugate gradients, preconditioned by what the Hessian would be if every row had the same
probabilities: one block for each class, mean of p (1 - p) times X'X, plus the prior.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression.newton import EPSILON, Certificate
from bayeswise.models.regression.penalties import Penalty
from bayeswise.models.regression.softmax import SoftmaxLoss

FEW_ROWS = 16_000


def minimise_softmax(
    loss: SoftmaxLoss, penalty: Penalty, start: FloatArray, *, tolerance: float, most_iterations: int
) -> tuple[FloatArray, Certificate]:
    """The flattened weights of least loss + penalty; begun on a part of the rows where there are many."""
    step = loss.rows.n_rows // FEW_ROWS
    if step >= 2:
        few = loss.every(step)
        # The prior weighs as much against few rows as it does against all, so that both have nearly one minimum.
        lighter = Penalty(penalty.kind, penalty.scale * np.sqrt(step), penalty.free, penalty.freedom)
        start, _ = minimise_softmax(few, lighter, start, tolerance=1e-3, most_iterations=most_iterations)
    return _newton(loss, penalty, start, tolerance, most_iterations)


def _newton(
    loss: SoftmaxLoss, penalty: Penalty, start: FloatArray, tolerance: float, most_iterations: int
) -> tuple[FloatArray, Certificate]:
    total = loss.rows.total_weight
    by = loss.rows.weights if len(loss.rows.weights) else np.ones(loss.rows.n_rows)
    products = loss.rows.products(by)
    weights = start
    value, slopes, probabilities = loss.slopes(weights.reshape(loss.shape))
    iterations = 0
    while True:
        gradient = slopes.ravel() + penalty.gradient(weights)
        norm = float(np.abs(gradient).max()) / total
        if norm <= tolerance or iterations >= most_iterations:
            break
        iterations += 1
        bent = penalty.curvature(weights)
        precondition = _preconditioner(loss, products, by, probabilities, bent)
        forcing = max(min(0.1, np.sqrt(norm)), 0.3 * tolerance / norm)

        def curved(v: FloatArray, p: FloatArray = probabilities, bent: FloatArray = bent) -> FloatArray:
            return loss.along(v.reshape(loss.shape), p).ravel() + bent * v

        step = _conjugate_gradients(curved, precondition, -gradient, forcing)
        here, slope, length = value + penalty.value(weights), float(gradient @ step), 1.0
        for _ in range(40):
            ahead = weights + length * step
            found = loss.slopes(ahead.reshape(loss.shape))
            change = found[0] + penalty.value(ahead) - here
            if change <= 1e-4 * length * slope or abs(change) <= 16 * EPSILON * max(abs(here), 1.0):
                break
            length *= 0.5
        else:
            break
        weights, (value, slopes, probabilities) = ahead, found
    return weights, Certificate(norm, iterations, norm <= tolerance, tolerance)


def _preconditioner(
    loss: SoftmaxLoss, products: FloatArray, by: FloatArray, probabilities: FloatArray, bent: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    shares = by @ (probabilities * (1.0 - probabilities)) / loss.rows.total_weight
    blocks = bent.reshape(loss.shape)
    floor = 1e-10 * np.diag(products).max()
    factors = [
        cho_factor(max(share, 1e-12) * products + np.diag(blocks[k] + floor), lower=True)
        for k, share in enumerate(shares)
    ]

    def precondition(v: FloatArray) -> FloatArray:
        each = v.reshape(loss.shape)
        return np.concatenate([cho_solve(factor, part) for factor, part in zip(factors, each, strict=True)])

    return precondition


def _conjugate_gradients(
    curved: Callable[[FloatArray], FloatArray],
    precondition: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    forcing: float,
) -> FloatArray:
    """x with |A x - right| <= forcing |right|."""
    x = np.zeros_like(right)
    left = right.copy()
    turned = precondition(left)
    direction, power = turned.copy(), float(left @ turned)
    goal = forcing * float(np.abs(right).max())
    for _ in range(250):
        product = curved(direction)
        bend = float(direction @ product)
        if bend <= 0.0:
            break
        x += (power / bend) * direction
        left -= (power / bend) * product
        if float(np.abs(left).max()) <= goal:
            break
        turned = precondition(left)
        fresh = float(left @ turned)
        direction = turned + (fresh / power) * direction
        power = fresh
    return x if x.any() else precondition(right)
