"""NumPy arrays: 2-D ones (columns x0, x1, ...), structured ones, and dicts of 1-D arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SourceError, quoted
from bayeswise.tables.source import RawColumn, Storage
from bayeswise.tables.sources.cells import complex_column, object_column, storage_of
from bayeswise.tables.sources.table import ColumnPiece, TableSource

_STORAGES: dict[str, Storage] = {"b": "boolean", "i": "integer", "u": "integer", "f": "float", "U": "text"}
_STORAGES |= {"T": "text", "M": "temporal", "m": "temporal", "S": "binary", "V": "nested"}
_NUMBERS = "biuf"


def array_storage(array: NDArray[Any], name: str = "x0") -> Storage:
    """How to call the cells of a 1-D array.

    >>> array_storage(np.array([1.5])), array_storage(np.array(["a", 1], dtype=object))
    ('float', 'object')
    """
    if array.dtype.kind == "O":
        return storage_of(array.tolist(), name)
    if array.dtype.kind == "c":
        raise complex_column(name)
    if array.dtype.kind not in _STORAGES:
        what = f"column {quoted(name)} is an array of {array.dtype}"
        raise SourceError(what, fix="use real numbers, text or objects")
    return _STORAGES[array.dtype.kind]


def array_column(array: NDArray[Any]) -> _kernels.Column:
    """A kernel column over a 1-D array, without a copy where the kernel knows its type."""
    if array.dtype.kind not in _NUMBERS:
        return object_column(masked_times(array))
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return _kernels.number_column(array if array.flags.aligned else array.copy())  # fields of a record may not be


def masked_times(array: NDArray[Any]) -> list[Any]:
    """The cells as Python objects; dates and durations as text, without one as None."""
    if array.dtype.kind not in "Mm":
        return list(array.tolist())
    if array.dtype.kind == "m":
        cells: list[Any] = array.astype("timedelta64[us]").tolist()
    elif np.datetime_data(array.dtype)[0] in ("Y", "M", "W", "D"):
        cells = array.astype("datetime64[D]").tolist()
    else:
        cells = array.astype("datetime64[us]").tolist()
    return cells


@dataclass(frozen=True, eq=False)
class MatrixPiece(ColumnPiece):
    """A whole 2-D array."""

    array: NDArray[Any]

    @property
    def n_rows(self) -> int:
        return len(self.array)

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return array_column(self.array[begin : begin + n_rows, index])

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        consecutive = len(indices) > 0 and list(indices) == list(range(indices[0], indices[0] + len(indices)))
        if self.array.dtype != np.float64 or not consecutive:
            return None
        view = self.array[begin : begin + n_rows, indices[0] : indices[0] + len(indices)].view()
        view.flags.writeable = False
        return view


class MatrixSource(TableSource):
    """A 2-D array, (n_rows, n_columns)."""

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 2:
            raise SourceError(
                f"an array of {array.ndim} dimensions is not a table; its shape is {array.shape}",
                fix="give one of shape (rows, columns), such as array.reshape(-1, 1)",
            )
        self._array = _unmasked(array) if np.ma.isMaskedArray(array) else np.asarray(array)
        names = [f"x{k}" for k in range(array.shape[1])]
        super().__init__(
            "numpy array", [RawColumn(name, array_storage(self._array[:, k], name)) for k, name in enumerate(names)]
        )
        self.n_rows = array.shape[0]

    def pieces(self, indices: Sequence[int]) -> Iterator[MatrixPiece]:
        yield MatrixPiece(self._array)


def _unmasked(array: Any) -> NDArray[Any]:
    """Numbers as doubles, with NaN where the mask says so; anything else as objects, with None there."""
    is_number = array.dtype.kind in _NUMBERS
    filled: NDArray[Any] = np.array(array.data, dtype=np.float64 if is_number else object)
    filled[np.ma.getmaskarray(array)] = np.nan if is_number else None
    return filled


@dataclass(frozen=True, eq=False)
class ArraysPiece(ColumnPiece):
    """One array for each column."""

    arrays: Sequence[NDArray[Any]]

    @property
    def n_rows(self) -> int:
        return len(self.arrays[0])

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return array_column(self.arrays[index][begin : begin + n_rows])


class ArraysSource(TableSource):
    """Named 1-D arrays of one length: a dict of arrays or a structured array."""

    def __init__(self, description: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = list(arrays.values())
        lengths = {name: len(array) for name, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            raise SourceError(f"the columns of {description} differ in length: {lengths}", fix="make them equal")
        super().__init__(description, [RawColumn(name, array_storage(array, name)) for name, array in arrays.items()])
        self.n_rows = len(self._arrays[0])

    def pieces(self, indices: Sequence[int]) -> Iterator[ArraysPiece]:
        yield ArraysPiece(self._arrays)


def from_array(array: NDArray[Any]) -> TableSource:
    """A 2-D or a structured array."""
    if array.dtype.names:
        return ArraysSource("numpy structured array", {name: array[name] for name in array.dtype.names})
    return MatrixSource(array)


_DENSE_CELLS = 1 << 22


class SparseSource(TableSource):
    """A sparse matrix or array, (n_rows, n_columns); columns x0, x1, ..., what is not stored is zero."""

    def __init__(self, matrix: Any) -> None:
        if len(matrix.shape) != 2:
            what = f"a sparse array of shape {matrix.shape} is not a table"
            raise SourceError(what, fix="give one of two dimensions")
        self._rows = matrix.tocsr()
        storage = array_storage(np.empty(0, dtype=matrix.dtype))
        super().__init__("sparse matrix", [RawColumn(f"x{k}", storage) for k in range(matrix.shape[1])])
        self.n_rows = int(matrix.shape[0])

    def pieces(self, indices: Sequence[int]) -> Iterator[MatrixPiece]:
        step = max(1, min(self.chunk_rows, _DENSE_CELLS // len(self.columns)))
        for begin in range(0, self._rows.shape[0], step):
            yield MatrixPiece(np.asarray(self._rows[begin : begin + step].toarray()))
