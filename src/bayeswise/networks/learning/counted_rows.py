"""Distinct rows of a partitioned table as codes, with their total weights, counted where the rows are.

Two passes find them, the levels of each column first. A search for a graph needs nothing else, and their number grows
with the combinations that occur and not with the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import ClassVar

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotStreamableError
from bayeswise.foundation.exact import ExactArray
from bayeswise.networks.learning.column_findings import as_numbers
from bayeswise.networks.learning.column_states import places_between
from bayeswise.statistics import Counts
from bayeswise.statistics.protocol import Weights
from bayeswise.tables.encoding.row_weights import checked_weights
from bayeswise.tables.partitions import Pass, SpreadSource
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.source import Chunk, Source

MOST_CELLS_COUNTED = 1 << 24
"""Cells of distinct rows that are collected on one machine."""


@dataclass(frozen=True)
class LevelsPass(Pass[tuple[Counts, ...]]):
    """How often each label of each column occurs; counting stops where a column has more labels than are allowed."""

    columns: tuple[str, ...]
    weight: str | None
    most: int
    name: ClassVar[str] = "levels"

    @property
    def types(self) -> tuple[type, ...]:
        from bayeswise.engines.passes import statistic_types

        return statistic_types()

    def of(self, source: Source) -> tuple[Counts, ...]:
        counts_so_far: tuple[Counts, ...] = tuple(Counts.empty() for _ in self.columns)
        for chunk in source.chunks(columns_and_weight(self.columns, self.weight)):
            by = _weights(chunk, self.weight)
            counts = [self._counted(chunk, name, by) for name in self.columns]
            counts_so_far = tuple(mine.merge(more) for mine, more in zip(counts_so_far, counts, strict=True))
        return counts_so_far

    def merged(self, one: tuple[Counts, ...], other: tuple[Counts, ...]) -> tuple[Counts, ...]:
        return tuple(
            mine if len(mine.levels) > self.most else mine.merge(theirs)
            for mine, theirs in zip(one, other, strict=True)
        )

    def _counted(self, chunk: Chunk, name: str, by: FloatArray | None) -> Counts:
        codes, levels = chunk.labels(name)
        return Counts.of(np.array(codes), Vocabulary(levels), weights=by)


def columns_and_weight(columns: Sequence[str], weight: str | None) -> list[str]:
    return [*columns, *([] if weight is None else [weight])]


def _weights(chunk: Chunk, weight: str | None) -> FloatArray | None:
    if weight is None:
        return None
    return checked_weights(chunk.numbers(weight)[0], chunk.first_row, f"column {weight!r}")


@dataclass(frozen=True)
class ColumnCodes:
    """The code of each label of a column: its position among the states, or the interval of a number."""

    name: str
    states: Vocabulary
    cuts: tuple[float, ...] | None = None

    def of(self, levels: Sequence[Label]) -> CodeArray:
        """(n_levels + 1,) the codes of labels, and -1 for a missing cell at the end."""
        if self.cuts is None:
            return np.array([*(self.states.code_of_equal(level) for level in levels), -1], dtype=np.int32)
        return np.append(places_between(self.cuts, as_numbers(levels)), -1).astype(np.int32)


@dataclass(frozen=True)
class DifferentRows:
    """Distinct rows in ascending order, with their weights; none, and `are_too_many`, beyond the limit."""

    codes: CodeArray  # (n_rows, n_columns)
    weights: ExactArray  # (n_rows,)
    are_too_many: bool = False

    @classmethod
    def of(cls, codes: CodeArray, weights: FloatArray | None) -> DifferentRows:
        rows, which = _unique(codes)
        return cls(rows, Weights.of(len(codes), which.astype(np.int32), len(rows), weights).weight)._limited()

    @classmethod
    def empty(cls, n_columns: int) -> DifferentRows:
        return cls(np.zeros((0, n_columns), dtype=np.int32), ExactArray.zeros(0))

    def columns(self, places: Sequence[int]) -> DifferentRows:
        """The distinct rows of some columns."""
        rows, which = _unique(np.ascontiguousarray(self.codes[:, list(places)]))
        limbs = np.zeros((len(rows), self.weights.digits.shape[-1]), dtype=np.int64)
        np.add.at(limbs, which, self.weights.digits)
        return DifferentRows(rows, ExactArray.from_limbs(limbs, self.weights.low))

    def merge(self, other: DifferentRows) -> DifferentRows:
        if self.are_too_many or other.are_too_many:
            return self if self.are_too_many else other
        rows, places = _unique(np.vstack([self.codes, other.codes]))
        n = len(self.codes)
        mine = self.weights.scatter_to(places[:n], len(rows))
        return DifferentRows(rows, mine + other.weights.scatter_to(places[n:], len(rows)))._limited()

    def weights_or_none(self) -> FloatArray | None:
        """The weights; None if every row counts once."""
        weights = self.weights.to_floats()
        return None if (weights == 1.0).all() else weights

    def _limited(self) -> DifferentRows:
        if self.codes.size <= MOST_CELLS_COUNTED:
            return self
        return DifferentRows(self.codes[:0], ExactArray.zeros(0), are_too_many=True)


def _unique(codes: CodeArray) -> tuple[CodeArray, IntArray]:
    """The distinct rows in ascending order, and the position of each row among them."""
    sizes = codes.max(axis=0, initial=-1).astype(np.int64) + 2  # with that of missing cells
    if math.prod(sizes.tolist()) >= 1 << 62:
        rows, which = np.unique(codes, axis=0, return_inverse=True)
        return rows, which.ravel()
    keys = np.zeros(len(codes), dtype=np.int64)
    for column, size in zip(codes.T, sizes.tolist(), strict=True):
        keys = keys * size + (column + 1)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return codes[first], which.ravel()


@dataclass(frozen=True)
class RowsPass(Pass[DifferentRows]):
    """The distinct rows."""

    columns: tuple[ColumnCodes, ...]
    weight: str | None
    name: ClassVar[str] = "different rows"

    @property
    def types(self) -> tuple[type, ...]:
        from bayeswise.engines.passes import statistic_types

        return (DifferentRows, *statistic_types())

    def of(self, source: Source) -> DifferentRows:
        parts = (DifferentRows.of(*each) for each in coded_chunks(source, self.columns, self.weight))
        return reduce(DifferentRows.merge, parts, DifferentRows.empty(len(self.columns)))

    def merged(self, one: DifferentRows, other: DifferentRows) -> DifferentRows:
        return one.merge(other)


def coded_chunks(
    source: Source, columns: Sequence[ColumnCodes], weight: str | None, *, whole: bool = False
) -> Iterator[tuple[CodeArray, FloatArray | None]]:
    """The codes of rows with a weight, and their weights; `whole` leaves out rows with a missing cell."""
    names = [column.name for column in columns]
    for chunk in source.chunks(columns_and_weight(names, weight)):
        by = _weights(chunk, weight)
        codes = np.empty((chunk.n_rows, len(names)), dtype=np.int32)
        for place, column in enumerate(columns):
            found, levels = chunk.labels(column.name)
            codes[:, place] = column.of(levels)[found]
        there = np.ones(chunk.n_rows, dtype=bool) if by is None else by > 0.0
        if whole:
            there &= (codes >= 0).all(axis=1)
        yield codes[there], None if by is None else by[there]


class TooManyRowsToBring(NotStreamableError):
    """Partitioned rows that are too many for one machine, and nearly all distinct; they can only be counted."""

    def __init__(
        self,
        source: SpreadSource,
        columns: tuple[ColumnCodes, ...],
        weight: str | None,
        declared: frozenset[str],
        lacking: tuple[str, ...],
        cuts: Mapping[str, tuple[float, ...]],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.source, self.columns, self.weight, self.declared = source, columns, weight, declared
        self.lacking, self.cuts = lacking, cuts  # columns with missing cells, and those that were cut
        self.notes = notes  # on columns
        super().__init__(
            f"the {source.n_rows or 0:,} rows of a {source.description} are too many for one machine, and nearly all "
            "of them are different",
            fix="ignore columns, put levels together, or give a sample of the rows: frame.sample(...)",
        )


def counted_labels(source: SpreadSource, columns: Sequence[str], weight: str | None, most: int) -> tuple[Counts, ...]:
    """How often each label of each column occurs, by one pass."""
    return source.ask(LevelsPass(tuple(columns), weight, most), columns_and_weight(columns, weight))


def different_rows(source: SpreadSource, columns: Sequence[ColumnCodes], weight: str | None) -> DifferentRows:
    """The distinct rows of a source, by one pass."""
    return source.ask(RowsPass(tuple(columns), weight), columns_and_weight([column.name for column in columns], weight))
