"""Rows with missing cells, equal ones once: all that EM needs of them beside the counts of the cells that are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotMergedError, SchemaError, TooLargeError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.protocol import Additive, refuse_amounts, refuse_negative, united
from bayeswise.tables.schema.labels import Vocabulary

MOST_CELLS = 1 << 26
"""How many cells and weights the different rows may have together."""


@dataclass(frozen=True, eq=False)
class RowsWithMissing(Additive):
    """Each different row with a missing cell, ascending, with its weight in each group; whole rows are not in it.

    >>> codes = np.array([[0, -1], [1, 0], [0, -1]], dtype=np.int32)
    >>> seen = RowsWithMissing.of(codes, [Vocabulary(["sun", "rain"]), Vocabulary(["hot"])])
    >>> seen.levels[0], seen.cells.tolist(), seen.weight.to_floats().tolist()
    (Vocabulary('sun'), [[0, -1]], [[2.0]])
    >>> seen.merge(seen).subtract(seen) == seen
    True
    """

    levels: tuple[Vocabulary, ...]  # those that these rows show, in canonical order
    cells: CodeArray  # (n_rows, n_columns) positions in the levels, -1 where a cell is missing
    weight: ExactArray  # (n_groups, n_rows)

    sums = ("weight",)
    stored_name: ClassVar[str] = "RowsWithHoles"  # as files call it

    def __post_init__(self) -> None:
        sizes = [len(vocabulary) for vocabulary in self.levels]
        fits = self.cells.dtype == np.int32 and self.cells.shape == (self.weight.shape[-1], len(sizes))
        if not fits or len(self.weight.shape) != 2 or (self.cells < -1).any() or (self.cells >= sizes).any():
            raise SchemaError("rows with missing values, their levels and their weights do not match")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.weight, self.weight.sum()], "the count of a row with missing cells")
        if self != _canonical(self.levels, self.cells, self.weight) or not (self.cells < 0).any(axis=1).all():
            raise SchemaError("rows with missing cells must differ, in order, with the levels that they show")

    @classmethod
    def of(
        cls,
        codes: CodeArray,
        levels: Sequence[Vocabulary],
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: Sequence[Vocabulary | None] | None = None,
    ) -> RowsWithMissing:
        """The rows with a code of -1; a negative group is left out, a weight of k counts as k rows."""
        chosen = (codes < 0).any(axis=1)
        chosen &= True if groups is None else groups >= 0
        chosen &= True if weights is None else weights > 0
        cells, which = _different(np.asarray(codes[chosen], dtype=np.int32))
        _refuse_too_many(cells, n_groups)
        group = None if groups is None else np.ascontiguousarray(groups[chosen])
        weigh = None if weights is None else np.ascontiguousarray(weights[chosen])
        counts = _kernels.counts(which[:, None], np.array([len(cells)], dtype=np.int64), group, n_groups, weigh)
        table = ExactArray.from_limbs(*counts) if isinstance(counts, tuple) else ExactArray.from_integers(counts)
        return _canonical(tuple(levels), cells, table[:, : len(cells)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowsWithMissing):
            return NotImplemented
        same = self.levels == other.levels and np.array_equal(self.cells, other.cells)
        return same and self.weight == other.weight

    __hash__ = None  # type: ignore[assignment]

    # -- the group --------------------------------------------------------------------------------------------
    @property
    def weight_of_rows(self) -> ExactArray:
        return self.weight.sum(axis=1)

    def merge(self, other: RowsWithMissing) -> RowsWithMissing:
        levels, cells, mine, theirs = self._beside(other)
        _refuse_too_many(cells, self.weight.shape[0])
        return _canonical(levels, cells, mine + theirs)

    def subtract(self, other: RowsWithMissing) -> RowsWithMissing:
        levels, cells, mine, theirs = self._beside(other)
        left = mine - theirs
        refuse_negative([left], "the count of a row with missing cells")
        return _canonical(levels, cells, left)

    def _canonical(self) -> RowsWithMissing:
        return _canonical(self.levels, self.cells, self.weight)

    def _beside(self, other: RowsWithMissing) -> tuple[tuple[Vocabulary, ...], CodeArray, ExactArray, ExactArray]:
        """The different rows of both, and the weights of both in them."""
        if len(self.levels) != len(other.levels):
            raise NotMergedError("the rows have different columns", fix="summarise both by the same schema")
        levels = united(self.levels, other.levels)
        cells, which = _different(np.concatenate([self.over(levels), other.over(levels)]))
        first, second = which[: len(self.cells)], which[len(self.cells) :]
        n_rows = len(cells)
        return (
            levels,
            cells,
            self.weight.scatter_to(first, n_rows, axis=1),
            other.weight.scatter_to(second, n_rows, axis=1),
        )

    # -- derived values ---------------------------------------------------------------------------------------
    def over(self, levels: Sequence[Vocabulary]) -> CodeArray:
        """(n_rows, n_columns) the cells as positions in other levels, which have all of these."""
        columns = [
            np.append(mine.positions_in(other), -1)[self.cells[:, place]]
            for place, (mine, other) in enumerate(zip(self.levels, levels, strict=True))
        ]
        return np.column_stack(columns).astype(np.int32) if columns else self.cells

    def __repr__(self) -> str:
        n_groups, n_rows = self.weight.shape
        weight = self.weight_of_rows.sum().to_floats()
        return f"RowsWithMissing({weight:g} rows, {n_rows} of them different, {n_groups} groups)"


def _different(cells: CodeArray) -> tuple[CodeArray, IntArray]:
    """Rows that differ, ascending, and which of them each row is."""
    if not cells.size:
        return cells[:0], np.zeros(0, dtype=np.int64)
    keys = np.ascontiguousarray(cells.astype(np.int64) + 1).astype(">u4")  # bytes in the order of numbers
    rows = keys.view(np.dtype((np.void, 4 * cells.shape[1]))).ravel()
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    return cells[first], which.ravel().astype(np.int64)


def _canonical(levels: tuple[Vocabulary, ...], cells: CodeArray, weight: ExactArray) -> RowsWithMissing:
    """Without rows that have no weight, and without levels that no row shows."""
    there = np.asarray(~weight.is_zero().all(axis=0)) if weight.shape[0] else np.zeros(len(cells), dtype=bool)
    kept = cells[there]
    known: list[Vocabulary] = []
    columns: list[CodeArray] = []
    for place, vocabulary in enumerate(levels):
        shown = Vocabulary.of([vocabulary[code] for code in np.unique(kept[:, place]) if code >= 0])
        known.append(shown)
        columns.append(np.append(vocabulary.positions_in(shown), -1)[kept[:, place]].astype(np.int32))
    codes = np.column_stack(columns) if columns else kept
    cells, which = _different(codes)
    found = weight[:, np.flatnonzero(there)].scatter_to(which, len(cells), axis=1)
    return RowsWithMissing(tuple(known), cells, found)


def _refuse_too_many(cells: CodeArray, n_groups: int) -> None:
    if len(cells) * (cells.shape[1] + n_groups) > MOST_CELLS:
        raise TooLargeError(
            f"{len(cells):,} different rows with missing cells are too many to keep",
            fix="use missing='ignore', which counts the cells that are there, or leave out columns with few cells",
        )
