"""Discretised columns: numbers by their cuts, missing cells as a level of their own if the schema says so."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, KindError, MissingCellError, NonFiniteError, SchemaError
from bayeswise.foundation.threads import each
from bayeswise.models.description_length.bits import codes_of, cut_points
from bayeswise.networks.node import cut_texts, intervals
from bayeswise.tables.batch import MISSING, UNSEEN, Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.notes import no_column
from bayeswise.tables.schema.schema import Schema

MISSING_LEVEL = "(missing)"
_CELLS_WORTH_A_THREAD = 1 << 14  # fewer are cut faster than a thread is started


@dataclass(frozen=True)
class Coding:
    """From batches of a table to batches in which every used column is a category, in the order of the table.

    >>> coding = Coding(Schema((Column("age", "number"),)), {"age": (30.0, 50.0)})
    >>> coding.batch(Batch(3, np.array([[20.0], [30.0], [np.nan]]), np.empty((3, 0), np.int32))).codes.ravel().tolist()
    [0, 1, -1]
    >>> coding.words("age", Vocabulary([0, 1, 2]))
    ['< 30', '30 to 50', '>= 50']
    """

    schema: Schema
    cuts: Mapping[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        if self.schema.texts:
            raise KindError(
                f"a network of columns cannot hold the text {self.schema.texts[0]!r}",
                fix="ignore the column, or make it a category",
            )
        if not self.schema.used:
            raise no_column(self.schema)
        for name in self.schema.numbers:
            cuts = self.cuts.get(name)
            if cuts is None or not all(map(math.isfinite, cuts)) or list(cuts) != sorted(set(cuts)):
                raise SchemaError(f"the cuts of column {name!r} are {cuts}", fix="give numbers in increasing order")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.schema.used

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Where the numbers are in `Batch.values`."""
        return {name: place for place, name in enumerate(self.schema.numbers)}

    @cached_property
    def _categories(self) -> dict[str, int]:
        """Where the categories are in `Batch.codes`."""
        return {name: place for place, name in enumerate(self.schema.categories)}

    @cached_property
    def coded(self) -> Schema:
        """The schema of the coded batches."""
        return replace(self.schema, columns=tuple(Column(name, "category", "mixed") for name in self.columns))

    @cached_property
    def declared(self) -> tuple[Vocabulary | None, ...]:
        """The levels of each column that are kept even if no row has them."""
        return tuple(self._declared(self.schema[name]) for name in self.columns)

    def _declared(self, column: Column) -> Vocabulary | None:
        fixed: tuple[object, ...] = column.levels.labels if column.levels is not None else ()
        if column.name in self._numbers:
            fixed = tuple(range(len(self.cuts[column.name]) + 1))
        extra = (MISSING_LEVEL,) if column.missing == "level" and MISSING_LEVEL not in fixed else ()
        return Vocabulary([*fixed, *extra]) if fixed or extra else None

    @cached_property
    def is_plain(self) -> bool:
        """Whether batches are coded already."""
        return not self.schema.numbers and all(self.schema[name].missing != "level" for name in self.columns)

    def batch(self, batch: Batch) -> Batch:
        """The rows with every used column as codes; -1 stays where a cell is missing."""
        if self.is_plain:
            return batch
        coded = [self._column(name, batch) for name in self.columns]
        codes = np.empty((batch.n_rows, len(coded)), dtype=np.int32)
        for place, (column, _) in enumerate(coded):
            codes[:, place] = column
        vocabularies = tuple(levels for _, levels in coded)
        return replace(batch, values=np.empty((batch.n_rows, 0)), codes=codes, vocabularies=vocabularies, texts=())

    def _column(self, name: str, batch: Batch) -> tuple[CodeArray, Vocabulary]:
        if name in self._numbers:
            values = batch.values[:, self._numbers[name]]
            codes = codes_of(values, np.array(self.cuts[name])).astype(np.int32)
            levels = Vocabulary.trusted(tuple(range(len(self.cuts[name]) + 1)))
        else:
            place = self._categories[name]
            codes, levels = batch.codes[:, place].astype(np.int32), batch.vocabularies[place]
        policy, missing = self.schema[name].missing, codes == MISSING
        if policy == "error" and missing.any():
            row = int(np.argmax(missing))
            raise MissingCellError(f"column {name!r} is missing (NaN) in row {row + 1}", fix="missing='ignore'")
        if policy != "level":
            return codes, levels
        levels = _with_missing(levels)
        return np.where(missing, levels.code(MISSING_LEVEL), codes), levels

    def codes(self, batch: Batch, known: Sequence[Vocabulary]) -> CodeArray:
        """(n_rows, n_columns) positions in the known levels; a level beyond them is -2, or -1 where it is ignored."""
        unseen = [MISSING if self.schema[name].unseen == "ignore" else UNSEEN for name in self.columns]
        return np.ascontiguousarray(self.batch(batch).recode(known, unseen).codes, dtype=np.int32)

    def words(self, name: str, levels: Vocabulary) -> list[object]:
        """The levels as text, numbers as intervals."""
        if name not in self._numbers:
            return list(levels)
        shown = intervals(self.cuts[name])
        return [shown[level] if isinstance(level, int) else level for level in levels]


