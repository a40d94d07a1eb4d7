"""Weights of rows in searches: k counts as k rows, 0 as none; sums of them do not depend on the order of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError, SchemaError
from bayeswise.tables.weights import as_weights, checked_weights, refuse_all_zero

_MOST_UNITS = 61  # bits that all weights together may have, so that no sum overflows


def weights_of_rows(weights: Any, n_rows: int, where: str = "weights") -> FloatArray:
    """One finite weight from 0 on for each row, and one of them above 0."""
    checked = checked_weights(as_weights(weights), 0, where)
    if len(checked) != n_rows:
        raise ParameterError(f"there are {len(checked)} weights for {n_rows} rows", fix="give one for each row")
    refuse_all_zero(float(checked.max(initial=0.0)), n_rows, where)
    with np.errstate(over="ignore"):
        if not np.isfinite(checked.sum()):
            raise SchemaError(f"the sum of all {n_rows} {where} is too large", fix="divide them by a common number")
    return checked


def given_or_read(weights: Any, parts: Sequence[FloatArray], column: str | None, n_rows: int) -> FloatArray | None:
    """The weights that were given or stand in a column; None if every row counts once."""
    if column is not None:
        read = np.concatenate(parts) if parts else np.zeros(0)
        return weights_of_rows(read, len(read), f"column {column!r}")
    return None if weights is None else weights_of_rows(weights, n_rows)


def in_units(weights: FloatArray) -> tuple[IntArray, float]:
    """Weights as whole multiples of a unit, and the unit: 1 for whole weights, else a power of two that is tiny.

    Sums of whole numbers are exact, so they are the same in any order of the rows.

    >>> in_units(np.array([2.0, 1.0]))
    (array([2, 1]), 1.0)
    >>> units, unit = in_units(np.array([0.1, 0.7]))
    >>> (units * unit).tolist()
    [0.1, 0.7]
    """
    total = math.fsum(weights)
    if total < 2.0**_MOST_UNITS and not np.any(weights % 1.0):
        return weights.astype(np.int64), 1.0
    exponent = math.frexp(total)[1] - _MOST_UNITS
    return np.rint(np.ldexp(weights, -exponent)).astype(np.int64), math.ldexp(1.0, exponent)


def summed_weights(which: IntArray, n_cells: int, weights: FloatArray | None) -> FloatArray:
    """(n_cells,) the weight of the rows in each cell, whatever their order.

    >>> summed_weights(np.array([0, 1, 0]), 2, np.array([0.5, 1.0, 0.25])).tolist()
    [0.75, 1.0]
    """
    if weights is None:
        return np.bincount(which, minlength=n_cells).astype(np.float64)
    units, unit = in_units(weights)
    found = np.zeros(n_cells, dtype=np.int64)
    np.add.at(found, which, units)
    return np.asarray(found.astype(np.float64) * unit)
