"""X as scikit-learn users bring it: a matrix of numbers, a sparse matrix, or a dataframe of anything.

A matrix is numbers throughout (or categories, if the family says so); a sparse matrix is one block of word counts; the
columns of a dataframe are judged like those of any table (0 and 1 are flags), except that a number stays a number even
where a table would call it an identifier. `checked` is the border: behind it X is an array, a CSR matrix or a table
with names.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from bayeswise.engines.local import over_ranges
from bayeswise.estimators.targets import Labels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import (
    MissingCellError,
    MissingColumnError,
    NonFiniteError,
    ParameterError,
    SourceError,
    SupportError,
    row_number,
)
from bayeswise.models.regression.features import usable
from bayeswise.tables.batch import Batch, TextBlock
from bayeswise.tables.encoding.coders import IntegerCodes, integer_levels
from bayeswise.tables.encoding.encoder import Encoder, refuse_infinite, refuse_missing_numbers
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.kinds import flags_among
from bayeswise.tables.schema.labels import LabelType, Vocabulary
from bayeswise.tables.schema.names import find_name, normal_name
from bayeswise.tables.schema.schema import LABELLED, Column, Columns, Kind, Schema, Target
from bayeswise.tables.source import Source, open_source

WORDS = "words"


def is_frame(X: Any) -> bool:
    """Whether X has named columns."""
    return hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__")


def checked(estimator: Any, X: Any, *, reset: bool, integers: bool = False) -> Any:
    """X after scikit-learn's own checks of shape, names and number of columns; frames and text pass as they are.

    Numbers become doubles, unless `integers` asks to keep those that are none. A frame that comes to a model of an
    array goes by position, with scikit-learn's warning.
    """
    if not reset and _is_ready(estimator, X):
        return X
    if issparse(X):
        checked_matrix = validate_data(estimator, X, accept_sparse="csr", reset=reset, ensure_all_finite=False)
        return _without_duplicates(checked_matrix)
    X = in_memory(X)
    if is_frame(X) or is_text(X):
        if _is_relation(X):
            _check_relation(estimator, X, reset=reset)
        else:
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X if reset else _by_position(estimator, X)
    kept = None if integers and getattr(getattr(X, "dtype", None), "kind", "") in "iu" else [np.float64, np.float32]
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, dtype=kept)


def _is_ready(estimator: Any, X: Any) -> bool:
    """A matrix of doubles as wide as that of fit: scikit-learn's checks change nothing, and cost more than a row."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or len(X) == 0:
        return False
    return X.shape[1] == getattr(estimator, "n_features_in_", 0) and not hasattr(estimator, "feature_names_in_")


def in_memory(X: Any) -> Any:
    """What can be read only once, or has no length yet, as a table; lists of rows with text as an array of objects."""
    kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
    if kind.startswith("narwhals."):
        return in_memory(X.to_native())
    if kind == "polars.LazyFrame":
        return X.collect()
    if kind == "pyarrow.RecordBatchReader":
        return X.read_all()
    if kind == "pyarrow.RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([X])
    if isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        raise SourceError(
            f"X is a {'list of dicts' if isinstance(X, list) else type(X).__name__}, which scikit-learn does not take",
            fix="make a dataframe of it, as in pandas.DataFrame(X); bayeswise.fit takes it as it is",
        )
    return _array_of_rows(X) if isinstance(X, list | tuple) else X


def _array_of_rows(X: Any) -> Any:
    """A list of rows as an array, its text kept as text and its numbers as numbers; others are left to scikit-learn."""
    try:
        found = np.asarray(X)
    except ValueError:  # rows of different lengths
        return X
    if found.dtype.kind not in "UO" or found.ndim != 2:
        return X if found.ndim != 2 else found
    cells = np.empty(found.shape, dtype=object)
    for row, given in zip(cells, X, strict=True):
        row[:] = given
    return cells


def _is_relation(X: Any) -> bool:
    return type(X).__name__ == "DuckDBPyRelation"


def _check_relation(estimator: Any, X: Any, *, reset: bool) -> None:
    """Names and number of the columns of a DuckDB relation, which scikit-learn does not know."""
    names = np.array(list(map(str, X.columns)), dtype=object)
    if reset:
        estimator.feature_names_in_, estimator.n_features_in_ = names, len(names)
    elif len(names) != estimator.n_features_in_ or (
        hasattr(estimator, "feature_names_in_") and not np.array_equal(estimator.feature_names_in_, names)
    ):
        known = getattr(estimator, "feature_names_in_", [f"x{k}" for k in range(estimator.n_features_in_)])
        raise MissingColumnError(
            f"X has the columns {_some(names)}; the model was fitted with {_some(known)}",
            fix="select these columns in this order",
        )
    elif not hasattr(estimator, "feature_names_in_"):
        what = type(estimator).__name__
        warnings.warn(f"X has feature names, but {what} was fitted without feature names", UserWarning, stacklevel=4)


