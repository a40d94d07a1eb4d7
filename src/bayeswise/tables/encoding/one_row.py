"""One row, as a mapping or in a frame, encoded by a plan that a model makes once: no source is opened, none is swept.

Only plain cells are encoded here: floats and integers in columns of numbers, labels of the column's own type in columns
of categories, None. Whatever else a cell may be (text that reads like a number, a date, a level that is an error) is
left to the sweep over a table, which says the same of a row in a list, and raises where it must. So is a row as it is
typed, whose cells are read like those of a text file.

>>> from bayeswise.tables.schema.columns import Column
>>> from bayeswise.tables.schema.schema import Schema
>>> schema = Schema((Column("age", "number"), Column("size", "category", "text")))
>>> encoder = RowEncoder.of(schema, {"size": Vocabulary(["L", "S"])})
>>> batch = encoder.encode({"age": 31, "size": "S"})
>>> batch.values.tolist(), batch.codes.tolist()
([[31.0]], [[1]])
>>> encoder.encode({"age": "31", "size": "S"}) is None
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, listed, quoted
from bayeswise.tables.batch import MISSING, UNSEEN, Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.columns import LABELLED, Column
from bayeswise.tables.schema.labels import Label, Vocabulary, spelled_booleans
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.schema.null_words import words_of
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.sources.memory.records import ListsSource

_NUMBERS = frozenset({float, int, type(None), np.float64})
_TYPES: dict[str | None, frozenset[type]] = {
    "text": frozenset({str}),
    "integer": frozenset({int}),
    "boolean": frozenset({bool}),
    "mixed": frozenset({str, int, bool}),
}
_WIDEST = 2.0**53
_MOST_KEYS = 64
_ABSENT = object()
_NO_TEXT = object()  # a missing cell of a column that is stored as text


def row_in(table: Any, names: Iterable[str]) -> Mapping[Any, Any] | None:
    """The cells of a table that is one row, by column; None if it is not one, or must be swept.

    A row is a mapping, a named tuple, the one element of a list or tuple, the one row of a frame of pandas or polars,
    and a Series of pandas whose index has all of `names`.

    >>> row_in([{"age": 31}], ["age"]), row_in([{"age": 31}, {"age": 40}], ["age"])
    ({'age': 31}, None)
    """
    kind = type(table)
    if (kind is list or kind is tuple) and len(table) == 1:
        table = table[0]
    if isinstance(table, Mapping):
        return table
    if isinstance(table, tuple) and hasattr(table, "_asdict"):
        named: dict[str, Any] = table._asdict()
        return named
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return _pandas_row(table) if kind.__name__ == "DataFrame" else _series_row(table, names)
    if library == "polars" and kind.__name__ == "DataFrame" and table.height == 1:
        return _polars_row(table)
    return None


def _pandas_row(frame: Any) -> dict[Any, Any] | None:
    if len(frame) != 1:
        return None
    cells = frame.to_numpy(dtype=object)[0].tolist()
    if complex in set(map(type, cells)):  # refused, whether or not the model looks at it
        return None
    names = frame.columns.tolist()
    row = dict(zip(names, cells, strict=True))
    if len(row) != len(names):
        return None
    if any(map(_is_nan, cells)):
        kinds = zip(names, cells, frame.dtypes.tolist(), strict=True)
        row.update((name, None) for name, cell, kind in kinds if _is_nan(cell) and _holds_objects(kind))
    return row


def _is_nan(cell: Any) -> bool:
    return type(cell) is float and cell != cell


def _holds_objects(dtype: Any) -> bool:
    """Whether a missing cell says nothing about the others: categories declare what they hold, numbers are numbers."""
    return getattr(dtype, "kind", None) == "O" and not hasattr(dtype, "categories")


def _polars_row(frame: Any) -> dict[Any, Any]:
    cells = frame.row(0)
    row = dict(zip(frame.columns, cells, strict=True))
    if any(cell is None for cell in cells):
        kinds = zip(frame.columns, cells, frame.dtypes, strict=True)
        row.update((name, _missing_in(kind)) for name, cell, kind in kinds if cell is None)
    return row


def _missing_in(dtype: Any) -> Any:
    """What stands for a missing cell of a polars column, which has a type even if it has no cell."""
    if dtype.is_float() or dtype.is_integer():
        return np.nan
    return {"String": _NO_TEXT, "Null": None}.get(str(dtype), _ABSENT)


def _series_row(series: Any, names: Iterable[str]) -> dict[Any, Any] | None:
    """A Series as a row, if its index names the columns; None for a Series that is a column itself."""
    if type(series).__name__ != "Series" or series.index.dtype.kind != "O" or not series.index.is_unique:
        return None
    needed = set(names)
    row = {name: _plain(cell) for name, cell in zip(series.index.tolist(), series.tolist(), strict=True)}
    return row if needed and series.name not in needed and needed <= row.keys() else None


def _plain(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.bool_ | np.number) else cell


def swept_for(table: Any, row: Mapping[Any, Any]) -> Any:
    """What a sweep reads in place of a table that is one row: a list of it, where the table would read otherwise.

    >>> row, columns = {"age": 31}, {"age": [31, 40]}
    >>> swept_for(row, row), swept_for(columns, columns)
    ([{'age': 31}], {'age': [31, 40]})
    """
    if type(table).__name__ == "Series" or (table is row and is_row(row)):
        return [dict(row)]
    return table


def series_as_frame(row: Any, names: Iterable[str] | None) -> Any:
    """A Series of pandas that holds one cell for each of the names, as a frame of one row; anything else as it is.

    >>> import pandas as pd
    >>> series_as_frame(pd.Series({"age": 31, "size": "S", "y": 1}), ["age", "size"]).to_dict("records")
    [{'age': 31, 'size': 'S'}]
    """
    kind = type(row)
    if names is None or kind.__name__ != "Series" or kind.__module__.partition(".")[0] != "pandas":
        return row
    known = list(names)
    if not row.index.is_unique or not set(known) <= set(row.index):
        return row
    return row[known].to_frame().T.infer_objects()


def is_row(table: Mapping[Any, Any]) -> bool:
    """Whether a mapping holds one cell for each column, and not a list of cells.

    >>> is_row({"age": 31, "size": "S"}), is_row({"age": [31, 40], "size": ["S", "L"]})
    (True, False)
    """
    return bool(table) and not any(hasattr(cell, "__len__") and not isinstance(cell, str) for cell in table.values())


@dataclass(frozen=True)
class Codes:
    """The codes of one column by type and label; 1, 1.0 and True are three labels."""

    code_of: Mapping[tuple[type, Label], int]
    types: frozenset[type]  # of cells that are labels of the column, known or not
    missing: int | None  # None: a missing cell is left to the sweep, which refuses it
    unseen: int | None

    @classmethod
    def of(cls, column: Column, known: Vocabulary) -> Codes:
        spelled = spelled_booleans(known) if column.labels == "text" else {}
        code_of = {(type(label), label): code for code, label in enumerate(known)}
        return cls(
            code_of | {(bool, label): code_of[str, text] for label, text in spelled.items()},
            _TYPES.get(column.labels, frozenset()) | ({bool} if spelled else set()),
            None if column.missing == "error" else MISSING,
            None if column.unseen == "error" else UNSEEN,
        )

    def code(self, cell: Any) -> int | None:
        """The code of a cell; None if the sweep must look at it."""
        if cell is None:
            return self.missing
        if cell is _NO_TEXT:
            return self.missing if str in self.types else None
        if type(cell) not in self.types:
            return None
        return self.code_of.get((type(cell), cell), self.unseen)


@dataclass(frozen=True, eq=False)
class RowEncoder:
    """Rows as mappings to batches of one row, under a schema and the vocabularies of a model."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    codes: tuple[Codes, ...]
    vocabularies: tuple[Vocabulary, ...]
    is_count: BoolArray | None  # (n_numbers,); None: no column of counts
    needs_all: bool  # whether a missing number is an error
    seen_keys: set[tuple[Any, ...]] = field(default_factory=set, compare=False)

    @classmethod
    def of(cls, schema: Schema, vocabularies: Mapping[str, Vocabulary]) -> RowEncoder | None:
        """None for a schema with text, which is cut into words by the sweep."""
        if schema.texts:
            return None
        names, counts = schema.categories, frozenset(schema.of_kind("count"))
        known = tuple(vocabularies.get(name, schema[name].levels or Vocabulary()) for name in names)
        return cls(
            schema.numbers,
            names,
            tuple(Codes.of(schema[name], labels) for name, labels in zip(names, known, strict=True)),
            known,
            np.array([name in counts for name in schema.numbers]) if counts else None,
            any(form.missing == "error" for form in schema.forms if form.kind not in (*LABELLED, "ignored")),
        )

    def encode(self, row: Mapping[Any, Any]) -> Batch | None:
        """The row as a batch; None if the sweep must look at it."""
        if not self._are_names(tuple(row)):
            return None
        values, codes = self._values(row), self._codes(row)
        return None if values is None or codes is None else Batch(1, values, codes, self.vocabularies)

    def _values(self, row: Mapping[Any, Any]) -> FloatArray | None:
        cells = [row.get(name, _ABSENT) for name in self.numbers]
        types = set(map(type, cells))
        if not types <= _NUMBERS:
            return None
        try:
            values = np.array(cells, dtype=np.float64).reshape(1, len(cells))  # None becomes NaN
        except OverflowError:
            return None
        if not cells:
            return values
        inside = np.abs(values) < _WIDEST  # False for NaN, infinity and integers that a float may round
        if not inside.all():
            missing = np.isnan(values)
            if self.needs_all or not (inside | missing).all():
                return None
        if self.is_count is not None:
            counts = values[0, self.is_count]
            if ((counts < 0) | (counts != np.floor(counts)) & ~np.isnan(counts)).any():
                return None
        return values

    def _codes(self, row: Mapping[Any, Any]) -> CodeArray | None:
        found = [column.code(row.get(name, _ABSENT)) for name, column in zip(self.categories, self.codes, strict=True)]
        return None if None in found else np.array([found], dtype=np.int32).reshape(1, len(found))

    def _are_names(self, keys: tuple[Any, ...]) -> bool:
        """Whether keys are names that differ, as those of any table must; the few forms that rows have are kept."""
        if keys in self.seen_keys:
            return True
        if not all(type(key) is str and normal_name(key) for key in keys):
            return False
        if len({normal_name(key) for key in keys}) != len(keys):
            return False
        if len(self.seen_keys) < _MOST_KEYS:
            self.seen_keys.add(keys)
        return True


