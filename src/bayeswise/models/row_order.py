"""An order that rows give themselves: by a hash of their cells, equal ones as one with the sum of their weights.

Floats do not add up to the same bits in every order. In this one, any order, any chunks and any repetition of the same
rows give the same arrays. Whatever chooses (folds, samples) goes by it too, so that it is a function of the rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.engines.local import ROWS_WORTH_A_THREAD
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import FitError
from bayeswise.foundation.threads import each
from bayeswise.tables.batch import Batch, shown_classes
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

CELLS_OF_A_PIECE = 1 << 20
FIRST_BYTES = 256  # of hashes
PARTS = 8  # of them, each sorted by one thread


def in_own_order(matrix: FloatArray, target: Any, weights: FloatArray | None) -> tuple[FloatArray, Any, FloatArray]:
    """Rows by a hash of their cells, equal ones as one with the sum of their weights; weights are empty if all are 1.

    >>> matrix, target, weights = in_own_order(np.array([[1.0], [1.0]]), np.array([2.0, 2.0]), None)
    >>> matrix.tolist(), target.tolist(), weights.tolist()
    ([[1.0]], [2.0], [2.0])
    """
    order, hashes = _by_hash(row_hashes(matrix, target))
    again = np.flatnonzero(hashes[1:] == hashes[:-1]) + 1  # where a row may be the one before it
    first = None
    if len(again):
        order, first = _equal_side_by_side(order, hashes, again, matrix, target, weights)
        weights = np.ones(len(order)) if weights is None else weights
        weights, order = np.add.reduceat(weights[order], first), order[first]
    elif weights is not None:
        weights = weights[order]
    by = np.empty(0) if weights is None or np.all(weights == 1.0) else weights
    return _taken(matrix, order), target[order], by


def row_hashes(matrix: FloatArray, target: Any) -> Any:
    """(n_rows,) 64 bits of each row; 0.0 and -0.0 are one value."""
    odd = odd_factors(matrix.shape[1] + 1)
    beside = np.ascontiguousarray(target, dtype=np.float64)
    hashes = np.empty(len(matrix), dtype=np.uint64)

    def fill(rows: slice) -> None:
        _kernels.row_hashes(matrix[rows], beside[rows], odd, hashes[rows])

    each(fill, _pieces(matrix))
    return hashes


def odd_factors(n: int) -> Any:
    """(n,) odd numbers, one for each cell of a row and one for its target."""
    odd = np.empty(n, dtype=np.uint64)
    _kernels.odd_factors(odd)
    return odd


def mixed_bits(bits: Any, odd: Any) -> Any:
    """Bits that are spread over all 64 in place; those of 0 stay 0."""
    bits ^= bits >> np.uint64(32)  # the bits that differ between round numbers are the high ones
    bits *= odd
    bits ^= bits >> np.uint64(29)
    return bits


def _by_hash(hashes: Any) -> tuple[IntArray, Any]:
    """The places of hashes in ascending order, and the hashes in this order."""
    order, in_order = np.empty(len(hashes), dtype=np.int64), np.empty_like(hashes)
    parts = 1 if len(hashes) < ROWS_WORTH_A_THREAD else PARTS
    step = FIRST_BYTES // parts

    def sort(part: slice) -> None:
        _kernels.places_by_hash(hashes, part.start * step, part.stop * step, order, in_order)

    each(sort, [slice(part, part + 1) for part in range(parts)])
    return order, in_order


def _equal_side_by_side(
    order: IntArray, hashes: Any, again: IntArray, matrix: FloatArray, target: Any, weights: FloatArray | None
) -> tuple[IntArray, IntArray]:
    """The order with equal rows side by side, by weight, and the places in it where another row begins.

    Only rows that share their hash are looked at; `again` are places in the order whose hash is that of the one before.
    """
    is_shared = np.zeros(len(order), dtype=np.bool_)
    is_shared[again] = is_shared[again - 1] = True
    shared = np.flatnonzero(is_shared)
    places = order[shared]
    by = np.zeros(len(places)) if weights is None else weights[places]
    rows, beside = _taken(matrix, places), target[places]
    keys = [by, hashes[shared]]
    before = np.searchsorted(shared, again)
    if not _same(rows, beside, before).all():  # two rows with one hash: the cells decide
        keys = [by, beside, *rows.T[::-1], hashes[shared]]
    inside = np.lexsort(keys)
    order[shared] = places[inside]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[again] = ~_same(rows[inside], beside[inside], before)
    return order, np.flatnonzero(is_first)


def _same(rows: FloatArray, target: Any, places: IntArray) -> BoolArray:
    """(n_places,) whether the row at a place equals the one before it."""
    return np.asarray(np.all(rows[places] == rows[places - 1], axis=1) & (target[places] == target[places - 1]))


def _taken(matrix: FloatArray, places: IntArray) -> FloatArray:
    """matrix[places] in C order, without a minus before any zero."""
    taken = np.empty((len(places), matrix.shape[1]), dtype=matrix.dtype)

    def fill(rows: slice) -> None:
        _kernels.rows_at(matrix, places[rows], taken[rows])

    each(fill, _pieces(taken))
    return taken


def _pieces(matrix: FloatArray) -> list[slice]:
    step = max(1, CELLS_OF_A_PIECE // max(matrix.shape[1], 1))
    return [slice(first, min(first + step, len(matrix))) for first in range(0, max(len(matrix), 1), step)]


# -- batches of a table as one --------------------------------------------------------------------------------


def gathered(batches: Sequence[Batch], schema: Schema, most: int | None = None) -> tuple[Batch, Batch]:
    """Rows with a class and a weight, codes in canonical order: those to choose by, and all of them.

    The first stand by a hash of their cells; where there are more than `most`, they are those of the least hashes: a
    fair sample that is a function of the rows alone. Where there are not, they are all rows.
    """
    parts = [_with_class(batch) for batch in batches]
    parts = [part for part in parts if part.n_rows]
    if not parts:
        raise FitError(f"no row has a value in {schema.target_name!r}", fix="give rows that have one")
    labels = [Vocabulary.of([label for part in parts for label in part.vocabularies[k]]) for k in _columns(parts)]
    classes = shown_classes(parts, schema.declared_classes)
    words = [Vocabulary.of([w for part in parts for w in part.texts[k].vocabulary]) for k in range(len(schema.texts))]
    parts = [_recoded(part, labels, classes, words) for part in parts]
    whole = replace(Batch.concat(parts), first_row=0, kept=None)
    hashes = _hashes(whole)
    if most is not None and whole.n_rows > most:
        least = np.argpartition(hashes, most)[:most]
        sample = whole.take(least)
        return sample.take(_own_order(sample, hashes[least])), whole
    ordered = whole.take(_own_order(whole, hashes))
    return ordered, ordered


def _columns(parts: Sequence[Batch]) -> range:
    return range(parts[0].codes.shape[1])


def _with_class(batch: Batch) -> Batch:
    known = batch.with_target()
    return known if known.weights is None else known.take(np.flatnonzero(known.weights > 0.0))


def _recoded(part: Batch, labels: Sequence[Vocabulary], classes: Vocabulary, words: Sequence[Vocabulary]) -> Batch:
    texts = tuple(block.recode(known) for block, known in zip(part.texts, words, strict=True))
    return replace(part.recode(labels), groups=part.groups_in(classes), group_labels=classes, texts=texts)


def _hashes(batch: Batch) -> Any:
    """(n_rows,) 64 bits of all cells of each row, its class and its weight."""
    values = np.where(np.isnan(batch.values), np.nan, batch.values) if np.isnan(batch.values).any() else batch.values
    beside: list[Any] = [batch.codes] if batch.codes.shape[1] else []
    beside += [] if batch.weights is None else [batch.weights]
    cells = np.column_stack([values, *beside]) if beside else values
    hashes = row_hashes(np.ascontiguousarray(cells, dtype=np.float64), np.asarray(batch.groups, dtype=np.float64))
    for block in batch.texts:
        counts = block.counts.tocsr()
        words = odd_factors(len(block.vocabulary))[counts.indices] * counts.data.astype(np.uint64)
        rows = np.repeat(np.arange(batch.n_rows), np.diff(counts.indptr))
        np.add.at(hashes, rows, mixed_bits(words, np.uint64(0x9E3779B97F4A7C15)))
    return hashes


def _own_order(batch: Batch, hashes: Any) -> IntArray:
    """(n_rows,) positions of the rows by their hashes; equal rows are equal in any order."""
    order = np.argsort(hashes, kind="stable")
    if (np.diff(hashes[order]) == 0).any():  # equal rows, or two rows with one hash: cells decide
        weights = [] if batch.weights is None else [batch.weights]
        order = np.lexsort([*weights, *batch.codes.T, *batch.values.T, np.asarray(batch.groups), hashes])
    return np.asarray(order)
