"""How often each level of each of many category columns was seen: one table for all of them.

Tables of 20,000 columns have few different sets of levels. Work is done for each of these, not for each column.

A sweep numbers levels as it meets them, so that the codes of one batch mean the same in the next: `CodedCounts` are by
code, and brought into canonical order once, at its end. Sorting the levels of every batch would take longer than
counting them, where there are many.

Many classes of many levels are mostly zeros. Such a table is sparse (`foundation/sparse.py`): what it takes grows with
the rows, and not with classes times levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import ClassVar, TypeAlias

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.errors import KindError, SchemaError
from bayeswise.foundation.exact import ExactArray, side_by_side
from bayeswise.foundation.sparse import SparseExact, Table, as_sparse, fitting, is_sparse
from bayeswise.statistics.counts.level_counts import Counts
from bayeswise.statistics.protocol import Additive, refuse_amounts, refuse_levels, refuse_negative
from bayeswise.tables.schema.labels import Vocabulary

Form: TypeAlias = tuple[Vocabulary, Vocabulary]  # levels, and those of them that were declared


@dataclass(frozen=True)
class ColumnLevels:
    """The levels of each column, as the few forms that they have, and where a table has them.

    The slots of a table are the levels of the first column, then its missing cells, then those of the next column.

    >>> colours = (Vocabulary(["blue", "red"]), Vocabulary())
    >>> levels = ColumnLevels(("hat", "shoe"), (colours,), (0, 0))
    >>> levels.starts.tolist(), levels.n_slots
    ([0, 3], 6)
    """

    names: tuple[str, ...]
    forms: tuple[Form, ...]  # those that differ, in the order of the first column that has each
    form_of: tuple[int, ...]  # (n_columns,) which form each column has

    def __post_init__(self) -> None:
        if len(self.form_of) != len(self.names):
            raise SchemaError("columns and their forms do not match in number")

    @classmethod
    def of(
        cls, names: tuple[str, ...], levels: Sequence[Vocabulary], declared: Sequence[Vocabulary | None]
    ) -> ColumnLevels:
        """From the levels of each column; columns may share theirs."""
        pairs = dict(zip(zip(map(id, levels), map(id, declared), strict=True), range(len(levels)), strict=True))
        known = dict(zip(pairs, range(len(pairs)), strict=True))
        forms = [(levels[k], declared[k] or Vocabulary()) for k in pairs.values()]
        form_of = list(map(known.__getitem__, zip(map(id, levels), map(id, declared), strict=True)))
        return cls.of_forms(names, forms, np.array(form_of, dtype=np.int64))

    @classmethod
    def of_forms(cls, names: tuple[str, ...], forms: Sequence[Form], form_of: IntArray) -> ColumnLevels:
        """From forms in any order, of which some may be equal and some unused."""
        form_of = _first_equal(forms)[form_of]
        used, first = np.unique(form_of, return_index=True)
        in_order = used[np.argsort(first)]
        place = np.zeros(len(forms), dtype=np.int64)
        place[in_order] = np.arange(len(in_order))
        return cls(names, tuple(forms[k] for k in in_order.tolist()), tuple(place[form_of].tolist()))

    def refuse_impossible(self) -> None:
        for levels, declared in self.forms:
            refuse_levels(levels, declared)
        if len(set(self.names)) != len(self.names) or not self.names:
            raise SchemaError("counted columns must have names that differ")
        inside = set(self.form_of) <= set(range(len(self.forms)))
        if not inside or ColumnLevels.of_forms(self.names, self.forms, self.form_of_columns) != self:
            raise SchemaError("the forms of counted columns are not in order")

    # -- where things are ---------------------------------------------------------------------------------------
    @cached_property
    def form_of_columns(self) -> IntArray:
        return np.array(self.form_of, dtype=np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """(n_columns,) how many levels each column has."""
        return np.array([len(levels) for levels, _ in self.forms], dtype=np.int64)[self.form_of_columns]

    @cached_property
    def starts(self) -> IntArray:
        """(n_columns,) the first slot of each column."""
        return np.concatenate([[0], np.cumsum(self.sizes + 1)])[:-1].astype(np.int64)

    @property
    def n_slots(self) -> int:
        return int((self.sizes + 1).sum())

    @cached_property
    def positions(self) -> dict[str, int]:
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @property
    def each(self) -> list[Vocabulary]:
        """The levels of each column."""
        levels = [levels for levels, _ in self.forms]
        return list(map(levels.__getitem__, self.form_of))

    def slots(self, columns: IntArray, n: int) -> IntArray:
        """(n_columns, n) the first slots of each of some columns."""
        return np.asarray(self.starts[columns][:, None] + np.arange(n))

    # -- two of them --------------------------------------------------------------------------------------------
    def pairs(self, other: ColumnLevels) -> Iterator[tuple[Form, Form, IntArray]]:
        """The forms of columns here and there, and the columns that have both."""
        if self.names != other.names:
            raise KindError(
                "the statistics count different columns", fix="summarise both tables by the same schema and request"
            )
        both = self.form_of_columns * max(len(other.forms), 1) + other.form_of_columns
        found, which = np.unique(both, return_inverse=True)
        by_pair = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which, minlength=len(found)))[:-1])
        for pair, columns in zip(found.tolist(), by_pair, strict=False):
            mine, theirs = divmod(pair, len(other.forms))
            yield self.forms[mine], other.forms[theirs], columns

    def union(self, other: ColumnLevels) -> ColumnLevels:
        """The levels of both, in canonical order."""
        forms: list[Form] = []
        form_of = np.empty(len(self.names), dtype=np.int64)
        for mine, theirs, columns in self.pairs(other):
            form_of[columns] = len(forms)
            forms.append((mine[0].union(theirs[0]), mine[1].union(theirs[1])))
        return ColumnLevels.of_forms(self.names, forms, form_of)

    def moved(self, table: Table, other: ColumnLevels) -> Table:
        """A table of these levels as one of the others; slots that are not among them are left out."""
        if self == other:
            return table
        places = np.full(self.n_slots, -1, dtype=np.int64)
        for (mine, _), (theirs, _), columns in self.pairs(other):
            inside = np.append(mine.positions_in(theirs), len(theirs))  # missing cells come last
            there = other.starts[columns][:, None] + inside
            places[self.slots(columns, len(mine) + 1)] = np.where(inside >= 0, there, -1)
        if isinstance(table, SparseExact):
            return table.moved(places, other.n_slots)
        kept = np.flatnonzero(places >= 0)
        return table[:, kept].scatter_to(places[kept], other.n_slots, axis=1)

    def settled(self, table: Table) -> tuple[ColumnLevels, Table]:
        """In canonical order, and without levels that no row shows unless they were declared."""
        seen = table.is_seen() if isinstance(table, SparseExact) else np.asarray(~table.is_zero().all(axis=0))
        forms: list[Form] = []
        form_of = np.empty(len(self.names), dtype=np.int64)
        for k, (levels, declared) in enumerate(self.forms):
            columns = np.flatnonzero(self.form_of_columns == k)
            for shown, alike in _alike(seen[self.slots(columns, len(levels))]):
                form_of[columns[alike]] = len(forms)
                forms.append((_canonical(levels, declared, shown), declared))
        found = ColumnLevels.of_forms(self.names, forms, form_of)
        return (self, table) if found == self else (found, self.moved(table, found))


def _canonical(levels: Vocabulary, declared: Vocabulary, shown: BoolArray) -> Vocabulary:
    if levels.is_canonical and (levels == declared or (not declared and shown.all())):
        return levels
    found = declared.union(Vocabulary.trusted(tuple(compress(levels, shown))))
    return levels if found == levels else found


def _alike(shown: BoolArray) -> Iterator[tuple[BoolArray, IntArray]]:
    """The different rows, and where each is; most columns show all of their levels."""
    full = shown.all(axis=1)
    if full.any():
        yield shown[np.argmax(full)], np.flatnonzero(full)
    rest = np.flatnonzero(~full)
    if len(rest):
        kinds, which = np.unique(shown[rest], axis=0, return_inverse=True)
        for k, kind in enumerate(kinds):
            yield kind, rest[which.ravel() == k]


def _first_equal(forms: Sequence[Form]) -> IntArray:
    """(n_forms,) the first form that equals each; only those that look alike are compared label by label."""
    known: dict[object, list[int]] = {}
    first = np.arange(len(forms), dtype=np.int64)
    for k, (levels, declared) in enumerate(forms):
        look = (len(levels), len(declared), levels.labels[:1], levels.labels[-1:])
        same = known.setdefault(look, [])
        equal = next((j for j in same if forms[j] == (levels, declared)), None)
        if equal is None:
            same.append(k)
        else:
            first[k] = equal
    return first


@dataclass(frozen=True)
class ColumnCounts(Additive):
    """The counts of many columns; one column's are made when they are asked for.

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
        return _weight_of_rows(self.table, self.levels)

    def settled(self) -> ColumnCounts:
        """In canonical order, as they are already."""
        return self

    def merge(self, other: ColumnCounts) -> ColumnCounts:
        other = other.settled()
        levels = self.levels.union(other.levels)
        return ColumnCounts(levels, _merged(_over(self, other, levels)))

    def subtract(self, other: ColumnCounts) -> ColumnCounts:
        union = self.levels.union(other.levels)
        kept = [declared for _, declared in self.levels.forms]  # what the other one declares is not taken over
        levels = ColumnLevels.of(union.names, union.each, [kept[k] for k in self.levels.form_of])
        mine, theirs = _over(self, other, levels)
        table: Table = mine.subtract(as_sparse(theirs)) if isinstance(mine, SparseExact) else mine - theirs  # type: ignore[operator]
        refuse_negative([table.values if isinstance(table, SparseExact) else table], "the count of a level")
        return ColumnCounts(*levels.settled(table))

    def regroup(self, positions: IntArray, n_groups: int) -> ColumnCounts:
        return replace(self, table=_regrouped(self.table, positions, n_groups))

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
            return cls(known, _counted_by_place(codes, known, groups, n_groups, weights))
        counted = _kernels.counts(codes, known.sizes, groups, n_groups, weights)
        return cls(known, ExactArray.from_counts(counted))

    def settled(self) -> ColumnCounts:
        """The counts of each column, levels in canonical order."""
        return ColumnCounts(*self.levels.settled(self.table))

    @property
    def weight_of_rows(self) -> ExactArray:
        return _weight_of_rows(self.table, self.levels)

    def merge(self, other: CodedCounts | ColumnCounts) -> CodedCounts | ColumnCounts:
        """The codes of both, if those of the one go on where the other's end; else in canonical order."""
        if isinstance(other, ColumnCounts):
            return self.settled().merge(other)
        forms: list[Form] = []
        form_of = np.empty(len(self.levels.names), dtype=np.int64)
        for (mine, declared), (theirs, _), columns in self.levels.pairs(other.levels):
            longer = _longer(mine, theirs)
            if longer is None:
                return self.settled().merge(other.settled())
            form_of[columns] = len(forms)
            forms.append((longer, declared))
        levels = ColumnLevels.of_forms(self.levels.names, forms, form_of)
        return CodedCounts(levels, fitting(_merged(_over(self, other, levels))))

    def regroup(self, positions: IntArray, n_groups: int) -> CodedCounts:
        return replace(self, table=_regrouped(self.table, positions, n_groups))

    def take(self, groups: IntArray) -> CodedCounts:
        table = self.table
        return replace(self, table=table.take(groups) if isinstance(table, SparseExact) else table[groups])


