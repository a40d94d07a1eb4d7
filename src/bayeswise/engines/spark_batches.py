"""How rows of Spark come to Python: in which batches of Arrow, and in which form.

Spark writes each cell of a column by itself. Columns of doubles that are read together come as one column of arrays
instead, which is written sooner and is, as it comes, the matrix that the kernels read.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.threads import ahead
from bayeswise.tables.source import RawColumn, Source
from bayeswise.tables.sources.arrow import ArrowPiece, batches, from_pyarrow
from bayeswise.tables.sources.table import ColumnPiece, TableSource

if TYPE_CHECKING:
    import pyarrow as pa  # which comes with Spark

T = TypeVar("T")


# -- form -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Form:
    """Which columns come side by side in one column of arrays, the first; the others follow as they are."""

    arrayed: tuple[str, ...]
    others: tuple[str, ...]

    @classmethod
    def of(cls, kinds: Mapping[str, str], columns: Sequence[str], numbers: Sequence[str]) -> Form:
        """That of some columns, of which `numbers` are read together, by the types of Spark.

        >>> Form.of({"a": "double", "b": "int", "c": "double"}, ["a", "b", "c"], ["c", "b", "a"])
        Form(arrayed=('c', 'a'), others=('b',))
        """
        selected = set(columns)
        arrayed = tuple(name for name in numbers if name in selected and kinds[name] == "double")
        apart = () if len(arrayed) < 2 else arrayed
        return cls(apart, tuple(name for name in columns if name not in set(apart)))

    def expressions(self, places: Mapping[str, str]) -> list[str]:
        """What is selected of a frame, where columns are known by other names."""
        arrays = [f"array({', '.join(places[name] for name in self.arrayed)})"] if self.arrayed else []
        chosen = [*arrays, *(places[name] for name in self.others)]
        return [f"{each} as c{k}" for k, each in enumerate(chosen)]


def streamed(form: Form, batches: Iterator[pa.RecordBatch]) -> Source:
    """The batches of a partition as they come, for one sweep."""
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        return from_pyarrow(pa.table({name: pa.nulls(0) for name in (*form.arrayed, *form.others)}))
    return _BatchSource(form, first, followed(first, batches))


class _BatchSource(TableSource):
    """Batches in a form, to be read once."""

    def __init__(self, form: Form, first: pa.RecordBatch, coming: Iterator[pa.RecordBatch]) -> None:
        self._form, self._coming = form, coming
        others = list(range(bool(form.arrayed), first.num_columns))
        named = first.slice(0, 0).select(others).rename_columns(list(form.others))
        columns = [RawColumn(name, "float") for name in form.arrayed]
        if others:
            columns.extend(from_pyarrow(named).columns)
        super().__init__("a partition of a Spark DataFrame", columns)

    def pieces(self, indices: Sequence[int]) -> Iterator[_ArrayPiece]:
        n_arrayed = len(self._form.arrayed)
        others = [index for index in indices if index >= n_arrayed]
        positions = {index: k for k, index in enumerate(others)}
        places = [index - n_arrayed + bool(n_arrayed) for index in others]
        for batch in ahead(self._coming):
            matrix = _matrix(batch.column(0), n_arrayed) if n_arrayed else np.empty((batch.num_rows, 0))
            found = list(batches(self.description, batch.select(places).__arrow_c_stream__())) if others else []
            yield _ArrayPiece(matrix, [ArrowPiece(each, positions) for each in found])


def _matrix(arrays: pa.Array, width: int) -> NDArray[np.float64]:
    """The cells of arrays of one length, in place unless some are missing."""
    cells = arrays.flatten().to_numpy(zero_copy_only=False)
    found: NDArray[np.float64] = cells.reshape(len(arrays), width)
    return found


@dataclass(frozen=True)
class _ArrayPiece(ColumnPiece):
    """A batch: the first columns are those of a matrix."""

    values: NDArray[np.float64]
    others: Sequence[ArrowPiece]  # one, if there are other columns

    @property
    def n_rows(self) -> int:
        return len(self.values)

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        if index >= self.values.shape[1]:
            return self.others[0].column(index, begin, n_rows)
        return _kernels.number_column(self.values[begin : begin + n_rows, index])

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        if not indices or max(indices) >= self.values.shape[1]:
            return None
        rows = self.values[begin : begin + n_rows]
        first, end = indices[0], indices[0] + len(indices)
        return rows[:, first:end] if list(indices) == list(range(first, end)) else rows[:, list(indices)]


def followed(first: T, others: Iterable[T]) -> Iterator[T]:
    """One, then the others."""
    yield first
    yield from others


# -- size -----------------------------------------------------------------------------------------------------
FIXED_WIDTH = (
    *("tinyint", "smallint", "int", "bigint", "float", "double"),
    *("boolean", "date", "timestamp", "timestamp_ntz"),
)
MOST_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
MOST_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
NO_LIMIT = "2147483647"
WORTH_A_BATCH = 8 << 20  # bytes: what a batch costs besides its cells is then little
_lifting = threading.Lock()


@contextmanager
def lifted_limit(session: Any, row_bytes: int | None) -> Iterator[None]:
    """Limit batches by rows instead of bytes while a pass runs; rows of text may have any size.

    Where there is a limit of bytes, Spark adds up all columns after each row, which takes as long as writing them. The
    settings are those of the session: one pass at a time changes them, and puts them back.
    """
    if row_bytes is None or not _lifting.acquire(blocking=False):
        yield
        return
    own: dict[str, str] = {}
    try:
        own = _limits(session)
        _set(session, _limits_in_rows(own, row_bytes))
        yield
    finally:
        _set(session, own)
        _lifting.release()


def _limits(session: Any) -> dict[str, str]:
    """How large batches may be in a session; nothing where that cannot be read or changed."""
    from pyspark.errors import PySparkException

    with suppress(PySparkException):
        limits = {name: session.conf.get(name) for name in (MOST_ROWS, MOST_BYTES)}  # unknown ones raise
        if all(map(session.conf.isModifiable, limits)):
            return limits
    return {}


def _limits_in_rows(limits: Mapping[str, str], row_bytes: int) -> dict[str, str]:
    """Limits for rows of a known size, at least 8 MB where that is allowed; as they are where they cannot be read.

    >>> _limits_in_rows({MOST_ROWS: "10000", MOST_BYTES: "64m"}, 180)[MOST_ROWS]
    '46603'
    >>> _limits_in_rows({MOST_ROWS: "10000", MOST_BYTES: "64m"}, 1800)[MOST_ROWS]
    '10000'
    >>> _limits_in_rows({MOST_ROWS: "10000", MOST_BYTES: "1048576b"}, 9000)[MOST_ROWS]
    '116'
    >>> _limits_in_rows({MOST_ROWS: "-1", MOST_BYTES: "?"}, 9000)
    {}
    """
    size = re.fullmatch(r"(\d+)\s*([kmg]?)i?b?", limits.get(MOST_BYTES, "").lower())
    if size is None:
        return {}
    most = int(size[1]) * {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}[size[2]]
    allowed = max(1, most // row_bytes)
    own = int(limits[MOST_ROWS])
    rows = min(allowed, max(own, WORTH_A_BATCH // row_bytes)) if own > 0 else allowed
    return {MOST_ROWS: str(rows), MOST_BYTES: NO_LIMIT}


def _set(session: Any, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        session.conf.set(name, value)
