"""Cutting a number column where that shortens the description of the classes (Fayyad and Irani 1993).

A range is cut at the value of least class entropy, and again within the parts, as long as the bits gained exceed the
bits of the cut: log2(n - 1) for its place, and log2(3^k - 2) - [k H - k1 H1 - k2 H2] for the classes of the parts.
"""

from __future__ import annotations

import numpy as np

from bayeswise import _kernels
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
    k = int(classes[present].max(initial=-1)) + 1 if n_groups is None else n_groups
    weigh = None if weights is None else np.ascontiguousarray(np.asarray(weights, dtype=np.float64)[present])
    return np.array(_kernels.cut_points(numbers[present], classes[present].astype(np.int32), k, weigh))


def codes_of(values: FloatArray, cuts: FloatArray) -> IntArray:
    """The interval of each value, 0 below the first cut; -1 for missing ones.

    >>> codes_of(np.array([1.0, 9.0, np.nan]), np.array([5.5])).tolist()
    [0, 1, -1]
    """
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))
