"""The estimates behind calibration: one power, one line, one staircase, one matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.posteriors.odds import probability_of

LOG_LEAST = float(np.log(np.nextafter(0.0, 1.0)))
"""The logarithm of the least double: what a probability of 0 is taken for where an infinite loss would end all."""

_POWERS = (1e-3, 1e3)
_NEWTON_STEPS = 100
_NEWTON_STATES = 12  # beyond it second derivatives are dearer than more steps


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
    line = np.zeros(2)
    loss = _sigmoid_loss(design, line, target, weights)
    for _ in range(_NEWTON_STEPS):
        p = probability_of(design @ line)
        gradient = design.T @ (weights * (p - target))
        curvature = (design * (weights * p * (1.0 - p))[:, None]).T @ design
        step = np.linalg.lstsq(curvature + 1e-12 * np.eye(2), gradient, rcond=None)[0]
        size = 1.0
        while size > 1e-10 and _sigmoid_loss(design, line - size * step, target, weights) > loss:
            size *= 0.5
        line = line - size * step
        before, loss = loss, _sigmoid_loss(design, line, target, weights)
        if before - loss <= 1e-14 * abs(before):
            break
    return float(line[0] / scale), float(line[1])


def _sigmoid_loss(design: FloatArray, line: FloatArray, target: FloatArray, weights: FloatArray) -> float:
    score = design @ line
    return float(weights @ (np.logaddexp(0.0, score) - target * score))


def isotonic_steps(p: FloatArray, is_state: BoolArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the rising curve of least squares: equal p have one value, and neighbours that disagree pool."""
    from scipy.optimize import isotonic_regression

    at, group = np.unique(p, return_inverse=True)
    mass = np.bincount(group, weights)
    kept = mass > 0
    share = np.bincount(group, weights * is_state)[kept] / mass[kept]
    fitted = isotonic_regression(share, weights=mass[kept]).x
    return np.asarray(at[kept]), np.clip(fitted, 0.0, 1.0)


def dirichlet_weights(
    log_shares: FloatArray, truth: IntArray, weights: FloatArray, pull: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """W and b of least log-loss plus pull * |W - I|^2 / 2: without evidence nothing changes."""
    problem = _Softmax(np.c_[log_shares, np.ones(len(truth))], truth, weights, pull)
    best = problem.newton() if log_shares.shape[1] <= _NEWTON_STATES else problem.gradient_only()
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

    def newton(self) -> FloatArray:
        matrix, loss = self.start, self.loss(self.start)
        for _ in range(_NEWTON_STEPS):
            slope, share = self.gradient(matrix)
            step = np.linalg.lstsq(self.curvature(share), slope.ravel(), rcond=None)[0].reshape(slope.shape)
            promised = float((slope * step).sum())
            size, after = 1.0, self.loss(matrix - step)
            while size > 1e-10 and after > loss - 1e-4 * size * promised:
                size *= 0.5
                after = self.loss(matrix - size * step)
            if not after < loss:
                break
            matrix, loss = matrix - size * step, after
            if promised <= 1e-12 * abs(loss):
                break
        return matrix

    def gradient_only(self) -> FloatArray:
        from scipy.optimize import minimize

        shape = self.start.shape

        def both(flat: FloatArray) -> tuple[float, FloatArray]:
            matrix = flat.reshape(shape)
            return self.loss(matrix), self.gradient(matrix)[0].ravel()

        limits = {"maxiter": 1000, "gtol": 1e-8}
        answer = minimize(both, self.start.ravel(), jac=True, method="L-BFGS-B", options=limits)
        return np.asarray(answer.x.reshape(shape))
