"""Rows as a Parquet file: kept as JSON lines until all of them are known, then written by DuckDB with their types."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bayeswise.cli.output.table_text import JsonLines, Reading
from bayeswise.foundation.errors import StoreError, UsageError, quoted, shortened

_PIECE = 1 << 20
_WIDEST = 1 << 63


class ParquetFile:
    """Columns of a Parquet file: of numbers where every cell is a number or missing, else of text."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._lines = JsonLines()
        folder = tempfile.TemporaryDirectory(prefix="bayeswise-")
        self._folder = Path(folder.name)
        self._clean_up = weakref.finalize(self, folder.cleanup)
        self._spool = (self._folder / "rows.jsonl").open("wb")
        self._names: Sequence[str] = ()
        self._kinds: list[set[str]] = []

    def begin(self, names: Sequence[str]) -> bytes:
        by_fold: dict[str, str] = {}
        for name in names:
            if (other := by_fold.setdefault(name.lower(), name)) != name:
                raise UsageError(
                    f"columns {quoted(other)} and {quoted(name)} would be one in a Parquet file of DuckDB",
                    fix="rename one of them, or write .csv or .jsonl",
                )
        self._names, self._kinds = names, [set() for _ in names]
        self._lines.begin([f"c{k}" for k in range(len(names))])
        return b""

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        """Nothing yet: one odd cell in the last row may make a column text."""
        values = [self._reading.values(name, cells) for name, cells in zip(self._names, columns, strict=True)]
        for kinds, cells in zip(self._kinds, values, strict=True):
            kinds.update(map(_kind, cells))
        self._spool.write(self._lines.rows(values, safe))
        return b""

    def end(self) -> Iterable[bytes]:
        self._spool.close()
        try:
            with self._written().open("rb") as file:
                yield from iter(lambda: file.read(_PIECE), b"")
        finally:
            self._clean_up()

    def _written(self) -> Path:
        import duckdb

        from bayeswise.tables.sources.duckdb_scan import literal, sql_name

        spool, path = Path(self._spool.name), self._folder / "rows.parquet"
        types = ", ".join(f"'c{k}': '{kind}'" for k, kind in enumerate(self._types()))
        wanted = ", ".join(f"c{k} AS {sql_name(name)}" for k, name in enumerate(self._names))
        rows = f"read_json({literal(str(spool))}, format='newline_delimited', columns={{{types}}})"
        query = f"SELECT {wanted} FROM {rows}" if spool.stat().st_size else f"SELECT {self._empty()} LIMIT 0"
        try:
            with duckdb.connect(":memory:") as database:
                database.execute("SET preserve_insertion_order = true")
                database.execute(f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet)")
        except duckdb.Error as problem:
            sentence = shortened(" ".join(str(problem).split()))
            raise StoreError(f"the rows cannot be written as Parquet: {sentence}", fix="write .csv or .jsonl") from None
        return path

    def _types(self) -> Iterator[str]:
        for name, kinds in zip(self._names, self._kinds, strict=True):
            yield _sql_type(kinds - {"missing"} or ({"float"} if name in self._reading.numbers else {"text"}))

    def _empty(self) -> str:
        from bayeswise.tables.sources.duckdb_scan import sql_name

        columns = zip(self._names, self._types(), strict=True)
        return ", ".join(f"CAST(NULL AS {kind}) AS {sql_name(name)}" for name, kind in columns)


def _kind(cell: Any) -> str:
    if cell is None or cell != cell:
        return "missing"
    if isinstance(cell, bool):
        return "flag"
    if isinstance(cell, int):
        return "integer" if -_WIDEST <= cell < _WIDEST else "text"
    return "float" if isinstance(cell, float) else "text"


def _sql_type(kinds: set[str]) -> str:
    """
    >>> _sql_type({"integer"}), _sql_type({"integer", "float"}), _sql_type({"integer", "text"})
    ('BIGINT', 'DOUBLE', 'VARCHAR')
    """
    if kinds == {"flag"}:
        return "BOOLEAN"
    if kinds <= {"integer", "float"}:
        return "DOUBLE" if "float" in kinds else "BIGINT"
    return "VARCHAR"
