"""Rows in memory, swept in blocks on threads; the blocks and the order of their sums depend on the shape alone.

Floats do not add up to the same bits in every order, so rows are sorted by their own content: that of a
hash of their cells, equal ones as one with the sum of their weights. Any order, any chunks and any repetition of the
same rows give the same arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bayeswise import _kernels
from bayeswise.engines.local import ROWS_WORTH_A_THREAD
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, NonFiniteError
from bayeswise.foundation.threads import each
from bayeswise.models.regression.features import Features, markable, missing_columns, refuse_extreme, refuse_missing
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Column, Schema
from bayeswise.tables.source import Source

T = TypeVar("T")
CELLS_OF_A_BLOCK = 1 << 22
SPREADS = (1e-290, 1e305)  # whose inverses are floats
NO_WEIGHTS: FloatArray = np.empty(0)


@dataclass(frozen=True, eq=False)
class Rows:
    """z = (x - centre) / unit for each row, followed by a one for the intercept."""

    matrix: FloatArray  # (n_rows, n), or float32
    weights: FloatArray  # (n_rows,), or empty where each row counts once
    centre: FloatArray  # (n,)
    unit: FloatArray  # (n,)

    @classmethod
    def of(cls, matrix: FloatArray, weights: FloatArray | None, features: Features, *, standardise: bool) -> Rows:
        """Centred at the means, and numbers in units of their standard deviation unless standardise=False."""
        weights = None if weights is None or not len(weights) else weights
        parts = each(
            lambda rows: Moments.of(matrix[rows], weights=None if weights is None else weights[rows]),
            _blocks(len(matrix), max(matrix.shape[1], 1)),
        )
        moments = parts[0]
        for part in parts[1:]:
            moments = moments.merge(part)
        spread = moments.stddev()[0]
        refuse_extreme([name for name, _ in features.names], spread, *SPREADS)
        measured = features.is_number & (spread > 0) & standardise
        return cls(
            matrix,
            NO_WEIGHTS if weights is None else weights,
            moments.mean()[0],
            np.where(measured, spread, 1.0),
        )

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    @property
    def n_columns(self) -> int:
        """With the intercept."""
        return int(self.matrix.shape[1]) + 1

    @property
    def total_weight(self) -> float:
        return math.fsum(self.weights) if len(self.weights) else float(self.n_rows)

    @property
    def by(self) -> FloatArray:
        """(n_rows,) the weight of each row, written out."""
        return self.weights if len(self.weights) else np.ones(self.n_rows)

    def every(self, step: int) -> Rows:
        """Every so manieth row, as views."""
        weights = np.ascontiguousarray(self.weights[::step]) if len(self.weights) else self.weights
        return Rows(self.matrix[::step], weights, self.centre, self.unit)

    def weights_of(self, rows: slice) -> FloatArray:
        return self.weights[rows] if len(self.weights) else self.weights

    def over(self, work: Callable[[slice], T], width: int = 1) -> list[T]:
        """The work on every block of rows, in order; `width` is how many numbers a cell takes part in."""
        return each(work, _blocks(self.n_rows, self.n_columns * width))

    # -- sums ---------------------------------------------------------------------------------------------------
    def scores(self, weights: FloatArray) -> FloatArray:
        """(n_rows,) weights . z."""
        slopes = weights[:-1] / self.unit
        parts = self.over(lambda rows: (self.matrix[rows] - self.centre) @ slopes + weights[-1])
        return np.concatenate(parts)

    def moment(self, amounts: FloatArray) -> FloatArray:
        """(n,) the sum over rows of amount z."""

        def of_block(rows: slice) -> FloatArray:
            inside = amounts[rows] @ (self.matrix[rows] - self.centre) / self.unit
            return np.append(inside, amounts[rows].sum())

        return np.asarray(sum(self.over(of_block)))

    def products(self, amounts: FloatArray) -> FloatArray:
        """(n, n) the sum over rows of amount z z'."""
        inverse = 1.0 / self.unit

        def of_block(rows: slice) -> FloatArray:
            products = np.empty((self.n_columns, self.n_columns))
            _kernels.weighted_products(
                self.matrix[rows], self.centre, inverse, np.ascontiguousarray(amounts[rows]), products
            )
            return products

        return np.asarray(sum(self.over(of_block, self.n_columns)))


