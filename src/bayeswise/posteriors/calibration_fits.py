"""The estimates behind calibration: one power, one line, one staircase, one matrix."""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.posteriors.odds import probability_of

LOG_LEAST = float(np.log(np.nextafter(0.0, 1.0)))
"""The logarithm of the least double: what a probability of 0 is taken for where an infinite loss would end all."""

_POWERS = (1e-3, 1e3)
_HALVINGS = 100
_NEWTON_STEPS = 100


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
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return float(np.sqrt(low * high))


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
    from scipy.optimize import minimize

    n_states = log_shares.shape[1]
    one_hot = np.eye(n_states)[truth]

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        matrix, shift = flat[:-n_states].reshape(n_states, n_states), flat[-n_states:]
        score = log_shares @ matrix.T + shift
        log_total = log_sum_exp(score)
        excess = weights[:, None] * (np.exp(score - log_total[:, None]) - one_hot)  # (n_rows, n_states)
        away = matrix - np.eye(n_states)
        value = float(weights @ (log_total - score[np.arange(len(truth)), truth])) + 0.5 * pull * float((away**2).sum())
        return value, np.concatenate([(excess.T @ log_shares + pull * away).ravel(), excess.sum(axis=0)])

    start = np.concatenate([np.eye(n_states).ravel(), np.zeros(n_states)])
    answer = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "gtol": 1e-8})
    shift = answer.x[-n_states:]
    return answer.x[:-n_states].reshape(n_states, n_states), shift - shift.mean()
