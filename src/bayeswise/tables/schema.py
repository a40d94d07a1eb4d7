"""A schema: what each column of a table means, decided once, frozen, and the same for every storage of one table.

It holds no count of rows and no level that was only observed, so it does not change when rows are learned or forgotten.

>>> size = Column("size", "category", "text", ["S", "M", "L"])
>>> schema = Schema((Column("age", "number"), size), Target("fits", "text"))
>>> schema.numbers, schema.categories, schema["size"].levels
(('age',), ('size',), Vocabulary('S', 'M', 'L'))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from bayeswise.foundation.errors import ParameterError, SchemaError
from bayeswise.store.fields import added_later
from bayeswise.tables.label_types import LABEL_TYPES, LabelType, as_levels
from bayeswise.tables.labels import Label, Vocabulary
from bayeswise.tables.names import find_name, normal_name
from bayeswise.tables.null_words import remembered

Kind: TypeAlias = Literal["number", "count", "category", "binary", "text", "ignored"]
MissingPolicy: TypeAlias = Literal["ignore", "level", "error"]
UnseenPolicy: TypeAlias = Literal["smooth", "ignore", "error"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MISSING_POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
UNSEEN_POLICIES: tuple[UnseenPolicy, ...] = get_args(UnseenPolicy)
LABELLED: tuple[Kind, ...] = ("category", "binary")


@dataclass(frozen=True)
class Column:
    """What one column means.

    `labels` is the type of the labels of a category or binary column; `levels` are the declared ones, in their order,
    None if the levels are those that rows show. A missing cell is left out of the product ("ignore"), a level of its
    own ("level") or an error; a level that the model never saw gets smoothed mass ("smooth"), is left out ("ignore")
    or is an error.
    """

    name: str
    kind: Kind
    labels: LabelType | None = None
    levels: Vocabulary | None = None
    missing: MissingPolicy = "ignore"
    unseen: UnseenPolicy = "smooth"
    reason: str = ""

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_choice("kind", self.kind, KINDS, self.name)
        _check_choice("missing", self.missing, MISSING_POLICIES, self.name)
        _check_choice("unseen", self.unseen, UNSEEN_POLICIES, self.name)
        object.__setattr__(self, "labels", self._checked_labels())
        object.__setattr__(self, "levels", _checked_levels(self.name, self.levels, self.labels))
        if self.kind == "binary" and self.levels is not None and len(self.levels) != 2:
            raise SchemaError(
                f"binary column {self.name!r} has {len(self.levels)} levels: {self.levels!r}",
                fix=f"kinds={{{self.name!r}: 'category'}}",
            )

    def _checked_labels(self) -> LabelType | None:
        if self.kind not in LABELLED:
            return None
        _check_choice("labels", self.labels, LABEL_TYPES, self.name)
        return self.labels

    def __repr__(self) -> str:
        levels = f" of {list(self.levels)}" if self.levels is not None else ""
        return f"{self.name}: {self.kind}{levels}{f' ({self.reason})' if self.reason else ''}"


@dataclass(frozen=True)
class Target:
    """The column to be predicted: the type of its labels, and its classes if they were declared."""

    name: str
    labels: LabelType
    classes: Vocabulary | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_choice("labels", self.labels, LABEL_TYPES, self.name)
        object.__setattr__(self, "classes", _checked_levels(self.name, self.classes, self.labels))


@dataclass(frozen=True)
class Schema:
    """The columns in the order of the table, the target and the weight apart.

    `null_words` are the words that mean "missing" in text files, None for the usual ones.
    """

    columns: tuple[Column, ...]
    target: Target | None = None
    weight: str | None = None
    null_words: tuple[str, ...] | None = added_later(None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "null_words", remembered(self.null_words))
        seen: dict[str, str] = {}
        for name in self.names:
            if normal_name(name) in seen:
                raise SchemaError(
                    f"the columns {seen[normal_name(name)]!r} and {name!r} have one name", fix="rename one of them"
                )
            seen[normal_name(name)] = name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, then the target and the weight."""
        apart = (self.target.name if self.target else None, self.weight)
        return (*(column.name for column in self.columns), *(name for name in apart if name is not None))

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The columns of `Batch.values`."""
        return self._of_kind("number", "count")

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The columns of `Batch.codes`."""
        return self._of_kind(*LABELLED)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The columns of `Batch.texts`."""
        return self._of_kind("text")

    @cached_property
    def ignored(self) -> tuple[str, ...]:
        """The columns that no model sees."""
        return self._of_kind("ignored")

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The columns that a model sees, in the order of the table."""
        return tuple(column.name for column in self.columns if column.kind != "ignored")

    def _of_kind(self, *kinds: Kind) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.kind in kinds)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            name = find_name(name, self._by_name, where="the schema")
        return self._by_name[name]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        apart = [f"target={self.target.name!r}"] if self.target else []
        apart += [f"weight={self.weight!r}"] if self.weight else []
        return f"Schema({', '.join([*map(repr, self.columns), *apart])})"


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not normal_name(name):
        raise SchemaError(f"a column must have a name; found {name!r}", fix="name the column")


def _check_choice(setting: str, value: Any, choices: tuple[str, ...], column: str) -> None:
    if value not in choices:
        raise ParameterError(
            f"{setting} of column {column!r} is {value!r}", fix=f"choose one of {', '.join(map(repr, choices))}"
        )


def _checked_levels(name: str, levels: Iterable[Label] | None, labels: LabelType | None) -> Vocabulary | None:
    if levels is None or labels is None:
        return None
    declared = Vocabulary(as_levels(levels, labels, name))
    if not declared:
        raise SchemaError(f"column {name!r} declares no level at all", fix="name its levels, or leave them out")
    return declared
