"""polars DataFrames and LazyFrames, as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bayeswise.tables.labels import Label
from bayeswise.tables.source import RawColumn, Storage
from bayeswise.tables.sources.arrow import ArrowPiece, ArrowSource, batches
from bayeswise.tables.sources.table import TableSource, ahead


def raw_columns(schema: Any) -> list[RawColumn]:
    """Columns of a polars schema; an Enum declares its levels."""
    return [RawColumn(name, *_storage(dtype)) for name, dtype in schema.items()]


def _storage(dtype: Any) -> tuple[Storage, tuple[Label, ...] | None]:
    if type(dtype).__name__ == "Enum":
        return "declared", tuple(dtype.categories.to_list())
    if dtype.is_integer():
        return "integer", None
    if dtype.is_numeric():
        return "float", None
    if dtype.is_temporal():
        return "temporal", None
    if dtype.is_nested():
        return "nested", None
    named: dict[str, Storage] = {"String": "text", "Categorical": "text", "Boolean": "boolean", "Null": "null"}
    named |= {"Binary": "binary", "Object": "object"}
    return named.get(type(dtype).__name__, "object"), None


def from_frame(frame: Any) -> TableSource:
    """An eager frame: each sweep exports the columns it needs."""

    def export(indices: Sequence[int]) -> object:
        return frame.select([frame.columns[k] for k in indices]).__arrow_c_stream__()

    return ArrowSource("polars DataFrame", export, raw_columns(frame.schema), frame.height)


class LazySource(TableSource):
    """A lazy frame: each sweep runs the query, in batches where polars can."""

    def __init__(self, frame: Any, description: str = "polars LazyFrame") -> None:
        self._frame = frame
        super().__init__(description, raw_columns(frame.collect_schema()))

    def pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        query = self._frame.select([self.columns[k].name for k in indices])
        positions = {index: k for k, index in enumerate(indices)}
        for frame in ahead(iter(self._frames(query))):
            for batch in batches(self.description, frame.__arrow_c_stream__()):
                yield ArrowPiece(batch, positions)

    def _frames(self, query: Any) -> Any:
        if hasattr(query, "collect_batches"):
            return query.collect_batches(chunk_size=self.chunk_rows, maintain_order=True)
        return [query.collect()]
