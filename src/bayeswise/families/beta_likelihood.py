"""The parameters at which the likelihood of the beta distribution is highest.

It depends on g = mean(log x) and h = mean(log(1 - x)) only, and is concave in alpha and beta. With n = alpha + beta and
d(a) = log a - digamma(a) the equations are  log(alpha / n) - g = d(alpha) - d(n),  log(beta / n) - h = d(beta) - d(n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeswise.families.special import log_minus_digamma, trigamma_minus_inverse
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.statistics.moments import Moments

_MOST_STEPS = 200
_SHARP = 1e-5  # below this stddev of both logarithms 1 - exp(g) - exp(h), about 1 / (2 n), has too few digits


@dataclass(frozen=True)
class BetaFit:
    """alpha and beta, after how many steps, and whether these ended."""

    alpha: FloatArray
    beta: FloatArray
    iterations: int
    converged: bool


def fit_beta(logs: Moments, logs_of_rest: Moments, unknown: BoolArray) -> BetaFit:
    """Maximum likelihood; 1 and 1 where it is unknown."""
    g = np.where(unknown, -1.0, logs.mean(empty=-1.0))
    h = np.where(unknown, -1.0, logs_of_rest.mean(empty=-1.0))
    stddev, rest_stddev = logs.stddev(empty=1.0), logs_of_rest.stddev(empty=1.0)
    sharp = ~unknown & (np.maximum(stddev, rest_stddev) < _SHARP)
    alpha, beta, iterations, converged = _by_newton(np.where(sharp, -1.0, g), np.where(sharp, -1.0, h))
    with np.errstate(divide="ignore"):
        total = 1.0 / (stddev * rest_stddev)  # var(log x) = beta / (alpha n), var(log(1 - x)) = alpha / (beta n)
    alpha, beta = np.where(sharp, np.exp(g) * total, alpha), np.where(sharp, np.exp(h) * total, beta)
    return BetaFit(np.where(unknown, 1.0, alpha), np.where(unknown, 1.0, beta), iterations, converged)


def _by_newton(g: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray, int, bool]:
    deficit = -2.0 * (np.exp(np.minimum(g, h)) + np.expm1(np.maximum(g, h)))
    alpha, beta = 0.5 + np.exp(g) / deficit, 0.5 + np.exp(h) / deficit
    for iteration in range(1, _MOST_STEPS + 1):
        step, rest_step = _newton_step(alpha, beta, g, h)
        alpha, beta = np.maximum(alpha + step, 0.1 * alpha), np.maximum(beta + rest_step, 0.1 * beta)
        tolerance = 1e-15 * (4.0 + np.minimum(alpha, beta)) * (1.0 - np.minimum(g, h))  # what rounding leaves
        if np.all((np.abs(step) <= tolerance * alpha) & (np.abs(rest_step) <= tolerance * beta)):
            return alpha, beta, iteration, True
    return alpha, beta, _MOST_STEPS, False


def _newton_step(a: FloatArray, b: FloatArray, g: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The step towards the root of the equations, whose determinant is written so that 1 / (a b) cancels on paper."""
    n = a + b
    first = -np.log1p(b / a) - log_minus_digamma(a) + log_minus_digamma(n) - g
    second = -np.log1p(a / b) - log_minus_digamma(b) + log_minus_digamma(n) - h
    t_a, t_b, t_n = trigamma_minus_inverse(a), trigamma_minus_inverse(b), trigamma_minus_inverse(n)
    curve_a, curve_b, curve_n = t_a + 1.0 / a, t_b + 1.0 / b, t_n + 1.0 / n
    determinant = t_a * a / (b * n) + t_b * b / (a * n) + t_a * t_b - t_n * (curve_a + curve_b)
    step = -((curve_b - curve_n) * first + curve_n * second) / determinant
    rest_step = -((curve_a - curve_n) * second + curve_n * first) / determinant
    return step, rest_step
