"""Deviations from a mean, and means between means, at any size and offset of the numbers.

A mean comes as high + low: at 1e15 the 53 bits of one float are not enough for data with a stddev of 1.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.foundation.logspace import log

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
