"""A mean with the interval that goes with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeswise.foundation.arrays import FloatArray


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

    mean = float(np.average(values, weights=weights))
    rows = float(weights.sum() ** 2 / (weights**2).sum())
    if rows <= 1.0:
        return Estimate(mean, -np.inf, np.inf)
    variance = float(np.average((values - mean) ** 2, weights=weights)) * rows / (rows - 1.0)
    half = float(stdtrit(rows - 1.0, 0.5 + 0.5 * level)) * (variance / rows) ** 0.5
    return Estimate(mean, mean - half, mean + half)
