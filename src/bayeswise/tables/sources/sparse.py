"""Sparse matrices of scipy: rows become dense a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.errors import SourceError
from bayeswise.tables.source import RawColumn
from bayeswise.tables.sources.numpy_array import MatrixPiece, array_storage
from bayeswise.tables.sources.table import TableSource

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
