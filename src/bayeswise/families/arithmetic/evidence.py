"""The evidence of conjugate families, so that large terms cancel on paper and not in floats.

The probability of rows with the parameters integrated out is a ratio of gamma functions. By Stirling's formula it is
the likelihood at the posterior mean less a few terms of one sign, and that form keeps its digits with 1e15 rows or with
a prior of 1e15 pseudo-counts. In the same way a log x + b log y and log B(a, b), of which beta and binomial densities
are made, cancel near the peak; the deviance of (a, b) from (n x, n y) with n = a + b is what remains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.stable_functions import (
    HALF_LOG_TWO_PI,
    log1p_minus,
    log_beta,
    stirling_error,
    two_product,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.logspace import log

_LEAST_LEFT = 1e-250


def deviance(x: ArrayLike, mean: ArrayLike, gap: ArrayLike) -> FloatArray:
    """x log(x / mean) - x + mean >= 0, where gap = x - mean is given with all its digits.

    Near the mean it is mean (u^2 + (1 + u) (log(1 + u) - u)) with u = gap / mean.

    >>> f"{deviance(1e15 + 1.0, 1e15, 1.0):.12g}"
    '5e-16'
    """
    value, centre, away = (np.asarray(given, dtype=np.float64) for given in (x, mean, gap))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        u = away / centre
        near = np.abs(u) <= 0.5
        small = np.where(near, u, 0.0)
        close = centre * (small * small + (1.0 + small) * log1p_minus(small))
        apart = np.where(value == 0, centre, value * log_ratio(value, centre) - away)
    return np.where(near, close, apart)


def log_poisson(x: ArrayLike, mean: ArrayLike, gap: ArrayLike) -> FloatArray:
    """x log mean - mean - log x! for whole x >= 0, with gap = x - mean given with all its digits.

    >>> f"{np.exp(3.0 + log_poisson(3.0, 3.0, 0.0)):.12g}"       # 27 / 3!
    '4.5'
    """
    count, centre = np.asarray(x, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    positive = np.where(count > 0, count, 1.0)
    log_peak = -HALF_LOG_TWO_PI - 0.5 * np.log(positive) - stirling_error(positive)
    return np.where(count > 0, log_peak - deviance(count, centre, gap), -centre)


def log_gamma_evidence(shape: ArrayLike, rate: ArrayLike, events: ArrayLike, time: ArrayLike) -> FloatArray:
    """log of Gamma(a + k) b^a / (Gamma(a) (b + t)^(a + k)) for shape a, rate b, and k events in a time t.

    With the posterior mean r = (a + k) / (b + t) it is k log r - t r - `gamma_penalty`.

    >>> f"{np.exp(log_gamma_evidence(1.0, 1.0, 2.0, 0.0)):.12g}"       # E[rate^2] under an exponential prior
    '2'
    """
    a, b, k, t = (np.asarray(value, dtype=np.float64) for value in (shape, rate, events, time))
    return np.asarray(k * log_ratio(a + k, b + t) - (a + k) * (t / (b + t)) - gamma_penalty(a, b, k, t))


def gamma_penalty(shape: ArrayLike, rate: ArrayLike, events: ArrayLike, time: ArrayLike) -> FloatArray:
    """How far the log evidence of k events in a time t lies below the log-likelihood at the posterior mean rate r.

    deviance(a, b r) + log(1 + k / a) / 2 + stirling_error(a) - stirling_error(a + k)
    """
    a, b, k, t = (np.asarray(value, dtype=np.float64) for value in (shape, rate, events, time))
    left = b / (b + t)
    far = a * (np.log(a) - np.log(a + k) + np.log(b + t) - np.log(b)) - a  # where b r underflows
    curvature = 0.5 * log_one_plus_ratio(k, a) + stirling_error(a) - stirling_error(a + k)
    return np.where(left < _LEAST_LEFT, far, deviance(a, (a + k) * left, shrinkage_gap(a, k, b, t))) + curvature


def log_dirichlet_evidence(weights: ArrayLike, counts: ArrayLike) -> FloatArray:
    """log B(weights + counts) - log B(weights) over the last axis; B is the multivariate beta function.

    It is the probability of one sequence with these counts. A weight of zero forbids its level.

    >>> f"{np.exp(log_dirichlet_evidence([1.0, 1.0], [3.0, 0.0])):.12g}"       # 1/2 2/3 3/4
    '0.25'
    """
    prior, seen = np.broadcast_arrays(np.asarray(weights, dtype=np.float64), np.asarray(counts, dtype=np.float64))
    s, n = prior.sum(axis=-1, keepdims=True), seen.sum(axis=-1, keepdims=True)
    allowed = prior > 0
    a, k = np.where(allowed, prior, 1.0), np.where(allowed, seen, 0.0)  # (..., n_levels)
    after = prior + seen
    gap = shrinkage_gap(prior, seen, s, n)
    curvature = 0.5 * log_one_plus_ratio(k, a) + stirling_error(a) - stirling_error(a + k)
    log_likelihood = seen * np.where(seen > 0, log_shares(after), 0.0)
    log_terms = log_likelihood - deviance(prior, after * (s / (s + n)), gap) - curvature
    log_forbidden = np.where(seen > 0, -np.inf, 0.0)
    log_whole = 0.5 * log_one_plus_ratio(n, s) + stirling_error(s) - stirling_error(s + n)
    return np.asarray(np.where(allowed, log_terms, log_forbidden).sum(axis=-1) + log_whole[..., 0])


def log_beta_evidence(
    successes: ArrayLike, failures: ArrayLike, seen_successes: ArrayLike, seen_failures: ArrayLike
) -> FloatArray:
    """log B(a + k, b + m) - log B(a, b): the evidence of one sequence of k successes and m failures.

    >>> f"{np.exp(log_beta_evidence(1.0, 1.0, 1.0, 1.0)):.12g}"       # 1/2 1/3
    '0.166666666667'
    """
    weights = np.stack(np.broadcast_arrays(successes, failures), axis=-1)
    return log_dirichlet_evidence(weights, np.stack(np.broadcast_arrays(seen_successes, seen_failures), axis=-1))


def log_shares(weights: FloatArray) -> FloatArray:
    """log(w_j / sum w) over the last axis; the largest share, which may be near one, is taken as -log(1 + rest / w).

    >>> log_shares(np.array([1e20, 1.0])).tolist()
    [-1e-20, -46.051701859880914]
    """
    top = np.argmax(weights, axis=-1, keepdims=True)
    rest = weights.copy()
    np.put_along_axis(rest, top, 0.0, axis=-1)
    log_top = -np.log1p(rest.sum(axis=-1, keepdims=True) / np.take_along_axis(weights, top, axis=-1))
    with np.errstate(divide="ignore"):
        log_share = np.log(weights) - np.log(weights.sum(axis=-1, keepdims=True))
    np.put_along_axis(log_share, top, log_top, axis=-1)
    return np.asarray(log_share)


def log_ratio(above: ArrayLike, below: ArrayLike) -> FloatArray:
    """log(above / below), also where the quotient leaves the range of floats."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = np.divide(above, below)
        return np.where((ratio > 1e-300) & (ratio < 1e300), np.log(ratio), log(above) - log(below))


