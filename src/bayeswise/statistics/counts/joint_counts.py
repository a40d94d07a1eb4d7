"""How often each combination of levels of several columns was seen."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
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
class JointCounts(Additive):
    """A table with one axis for each column after the axis of groups; rows with a missing cell are counted apart.

    >>> codes = np.array([[0, 0], [0, 1], [0, 1]], dtype=np.int32)
    >>> seen = JointCounts.of(codes, [Vocabulary(["sun", "rain"]), Vocabulary(["cold", "hot"])])
    >>> seen.weight.to_floats().tolist(), seen.levels
    ([[[1.0, 2.0]]], (Vocabulary('sun'), Vocabulary('cold', 'hot')))
    """

    levels: tuple[Vocabulary, ...]
    weight: ExactArray  # (n_groups, *sizes)
    incomplete: ExactArray  # (n_groups,)
    declared: tuple[Vocabulary, ...] = field(default=())

    sums = ("weight", "incomplete")

    def __post_init__(self) -> None:
        if len(self.incomplete.shape) != 1 or self.weight.shape != (*self.incomplete.shape, *map(len, self.levels)):
            raise SchemaError("joint counts, levels and groups do not match in number")

    def refuse_impossible(self) -> None:
        if len(self.declared) != len(self.levels):
            raise SchemaError("joint counts have declared levels for another number of columns")
        for levels, declared in zip(self.levels, self.declared, strict=True):
            refuse_levels(levels, declared)
        refuse_amounts([self.weight, self.incomplete, self.weight.sum()], "the count of a combination")

    @classmethod
    def of(
        cls,
        codes: CodeArray,
        levels: list[Vocabulary],
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: list[Vocabulary | None] | None = None,
    ) -> JointCounts:
        """Combinations counted; codes is (n_rows, n_columns), -1 is missing, a negative group is left out."""
        sizes = [n_groups, *(len(vocabulary) for vocabulary in levels)]
        if np.prod(np.array(sizes, dtype=np.float64)) > LARGEST_TABLE:
            raise SchemaError(
                f"a joint table of {' x '.join(map(str, sizes))} cells is too large",
                fix="count fewer columns together",
            )
        group_codes = np.zeros(len(codes), np.int32) if groups is None else groups
        kept = np.flatnonzero(group_codes >= 0)
        chosen = slice(None) if len(kept) == len(codes) else kept
        both = np.column_stack([group_codes[chosen], codes[chosen]]).astype(np.int32)
        weigh = None if weights is None else weights[chosen]
        table, _ = _kernels.joint_counts(both, np.array(sizes, dtype=np.int64), weigh)
        exact = ExactArray.from_counts(table)
        incomplete = _weight_by_group(np.any(both[:, 1:] < 0, axis=1), both[:, 0], n_groups, weigh)
        fixed = tuple(each or Vocabulary() for each in declared or [None] * len(levels))
        return cls.of_table(tuple(levels), exact.reshape(*sizes), incomplete, fixed)

    @classmethod
    def of_table(
        cls,
        levels: tuple[Vocabulary, ...],
        weight: ExactArray,
        incomplete: ExactArray,
        declared: tuple[Vocabulary, ...],
    ) -> JointCounts:
        """Joint counts from a table in any order of levels."""
        canonical = []
        for axis, vocabulary in enumerate(levels, start=1):
            others = tuple(k for k in range(len(levels) + 1) if k != axis)
            seen = np.asarray(~weight.is_zero().all(axis=others))
            if vocabulary.is_canonical and seen.all() and declared[axis - 1] in (Vocabulary(), vocabulary):
                canonical.append(vocabulary)
                continue
            names = Vocabulary.of(
                [*(level for level, kept in zip(vocabulary, seen, strict=True) if kept), *declared[axis - 1]]
            )
            positions = vocabulary.positions_in(names)
            kept = np.flatnonzero(positions >= 0)
            index = (*(slice(None),) * axis, kept)
            weight = weight[index].scatter_to(positions[kept], len(names), axis=axis)
            canonical.append(names)
        return cls(tuple(canonical), weight, incomplete, declared)

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.weight.sum(axis=tuple(range(1, len(self.weight.shape)))) + self.incomplete

    def merge(self, other: JointCounts) -> JointCounts:
        levels = united(self.levels, other.levels)
        declared = united_declared(self.declared, other.declared)
        weight = self._weight_over(levels) + other._weight_over(levels)
        return JointCounts(levels, weight, self.incomplete + other.incomplete, declared)

    def subtract(self, other: JointCounts) -> JointCounts:
        levels = united(self.levels, other.levels)
        weight = self._weight_over(levels) - other._weight_over(levels)
        incomplete = self.incomplete - other.incomplete
        refuse_negative([weight, incomplete], "the count of a combination")
        return JointCounts.of_table(levels, weight, incomplete, self.declared)

    def _canonical(self) -> JointCounts:
        return JointCounts.of_table(self.levels, self.weight, self.incomplete, self.declared)

    def _weight_over(self, levels: tuple[Vocabulary, ...]) -> ExactArray:
        weight = self.weight
        for axis, (mine, other) in enumerate(zip(self.levels, levels, strict=True), start=1):
            if mine != other:
                weight = weight.scatter_to(mine.positions_in(other), len(other), axis=axis)
        return weight

    def __repr__(self) -> str:
        sizes = " x ".join(str(len(vocabulary)) for vocabulary in self.levels)
        return f"JointCounts({self.weight_of_rows.sum().to_floats():g} rows, {sizes} cells)"


def _weight_by_group(
    chosen: BoolArray,
    groups: CodeArray,
    n_groups: int,
    weights: FloatArray | None,
) -> ExactArray:
    """The weight of the chosen rows in each group."""
    sums = _kernels.moments(
        np.asarray(chosen, dtype=np.float64)[:, None], np.ascontiguousarray(groups), n_groups, weights
    )
    return ExactArray.from_limbs(*sums[1])[:, 0]
