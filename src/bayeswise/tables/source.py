"""Any table as one interface: columns with a name and a storage, swept in chunks of rows, again and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Label: TypeAlias = str | int | float | bool
Storage: TypeAlias = Literal[
    "text", "integer", "float", "boolean", "declared", "temporal", "nested", "binary", "null", "object"
]

DEFAULT_NULL_WORDS: tuple[str, ...] = ("", "NA", "N/A", "null", "?", "nan", "none")
"""Cells of text files that mean "missing"; compared without surrounding blanks and without case."""


@dataclass(frozen=True)
class RawColumn:
    """A column as the table stores it; what it means is decided later, by the schema.

    `declared` holds the levels of pandas categories, a polars Enum or an Arrow dictionary, in their order.
    """

    name: str
    storage: Storage
    declared: tuple[Label, ...] | None = None


@dataclass(frozen=True)
class Stray:
    """A cell that is no number where numbers were asked for: its row (from 0), its line in a text file, its text."""

    row: int
    line: int | None
    text: str


class Chunk(Protocol):
    """Some consecutive rows of a source; valid until the next chunk is asked for."""

    @property
    def n_rows(self) -> int: ...

    @property
    def first_row(self) -> int:
        """The position of the chunk's first row in the source, counted from 0."""
        ...

    def numbers(self, column: str) -> tuple[NDArray[np.float64], Sequence[Stray]]:
        """The column as doubles; NaN is missing; a cell that is no number is NaN and a stray.

        Text is parsed (blanks around it are ignored; null words are NaN in text files). Integers beyond 2**53
        are rounded here; `ColumnProfile.wide_integers` counts them beforehand.
        """
        ...

    def labels(self, column: str) -> tuple[NDArray[np.int32], Sequence[Label]]:
        """Codes into the levels, -1 for missing; over one sweep the levels only grow, by order of appearance.

        Declared levels come first, in the declared order.
        """
        ...

    def texts(self, column: str) -> list[str | None]:
        """The column as text, None for missing."""
        ...


class Source(Protocol):
    """A table that can be swept again and again, in chunks of rows in the table's order."""

    @property
    def description(self) -> str:
        """What to call the table in a message: "golf.csv", "pandas DataFrame"."""
        ...

    @property
    def columns(self) -> tuple[RawColumn, ...]:
        """The columns in the table's order, their names distinct, also after NFC and strip."""
        ...

    @property
    def textual(self) -> bool:
        """True when the cells are text from a file, so that null words apply."""
        ...

    @property
    def null_words(self) -> tuple[str, ...]:
        """The words that mean "missing"; empty unless the source is textual."""
        ...

    @property
    def n_rows(self) -> int | None:
        """The number of rows if it is known without a sweep."""
        ...

    def chunks(self, columns: Sequence[str]) -> Iterator[Chunk]:
        """One sweep over these columns; every sweep starts anew."""
        ...

    def profile(self, columns: Sequence[str]) -> Mapping[str, object]:
        """What `bayeswise.tables.profile.profile` calls: one pass that profiles these columns."""
        ...


def open_source(
    table: object,
    *,
    null_words: Sequence[str] = DEFAULT_NULL_WORDS,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    table_name: str | None = None,
    query: str | None = None,
) -> Source:
    """The source behind a path, a list of paths, a glob, `-`, a dataframe, an array or a list of dicts.

    `table_name` or `query` choose what to read from a SQLite file (or the sheet of a workbook); `delimiter`,
    `encoding` and `decimal` are sniffed from text files unless given.
    """
    raise NotImplementedError
