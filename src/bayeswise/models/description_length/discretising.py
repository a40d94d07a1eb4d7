"""Cutting a number column where that shortens the description of the classes (Fayyad and Irani 1993).

A range is cut at the value of least class entropy, and again within the parts, as long as the bits gained exceed the
bits of the cut: log2(n - 1) for its place, and log2(3^k - 2) - [k H - k1 H1 - k2 H2] for the classes of the parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.errors import DataError, NonFiniteError, ParameterError


def cut_points(
    values: FloatArray, groups: CodeArray, n_groups: int | None = None, *, weights: FloatArray | None = None
) -> FloatArray:
    """The cuts of a column, midway between neighbours, in increasing order; none if no cut is worth its bits.

    A row of weight k counts as k rows.

    >>> cut_points(np.array([1.0, 2.0, 3.0, 8.0, 9.0, 10.0] * 5), np.array([0, 0, 0, 1, 1, 1] * 5)).tolist()
    [5.5]
    """
    numbers, classes, weigh = _checked(values, groups, weights)
    present = ~np.isnan(numbers) & (classes >= 0)
    most = int(classes[present].max(initial=-1)) + 1
    if n_groups is not None and n_groups < most:
        raise ParameterError(f"a group is {most - 1}, and there are {n_groups}", fix="number them from 0 on")
    heavy = None if weigh is None else np.ascontiguousarray(weigh[present])
    groups_of = np.ascontiguousarray(classes[present], dtype=np.int32)
    return np.array(_kernels.cut_points(numbers[present], groups_of, n_groups or most, heavy))


def _checked(values: Any, groups: Any, weights: Any) -> tuple[FloatArray, IntArray, FloatArray | None]:
    try:
        numbers, classes = np.asarray(values, dtype=np.float64), np.asarray(groups, dtype=np.int64)
        weigh = None if weights is None else np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"a column is cut by numbers: {error}", fix="give numbers, and groups from 0 on") from None
    shapes = {each.shape for each in (numbers, classes, weigh) if each is not None}
    if len(shapes) > 1 or numbers.ndim != 1:
        named = ", ".join(map(str, sorted(shapes)))
        raise ParameterError(f"values, groups and weights have the shapes {named}", fix="give as many of each")
    if np.isinf(numbers).any():
        raise NonFiniteError("the column has an infinite value", fix="leave the cell empty, or give a finite number")
    if weigh is not None and not (np.isfinite(weigh) & (weigh >= 0)).all():
        raise ParameterError("a weight is below 0 or not finite", fix="give weights from 0 on")
    return numbers, classes, weigh


def codes_of(values: FloatArray, cuts: FloatArray) -> IntArray:
    """The interval of each value, 0 below the first cut; -1 for missing ones.

    >>> codes_of(np.array([1.0, 9.0, np.nan]), np.array([5.5])).tolist()
    [0, 1, -1]
    """
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))
