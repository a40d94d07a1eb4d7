"""Anything with the Arrow C stream interface: polars, pyarrow, DuckDB relations and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError, SourceError, quoted
from bayeswise.foundation.threads import ahead
from bayeswise.tables.source import RawColumn, Storage, not_utf8, unreadable
from bayeswise.tables.sources.table import ColumnPiece, SpelledNumbers, TableSource

Fields: TypeAlias = list[tuple[str, str, bool, bool]]
"""(name, storage, is dictionary, is ordered) of each column."""


@dataclass(frozen=True)
class ArrowPiece(ColumnPiece):
    """One batch; `positions` maps a column of the source to its place in the batch."""

    batch: _kernels.ArrowBatch
    positions: dict[int, int]
    by_columns = True

    @property
    def n_rows(self) -> int:
        return self.batch.n_rows

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return self.batch.column(self.positions[index], begin, n_rows)

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        if not self.positions.keys() >= set(indices):
            return None
        return self.batch.matrix([self.positions[index] for index in indices], begin, n_rows)

    def numbers(self, indices: Sequence[int], begin: int, out: NDArray[np.float64]) -> list[SpelledNumbers]:
        return self.batch.numbers([self.positions[index] for index in indices], begin, self.rules, out)


def batches(description: str, capsule: object) -> Iterator[_kernels.ArrowBatch]:
    """The batches of a stream, which is closed at the end."""
    stream = opened(description, capsule)
    try:
        while (batch := _next(description, stream)) is not None:
            yield batch
    finally:
        stream.close()


def opened(description: str, capsule: object) -> _kernels.ArrowStream:
    """The stream behind a capsule."""
    try:
        return _kernels.ArrowStream(capsule)
    except (RuntimeError, ValueError) as problem:
        raise SourceError(f"{description} cannot be read: {problem}", fix="check the table") from None


def not_unicode(description: str) -> SchemaError:
    return SchemaError(f"{description} has a column whose name is not UTF-8", fix="rename the column")


def _fields(description: str, stream: _kernels.ArrowStream) -> Fields:
    try:
        return stream.fields()
    except UnicodeDecodeError:
        raise not_unicode(description) from None


def _next(description: str, stream: _kernels.ArrowStream) -> _kernels.ArrowBatch | None:
    try:
        return stream.next()
    except RuntimeError as problem:
        raise unreadable(description, str(problem), "check the table") from None


class ArrowSource(TableSource):
    """A table that exports a fresh stream for every sweep."""

    def __init__(
        self,
        description: str,
        export: Callable[[Sequence[int]], object],
        columns: Sequence[RawColumn],
        n_rows: int | None = None,
    ) -> None:
        super().__init__(description, columns)
        self._export = export
        self.n_rows = n_rows

    def pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        positions = {index: k for k, index in enumerate(indices)}
        for batch in ahead(batches(self.description, self._export(indices))):
            yield ArrowPiece(batch, positions)


class KeptSource(TableSource):
    """A stream that can be read only once; its batches are kept in memory for later sweeps."""

    def __init__(self, description: str, capsule: object) -> None:
        stream = opened(description, capsule)
        self._batches: list[_kernels.ArrowBatch] = []
        while (batch := _next(description, stream)) is not None:
            self._batches.append(batch)
        fields = _fields(description, stream)
        stream.close()
        super().__init__(description, raw_columns(fields, self._batches[0] if self._batches else None))
        self.n_rows = sum(batch.n_rows for batch in self._batches)

    def pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        positions = {index: index for index in indices}
        return (ArrowPiece(batch, positions) for batch in self._batches)


def raw_columns(fields: Fields, first: _kernels.ArrowBatch | None) -> list[RawColumn]:
    """Columns of a stream; dictionaries that are ordered declare their levels."""
    columns = []
    for k, (name, storage, is_dictionary, is_ordered) in enumerate(fields):
        if is_dictionary and is_ordered and first is not None:
            try:
                levels = tuple(level for level in first.declared(k) if level is not None)
            except UnicodeDecodeError:
                raise not_utf8(name) from None
            columns.append(RawColumn(name, "declared", levels))
        else:
            columns.append(RawColumn(name, cast(Storage, storage)))
    return columns


def one_batch(description: str, capsule: object) -> tuple[Fields, _kernels.ArrowBatch | None]:
    """The fields of a stream and its first batch."""
    stream = opened(description, capsule)
    try:
        return _fields(description, stream), _next(description, stream)
    finally:
        stream.close()


def refuse_zero_bytes(description: str, names: Iterable[str]) -> None:
    """A name ends at a zero byte where tables are handed over: what follows would be lost, or worse."""
    for name in names:
        if "\0" in name:
            raise SchemaError(f"the name {quoted(name)} of {description} has a zero byte", fix="rename the column")


def from_pyarrow(table: Any) -> TableSource:
    """A pyarrow Table or RecordBatch; anything else that streams is read once and kept."""
    library, kind = type(table).__module__.split(".")[0], type(table).__name__
    description = f"{library} {kind}"
    if library != "pyarrow" or kind not in ("Table", "RecordBatch"):
        return KeptSource(description, table.__arrow_c_stream__())
    try:
        refuse_zero_bytes(description, table.schema.names)
    except UnicodeDecodeError:
        raise not_unicode(description) from None
    fields, first = one_batch(description, table.__arrow_c_stream__())

    def export(indices: Sequence[int]) -> object:
        return table.select(list(indices)).__arrow_c_stream__()

    return ArrowSource(description, export, raw_columns(fields, first), table.num_rows)
