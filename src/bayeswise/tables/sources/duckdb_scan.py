"""What DuckDB reads: Parquet, JSON and its own relations, streamed as Arrow batches."""

from __future__ import annotations

import glob
import json
import math
import os
import re
import tempfile
import weakref
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from bayeswise import _kernels
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError, SourceError, quoted, shortened
from bayeswise.foundation.threads import ahead, available
from bayeswise.tables.source import RawColumn, unreadable
from bayeswise.tables.sources.arrow import ArrowPiece, batches, not_unicode, one_batch, raw_columns
from bayeswise.tables.sources.cells import object_column
from bayeswise.tables.sources.table import PLAIN, TableSource

_CLASS = re.compile(r"^(\w+ )+Error: ")  # "Invalid Input Error: " says nothing to a reader
_MAGIC = re.compile(r"([*?[])")
_NUMBERED = re.compile(r"(.*)_[0-9]+", re.DOTALL)
_PACKED = (".gz", ".bz2", ".zst")  # JSON is unpacked by its suffix
_INTEGERS = frozenset(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG")) | {
    "INTEGER",
    "UINTEGER",
}
_FLOATS = frozenset({"DOUBLE", "FLOAT"})
_Group: TypeAlias = tuple[str | None, str | None, int, int | None]  # least, largest, cells, missing ones among them
_SETTINGS = (
    "SET enable_progress_bar = false",
    "SET preserve_insertion_order = true",
    "SET enable_external_file_cache = false",  # memory must not grow with the file
)


def database() -> Any:
    """A database in memory with no more threads than may be used, those that wait for files among them."""
    import duckdb

    most: dict[str, Any] = {"threads": available()}
    try:
        return duckdb.connect(":memory:", config={**most, "async_threads": available() - 1})
    except duckdb.Error:  # not every version has this setting
        return duckdb.connect(":memory:", config=most)


@contextmanager
def translated(name: str) -> Iterator[None]:
    """DuckDB's errors as ours, in one line."""
    import duckdb

    try:
        yield
    except duckdb.Error as problem:
        sentence = shortened(_CLASS.sub("", " ".join(str(problem).split("\n\n")[0].split())), 400)
        raise unreadable(name, sentence, "check that the file is whole") from None
    except (RuntimeError, UnicodeError) as problem:  # of DuckDB's way to Python
        if isinstance(problem, RuntimeError) and "conversion error" not in str(problem):
            raise
        raise not_unicode(name) from None


@dataclass(frozen=True)
class ScanPiece(ArrowPiece):
    """A batch in which some columns hold JSON fragments of several types."""

    mixed: frozenset[int]

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        column = super().column(index, begin, n_rows)
        if index not in self.mixed:
            return column
        fragments = column.texts(PLAIN)
        return object_column([None if fragment is None else json.loads(str(fragment)) for fragment in fragments])


class RelationSource(TableSource):
    """A DuckDB relation: each sweep runs its query again."""

    def __init__(self, description: str, relation: Any) -> None:
        self._relation = relation
        with translated(description):
            fields, _ = one_batch(description, relation.limit(0).__arrow_c_stream__())
        columns = [_declared(raw, kind) for raw, kind in zip(raw_columns(fields, None), relation.types, strict=True)]
        self._sql_names = list(relation.columns)
        self._mixed = frozenset(k for k, kind in enumerate(relation.types) if str(kind) == "JSON")
        super().__init__(description, self._named(columns))

    def _named(self, columns: list[RawColumn]) -> list[RawColumn]:
        return columns

    def pieces(self, indices: Sequence[int]) -> Iterator[ScanPiece]:
        positions = {index: k for k, index in enumerate(indices)}
        for batch in ahead(self._batches(indices)):
            yield ScanPiece(batch, positions, self._mixed)

    def _batches(self, indices: Sequence[int]) -> Generator[_kernels.ArrowBatch, None, None]:
        projection = ", ".join(sql_name(self._sql_names[k]) for k in indices)
        try:
            with translated(self.description):
                capsule = self._opened().project(projection or "1").__arrow_c_stream__()
                yield from batches(self.description, capsule)
        except SourceError:
            if len(indices) > 1:
                self._refuse_columns(indices)
            raise

    def _refuse_columns(self, indices: Sequence[int]) -> None:
        """Raise the error of the first column that cannot be read by itself."""
        for index in indices:
            name = f"column {quoted(self.columns[index].name)} of {self.description}"
            with translated(name):
                for _ in batches(name, self._opened().project(sql_name(self._sql_names[index])).__arrow_c_stream__()):
                    pass

    def _opened(self) -> Any:
        return self._relation


class ScanSource(RelationSource):
    """A file that DuckDB scans, on a connection of its own for each sweep."""

    def __init__(self, name: str, reader: str, path: Path) -> None:
        self._database = database()
        address = one_file(path)
        self._link = Link(path) if address is None else None
        self._file = literal(str(self._link.path) if self._link else str(address))
        self._query = f"SELECT * FROM {reader.format(path=self._file)}"
        with translated(name):
            super().__init__(name, self._opened())

    def _opened(self) -> Any:
        import duckdb

        cursor = self._database.cursor()
        for setting in (*_SETTINGS, f"SET threads = {available()}"):
            with suppress(duckdb.CatalogException):  # not every version knows all of them
                cursor.execute(setting)
        return cursor.sql(self._query)


