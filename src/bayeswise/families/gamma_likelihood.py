"""The shape at which the likelihood of the gamma distribution is highest."""

from __future__ import annotations

import numpy as np

from bayeswise.families.special import log_minus_digamma, log_pair, trigamma_minus_inverse
from bayeswise.foundation.arrays import FloatArray
from bayeswise.statistics.moments import Moments
from bayeswise.statistics.product import Product

_MOST_STEPS = 100


def log_of_mean_less_mean_of_log(statistic: Product) -> FloatArray:
    """log mean(x) - mean(log x), positive for a sample that is not constant.

    For values close together the two are almost equal; then it follows from the variances L = log(1 + v(x) / mean^2)
    and v(log x), with an error of their squares: L / 2 - (L - v(log x)) / 3, the cumulants of log x.
    """
    values: Moments = statistic["values"]
    logs: Moments = statistic["logs"]
    mean, mean_low = values.mean_pair(empty=1.0)
    high, low = log_pair(mean)
    log_mean, log_mean_low = logs.mean_pair(empty=0.0)
    apart = (high - log_mean) + (low + mean_low / mean - log_mean_low)
    ratio = values.stddev(empty=0.0) / mean
    log_spread = np.log1p(ratio * ratio)
    skew = np.where(ratio < 1e-7, 0.0, log_spread - logs.variance(empty=0.0))  # there v(log x) is rounding
    return np.where(ratio < 1e-4, 0.5 * log_spread - skew / 3.0, apart)


def shape_of(deficit: FloatArray) -> tuple[FloatArray, int, bool]:
    """The root of log a - digamma(a) = deficit by Newton's method in 1 / a, from a start within 1.5 % of it."""
    s = deficit
    inverse = 12.0 * s / (3.0 - s + np.sqrt((s - 3.0) ** 2 + 24.0 * s))
    for iteration in range(1, _MOST_STEPS + 1):
        shape = 1.0 / inverse
        step = (log_minus_digamma(shape) - s) / (trigamma_minus_inverse(shape) * shape * shape)
        inverse = np.maximum(inverse - step, 0.1 * inverse)
        if np.all(np.abs(step) <= 4e-15 * inverse):
            return 1.0 / inverse, iteration, True
    return 1.0 / inverse, _MOST_STEPS, False