def _some(names: Any) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _by_position(estimator: Any, X: Any) -> Any:
    """A frame as the model of an array knows it: its columns are x0, x1, ... whatever their names."""
    check_is_fitted(estimator)
    schema = estimator.model_.schema
    known = list(schema.names[: len(schema.columns)])
    if hasattr(estimator, "feature_names_in_") or not is_frame(X):
        return X
    if known == [WORDS]:
        return validate_data(estimator, X, reset=False, ensure_all_finite=False, dtype=[np.float64, np.float32])
    frame = nw.from_native(X)
    names = frame.columns if isinstance(frame, nw.DataFrame) else list(X.columns)
    if known != [f"x{k}" for k in range(len(names))] or list(map(str, names)) == known:
        return X
    return frame.rename(dict(zip(names, known, strict=True))).to_native()


def _without_duplicates(X: Any) -> Any:
    """Each cell of a sparse matrix once; cells that were given in parts are added up, in a copy."""
    if X.has_canonical_format:
        return X
    own = X.copy()
    own.sum_duplicates()
    return own


def is_text(X: Any) -> bool:
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in "UT" and kind:
        return True
    return kind == "O" and any(isinstance(cell, str) for cell in np.asarray(X).ravel())


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
    asked = () if isinstance(flags_as_numbers, bool) else flags_as_numbers
    flags -= {find_name(name, [column.name for column in source.columns], where="X") for name in asked}
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
        yield _with(_number_batch(X), labels, weights)
    elif (codes := _integer_codes(schema, X, vocabularies)) is not None:
        yield _with(codes, labels, weights)
    else:
        yield from _table_batches(schema, open_source(X), labels, weights, vocabularies)


def _integer_codes(schema: Schema, X: Any, vocabularies: Mapping[str, Vocabulary] | None) -> Batch | None:
    """A matrix of integer categories, encoded without a hash; None if it is something else."""
    whole = isinstance(X, np.ndarray) and X.dtype.kind in "iu" and len(schema.categories) == X.shape[1]
    if not whole or any(form.labels != "integer" for form in schema.forms if form.kind in LABELLED):
        return None
    levels = integer_levels(X) if vocabularies is None else [vocabularies[name] for name in schema.categories]
    coder = None if levels is None else IntegerCodes.of(levels)
    if levels is None or coder is None:
        return None
    codes = np.empty(X.shape, dtype=coder.dtype)

    def encode(rows: slice) -> None:
        coder.encode(X[rows], out=codes[rows])

    over_ranges(encode, len(X))
    return Batch(len(X), np.empty((len(X), 0)), codes, tuple(levels))


def number_columns(schema: Schema, X: Any) -> dict[str, FloatArray]:
    """The number columns of X by name."""
    whole = list(batches(schema, X))
    return {name: np.concatenate([batch.values[:, k] for batch in whole]) for k, name in enumerate(schema.numbers)}


def _number_batch(X: Any) -> Batch:
    return Batch(len(X), X, np.empty((len(X), 0), dtype=np.int32))


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
        row, column, value = _stored_cell(X, cell)
        if np.isinf(value):
            raise NonFiniteError(row=row, column=column)
        raise SupportError("a count of words is a finite number from 0 on", row=row, column=column, value=float(value))


def _stored_cell(X: Any, cell: int) -> tuple[int, int, Any]:
    """Row, column and value of a stored cell of a CSR matrix."""
    return int(np.searchsorted(X.indptr, cell, "right")) - 1, int(X.indices[cell]), X.data[cell]


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


def checked_columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X after scikit-learn's own checks; a frame passes as it is; a sparse matrix is refused (see `sparse_numbers`)."""
    X = X if issparse(X) else in_memory(X)
    if is_frame(X) or is_text(X):
        return checked(estimator, X, reset=reset)
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, dtype=[np.float64, np.float32])


def sparse_numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    """A sparse matrix as CSR of finite doubles, each cell once and in order."""
    matrix = validate_data(estimator, X, accept_sparse="csr", reset=reset, ensure_all_finite=False, dtype=np.float64)
    matrix = _without_duplicates(csr_array(matrix))
    wrong = ~np.isfinite(matrix.data)
    if wrong.any():
        row, column, value = _stored_cell(matrix, int(np.argmax(wrong)))
        if np.isinf(value):
            raise NonFiniteError(row=row, column=f"x{column}")
        raise MissingCellError(
            f"column 'x{column}' is missing (NaN) in row {row_number(row)}",
            fix="fill the cell in, or leave the row out",
        )
    return matrix


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


def present(X: Any, y: Any, weights: FloatArray | None) -> tuple[Any, Any, FloatArray | None]:
    """The rows of weight above 0: the others are absent, their levels and classes too."""
    if weights is None or (weights > 0).all():
        return X, y, weights
    kept = np.flatnonzero(weights > 0)
    return _safe_indexing(X, kept), y[kept], weights[kept]


def feature_names(estimator: Any) -> Any:
    """What the entries of `coef_` belong to: a number by its column, a level of a category as column_level."""
    names = estimator._model.features.names
    return np.array([column if level is None else f"{column}_{level}" for column, level in names], dtype=object)