def one_file(path: Path) -> str | None:
    """The path as a pattern that matches nothing else; None where brackets cannot say it.

    >>> one_file(Path("/data/run[1]/what?.parquet"))
    '/data/run[[]1]/what[?].parquet'
    """
    text = str(path.absolute())
    if os.sep == "/" and "\\" in text and glob.has_magic(text):  # an escape for DuckDB, which it then does not undo
        return None
    return _MAGIC.sub(r"[\1]", text) if is_unicode(text) else None


def is_unicode(text: str) -> bool:
    """False for the path of a file whose name is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Link:
    """A link with a plain name to a file whose own name a reader does not take; it is there as long as this object."""

    def __init__(self, path: Path) -> None:
        folder = tempfile.TemporaryDirectory(prefix="bayeswise-")
        weakref.finalize(self, folder.cleanup)
        self.path = Path(folder.name) / ("table" + (path.suffix if path.suffix in _PACKED else ""))
        self.path.symlink_to(path.absolute())


def sql_name(name: str) -> str:
    """A name as SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _declared(column: RawColumn, kind: Any) -> RawColumn:
    if kind.id == "enum":
        return RawColumn(column.name, "declared", tuple(dict(kind.children)["values"]))
    return RawColumn(column.name, "object") if str(kind) == "JSON" else column


def from_relation(relation: Any) -> TableSource:
    """A relation of the user's own connection."""
    if not hasattr(relation, "project"):
        raise SourceError(
            f"a {type(relation).__name__} of duckdb is not a table", fix='give a relation: connection.sql("SELECT ...")'
        )
    return RelationSource("duckdb relation", relation)


class ParquetSource(ScanSource):
    """A Parquet file, under its own names: DuckDB ignores their case and renames the second of "a" and "A"."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(name, "read_parquet({path}, hive_partitioning=false)", path)

    def _named(self, columns: list[RawColumn]) -> list[RawColumn]:
        schema = f"SELECT name, num_children FROM parquet_schema({self._file})"
        nodes = iter(self._database.execute(schema).fetchall())
        _, n_columns = next(nodes)
        names = [_top_name(nodes) for _ in range(n_columns)]
        return [column._replace(name=name) for column, name in zip(columns, names, strict=True)]

    def stated_extremes(self, columns: Sequence[str]) -> Mapping[str, tuple[float, float, int]]:
        """What the writer of the file says of each group of rows; nothing of a column that it says too little of."""
        groups = self._groups_of_rows()
        stated = {}
        for name, index in zip(columns, self.positions(columns), strict=True):
            kind, found = str(self._relation.types[index]), _together(groups.get(index, ()))
            if found is not None and (kind in _INTEGERS or (kind in _FLOATS and _no_matter_how_many(*found))):
                stated[name] = found
        return stated

    def _groups_of_rows(self) -> dict[int, list[_Group]]:
        """By column; none of a file with columns inside of columns."""
        fields = "column_id, stats_min_value, stats_max_value, num_values, stats_null_count"
        groups: dict[int, list[_Group]] = {}
        for index, *group in self._database.execute(f"SELECT {fields} FROM parquet_metadata({self._file})").fetchall():
            groups.setdefault(index, []).append(tuple(group))
        return groups if len(groups) == len(self.columns) else {}


def _together(groups: Sequence[_Group]) -> tuple[float, float, int] | None:
    """The least, the largest and the number of cells of all groups; None if one of them does not say."""
    low, high, present = math.inf, -math.inf, 0
    for least, most, n_cells, n_missing in groups:
        if n_missing == n_cells:
            continue
        if n_missing is None or least is None or most is None or not float(least) <= float(most):
            return None
        low, high, present = min(low, float(least)), max(high, float(most)), present + n_cells - n_missing
    return (low, high, present) if present else None


def _no_matter_how_many(low: float, high: float, present: int) -> bool:
    """Whether numbers cannot be all of a range, however many of them are NaN, which a file counts as present.

    >>> _no_matter_how_many(1.0, 3.5, 4), _no_matter_how_many(1.0, 3.0, 4)
    (True, False)
    """
    return high - low + 1.0 > present or not (high - low).is_integer()


def _top_name(nodes: Iterator[tuple[str, int | None]]) -> str:
    """The name of the next node of a schema in depth-first order, its children passed over."""
    name, n_children = next(nodes)
    for _ in range(n_children or 0):
        _top_name(nodes)
    return name


class JsonSource(ScanSource):
    """JSON lines, or one JSON array of objects; types are decided from all rows, not from the first ones."""

    def __init__(self, path: Path, name: str) -> None:
        self._path_name = name
        super().__init__(name, "read_json({path}, sample_size=-1, maximum_depth=2, hive_partitioning=false)", path)

    def _named(self, columns: list[RawColumn]) -> list[RawColumn]:
        """DuckDB calls the second of "a" and "A" A_1, and reads one of them wherever both are meant."""
        folded = {column.name.lower() for column in columns}
        renamed = {c.name for c in columns if (found := _NUMBERED.fullmatch(c.name)) and found[1].lower() in folded}
        if renamed:
            keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM read_json_objects({self._file})"
            if lost := sorted(renamed - {row[0] for row in self._database.execute(keys).fetchall()}):
                raise SchemaError(
                    f"{self._path_name} has keys that differ in case only, as {quoted(lost[0].rpartition('_')[0])}",
                    fix="rename one of them",
                )
        return columns


def from_json(path: Path, name: str) -> TableSource:
    """A file of JSON."""
    return JsonSource(path, name)
