"""X of a regression as scikit-learn users bring it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from bayeswise.estimators import features
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression.features import usable
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema


def checked_columns(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X after scikit-learn's own checks; a frame passes as it is, a sparse matrix is refused."""
    X = X if issparse(X) else features.in_memory(X)
    if features.is_frame(X) or features.is_text(X):
        return features.checked(estimator, X, reset=reset)
    return validate_data(estimator, X, reset=reset, ensure_all_finite=False, dtype=[np.float64, np.float32])


def schema_for(X: Any, wishes: Mapping[str, Any]) -> Schema:
    """What the columns of X mean to a regression."""
    return usable(features.schema_of(X, categorical=False, wishes=wishes))


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
    return _safe_indexing(X, kept), y[kept], weights[kept]
