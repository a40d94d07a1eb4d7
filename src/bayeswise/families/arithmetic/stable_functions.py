"""Special functions without cancellation: what log densities of large parameters are made of.

lgamma(1e10 + 1) - lgamma(1e10) taken literally has lost ten of its sixteen digits; each function here keeps them, by
Stirling's formula with its small remainder apart. Errors are a few units in the last place of the result or of one.

Deviations are those from a mean that comes as high + low: at 1e15 the 53 bits of one float are not enough for data with
a stddev of 1.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.foundation.logspace import log
from bayeswise.foundation.special import digamma, gammaln, polygamma

HALF_LOG_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))
LEAST_ASYMPTOTIC = 10.0  # from here on eight terms of the series below are exact to 1e-16

# Remainders of Stirling's series, B_2k / (2k (2k - 1)), and of those of its derivatives, in powers of 1 / a^2.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_DIGAMMA = tuple((2 * k + 1) * term for k, term in enumerate(_STIRLING))
_TRIGAMMA = tuple((2 * k + 2) * term for k, term in enumerate(_DIGAMMA))
_ATANH = tuple(1.0 / (2 * k + 3) for k in range(17))  # 1/3, 1/5, ...: enough for r^2 <= 1/9

# log 2 = high + low; the 40 bits of the high part make its product with any exponent exact.
_LOG_TWO_HIGH, _LOG_TWO_LOW = 0.6931471805592082, 7.371002565167799e-13
_SPLITTER = 134217729.0  # 2^27 + 1


def log1p_minus(d: ArrayLike) -> FloatArray:
    """log(1 + d) - d, accurate also where it is about -d^2 / 2.

    With r = d / (2 + d): log(1 + d) = 2 atanh r = 2 (r + r^3 / 3 + ...) and 2 r - d = -r d.

    >>> log1p_minus(1e-9).item()
    -4.99999999666...e-19
    """
    step = np.asarray(d, dtype=np.float64)
    near = np.abs(step) <= 0.5
    small = np.where(near, step, 0.0)
    r = small / (2.0 + small)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.log1p(step) - step
    return np.where(near, r * (2.0 * r * r * _series(_ATANH, r * r) - small), far)


def stirling_error(a: ArrayLike) -> FloatArray:
    """lgamma(a) - ((a - 1/2) log a - a + log(2 pi) / 2), about 1 / (12 a).

    >>> round(12e6 * stirling_error(1e6).item(), 12)
    1.0
    """
    value = np.asarray(a, dtype=np.float64)
    large = np.maximum(value, LEAST_ASYMPTOTIC)
    series = _series(_STIRLING, (1.0 / large) ** 2) / large  # large squared would overflow
    small = np.minimum(value, LEAST_ASYMPTOTIC)
    direct = gammaln(small) - ((small - 0.5) * np.log(small) - small + HALF_LOG_TWO_PI)
    return np.where(value >= LEAST_ASYMPTOTIC, series, direct)


def log_gamma_ratio(a: ArrayLike, step: ArrayLike) -> FloatArray:
    """lgamma(a + step) - lgamma(a) for a > 0 and step >= 0.

    >>> round(np.exp(log_gamma_ratio(3.0, 2.0)).item(), 12)       # 4! / 2!
    12.0
    """
    start, h = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(step, dtype=np.float64))
    large = np.maximum(start, LEAST_ASYMPTOTIC)
    share = h / large
    asymptotic = (
        large * log1p_minus(share)
        + h * np.log(large + h)
        - 0.5 * np.log1p(share)
        + (stirling_error(large + h) - stirling_error(large))
    )
    small = np.minimum(start, LEAST_ASYMPTOTIC)
    return np.asarray(np.where(start >= LEAST_ASYMPTOTIC, asymptotic, gammaln(small + h) - gammaln(small)))


def log_beta(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """log B(a, b) = lgamma(a) + lgamma(b) - lgamma(a + b).

    >>> round(log_beta(2.0, 3.0).item() + np.log(12.0).item(), 14)
    0.0
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    low, high = np.minimum(first, second), np.maximum(first, second)
    large = np.maximum(low, LEAST_ASYMPTOTIC)
    both_large = (
        HALF_LOG_TWO_PI
        - 0.5 * np.log(high)
        - (large - 0.5) * np.log1p(high / large)
        - high * np.log1p(large / high)
        + (stirling_error(large) + (stirling_error(high) - stirling_error(large + high)))
    )
    small = np.minimum(low, LEAST_ASYMPTOTIC)
    return np.asarray(np.where(low >= LEAST_ASYMPTOTIC, both_large, gammaln(small) - log_gamma_ratio(high, small)))


def log_minus_digamma(a: ArrayLike) -> FloatArray:
    """log a - digamma(a), about 1 / (2 a): what the mean of log x misses of the log of the mean."""
    value = np.asarray(a, dtype=np.float64)
    large = np.maximum(value, LEAST_ASYMPTOTIC)
    square = 1.0 / (large * large)
    series = 0.5 / large + square * _series(_DIGAMMA, square)
    small = np.minimum(value, LEAST_ASYMPTOTIC)
    return np.where(value >= LEAST_ASYMPTOTIC, series, np.log(small) - digamma(small))


