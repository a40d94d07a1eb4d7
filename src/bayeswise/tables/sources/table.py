"""What all sources share: checked names, sweeps in chunks, and cells read by the kernel."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise, repeat
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.errors import MissingColumnError, SchemaError, UsageError, listed
from bayeswise.foundation.threads import available, each
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.names import are_plain, normal_name
from bayeswise.tables.schema.null_words import without
from bayeswise.tables.source import InvalidValue, RawColumn, first_not_utf8, not_utf8
from bayeswise.tables.sources.cells import settle

CHUNK_ROWS = 65_536
CELLS_WORTH_A_THREAD = 1 << 14
TASKS_OF_A_THREAD = 2  # so that no thread waits long for a slow one


class Rules(_kernels.TextRules):
    """How text cells are read; a column whose levels are null words is read without these."""

    def __init__(self, null_words: Sequence[str], decimal_mark: str = ".") -> None:
        super().__init__(null_words, decimal_mark)
        self._null_words, self._decimal_mark = tuple(null_words), decimal_mark
        self._without: dict[tuple[str, ...], Rules] = {}

    def keeping(self, kept: Sequence[str]) -> Rules:
        """The rules without some of the null words."""
        if not kept or not self._null_words:
            return self
        key = tuple(kept)
        if key not in self._without:
            self._without[key] = Rules(without(self._null_words, key), self._decimal_mark)
        return self._without[key]


PLAIN = Rules([])
_Item = TypeVar("_Item")
SpelledNumbers: TypeAlias = tuple[list[tuple[int, str]], int]
"""The invalid cells of a column as (row, text), and how its texts are written (`Chunk.spelling`)."""


class Piece(Protocol):
    """Some rows as the table delivers them, to be cut into chunks."""

    @property
    def n_rows(self) -> int: ...

    @property
    def rules(self) -> Rules:
        """How text cells are read."""
        ...

    @property
    def by_columns(self) -> bool:
        """Whether the cells of a column lie side by side, so that copying in this order is faster."""
        ...

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        """Rows [begin, begin + n_rows) of the column at this position of the source."""
        ...

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        """The table's own memory as (n_rows, len(indices)), if it has that shape already, in whatever order."""
        ...

    def numbers(self, indices: Sequence[int], begin: int, out: NDArray[np.float64]) -> list[SpelledNumbers]:
        """Fill (n_rows, len(indices)) doubles from row `begin` on; for each column what its cells showed."""
        ...


class ColumnPiece(ABC):
    """A piece whose text is text and whose memory is not a matrix, unless it says otherwise."""

    rules: Rules = PLAIN
    by_columns = False

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        return None

    @abstractmethod
    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column: ...

    def numbers(self, indices: Sequence[int], begin: int, out: NDArray[np.float64]) -> list[SpelledNumbers]:
        places = zip(indices, out.T, strict=True)
        return [self.column(index, begin, len(out)).spelled_numbers(self.rules, each) for index, each in places]


class TableSource(ABC):
    """A source made of pieces."""

    textual = False
    null_words: tuple[str, ...] = ()
    n_rows: int | None = None
    chunk_rows = CHUNK_ROWS
    for_many = False
    """Whether pieces come from one thread so fast that others can be busy with what is in them."""

    def __init__(self, description: str, columns: Sequence[RawColumn]) -> None:
        self.description = description
        self.columns = checked_names(description, columns)
        self._positions = {column[0]: k for k, column in enumerate(self.columns)}

    def __repr__(self) -> str:
        return f"<{self.description}: {', '.join(column.name for column in self.columns)}>"

    @abstractmethod
    def pieces(self, indices: Sequence[int]) -> Iterator[Piece]:
        """One sweep over the columns at these positions."""

    def positions(self, columns: Iterable[str]) -> list[int]:
        """Where the named columns stand."""
        try:
            return list(map(self._positions.__getitem__, columns))
        except KeyError as absent:
            raise MissingColumnError(
                f"{self.description} has no column {absent.args[0]!r}; it has {listed(map(repr, self._positions))}",
                fix="check the spelling",
            ) from None

    def stated_extremes(self, columns: Sequence[str]) -> Mapping[str, tuple[float, float, int]]:
        """The least, the largest and the number of cells of columns of numbers, of those whose file states them."""
        return {}

    def chunks(self, columns: Sequence[str]) -> Iterator[TableChunk]:
        return self.in_turns(columns).chunks()

    def in_turns(self, columns: Sequence[str]) -> Turns:
        """One sweep by several threads."""
        return Turns(self, list(dict.fromkeys(self.positions(columns))) or [0])

    def first_chunk(self, columns: Sequence[str]) -> Iterator[TableChunk]:
        """The first of the chunks, if there is one, and no row that comes after it."""
        return islice(self.chunks(columns), 1)


