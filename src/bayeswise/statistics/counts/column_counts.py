"""How often each level of each of many category columns was seen: one table for all of them.

A sweep numbers levels as it meets them, so that the codes of one batch mean the same in the next: `CodedCounts` are by
code, and brought into canonical order once, at its end. Sorting the levels of every batch would take longer than
counting them, where there are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import ClassVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray, side_by_side
from bayeswise.foundation.sparse import SparseExact, Table, as_sparse, fitting, is_sparse
from bayeswise.statistics.counts.column_levels import ColumnLevels, Form
from bayeswise.statistics.counts.level_counts import Counts
from bayeswise.statistics.protocol import Additive, refuse_amounts, refuse_negative
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True)
class ColumnCounts(Additive):
    """The counts of many columns; one column's are made on demand.

    >>> colours = (Vocabulary(["blue", "red"]), Vocabulary())
    >>> levels = ColumnLevels(("hat", "shoe"), (colours,), (0, 0))
    >>> counts = ColumnCounts(levels, ExactArray.from_integers([[2, 1, 0, 1, 1, 1]]))
    >>> counts["hat"], counts["shoe"]
    (Counts(blue=2, red=1), Counts(blue=1, red=1, missing=1))
    """

    levels: ColumnLevels  # each in canonical order
    table: Table  # (n_groups, n_slots)
    sums: ClassVar[tuple[str, ...]] = ("table",)

    def __post_init__(self) -> None:
        if len(self.table.shape) != 2 or self.table.shape[1] != self.levels.n_slots:
            raise SchemaError("counts, levels and groups do not match in number")
        object.__setattr__(self, "table", fitting(self.table))  # equal counts have one form, and so equal bytes

    def refuse_impossible(self) -> None:
        if isinstance(self.table, SparseExact):
            amounts = [self.table.values, self.table.sum_of_columns()]
        else:
            amounts = [self.table, self.table.sum(axis=0)]
        refuse_amounts(amounts, "the count of a level")

    def __getitem__(self, name: str) -> Counts:
        column = self.levels.positions[name]
        levels, declared = self.levels.forms[self.levels.form_of[column]]
        start = int(self.levels.starts[column])
        end = start + len(levels)
        if isinstance(self.table, SparseExact):
            own = self.table.dense(start, end + 1)
            return Counts(levels, own[:, :-1], own[:, -1], declared)
        return Counts(levels, self.table[:, start:end], self.table[:, end], declared)

    def __iter__(self) -> Iterator[str]:
        return iter(self.levels.names)

    @property
    def weight_of_rows(self) -> ExactArray:
        return weight_of_first_column(self.table, self.levels)

    def settled(self) -> ColumnCounts:
        """In canonical order, as they are already."""
        return self

    def merge(self, other: ColumnCounts) -> ColumnCounts:
        other = other.settled()
        levels = self.levels.union(other.levels)
        return ColumnCounts(levels, merged(over_levels((self.table, other.table), (self.levels, other.levels), levels)))

    def subtract(self, other: ColumnCounts) -> ColumnCounts:
        union = self.levels.union(other.levels)
        kept = [declared for _, declared in self.levels.forms]  # what the other one declares is not taken over
        levels = ColumnLevels.of(union.names, union.each, [kept[k] for k in self.levels.form_of])
        mine, theirs = over_levels((self.table, other.table), (self.levels, other.levels), levels)
        table: Table = mine.subtract(as_sparse(theirs)) if isinstance(mine, SparseExact) else mine - theirs  # type: ignore[operator]
        refuse_negative([table.values if isinstance(table, SparseExact) else table], "the count of a level")
        return ColumnCounts(*levels.settled(table))

    def regroup(self, positions: IntArray, n_groups: int) -> ColumnCounts:
        return replace(self, table=regrouped(self.table, positions, n_groups))

    def without_unseen(self) -> ColumnCounts | None:
        """Those of the levels that occur, none of them declared; None if a cell is missing.

        >>> levels = ColumnLevels(("hat",), ((Vocabulary(range(3)), Vocabulary()),), (0,))
        >>> ColumnCounts(levels, ExactArray.from_integers([[2, 0, 1, 0]])).without_unseen()
        ColumnCounts(hat: Counts(0=2, 2=1))
        """
        ends = self.levels.starts + self.levels.sizes  # where missing cells are counted
        if isinstance(self.table, SparseExact) or not self.table[:, ends].is_zero().all():
            return None
        occurs = np.logical_not(np.all(self.table.is_zero(), axis=0, keepdims=True))[0]
        known: dict[tuple[int, bytes], Vocabulary] = {}  # columns with the same levels share them
        found = []
        for start, end, form in zip(self.levels.starts, ends, self.levels.form_of, strict=True):
            seen = occurs[start:end]
            if (form, seen.tobytes()) not in known:
                kept = tuple(compress(self.levels.forms[form][0], seen.tolist()))
                known[form, seen.tobytes()] = Vocabulary.trusted(kept)
            found.append(known[form, seen.tobytes()])
        occurs[ends] = True
        levels = ColumnLevels.of(self.levels.names, found, [None] * len(found))
        return ColumnCounts(levels, self.table[:, np.flatnonzero(occurs)])

    def _canonical(self) -> ColumnCounts:
        return ColumnCounts(*self.levels.settled(self.table))

    def __repr__(self) -> str:
        return f"ColumnCounts({', '.join(f'{name}: {self[name]!r}' for name in self)})"


@dataclass(frozen=True)
class CodedCounts:
    """The weight of each code of each column, and of its missing cells.

    >>> codes = np.array([[0], [1], [1]], dtype=np.int32)
    >>> seen = CodedCounts.of(["colour"], codes, [Vocabulary(["red", "blue"])])
    >>> more = CodedCounts.of(["colour"], codes + 1, [Vocabulary(["red", "blue", "green"])])
    >>> seen.merge(more).settled()["colour"]
    Counts(blue=3, green=2, red=1)
    """

    levels: ColumnLevels  # by code
    table: Table  # (n_groups, n_slots)

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
        known = ColumnLevels.of(tuple(names), levels, declared or [None] * len(levels))
        if is_sparse(n_groups * known.n_slots, codes.size):
            return cls(known, counted_by_place(codes, known, groups, n_groups, weights))
        counted = _kernels.counts(codes, known.sizes, groups, n_groups, weights)
        return cls(known, ExactArray.from_counts(counted))

    def settled(self) -> ColumnCounts:
        """The counts of each column, levels in canonical order."""
        return ColumnCounts(*self.levels.settled(self.table))

    @property
    def weight_of_rows(self) -> ExactArray:
        return weight_of_first_column(self.table, self.levels)

    def merge(self, other: CodedCounts | ColumnCounts) -> CodedCounts | ColumnCounts:
        """The codes of both, if those of the one go on where the other's end; else in canonical order."""
        if isinstance(other, ColumnCounts):
            return self.settled().merge(other)
        levels = self.levels if self.levels == other.levels else self._longer_levels(other)
        if levels is None:
            return self.settled().merge(other.settled())
        return CodedCounts(
            levels, fitting(merged(over_levels((self.table, other.table), (self.levels, other.levels), levels)))
        )

    def _longer_levels(self, other: CodedCounts) -> ColumnLevels | None:
        """The codes of both; None if those of neither go on where the other's end."""
        forms: list[Form] = []
        form_of = np.empty(len(self.levels.names), dtype=np.int64)
        for (mine, declared), (theirs, _), columns in self.levels.pairs(other.levels):
            longer = _longer(mine, theirs)
            if longer is None:
                return None
            form_of[columns] = len(forms)
            forms.append((longer, declared))
        return ColumnLevels.of_forms(self.levels.names, forms, form_of)

    def regroup(self, positions: IntArray, n_groups: int) -> CodedCounts:
        return replace(self, table=regrouped(self.table, positions, n_groups))

    def take(self, groups: IntArray) -> CodedCounts:
        table = self.table
        return replace(self, table=table.take(groups) if isinstance(table, SparseExact) else table[groups])


