"""Numbers as the kernels take them: doubles or singles as they are, integers exactly, whatever their size.

An integer beyond 2^53 is the sum of two doubles: its upper half and its lower 32 bits. Sums and products
of such halves are exact, and so are the sums of integers that are made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import DataError, NonFiniteError, ParameterError, column_name, row_number

T = TypeVar("T")

_LOW_BITS = 32
_LARGEST_WHOLE = 1 << 53


def is_wide(values: Any) -> bool:
    """Whether the array holds integers that a double cannot.

    >>> is_wide(np.array([[2**53 + 1]])), is_wide(np.array([[7]])), is_wide(np.array([[0.5]]))
    (True, False, False)
    """
    if values.dtype.kind not in "iu" or values.size == 0 or values.dtype.itemsize < 8:
        return False
    return int(values.max()) > _LARGEST_WHOLE or int(values.min()) < -_LARGEST_WHOLE


def real_cells(values: Any) -> Any:
    """A 2-D array of doubles or singles; integers and flags become the doubles they equal."""
    cells = np.asarray(values)
    if cells.ndim != 2 or cells.dtype.kind not in "fiub":
        raise ParameterError(
            f"rows of numbers are a matrix; found {cells.ndim} dimensions of {cells.dtype}", fix="use values[:, None]"
        )
    return cells if cells.dtype in (np.float64, np.float32) else cells.astype(np.float64)


def halves(values: Any) -> tuple[FloatArray, FloatArray]:
    """Wide integers as upper + lower, both exact doubles.

    >>> [half.tolist() for half in halves(np.array([[2**53 + 1]]))]
    [[[9007199254740992.0]], [[1.0]]]
    """
    lower = values & ((1 << _LOW_BITS) - 1)
    return (values - lower).astype(np.float64), lower.astype(np.float64)


def refusing_infinity(sum_up: Callable[[], T]) -> T:
    """The kernel's answer; an infinite cell is an error that knows its row and column."""
    try:
        return sum_up()
    except _kernels.InfiniteValueError as error:
        row, column = (int(word) for word in str(error).split())
        raise NonFiniteError(row=row, column=column) from None


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
