"""The extremes of columns of numbers: most columns are known to be plain numbers by them, without a full profile."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.tables.source import Source
from bayeswise.tables.sources.table import TableSource

_WIDEST = 2.0**53
_FOLD = 64

Extremes: TypeAlias = tuple[FloatArray, FloatArray, IntArray]  # the least, the largest, the number of cells


def extremes(source: Source, names: list[str]) -> Extremes:
    """The least, the largest and the number of cells of each column; NaN where there is none."""
    stated = source.stated_extremes(names) if isinstance(source, TableSource) else {}
    others = [name for name in names if name not in stated]
    found = no_extremes(len(others))
    for chunk in source.chunks(others) if others else ():
        found = both_extremes(found, extremes_of(chunk.matrix(others)[0]))
    if not stated:
        return found
    swept = dict(zip(others, zip(*found, strict=True), strict=True))
    low, high, present = zip(*(stated.get(name) or swept[name] for name in names), strict=True)
    return np.array(low), np.array(high), np.array(present, dtype=np.int64)


def no_extremes(n_columns: int) -> Extremes:
    """Those of no rows."""
    low, high = np.full((2, n_columns), np.nan)
    return low, high, np.zeros(n_columns, dtype=np.int64)


def extremes_of(values: FloatArray) -> Extremes:
    """Those of some rows, (n_rows, n_columns)."""
    missing = np.isnan(values)
    n_missing = by_column(np.add, missing.astype(np.int64)) if missing.any() else 0
    present = np.full(values.shape[1], len(values), dtype=np.int64) - n_missing
    return by_column(np.fmin, values), by_column(np.fmax, values), present


def both_extremes(one: Extremes, other: Extremes) -> Extremes:
    """Those of all rows of both."""
    return np.fmin(one[0], other[0]), np.fmax(one[1], other[1]), one[2] + other[2]


def by_column(combine: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
    """Reduce the rows, 64 side by side, since NumPy is slow along short rows.

    >>> by_column(np.add, np.ones((200, 3))).tolist()
    [200.0, 200.0, 200.0]
    """
    n_rows, n_columns = values.shape
    whole = n_rows - n_rows % _FOLD
    if whole == 0 or n_columns == 0:
        return np.asarray(combine.reduce(values, axis=0))
    folded = combine.reduce(values[:whole].reshape(whole // _FOLD, _FOLD * n_columns), axis=0)
    rows = np.concatenate([folded.reshape(_FOLD, n_columns), values[whole:]])
    return np.asarray(combine.reduce(rows, axis=0))


def is_plain(low: FloatArray, high: FloatArray, present: IntArray) -> BoolArray:
    """Finite, not constant, not without gaps, and within what doubles hold exactly."""
    with np.errstate(invalid="ignore", over="ignore"):
        gapless = high - low + 1 == present
        return np.asarray((low < high) & (low >= -_WIDEST) & (high <= _WIDEST) & ~gapless)


def of_zero_and_one(values: FloatArray) -> BoolArray:
    """(n_columns,) whether a column of values holds 0, 1 and missing cells only."""
    return by_column(np.logical_and, (values == 0.0) | (values == 1.0) | np.isnan(values))