class Turns:
    """One sweep over a table of which several threads take pieces in turn, each for chunks of its own."""

    def __init__(self, source: TableSource, indices: Sequence[int]) -> None:
        self._source = source
        self._indices = indices
        self._lock = threading.Lock()
        self._pieces: Iterator[Piece] = source.pieces(indices)
        self._first_row = 0
        self._is_over = False

    def chunks(self) -> Iterator[TableChunk]:
        """Those of the pieces that this thread comes to take; it numbers levels as it meets them."""
        sweep = Sweep(self._source, self._indices)
        while (taken := self._next()) is not None:
            piece, first_row = taken
            for begin in range(0, piece.n_rows, self._source.chunk_rows):
                n_rows = min(self._source.chunk_rows, piece.n_rows - begin)
                yield TableChunk(sweep, piece, begin, n_rows, first_row + begin)

    def _next(self) -> tuple[Piece, int] | None:
        """A piece and its first row."""
        with self._lock:
            if self._is_over:
                return None
            piece, first_row = next(self._pieces, None), self._first_row
            if piece is None:
                self._is_over, self._source.n_rows = True, first_row
                return None
            self._first_row += piece.n_rows
            return piece, first_row

    def stop(self) -> None:
        """No thread gets another piece."""
        with self._lock:
            self._is_over = True
            if isinstance(self._pieces, Generator):
                self._pieces.close()


class Sweep:
    """What the chunks of one sweep have in common: the levels seen so far."""

    def __init__(self, source: TableSource, indices: Sequence[int]) -> None:
        self.source = source
        self.indices = frozenset(indices)
        self._lock = threading.Lock()
        self._levels: dict[int, tuple[_kernels.Levels, list[Label]]] = {}

    def levels(self, index: int) -> tuple[_kernels.Levels, list[Label]]:
        """The kernel's dictionary of a column and its labels as a list that follows it."""
        with self._lock:
            if index not in self._levels:
                declared = list(self.source.columns[index].declared or ())
                self._levels[index] = (_kernels.Levels(declared, settle), list(declared))
            return self._levels[index]

    def follow(self, levels: _kernels.Levels, labels: list[Label]) -> None:
        """Append what is new."""
        with self._lock:
            labels.extend(levels.since(len(labels)))


class TableChunk:
    """Consecutive rows of a `TableSource`."""

    def __init__(self, sweep: Sweep, piece: Piece, begin: int, n_rows: int, first_row: int) -> None:
        self._sweep = sweep
        self._piece = piece
        self._begin = begin
        self.n_rows = n_rows
        self.first_row = first_row
        self._spelling: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<rows {self.first_row} to {self.first_row + self.n_rows - 1} of {self._sweep.source.description}>"

    def _column(self, name: str) -> tuple[int, _kernels.Column]:
        (index,) = self._sweep.source.positions([name])
        self._refuse_others([index])
        return index, self._piece.column(index, self._begin, self.n_rows)

    def _refuse_others(self, indices: Sequence[int]) -> None:
        for index in indices:
            if index not in self._sweep.indices:
                name = self._sweep.source.columns[index].name
                raise UsageError(f"column {name!r} is not part of this sweep", fix="name it in chunks([...])")

    def numbers(self, column: str) -> tuple[NDArray[np.float64], Sequence[InvalidValue]]:
        values = np.empty(self.n_rows)
        _, cells = self._column(column)
        with self._decoding(column):
            invalid, self._spelling[column] = cells.spelled_numbers(self._piece.rules, values)
        return values, self._invalid(column, 0, invalid)

    def matrix(self, columns: Sequence[str]) -> tuple[NDArray[np.float64], Mapping[str, Sequence[InvalidValue]]]:
        values, invalid = self._filled(columns, by_columns=False)
        return row_by_row(values), invalid

    def block(self, columns: Sequence[str]) -> tuple[NDArray[np.float64], Mapping[str, Sequence[InvalidValue]]]:
        return self._filled(columns, by_columns=self._piece.by_columns)

    def _filled(
        self, columns: Sequence[str], by_columns: bool
    ) -> tuple[NDArray[np.float64], Mapping[str, Sequence[InvalidValue]]]:
        indices = self._sweep.source.positions(columns)
        own = self._piece.matrix(indices, self._begin, self.n_rows)
        if own is not None:
            return own, dict.fromkeys(columns, ())
        self._refuse_others(indices)
        values = np.empty((self.n_rows, len(columns)), order="F" if by_columns else "C")
        invalid: dict[str, list[InvalidValue]] = {name: [] for name in columns}

        def filled(rows: slice, some: slice) -> list[SpelledNumbers]:
            return self._piece.numbers(indices[some], self._begin + rows.start, values[rows, some])

        parts = _parts(self.n_rows, len(columns))
        try:
            found = each(lambda part: filled(*part), parts)
        except UnicodeDecodeError:
            for name in columns:  # one of them says where
                self.numbers(name)
            raise
        for (rows, some), by_column in zip(parts, found, strict=True):
            for name, (cells, spelling) in zip(columns[some], by_column, strict=True):
                self._spelling[name] = self._spelling.get(name, 0) | spelling
                if cells:
                    invalid[name] += self._invalid(name, rows.start, cells)
        return values, invalid

    def _invalid(self, name: str, begin: int, cells: Iterable[tuple[int, str]]) -> list[InvalidValue]:
        _, column = self._column(name)
        return [InvalidValue(self.first_row + begin + row, column.line(begin + row), text) for row, text in cells]

    def spelling(self, column: str) -> int:
        return self._spelling.get(column, 0)

    def labels(self, column: str, kept: Sequence[str] = ()) -> tuple[NDArray[np.int32], Sequence[Label]]:
        index, cells = self._column(column)
        raw = self._sweep.source.columns[index]
        refuse_opaque(raw)
        levels, labels = self._sweep.levels(index)
        codes = np.empty(self.n_rows, dtype=np.int32)
        try:
            cells.labels(self._piece.rules.keeping(kept), levels, codes)
        except ValueError:  # part of the table holds them, and the rest something else
            refuse_opaque(raw._replace(storage="nested"))
        with self._decoding(column):
            self._sweep.follow(levels, labels)
        return codes, labels

    def texts(self, column: str) -> list[str | None]:
        index, cells = self._column(column)
        refuse_opaque(self._sweep.source.columns[index])
        with self._decoding(column):
            values = cells.texts(self._piece.rules)
        return [value if value is None or type(value) is str else str(value) for value in values]

    def cells(self, column: str) -> list[Label | None]:
        with self._decoding(column):
            return self._column(column)[1].texts(PLAIN)

    def profile(self, column: str, profiler: _kernels.Profiler, kept: Sequence[str] = ()) -> None:
        self._column(column)[1].profile(self._piece.rules.keeping(kept), profiler, self.first_row)

    @contextmanager
    def _decoding(self, column: str) -> Iterator[None]:
        """Bytes that are not UTF-8 are an error that names their row."""
        try:
            yield
        except UnicodeDecodeError:
            if not self._decodes(column, self.n_rows):
                n_rows = bisect_left(range(self.n_rows), True, key=lambda n: not self._decodes(column, n))
                raise not_utf8(column, self.first_row + n_rows - 1) from None
            raise first_not_utf8(self._sweep.source, column) from None  # another thread found them

    def _decodes(self, column: str, n_rows: int) -> bool:
        """True if the first rows of this chunk are text."""
        (index,) = self._sweep.source.positions([column])
        try:
            self._piece.column(index, self._begin, n_rows).texts(PLAIN)
        except UnicodeDecodeError:
            return False
        return True