# -- tables in either form --------------------------------------------------------------------------------------
def _weight_of_rows(table: Table, levels: ColumnLevels) -> ExactArray:
    """(n_groups,) from the first column: each row has one cell in it."""
    end = int(levels.sizes[0]) + 1
    return table.sum_of_rows(0, end) if isinstance(table, SparseExact) else table[:, :end].sum(axis=1)


def _n_held(table: Table) -> int:
    return len(table.places) if isinstance(table, SparseExact) else table.shape[0] * table.shape[1]


def _over(
    one: CodedCounts | ColumnCounts, other: CodedCounts | ColumnCounts, levels: ColumnLevels
) -> tuple[ExactArray, ExactArray] | tuple[SparseExact, SparseExact]:
    """Both tables over the same levels, in one form: a table that will be sparse is never spread out before."""
    tables = (one.table, other.table)
    n_held = sum(map(_n_held, tables))
    if any(isinstance(each, SparseExact) for each in tables) or is_sparse(tables[0].shape[0] * levels.n_slots, n_held):
        mine, theirs = map(as_sparse, tables)
        return as_sparse(one.levels.moved(mine, levels)), as_sparse(other.levels.moved(theirs, levels))
    here, there = one.levels.moved(one.table, levels), other.levels.moved(other.table, levels)
    return here, there  # type: ignore[return-value]  # neither is sparse


