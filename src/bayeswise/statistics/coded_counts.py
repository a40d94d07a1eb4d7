"""Counts of category columns while a sweep goes on: by code, and brought into canonical order once, at its end.

A sweep numbers levels as it meets them, so that the codes of one batch mean the same in the next. Sorting the levels of
every batch would take longer than counting them, where there are many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.counts import Counts
from bayeswise.statistics.product import Product
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True)
class CodedCounts:
    """The weight of each code of each column, and of its missing cells.

    >>> codes = np.array([[0], [1], [1]], dtype=np.int32)
    >>> seen = CodedCounts.of(["colour"], codes, [Vocabulary(["red", "blue"])])
    >>> more = CodedCounts.of(["colour"], codes + 1, [Vocabulary(["red", "blue", "green"])])
    >>> seen.merge(more).settled()["colour"]
    Counts(blue=3, green=2, red=1)
    """

    names: tuple[str, ...]
    levels: tuple[Vocabulary, ...]  # by code
    table: ExactArray  # (n_groups, n_slots): the levels of a column, then its missing cells, column by column
    declared: tuple[Vocabulary | None, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        codes: CodeArray,
        levels: Sequence[Vocabulary],
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: Sequence[Vocabulary | None] | None = None,
    ) -> CodedCounts:
        """The counts of several columns in one sweep; codes is (n_rows, n_columns), -1 is missing."""
        sizes = np.array([len(vocabulary) for vocabulary in levels], dtype=np.int64)
        table = ExactArray.from_counts(_kernels.counts(codes, sizes, groups, n_groups, weights))
        return cls(tuple(names), tuple(levels), table, tuple(declared or [None] * len(levels)))

    def settled(self) -> Product:
        """The counts of each column by name, levels in canonical order."""
        counts: dict[str, Counts] = {}
        for name, levels, start, fixed in zip(
            self.names, self.levels, _starts(self.levels), self.declared, strict=True
        ):
            end = start + len(levels)
            counts[name] = Counts.of_table(levels, self.table[:, start:end], self.table[:, end], fixed)
        return Product(counts)

    @property
    def parts(self) -> Mapping[str, Any]:
        """As of a product, so that counts of other codes can be merged with these."""
        return self.settled().parts

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.table[:, : len(self.levels[0]) + 1].sum(axis=1)

    def merge(self, other: CodedCounts | Product) -> CodedCounts | Product:
        """The codes of both, if those of the one go on where the other's end; else in canonical order."""
        if isinstance(other, Product):
            return self.settled().merge(other)
        levels = [_longer(mine, theirs) for mine, theirs in zip(self.levels, other.levels, strict=True)]
        known = tuple(each for each in levels if each is not None)
        if len(known) < len(levels):
            return self.settled().merge(other.settled())
        table = _moved(self.table, self.levels, known) + _moved(other.table, other.levels, known)
        return replace(self, levels=known, table=table)

    def regroup(self, positions: IntArray, n_groups: int) -> CodedCounts:
        return replace(self, table=self.table.scatter_to(positions, n_groups))

    def take(self, groups: IntArray) -> CodedCounts:
        return replace(self, table=self.table[groups])


def _starts(levels: Sequence[Vocabulary]) -> list[int]:
    """The first slot of each column."""
    return [0, *accumulate(len(each) + 1 for each in levels)][:-1]


def _longer(one: Vocabulary, other: Vocabulary) -> Vocabulary | None:
    """The one that goes on where the other ends; None if neither does."""
    if one is other:
        return one
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    return long if Vocabulary.trusted(long.labels[: len(short)]) == short else None


def _moved(table: ExactArray, levels: Sequence[Vocabulary], wanted: Sequence[Vocabulary]) -> ExactArray:
    """The table with room for more levels."""
    if all(len(mine) == len(theirs) for mine, theirs in zip(levels, wanted, strict=True)):
        return table
    places = [
        np.append(np.arange(start, start + len(mine)), start + len(theirs))
        for mine, theirs, start in zip(levels, wanted, _starts(wanted), strict=True)
    ]
    return table.scatter_to(np.concatenate(places), sum(len(each) + 1 for each in wanted), axis=1)