def _with_missing(levels: Vocabulary) -> Vocabulary:
    return levels if MISSING_LEVEL in levels else Vocabulary.trusted((*levels.labels, MISSING_LEVEL))


def found_cuts(batches: Iterable[Batch], schema: Schema) -> dict[str, tuple[float, ...]]:
    """The cuts of every number column that shorten the description of the classes (Fayyad and Irani)."""
    if not schema.numbers:
        return {}
    values: list[FloatArray] = []
    groups: list[CodeArray] = []
    weights: list[FloatArray | None] = []
    classes = Vocabulary()
    for batch in batches:
        _refuse_infinite(batch, schema)
        classes = Vocabulary([*classes, *(label for label in batch.group_labels if label not in classes)])
        if batch.groups is None:
            raise FitError("the rows have no target", fix="give a table with the target column")
        positions = np.append(batch.group_labels.positions_in(classes), -1).astype(np.int32)
        groups.append(positions[batch.groups])
        values.append(np.asarray(batch.values, dtype=np.float64))
        weights.append(batch.weights)
    if not values:
        return dict.fromkeys(schema.numbers, ())
    table, group, weight = np.concatenate(values), np.concatenate(groups), joined_weights(weights, groups)

    def cuts_of(column: int) -> tuple[float, ...]:
        return tuple(cut_points(table[:, column], group, len(classes), weights=weight).tolist())

    columns = range(table.shape[1])
    found = each(cuts_of, columns) if table.size >= _CELLS_WORTH_A_THREAD else [cuts_of(column) for column in columns]
    return dict(zip(schema.numbers, found, strict=True))


def joined_weights(weights: Sequence[FloatArray | None], parts: Sequence[CodeArray]) -> FloatArray | None:
    """The weights of the rows of all parts; None if no part has any."""
    if all(each is None for each in weights):
        return None
    return np.concatenate([np.ones(len(p)) if w is None else w for w, p in zip(weights, parts, strict=True)])


def _refuse_infinite(batch: Batch, schema: Schema) -> None:
    infinite = np.isinf(batch.values)
    if infinite.any():
        row, column = (int(place) for place in np.argwhere(infinite)[0])
        raise NonFiniteError(row=row, column=schema.numbers[column])


def with_cuts(schema: Schema, cuts: Mapping[str, tuple[float, ...]]) -> Schema:
    """The schema with the cuts of its numbers."""
    numbers = set(schema.numbers)
    columns = [
        replace(column, reason=_reason(cuts[column.name])) if column.name in numbers else column for column in schema
    ]
    return replace(schema, columns=tuple(columns))


def _reason(cuts: Sequence[float]) -> str:
    if not len(cuts):
        return "not cut: no cut shortens the description"
    return f"cut at {', '.join(cut_texts(cuts))}"
