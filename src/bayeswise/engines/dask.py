"""Dask: one task for each partition, answers merged in a tree; workers need only the package.

Partitions are pandas frames, and are read as such. A worker that is lost costs its tasks another try, as always.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import dask
from dask.callbacks import Callback

from bayeswise.foundation.errors import NotInstalledError, ParameterError, SchemaError, SourceError
from bayeswise.foundation.process_limit import refused_thread
from bayeswise.tables import partitions
from bayeswise.tables.partitions import FAN_IN, Pass, RowAnswer, SpreadSource, Watch
from bayeswise.tables.source import RawColumn, Source
from bayeswise.tables.sources.memory.pandas_frame import PandasSource

T = TypeVar("T")

UNKNOWN = "__UNKNOWN_CATEGORIES__"  # the only category of a column whose categories Dask has not looked up


class DaskSource(SpreadSource):
    """A Dask DataFrame; the index is not a column."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.n_partitions = int(frame.npartitions)
        super().__init__("Dask DataFrame", _raw_columns(frame._meta))

    def _answered(self, work: Pass[Any], columns: Sequence[str], watch: Watch | None) -> bytes:
        leaf, join = dask.delayed(partial(_leaf, work)), dask.delayed(partial(partitions.merge, work))
        parts = self._columns(columns).to_delayed(optimize_graph=True)
        leaves = [leaf(part, number) for number, part in enumerate(parts)]
        level = leaves
        while len(level) > 1:
            level = [join(level[first : first + FAN_IN]) for first in range(0, len(level), FAN_IN)]
        try:
            return _anyhow(lambda: _computed(leaves, level[0], work.name, watch))
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("bayeswise"):
                raise
            raise NotInstalledError(
                "a Dask worker does not have the package bayeswise",
                fix="pip install 'bayeswise[dask]' where the workers start, in the version that is used here",
            ) from None

    def first_rows(self, columns: Sequence[str], n_rows: int) -> Source | None:
        rows = _anyhow(lambda: self._columns(columns).head(n_rows))  # of the first partition
        return PandasSource(rows) if len(rows) else None

    def _counted(self) -> int:
        return _anyhow(lambda: len(self.frame))

    def _gathered(self, columns: Sequence[str]) -> Source:
        return PandasSource(_anyhow(lambda: self._columns(columns).compute()))

    def extended(self, answer: RowAnswer) -> Any:
        meta = _extended(self.frame._meta, answer, dict.fromkeys(answer.fields, ()))
        return self.frame.map_partitions(partial(_answered_rows, answer), meta=meta)

    def _columns(self, names: Sequence[str]) -> Any:
        stored = {str(name): name for name in self.frame.columns}
        return self.frame[[stored[name] for name in names]]


def _leaf(work: Pass[Any], frame: Any, number: int) -> bytes:
    return partitions.answer(work, lambda: PandasSource(frame), number)


_DTYPES = {"text": "string", "integer": "int64", "float": "float64", "boolean": "bool"}


def _answered_rows(answer: RowAnswer, frame: Any) -> Any:
    return _extended(frame, answer, answer.of(PandasSource(frame)))


def _extended(frame: Any, answer: RowAnswer, columns: Mapping[str, Sequence[Any]]) -> Any:
    """The frame with columns of the dtypes that the answer has."""
    import pandas as pd

    added = {
        name: pd.Series(pd.array(list(columns[name]), dtype=_DTYPES[storage]), index=frame.index)
        for name, storage in answer.fields.items()
    }
    return frame.assign(**added)


def _anyhow(compute: Callable[[], T]) -> T:
    """What Dask computes on threads of its own; where the machine lets none start, on this one."""
    try:
        return compute()
    except RuntimeError as error:
        if refused_thread(error) is None:
            raise
    with dask.config.set(scheduler="synchronous"):
        return compute()


def _computed(leaves: list[Any], root: Any, name: str, watch: Watch | None) -> bytes:
    """The answer at the root, on whatever scheduler is in use; leaves are counted as they are done."""
    client = _client()
    if client is not None:
        return _on_cluster(client, leaves, root, name, watch)
    if watch is None:
        answer: bytes = dask.compute(root)[0]
        return answer
    keys, done = {leaf.key for leaf in leaves}, 0

    def count(key: Any, *_: Any) -> None:
        nonlocal done
        done += key in keys
        watch(name, done, len(keys))

    with Callback(posttask=count):
        (answer,) = dask.compute(root)
    return answer


def _on_cluster(client: Any, leaves: list[Any], root: Any, name: str, watch: Watch | None) -> bytes:
    from distributed import as_completed

    *parts, last = client.compute([*(leaves if watch is not None else ()), root])
    try:
        for done, _ in enumerate(as_completed(parts), start=1):
            assert watch is not None
            watch(name, done, len(parts))
        answer: bytes = last.result()
    except BaseException:
        client.cancel([*parts, last])
        raise
    return answer


def _client() -> Any:
    """The client of a cluster that is in use here."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _raw_columns(meta: Any) -> list[RawColumn]:
    """Columns by their dtypes; what objects are is seen in their cells."""
    columns: list[RawColumn] = []
    for column in PandasSource(meta).columns:
        if column.declared == (UNKNOWN,):
            raise SchemaError(
                f"the categories of column {column.name!r} are not known yet", fix="frame = frame.categorize() first"
            )
        if column.storage in ("null", "object") and column.declared is None:
            is_object = str(meta.dtypes.iloc[len(columns)]) == "object"
            columns.append(RawColumn(column.name, "object" if is_object else "text"))
        else:
            columns.append(column)
    return columns


def opened(table: Any) -> DaskSource:
    """The source behind a Dask DataFrame or Series."""
    return DaskSource(table.to_frame() if type(table).__name__ == "Series" else table)


@contextmanager
def parquet(paths: Sequence[str], scheduler: str | None) -> Iterator[DaskSource]:
    """The table in Parquet files (paths, URLs, globs), on the cluster of a scheduler or on threads of this machine."""
    import dask.dataframe

    with _cluster(scheduler):
        try:
            frame = dask.dataframe.read_parquet(list(paths))
        except FileNotFoundError:
            frame = None
        if frame is None or not len(frame.columns):  # of a glob that nothing matches
            raise SourceError(
                f"Dask finds no such file: {', '.join(paths)}", fix="check the path; quote a glob: 'part-*.parquet'"
            )
        yield DaskSource(frame)


LONGEST_WAIT = "10s"  # for a scheduler to answer


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[None]:
    if scheduler is None:
        yield
        return
    from distributed import Client

    try:
        client = Client(scheduler, timeout=LONGEST_WAIT)
    except (OSError, ValueError) as error:
        raise ParameterError(f"there is no Dask scheduler at {scheduler!r}: {error}", fix="check the address") from None
    with client:
        yield
