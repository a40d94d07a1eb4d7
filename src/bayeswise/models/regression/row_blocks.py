"""Rows in memory, swept in blocks on threads; the blocks and the order of their sums depend on the shape alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, NonFiniteError
from bayeswise.foundation.threads import each
from bayeswise.models.regression.features import Features, markable, missing_columns, refuse_extreme, refuse_missing
from bayeswise.models.settings.regression import LinearSettings, LogisticSettings
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema
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
    def of(
        cls,
        matrix: FloatArray,
        weights: FloatArray | None,
        features: Features,
        settings: LinearSettings | LogisticSettings,
    ) -> Rows:
        """Centred at the means, or at 0 where there is no intercept to take them up.

        Numbers are in units of their standard deviation unless standardise=False.
        """
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
        measured = features.is_number & (spread > 0) & settings.standardise
        return cls(
            matrix,
            NO_WEIGHTS if weights is None else weights,
            moments.mean()[0] if settings.fit_intercept else np.zeros_like(spread),
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
        """Every `step`-th row, as views."""
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


def are_whole(values: FloatArray) -> BoolArray:
    """(n,) the columns whose cells are all whole numbers, missing ones aside; the first rows settle most.

    >>> are_whole(np.array([[1.0, 0.5], [np.nan, 2.0]])).tolist()
    [True, False]
    """
    return np.array([_is_whole(column[:100]) and _is_whole(column) for column in values.T], dtype=bool)


def _is_whole(column: FloatArray) -> bool:
    return bool((np.isnan(column) | (column == np.rint(column))).all())


def whole_columns(schema: Schema, whole: BoolArray) -> tuple[str, ...]:
    """The names of the number columns that are whole."""
    return tuple(name for name, is_whole in zip(schema.numbers, whole.tolist(), strict=True) if is_whole)


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
