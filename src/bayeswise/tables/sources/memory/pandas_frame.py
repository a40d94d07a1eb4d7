"""pandas DataFrames, column by column, without pyarrow."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SourceError
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.source import RawColumn, Storage, not_utf8
from bayeswise.tables.sources.cells import object_column, settle, storage_of
from bayeswise.tables.sources.memory.numpy_array import array_column
from bayeswise.tables.sources.table import ColumnPiece, TableSource

_BY_KIND: dict[str, Storage] = {"i": "integer", "u": "integer", "f": "float", "b": "boolean"}
_PLAIN_NUMBERS = frozenset(
    {"float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"}
)


@dataclass(frozen=True)
class PandasPiece(ColumnPiece):
    """A whole frame; columns are converted chunk by chunk."""

    frame: Any

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return series_column(self.frame.iloc[begin : begin + n_rows, index])

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        """Plain numbers at once, doubles where they lie: a frame takes long to hand out thousands of columns."""
        dtypes = self.frame.dtypes.to_numpy()[list(indices)]
        if not all(isinstance(dtype, np.dtype) and dtype.name in _PLAIN_NUMBERS for dtype in dict.fromkeys(dtypes)):
            return None
        first = indices[0] if len(indices) else 0
        consecutive = list(indices) == list(range(first, first + len(indices)))
        columns = slice(first, first + len(indices)) if consecutive else list(indices)
        part = self.frame.iloc[begin : begin + n_rows, columns]
        return np.asarray(part.to_numpy(dtype=np.float64))


class PandasSource(TableSource):
    """A DataFrame; the index is not a column."""

    def __init__(self, frame: Any) -> None:
        super().__init__("pandas DataFrame", _raw_columns(frame))
        self._frame = frame
        self.n_rows = len(frame)

    def pieces(self, indices: Sequence[int]) -> Iterator[PandasPiece]:
        yield PandasPiece(self._frame)


def _raw_columns(frame: Any) -> list[RawColumn]:
    dtypes = frame.dtypes.tolist()
    kinds = {key: dtype.kind for key, dtype in zip(map(id, dtypes), dtypes, strict=True) if isinstance(dtype, np.dtype)}
    storages = [_BY_KIND.get(kinds.get(id(dtype), "O")) for dtype in dtypes]
    return [
        RawColumn(str(name), storage) if storage is not None else _looked_into(str(name), frame, k)
        for k, (name, storage) in enumerate(zip(frame.columns.tolist(), storages, strict=True))
    ]


def _looked_into(name: str, frame: Any, index: int) -> RawColumn:
    series = frame.iloc[:, index]
    if hasattr(series, "cat"):
        return RawColumn(name, "declared", tuple(_plain(level) for level in series.cat.categories))
    return RawColumn(name, _storage(series, name))


def _plain(level: object) -> Label:
    label = settle(level)
    return "None" if label is None else label


def _storage(series: Any, name: str) -> Storage:
    kind = _kind(series.dtype)
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if kind in "Mm" or type(series.dtype).__name__ == "PeriodDtype":
        return "temporal"
    try:
        cells = _objects(series)
    except Exception:  # of pyarrow, which is not imported here
        _refuse_not_utf8(series, name)
        raise
    return storage_of(cells, name)


def _objects(series: Any) -> list[Any]:
    try:
        return list(series.to_numpy(dtype=object).tolist())
    except NotImplementedError:  # a union of Arrow has cells, but no array of them
        return list(series)


def _refuse_not_utf8(series: Any, name: str) -> None:
    """Name the first cell that cannot be read, if its bytes are not UTF-8: Arrow-backed text is not checked before."""

    def fails(n_rows: int) -> bool:
        try:
            _objects(series.iloc[:n_rows])
        except Exception:
            return True
        return False

    row = bisect_left(range(len(series)), True, key=fails) - 1
    try:
        _ = series.iloc[row]
    except UnicodeDecodeError:
        raise not_utf8(name, row) from None


def _kind(dtype: Any) -> str:
    """The kind of the dtype in NumPy's letters; sparse dtypes are what they hold."""
    return str(getattr(dtype.subtype if _is_sparse(dtype) else dtype, "kind", "O"))


def _is_sparse(dtype: Any) -> bool:
    return type(dtype).__name__ == "SparseDtype"


def series_column(series: Any) -> _kernels.Column:
    """A kernel column over some rows of a Series."""
    if hasattr(series, "cat"):
        levels = [settle(level) for level in series.cat.categories]
        return _kernels.coded_column(np.asarray(series.cat.codes), levels, settle)
    dtype = series.dtype
    kind = _kind(dtype)
    if isinstance(dtype, np.dtype) and kind in "biuf":
        return array_column(series.to_numpy())
    if kind in "biuf":
        return _masked(series, dtype, kind)
    if kind in "Mm":
        return object_column(_times(series))
    return object_column(_objects(series))


def _times(series: Any) -> list[Any]:
    try:
        return list(series.astype(object).tolist())
    except (LookupError, ValueError) as problem:  # an unknown time zone
        raise SourceError(
            f"column {series.name!r} cannot be read: {problem}", fix="leave the column out, or convert its time zone"
        ) from None


def _masked(series: Any, dtype: Any, kind: str) -> _kernels.Column:
    """Nullable, sparse and Arrow-backed numbers: the values, with a mask where there are none."""
    missing: NDArray[np.bool_] = np.ascontiguousarray(series.isna().to_numpy(dtype=bool))
    wide: Any = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}[kind]
    if _is_sparse(dtype):
        return array_column(np.asarray(series))
    values = series.to_numpy(dtype=wide, na_value=wide(0))
    return _kernels.number_column(np.ascontiguousarray(values), missing)
