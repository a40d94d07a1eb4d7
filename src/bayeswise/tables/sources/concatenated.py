"""Several tables with the same columns, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.errors import SchemaError
from bayeswise.tables.source import RawColumn, Storage
from bayeswise.tables.sources.table import Piece, TableSource


@dataclass(frozen=True)
class PartPiece:
    """A piece of one table, its columns found by their place in the first."""

    piece: Piece
    places: Sequence[int]

    @property
    def n_rows(self) -> int:
        return self.piece.n_rows

    @property
    def rules(self) -> _kernels.TextRules:
        return self.piece.rules

    def column(self, index: int, begin: int, n_rows: int) -> _kernels.Column:
        return self.piece.column(self.places[index], begin, n_rows)

    def matrix(self, indices: Sequence[int], begin: int, n_rows: int) -> NDArray[np.float64] | None:
        return self.piece.matrix([self.places[index] for index in indices], begin, n_rows)


class ConcatenatedSource(TableSource):
    """Tables whose columns have the same names, in any order."""

    def __init__(self, parts: Sequence[TableSource]) -> None:
        first = parts[0]
        for part in parts[1:]:
            _check_same(first, part)
        self._parts = parts
        self.textual = first.textual
        self.null_words = first.null_words
        more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
        super().__init__(first.description + more, [_joint(column, parts) for column in first.columns])

    def pieces(self, indices: Sequence[int]) -> Iterator[PartPiece]:
        for part in self._parts:
            places = part.positions(column.name for column in self.columns)
            for piece in part.pieces([places[index] for index in indices]):
                yield PartPiece(piece, places)


def _check_same(first: TableSource, part: TableSource) -> None:
    known, found = {c.name for c in first.columns}, {c.name for c in part.columns}
    if known == found:
        return
    name = min(known ^ found)
    has, lacks = (first, part) if name in known else (part, first)
    raise SchemaError(
        f"{lacks.description} has no column {name!r}, but {has.description} has",
        fix="give tables with the same columns, or read them one by one",
    )


def _joint(column: RawColumn, parts: Sequence[TableSource]) -> RawColumn:
    """The storage that holds the cells of all parts."""
    found = [part.columns[part.positions([column.name])[0]] for part in parts]
    storages: set[Storage] = {other.storage for other in found}
    if len(storages) == 1 and all(other.declared == column.declared for other in found):
        return column
    storages.discard("null")
    if len(storages) == 1 and storages != {"declared"}:
        return RawColumn(column.name, storages.pop())
    return RawColumn(column.name, "float" if storages <= {"integer", "float"} else "object")
