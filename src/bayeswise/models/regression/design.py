"""Complete rows in memory: the design matrix, which rows of the table it holds, and an order of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.engines.ranges import ROWS_WORTH_A_THREAD
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.regression.features import Features, refuse_holes
from bayeswise.models.regression.rows import in_blocks
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema


@dataclass(frozen=True)
class Design:
    """The rows without a hole; with missing="error" there is none in any."""

    features: Features
    matrix: FloatArray  # (n_complete, n_features)
    weights: FloatArray | None  # (n_complete,)
    whole: BoolArray | None  # (n_rows,) which rows are complete; None: all of them

    @classmethod
    def of(cls, schema: Schema, batches: Iterable[Batch], missing: str) -> Design:
        """All rows as one matrix; a matrix of numbers that comes as one batch is not copied."""
        parts = list(batches)
        if not parts:
            raise FitError("X has no rows", fix="give at least one")
        in_order = [refuse_holes(schema, batch, missing) for batch in parts]  # every batch is looked at
        levels = tuple(
            Vocabulary.of([level for batch in parts for level in batch.vocabularies[c]])
            for c in range(len(schema.categories))
        )
        features = Features(schema, levels)
        if schema.categories:
            features.refuse_no_room(sum(batch.n_rows for batch in parts))
        matrix = _joined([features.matrix(batch) for batch in parts])
        weights = None if parts[0].weights is None else _joined([batch.weights for batch in parts])
        whole = None if all(in_order) and not schema.categories else _complete(parts)
        if whole is None or whole.all():
            return cls(features, matrix, weights, None)
        if not whole.any():
            raise FitError("every row has a missing cell", fix="fill some of them in")
        return cls(features, matrix[whole], None if weights is None else weights[whole], whole)

    def of_rows(self, values: Any) -> Any:
        """What belongs to the complete rows, out of what belongs to all rows."""
        return values if self.whole is None else values[self.whole]


def _complete(parts: list[Batch]) -> BoolArray:
    """(n_rows,) the rows without a missing cell; a category of one level has no indicator that would show one."""
    numbers = [~np.isnan(batch.values).any(axis=1) for batch in parts]
    return np.concatenate([each & (batch.codes >= 0).all(axis=1) for each, batch in zip(numbers, parts, strict=True)])


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


# -- an order that the rows give themselves -------------------------------------------------------------------


def in_own_order(matrix: FloatArray, target: Any, weights: FloatArray | None) -> tuple[FloatArray, Any, FloatArray]:
    """Rows by a hash of their cells, equal ones as one with the sum of their weights; weights are empty if all are 1.

    Floats do not add up to the same bits in every order. So that whatever iterates over rows is a function of the rows
    alone, they stand in an order of their own: any order, any chunks and any repetition of the same rows give the
    same three arrays.

    >>> matrix, target, weights = in_own_order(np.array([[1.0], [1.0]]), np.array([2.0, 2.0]), None)
    >>> matrix.tolist(), target.tolist(), weights.tolist()
    ([[1.0]], [2.0], [2.0])
    """
    hashes = row_hashes(matrix, target)
    order = _sorted_places(hashes) if weights is None or _whole(weights) else np.lexsort([weights, hashes])
    rows, target = _taken(matrix, order), target[order]
    by = np.empty(0) if weights is None else weights[order]
    again = np.flatnonzero(np.diff(hashes[order]) == 0) + 1  # where a row may be the one before it
    if len(again):
        rows, target, by = _combined(rows, target, by, again)
    return rows, target, np.empty(0) if np.all(by == 1.0) else by


def _combined(rows: FloatArray, target: Any, by: FloatArray, again: IntArray) -> tuple[FloatArray, Any, FloatArray]:
    by = by if len(by) else np.ones(len(rows))
    same = np.all(rows[again] == rows[again - 1], axis=1) & (target[again] == target[again - 1])
    if not same.all():  # two rows with one hash: the cells decide
        order = np.lexsort([by, target, *rows.T[::-1]])
        rows, target, by = rows[order], target[order], by[order]
        same = np.all(rows[1:] == rows[:-1], axis=1) & (target[1:] == target[:-1])
        again = np.arange(1, len(rows))
    first = np.ones(len(rows), dtype=np.bool_)
    first[again[same]] = False
    return rows[first], target[first], np.add.reduceat(by, np.flatnonzero(first))


def row_hashes(matrix: FloatArray, target: Any) -> Any:
    """(n_rows,) 64 bits of each row; 0.0 and -0.0 are one value."""
    bits = np.uint32 if matrix.dtype == np.float32 else np.uint64
    odd = np.random.default_rng(0).integers(1, 1 << 62, matrix.shape[1] + 1, dtype=np.uint64) * 2 + 1
    hashes = np.empty(len(matrix), dtype=np.uint64)

    def fill(rows: slice) -> None:
        cells = np.ascontiguousarray(matrix[rows] + matrix.dtype.type(0)).view(bits).astype(np.uint64, copy=False)
        beside = (target[rows] + 0.0).view(np.uint64)
        hashes[rows] = _mixed(cells, odd[:-1]).sum(axis=1, dtype=np.uint64) + _mixed(beside, odd[-1])

    in_blocks(fill, _pieces(len(matrix), max(1, (1 << 17) // max(matrix.shape[1], 1))))
    return hashes


def _mixed(bits: Any, odd: Any) -> Any:
    bits ^= bits >> np.uint64(32)  # the bits that differ between round numbers are the high ones
    bits *= odd
    bits ^= bits >> np.uint64(29)
    return bits


def _whole(weights: FloatArray) -> bool:
    """Whether the weights are integers whose sums are floats in any order."""
    return bool(np.all(weights == np.rint(weights)) and weights.sum() < 1 << 53)


def _sorted_places(hashes: Any) -> IntArray:
    """argsort, in two halves on two threads where that is worth it."""
    if len(hashes) < ROWS_WORTH_A_THREAD:
        return np.argsort(hashes)
    low = hashes < np.uint64(1 << 63)

    def sort(part: slice) -> IntArray:
        places = np.flatnonzero(low if part.start == 0 else ~low)
        return np.asarray(places[np.argsort(hashes[places])])

    return np.concatenate(in_blocks(sort, [slice(0, 1), slice(1, 2)]))


def _taken(matrix: FloatArray, order: IntArray) -> FloatArray:
    """matrix[order] in C order, without a minus before any zero."""
    taken = np.empty(matrix.shape, dtype=matrix.dtype)

    def fill(rows: slice) -> None:
        np.take(matrix, order[rows], axis=0, out=taken[rows], mode="clip")
        taken[rows] += taken.dtype.type(0)

    in_blocks(fill, _pieces(len(matrix), max(1, (1 << 17) // max(matrix.shape[1], 1))))
    return taken


def _pieces(n_rows: int, step: int) -> list[slice]:
    return [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]
