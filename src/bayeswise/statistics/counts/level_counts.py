"""How often each level of a category column was seen in each group."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from itertools import compress

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.protocol import Additive, refuse_amounts, refuse_levels, refuse_negative
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True)
class Counts(Additive):
    """The weight of each level; levels stand in canonical order and vanish with their last row unless declared.

    >>> seen = Counts.of(np.array([0, 1, 1, -1], dtype=np.int32), Vocabulary(["red", "blue"]))
    >>> seen
    Counts(blue=2, red=1, missing=1)
    """

    levels: Vocabulary  # in canonical order
    weight: ExactArray  # (n_groups, n_levels)
    missing: ExactArray  # (n_groups,) the weight of rows whose cell is missing
    declared: Vocabulary = field(default_factory=Vocabulary)

    sums = ("weight", "missing")

    def __post_init__(self) -> None:
        if len(self.missing.shape) != 1 or self.weight.shape != (*self.missing.shape, len(self.levels)):
            raise SchemaError("counts, levels and groups do not match in number")

    def refuse_impossible(self) -> None:
        refuse_levels(self.levels, self.declared)
        refuse_amounts([self.weight, self.missing, self.weight.sum(axis=0)], "the count of a level")

    @classmethod
    def of(
        cls,
        codes: CodeArray,
        levels: Vocabulary,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: Vocabulary | None = None,
    ) -> Counts:
        """Codes counted by level and group; -1 is missing, a negative group is left out."""
        return cls.of_columns(codes[:, None], [levels], groups, n_groups, weights, [declared])[0]

    @classmethod
    def of_columns(
        cls,
        codes: CodeArray,
        levels: list[Vocabulary],
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: list[Vocabulary | None] | None = None,
    ) -> list[Counts]:
        """The counts of several columns in one sweep; codes is (n_rows, n_columns)."""
        sizes = np.array([len(vocabulary) for vocabulary in levels], dtype=np.int64)
        exact = ExactArray.from_counts(_kernels.counts(codes, sizes, groups, n_groups, weights))
        starts = np.concatenate([[0], np.cumsum(sizes + 1)])
        declarations = declared or [None] * len(levels)
        return [
            cls.of_table(
                levels[c], exact[:, starts[c] : starts[c] + sizes[c]], exact[:, starts[c] + sizes[c]], declarations[c]
            )
            for c in range(len(levels))
        ]

    @classmethod
    def of_table(
        cls, levels: Vocabulary, weight: ExactArray, missing: ExactArray, declared: Vocabulary | None = None
    ) -> Counts:
        """Counts from a table in any order of levels."""
        fixed = declared or Vocabulary()
        if fixed == levels and levels.is_canonical:
            return cls(levels, weight, missing, fixed)
        seen = np.asarray(~weight.is_zero().all(axis=0))
        if not fixed and seen.all() and levels.is_canonical:
            return cls(levels, weight, missing, fixed)
        canonical = fixed.union(Vocabulary.trusted(tuple(compress(levels, seen))))
        positions = levels.positions_in(canonical)
        kept = np.flatnonzero(positions >= 0)
        moved = weight[:, kept].scatter_to(positions[kept], len(canonical), axis=1)
        return cls(canonical, moved, missing, fixed)

    @classmethod
    def empty(cls, n_groups: int = 1, declared: Vocabulary | None = None) -> Counts:
        """The counts of no rows; one value stands for all columns that declare no level."""
        return cls._of_no_rows(n_groups, declared) if declared else _of_no_rows_or_levels(n_groups)

    @classmethod
    def _of_no_rows(cls, n_groups: int, declared: Vocabulary | None) -> Counts:
        nothing = ExactArray.zeros((n_groups, 0))
        return cls.of_table(Vocabulary(), nothing, ExactArray.zeros(n_groups), declared)

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.weight.sum(axis=1) + self.missing

    def zero(self) -> Counts:
        return Counts.empty(self.missing.shape[0], self.declared)

    def merge(self, other: Counts) -> Counts:
        levels = self.levels.union(other.levels)
        weight = self._weight_over(levels) + other._weight_over(levels)
        return Counts(levels, weight, self.missing + other.missing, self.declared.declared_with(other.declared))

    def subtract(self, other: Counts) -> Counts:
        levels = self.levels.union(other.levels)
        weight = self._weight_over(levels) - other._weight_over(levels)
        missing = self.missing - other.missing
        refuse_negative([weight, missing], "the count of a level")
        return Counts.of_table(levels, weight, missing, self.declared)

    def _canonical(self) -> Counts:
        return Counts.of_table(self.levels, self.weight, self.missing, self.declared)

    def _weight_over(self, levels: Vocabulary) -> ExactArray:
        if levels == self.levels:
            return self.weight
        return self.weight.scatter_to(self.levels.positions_in(levels), len(levels), axis=1)

    def __repr__(self) -> str:
        totals = self.weight.sum(axis=0).to_floats()
        parts = [f"{level}={total:g}" for level, total in zip(self.levels, totals, strict=True)]
        missing = float(self.missing.sum().to_floats())
        return f"Counts({', '.join(parts + ([f'missing={missing:g}'] if missing else []))})"


@lru_cache(maxsize=64)
def _of_no_rows_or_levels(n_groups: int) -> Counts:
    return Counts._of_no_rows(n_groups, None)
