"""Plain Python: a list of dicts, or a dict of lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SourceError, row_number
from bayeswise.render.labels import with_article
from bayeswise.tables.source import RawColumn
from bayeswise.tables.sources.cells import object_column, storage_of
from bayeswise.tables.sources.memory.numpy_array import ArraysSource
from bayeswise.tables.sources.table import PLAIN, ColumnPiece, Rules, TableSource


@dataclass(frozen=True)
class ListsPiece(ColumnPiece):
    """One list of cells for each column."""

    n_rows: int
    columns: Sequence[Sequence[Any]]
    rules: Rules = PLAIN

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return object_column(self.columns[index][begin : begin + n_rows])


class ListsSource(TableSource):
    """Columns as lists of Python objects."""

    def __init__(self, description: str, names: Sequence[str], lists: Sequence[Sequence[Any]], n_rows: int) -> None:
        super().__init__(
            description, [RawColumn(name, storage_of(cells, name)) for name, cells in zip(names, lists, strict=True)]
        )
        self._lists = lists
        self.n_rows = n_rows

    def pieces(self, indices: Sequence[int]) -> Iterator[ListsPiece]:
        yield ListsPiece(self.n_rows or 0, self._lists, Rules(self.null_words))


def from_dicts(rows: Sequence[Any]) -> TableSource:
    """One dict, or named tuple, for each row; an absent key is a missing cell.

    >>> from_dicts([{"a": 1}, {"a": 2, "b": "x"}]).columns
    (RawColumn(name='a', storage='integer', declared=None), RawColumn(name='b', storage='text', declared=None))
    """
    if not rows:
        raise SourceError("an empty list is not a table", fix="give at least one row")
    rows = [row._asdict() if isinstance(row, tuple) and hasattr(row, "_asdict") else row for row in rows]
    for k, row in enumerate(rows):
        if not isinstance(row, Mapping):
            found = f"row {row_number(k)} is {with_article(type(row).__name__)}, not a dict"
            raise SourceError(found, fix="give one dict for each row, such as [{'age': 31, 'size': 'S'}]")
    names = list(dict.fromkeys(name for row in rows for name in row))
    description = "the row" if len(rows) == 1 else "list of dicts"
    cells = [[row.get(name) for row in rows] for name in names]
    return ListsSource(description, [str(name) for name in names], cells, len(rows))


def from_columns(columns: Mapping[str, Any]) -> TableSource:
    """One array or list for each column."""
    if all(isinstance(cells, np.ndarray) for cells in columns.values()) and columns:
        return ArraysSource("dict of arrays", {str(name): _flat(name, cells) for name, cells in columns.items()})
    single = [name for name, cells in columns.items() if isinstance(cells, str) or not hasattr(cells, "__iter__")]
    if single:
        raise SourceError(
            f"column {single[0]!r} of the dict is {columns[single[0]]!r:.80}, not a list of cells",
            fix="give a list or an array for each column, or a list of dicts, one for each row",
        )
    lists = {str(name): cells.tolist() if hasattr(cells, "tolist") else list(cells) for name, cells in columns.items()}
    lengths = {name: len(cells) for name, cells in lists.items()}
    if len(set(lengths.values())) > 1:
        raise SourceError(f"the columns of the dict differ in length: {lengths}", fix="make them equal")
    return ListsSource("dict of lists", list(lists), list(lists.values()), max(lengths.values(), default=0))


def _flat(name: str, cells: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if cells.ndim != 1:
        raise SourceError(f"column {name!r} has the shape {cells.shape}", fix="give one dimension for each column")
    return cells