def _blocks(n_rows: int, cells_of_a_row: int) -> list[slice]:
    step = max(1_024, min(32_768, CELLS_OF_A_BLOCK // cells_of_a_row // 64 * 64))
    return [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]


@dataclass(frozen=True, eq=False)
class Design:
    """The rows without a missing value; means and indicators replace those of missing="indicator"."""

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
        in_order = [refuse_missing(schema, batch, missing) for batch in parts]  # every batch is looked at
        levels = tuple(
            Vocabulary.of([level for batch in parts for level in batch.vocabularies[c]])
            for c in range(len(schema.categories))
        )
        features = Features(schema, levels, _marked(schema, parts, in_order) if missing == "indicator" else ())
        if schema.categories:
            features.refuse_no_room(sum(batch.n_rows for batch in parts))
        matrix = _joined([features.matrix(batch) for batch in parts])
        weights = None if parts[0].weights is None else _joined([batch.weights for batch in parts])
        if features.marked:
            return cls(features, _at_means(matrix, weights), weights, None)
        whole = None if all(in_order) and not schema.categories else _complete(parts)
        if whole is None or whole.all():
            return cls(features, matrix, weights, None)
        if not whole.any():
            raise FitError("every row has a missing cell", fix="fill some of them in")
        return cls(features, matrix[whole], None if weights is None else weights[whole], whole)

    def of_rows(self, values: Any) -> Any:
        """What belongs to the complete rows, out of what belongs to all rows."""
        return values if self.whole is None else values[self.whole]


def _marked(schema: Schema, parts: list[Batch], whole: list[bool]) -> tuple[str, ...]:
    """The columns with a missing cell in any row; `whole` says which parts have all of their numbers."""
    found = np.zeros(len(markable(schema)), dtype=bool)
    for batch, has_all in zip(parts, whole, strict=True):
        if not has_all or schema.categories:
            found |= missing_columns(batch)
    return tuple(name for name, there in zip(markable(schema), found.tolist(), strict=True) if there)


def _at_means(matrix: FloatArray, weights: FloatArray | None) -> FloatArray:
    """The matrix with the exact mean of each column where a cell is missing."""
    return np.where(np.isnan(matrix), Moments.of(matrix, weights=weights).mean(empty=0.0)[0], matrix)


def _complete(parts: list[Batch]) -> BoolArray:
    """(n_rows,) the rows without a missing cell; a category of one level has no indicator that would show one."""
    numbers = [~np.isnan(batch.values).any(axis=1) for batch in parts]
    return np.concatenate([each & (batch.codes >= 0).all(axis=1) for each, batch in zip(numbers, parts, strict=True)])


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class TargetRows:
    """Batches of the columns of a schema, each with the numbers of its target; rows without one are left out.

    >>> from bayeswise.tables.schema.schema import Target
    >>> from bayeswise.tables.source import open_source
    >>> schema = Schema((Column("x", "number"),), Target("y", "number"))
    >>> rows = TargetRows(schema, open_source({"x": [1.0, 2.0, 3.0], "y": [5.0, None, 7.0]}))
    >>> [(batch.values.tolist(), target.tolist()) for batch, target in rows], rows.report.without_target
    ([([[1.0], [3.0]], [5.0, 7.0])], 1)
    """

    def __init__(self, schema: Schema, source: Source, *, check_invalid: bool = True, whole: bool = True) -> None:
        assert schema.target is not None
        self.target = schema.target.name
        self.source = source
        beside = Schema((*schema.columns, Column(self.target, "number")), None, schema.weight)
        self._encoder = Encoder(beside, learning=True, check_invalid=check_invalid, whole=whole)
        self._without_target = 0

    @property
    def report(self) -> Report:
        """The report of the last sweep."""
        return replace(self._encoder.report, without_target=self._without_target)

    def __iter__(self) -> Iterator[tuple[Batch, FloatArray]]:
        self._without_target = 0
        for batch in self._encoder.batches(self.source):
            target = np.ascontiguousarray(batch.values[:, -1])
            infinite = np.isinf(target)
            if infinite.any():
                raise NonFiniteError(row=batch.place(int(np.argmax(infinite))), column=self.target)
            known = np.flatnonzero(~np.isnan(target))
            self._without_target += batch.n_rows - len(known)
            if len(known):
                columns = np.ascontiguousarray(batch.values[:, :-1])
                yield replace(batch, values=columns).take(known), target[known]


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
