"""Functions of a column whose sums a family may need; logarithms are the same for any layout of the data."""

from __future__ import annotations

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import DataError, column_name, row_number


def log_of(values: FloatArray) -> FloatArray:
    """The natural logarithm of positive numbers, NaN kept as missing.

    >>> log_of(np.array([[1.0]])).tolist()
    [[0.0]]
    """
    _refuse(values, values <= 0.0, "a logarithm needs numbers above 0")
    return _kernels.logarithm(values)


def log_one_minus(values: FloatArray) -> FloatArray:
    """log(1 - x) of numbers below one, NaN kept as missing."""
    _refuse(values, values >= 1.0, "log(1 - x) needs numbers below 1")
    return _kernels.log_one_minus(values)


def _refuse(values: FloatArray, outside: BoolArray, what: str) -> None:
    if outside.any():
        row, column = (int(k) for k in np.argwhere(outside)[0])
        raise DataError(
            f"{what}; row {row_number(row)} of column {column_name(column)!r} has {values[row, column]}",
            fix="choose another family for this column",
        )
