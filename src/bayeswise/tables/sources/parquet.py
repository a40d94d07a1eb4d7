"""Long and wide Parquet files by the kernel or through polars, where these read them as DuckDB does; others by DuckDB.

What a file holds is read from its footer. The kernel knows pages that are not compressed or compressed by Snappy, with
or without dictionaries, which is what most writers make. Files that are stored in other ways (by Zstandard, say) are
read through polars, if it is installed.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, cast

from bayeswise import _kernels
from bayeswise.foundation.errors import BayeswiseError, SourceError
from bayeswise.foundation.threads import ahead, available, is_forked, is_limited
from bayeswise.tables.source import RawColumn, Storage, unreadable
from bayeswise.tables.sources.arrow import ArrowPiece, not_unicode
from bayeswise.tables.sources.duckdb_scan import Link, ParquetSource, is_unicode
from bayeswise.tables.sources.memory.polars_frame import LazySource
from bayeswise.tables.sources.table import Sweep, TableChunk, TableSource

_Batches: TypeAlias = Generator[_kernels.ArrowBatch, None, None]

LONG_FILE = 1 << 25
"""Bytes from which on a file is read once, and polars saves more than its import costs."""

LARGE_GROUP = 1 << 27
"""Bytes of a row group, decoded, that may be in memory however small it is in the file: polars decodes a whole one."""

LONG_FOOTER = 1 << 19
"""Bytes of a footer, some 3,000 columns, from which on the same holds: DuckDB plans a scan of 20,000 for seconds."""


def from_parquet(path: Path, name: str) -> TableSource:
    """The source of a Parquet file."""
    n_bytes = path.stat().st_size
    footer = footer_of(path) if n_bytes >= LONG_FILE or _n_bytes_of_footer(path) >= LONG_FOOTER else None
    if footer is not None and _reads_alike(footer, n_bytes):
        for reader in READERS:
            with suppress(BayeswiseError):  # the next one reads it, or DuckDB says what is wrong
                return reader(path, name, footer)
    return ParquetSource(path, name)


class _BesideDuckdb(TableSource):
    """A Parquet file that is read without DuckDB, which reads it where that cannot begin, and says what is wrong."""

    _path: Path

    @cached_property
    def _by_duckdb(self) -> ParquetSource:
        return ParquetSource(self._path, self.description)

    def stated_extremes(self, columns: Sequence[str]) -> Any:
        if _n_bytes_of_footer(self._path) >= LONG_FOOTER:
            return {}  # reading the rows is faster
        return self._by_duckdb.stated_extremes(columns)

    def pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        n_rows = 0
        try:
            for piece in self._own_pieces(indices):
                n_rows += piece.n_rows
                yield piece
        except SourceError:
            for piece in self._by_duckdb.pieces(indices):
                if n_rows == 0:
                    yield piece
            if n_rows > 0:
                raise

    @abstractmethod
    def _own_pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        """The rows; SourceError where they cannot be read."""


class DecodedParquet(_BesideDuckdb):
    """A Parquet file that the kernel reads."""

    def __init__(self, path: Path, name: str, footer: _kernels.ParquetFooter) -> None:
        if not footer.is_decodable:
            raise SourceError(f"{name} is stored in a way that the kernel does not know", fix="read it by polars")
        self._path = path
        self._footer = footer
        self._begun: dict[frozenset[int], tuple[Sequence[int], _Batches]] = {}
        self.n_bytes = path.stat().st_size
        try:
            columns = [RawColumn(column, cast(Storage, storage)) for column, storage in footer.columns()]
        except UnicodeDecodeError:
            raise not_unicode(name) from None
        super().__init__(name, columns)

    def first_chunk(self, columns: Sequence[str]) -> Iterator[TableChunk]:
        """The next sweep over the same columns goes on from here."""
        indices = list(dict.fromkeys(self.positions(columns))) or [0]
        coming = self._batches(indices)
        try:
            first = list(islice(coming, 1))
        except SourceError:
            return self._by_duckdb.first_chunk(columns)
        self._begun[frozenset(indices)] = indices, _in_turn(first, coming)
        sweep, places = Sweep(self, indices), _places(indices)
        return (TableChunk(sweep, ArrowPiece(batch, places), 0, batch.n_rows, 0) for batch in first)

    def _own_pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        begun = self._begun.pop(frozenset(indices), None)
        self._begun.clear()
        order, coming = (indices, self._batches(indices)) if begun is None else begun
        places = _places(order)
        for batch in ahead(coming):
            yield ArrowPiece(batch, places)

    def _batches(self, indices: Sequence[int]) -> _Batches:
        try:
            with self._path.open("rb", buffering=0) as file:
                reader = _kernels.ParquetReader(self._footer, file.fileno(), list(indices), self.chunk_rows)
                while (batch := reader.next()) is not None:
                    yield batch
        except (RuntimeError, OSError) as problem:
            raise unreadable(self.description, str(problem), "check that the file is whole") from None


def _places(indices: Sequence[int]) -> dict[int, int]:
    return {index: place for place, index in enumerate(indices)}


def _in_turn(first: list[_kernels.ArrowBatch], others: _Batches) -> _Batches:
    yield from first
    first.clear()  # frees them as soon as the others
    yield from others


class PolarsParquet(_BesideDuckdb, LazySource):
    """A Parquet file that polars reads."""

    def __init__(self, path: Path, name: str, _footer: _kernels.ParquetFooter) -> None:
        if not _has_polars() or not _may_run():
            raise SourceError(f"{name} cannot be read by the threads of polars", fix="read it by DuckDB")
        import polars

        self._path = path
        self.n_bytes = path.stat().st_size
        link = None if is_unicode(str(path)) else Link(path)
        file = path if link is None else link.path
        LazySource.__init__(self, polars.scan_parquet(file, glob=False, hive_partitioning=False), name, link)
        if not set(self._frame.collect_schema().dtypes()) <= _same_types():
            raise SourceError(f"{name} has types that polars reads differently", fix="read it by DuckDB")

    def first_chunk(self, columns: Sequence[str]) -> Iterator[TableChunk]:
        """By a query of its own: one for all rows has decoded many of them when the first come."""
        return LazySource(self._frame.head(self.chunk_rows), self.description, self._keeping).chunks(columns)

    def _own_pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        if _may_run():
            yield from LazySource.pieces(self, indices)
        else:
            yield from self._by_duckdb.pieces(indices)


READERS: tuple[Callable[[Path, str, _kernels.ParquetFooter], TableSource], ...] = (DecodedParquet, PolarsParquet)


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


def _same_types() -> set[Any]:
    """Types of polars whose cells are those that DuckDB reads."""
    import polars as pl

    integers = {pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64}
    return {*integers, pl.Float32, pl.Float64, pl.Boolean, pl.String, pl.Date, pl.Datetime("us")}


# -- what the footer says -------------------------------------------------------------------------------------
def footer_of(path: Path) -> _kernels.ParquetFooter | None:
    """The footer of a file; None for an incomplete one."""
    size = _n_bytes_of_footer(path)
    if size == 0:
        return None
    with path.open("rb") as file:
        file.seek(-8 - size, os.SEEK_END)
        data = file.read(size)
    try:
        return _kernels.ParquetFooter(data)
    except RuntimeError:
        return None


def _n_bytes_of_footer(path: Path) -> int:
    """The length of the footer, as the file states it; 0 for an incomplete file."""
    try:
        with path.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            size = int.from_bytes(file.read(4), "little")
            return size if file.read(4) == b"PAR1" and size <= path.stat().st_size - 12 else 0
    except OSError:
        return 0


def _reads_alike(footer: _kernels.ParquetFooter, n_bytes: int) -> bool:
    """Whether a file holds nothing but what all readers read alike, in row groups that fit into memory."""
    if not footer.has_known_types or footer.n_groups < 1:
        return False
    decoded = footer.row_bytes * footer.n_rows / footer.n_groups
    return decoded <= max(LARGE_GROUP, 2 * n_bytes / footer.n_groups)
