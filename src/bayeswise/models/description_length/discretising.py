"""Cutting a number column where that shortens the description of the classes (Fayyad and Irani 1993).

A range is cut at the value of least class entropy, and again within the parts, as long as the bits gained exceed the
bits of the cut: log2(n - 1) for its place, and log2(3^k - 2) - [k H - k1 H1 - k2 H2] for the classes of the parts.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError


def cut_points(
    values: FloatArray, groups: CodeArray, n_groups: int | None = None, *, weights: FloatArray | None = None
) -> FloatArray:
    """The cuts of a column, midway between neighbours, in increasing order; none if no cut is worth its bits.

    A row of weight k counts as k rows.

    >>> cut_points(np.array([1.0, 2.0, 3.0, 8.0, 9.0, 10.0] * 5), np.array([0, 0, 0, 1, 1, 1] * 5)).tolist()
    [5.5]
    """
    numbers, classes = np.asarray(values, dtype=np.float64), np.asarray(groups)
    if numbers.shape != classes.shape or numbers.ndim != 1:
        raise ParameterError(f"values and groups have the shapes {numbers.shape} and {classes.shape}", fix="give pairs")
    present = ~np.isnan(numbers) & (classes >= 0)
    order = np.argsort(numbers[present], kind="stable")
    x, y = numbers[present][order], classes[present][order]
    k = int(y.max(initial=-1)) + 1 if n_groups is None else n_groups
    below = np.zeros((len(x) + 1, k))
    each = np.eye(k)[y] if weights is None else np.eye(k)[y] * np.asarray(weights)[present][order][:, None]
    below[1:] = np.cumsum(each, axis=0) if len(x) else 0.0
    cuts: list[float] = []
    pending = [(0, len(x))]
    while pending:
        start, stop = pending.pop()
        at = _best_cut(x, below, start, stop)
        if at is not None:
            cuts.append(float(x[at - 1] + (x[at] - x[at - 1]) / 2.0))
            pending += [(start, at), (at, stop)]
    return np.array(sorted(cuts))


def _best_cut(x: FloatArray, below: FloatArray, start: int, stop: int) -> int | None:
    places = start + 1 + np.flatnonzero(x[start + 1 : stop] > x[start : stop - 1])
    if not len(places):
        return None
    whole = below[stop] - below[start]
    left, right = below[places] - below[start], below[stop] - below[places]
    bits = _entropy_bits(left) + _entropy_bits(right)  # n1 H1 + n2 H2
    best = int(np.argmin(bits))
    n = float(whole.sum())
    gain = float(_entropy_bits(whole[None])[0] - bits[best])
    k, k1, k2 = (int((part > 0).sum()) for part in (whole, left[best], right[best]))
    mean = [_entropy_bits(part[None])[0] / part.sum() for part in (whole, left[best], right[best])]
    delta = _log2_of_power(k) - (k * mean[0] - k1 * mean[1] - k2 * mean[2])
    return int(places[best]) if gain > np.log2(max(n - 1.0, 1.0)) + delta else None


def _log2_of_power(k: int) -> float:
    """log2(3^k - 2), also for thousands of classes."""
    return float(k * np.log2(3.0) + np.log1p(-2.0 * 3.0 ** -float(k)) / np.log(2.0))


def _entropy_bits(counts: FloatArray) -> FloatArray:
    """n H of each row of counts."""
    total = counts.sum(axis=1)
    return np.asarray((xlogy(total, total) - xlogy(counts, counts).sum(axis=1)) / np.log(2.0))


def codes_of(values: FloatArray, cuts: FloatArray) -> IntArray:
    """The interval of each value, 0 below the first cut; -1 for missing ones.

    >>> codes_of(np.array([1.0, 9.0, np.nan]), np.array([5.5])).tolist()
    [0, 1, -1]
    """
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))
