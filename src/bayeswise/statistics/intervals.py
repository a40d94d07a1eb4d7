"""Intervals of means and of shares, also where the values come from models that share learning rows."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.special import beta_quantile, normal_quantile, student_quantile
from bayeswise.render.numbers import interval, number

_LEAST, _MOST = 1e-140, 1e140  # between which squares and sums of many numbers are safe


@dataclass(frozen=True)
class Estimate:
    """A mean per case and where it lies with the given confidence."""

    mean: float
    low: float
    high: float

    def around(self, other: Estimate) -> Estimate:
        """The same mean, with an interval that holds that of another estimate too."""
        return Estimate(self.mean, min(self.low, other.low), max(self.high, other.high))

    def __str__(self) -> str:
        return f"{number(self.mean)} ({interval(self.low, self.high, 3)})"


Bounds: TypeAlias = tuple[float, float]  # the least and the largest value there can be


MOST_FOLDS = 10  # with more, and with single rows left out, the interval also holds that of ten folds


def variance_inflation(n_folds: int) -> float:
    """The variance of a mean over K folds, as a multiple of that over independent rows; 1 without folds.

    Folds are tested by models that share (K - 2) / (K - 1) of their learning rows, so that they err together. No
    estimate of that from one table is unbiased. Nadeau and Bengio take 1 / K as the correlation of folds, which gives
    1 + K / (K - 1). The most that shared rows do to a column of noise is 1 + 2 / pi (K - 1) / sqrt(2 K - 3): each fold
    is predicted by the majority of all others. The larger of both holds; more than ten folds are taken for ten.

    >>> [round(variance_inflation(k), 3) for k in (0, 2, 5, 10, 500)]
    [1.0, 3.0, 2.25, 2.39, 2.39]
    """
    if n_folds < 2:
        return 1.0
    k = min(n_folds, MOST_FOLDS)
    return 1.0 + max(k / (k - 1.0), 2.0 / math.pi * (k - 1.0) / math.sqrt(2.0 * k - 3.0))


def mean_with_interval(
    values: FloatArray, weights: FloatArray, level: float, bounds: Bounds | None = None, inflation: float = 1.0
) -> Estimate:
    """A mean with its interval, which never leaves the bounds.

    Without bounds it is Student's: mean +- t sqrt(variance / n), with n = (sum w)^2 / sum w^2 rows in effect. Within
    bounds on both sides it is that of Clopper and Pearson, exact for 0-1 costs; with values between, the n that has
    their variance takes the place of the number of rows, as Korn and Graubard do. Costs that are possible and were not
    seen count with the share that n rows without one cannot rule out. A variance that is `inflation` times that of
    independent rows is that of n / inflation rows.

    >>> str(mean_with_interval(np.array([1.0, 2.0, 3.0]), np.ones(3), 0.95))
    '2 (-0.484 to 4.48)'
    >>> str(mean_with_interval(np.array([0.0, 1.0, 0.0, 0.0]), np.ones(4), 0.95, bounds=(0.0, 1.0)))
    '0.25 (0.00631 to 0.806)'
    """
    check_level(level)
    least, most = (-np.inf, np.inf) if bounds is None else bounds
    ends = np.array([end for end in (least, most) if np.isfinite(end)])
    exponent = exponent_of(np.append(values, ends))
    scaled = np.ldexp(values, -exponent)
    low, high = (float(np.ldexp(end, -exponent)) for end in (least, most))
    mean = float(np.clip(np.average(scaled, weights=weights), low, high))
    rows = float(weights.sum() ** 2 / (weights**2).sum()) / inflation
    between = _within if np.isfinite([low, high]).all() else _student
    found = between(scaled, weights, level, mean, rows, (low, high))
    return Estimate(*(float(np.ldexp(np.clip(each, low, high), exponent)) for each in (mean, *found)))


def _student(
    values: FloatArray, weights: FloatArray, level: float, mean: float, rows: float, bounds: Bounds
) -> tuple[float, float]:
    if rows <= 1.0:
        return bounds
    variance = float(np.average((values - mean) ** 2, weights=weights)) * rows / (rows - 1.0)
    half = student_quantile(rows - 1.0, 0.5 + 0.5 * level) * (variance / rows) ** 0.5
    return mean - half, mean + half


def _within(
    values: FloatArray, weights: FloatArray, level: float, mean: float, rows: float, bounds: Bounds
) -> tuple[float, float]:
    """Between the least and the largest value seen, and beyond them by what n rows without any leave possible."""
    beyond = 0.5 - 0.5 * level
    least, most = float(values.min()), float(values.max())
    low, high = _between(values, weights, beyond, mean, rows, (least, most))
    rare = -float(np.expm1(np.log(beyond) / rows))  # the share q with (1 - q)^n = beyond
    return low - rare * max(least - bounds[0], 0.0), high + rare * max(bounds[1] - most, 0.0)


def _between(
    values: FloatArray, weights: FloatArray, beyond: float, mean: float, rows: float, ends: Bounds
) -> tuple[float, float]:
    """The share of the way from one end to the other, as a binomial one of n rows."""
    low, high = ends
    if not high > low:
        return mean, mean
    share = (mean - low) / (high - low)
    spread = float(np.average(((values - low) / (high - low) - share) ** 2, weights=weights))
    if spread == 0.0:
        return mean, mean
    n = rows
    if not ((values == low) | (values == high)).all():
        if rows <= 1.0:
            return low, high
        students = (normal_quantile(beyond) / student_quantile(rows - 1.0, beyond)) ** 2
        n = (rows - 1.0) * share * (1.0 - share) / spread * students
    hits = n * share
    least = beta_quantile(hits, n - hits + 1.0, beyond)
    most = beta_quantile(hits + 1.0, n - hits, 1.0 - beyond)
    return low + (high - low) * least, low + (high - low) * most


def wilson(share: FloatArray, count: Any, level: float) -> tuple[FloatArray, FloatArray]:
    """The Wilson interval of a share.

    >>> [bound.round(4).tolist() for bound in wilson(np.array([0.0, 0.5]), np.array([10, 10]), 0.95)]
    [[0.0, 0.2366], [0.2775, 0.7634]]
    """
    check_level(level)
    z = normal_quantile(0.5 + 0.5 * level)
    n = np.asarray(count, dtype=np.float64)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)


def check_level(level: float) -> None:
    """Refuse a confidence that is not a share, such as 95."""
    if not is_number(level) or not 0.0 < level < 1.0:
        raise ParameterError(f"the level of confidence is {level!r}", fix="give a share such as 0.95")


def exponent_of(values: FloatArray) -> int:
    """The power of two to divide by, so that sums and squares stay in range; 0 where they do anyhow.

    >>> exponent_of(np.array([3.0, -8e3])), exponent_of(np.array([1.7e308])), exponent_of(np.array([1e-320]))
    (0, 1024, -1063)
    """
    largest = float(np.abs(values).max(initial=0.0))
    return 0 if _LEAST < largest < _MOST or largest == 0.0 else int(np.frexp(largest)[1])
