"""A matrix of integer categories as codes, by tables instead of hashes, where the integers of a column lie together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, IntArray
from bayeswise.tables.batch import UNSEEN
from bayeswise.tables.schema.labels import Vocabulary

WIDEST = 1 << 16
_TYPES = ("int64", "int32", "int16", "int8", "uint8")


@dataclass(frozen=True)
class IntegerCodes:
    """The codes of the integers from `lowest` up, column after column; -2 for those without a code.

    >>> codes = IntegerCodes.of([Vocabulary([3, 5])])
    >>> codes.encode(np.array([[5], [4], [3], [99]])).tolist()
    [[1], [-2], [0], [-2]]
    """

    lowest: IntArray  # (n_columns,)
    sizes: IntArray  # (n_columns,)
    code_of: CodeArray  # (sum of sizes,)

    @classmethod
    def of(cls, vocabularies: Sequence[Vocabulary]) -> IntegerCodes | None:
        """From the levels of each column; None if they are not integers, or lie too far apart for a table."""
        tables = {}  # by vocabulary: thousands of columns share a few
        for vocabulary in {id(each): each for each in vocabularies}.values():
            table = _table(vocabulary)
            if table is None:
                return None
            tables[id(vocabulary)] = table
        chosen = [tables[id(vocabulary)] for vocabulary in vocabularies]
        lowest = np.array([low for low, _ in chosen], dtype=np.int64)
        sizes = np.array([len(part) for _, part in chosen], dtype=np.int64)
        parts = [part for _, part in chosen]
        return cls(lowest, sizes, np.concatenate(parts) if parts else np.empty(0, np.int32))

    @property
    def starts(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64) if len(self.sizes) else self.sizes

    @property
    def dtype(self) -> Any:
        """The smallest type that holds the codes: one byte where there are few levels."""
        return np.int8 if self.code_of.max(initial=0) < 128 else np.int32

    def encode(self, values: Any, out: Any = None) -> Any:
        """(n_rows, n_columns) the codes of a matrix of integers."""
        codes = np.empty(values.shape, dtype=self.dtype) if out is None else out
        _kernels.recode_integers(codes, kernel_integers(values), self.lowest, self.sizes, self.starts, self.code_of)
        return codes


def integer_levels(values: Any) -> list[Vocabulary] | None:
    """The different integers of each column, in order; None if they lie too far apart for a table.

    >>> integer_levels(np.array([[7, 1], [5, 1]]))
    [Vocabulary(5, 7), Vocabulary(1)]
    """
    if len(values) == 0:
        return None
    cells = kernel_integers(values)
    lowest, highest = (values[0].astype(np.int64) for _ in range(2))
    _kernels.widen_extents(cells, lowest, highest)
    if not _is_narrow(lowest.astype(object), highest.astype(object)):
        return None
    sizes = highest - lowest + 1
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    seen = np.zeros(int(sizes.sum()), dtype=np.uint8)
    _kernels.mark_integers(cells, lowest, sizes, starts, seen)
    marks = seen.tobytes()
    known: dict[tuple[int, bytes], Vocabulary] = {}  # columns with the same integers share their levels
    found = []
    for start, size, low in zip(starts.tolist(), sizes.tolist(), lowest.tolist(), strict=True):
        key = (low, marks[start : start + size])
        if key not in known:
            known[key] = Vocabulary.trusted(tuple((np.flatnonzero(seen[start : start + size]) + low).tolist()))
        found.append(known[key])
    return found


def _table(vocabulary: Vocabulary) -> tuple[int, CodeArray] | None:
    """The least integer, and the code of each integer from there on; None if a table cannot hold them."""
    levels = [label for label in vocabulary if type(label) is int]
    if len(levels) < len(vocabulary):
        return None
    lowest, highest = min(levels, default=0), max(levels, default=-1)
    if not _is_narrow(np.array([lowest], dtype=object), np.array([highest], dtype=object)):
        return None
    part = np.full(highest - lowest + 1, UNSEEN, dtype=np.int32)
    part[np.array([level - lowest for level in levels], dtype=np.int64)] = np.arange(len(levels))
    return lowest, part


def kernel_integers(values: Any) -> Any:
    """The matrix in a type that the kernels know."""
    return values if values.dtype.name in _TYPES else values.astype(np.int64)


def _is_narrow(lowest: Any, highest: Any) -> bool:
    inside = min(lowest, default=0) >= -(1 << 62) and max(highest, default=0) <= 1 << 62
    return inside and max(highest - lowest, default=0) < WIDEST
