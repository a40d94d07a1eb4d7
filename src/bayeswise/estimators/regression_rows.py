"""X of a regression as scikit-learn users bring it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from bayeswise.estimators import features
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression.features import usable
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema


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
        for k, (name, _) in enumerate(features.names):
            squares[position[name]] += float(np.square(weights[:, k]).sum())
        return np.sqrt(squares)


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


def feature_names(estimator: Any) -> Any:
    """What the entries of `coef_` belong to: a number by its column, a level of a category as column_level."""
    names = estimator._model.features.names
    return np.array([column if level is None else f"{column}_{level}" for column, level in names], dtype=object)
