"""The levels of many category columns, and where one table of their counts has each of them.

Tables of 20,000 columns have few different sets of levels. Work is done for each of these, not for each column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress
from typing import TypeAlias

import numpy as np

from bayeswise.foundation.arrays import BoolArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, SchemaError
from bayeswise.foundation.sparse import SparseExact, Table
from bayeswise.statistics.protocol import refuse_levels
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
            forms.append((mine[0].union(theirs[0]), mine[1].declared_with(theirs[1])))
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
        rows = np.ascontiguousarray(shown[rest]).view(np.dtype((np.void, shown.shape[1]))).ravel()  # one item each
        kinds, which = np.unique(rows, return_inverse=True)
        for k, kind in enumerate(kinds.view(np.bool_).reshape(len(kinds), -1)):
            yield kind, rest[which == k]


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
