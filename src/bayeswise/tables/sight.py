"""Columns that can be judged at sight: plain numbers by their extremes, and what is ignored on request.

Profiling counts different values, which takes ten times as long as finding the extremes. A column stored as numbers
needs that only where it may be an id, or holds something that no model can learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.tables import evidence, kinds
from bayeswise.tables.schema import Column
from bayeswise.tables.source import Source
from bayeswise.tables.wishes import Wish, Wishes

_WIDEST = 2.0**53
_FOLD = 64


def judged_at_sight(source: Source, wishes: Wishes) -> dict[str, Column]:
    """The columns whose full profile would say the same."""
    storages = {column.name: column.storage for column in source.columns}
    ignored = [name for name in wishes.features if wishes[name].kind == "ignored"]
    numbers = [
        name
        for name in wishes.features
        if storages[name] in ("integer", "float") and _could_be_number(wishes[name], name)
    ]
    found = {name: kinds.asked_for(name, "ignored", wishes[name]) for name in ignored}
    return {**found, **_numbers(source, wishes, numbers)} if numbers else found


def _could_be_number(wish: Wish, name: str) -> bool:
    if wish.kind == "number":
        return True
    return wish.kind is None and wish.levels is None and not evidence.named_like_an_id(name)


def _numbers(source: Source, wishes: Wishes, names: list[str]) -> dict[str, Column]:
    """Those of the columns that are numbers beyond doubt."""
    low, high, present = extremes(source, names)
    plain = is_plain(low, high, present)
    finite = np.isfinite(low) & np.isfinite(high)
    return {
        name: kinds.asked_for(name, "number", wishes[name])
        for k, name in enumerate(names)
        if plain[k] or (wishes[name].kind == "number" and finite[k])
    }


def extremes(source: Source, names: list[str]) -> tuple[FloatArray, FloatArray, IntArray]:
    """The least, the largest and the number of cells of each column; NaN where there is none."""
    low, high = np.full((2, len(names)), np.nan)
    present = np.zeros(len(names), dtype=np.int64)
    for chunk in source.chunks(names):
        values, _ = chunk.matrix(names)
        missing = np.isnan(values)
        low = np.fmin(low, by_column(np.fmin, values))
        high = np.fmax(high, by_column(np.fmax, values))
        present += chunk.n_rows - (by_column(np.add, missing.astype(np.int64)) if missing.any() else 0)
    return low, high, present


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
