"""The columns of a regression: numbers as they are, a category as one indicator for each level but the reference.

The reference is the first declared level, or the first level in canonical order where none was declared; its weight is
in the intercept. A missing or unseen cell is replaced by the mean of its column (of its indicators, for a category), so
that it is evidence neither for nor against. With missing="indicator" columns in which learned rows have missing cells
get an indicator more, which is 1 where the cell is missing, as that may be evidence too. With missing="mean" rows with
a missing cell are left out of training, and with missing="error" it is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from bayeswise.engines.local import MOST_ENTRIES
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray, has_finite_sum
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    DataError,
    FitError,
    MissingCellError,
    NonFiniteError,
    SchemaError,
    TooLargeError,
    row_number,
)
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.notes import keep
from bayeswise.tables.schema.schema import Schema

Feature = tuple[str, Label | None]  # (column, level); level None: the column's number


@dataclass(frozen=True)
class Features:
    """Which number stands where in a row of the design matrix.

    >>> from bayeswise.tables.schema.columns import Column
    >>> schema = Schema((Column("age", "number"), Column("size", "category", "text", ["S", "M", "L"])))
    >>> Features(schema, (Vocabulary(["L", "M", "S"]),)).names
    (('age', None), ('size', 'M'), ('size', 'L'))
    """

    schema: Schema
    levels: tuple[Vocabulary, ...]  # those that are known, in canonical order
    marked: tuple[str, ...] = ()  # columns with an indicator of missing cells, numbers before categories

    def __post_init__(self) -> None:
        if len(self.levels) != len(self.schema.categories):
            raise SchemaError("the levels of a regression are not those of its categories")
        if self.marked != tuple(name for name in markable(self.schema) if name in self.marked):
            raise SchemaError("the indicators of missing cells are not of columns of the regression")

    def refuse_other_shapes(self, *arrays: FloatArray) -> None:
        """Numbers of a model, the last axis of which is not one of features, or which are not finite."""
        for array in arrays:
            if array.shape[-1:] != (len(self.names),) or not np.isfinite(array).all():
                raise SchemaError(f"a regression of {len(self.names)} features needs as many finite numbers")

    @cached_property
    def ordered(self) -> tuple[Vocabulary, ...]:
        """The levels of each category, its reference first."""
        return tuple(
            self._ordered(name, known) for name, known in zip(self.schema.categories, self.levels, strict=True)
        )

    def _ordered(self, name: str, known: Vocabulary) -> Vocabulary:
        declared = self.schema[name].levels
        if declared is None:
            return known
        return Vocabulary([*declared, *(level for level in known if level not in declared)])

    @cached_property
    def names(self) -> tuple[Feature, ...]:
        """One for each column of the matrix."""
        categories = zip(self.schema.categories, self.ordered, strict=True)
        indicators = [(name, level) for name, levels in categories for level in levels[1:]]
        taken = set(self.schema.names)
        missing = [(_free_name(f"{name} is missing", taken), None) for name in self.marked]
        return (*((name, None) for name in self.schema.numbers), *indicators, *missing)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """(n_features,) the column of the table that each belongs to."""
        last = len(self.names) - len(self.marked)
        return (*(name for name, _ in self.names[:last]), *self.marked)

    @cached_property
    def marked_by(self) -> IntArray:
        """(n_features,) the place of the feature that says where this one is missing; -1 if there is none."""
        first = len(self.names) - len(self.marked)
        place = {name: first + k for k, name in enumerate(self.marked)}
        return np.array([place.get(name, -1) for name in self.columns[:first]] + [-1] * len(self.marked), np.int64)

    @property
    def references(self) -> dict[str, Label]:
        """The reference level of each category, which is in the intercept."""
        return {
            name: levels[0] for name, levels in zip(self.schema.categories, self.ordered, strict=True) if len(levels)
        }

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """What an encoder needs to know."""
        return dict(zip(self.schema.categories, self.levels, strict=True))

    @cached_property
    def is_number(self) -> BoolArray:
        """(n_features,) a number, not an indicator."""
        return np.arange(len(self.names)) < len(self.schema.numbers)

    @cached_property
    def positions(self) -> IntArray:
        """(n_features,) the positions of the features in `RegressionMoments`, which has every level."""
        found = list(range(len(self.schema.numbers)))
        first = len(found)
        for known, ordered in zip(self.levels, self.ordered, strict=True):
            found += [first + known.code(level) for level in ordered[1:]]
            first += len(known)
        return np.array([*found, *range(first, first + len(self.marked))], dtype=np.int64)

    def of_column(self, name: str) -> IntArray:
        """Where the number, or the indicators, of a column stand; the indicator of missing cells is the last."""
        return np.array(self._places.get(name, ()), dtype=np.int64)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, name in enumerate(self.columns):
            found.setdefault(name, []).append(place)
        return found

    def refuse_no_room(self, n_rows: float) -> None:
        """`TooLargeError` where `n_rows` rows of all indicators do not fit into memory; it names the widest column."""
        sizes = dict(zip(self.schema.categories, map(len, self.ordered), strict=True))
        widest = max(sizes, key=lambda name: sizes[name])
        refuse_no_room(
            float(n_rows) * len(self.names),
            f"{n_rows:,} rows of {len(self.names):,} columns and indicators ({sizes[widest]:,} levels of {widest!r})",
            f"leave it out with ignore=[{widest!r}] (--ignore {widest}), or choose model='naive-bayes'",
        )

    def matrix(self, batch: Batch) -> FloatArray:
        """(n_rows, n_features); NaN where a cell is missing or unseen. The batch's own numbers if that is all."""
        if not self.schema.categories and not self.marked:
            return batch.values
        n_numbers = batch.values.shape[1]
        matrix = np.zeros((batch.n_rows, len(self.names)))
        matrix[:, :n_numbers] = batch.values
        first = n_numbers
        for c, ordered in enumerate(self.ordered):
            width = max(len(ordered) - 1, 0)
            _fill(matrix[:, first : first + width], batch.codes[:, c], batch.vocabularies[c].positions_in(ordered))
            first += width
        for place, name in enumerate(self.marked, start=first):
            matrix[:, place] = missing_in(self.schema, batch, name)
        return matrix

    def filled(self, batch: Batch, mean: FloatArray, *, missing: str) -> FloatArray:
        """The matrix without missing values: means in their place, or an error."""
        whole = refuse_missing(self.schema, batch, missing)
        matrix = self.matrix(batch)
        if whole and not self.schema.categories:
            return matrix
        return np.where(np.isnan(matrix), mean, matrix)

    def by_name(self, weights: Sequence[float] | FloatArray) -> dict[Feature, float]:
        """Weights with their names."""
        return dict(zip(self.names, np.asarray(weights, dtype=np.float64).tolist(), strict=True))


