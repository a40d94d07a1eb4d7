"""Long and wide Parquet files through polars, where it is installed and reads them as DuckDB does; others by DuckDB.

What a file holds is read from its footer, before polars is imported: a struct of Thrift's compact protocol, of which
only the schema, the number of rows and the number of row groups are needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bayeswise.foundation.errors import BayeswiseError, SourceError
from bayeswise.foundation.threads import available, is_forked, is_limited
from bayeswise.tables.sources.arrow import ArrowPiece
from bayeswise.tables.sources.duckdb_scan import Link, ParquetSource, is_unicode
from bayeswise.tables.sources.memory.polars_frame import LazySource
from bayeswise.tables.sources.table import TableChunk, TableSource

LONG_FILE = 1 << 25
"""Bytes from which on polars saves more than its import costs."""

LARGE_GROUP = 1 << 27
"""Bytes of a row group, decoded, that may be in memory however small it is in the file: polars decodes a whole one."""

LONG_FOOTER = 1 << 19
"""Bytes of a footer, some 3,000 columns, from which on the same holds: DuckDB plans a scan of 20,000 for seconds."""


def from_parquet(path: Path, name: str) -> TableSource:
    """The source of a Parquet file."""
    n_bytes = path.stat().st_size
    is_worth_it = n_bytes >= LONG_FILE or _n_bytes_of_footer(path) >= LONG_FOOTER
    if is_worth_it and _has_polars() and _reads_alike(path, n_bytes):
        try:
            return PolarsParquet(path, name)
        except BayeswiseError:
            pass  # DuckDB reads it, or says what is wrong
    return ParquetSource(path, name)


def _has_polars() -> bool:
    try:
        return find_spec("polars") is not None
    except ValueError:  # an entry of None in sys.modules
        return False


def _may_run() -> bool:
    """Whether the threads of polars may work here: no fork has lost them, and no limit is below their number."""
    if is_forked() or is_limited():
        return False
    import polars

    return hasattr(polars.LazyFrame, "collect_batches") and polars.thread_pool_size() <= available()


class PolarsParquet(LazySource):
    """A Parquet file that polars reads; DuckDB reads it wherever polars cannot, and says what is wrong with it."""

    def __init__(self, path: Path, name: str) -> None:
        if not _may_run():
            raise SourceError(f"{name} cannot be read by the threads of polars", fix="read it by DuckDB")
        import polars

        self._path = path
        self.n_bytes = path.stat().st_size
        link = None if is_unicode(str(path)) else Link(path)
        file = path if link is None else link.path
        super().__init__(polars.scan_parquet(file, glob=False, hive_partitioning=False), name, link)
        if not set(self._frame.collect_schema().dtypes()) <= _same_types():
            raise SourceError(f"{name} has types that polars reads differently", fix="read it by DuckDB")

    @cached_property
    def _by_duckdb(self) -> ParquetSource:
        return ParquetSource(self._path, self.description)

    def stated_extremes(self, columns: Sequence[str]) -> Any:
        if _n_bytes_of_footer(self._path) >= LONG_FOOTER:
            return {}  # the rows say it sooner
        return self._by_duckdb.stated_extremes(columns)

    def first_chunk(self, columns: Sequence[str]) -> Iterator[TableChunk]:
        """By a query of its own: one for all rows has decoded many of them when the first come."""
        return LazySource(self._frame.head(self.chunk_rows), self.description, self._keeping).chunks(columns)

    def pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        if not _may_run():
            yield from self._by_duckdb.pieces(indices)
            return
        n_rows = 0
        try:
            for piece in super().pieces(indices):
                n_rows += piece.n_rows
                yield piece
        except SourceError:
            for piece in self._by_duckdb.pieces(indices):
                if n_rows == 0:
                    yield piece
            if n_rows > 0:
                raise


def _same_types() -> set[Any]:
    """Types of polars whose cells are those that DuckDB reads."""
    import polars as pl

    integers = {pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64}
    return {*integers, pl.Float32, pl.Float64, pl.Boolean, pl.String, pl.Date, pl.Datetime("us")}


# -- what the footer says -------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Node:
    """A node of the schema; None for what the file does not say."""

    physical: int | None
    repetition: int | None
    n_children: int | None
    converted: int | None
    logical: int | None


_BOOLEAN, _INT32, _INT64, _FLOAT, _DOUBLE, _BYTES = 0, 1, 2, 4, 5, 6
_WIDTHS = {_BOOLEAN: 1, _INT32: 4, _INT64: 8, _FLOAT: 4, _DOUBLE: 8, _BYTES: 16}  # bytes of a decoded cell, at least
_INTEGERS = {(None, None), *((kind, logical) for kind in range(11, 19) for logical in (None, 10)), (None, 10)}
_DATES = {(6, None), (6, 6), (None, 6)}
_TIMESTAMPS = {(10, None), (10, 8), (None, 8)}
_PLAIN: set[tuple[int | None, int | None]] = {(None, None)}
_MEANINGS: dict[int | None, set[tuple[int | None, int | None]]] = {
    _BOOLEAN: _PLAIN,
    _INT32: _INTEGERS | _DATES,
    _INT64: _INTEGERS | _TIMESTAMPS,
    _FLOAT: _PLAIN,
    _DOUBLE: _PLAIN,
    _BYTES: {(0, None), (0, 1), (None, 1)},  # text
}
"""(converted type, logical type) that both readers know, by physical type."""
_REPEATED = 2


def _reads_alike(path: Path, n_bytes: int) -> bool:
    """Whether a file holds nothing but what both readers read alike, in row groups that fit into memory."""
    try:
        found = footer(path)
    except (ValueError, IndexError, OSError, OverflowError):
        return False
    if found is None:
        return False
    nodes, n_rows, n_groups = found
    if not all(map(_is_plain, nodes)) or n_groups < 1:
        return False
    decoded = sum(_WIDTHS[node.physical] for node in nodes if node.physical is not None) * n_rows / n_groups
    return decoded <= max(LARGE_GROUP, 2 * n_bytes / n_groups)


def _is_plain(node: Node) -> bool:
    """Whether a node is a column of numbers, truth values, texts, dates or times, and not a list or a struct."""
    if node.physical not in _MEANINGS or node.n_children or node.repetition == _REPEATED:
        return False
    return (node.converted, node.logical) in _MEANINGS[node.physical]


def _n_bytes_of_footer(path: Path) -> int:
    """How long the footer is, by what the file says; 0 for a file that is not whole."""
    try:
        with path.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            size = int.from_bytes(file.read(4), "little")
            return size if file.read(4) == b"PAR1" and size <= path.stat().st_size - 12 else 0
    except OSError:
        return 0


def footer(path: Path) -> tuple[list[Node], int, int] | None:
    """The columns, the number of rows and that of row groups; None for a file that is not whole."""
    size = _n_bytes_of_footer(path)
    if size == 0:
        return None
    with path.open("rb") as file:
        file.seek(-8 - size, os.SEEK_END)
        compact = _Compact(file.read(size))
    nodes: list[Node] = []
    n_rows = 0
    for field, kind in compact.fields():
        if field == 2:
            nodes = [_node(compact) for _ in range(compact.length())]
        elif field == 3:
            n_rows = compact.integer()
        elif field == 4:
            return nodes[1:], n_rows, compact.length()
        else:
            compact.skip(kind)
    return None


def _node(compact: _Compact) -> Node:
    found: dict[int, int] = {}
    for field, kind in compact.fields():
        if field in (1, 3, 5, 6):
            found[field] = compact.integer()
        elif field == 10:
            for which, inner in compact.fields():
                found[field] = which
                compact.skip(inner)
        else:
            compact.skip(kind)
    return Node(*(found.get(field) for field in (1, 3, 5, 6, 10)))


_TRUE, _FALSE, _BYTE, _REAL, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


class _Compact:
    """Bytes of Thrift's compact protocol, read from front to back; IndexError where they end too early."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def integer(self) -> int:
        zigzag = self._unsigned()
        return zigzag >> 1 ^ -(zigzag & 1)

    def length(self) -> int:
        """The length of the list that begins here, whose items follow."""
        return self._list()[0]

    def _list(self) -> tuple[int, int]:
        head = self._byte()
        length = head >> 4
        return self._unsigned() if length == 15 else length, head & 15

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and the type of each field of a struct; whoever asks reads its value."""
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self.integer()
            yield field, head & 15

    def skip(self, kind: int) -> None:
        if kind in (_TRUE, _FALSE):  # the value of a field is its type
            return
        if kind == _BYTE:
            self._at += 1
        elif kind == _REAL:
            self._at += 8
        elif kind == _BINARY:
            length = self._unsigned()
            self._at += length
        elif kind in (_LIST, _SET):
            length, inner = self._list()
            for _ in range(length):
                self._skip_item(inner)
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner)
        elif kind == _MAP:
            raise ValueError("no field of a schema is a map")
        else:
            self._unsigned()

    def _skip_item(self, kind: int) -> None:
        """An item of a list; a truth value has a byte of its own there."""
        if kind in (_TRUE, _FALSE):
            self._at += 1
        else:
            self.skip(kind)
