"""From X to a schema and batches: a matrix of numbers, a sparse matrix, or a dataframe of anything.

A matrix is numbers throughout (or categories, if the family says so); a sparse matrix is one block of word counts; the
columns of a dataframe are taken like those of any table (0 and 1 are flags), except that a number stays a number even
where a table would call it an identifier. `checking.checked` is the border before it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from bayeswise.engines.local import over_ranges
from bayeswise.estimators.inputs.checking import WORDS, is_frame, stored_cell
from bayeswise.estimators.inputs.targets import Labels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import (
    NonFiniteError,
    ParameterError,
    SupportError,
)
from bayeswise.models.regression.features import usable
from bayeswise.tables.batch import Batch, TextBlock
from bayeswise.tables.encoding.coders import ROOM, IntegerCodes, integer_levels, kernel_integers
from bayeswise.tables.encoding.encoder import Encoder, refuse_infinite, refuse_missing_numbers
from bayeswise.tables.schema.columns import LABELLED, Column, Columns, Kind
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.kinds import flags_among
from bayeswise.tables.schema.labels import LabelType, Vocabulary
from bayeswise.tables.schema.names import find_name, normal_name
from bayeswise.tables.schema.schema import Schema, Target
from bayeswise.tables.source import Source, open_source


def schema_of(
    X: Any,
    *,
    categorical: bool,
    overrides: Mapping[str, Any],
    flags_as_numbers: bool | Sequence[str] = False,
    booleans_as_numbers: bool = False,
) -> Schema:
    """What the columns of X mean; the target is y, or the first name like it that no column has."""
    target = Target("y", "mixed")
    if issparse(X):
        return Schema((Column(WORDS, "text", reason="a sparse matrix of word counts"),), target)
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not categorical and not overrides:
        return Schema(_unnamed(X.shape[1], "number", None), target)
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu" and categorical and not overrides:
        return Schema(_unnamed(X.shape[1], "category", "integer"), target)
    source = open_source(X)
    kinds = dict(overrides.get("kinds") or {})
    declared = {normal_name(str(name)) for name in overrides.get("levels") or ()}
    numbers = ("integer", "float", "boolean") if booleans_as_numbers else ("integer", "float")
    stored = [column.name for column in source.columns if column.storage in numbers]
    free = [name for name in stored if normal_name(name) not in declared and name not in kinds]
    flags = set(flags_among(source, free) if is_frame(X) and flags_as_numbers is not True and not categorical else ())
    numeric = () if isinstance(flags_as_numbers, bool) else flags_as_numbers
    flags -= {find_name(name, [column.name for column in source.columns], where="X") for name in numeric}
    if categorical:
        kinds = {**dict.fromkeys((column.name for column in source.columns), "category"), **kinds}
    else:
        kinds |= {name: "number" for name in free if name not in flags}
    schema = infer_schema(source, None, **{**overrides, "kinds": kinds})
    if schema.ignored:
        reasons = "; ".join(f"{name!r} ({schema[name].reason})" for name in schema.ignored)
        warnings.warn(f"columns that are not used: {reasons}", UserWarning, stacklevel=4)
    return Schema(schema.columns, replace(target, name=_free_name(schema.names)))


def _free_name(taken: Sequence[str]) -> str:
    """The name of the target: "y" unless a column has it."""
    names = {normal_name(name) for name in taken}
    return next(name for name in chain(("y", "target"), (f"y{k}" for k in count(2))) if name not in names)


@lru_cache(maxsize=8)
def _unnamed(n_columns: int, kind: Kind, labels: LabelType | None) -> Columns:
    """The columns of a matrix: x0, x1, ..."""
    return Columns.alike(tuple(map("x{}".format, range(n_columns))), kind, labels)


def batches(
    schema: Schema,
    X: Any,
    labels: Labels | None = None,
    weights: FloatArray | None = None,
    vocabularies: Mapping[str, Vocabulary] | None = None,
) -> Iterator[Batch]:
    """X as batches of the schema, with y and weights where they are given."""
    if schema.texts == (WORDS,) and (issparse(X) or isinstance(X, np.ndarray)):
        yield _with(_sparse_batch(csr_array(X)), labels, weights)
    elif issparse(X):
        yield from batches(schema, X.toarray(), labels, weights, vocabularies)
    elif isinstance(X, np.ndarray) and X.dtype.kind == "f" and len(schema.numbers) == X.shape[1]:
        refuse_missing_numbers(schema, X, None if weights is None else weights > 0)
        if labels is None:
            refuse_infinite(X, schema.numbers)
        yield _with(Batch(len(X), X, np.empty((len(X), 0), dtype=np.int32)), labels, weights)
    elif (codes := _integer_codes(schema, X, vocabularies)) is not None:
        yield _with(codes, labels, weights)
    else:
        yield from _table_batches(schema, open_source(X), labels, weights, vocabularies)


def _are_integers(schema: Schema, X: Any) -> bool:
    """Whether X is a matrix of integer categories."""
    whole = isinstance(X, np.ndarray) and X.dtype.kind in "iu" and len(schema.categories) == X.shape[1]
    return whole and all(form.labels == "integer" for form in schema.forms if form.kind in LABELLED)


_FEW = Vocabulary.trusted(tuple(range(ROOM)))
_MANY_ROWS = 1 << 16  # from which on a pass over all of them costs more than to count levels that are not there
_SMALL_TABLE = 1 << 16  # counts, which stay in the cache


def batch_of_small_integers(schema: Schema, X: Any, labels: Labels) -> Batch | None:
    """A matrix of categories whose levels are probably among 0, 1, ..., 63, as the codes of all of these.

    Counting them finds the levels that occur, an error if there are others, and missing cells where X holds -1.
    None for another matrix, or one of few rows.
    """
    if not _are_integers(schema, X) or len(X) < _MANY_ROWS or any(form.levels is not None for form in schema.forms):
        return None
    first = X[:: len(X) // 64]
    if first.min() < 0 or first.max() >= ROOM or len(labels.classes) * X.shape[1] * (ROOM + 1) > _SMALL_TABLE:
        return None
    batch = Batch(len(X), np.empty((len(X), 0)), kernel_integers(X), (_FEW,) * X.shape[1])
    return _with(batch, labels, None)


def _integer_codes(schema: Schema, X: Any, vocabularies: Mapping[str, Vocabulary] | None) -> Batch | None:
    """A matrix of integer categories, encoded without a hash; None if it is something else."""
    if not _are_integers(schema, X):
        return None
    levels = integer_levels(X) if vocabularies is None else [vocabularies[name] for name in schema.categories]
    coder = None if levels is None else IntegerCodes.of(levels)
    if levels is None or coder is None:
        return None
    no_numbers = np.empty((len(X), 0))
    if vocabularies is None and coder.are_integers:
        return Batch(len(X), no_numbers, kernel_integers(X), tuple(levels))
    codes = np.empty(X.shape, dtype=coder.dtype)

    def encode(rows: slice) -> None:
        coder.encode(X[rows], out=codes[rows])

    over_ranges(encode, len(X))
    return Batch(len(X), no_numbers, codes, tuple(levels))


def number_columns(schema: Schema, X: Any) -> dict[str, FloatArray]:
    """The number columns of X by name."""
    whole = list(batches(schema, X))
    return {name: np.concatenate([batch.values[:, k] for batch in whole]) for k, name in enumerate(schema.numbers)}


def _sparse_batch(X: Any) -> Batch:
    n_rows, n_words = X.shape
    _refuse_other_counts(X)
    block = TextBlock(X, words_of(n_words))
    return Batch(n_rows, np.empty((n_rows, 0)), np.empty((n_rows, 0), dtype=np.int32), texts=(block,))


def _refuse_other_counts(X: Any) -> None:
    """Counts of words are finite and from 0 on, in rows to be learned and in rows to be predicted."""
    wrong = ~(X.data >= 0) | np.isinf(X.data)
    if wrong.any():
        cell = int(np.argmax(wrong))
        row, column, value = stored_cell(X, cell)
        if np.isinf(value):
            raise NonFiniteError(row=row, column=column)
        raise SupportError("a count of words is a finite number from 0 on", row=row, column=column, value=float(value))


_WORDS: dict[int, Vocabulary] = {}


def words_of(n_words: int) -> Vocabulary:
    """The columns of a sparse matrix as words, 0, 1, 2, ...: integers, so that their order is the matrix's."""
    if n_words not in _WORDS:
        _WORDS.clear()
        _WORDS[n_words] = Vocabulary.trusted(tuple(range(n_words)))
    return _WORDS[n_words]


