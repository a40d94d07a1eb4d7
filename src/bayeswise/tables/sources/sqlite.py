"""SQLite files, through Python's own sqlite3."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bayeswise.foundation.errors import SourceError, UsageError, listed, quoted, shortened
from bayeswise.foundation.progress import StepsBar
from bayeswise.foundation.threads import ahead
from bayeswise.tables.source import RawColumn, Storage
from bayeswise.tables.sources.duckdb_scan import sql_name
from bayeswise.tables.sources.memory.records import ListsPiece
from bayeswise.tables.sources.table import TableSource

_STEPS_OF_A_WATCH = 100_000  # of SQLite's machine, some milliseconds
_STORAGES: dict[str, Storage] = {"text": "text", "integer": "integer", "real": "float", "blob": "binary"}


class Watch:
    """What SQLite calls while it works on a query, so that Ctrl-C, a progress bar and `stop` work."""

    def __init__(self, bar: StepsBar | None = None, what: str = "") -> None:
        self.stopped = False
        self.error: BaseException | None = None
        self._bar = bar
        self._what = what
        self._steps = 0

    def stop(self) -> None:
        """End the query."""
        self.stopped = True

    def __call__(self) -> int:
        try:
            self._steps += 1
            if self._bar is not None:
                self._bar(self._what, self._steps, None)
            return int(self.stopped)
        except BaseException as error:  # SQLite would swallow it
            self.error = error
            return 1


@contextmanager
def connected(path: Path, name: str, watch: Watch) -> Iterator[sqlite3.Connection]:
    """The database, read-only; its errors are ours."""
    try:
        address = path.resolve().as_uri() + "?mode=ro"
        with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
            database.set_progress_handler(watch, _STEPS_OF_A_WATCH)
            yield database
    except (sqlite3.Error, sqlite3.Warning, UnicodeError) as problem:
        if watch.error is not None:
            raise watch.error from None
        if "interrupted" in str(problem) and not watch.stopped:
            raise KeyboardInterrupt from None
        raise SourceError(f"{name} cannot be read: {shortened(problem)}", fix="check the file and the query") from None


class SqliteSource(TableSource):
    """One table or query; SQLite has types for cells, not for columns, so all cells are looked at once."""

    def __init__(self, path: Path, name: str, query: str) -> None:
        self._path = path
        self._query = query.strip().rstrip(";")
        self._name = name
        with StepsBar() as bar, connected(path, name, Watch(bar, f"examining {name}")) as database:
            names = [column[0] for column in database.execute(f"SELECT * FROM ({self._query}) LIMIT 0").description]
            super().__init__(name, [RawColumn(column, "object") for column in names])
            self.columns = tuple(RawColumn(column, _storage(kinds)) for column, kinds in self._kinds(database))

    def _kinds(self, database: sqlite3.Connection) -> list[tuple[str, set[str]]]:
        columns = [column.name for column in self.columns]
        types = ", ".join(f"group_concat(DISTINCT typeof({sql_name(name)}))" for name in columns)
        found = database.execute(f"SELECT {types} FROM ({self._query})").fetchone()
        return [(name, set((kinds or "").split(","))) for name, kinds in zip(columns, found, strict=True)]

    def pieces(self, indices: Sequence[int]) -> Iterator[ListsPiece]:
        watch = Watch()
        return ahead(self._rows(indices, watch), watch.stop)

    def _rows(self, indices: Sequence[int], watch: Watch) -> Generator[ListsPiece, None, None]:
        names = ", ".join(sql_name(self.columns[index].name) for index in indices) or "1"
        with connected(self._path, self._name, watch) as database:
            cursor = database.execute(f"SELECT {names} FROM ({self._query})")
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
    return SqliteSource(path, name, f"SELECT * FROM {sql_name(_chosen(path, name, table))}")


def _chosen(path: Path, name: str, table: str | None) -> str:
    known = _tables(path, name)
    if table is None and len(known) == 1:
        return known[0]
    have = listed(known) if known else "none"
    if table is None:
        raise SourceError(
            f"{name} has not one table but {len(known)}: {have}",
            fix=f"name one, such as {_named(known[0])}" if known else "give a file with a table",
        )
    if table not in known:
        near = get_close_matches(table, known, n=1)
        fix = f"use {_named(near[0] if near else known[0])}" if known else "give a file with a table"
        raise SourceError(f"{name} has no table {quoted(table)}; it has {have}", fix=fix)
    return table


def _named(table: str) -> str:
    """How to name a table, in Python and in the shell."""
    return f"table_name={quoted(table)} (--table {shlex.quote(shortened(table))})"


def _tables(path: Path, name: str) -> list[str]:
    listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    with connected(path, name, Watch()) as database:
        names = [row[0] for row in database.execute(listing)]
    return [name for name in names if isinstance(name, str) and not name.startswith("sqlite_")]
