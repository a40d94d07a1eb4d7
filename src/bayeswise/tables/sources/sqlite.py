"""SQLite files, through Python's own sqlite3."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bayeswise.foundation.errors import SourceError, UsageError
from bayeswise.tables.source import RawColumn, Storage
from bayeswise.tables.sources.duckdb_scan import quoted
from bayeswise.tables.sources.records import ListsPiece
from bayeswise.tables.sources.table import TableSource, ahead

_STORAGES: dict[str, Storage] = {"text": "text", "integer": "integer", "real": "float", "blob": "binary"}


class SqliteSource(TableSource):
    """One table or query; SQLite has types for cells, not for columns, so all cells are looked at once."""

    def __init__(self, path: Path, name: str, query: str) -> None:
        self._path = path
        self._query = query.strip().rstrip(";")
        self._name = name
        with self._connected() as database:
            names = [column[0] for column in database.execute(f"SELECT * FROM ({self._query}) LIMIT 0").description]
            super().__init__(name, [RawColumn(column, "object") for column in names])
            self.columns = tuple(RawColumn(column, _storage(kinds)) for column, kinds in self._kinds(database))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            address = self._path.resolve().as_uri() + "?mode=ro"
            with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
                yield database
        except sqlite3.Error as problem:
            raise SourceError(f"{self._name} cannot be read: {problem}", fix="check the file and the query") from None

    def _kinds(self, database: sqlite3.Connection) -> list[tuple[str, set[str]]]:
        columns = [column.name for column in self.columns]
        wanted = ", ".join(f"group_concat(DISTINCT typeof({quoted(name)}))" for name in columns)
        found = database.execute(f"SELECT {wanted} FROM ({self._query})").fetchone()
        return [(name, set((kinds or "").split(","))) for name, kinds in zip(columns, found, strict=True)]

    def pieces(self, indices: Sequence[int]) -> Iterator[ListsPiece]:
        return ahead(self._rows(indices))

    def _rows(self, indices: Sequence[int]) -> Generator[ListsPiece, None, None]:
        wanted = ", ".join(quoted(self.columns[index].name) for index in indices) or "1"
        with self._connected() as database:
            cursor = database.execute(f"SELECT {wanted} FROM ({self._query})")
            while rows := cursor.fetchmany(self.chunk_rows):
                lists: list[Sequence[Any]] = [()] * len(self.columns)
                for index, cells in zip(indices, zip(*rows, strict=True), strict=False):
                    lists[index] = cells
                yield ListsPiece(len(rows), lists)


def _storage(kinds: set[str]) -> Storage:
    held = kinds - {"null", ""}
    if not held:
        return "null"
    if held <= {"integer", "real"}:
        return "float" if "real" in held else "integer"
    return _STORAGES[held.pop()] if len(held) == 1 else "object"


def from_sqlite(path: Path, name: str, table: str | None, query: str | None) -> TableSource:
    """A table of the file, its only one unless named, or a query."""
    if query is not None:
        if table is not None:
            raise UsageError("both a table and a query are given", fix="give one of them")
        return SqliteSource(path, name, query)
    return SqliteSource(path, name, f"SELECT * FROM {quoted(_chosen(path, name, table))}")


def _chosen(path: Path, name: str, table: str | None) -> str:
    known = _tables(path, name)
    if table is None and len(known) == 1:
        return known[0]
    listed = ", ".join(known) if known else "none"
    if table is None:
        raise SourceError(f"{name} has not one table but {len(known)}: {listed}", fix="name a table")
    if table not in known:
        near = get_close_matches(table, known, n=1)
        raise SourceError(
            f"{name} has no table {table!r}; it has {listed}", fix=f"name {near[0] if near else 'one of them'}"
        )
    return table


def _tables(path: Path, name: str) -> list[str]:
    listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    try:
        with closing(sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True)) as database:
            return [row[0] for row in database.execute(listing) if not row[0].startswith("sqlite_")]
    except sqlite3.Error as problem:
        raise SourceError(f"{name} cannot be read: {problem}", fix="check that the file is whole") from None