def _with(batch: Batch, labels: Labels | None, weights: FloatArray | None) -> Batch:
    """The batch with y and weights; rows of weight 0 are absent."""
    groups = None if labels is None else labels.codes
    if groups is not None and weights is not None and (weights == 0).any():
        groups = np.where(weights > 0, groups, -1).astype(np.int32)
    known = Vocabulary() if labels is None else labels.classes
    return replace(batch, groups=groups, group_labels=known, weights=weights)


def _table_batches(
    schema: Schema,
    source: Source,
    labels: Labels | None,
    weights: FloatArray | None,
    vocabularies: Mapping[str, Vocabulary] | None,
) -> Iterator[Batch]:
    bare = Schema(schema.columns)
    learning = vocabularies is None
    encoder = Encoder(bare, learning=learning, vocabularies=vocabularies or {}, with_target=False)
    start = 0
    for batch in encoder.batches(source):
        rows = slice(start, start + batch.n_rows)
        start = rows.stop
        part = None if labels is None else Labels(labels.codes[rows], labels.classes)
        yield _with(batch, part, None if weights is None else weights[rows])


class ExpandedColumns:
    """What `coef_` is about, where one column of categories has a weight for each level but its reference."""

    model_: Any
    n_features_in_: int

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the weights in `coef_`: "age" of a number, "size_M" of a level."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        names = self.model_.features.names
        return np.array([name if level is None else f"{name}_{level}" for name, level in names], dtype=object)

    @property
    def feature_importances_(self) -> FloatArray:
        """(n_features_in_,) for each column of X the length of all its weights in `coef_`; 0 where it is not used.

        `SelectFromModel(..., importance_getter="feature_importances_")` selects whole columns by it.
        """
        check_is_fitted(self)
        weights = np.atleast_2d(self.model_.weights)  # (n_classes, n_weights)
        schema, features = self.model_.schema, self.model_.features
        squares = np.zeros(len(schema.columns))
        position = {name: k for k, name in enumerate(schema.names)}
        for k, name in enumerate(features.columns):
            squares[position[name]] += float(np.square(weights[:, k]).sum())
        return np.sqrt(squares)


def sparse_batch(matrix: Any) -> Batch:
    """Rows of numbers whose zeros are not written out."""
    n_rows = matrix.shape[0]
    return Batch(n_rows, np.empty((n_rows, 0)), np.empty((n_rows, 0), dtype=np.int32), sparse=matrix)


def schema_for(X: Any, overrides: Mapping[str, Any]) -> Schema:
    """What the columns of X mean to a regression."""
    if issparse(X):
        if overrides:
            raise ParameterError(
                f"{next(iter(overrides))} is about named columns, and a sparse matrix has numbers only",
                fix="leave it out, or give a dataframe",
            )
        return usable(Schema(_unnamed(X.shape[1], "number", None), Target("y", "mixed")))
    return usable(schema_of(X, categorical=False, overrides=overrides, flags_as_numbers=True))


def batches_of(
    schema: Schema, X: Any, weights: FloatArray | None = None, vocabularies: Mapping[str, Vocabulary] | None = None
) -> Iterator[tuple[slice, Batch]]:
    """X as batches, each with the rows that it holds."""
    first = 0
    for batch in batches(schema, X, None, weights, vocabularies):
        yield slice(first, first + batch.n_rows), batch
        first += batch.n_rows
