"""Linear regression with the manners of a scikit-learn regressor."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayeswise.estimators.regression_rows import (
    batches_of,
    checked_columns,
    checked_row_weights,
    checked_target,
    complete_rows,
    matrix_of,
    present,
    schema_for,
    tell_dependent,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError, NotMergedError
from bayeswise.models.regression.glm import IteratedModel, fit_iterated
from bayeswise.models.regression.left_out import leave_one_out
from bayeswise.models.regression.linear import LinearModel, moments_of
from bayeswise.models.regression.predictive import Predictive
from bayeswise.models.regression.settings import LinearSettings
from bayeswise.statistics.regression import RegressionMoments
from bayeswise.tables.schema import Schema


def _has_moments(estimator: LinearRegression) -> bool:
    return estimator.likelihood == "gaussian"


class LinearRegression(RegressorMixin, BaseEstimator):
    """y = w0 + w . x + noise: the likelihood chooses the loss, the prior the regulariser.

    likelihood   "gaussian": squares; "student-t", "laplace": robust; "poisson", "exponential": E[y] = exp(w0 + w . x)
    prior        "gaussian", "laplace" or None, of each weight and not of the intercept
    scale        of the prior, for a column of standard deviation 1 and, but for poisson and exponential, in units of
                 the noise; "evidence" chooses it by the marginal likelihood (gaussian, gaussian)

    The MAP weights minimise, with s w the weights of standardised columns (s = 1 for indicators of categories and with
    standardise=False),

        gaussian, gaussian     |y - Xw|^2 / 2 + |s w|^2 / (2 scale^2)       scikit-learn's Ridge(alpha=1 / scale^2)
        gaussian, laplace      |y - Xw|^2 / 2 + |s w|_1 / scale             Lasso(alpha=1 / (scale n_rows))
        poisson, gaussian      -log likelihood + |s w|^2 / (2 scale^2)      PoissonRegressor(alpha=1 / (scale^2 n_rows))

    on standardised columns. With a gaussian likelihood the model is a function of exact moments: `partial_fit`,
    `merge` and `forget` are exact to the last byte and `leave_one_out` needs no refit. Weights are reported in original
    units. The reference level of a category is its first declared level, or the first in canonical order. A missing
    cell is an error; with missing="mean" its row teaches nothing, and in a prediction it stands at the mean.

    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0]
    >>> line = LinearRegression(prior=None).fit(X, y)
    >>> line.coef_.tolist(), line.intercept_, line.predict([[10.0]]).tolist()
    ([2.0], 1.0, [21.0])
    """

    def __init__(
        self,
        likelihood: str = "gaussian",
        prior: str | None = "gaussian",
        scale: float | str = 1.0,
        *,
        freedom: float = 4.0,
        fit_intercept: bool = True,
        standardise: bool = True,
        missing: str = "error",
        kinds: Mapping[str, str] | None = None,
        levels: Mapping[str, Any] | None = None,
    ) -> None:
        self.likelihood = likelihood
        self.prior = prior
        self.scale = scale
        self.freedom = freedom
        self.fit_intercept = fit_intercept
        self.standardise = standardise
        self.missing = missing
        self.kinds = kinds
        self.levels = levels

    model_: LinearModel | IteratedModel

    # -- learning ---------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch."""
        settings = self._settings()
        X, target, weights = self._rows(X, y, sample_weight, reset=True)
        schema = schema_for(X, self.missing, self._wishes())
        if settings.likelihood == "gaussian":
            self.model_ = LinearModel(schema, settings, self._moments(schema, X, target, weights))
            tell_dependent(self.model_.dependent if len(self.model_.weights) else ())
            return self
        self.model_ = self._iterated(schema, settings, X, target, weights)
        if not self.model_.certificate.converged:
            warnings.warn(str(self.model_.certificate), ConvergenceWarning, stacklevel=2)
        return self

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn more rows: the model is then that of all rows, to the last byte."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        return self._changed_by(RegressionMoments.merge, X, y, sample_weight)

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is then the one that never saw them, to the last byte."""
        check_is_fitted(self)
        return self._changed_by(RegressionMoments.subtract, X, y, sample_weight)

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def merge(self, other: LinearRegression) -> LinearRegression:
        """A new estimator that has learned the rows of both."""
        check_is_fitted(self)
        check_is_fitted(other)
        both = LinearRegression(**self.get_params(deep=False))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(both, name, getattr(self, name))
        if not isinstance(other.model_, LinearModel):
            raise NotMergedError(f"{other!r} keeps no moments", fix="merge models of a gaussian likelihood")
        both.model_ = self._moments_model().merge(other.model_)
        return both

    # -- answering --------------------------------------------------------------------------------------------
    def predict(self, X: Any) -> FloatArray:
        """(n_rows,) E[y | row], the integral of y p(y | row)."""
        return np.concatenate([self.model_.predict(batch, first) for first, batch in self._batches(X)])

    def predict_distribution(self, X: Any) -> Predictive:
        """p(y | row) of each row: mean, stddev, quantile, cdf, sample. A student-t where the noise is Gaussian."""
        parts = [self.model_.predictive(batch, first) for first, batch in self._batches(X)]
        location, scale = (np.concatenate([getattr(part, name) for part in parts]) for name in ("location", "scale"))
        return Predictive(parts[0].kind, location, scale, parts[0].freedom)

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> Predictive:
        """The distribution of each learned row's target under the model that never saw the row."""
        check_is_fitted(self)
        X, target, weights = self._rows(X, y, sample_weight, reset=False)
        model = self._moments_model()
        known = model.features.vocabularies
        parts = [
            leave_one_out(model, batch, target[rows])
            for rows, batch in batches_of(model.schema, X, weights, vocabularies=known)
        ]
        location, scale, freedom = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("location", "scale", "freedom")
        )
        return Predictive("student-t", location, scale, freedom)

    @property
    def coef_(self) -> FloatArray:
        """(n_features,) the weights, in original units; `feature_weights_` has their names."""
        return self.model_.weights

    @property
    def intercept_(self) -> float:
        """The score of a row of zeros and reference levels."""
        return self.model_.intercept

    @property
    def feature_weights_(self) -> dict[Any, float]:
        """The weights by (column, level); the level is None for a number."""
        return self.model_.features.by_name(self.model_.weights)

    def save(self, path: Any) -> None:
        """Write the model file."""
        check_is_fitted(self)
        self.model_.save(path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.positive_only = self.likelihood in ("poisson", "exponential")
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _settings(self) -> LinearSettings:
        return LinearSettings(
            self.likelihood,
            self.prior,
            self.scale,
            self.freedom,
            bool(self.fit_intercept),
            bool(self.standardise),
            self.missing,
        )

    def _wishes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("kinds", "levels") if getattr(self, name) is not None}

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, FloatArray, FloatArray | None]:
        X = checked_columns(self, X, reset=reset)
        target = checked_target(y)
        return X, target, checked_row_weights(X, target, sample_weight)

    def _moments_model(self) -> LinearModel:
        if not isinstance(self.model_, LinearModel):
            raise FitError("the model keeps no moments", fix="fit with likelihood='gaussian'")
        return self.model_

    def _moments(self, schema: Schema, X: Any, target: FloatArray, weights: FloatArray | None) -> RegressionMoments:
        X, target, weights = present(X, target, weights)
        found: RegressionMoments | None = None
        for rows, batch in batches_of(schema, X, weights):
            part = moments_of(schema, batch, target[rows], missing=self.missing, first_row=rows.start)
            found = part if found is None else found.merge(part)
        if found is None:
            raise FitError("X has no rows", fix="give at least one")
        return found

    def _changed_by(self, change: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        X, target, weights = self._rows(X, y, sample_weight, reset=False)
        model = self._moments_model()
        rows = self._moments(model.schema, X, target, weights)
        self.model_ = replace(model, settings=self._settings(), statistics=change(model.statistics, rows))
        return self

    def _iterated(
        self, schema: Schema, settings: LinearSettings, X: Any, target: FloatArray, weights: FloatArray | None
    ) -> IteratedModel:
        X, target, weights = present(X, target, weights)
        features, matrix = matrix_of(schema, X, weights)
        matrix, target, weights = complete_rows(features, matrix, target, weights, self.missing)
        return fit_iterated(features, matrix, target, weights, settings)

    def _batches(self, X: Any) -> Any:
        check_is_fitted(self)
        X = checked_columns(self, X, reset=False)
        model = self.model_
        for rows, batch in batches_of(model.schema, X, vocabularies=model.features.vocabularies):
            yield rows.start, batch
