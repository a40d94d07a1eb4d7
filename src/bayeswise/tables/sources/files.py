"""Paths: which files are meant, and which reader each needs; several tables with the same columns are one."""

from __future__ import annotations

import glob
import io
import os
import weakref
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.atomic import FULL
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError, SourceError, shortened
from bayeswise.foundation.file_bytes import STANDARD_INPUT, STDIN, is_read_once, name_of, standard_input
from bayeswise.tables.source import DEFAULT_NULL_WORDS, RawColumn, Storage
from bayeswise.tables.sources.opening import CHOICES, FILE_OPTIONS, TEXT_OPTIONS, Options, refuse
from bayeswise.tables.sources.table import Piece, Rules, SpelledNumbers, TableSource
from bayeswise.tables.sources.text.csv import CsvSource, Piped, PipedCsvSource, empty_file
from bayeswise.tables.sources.text.stream import SAMPLE_BYTES, encoding_of, translated

AnyPath: TypeAlias = "str | PathLike[str]"
_JSON = {".jsonl", ".ndjson", ".json"}
_PACKED = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd")  # gzip, bzip2, zstd
_BINARY = (b"PAR1", b"SQLite format 3", b"ARROW1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_MODEL = b'{"__metadata__":{"bayeswise"'  # after the length of the header
_DUCKDB = b"DUCK"  # after a checksum
MOST_SPOOLED = 16 << 30  # bytes of a Parquet file, a workbook or a database that comes through a pipe
_WORKBOOKS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}


def from_paths(table: AnyPath | Sequence[AnyPath], options: Options) -> TableSource:
    """The source of one path, several paths or a glob."""
    given = [table] if isinstance(table, str | PathLike) else list(table)
    if given == [STDIN]:
        return _from_stream(standard_input(), STANDARD_INPUT, Path(STANDARD_INPUT), options)
    parts = [from_path(path, options) for item in given for path in _expanded(item)]
    return parts[0] if len(parts) == 1 else ConcatenatedSource(parts)


def from_path(path: Path, options: Options) -> TableSource:
    """The source of one file; what gives its bytes only once (a pipe, a device) is read like standard input."""
    if not is_read_once(path):
        return from_file(path, path.name, options)
    name = name_of(path)
    with translated(name):
        stream = path.open("rb")
    try:
        source = _from_stream(stream, name, path, options)
    except BaseException:
        stream.close()
        raise
    weakref.finalize(source, stream.close)
    return source


def from_content(data: bytes, name: str) -> TableSource:
    """The source of bytes that were read already."""
    return _from_stream(io.BytesIO(data), name, Path(name), Options(DEFAULT_NULL_WORDS))


def _expanded(item: AnyPath) -> list[Path]:
    """The file of that name if there is one; else the files that match, with ~ for the home directory."""
    text = os.fspath(item)
    if "\0" in text:
        raise SourceError(f"there is no file {shortened(text)}: a path has no zero byte", fix="check the path")
    try:
        path = _home_expanded(Path(text))
        if path.exists() or not glob.has_magic(text):
            return [_checked(path)]
        found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (patterns may be absolute)
        if not found:
            raise SourceError(f"no file matches {shortened(text)}", fix="check the pattern")
        return [_checked(Path(name)) for name in found]
    except OSError as problem:  # no right to look there, or a name that no file can have
        why = problem.strerror or problem
        raise SourceError(f"{shortened(text)} cannot be read: {why}", fix="check the path and its rights") from None


def _home_expanded(path: Path) -> Path:
    """A file whose name begins with ~ is that file, and an unknown user's home is a name like any other."""
    if path.exists():
        return path
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def _checked(path: Path) -> Path:
    if path.is_dir():
        raise SourceError(f"{shortened(path)} is a directory", fix=f"name its files, such as '{shortened(path)}/*.csv'")
    if not path.exists():
        raise SourceError(f"there is no file {shortened(path)}", fix=_nearby(path))
    return path


