"""Linear regression as a scikit-learn regressor."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bayeswise.estimators.base import EstimatorBase, with_parameters
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.checking import present
from bayeswise.estimators.inputs.encoding import ExpandedColumns, batches_of, schema_for
from bayeswise.estimators.inputs.targets import number_column, row_weights
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.regression.features import is_wide
from bayeswise.models.regression.glm import IteratedModel, refuse_outside
from bayeswise.models.regression.left_out import leave_one_out
from bayeswise.models.regression.linear import LinearModel
from bayeswise.models.regression.linear_learning import iterated_of, warn_dependent
from bayeswise.models.regression.predictive import Predictive
from bayeswise.models.regression.row_blocks import Design
from bayeswise.models.regression.solving.wide import WideModel, fit_wide, uses_rows
from bayeswise.models.settings.regression import LinearSettings
from bayeswise.statistics.numbers.regression_moments import RegressionMoments
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.sources.opening import spread


def _has_moments(estimator: LinearRegression) -> bool:
    return estimator.likelihood == "gaussian"


@with_parameters
class LinearRegression(ExpandedColumns, RegressorMixin, EstimatorBase):
    """y = w0 + w . x + noise: the likelihood chooses the loss, the prior the regulariser.

    Parameters are listed by help(bw.LinearRegression).

    With poisson and exponential likelihoods E[y] = exp(w0 + w . x). The prior is of each weight and not of the
    intercept, its scale, but for these likelihoods, in units of the noise; "evidence" chooses it by the marginal
    likelihood (a gaussian prior with a gaussian, poisson or exponential likelihood), "cv" by the loss of five folds
    (any); "auto" is "evidence" for a gaussian prior and likelihood, otherwise 1. So by default weights are shrunk by as
    much as the rows suggest, those of exact rows not at all; prior=None is least squares, scikit-learn's
    LinearRegression.

    The MAP weights minimise, with s w the weights of standardised columns (s = 1 for indicators of categories and with
    standardise=False),

        gaussian, gaussian     |y - Xw|^2 / 2 + |s w|^2 / (2 scale^2)       scikit-learn's Ridge(alpha=1 / scale^2)
        gaussian, laplace      |y - Xw|^2 / 2 + |s w|_1 / scale             Lasso(alpha=1 / (scale n_rows))
        poisson, gaussian      -log likelihood + |s w|^2 / (2 scale^2)      PoissonRegressor(alpha=1 / (scale^2 n_rows))

    on standardised columns. With a gaussian likelihood the model is a function of exact moments: `partial_fit`,
    `merge` and `forget` are exact to the last byte and `leave_one_out` needs no refit. Weights are reported in original
    units. The reference level of a category is its first declared level, or the first in canonical order. A missing
    cell is replaced by the mean of its column, with an indicator of missing cells that has a weight of its own; with
    missing="mean" its row is left out of training, and in a prediction it is the mean; missing="error" refuses it.

    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0]
    >>> line = LinearRegression(prior=None).fit(X, y)
    >>> line.coef_.tolist(), line.intercept_, line.predict([[10.0]]).tolist()
    ([2.0], 1.0, [21.0])
    """

    likelihood: str = "gaussian"
    prior: str | None = "gaussian"
    scale: float | str = "auto"
    _: KW_ONLY
    df: float = 4.0
    fit_intercept: bool = True
    standardise: bool = True
    missing: str = "indicator"
    kinds: Mapping[str, str] | None = None
    levels: Mapping[str, Any] | None = None

    _model_kind = "linear"
    _settings_type = LinearSettings
    model_: LinearModel | IteratedModel | WideModel = field(init=False)

    # -- learning ---------------------------------------------------------------------------------------------
    def _fitted(self, X: Any, y: Any, sample_weight: Any, *, more_to_come: bool = False) -> Self:
        settings = self._settings()
        X, target, weights = self._rows(X, y, sample_weight, reset=True)
        refuse_outside(target if weights is None else np.where(weights > 0, target, 1.0), settings.likelihood, "y")
        X, target, weights = present(X, target, weights)
        schema = schema_for(X, self._overrides())
        n_columns = len(schema.used)
        by_rows = is_wide(n_columns) if more_to_come else uses_rows(len(target), n_columns, settings)
        if settings.likelihood == "gaussian" and not by_rows:
            self.model_ = self._moments_of(schema, settings, X, target, weights)
            warn_dependent(self.model_, stacklevel=4)
            return self
        design = Design.of(schema, encoding.batches(schema, X, None, weights), settings.missing)
        known = design.of_rows(target)
        if settings.likelihood == "gaussian":
            self.model_ = fit_wide(design.features, design.matrix, known, design.weights, settings)
            return self
        self.model_ = iterated_of(design, known, settings)
        if not self.model_.certificate.converged:
            warnings.warn(str(self.model_.certificate), ConvergenceWarning, stacklevel=3)
        return self

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn more rows: the model is then that of all rows, to the last byte."""
        if not hasattr(self, "model_"):
            if self._learned_elsewhere(X, y, sample_weight):
                return self
            return self._fitted(X, y, sample_weight, more_to_come=True)
        return self._changed_by(RegressionMoments.merge, X, y, sample_weight)

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is then the one that never saw them, to the last byte."""
        check_is_fitted(self)
        return self._changed_by(RegressionMoments.subtract, X, y, sample_weight)

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def merge(self, other: LinearRegression) -> LinearRegression:
        """A new estimator that has learned the rows of both."""
        self._moments_model()
        other._moments_model()
        return self._merged_with(other)

    # -- answering --------------------------------------------------------------------------------------------
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """(n_rows,) E[y | row], the integral of y p(y | row).

        return_std   give the standard deviations, too
        """
        if not return_std and spread(X) is not None:
            return self._model.predict(X)
        if return_std:
            ahead = self.predict_distribution(X)
            return ahead.location, ahead.stddev
        return np.asarray(self._over(X, lambda batch: self.model_.predict(batch)))

    def predict_distribution(self, X: Any) -> Predictive:
        """p(y | row) of each row: mean, stddev, quantile, cdf, sample. A student-t where the noise is Gaussian."""
        return Predictive.joined([self.model_.predictive_of(batch) for batch in self._batches(X)])

    @available_if(_has_moments)  # type: ignore[untyped-decorator]
    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> Predictive:
        """The distribution of each learned row's target under the model that never saw the row.

        The prior keeps its scale: where that is found by evidence or folds, it is the one of all rows.
        """
        model = self._moments_model()
        X, target, weights = self._rows(X, y, sample_weight, reset=False)
        rows = batches_of(model.schema, X, weights, model.vocabularies)
        return Predictive.joined([leave_one_out(model, batch, target[part]) for part, batch in rows])

    @property
    def coef_(self) -> FloatArray:
        """(n_features,) the weights, in original units; `feature_weights_` has their names."""
        return self.model_.weights

    @property
    def intercept_(self) -> float:
        """The score of a row of zeros and reference levels."""
        return self.model_.intercept

    @property
    def sigma_(self) -> FloatArray:
        """(n_features, n_features) the posterior covariance of the weights, at the most probable noise."""
        if not isinstance(self.model_, LinearModel):
            few = isinstance(self.model_, WideModel)
            raise AttributeError(
                "fewer rows than columns were fitted without the covariance of all pairs of weights; begin with "
                "partial_fit, which keeps it"
                if few
                else "only a gaussian likelihood keeps the covariance of the weights"
            )
        known = self.model_.posterior
        return known.noise_square * known.covariance

    @property
    def scale_(self) -> float | None:
        """The scale of the prior that is in force; None without one."""
        return self.model_.scale

    @property
    def n_iter_(self) -> int:
        """The iterations, counted from 1; a gaussian likelihood is solved in one."""
        return max(self.model_.certificate.iterations, 1) if isinstance(self.model_, IteratedModel) else 1

    @property
    def feature_weights_(self) -> dict[Any, float]:
        """The weights by (column, level); the level is None for a number."""
        return self.model_.features.by_name(self.model_.weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.likelihood in ("poisson", "exponential")
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, FloatArray, FloatArray | None]:
        X = self._checked(X, reset=reset)
        target = number_column(y)
        check_consistent_length(X, target)
        return X, target, row_weights(X, sample_weight)

    def _moments_model(self) -> LinearModel:
        check_is_fitted(self)
        if not isinstance(self.model_, LinearModel):
            raise self.model_.not_merged()
        return self.model_

    def _moments_of(
        self, schema: Schema, settings: LinearSettings, X: Any, target: FloatArray, weights: FloatArray | None
    ) -> LinearModel:
        rows = ((batch, target[part]) for part, batch in batches_of(schema, X, weights))
        found = LinearModel.of_rows(schema, settings, rows)
        if found is None:
            raise FitError("X has no rows", fix="give at least one")
        return found

    def _changed_by(self, change: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        X, target, weights = present(*self._rows(X, y, sample_weight, reset=False))
        model = self._moments_model()
        rows = self._moments_of(model.schema, self._settings(), X, target, weights)
        self.model_ = replace(model, settings=rows.settings).changed_by(rows, change)
        return self
