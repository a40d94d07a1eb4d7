"""x^a y^b / B(a, b) with x + y = 1, near its peak and far from it: what beta and binomial densities are made of.

Taken literally, a log x + b log y and log B(a, b) are two large numbers that cancel near the peak; here the deviance of
(a, b) from (n x, n y) with n = a + b is what remains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.evidence import deviance, difference_of_products
from bayeswise.families.arithmetic.special import HALF_LOG_TWO_PI, log_beta, stirling_error
from bayeswise.foundation.arrays import FloatArray

_SMALLEST_SHARE = 1e-290  # below it a share may have lost digits to underflow


def log_beta_power(a: ArrayLike, b: ArrayLike, x: ArrayLike, y: ArrayLike, gap: ArrayLike) -> FloatArray:
    """a log x + b log y - log B(a, b), where gap = a y - b x is given with all its digits.

    log(a b / (2 pi n)) / 2 - deviance(a, n x) - deviance(b, n y) and the errors of Stirling.

    >>> round(np.exp(log_beta_power(2.0, 3.0, x=0.5, y=0.5, gap=-0.5)).item(), 12)      # 12 / 2^5
    0.375
    """
    first, second, share, rest, away = (np.asarray(value, dtype=np.float64) for value in (a, b, x, y, gap))
    total = first + second
    errors = stirling_error(total) - stirling_error(first) - stirling_error(second)
    log_peak = 0.5 * (np.log(first) + np.log(second) - np.log(total)) - HALF_LOG_TWO_PI + errors
    return np.asarray(log_peak - deviance(first, total * share, away) - deviance(second, total * rest, -away))


def log_beta_power_of_odds(a: ArrayLike, b: ArrayLike, x: ArrayLike, y: ArrayLike) -> FloatArray:
    """The same for the shares x / (x + y) and y / (x + y) of any two numbers above 0.

    >>> round(np.exp(log_beta_power_of_odds(2.0, 3.0, 7e300, 7e300)).item(), 12)
    0.375
    """
    first, second, one, other = (np.asarray(value, dtype=np.float64) for value in (a, b, x, y))
    with np.errstate(over="ignore", invalid="ignore"):
        share, rest = 1.0 / (1.0 + other / one), 1.0 / (1.0 + one / other)
        exact_gap = difference_of_products(first, other, second, one) / (one + other)
        gap = np.where(np.isfinite(exact_gap), exact_gap, first * rest - second * share)
        near = log_beta_power(first, second, share, rest, gap)
    log_ratio = np.log(one) - np.log(other)
    log_share, log_rest = np.minimum(log_ratio, 0.0), np.minimum(-log_ratio, 0.0)  # one of the two is all but 1
    far = first * log_share + second * log_rest - log_beta(first, second)
    return np.where(np.minimum(share, rest) < _SMALLEST_SHARE, far, near)
