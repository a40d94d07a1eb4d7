"""Arrow files (.arrow, .feather, .ipc): through polars, or through pyarrow where polars lacks one of their types."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bayeswise.foundation.errors import NotInstalledError, SourceError
from bayeswise.tables.source import unreadable
from bayeswise.tables.sources.arrow import ArrowSource, not_unicode, one_batch, raw_columns, refuse_zero_bytes
from bayeswise.tables.sources.duckdb_scan import Link, is_unicode
from bayeswise.tables.sources.memory.polars_frame import LazySource
from bayeswise.tables.sources.table import TableSource

_UNKNOWN_TO_POLARS = ("decimal256", "interval", "run_end_encoded", "union", "list_view")


def from_arrow_file(path: Path, name: str) -> TableSource:
    """The source of an Arrow file, by a package that is installed and knows its types."""
    if not _is_installed("polars") and not _is_installed("pyarrow"):
        raise NotInstalledError(
            f"{name} is an Arrow file, which needs polars", fix="pip install polars, or write it as Parquet"
        )
    if not _is_installed("pyarrow"):
        return _by_polars(path, name)
    if not _is_installed("polars") or any(kind in _types(path, name) for kind in _UNKNOWN_TO_POLARS):
        return _by_pyarrow(path, name)
    try:
        return _by_polars(path, name)
    except SourceError:  # an unknown time zone or type
        return _by_pyarrow(path, name)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # an entry of None in sys.modules
        return False


def _by_polars(path: Path, name: str) -> TableSource:
    import polars

    if is_unicode(str(path)):
        return LazySource(polars.scan_ipc(path, glob=False, hive_partitioning=False), name)
    link = Link(path)
    return LazySource(polars.scan_ipc(link.path, glob=False, hive_partitioning=False), name, link)


def _by_pyarrow(path: Path, name: str) -> TableSource:
    def export(indices: Sequence[int] | None) -> object:
        import pyarrow

        options = pyarrow.ipc.IpcReadOptions(included_fields=None if indices is None else list(indices))
        reader = _reader(path, name, options)
        batches = (reader.get_batch(k) for k in range(reader.num_record_batches))
        return pyarrow.RecordBatchReader.from_batches(reader.schema, batches).__arrow_c_stream__()

    refuse_zero_bytes(name, _names(path, name))
    fields, first = one_batch(name, export(None))
    return ArrowSource(name, export, raw_columns(fields, first))


def _names(path: Path, name: str) -> list[str]:
    try:
        return list(_reader(path, name).schema.names)
    except UnicodeDecodeError:
        raise not_unicode(name) from None


def _types(path: Path, name: str) -> str:
    return " ".join(str(kind) for kind in _reader(path, name).schema.types)


def _reader(path: Path, name: str, options: Any = None) -> Any:
    import pyarrow
    import pyarrow.ipc

    try:
        return pyarrow.ipc.open_file(pyarrow.OSFile(os.fsencode(path)), options=options)
    except (pyarrow.ArrowException, OSError, ValueError) as problem:
        sentence = " ".join(str(problem).split())
        raise unreadable(name, sentence, "check that the file is whole") from None