def _longer(one: Vocabulary, other: Vocabulary) -> Vocabulary | None:
    """The one that goes on where the other ends; None if neither does."""
    if one is other:
        return one
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    return long if short.begins(long) else None


# -- counts that are mostly zero ------------------------------------------------------------------------------


_CELLS_AT_A_TIME = 1 << 20


def counted_by_place(
    codes: CodeArray, levels: ColumnLevels, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
) -> SparseExact:
    """Counts of a table of which the rows fill a small part: sorted, some rows at a time, and not looked up."""
    shape = (n_groups, levels.n_slots)
    step = max(1, _CELLS_AT_A_TIME // max(codes.shape[1], 1))
    parts = []
    for start in range(0, max(len(codes), 1), step):
        rows = slice(start, start + step)
        part = codes[rows].astype(np.int64)
        group = np.zeros(len(part), np.int64) if groups is None else groups[rows].astype(np.int64)
        if ((part < -1) | (part >= levels.sizes)).any():
            _kernels.counts(
                codes[rows], levels.sizes, np.minimum(group, 0).astype(np.int32), 1, None
            )  # raises the error
        kept = np.flatnonzero(group >= 0)
        slots = np.where(part >= 0, part, levels.sizes) + levels.starts  # missing cells come last
        places = (group[kept, None] * levels.n_slots + slots[kept]).ravel()
        weigh = None if weights is None else np.repeat(weights[rows][kept], codes.shape[1])
        parts.append(SparseExact.counted(shape, places, weigh))
    both = side_by_side([part.values for part in parts])
    return SparseExact.summed(shape, np.concatenate([part.places for part in parts]), both)


def weight_of_first_column(table: Table, levels: ColumnLevels) -> ExactArray:
    """(n_groups,) from the first column: each row has one cell in it."""
    end = int(levels.sizes[0]) + 1
    return table.sum_of_rows(0, end) if isinstance(table, SparseExact) else table[:, :end].sum(axis=1)


def _n_held(table: Table) -> int:
    return len(table.places) if isinstance(table, SparseExact) else table.shape[0] * table.shape[1]


def over_levels(
    tables: tuple[Table, Table], held: tuple[ColumnLevels, ColumnLevels], levels: ColumnLevels
) -> tuple[ExactArray, ExactArray] | tuple[SparseExact, SparseExact]:
    """Both tables over the same levels, in one form: a table that will be sparse is never spread out before."""
    n_held = sum(map(_n_held, tables))
    if any(isinstance(each, SparseExact) for each in tables) or is_sparse(tables[0].shape[0] * levels.n_slots, n_held):
        mine, theirs = map(as_sparse, tables)
        return as_sparse(held[0].moved(mine, levels)), as_sparse(held[1].moved(theirs, levels))
    here, there = held[0].moved(tables[0], levels), held[1].moved(tables[1], levels)
    return here, there  # type: ignore[return-value]  # neither is sparse


def merged(tables: tuple[ExactArray, ExactArray] | tuple[SparseExact, SparseExact]) -> Table:
    """The sum of two tables over the same levels."""
    mine, theirs = tables
    return mine.merge(as_sparse(theirs)) if isinstance(mine, SparseExact) else mine + theirs  # type: ignore[operator]


def regrouped(table: Table, positions: IntArray, n_groups: int) -> Table:
    """The same counts, each group at its position among n_groups."""
    if isinstance(table, SparseExact) or is_sparse(n_groups * table.shape[1], _n_held(table)):
        return as_sparse(table).regroup(positions, n_groups)
    return table.scatter_to(positions, n_groups)
