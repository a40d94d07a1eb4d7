"""How often each level of one column was seen together with each level of another, for all pairs of columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import compress, pairwise

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.protocol import (
    Additive,
    refuse_amounts,
    refuse_levels,
    refuse_negative,
    united,
    united_declared,
)
from bayeswise.tables.schema.labels import Vocabulary

LARGEST_TABLE = 1 << 26


@dataclass(frozen=True)
class PairCounts(Additive):
    """The weight of every pair of slots, a slot being a level of a column or its missing cells.

    A row has a one in one slot of each column; the table is the sum of w z z' over rows, so its diagonal counts single
    columns. A column's slots lie side by side, levels in canonical order, missing last; levels vanish with their last
    row unless declared.

    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, -1]], dtype=np.int32)
    >>> seen = PairCounts.of(codes, [Vocabulary(["sun", "rain"]), Vocabulary(["hot", "cold"])])
    >>> seen.pair(0, 1).tolist(), seen.levels        # one group
    ([[[1.0, 0.0], [1.0, 1.0]]], (Vocabulary('rain', 'sun'), Vocabulary('cold', 'hot')))
    >>> seen.single(1).tolist(), seen.missing(1).tolist()
    ([[2.0, 1.0]], [1.0])
    """

    levels: tuple[Vocabulary, ...]
    weight: ExactArray  # (n_groups, n_slots, n_slots), symmetric
    rows: ExactArray  # (n_groups,)
    declared: tuple[Vocabulary, ...] = field(default=())

    sums = ("weight", "rows")

    def __post_init__(self) -> None:
        n_slots = sum(len(vocabulary) + 1 for vocabulary in self.levels)
        if self.weight.shape != (*self.rows.shape, n_slots, n_slots) or len(self.declared) != len(self.levels):
            raise SchemaError("pair counts, levels and groups do not match in number")

    def refuse_impossible(self) -> None:
        for levels, declared in zip(self.levels, self.declared, strict=True):
            refuse_levels(levels, declared)
        refuse_amounts([self.weight, self.rows, self.rows.sum()], "the count of a pair of levels")
        places = np.arange(self.weight.shape[-1])
        single = self.weight[:, places, places]
        for slots in self.slots:
            every = slice(slots.start, slots.stop + 1)  # the levels and the missing cells: each row has one of them
            same = self.weight[:, every, every].sum(axis=2) == single[:, every]
            if not same or self.weight[:, :, every].sum(axis=2) != single or single[:, every].sum(axis=1) != self.rows:
                raise SchemaError("the counts of pairs of levels contradict those of single ones")

    @classmethod
    def of(
        cls,
        codes: CodeArray,
        levels: Sequence[Vocabulary],
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: Sequence[Vocabulary | None] | None = None,
    ) -> PairCounts:
        """All pairs in one sweep; codes is (n_rows, n_columns), -1 is missing, a negative group is left out."""
        sizes = np.array([len(vocabulary) for vocabulary in levels], dtype=np.int64)
        n_slots = int((sizes + 1).sum())
        refuse_too_large(n_groups, n_slots)
        parts = _parts_of_weights(weights)
        limbs = np.zeros((len(parts[0]), n_groups, n_slots, n_slots), dtype=np.int64)
        rows = np.zeros((len(parts[0]), n_groups, 2, 2), dtype=np.int64)
        present = np.zeros((len(codes), 1), dtype=np.int8)
        for part, table, total in zip(parts[0], limbs, rows, strict=True):
            _kernels.pair_counts(codes, sizes, groups, part, table)
            _kernels.pair_counts(present, np.ones(1, dtype=np.int64), groups, part, total)
        return cls.of_table(
            tuple(levels),
            ExactArray.from_limbs(np.moveaxis(limbs, 0, -1), parts[1]),
            ExactArray.from_limbs(np.moveaxis(rows[:, :, 0, 0], 0, -1), parts[1]),
            tuple(each or Vocabulary() for each in declared or [None] * len(levels)),
        )

    @classmethod
    def of_table(
        cls, levels: tuple[Vocabulary, ...], weight: ExactArray, rows: ExactArray, declared: tuple[Vocabulary, ...]
    ) -> PairCounts:
        """Pair counts from a table in any order of levels."""
        diagonal = np.arange(weight.shape[-1])
        seen = np.asarray(~weight[:, diagonal, diagonal].is_zero().all(axis=0))
        canonical: list[Vocabulary] = []
        start = 0
        for vocabulary, fixed in zip(levels, declared, strict=True):
            here = seen[start : start + len(vocabulary)]
            canonical.append(fixed.union(Vocabulary.trusted(tuple(compress(vocabulary, here)))))
            start += len(vocabulary) + 1
        kept = tuple(canonical)
        return cls(kept, _moved(weight, levels, kept), rows, declared)

    # -- the group --------------------------------------------------------------------------------------------
    @property
    def weight_of_rows(self) -> ExactArray:
        return self.rows

    def merge(self, other: PairCounts) -> PairCounts:
        levels = united(self.levels, other.levels)
        declared = united_declared(self.declared, other.declared)
        refuse_too_large(self.rows.shape[0], sum(len(vocabulary) + 1 for vocabulary in levels))
        weight = _moved(self.weight, self.levels, levels) + _moved(other.weight, other.levels, levels)
        return PairCounts(levels, weight, self.rows + other.rows, declared)

    def subtract(self, other: PairCounts) -> PairCounts:
        levels = united(self.levels, other.levels)
        weight = _moved(self.weight, self.levels, levels) - _moved(other.weight, other.levels, levels)
        rows = self.rows - other.rows
        refuse_negative([weight, rows], "the count of a pair of levels")
        return PairCounts.of_table(levels, weight, rows, self.declared)

    def _canonical(self) -> PairCounts:
        return PairCounts.of_table(self.levels, self.weight, self.rows, self.declared)

    # -- derived values ---------------------------------------------------------------------------------------
    @property
    def slots(self) -> list[slice]:
        """The slots of each column's levels; the one after them is for missing."""
        starts = np.cumsum([0, *(len(vocabulary) + 1 for vocabulary in self.levels)])
        return [slice(int(start), int(end) - 1) for start, end in pairwise(starts)]

    def pair(self, one: int, other: int) -> FloatArray:
        """(n_groups, n_levels of one, n_levels of other) over rows that have both cells."""
        return self.weight[:, self.slots[one], self.slots[other]].to_floats()

    def single(self, column: int) -> FloatArray:
        """(n_groups, n_levels) over rows that have the cell."""
        places = np.arange(self.weight.shape[-1])[self.slots[column]]
        return self.weight[:, places, places].to_floats()

    def missing(self, column: int) -> FloatArray:
        """(n_groups,) the weight of rows without the cell."""
        place = self.slots[column].stop
        return self.weight[:, place, place].to_floats()

    def __repr__(self) -> str:
        n_groups, n_columns = self.rows.shape[0], len(self.levels)
        return f"PairCounts({self.rows.sum().to_floats():g} rows, {n_groups} groups, {n_columns} columns)"


