"""Which kind of source an object is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotInstalledError, ParameterError, SourceError
from bayeswise.render.labels import with_article
from bayeswise.tables.partitions import NearSource, SpreadSource
from bayeswise.tables.source import DEFAULT_NULL_WORDS, Source
from bayeswise.tables.sources.table import TableSource

TEXT_OPTIONS = ("delimiter", "encoding", "decimal", "header")
CHOICES = ("table_name", "query")
FILE_OPTIONS = (*TEXT_OPTIONS, *CHOICES)
_TYPED = {"table_name": "table_name (--table)"}  # the others have one name in Python and in the shell


@dataclass(frozen=True)
class Options:
    """How to read files; None is sniffed."""

    null_words: tuple[str, ...]
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | None = None
    table_name: str | None = None
    query: str | None = None
    once: bool = False

    @property
    def of_text(self) -> dict[str, Any]:
        """What a reader of delimited text takes."""
        return {name: getattr(self, name) for name in ("null_words", *TEXT_OPTIONS)}


def opened(table: Any, options: Options, chunk_rows: int | None) -> Source:
    """The source of a table in memory or in files."""
    _check(options, chunk_rows)
    source = _opened(table, options)
    if chunk_rows is not None and isinstance(source, TableSource):
        source.chunk_rows = chunk_rows
    return source


def _check(options: Options, chunk_rows: int | None) -> None:
    if options.decimal not in (None, ".", ","):
        raise ParameterError(f"the decimal mark must be '.' or ','; found {options.decimal!r}", fix="use one of them")
    if chunk_rows is not None and chunk_rows < 1:
        raise ParameterError(f"chunk_rows must be at least 1; found {chunk_rows}", fix="leave it out")


def _opened(table: Any, options: Options) -> Source:
    if isinstance(getattr(table, "textual", None), bool):  # a frame may have a column of any name
        source: Source = table
        return source
    if isinstance(table, str | PathLike) or _is_paths(table):
        from bayeswise.tables.sources import files

        return files.from_paths(table, options)
    refuse(options, FILE_OPTIONS, f"a {type(table).__name__}")
    return _in_memory(table)


def refuse(options: Options, names: Sequence[str], what: str) -> None:
    """Refuse options that do not apply to this kind of table."""
    for name in names:
        if getattr(options, name) is not None:
            raise ParameterError(f"{_TYPED.get(name, name)} does not apply to {what}", fix="leave it out")


def _is_paths(table: object) -> bool:
    return (
        isinstance(table, Sequence)
        and not hasattr(table, "_asdict")
        and len(table) > 0
        and all(isinstance(item, str | PathLike) for item in table)
    )


ENGINES = {"dask": "bayeswise.engines.dask", "pyspark": "bayeswise.engines.spark"}
"""Libraries whose tables are spread over machines, and who answers for them; imported when such a table comes."""


def spread(table: Any) -> SpreadSource | None:
    """The source of a table that is spread over machines; None for any other."""
    library = type(table).__module__.split(".")[0]
    if library == "narwhals":
        return spread(table.to_native())
    if library not in ENGINES:
        return table if isinstance(table, SpreadSource) else None
    try:
        engine = import_module(ENGINES[library])
    except ImportError as error:
        extra = ENGINES[library].rpartition(".")[2]
        raise NotInstalledError(
            f"a table of {library} needs the package {error.name}", fix=f"pip install 'bayeswise[{extra}]'"
        ) from None
    source: SpreadSource = engine.opened(table)
    return source


LONG_TEXT = 1 << 22
"""Bytes from which on a text file is read once for its profile and its statistics, as its first rows foresee them."""
_TEXT_SUFFIXES = (".csv", ".tsv", ".txt")


def long_file(table: Any) -> NearSource | None:
    """The source of a long file of text, or of a Parquet file that is read without DuckDB; None for any other table."""
    if isinstance(table, str | PathLike):
        path = Path(table)
        if not path.is_file() or path.stat().st_size < _least_bytes(path.suffix.lower()):
            return None
        table = opened(path, Options(DEFAULT_NULL_WORDS), None)
    return NearSource(table) if getattr(table, "n_bytes", -1) >= LONG_TEXT else None


def _least_bytes(suffix: str) -> float:
    """From which on a file may be one that is read once."""
    if suffix == ".parquet":
        from bayeswise.tables.sources.parquet import LONG_FILE

        return LONG_FILE
    return LONG_TEXT if suffix in _TEXT_SUFFIXES else math.inf


def _in_memory(table: Any) -> Source:
    far: Any = spread(table)
    if far is not None:
        return cast(Source, far)
    library = type(table).__module__.split(".")[0]
    kind = type(table).__name__
    if library == "pandas" and kind != "Pandas":  # which is the named tuple of a row
        return _pandas(table, kind)
    if library == "polars":
        return _polars(table, kind)
    if library == "narwhals":
        return _in_memory(table.to_native())
    if library in ("duckdb", "_duckdb"):
        from bayeswise.tables.sources.duckdb_scan import from_relation

        return from_relation(table)
    if hasattr(table, "__arrow_c_stream__"):
        from bayeswise.tables.sources.arrow import from_pyarrow

        return from_pyarrow(table)
    return _plain(table)


def _pandas(table: Any, kind: str) -> TableSource:
    from bayeswise.tables.sources.memory.pandas_frame import PandasSource

    if kind == "Series":
        return PandasSource(table.to_frame(table.name if table.name is not None else "x0"))
    return PandasSource(table)


def _polars(table: Any, kind: str) -> TableSource:
    from bayeswise.tables.sources.memory.polars_frame import LazySource, from_frame

    if kind == "LazyFrame":
        return LazySource(table)
    return from_frame(table.to_frame() if kind == "Series" else table)


def _plain(table: Any) -> TableSource:
    from bayeswise.tables.sources.memory import numpy_array, records

    if isinstance(table, np.ndarray):
        return numpy_array.from_array(table)
    if hasattr(table, "tocsr"):
        from bayeswise.tables.sources.memory.numpy_array import SparseSource

        return SparseSource(table)
    if isinstance(table, Mapping):
        return records.from_columns(table)
    if isinstance(table, Sequence) and not isinstance(table, bytes | bytearray):
        return records.from_dicts([table] if hasattr(table, "_asdict") else table)
    raise SourceError(
        f"{with_article(type(table).__name__)} is not a table",
        fix="give a path, a dataframe, a 2-D array, a list of dicts or a dict of arrays",
    )
