"""X as scikit-learn users bring it: a matrix of numbers, a sparse matrix, or a dataframe of anything.

A matrix is numbers throughout (or categories, if the family says so); a sparse matrix is one block of word counts; the
columns of a dataframe are judged like those of any table, except that a number stays a number even where a table would
call it an identifier.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import validate_data

from bayeswise.engines.ranges import over_ranges
from bayeswise.estimators.targets import Labels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.tables.batch import Batch, TextBlock
from bayeswise.tables.encoder import Encoder
from bayeswise.tables.inference import infer_schema
from bayeswise.tables.integer_codes import IntegerCodes, integer_levels
from bayeswise.tables.label_types import LabelType
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import LABELLED, Column, Columns, Kind, Schema, Target
from bayeswise.tables.source import Source, open_source

WORDS = "words"


def is_frame(X: Any) -> bool:
    """Whether X has named columns."""
    return hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__")


def checked(estimator: Any, X: Any, *, reset: bool, integers: bool = False) -> Any:
    """X after scikit-learn's own checks of shape, names and number of columns; frames and text pass as they are.

    Numbers become doubles, unless `integers` asks to keep those that are none.
    """
    if issparse(X):
        return validate_data(estimator, X, accept_sparse="csr", reset=reset, ensure_all_finite=False)
    if is_frame(X) or _is_text(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    kept = None if integers and getattr(getattr(X, "dtype", None), "kind", "") in "iu" else [np.float64, np.float32]
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, dtype=kept)


def _is_text(X: Any) -> bool:
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in "UT" and kind:
        return True
    return kind == "O" and any(isinstance(cell, str) for cell in np.asarray(X).ravel())


def schema_of(X: Any, *, categorical: bool, wishes: Mapping[str, Any]) -> Schema:
    """What the columns of X mean; the target is y and has no name of its own."""
    target = Target("y", "mixed")
    if issparse(X):
        return Schema((Column(WORDS, "text", reason="a sparse matrix of word counts"),), target)
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not categorical and not wishes:
        return Schema(_unnamed(X.shape[1], "number", None), target)
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu" and categorical and not wishes:
        return Schema(_unnamed(X.shape[1], "category", "integer"), target)
    source = open_source(X)
    kinds = dict(wishes.get("kinds") or {})
    for column in source.columns:
        if categorical:
            kinds.setdefault(column.name, "category")
        elif column.storage in ("integer", "float"):
            kinds.setdefault(column.name, "number")
    schema = infer_schema(source, None, **{**wishes, "kinds": kinds})
    if schema.ignored:
        reasons = "; ".join(f"{name!r} ({schema[name].reason})" for name in schema.ignored)
        warnings.warn(f"columns that are not used: {reasons}", UserWarning, stacklevel=4)
    return Schema(schema.columns, target)


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
    block = TextBlock(X, words_of(n_words))
    return Batch(n_rows, np.empty((n_rows, 0)), np.empty((n_rows, 0), dtype=np.int32), texts=(block,))


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