def refuse_too_large(n_groups: int, n_slots: int) -> None:
    """An error before memory runs out."""
    if n_groups * n_slots * n_slots > LARGEST_TABLE:
        raise SchemaError(
            f"the counts of all pairs of {n_slots} levels in {n_groups} groups are too many to hold",
            fix="leave out the columns with the most levels, or put rare levels together",
        )


def _parts_of_weights(weights: FloatArray | None) -> tuple[list[IntArray | None], int]:
    """Weights as integers, limb by limb: sums of 32 bits never leave 64."""
    if weights is None:
        return [None], 0
    exact = ExactArray.from_floats(weights)
    return [np.ascontiguousarray(exact.digits[:, k]) for k in range(exact.digits.shape[-1])], exact.low


def _moved(weight: ExactArray, levels: Sequence[Vocabulary], target: Sequence[Vocabulary]) -> ExactArray:
    """The table over other levels; a level that the target lacks is left out."""
    if tuple(levels) == tuple(target):
        return weight
    positions: list[IntArray] = []
    start = 0
    for mine, theirs in zip(levels, target, strict=True):
        place = mine.positions_in(theirs)
        positions += [np.where(place >= 0, place + start, -1), np.array([start + len(theirs)])]
        start += len(theirs) + 1
    place = np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)
    kept = np.flatnonzero(place >= 0)
    for axis in (1, 2):
        index = (*(slice(None),) * axis, kept)
        weight = weight[index].scatter_to(place[kept], start, axis=axis)
    return weight
