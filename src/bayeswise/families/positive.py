"""Values above zero and their logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.support import as_columns, is_positive, refuse_outside
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.statistics.transforms import log_of


def only_positive(
    values: ArrayLike, needs: str, groups: CodeArray | None = None, weights: FloatArray | None = None
) -> FloatArray:
    """The values as columns, NaN for those of rows that are left out anyway; `SupportError` for others not above zero.

    >>> only_positive([2.0, -1.0], "a length is above 0", weights=np.array([1.0, 0.0])).tolist()
    [[2.0], [nan]]
    """
    numbers = as_columns(values)
    outside = ~(np.isnan(numbers) | is_positive(numbers))
    refuse_outside(numbers, outside, needs, groups, weights)
    return np.where(outside, np.nan, numbers) if outside.any() else numbers


def logs_of_positive(
    values: ArrayLike, needs: str, groups: CodeArray | None = None, weights: FloatArray | None = None
) -> FloatArray:
    """log x of each value, the same for any layout of the data."""
    return log_of(only_positive(values, needs, groups, weights))


def or_one(values: FloatArray) -> FloatArray:
    """The values, with one in place of what is not finite and above zero."""
    return np.where(is_positive(values), values, 1.0)


def where_positive(values: FloatArray, log_p: FloatArray) -> FloatArray:
    """Minus infinity for values that are not finite and above zero; NaN stays NaN."""
    return np.where(np.isnan(values), np.nan, np.where(is_positive(values), log_p, -np.inf))