def markable(schema: Schema) -> tuple[str, ...]:
    """The columns that may have an indicator of missing cells, in the order of these indicators."""
    return (*schema.numbers, *schema.categories)


def missing_columns(batch: Batch) -> BoolArray:
    """(n_markable,) which columns lack a cell, in the order of `markable`."""
    return np.concatenate([np.isnan(batch.values).any(axis=0), (batch.codes == MISSING).any(axis=0)])


def missing_in(schema: Schema, batch: Batch, name: str) -> BoolArray:
    """(n_rows,) where a cell of the column is missing."""
    if name in schema.numbers:
        return np.isnan(batch.values[:, schema.numbers.index(name)])
    return np.asarray(batch.codes[:, schema.categories.index(name)] == MISSING)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def refuse_missing(schema: Schema, batch: Batch, missing: str) -> bool:
    """An error that names the first infinite cell and, with missing="error", the first missing one.

    True where all numbers are there.
    """
    whole = has_finite_sum(batch.values)
    if not whole:
        infinite = np.argwhere(np.isinf(batch.values))
        if len(infinite):
            row, column = infinite[0].tolist()
            raise NonFiniteError(row=batch.place(row), column=schema.numbers[column])
        if missing == "error":
            _refuse_first(batch, np.isnan(batch.values), schema.numbers)
    if missing == "error" and schema.categories:
        _refuse_first(batch, batch.codes == MISSING, schema.categories)
    return whole


def _refuse_first(batch: Batch, missing: BoolArray, names: Sequence[str]) -> None:
    places = np.argwhere(missing)
    if len(places):
        row, column = places[0].tolist()
        raise MissingCellError(
            f"column {names[column]!r} is missing (NaN) in row {row_number(batch.place(row))}",
            fix="fill the cell in, or choose missing='indicator' (--missing indicator)",
        )


def refuse_extreme(names: Sequence[str], spread: FloatArray, least: float, most: float) -> None:
    """An error that names a column whose squares, or whose inverse, leave the range of floats."""
    wrong = (spread > 0) & ((spread < least) | (spread > most))
    if wrong.any():
        column = int(np.argmax(wrong))
        raise DataError(
            f"column {names[column]!r} has a standard deviation of {spread[column]:.3g}, beyond {least:g} to {most:g}",
            fix="measure it in another unit",
        )


def _fill(block: FloatArray, codes: CodeArray, positions: IntArray) -> None:
    """1 where a row has the level; the reference, at position 0, has no indicator."""
    padded = np.append(positions, -1)  # code -1 and -2 both end at -1
    place = padded[np.where(codes >= 0, codes, len(positions))]
    rows = np.flatnonzero(place > 0)
    block[rows, place[rows] - 1] = 1.0
    block[np.flatnonzero(place < 0)] = np.nan


def usable(schema: Schema) -> Schema:
    """The schema for a regression, which handles missing cells itself; free text is refused."""
    if schema.texts:
        raise FitError(
            f"column {schema.texts[0]!r} is free text, which a regression cannot use",
            fix=f"leave it out, or declare it a category with {keep(schema.texts[0], 'category')}",
        )
    return schema.with_forms(_left_to_regression)


def _left_to_regression(column: Column) -> Column:
    return replace(column, missing="ignore", unseen="error" if column.unseen == "error" else "ignore")


LIMBS = 6  # 8-byte words of an exact sum of products, in the middle of a merge


def refuse_no_room(n_entries: float, what: str, fix: str) -> None:
    """`TooLargeError` with the estimate, before the memory is taken."""
    if n_entries > MOST_ENTRIES:
        raise TooLargeError(
            f"{what} would take {8 * n_entries / 1e9:,.1f} GB; at most {8 * MOST_ENTRIES / 1e9:.1f} are taken", fix=fix
        )


def entries_of_moments(n_features: int) -> float:
    """The memory of exact cross products of all pairs of columns."""
    return LIMBS * 0.5 * n_features * (n_features + 1.0)


def is_wide(n_features: int) -> bool:
    """Whether exact cross products of all columns have no room."""
    return entries_of_moments(n_features) > MOST_ENTRIES