def _nearby(path: Path) -> str:
    if not path.parent.is_dir():
        return f"check the path: there is no directory {shortened(path.parent)}"
    near = get_close_matches(path.name, [other.name for other in path.parent.iterdir()], n=3, cutoff=0.6)
    return f"did you mean {' or '.join(shortened(path.parent / name) for name in near)}?" if near else "check the path"


def _from_stream(raw: Any, name: str, path: Path, options: Options) -> TableSource:
    """A stream: as it comes if it is text and one sweep is enough, else kept in a temporary file."""
    stream = Piped(raw)
    with translated(name):
        start = stream.peek(512)
    if options.once and is_plain_text(start):
        refuse(options, CHOICES, name)
        return PipedCsvSource(stream, path, name=name, **options.of_text)
    if is_plain_text(start):
        encoding_of(name, stream.peek(SAMPLE_BYTES), whole=False)  # refuses an endless device before the disk is full
    return _spooled(stream, name, path, options, MOST_SPOOLED if start.startswith(_BINARY) else None)


def _spooled(stream: Piped, name: str, path: Path, options: Options, most: int | None) -> TableSource:
    """A temporary file that goes away with the source, or with the process, whatever ends it."""
    import tempfile

    folder = tempfile.TemporaryDirectory(prefix="bayeswise-")
    try:
        kept = Path(folder.name) / ("table" + "".join(path.suffixes[-2:]))
        _copy(stream, kept, name, most)
        source = from_file(kept, name, options, piped=True)
    except BaseException:
        folder.cleanup()
        raise
    weakref.finalize(source, folder.cleanup)
    return source


def _copy(stream: Piped, path: Path, name: str, most: int | None) -> None:
    n_bytes = 0
    try:
        with path.open("wb") as spool:
            while fresh := stream.read():
                n_bytes += len(fresh)
                if most is not None and n_bytes > most:
                    raise SourceError(
                        f"{name} sends more than {most >> 30} GB that cannot be read as they come",
                        fix="save them in a file, and name the file",
                    )
                spool.write(fresh)
    except OSError as problem:
        if problem.errno not in FULL:
            raise SourceError(f"{name} cannot be read: {problem.strerror or problem}", fix="check the pipe") from None
        raise SourceError(
            f"{name} does not fit into {path.parent.parent}, where temporary files go",
            fix="set TMPDIR to a folder with more room, or name a file instead",
        ) from None


def is_plain_text(start: bytes) -> bool:
    """Whether a stream that begins with these bytes is delimited text: neither packed, nor JSON, nor binary."""
    return bool(start) and not start.startswith(_PACKED + _BINARY) and not start.lstrip().startswith((b"{", b"["))


def from_file(path: Path, name: str, options: Options, *, piped: bool = False) -> TableSource:
    """The reader of a file, chosen by its first bytes, then by its suffix; CSV unless they say otherwise."""
    with translated(name), path.open("rb") as stream:
        start = stream.read(512)
    if not start:
        raise empty_file(name)
    if start[8:].startswith(_MODEL):
        raise SourceError(
            f"{name} is a model of bayeswise, and a table is needed here",
            fix=f"name a table; `bayeswise inspect {name}` shows what a model holds",
        )
    if start[8:].startswith(_DUCKDB):
        raise SourceError(
            f"{name} is a database of DuckDB, which is not read here",
            fix="write a table of it to a file, as in: duckdb FILE \"COPY table TO 'table.parquet'\"",
        )
    suffixes = {suffix.lower() for suffix in path.suffixes[-2:]}
    if piped and is_json(start):
        suffixes |= {".json"}
    return _binary(path, name, options, start, suffixes) or _text(path, name, options, suffixes)


def is_json(start: bytes) -> bool:
    """Whether the bytes begin an object, or a list of objects.

    >>> is_json(b'{"a": 1}'), is_json(b' [{"a": 1}]'), is_json(b"[x],y")
    (True, True, False)
    """
    return start.lstrip().removeprefix(b"[").lstrip().startswith(b"{")


