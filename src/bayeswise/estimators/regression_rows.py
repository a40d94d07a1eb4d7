"""X, y and weights of a regression as scikit-learn users bring them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from bayeswise.estimators import features
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import DataError, FitError
from bayeswise.models.regression.features import Features, usable
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema
from bayeswise.tables.weights import checked_weights, refuse_all_zero


def checked_columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X after scikit-learn's own checks; a frame passes as it is, a sparse matrix is refused."""
    if features.is_frame(X) or features._is_text(X):
        return features.checked(estimator, X, reset=reset)
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, dtype=[np.float64, np.float32])


def schema_for(X: Any, missing: str, wishes: Mapping[str, Any]) -> Schema:
    """What the columns of X mean to a regression."""
    return usable(features.schema_of(X, categorical=False, wishes=wishes), missing)


def checked_target(y: Any) -> FloatArray:
    """Numbers, all of them finite."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    target = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
    wrong = ~np.isfinite(target)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"y is {target[row]} (NaN or inf) in row {row + 1}", fix="leave out the rows without a target")
    return target


def checked_row_weights(X: Any, y: Any, sample_weight: Any) -> FloatArray | None:
    """One finite weight from 0 on for each row, or None; a scalar stands for all rows."""
    check_consistent_length(X, y)
    if sample_weight is None:
        return None
    n_rows = len(y)
    if isinstance(sample_weight, (int, float)):
        sample_weight = np.full(n_rows, float(sample_weight))
    weights = np.asarray(column_or_1d(sample_weight), dtype=np.float64)
    check_consistent_length(X, weights)
    checked_weights(weights, 1, "sample_weight")
    refuse_all_zero(float(weights.sum()), n_rows, "sample_weight")
    return weights


def batches_of(
    schema: Schema, X: Any, weights: FloatArray | None = None, vocabularies: Mapping[str, Vocabulary] | None = None
) -> Iterator[tuple[slice, Batch]]:
    """X as batches, each with the rows that it holds."""
    first = 0
    for batch in features.batches(schema, X, None, weights, vocabularies):
        yield slice(first, first + batch.n_rows), batch
        first += batch.n_rows


def present(X: Any, y: Any, weights: FloatArray | None) -> tuple[Any, Any, FloatArray | None]:
    """The rows of weight above 0: the others are absent, their levels and classes too."""
    if weights is None or (weights > 0).all():
        return X, y, weights
    kept = np.flatnonzero(weights > 0)
    return _rows(X, kept), y[kept], weights[kept]


def _rows(X: Any, kept: Any) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, kept)


def matrix_of(schema: Schema, X: Any, weights: FloatArray | None) -> tuple[Features, FloatArray]:
    """All rows as one design matrix; a matrix of numbers is not copied."""
    parts = [batch for _, batch in batches_of(schema, X, weights)]
    if not parts:
        raise FitError("X has no rows", fix="give at least one")
    levels = tuple(
        Vocabulary.of([level for batch in parts for level in batch.vocabularies[c]])
        for c in range(len(schema.categories))
    )
    features = Features(schema, levels)
    found = [features.matrix(batch) for batch in parts]
    return features, found[0] if len(found) == 1 else np.concatenate(found)


def complete_rows(
    features: Features, matrix: FloatArray, target: Any, weights: FloatArray | None, missing: str
) -> tuple[FloatArray, Any, FloatArray | None]:
    """The rows without a hole; with missing="error" a hole is an error."""
    if missing == "error":
        features.refuse_missing(matrix)
        return matrix, target, weights
    features.refuse_infinite(matrix)
    whole = ~np.isnan(matrix).any(axis=1)
    if whole.all():
        return matrix, target, weights
    if not whole.any():
        raise FitError("every row has a missing cell", fix="fill some of them in")
    return matrix[whole], target[whole], None if weights is None else weights[whole]


def tell_dependent(names: tuple[Any, ...]) -> None:
    """A warning that names columns without a weight of their own."""
    if names:
        shown = ", ".join(column if level is None else f"{column}={level}" for column, level in names)
        warnings.warn(f"columns that other columns determine have the weight 0: {shown}", UserWarning, stacklevel=4)
