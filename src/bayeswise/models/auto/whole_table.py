"""All rows of a table as one batch, in an order that the rows give themselves.

Whatever chooses among members (folds, samples, sums of floats) goes by this order, so that it is a function of the rows
and not of the order, the chunks or the threads in which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import IntArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.row_order import mixed_bits, odd_factors, row_hashes
from bayeswise.tables.batch import Batch, shown_classes
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema


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
