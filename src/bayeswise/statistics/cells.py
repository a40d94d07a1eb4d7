"""Numbers as the kernels take them: doubles or singles as they are, integers exactly, whatever their size.

An integer beyond 2^53 is no double, but it is the sum of two: its upper half and its lower 32 bits. Sums and products
of such halves are exact, and so are the sums of integers that are made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NonFiniteError, ParameterError

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
