"""polars DataFrames and LazyFrames, as Arrow batches."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from bayeswise.foundation.errors import SourceError, shortened
from bayeswise.foundation.threads import POLARS, available
from bayeswise.tables.source import RawColumn, unreadable
from bayeswise.tables.sources.arrow import ArrowPiece, ArrowSource, batches, one_batch, refuse_zero_bytes
from bayeswise.tables.sources.arrow import raw_columns as arrow_columns
from bayeswise.tables.sources.table import TableSource


def raw_columns(frame: Any) -> list[RawColumn]:
    """Columns of a frame without rows; an Enum declares its levels."""
    refuse_zero_bytes("polars", _names(frame.schema))  # at which an export of polars ends the process
    fields, _ = one_batch("polars", frame.__arrow_c_stream__())
    schema = frame.schema  # made again by polars on each access
    return [_declared(column, schema[column.name]) for column in arrow_columns(fields, None)]


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names of columns, and of the fields of structs inside of them."""
    for name, dtype in schema.items():
        yield name
        while (inner := getattr(dtype, "inner", None)) is not None:
            dtype = inner
        if (fields := getattr(dtype, "fields", None)) is not None:
            yield from _names({field.name: field.dtype for field in fields})


def _declared(column: RawColumn, dtype: Any) -> RawColumn:
    if type(dtype).__name__ == "Enum":
        return RawColumn(column.name, "declared", tuple(dtype.categories.to_list()))
    return column


def from_frame(frame: Any) -> TableSource:
    """An eager frame: each sweep exports the columns it needs, by position, since names such as * are patterns."""

    def export(indices: Sequence[int]) -> object:
        with translated("polars DataFrame"):
            return frame[:, list(indices)].__arrow_c_stream__()

    with translated("polars DataFrame"):
        columns = raw_columns(frame.clear())
    return ArrowSource("polars DataFrame", export, columns, frame.height)


@contextmanager
def translated(description: str) -> Iterator[None]:
    """The errors of polars as ours, in one line."""
    import polars

    try:
        yield
    except (polars.exceptions.PolarsError, OSError) as problem:
        sentence = shortened(str(problem).split("\n")[0])
        raise unreadable(description, sentence, "check the file or the query") from None
    except BaseException as problem:  # a panic of polars is not an Exception
        if type(problem).__name__ != "PanicException":
            raise
        sentence = shortened(str(problem).split("\n")[0])
        raise SourceError(
            f"{description} cannot be read: polars stopped at {sentence!r}",
            fix="leave out or cast columns of unusual types, or write the table as Parquet or CSV",
        ) from None


class LazySource(TableSource):
    """A lazy frame: each sweep runs the query, in batches where polars can."""

    def __init__(self, frame: Any, description: str = "polars LazyFrame", keeping: object = None) -> None:
        import polars

        if polars.thread_pool_size() > available():
            warnings.warn(
                f"polars reads on its own {polars.thread_pool_size()} threads, more than the limit of {available()}; "
                f"set {POLARS}={available()} before polars is imported",
                stacklevel=2,
            )
        self._frame = frame
        self._keeping = keeping  # what must not go away while the frame is in use
        with translated(description):
            empty = frame.head(0).collect()
            columns = raw_columns(empty)
        super().__init__(description, columns)

    def pieces(self, indices: Sequence[int]) -> Iterator[ArrowPiece]:
        import polars

        query = self._frame.select(polars.nth(list(indices)))
        positions = {index: k for k, index in enumerate(indices)}
        for frame in self._frames(query):  # which polars makes ahead, in the sizes that it works with
            for batch in batches(self.description, frame.__arrow_c_stream__()):
                yield ArrowPiece(batch, positions)

    def _frames(self, query: Any) -> Generator[Any, None, None]:
        with translated(self.description):
            if hasattr(query, "collect_batches"):
                yield from query.collect_batches(maintain_order=True)
            else:
                yield query.collect()
