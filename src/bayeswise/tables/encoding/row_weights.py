"""Weights of rows: 0 means absent, k means k copies; anything else than a finite number of at least 0 is an error.

Weights are multiplied by squares of cells and by each other, and added over all rows. Those that are not 0 lie between
LEAST and MOST, so that whatever is made of them is a float.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import SchemaError, row_number

LEAST, MOST = 1e-100, 1e100


def as_weights(weights: ArrayLike) -> FloatArray:
    """One double for each row.

    >>> as_weights([1, 2])
    array([1., 2.])
    """
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"the weights are not numbers: {error}", fix="give one number for each row") from error
    if array.ndim != 1:
        raise SchemaError(f"the weights have the shape {array.shape}", fix="give one number for each row")
    return array


def checked_weights(weights: FloatArray, first_row: int, where: str) -> FloatArray:
    """The weights, or an error that names the first bad one.

    >>> checked_weights(np.array([1.0, -2.0]), 10, "column 'w'")
    Traceback (most recent call last):
    bayeswise.foundation.errors.SchemaError: the weight in row 12 of column 'w' is -2.0. Fix: give each row a finite
    weight of 0 or more.
    """
    bad = ~((weights >= 0) & (weights < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise SchemaError(
            f"the weight in row {row_number(first_row + row)} of {where} is {weights[row]}",
            fix="give each row a finite weight of 0 or more",
        )
    extreme = (weights > MOST) | ((weights < LEAST) & (weights > 0))
    if extreme.any():
        row = int(np.argmax(extreme))
        raise SchemaError(
            f"the weight in row {row_number(first_row + row)} of {where} is {weights[row]:g}; "
            f"weights other than 0 lie between {LEAST:g} and {MOST:g}",
            fix="divide all weights by their largest",
        )
    return weights


def refuse_all_zero(total: float, rows: int, where: str) -> None:
    """Refuse a table whose weights are all zero."""
    if rows and not total > 0:
        raise SchemaError(f"all {rows} weights of {where} are zero", fix="give at least one row a weight above 0")