def log_one_plus_ratio(above: ArrayLike, below: ArrayLike) -> FloatArray:
    """log(1 + above / below) for above >= 0, below > 0, also where the quotient overflows.

    >>> f"{log_one_plus_ratio(1e300, 1e-300) / np.log(10.0):.12g}"
    '600'
    """
    with np.errstate(over="ignore"):
        ratio = np.divide(above, below)
    return np.where(np.isinf(ratio), log(above) - log(below), np.log1p(ratio))


def shrinkage_gap(a: ArrayLike, k: ArrayLike, b: ArrayLike, t: ArrayLike) -> FloatArray:
    """a - b (a + k) / (b + t) = (a t - b k) / (b + t): prior events less those that the posterior mean expects.

    b and t are first brought to the size of one, by a power of two and thus exactly, so that no product overflows.
    """
    exponent = np.frexp(np.add(b, t))[1]
    small_b, small_t = np.ldexp(b, -exponent), np.ldexp(t, -exponent)
    return np.asarray(difference_of_products(a, small_t, small_b, k) / (small_b + small_t))


def difference_of_products(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> FloatArray:
    """a b - c d with the rounding errors of both products put back.

    >>> float(difference_of_products(1e8 + 1.0, 1e8 + 1.0, 1e8 + 2.0, 1e8))
    1.0
    """
    (first, first_low), (second, second_low) = two_product(a, b), two_product(c, d)
    return np.asarray((first - second) + (first_low - second_low))


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