def typed_batch(
    schema: Schema,
    vocabularies: Mapping[str, Vocabulary],
    cells: Mapping[str, str | None],
    null_words: Sequence[str] | None = None,
) -> Batch:
    """One row as a person types it; columns that are not named are missing, and so are null words.

    >>> typed_batch(Schema((Column("age", "number"),)), {}, {"age": "65.5"}).values
    array([[65.5]])
    """
    typed: list[list[str | None]] = [[cells.get(name)] for name in schema.used]
    source = ListsSource("the row", list(schema.used), typed, 1)
    source.textual = True
    source.null_words = words_of(schema) if null_words is None else tuple(null_words)
    (batch,) = Encoder(schema, learning=False, vocabularies=vocabularies, batch_rows=None).batches(source)
    refuse_other_states(schema, batch, cells)
    return batch


def refuse_other_states(schema: Schema, batch: Batch, cells: Mapping[str, Any]) -> None:
    """A cell of a binary column is one of its two values: any other is a mistake, as `abc` among numbers is.

    >>> schema = Schema((Column("paid", "binary", "boolean", [False, True]),))
    >>> typed_batch(schema, {}, {"paid": "1"}).codes.tolist()
    [[1]]
    >>> typed_batch(schema, {}, {"paid": "yes"})
    Traceback (most recent call last):
    bayeswise.foundation.errors.KindError: column 'paid' is binary, but the row has 'yes'. Fix: give one of False, True.
    """
    for name, codes, known in zip(schema.categories, batch.codes.T, batch.vocabularies, strict=True):
        if schema[name].kind == "binary" and (codes == UNSEEN).any():
            raise KindError(
                f"column {name!r} is binary, but the row has {quoted(cells.get(name))}",
                fix=f"give one of {listed(map(str, known))}",
            )
