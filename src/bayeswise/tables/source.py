"""Any table as one interface: columns with a name and a storage, swept in chunks of rows, again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayeswise._kernels import Profiler
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SourceError, row_number
from bayeswise.tables.schema.labels import Label

Storage: TypeAlias = Literal[
    "text", "integer", "float", "boolean", "declared", "temporal", "nested", "binary", "null", "object"
]

DEFAULT_NULL_WORDS: tuple[str, ...] = ("", "NA", "N/A", "null", "?", "nan", "none")
"""Cells of text files that mean "missing"; compared without surrounding blanks and without case."""


class RawColumn(NamedTuple):
    """A column as the table stores it; what it means is decided later, by the schema.

    `declared` holds the levels of pandas categories, a polars Enum or an Arrow dictionary, in their order.
    """

    name: str
    storage: Storage
    declared: tuple[Label, ...] | None = None


@dataclass(frozen=True)
class InvalidValue:
    """A cell of a number column that is not numeric.

    `row` counts from 0 over the whole source; `line` counts from 1 in its text file, with the header.
    """

    row: int
    line: int | None
    text: str


class Chunk(Protocol):
    """Some consecutive rows of a source; it stays valid, and may be read by another thread than the next chunk."""

    @property
    def n_rows(self) -> int: ...

    @property
    def first_row(self) -> int:
        """The position of the chunk's first row in the source, counted from 0."""
        ...

    def numbers(self, column: str) -> tuple[NDArray[np.float64], Sequence[InvalidValue]]:
        """The column as doubles; NaN is missing; a cell that is not a number is NaN and a invalid value.

        Text is parsed (blanks around it are ignored; null words are NaN in text files). Integers beyond 2**53
        are rounded here; `ColumnProfile.wide_integers` counts them beforehand.
        """
        ...

    def labels(self, column: str, kept: Sequence[str] = ()) -> tuple[NDArray[np.int32], Sequence[Label]]:
        """Codes into the levels, -1 for missing; over one sweep the levels only grow, by order of appearance.

        Declared levels come first, in the declared order. `kept` are null words that are levels of this column.
        """
        ...

    def matrix(self, columns: Sequence[str]) -> tuple[NDArray[np.float64], Mapping[str, Sequence[InvalidValue]]]:
        """`numbers` of several columns, as one matrix (n_rows, n_columns) in C order, and the invalid values by column.

        The matrix may be a read-only view of the table's own memory.
        """
        ...

    def block(self, columns: Sequence[str]) -> tuple[NDArray[np.float64], Mapping[str, Sequence[InvalidValue]]]:
        """`matrix` in the order that the table's own memory has, column after column if it lies so: no copy is made."""
        ...

    def spelling(self, column: str) -> int:
        """How the texts of a column are written whose numbers were read: 1 if some have leading zeros, 2 if some are
        integers beyond 2**53, 4 if some are not integers; 0 for columns that are not text.
        """
        ...

    def texts(self, column: str) -> list[str | None]:
        """The column as text, None for missing."""
        ...

    def cells(self, column: str) -> list[Label | None]:
        """The cells as they are stored, those of a text file letter by letter, null words included."""
        ...

    def profile(self, column: str, profiler: Profiler, kept: Sequence[str] = ()) -> None:
        """Show the cells to a profiler; `kept` are null words that are levels of this column."""
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
        """One sweep over these columns; every sweep starts at the first row."""
        ...


def open_source(
    table: object,
    *,
    null_words: Sequence[str] = DEFAULT_NULL_WORDS,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    header: bool | None = None,
    table_name: str | None = None,
    query: str | None = None,
    chunk_rows: int | None = None,
    once: bool = False,
) -> Source:
    """The source behind a path, a list of paths, a glob, `-`, a dataframe, an array or a list of dicts.

    `delimiter`, `encoding`, `decimal` and `header` of text files are sniffed unless given; `table_name` or `query`
    choose what to read from a SQLite file, `table_name` the sheet of a workbook. A source comes back unchanged. `once`
    promises a single sweep: text from standard input is then read as it comes, and not kept.

    >>> open_source({"wind": ["weak", "strong"]}).columns
    (RawColumn(name='wind', storage='text', declared=None),)
    """
    from bayeswise.tables.sources import opening

    options = opening.Options(tuple(null_words), delimiter, encoding, decimal, header, table_name, query, once)
    return opening.opened(table, options, chunk_rows)


_DECODE = "decode them by their own encoding (latin-1, cp1252, ...) where the table is made"
_UTF8 = re.compile(r"utf-?8|unicode", re.IGNORECASE)


def not_utf8(column: str, row: int | None = None) -> SourceError:
    where = "" if row is None else f" in row {row_number(row)}"
    return SourceError(f"column {column!r} holds bytes that are not UTF-8{where}", fix=_DECODE)


def unreadable(name: str, sentence: str, fix: str) -> SourceError:
    """The error of a reader in its own words; the fix is another one if they are about the encoding of text."""
    if _UTF8.search(sentence):
        return SourceError(f"{name} holds bytes that are not UTF-8: {sentence}", fix=_DECODE)
    return SourceError(f"{name} cannot be read: {sentence}", fix=fix)


def first_not_utf8(source: Source, column: str) -> SourceError:
    """The error about the first cell of a column that is not UTF-8, found by another sweep."""
    try:
        for chunk in source.chunks([column]):
            chunk.cells(column)
    except SourceError as found:
        return found
    return not_utf8(column)