def _merged(tables: tuple[ExactArray, ExactArray] | tuple[SparseExact, SparseExact]) -> Table:
    mine, theirs = tables
    return mine.merge(as_sparse(theirs)) if isinstance(mine, SparseExact) else mine + theirs  # type: ignore[operator]


def _regrouped(table: Table, positions: IntArray, n_groups: int) -> Table:
    if isinstance(table, SparseExact) or is_sparse(n_groups * table.shape[1], _n_held(table)):
        return as_sparse(table).regroup(positions, n_groups)
    return table.scatter_to(positions, n_groups)


def _counted_by_place(
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
            _kernels.counts(codes[rows], levels.sizes, np.minimum(group, 0).astype(np.int32), 1, None)  # says which
        kept = np.flatnonzero(group >= 0)
        slots = np.where(part >= 0, part, levels.sizes) + levels.starts  # missing cells come last
        places = (group[kept, None] * levels.n_slots + slots[kept]).ravel()
        weigh = None if weights is None else np.repeat(weights[rows][kept], codes.shape[1])
        parts.append(SparseExact.counted(shape, places, weigh))
    both = side_by_side([part.values for part in parts])
    return SparseExact.summed(shape, np.concatenate([part.places for part in parts]), both)


_CELLS_AT_A_TIME = 1 << 20


def _longer(one: Vocabulary, other: Vocabulary) -> Vocabulary | None:
    """The one that goes on where the other ends; None if neither does."""
    if one is other:
        return one
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    return long if Vocabulary.trusted(long.labels[: len(short)]) == short else None