def _binary(path: Path, name: str, options: Options, start: bytes, suffixes: set[str]) -> TableSource | None:
    if start.startswith(b"PAR1"):
        from bayeswise.tables.sources.parquet import from_parquet

        refuse(options, FILE_OPTIONS, name)
        return from_parquet(path, name)
    if start.startswith(b"SQLite format 3\0"):
        from bayeswise.tables.sources.sqlite import from_sqlite

        refuse(options, TEXT_OPTIONS, name)
        return from_sqlite(path, name, options.table_name, options.query)
    if start.startswith(b"ARROW1") or suffixes & {".arrow", ".feather", ".ipc"}:
        from bayeswise.tables.sources.arrow_file import from_arrow_file

        refuse(options, FILE_OPTIONS, name)
        return from_arrow_file(path, name)
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or suffixes & _WORKBOOKS:
        from bayeswise.tables.sources.workbook import from_workbook

        refuse(options, (*TEXT_OPTIONS, "query"), name)
        return from_workbook(path, name, options.table_name, options.null_words)
    return None


def _text(path: Path, name: str, options: Options, suffixes: set[str]) -> TableSource:
    if suffixes & _JSON:
        from bayeswise.tables.sources.duckdb_scan import from_json

        refuse(options, FILE_OPTIONS, name)
        return from_json(path, name)
    refuse(options, CHOICES, name)
    return CsvSource(path, name=name, **options.of_text)


@dataclass(frozen=True)
class PartPiece:
    """A piece of one table, its columns found by their place in the first."""

    piece: Piece
    places: Sequence[int]

    @property
    def n_rows(self) -> int:
        return self.piece.n_rows

    @property
    def rules(self) -> Rules:
        return self.piece.rules

    @property
    def by_columns(self) -> bool:
        return self.piece.by_columns

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return self.piece.column(self.places[index], begin, n_rows)

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        return self.piece.matrix([self.places[index] for index in indices], begin, n_rows)

    def numbers(self, indices: Sequence[int], begin: int, out: NDArray[np.float64]) -> list[SpelledNumbers]:
        return self.piece.numbers([self.places[index] for index in indices], begin, out)


class ConcatenatedSource(TableSource):
    """Tables whose columns have the same names, in any order."""

    def __init__(self, parts: Sequence[TableSource]) -> None:
        first = parts[0]
        for part in parts[1:]:
            _check_same(first, part)
        self._parts = parts
        self.textual = first.textual
        self.null_words = first.null_words
        more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
        super().__init__(first.description + more, [_joint(column, parts) for column in first.columns])

    def pieces(self, indices: Sequence[int]) -> Iterator[PartPiece]:
        for part in self._parts:
            places = part.positions(column.name for column in self.columns)
            for piece in part.pieces([places[index] for index in indices]):
                yield PartPiece(piece, places)


def _check_same(first: TableSource, part: TableSource) -> None:
    known, found = {c.name for c in first.columns}, {c.name for c in part.columns}
    if known == found:
        return
    name = min(known ^ found)
    has, lacks = (first, part) if name in known else (part, first)
    raise SchemaError(
        f"{lacks.description} has no column {name!r}, but {has.description} has",
        fix="give tables with the same columns, or read them one by one",
    )


def _joint(column: RawColumn, parts: Sequence[TableSource]) -> RawColumn:
    """The storage that holds the cells of all parts."""
    found = [part.columns[part.positions([column.name])[0]] for part in parts]
    storages: set[Storage] = {other.storage for other in found}
    if len(storages) == 1 and all(other.declared == column.declared for other in found):
        return column
    storages.discard("null")
    if len(storages) == 1 and storages != {"declared"}:
        return RawColumn(column.name, storages.pop())
    return RawColumn(column.name, "float" if storages <= {"integer", "float"} else "object")