def _parts(n_rows: int, n_columns: int) -> list[tuple[slice, slice]]:
    """Ranges of rows, or of columns where these are more, each worth a thread.

    >>> _parts(10, 3)
    [(slice(0, 10, None), slice(0, 3, None))]
    """
    n_parts = min(TASKS_OF_A_THREAD * available(), n_rows * n_columns // CELLS_WORTH_A_THREAD)
    all_rows, all_columns = slice(0, n_rows), slice(0, n_columns)
    if n_parts <= 1:
        return [(all_rows, all_columns)]
    length = max(n_rows, n_columns)
    edges = [length * k // n_parts for k in range(n_parts + 1)]
    ranges = [slice(first, last) for first, last in pairwise(edges)]
    return [(part, all_columns) if n_rows >= n_columns else (all_rows, part) for part in ranges]


def row_by_row(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix with the cells of a row side by side, which is how most of its readers go through it."""
    return values if values.strides[1] == values.itemsize else np.ascontiguousarray(values)


def refuse_opaque(column: RawColumn) -> None:
    """Lists, structs and bytes have no labels."""
    if column.storage in ("nested", "binary"):
        what = "lists or structs" if column.storage == "nested" else "bytes"
        raise SchemaError(
            f"column {column.name!r} holds {what}, which are not labels", fix="turn it into text or leave it out"
        )


def checked_names(description: str, columns: Sequence[RawColumn]) -> tuple[RawColumn, ...]:
    """The columns, if each has a name and no two names are equal after NFC and strip."""
    if not columns:
        raise SchemaError(f"{description} has no columns", fix="give a table with at least one column")
    if are_plain([column.name for column in columns]):
        return tuple(columns)
    seen: dict[str, int] = {}
    for position, column in enumerate(columns, start=1):
        plain = normal_name(column.name)
        if not plain:
            raise SchemaError(
                f"column {position} of {description} has no name",
                fix="write a name for it into the header, or a header if there is none (header=False, --no-header)",
            )
        if plain in seen:
            raise SchemaError(_collision(description, columns, seen[plain], position), fix="rename one of them")
        seen[plain] = position
    return tuple(columns)


def _collision(description: str, columns: Sequence[RawColumn], first: int, second: int) -> str:
    one, other = columns[first - 1].name, columns[second - 1].name
    named = f"both named {one!r}" if one == other else f"named {one!r} and {other!r}, which read the same"
    return f"columns {first} and {second} of {description} are {named}"


def plain_columns(names: Iterable[str], storage: str) -> list[RawColumn]:
    """Columns of one storage."""
    return [RawColumn(name, kind) for name, kind in zip(names, repeat(storage), strict=False)]  # type: ignore[arg-type]
