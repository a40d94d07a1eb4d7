"""A schema: what each column of a table means, decided once, frozen, and the same for every storage of one table.

It holds no count of rows and no level that was only observed, so it does not change when rows are learned or forgotten.

>>> from bayeswise.tables.schema.columns import Column
>>> size = Column("size", "category", "text", ["S", "M", "L"])
>>> schema = Schema((Column("age", "number"), size), Target("fits", "text"))
>>> schema.numbers, schema.categories, schema["size"].levels
(('age',), ('size',), Vocabulary('S', 'M', 'L'))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from bayeswise.foundation.arrays import IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.store.fields import added_later
from bayeswise.tables.schema.columns import KINDS, LABELLED, Column, Columns, Kind, check_choice, checked_levels
from bayeswise.tables.schema.labels import LABEL_TYPES, LabelType, Vocabulary
from bayeswise.tables.schema.names import check_name, find_name, normal_name, refuse_twin
from bayeswise.tables.schema.null_words import remembered


@dataclass(frozen=True)
class Target:
    """The column to be predicted: the type of its labels, and its classes if they were declared."""

    name: str
    labels: LabelType
    classes: Vocabulary | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        check_choice("labels", self.labels, LABEL_TYPES, self.name)
        object.__setattr__(self, "classes", checked_levels(self.name, self.classes, self.labels))


@dataclass(frozen=True)
class Schema:
    """The columns in the order of the table, the target and the weight apart.

    `null_words` are the words that mean "missing" in text files, None for the usual ones.
    """

    columns: Sequence[Column]
    target: Target | None = None
    weight: str | None = None
    null_words: tuple[str, ...] | None = added_later(None)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Columns):
            object.__setattr__(self, "columns", Columns(self.columns))
        object.__setattr__(self, "null_words", remembered(self.null_words))
        seen, apart = self._table.by_normal_name, dict[str, str]()
        for name in self._apart:
            refuse_twin(name, seen)
            refuse_twin(name, apart)
            apart[normal_name(name)] = name

    def with_forms(self, change: Callable[[Column], Column]) -> Schema:
        """The schema after a change of its columns that does not depend on their names."""
        return replace(self, columns=self._table.with_forms(change))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, then the target and the weight."""
        return (*self._table.names, *self._apart)

    @property
    def target_name(self) -> str:
        """The name of the target, for messages and pages."""
        return self.target.name if self.target else "?"

    @property
    def declared_classes(self) -> Vocabulary:
        """The classes that were declared; empty where rows say which there are."""
        return (self.target and self.target.classes) or Vocabulary()

    @property
    def _apart(self) -> tuple[str, ...]:
        """The names of the target and the weight."""
        apart = (self.target.name if self.target else None, self.weight)
        return tuple(name for name in apart if name is not None)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The columns of `Batch.values`."""
        return self._table.of_kind("number", "count")

    @cached_property
    def strict_numbers(self) -> tuple[int, ...]:
        """The columns of `Batch.values` in which a missing cell is an error, by position."""
        if not any(form.missing == "error" for form in self._table.forms):
            return ()
        return tuple(k for k, name in enumerate(self.numbers) if self[name].missing == "error")

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The columns of `Batch.codes`."""
        return self._table.of_kind(*LABELLED)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The columns of `Batch.texts`."""
        return self._table.of_kind("text")

    @cached_property
    def ignored(self) -> tuple[str, ...]:
        """The columns that no model sees."""
        return self._table.of_kind("ignored")

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The columns that a model sees, in the order of the table."""
        return self._table.of_kind(*(kind for kind in KINDS if kind != "ignored"))

    def of_kind(self, *kinds: Kind) -> tuple[str, ...]:
        """The names of the columns of some kinds."""
        return self._table.of_kind(*kinds)

    @property
    def forms(self) -> tuple[Column, ...]:
        """The first column of each form: what is true of all columns is seen by looking at these."""
        return self._table.forms

    @cached_property
    def form_of(self) -> dict[str, int]:
        """Which of the forms each column has."""
        return dict(zip(self._table.names, self._table.form_of, strict=True))

    def levels_of(self, columns: Iterable[str]) -> list[Vocabulary | None]:
        """The declared levels of some columns; thousands of columns share those of their form."""
        levels = [form.levels for form in self.forms]
        return [levels[form] for form in map(self.form_of.__getitem__, columns)]

    @property
    def _table(self) -> Columns:
        assert isinstance(self.columns, Columns)
        return self.columns

    @cached_property
    def _positions(self) -> dict[str, int]:
        return dict(zip(self._table.names, range(len(self.columns)), strict=True))

    def __getitem__(self, name: str) -> Column:
        if name not in self._positions:
            name = find_name(name, self._positions, where="the schema")
        return self.columns[self._positions[name]]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        apart = [f"target={self.target.name!r}"] if self.target else []
        apart += [f"weight={self.weight!r}"] if self.weight else []
        return f"Schema({', '.join([*map(repr, self.columns), *apart])})"


def positions_in(names: Sequence[str], some: Sequence[str]) -> IntArray:
    """(n_some,) the positions of some names among all names.

    >>> positions_in(("a", "b", "c"), ("c", "a")).tolist()
    [2, 0]
    """
    if names is some or names == some:
        return np.arange(len(names), dtype=np.int64)
    position = dict(zip(names, range(len(names)), strict=True))
    return np.array([position[name] for name in some], dtype=np.int64)
