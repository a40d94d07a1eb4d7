"""Paths: which files are meant, and which reader each needs."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
import weakref
from collections.abc import Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from bayeswise.foundation.errors import NotInstalledError, SourceError
from bayeswise.store.atomic import FULL
from bayeswise.tables.sources.concatenated import ConcatenatedSource
from bayeswise.tables.sources.csv import CsvSource, empty_file
from bayeswise.tables.sources.opening import CHOICES, FILE_OPTIONS, TEXT_OPTIONS, Options, refuse
from bayeswise.tables.sources.piped import Piped, PipedCsvSource
from bayeswise.tables.sources.table import TableSource
from bayeswise.tables.sources.text_file import translated

AnyPath: TypeAlias = "str | PathLike[str]"
STDIN = "-"
_JSON = {".jsonl", ".ndjson", ".json"}
_STANDARD_INPUT = "standard input"
_PACKED = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd")  # gzip, bzip2, zstd
_BINARY = (b"PAR1", b"SQLite format 3", b"ARROW1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_MODEL = b'{"__metadata__":{"bayeswise"'  # after the length of the header
_WORKBOOKS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}


def from_paths(table: AnyPath | Sequence[AnyPath], options: Options) -> TableSource:
    """The source of one path, several paths or a glob."""
    given = [table] if isinstance(table, str | PathLike) else list(table)
    if given == [STDIN]:
        return _from_stdin(options)
    paths = [path for item in given for path in _expanded(item)]
    parts = [from_file(path, path.name, options) for path in paths]
    return parts[0] if len(parts) == 1 else ConcatenatedSource(parts)


def _expanded(item: AnyPath) -> list[Path]:
    path = Path(item).expanduser()
    if path.exists() or not glob.has_magic(str(item)):
        return [_checked(path)]
    found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (patterns may be absolute)
    if not found:
        raise SourceError(f"no file matches {item}", fix="check the pattern")
    return [_checked(Path(name)) for name in found]


def _checked(path: Path) -> Path:
    if path.is_dir():
        raise SourceError(f"{path} is a directory", fix=f"name its files, such as '{path}/*.csv'")
    if not path.exists():
        raise SourceError(f"there is no file {path}", fix=_nearby(path))
    return path


def _nearby(path: Path) -> str:
    if not path.parent.is_dir():
        return f"check the path: there is no directory {path.parent}"
    near = get_close_matches(path.name, [other.name for other in path.parent.iterdir()], n=3, cutoff=0.6)
    return f"did you mean {' or '.join(str(path.parent / name) for name in near)}?" if near else "check the path"


def _from_stdin(options: Options) -> TableSource:
    """Standard input: as it comes if it is text and one sweep is enough, else kept in a temporary file."""
    start = Piped(sys.stdin.buffer)
    if options.once and is_plain_text(start.peek(512)):
        refuse(options, CHOICES, _STANDARD_INPUT)
        return PipedCsvSource(start, name=_STANDARD_INPUT, **options.of_text)
    return _spooled(start, options)


def _spooled(stream: Piped, options: Options) -> TableSource:
    """A temporary file that goes away with the source, or with the process, whatever ends it."""
    folder = tempfile.TemporaryDirectory(prefix="bayeswise-")
    try:
        path = Path(folder.name) / _STANDARD_INPUT  # the name that messages use
        _copy(stream, path)
        source = from_file(path, _STANDARD_INPUT, options)
    except BaseException:
        folder.cleanup()
        raise
    weakref.finalize(source, folder.cleanup)
    return source


def _copy(stream: Piped, path: Path) -> None:
    try:
        with path.open("wb") as spool:
            shutil.copyfileobj(stream, spool)
    except OSError as problem:
        if problem.errno not in FULL:
            raise
        raise SourceError(
            f"standard input does not fit into {path.parent.parent}, where temporary files go",
            fix="set TMPDIR to a folder with more room, or name a file in place of -",
        ) from None


def is_plain_text(start: bytes) -> bool:
    """Whether a stream that begins with these bytes is CSV or its kin: neither packed, nor JSON, nor binary."""
    return bool(start) and not start.startswith(_PACKED + _BINARY) and not start.lstrip().startswith((b"{", b"["))


def from_file(path: Path, name: str, options: Options) -> TableSource:
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
    suffixes = {suffix.lower() for suffix in path.suffixes[-2:]}
    return _binary(path, name, options, start, suffixes) or _text(path, name, options, start, suffixes)


def _binary(path: Path, name: str, options: Options, start: bytes, suffixes: set[str]) -> TableSource | None:
    if start.startswith(b"PAR1"):
        from bayeswise.tables.sources.duckdb_scan import ParquetSource

        refuse(options, FILE_OPTIONS, name)
        return ParquetSource(path, name)
    if start.startswith(b"SQLite format 3\0"):
        from bayeswise.tables.sources.sqlite import from_sqlite

        refuse(options, TEXT_OPTIONS, name)
        return from_sqlite(path, name, options.table_name, options.query)
    if start.startswith(b"ARROW1") or suffixes & {".arrow", ".feather", ".ipc"}:
        refuse(options, FILE_OPTIONS, name)
        return _arrow_file(path, name)
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or suffixes & _WORKBOOKS:
        from bayeswise.tables.sources.workbook import from_workbook

        refuse(options, (*TEXT_OPTIONS, "query"), name)
        return from_workbook(path, name, options.table_name, options.null_words)
    return None


def _text(path: Path, name: str, options: Options, start: bytes, suffixes: set[str]) -> TableSource:
    if suffixes & _JSON or (name == _STANDARD_INPUT and start.lstrip().startswith(b"{")):
        from bayeswise.tables.sources.duckdb_scan import from_json

        refuse(options, FILE_OPTIONS, name)
        return from_json(path, name)
    refuse(options, CHOICES, name)
    return CsvSource(path, name=name, **options.of_text)


def _arrow_file(path: Path, name: str) -> TableSource:
    try:
        import polars
    except ImportError:
        raise NotInstalledError(
            f"{name} is an Arrow file, which needs polars", fix="pip install polars, or write it as Parquet"
        ) from None
    from bayeswise.tables.sources.polars_frame import LazySource

    return LazySource(polars.scan_ipc(path), name)