def trigamma_minus_inverse(a: ArrayLike) -> FloatArray:
    """trigamma(a) - 1 / a, about 1 / (2 a^2): minus the derivative of `log_minus_digamma`."""
    value = np.asarray(a, dtype=np.float64)
    large = np.maximum(value, LEAST_ASYMPTOTIC)
    square = 1.0 / (large * large)
    series = square * (0.5 + _series(_TRIGAMMA, square) / large)
    small = np.minimum(value, LEAST_ASYMPTOTIC)
    return np.where(value >= LEAST_ASYMPTOTIC, series, polygamma(1, small) - 1.0 / small)


def digamma_half_step(a: ArrayLike) -> FloatArray:
    """digamma(a + 1/2) - digamma(a) - 1 / (2 a), about 1 / (8 a^2)."""
    value = np.asarray(a, dtype=np.float64)
    large = np.maximum(value, LEAST_ASYMPTOTIC)
    near, far = 1.0 / (large * large), 1.0 / np.square(large + 0.5)
    h = 0.5 / large
    series = log1p_minus(h) + h * h / (1.0 + h) + near * _series(_DIGAMMA, near) - far * _series(_DIGAMMA, far)
    small = np.minimum(value, LEAST_ASYMPTOTIC)
    return np.where(value >= LEAST_ASYMPTOTIC, series, digamma(small + 0.5) - digamma(small) - 0.5 / small)


def log_pair(x: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """log x as high + low with an absolute error of 1e-16 whatever the size of x, for log x - mean near zero."""
    mantissa, exponent = np.frexp(np.asarray(x, dtype=np.float64))
    low_half = mantissa < np.sqrt(0.5)
    mantissa, power = np.where(low_half, 2.0 * mantissa, mantissa), exponent - low_half
    return np.asarray(power * _LOG_TWO_HIGH), np.asarray(np.log(mantissa) + power * _LOG_TWO_LOW)


def two_product(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """a b as high + low, exactly, while neither is near the ends of the range of floats (there, low is 0)."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        high = first * second
        first_high, first_low = _halves(first)
        second_high, second_low = _halves(second)
        low = first_low * second_low - (
            ((high - first_high * second_high) - first_low * second_high) - first_high * second_low
        )
    return high, np.where(np.isfinite(low), low, 0.0)


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The upper and the lower 26 bits."""
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def _series(coefficients: tuple[float, ...], x: FloatArray) -> FloatArray:
    """c_0 + c_1 x + c_2 x^2 + ..."""
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


# -- deviations from a mean -----------------------------------------------------------------------------------


Numbers: TypeAlias = FloatArray | float


def standard_scores(x: ArrayLike, mean: Numbers, mean_low: Numbers, stddev: Numbers) -> FloatArray:
    """(x - mean - mean_low) / stddev, also where x - mean overflows; 0 or infinite where stddev is 0.

    >>> standard_scores(1e308, -1e308, 0.0, 1e308).item()
    2.0
    """
    values, unit = np.asarray(x, dtype=np.float64), np.asarray(stddev, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        deviation = (values - mean) - mean_low
        z = deviation / unit
        if (beyond := np.isinf(deviation)).any():
            z = np.where(beyond, 2.0 * ((0.5 * values - 0.5 * np.asarray(mean)) / unit), z)
    return np.asarray(z) if unit.all() else np.where((deviation == 0) & (unit == 0), 0.0, z)


def log_one_plus_square(deviation: ArrayLike, width: ArrayLike) -> FloatArray:
    """log(1 + (deviation / width)^2), also where the square or the quotient overflows.

    >>> f"{log_one_plus_square(1e300, 1e-300) / np.log(10.0):.12g}"
    '1200'
    """
    distance, unit = np.asarray(deviation, dtype=np.float64), np.asarray(width, dtype=np.float64)
    with np.errstate(over="ignore"):
        ratio = np.asarray(distance / unit)
        square = np.multiply(ratio, ratio, out=ratio)
        far = square > 1e200
        near = np.log1p(square, out=square)
    return np.where(far, 2.0 * (log(np.abs(distance)) - log(unit)), near) if far.any() else near


def mean_between(
    n: Numbers, sample: tuple[Numbers, Numbers], strength: Numbers, prior: tuple[Numbers, Numbers]
) -> tuple[FloatArray, FloatArray]:
    """(n sample + strength prior) / (n + strength), all means as high + low.

    It is a step from the heavier of the two towards the lighter, so that at 1e15 no digits are lost.

    >>> [part.item() for part in mean_between(3, (1e15, 0.25), 1, (1e15, 0.0))]
    [1000000000000000.2, -0.0625]
    """
    rows, prior_rows = np.asarray(n, dtype=np.float64), np.asarray(strength, dtype=np.float64)
    heavy = rows > prior_rows
    start, start_low = (np.where(heavy, high, low) for high, low in zip(sample, prior, strict=True))
    step = np.where(heavy, -prior_rows, rows) / (prior_rows + rows) * gap_between(sample, prior) + start_low
    high = start + step
    moved = high - start
    return high, (start - (high - moved)) + (step - moved)


def gap_between(sample: tuple[Numbers, Numbers], prior: tuple[Numbers, Numbers]) -> FloatArray:
    """Sample mean less prior mean, both as high + low."""
    with np.errstate(over="ignore"):
        return np.asarray((sample[0] - np.asarray(prior[0])) + (sample[1] - np.asarray(prior[1])))


def refuse_overflow(added_scale: FloatArray) -> None:
    if not np.isfinite(added_scale).all():
        raise FitError(
            "the squared deviations from the mean of the prior exceed the range of floats",
            fix="measure the column in a larger unit",
        )
