"""NumPy arrays: 2-D ones (columns x0, x1, ...), structured ones, and dicts of 1-D arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.errors import SourceError
from bayeswise.tables.source import RawColumn, Storage
from bayeswise.tables.sources.cells import object_column, storage_of
from bayeswise.tables.sources.table import ColumnPiece, TableSource

_STORAGES: dict[str, Storage] = {"b": "boolean", "i": "integer", "u": "integer", "f": "float", "U": "text"}
_STORAGES |= {"T": "text", "M": "temporal", "m": "temporal", "S": "binary", "V": "nested"}
_NUMBERS = "biuf"


def array_storage(array: NDArray[Any]) -> Storage:
    """How to call the cells of a 1-D array.

    >>> array_storage(np.array([1.5])), array_storage(np.array(["a", 1], dtype=object))
    ('float', 'object')
    """
    if array.dtype.kind == "O":
        return storage_of(array.tolist())
    if array.dtype.kind not in _STORAGES:
        raise SourceError(f"an array of {array.dtype} is no column", fix="use real numbers, text or objects")
    return _STORAGES[array.dtype.kind]


def array_column(array: NDArray[Any]) -> _kernels.Column:
    """A kernel column over a 1-D array, without a copy where the kernel knows its type."""
    if array.dtype.kind not in _NUMBERS:
        return object_column(masked_times(array))
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float64)
    return _kernels.number_column(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))


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


@dataclass(frozen=True)
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
                f"an array of {array.ndim} dimensions is no table; its shape is {array.shape}",
                fix="give one of shape (rows, columns), such as array.reshape(-1, 1)",
            )
        self._array = np.ma.filled(array.astype(float), np.nan) if np.ma.isMaskedArray(array) else np.asarray(array)
        super().__init__(
            "numpy array", [RawColumn(f"x{k}", array_storage(self._array[:, k])) for k in range(array.shape[1])]
        )
        self.n_rows = array.shape[0]

    def pieces(self, indices: Sequence[int]) -> Iterator[MatrixPiece]:
        yield MatrixPiece(self._array)


@dataclass(frozen=True)
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
        super().__init__(description, [RawColumn(name, array_storage(array)) for name, array in arrays.items()])
        self.n_rows = len(self._arrays[0])

    def pieces(self, indices: Sequence[int]) -> Iterator[ArraysPiece]:
        yield ArraysPiece(self._arrays)


def from_array(array: NDArray[Any]) -> TableSource:
    """A 2-D or a structured array."""
    if array.dtype.names:
        return ArraysSource("numpy structured array", {name: array[name] for name in array.dtype.names})
    return MatrixSource(array)
