"""The estimates behind calibration: one power, one line, one staircase, one matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.posteriors.normalise import probability_of

LOG_LEAST = float(np.log(np.nextafter(0.0, 1.0)))
"""The logarithm of the least double: what a probability of 0 is taken for where an infinite loss would end all."""

_POWERS = (1e-3, 1e3)
_NEWTON_STEPS = 200
_DENSE_STATES = 12  # beyond it the matrix of second derivatives is more expensive than its products with directions
_ROUNDING = 1e-11  # a slope this small, relative to the sum of the sizes of its parts, is a slope of 0


def temperature_power(log_shares: FloatArray, truth: IntArray, weights: FloatArray) -> float:
    """The power b = 1 / T of least log-loss; the loss is convex in b, so that its slope changes its sign once."""
    own = log_shares[np.arange(len(truth)), truth]

    def slope(power: float) -> float:
        scaled = power * log_shares
        share = np.exp(scaled - log_sum_exp(scaled)[:, None])
        return float(weights @ ((share * log_shares).sum(axis=1) - own))

    low, high = _POWERS
    if slope(low) >= 0.0:
        return low
    if slope(high) <= 0.0:
        return high
    from scipy.optimize import brentq

    return float(np.exp(brentq(lambda log_power: slope(float(np.exp(log_power))), np.log(low), np.log(high))))


def sigmoid_line(logits: FloatArray, is_state: BoolArray, weights: FloatArray) -> tuple[float, float]:
    """Slope and shift of least log-loss, with Platt's targets (n + 1) / (n + 2), so that they stay finite."""
    n_state, n_rest = float(weights[is_state].sum()), float(weights[~is_state].sum())
    target = np.where(is_state, (n_state + 1.0) / (n_state + 2.0), 1.0 / (n_rest + 2.0))
    design = np.stack([logits, np.ones_like(logits)], axis=1)  # (n_rows, 2)
    scale = max(1.0, float(np.abs(logits).max()))
    design[:, 0] /= scale

    def loss(line: FloatArray) -> float:
        score = design @ line
        return float(weights @ (np.logaddexp(0.0, score) - target * score))

    def slope_and_step(line: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = probability_of(design @ line)
        slope = design.T @ (weights * (p - target))
        curvature = (design * (weights * p * (1.0 - p))[:, None]).T @ design
        return slope, np.asarray(np.linalg.lstsq(curvature + 1e-12 * np.eye(2), slope, rcond=None)[0], dtype=np.float64)

    rounding = _ROUNDING * np.abs(design).T @ weights
    line = _newton(np.zeros(2), loss, slope_and_step, rounding)
    return float(line[0] / scale), float(line[1])


def isotonic_steps(p: FloatArray, is_state: BoolArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the rising curve of least squares: equal p have one value, and neighbours that disagree pool."""
    from scipy.optimize import isotonic_regression

    at, group = np.unique(p, return_inverse=True)
    mass = np.bincount(group, weights)
    kept = mass > 0
    share = np.bincount(group, weights * is_state)[kept] / mass[kept]
    fitted = isotonic_regression(share, weights=mass[kept]).x
    return np.asarray(at[kept]), np.clip(fitted, 0.0, 1.0)


def _newton(
    start: FloatArray,
    loss: Callable[[FloatArray], float],
    slope_and_step: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    rounding: FloatArray,
) -> FloatArray:
    """Newton steps down a convex loss until every slope is one of rounding.

    A step is halved until the loss falls; where the loss no longer changes in floating point, the slopes still do.
    """
    rounding = np.maximum(rounding, np.finfo(np.float64).tiny)
    at, before = start, loss(start)
    slope, step = slope_and_step(at)
    for _ in range(_NEWTON_STEPS):
        left = float(np.max(np.abs(slope) / rounding, initial=0.0))
        if left <= 1.0:
            break
        promised = float((slope * step).sum())
        size, moved = 1.0, False
        while size > 1e-10 and not moved:
            there = at - size * step
            after = loss(there)
            if after <= before - 1e-4 * size * promised:
                moved = True
                next_slope, next_step = slope_and_step(there)
            elif after - before <= 1e-13 * abs(before):
                next_slope, next_step = slope_and_step(there)
                moved = float(np.max(np.abs(next_slope) / rounding)) < left
            size *= 0.5
        if not moved:
            break
        at, before, slope, step = there, after, next_slope, next_step
    return at


def dirichlet_weights(
    log_shares: FloatArray, truth: IntArray, weights: FloatArray, pull: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """W and b of least log-loss plus pull * |W - I|^2 / 2: without evidence nothing changes."""
    problem = _Softmax(np.c_[log_shares, np.ones(len(truth))], truth, weights, pull)
    best = _newton(problem.start, problem.loss, problem.slope_and_step, problem.rounding)
    shift = best[:, -1]
    return best[:, :-1], shift - shift.mean()


@dataclass(frozen=True, eq=False)
class _Softmax:
    """loss(M) = sum_r w_r (log sum_k exp(M z_r)_k - (M z_r)_truth) + pull |W - I|^2 / 2, for M = (W, b).

    A number added to every shift changes nothing; sum(b)^2 / 2 is added to the loss, so that the least is at one place.
    """

    design: FloatArray  # (n_rows, n_states + 1)
    truth: IntArray
    weights: FloatArray
    pull: float

    @property
    def start(self) -> FloatArray:
        n_states = self.design.shape[1] - 1
        return np.eye(n_states, n_states + 1)

    def loss(self, matrix: FloatArray) -> float:
        score = self.design @ matrix.T  # (n_rows, n_states)
        surprise = log_sum_exp(score) - score[np.arange(len(score)), self.truth]
        away = (matrix - self.start)[:, :-1]
        return float(self.weights @ surprise + 0.5 * self.pull * (away**2).sum() + 0.5 * matrix[:, -1].sum() ** 2)

    def gradient(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n_states, n_states + 1), and the shares (n_rows, n_states) that it comes from."""
        score = self.design @ matrix.T
        share = np.exp(score - log_sum_exp(score)[:, None])
        excess = self.weights[:, None] * (share - np.eye(share.shape[1])[self.truth])
        slope = excess.T @ self.design
        slope[:, :-1] += self.pull * (matrix - self.start)[:, :-1]
        slope[:, -1] += matrix[:, -1].sum()
        return slope, share

    def curvature(self, share: FloatArray) -> FloatArray:
        """The second derivatives, (n_states (n_states + 1),) squared."""
        n_states, width = share.shape[1], self.design.shape[1]
        blocks = np.empty((n_states, width, n_states, width))
        for i in range(n_states):
            for j in range(i + 1):
                mass = self.weights * share[:, i] * (float(i == j) - share[:, j])
                blocks[i, :, j] = blocks[j, :, i] = (self.design * mass[:, None]).T @ self.design
        ends = np.arange(n_states)
        for k in range(width - 1):
            blocks[ends, k, ends, k] += self.pull
        blocks[:, -1, :, -1] += 1.0
        return blocks.reshape(n_states * width, n_states * width)

    @property
    def rounding(self) -> FloatArray:
        """(n_states, n_states + 1): below it, a slope says no more than that its parts were rounded."""
        return np.broadcast_to(_ROUNDING * (np.abs(self.design).T @ self.weights + self.pull), self.start.shape)

    def slope_and_step(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
        slope, share = self.gradient(matrix)
        if slope.shape[0] > _DENSE_STATES:
            return slope, self.step_by_products(slope, share)
        step = np.linalg.lstsq(self.curvature(share), slope.ravel(), rcond=None)[0]
        return slope, np.asarray(step, dtype=np.float64).reshape(slope.shape)

    def step_by_products(self, slope: FloatArray, share: FloatArray) -> FloatArray:
        """The Newton step by conjugate gradients, which need the second derivatives along directions only."""
        own = (self.weights[:, None] * share * (1.0 - share)).T @ self.design**2 + self.pull
        step, left = np.zeros_like(slope), slope.copy()
        direction = scaled = left / own
        size = float((left * scaled).sum())
        enough = min(1e-2, float(np.sqrt(np.abs(slope).max()))) * float(np.linalg.norm(slope))
        for _ in range(slope.size):
            bent = self.along(direction, share)
            length = size / float((direction * bent).sum())
            step = step + length * direction
            left = left - length * bent
            if np.linalg.norm(left) <= enough:
                break
            scaled = left / own
            size, before = float((left * scaled).sum()), size
            direction = scaled + size / before * direction
        return step

    def along(self, direction: FloatArray, share: FloatArray) -> FloatArray:
        """The second derivatives times a direction, both (n_states, n_states + 1)."""
        change = self.design @ direction.T  # (n_rows, n_states)
        change = self.weights[:, None] * share * (change - (share * change).sum(axis=1, keepdims=True))
        bent = change.T @ self.design
        bent[:, :-1] += self.pull * direction[:, :-1]
        bent[:, -1] += direction[:, -1].sum()
        return np.asarray(bent)
