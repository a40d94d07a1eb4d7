"""A mean with the interval that goes with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError

_LEAST, _MOST = 1e-140, 1e140  # between which squares and sums of many numbers are safe


@dataclass(frozen=True)
class Estimate:
    """A mean per case and where it lies with the given confidence."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4g} ({self.low:.3g} to {self.high:.3g})"


def mean_with_interval(values: FloatArray, weights: FloatArray, level: float) -> Estimate:
    """Student's interval, mean +- t sqrt(variance / n), with n = (sum w)^2 / sum w^2 rows in effect.

    >>> str(mean_with_interval(np.array([1.0, 2.0, 3.0]), np.ones(3), 0.95))
    '2 (-0.484 to 4.48)'
    """
    from scipy.special import stdtrit

    check_level(level)
    exponent = exponent_of(values)
    if exponent:
        found = mean_with_interval(np.ldexp(values, -exponent), weights, level)
        return Estimate(*(float(np.ldexp(each, exponent)) for each in (found.mean, found.low, found.high)))
    mean = float(np.average(values, weights=weights))
    rows = float(weights.sum() ** 2 / (weights**2).sum())
    if rows <= 1.0:
        return Estimate(mean, -np.inf, np.inf)
    variance = float(np.average((values - mean) ** 2, weights=weights)) * rows / (rows - 1.0)
    half = float(stdtrit(rows - 1.0, 0.5 + 0.5 * level)) * (variance / rows) ** 0.5
    return Estimate(mean, mean - half, mean + half)


def check_level(level: float) -> None:
    """Refuse a confidence that is no share, such as 95."""
    if not 0.0 < level < 1.0:
        raise ParameterError(f"the level of confidence is {level:g}", fix="give a share such as 0.95")


def exponent_of(values: FloatArray) -> int:
    """The power of two to divide by, so that sums and squares stay in range; 0 where they do anyhow.

    >>> exponent_of(np.array([3.0, -8e3])), exponent_of(np.array([1.7e308])), exponent_of(np.array([1e-320]))
    (0, 1024, -1063)
    """
    largest = float(np.abs(values).max(initial=0.0))
    return 0 if _LEAST < largest < _MOST or largest == 0.0 else int(np.frexp(largest)[1])
