"""Logistic regression with the manners of a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bayeswise.estimators.naive_bayes import as_array, labels_of
from bayeswise.estimators.regression_rows import (
    batches_of,
    checked_columns,
    checked_row_weights,
    complete_rows,
    matrix_of,
    present,
    schema_for,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.logistic_fit import fit_logistic
from bayeswise.models.regression.settings import LogisticSettings


class LogisticRegression(ClassifierMixin, BaseEstimator):
    """p(class | row) = softmax(w0 + w . x) at the most probable weights: MAP is penalised likelihood.

    prior        "gaussian" (L2), "laplace" (L1) or "student-t" of `freedom` degrees; not of the intercept
    scale        its scale, for a column of standard deviation 1; "evidence" chooses it by the marginal likelihood,
                 "cv" by the log loss of five folds
    moderated    answer with probabilities averaged over the posterior of the weights (Laplace approximation): far
                 from the rows that were learned they go back towards even

    The weights minimise  -log likelihood + |s w|^2 / (2 scale^2)  (gaussian) or  ... + |s w|_1 / scale  (laplace),
    s w being the weights of standardised columns. So on standardised columns, or with standardise=False on the columns
    as they are, scikit-learn's LogisticRegression with C = scale^2 (for l1: C = scale) has the same weights; the
    intercept is free in both (but in its "liblinear"). Two classes have one weight vector, more have one each.

    `certificate_` is the gradient that is left; `separable_` says that some weights separate the classes without
    error, so that only the prior keeps them finite (a yes is certain; a strong prior on a large table may hide one).
    A category's reference is its first declared level, or the first in canonical order. A missing cell is an error;
    with missing="mean" its row teaches nothing, and in a prediction it stands at the mean.

    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[0.5], [5.0]]).tolist(), model.separable_, model.certificate_.converged
    (['low', 'high'], True, True)
    """

    def __init__(
        self,
        prior: str = "gaussian",
        scale: float | str = 1.0,
        *,
        freedom: float = 4.0,
        moderated: bool = False,
        fit_intercept: bool = True,
        standardise: bool = True,
        missing: str = "error",
        tol: float = 1e-8,
        max_iter: int = 200,
        kinds: Mapping[str, str] | None = None,
        levels: Mapping[str, Any] | None = None,
    ) -> None:
        self.prior = prior
        self.scale = scale
        self.freedom = freedom
        self.moderated = moderated
        self.fit_intercept = fit_intercept
        self.standardise = standardise
        self.missing = missing
        self.tol = tol
        self.max_iter = max_iter
        self.kinds = kinds
        self.levels = levels

    model_: LogisticModel

    # -- learning ---------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch."""
        settings = self._settings()
        if y is None:
            raise ParameterError("requires y to be passed, but the target y is None", fix="give a class for each row")
        X = checked_columns(self, X, reset=True)
        values = column_or_1d(y, warn=True)
        check_classification_targets(values)
        X, values, weights = present(X, values, checked_row_weights(X, values, sample_weight))
        schema = schema_for(X, self.missing, self._wishes())
        features, matrix = matrix_of(schema, X, weights)
        matrix, values, weights = complete_rows(features, matrix, values, weights, self.missing)
        self._dtype_of_y = values.dtype
        labels = labels_of(values)
        if len(labels.classes) < 2:
            self.model_ = LogisticModel.of_one_class(features, labels.classes, settings)
            return self
        fit = fit_logistic(features, matrix, labels.codes, len(labels.classes), weights, settings)
        self.model_ = LogisticModel.of(features, labels.classes, settings, fit)
        if not fit.certificate.converged:
            warnings.warn(str(fit.certificate), ConvergenceWarning, stacklevel=2)
        return self

    # -- answering --------------------------------------------------------------------------------------------
    @property
    def classes_(self) -> Any:
        """The classes, in the order of the columns of `predict_proba`."""
        return as_array(self.model_.classes, self._dtype_of_y)

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the posterior."""
        return np.concatenate([self.model_.probability(batch, first) for first, batch in self._batches(X)])

    def predict_log_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the logarithm of the posterior, exact in the tails."""
        return np.concatenate([self.model_.log_probability(batch, first) for first, batch in self._batches(X)])

    def predict(self, X: Any) -> Any:
        """The most probable class; the first one of `classes_` where several are."""
        best = [np.argmax(self.model_.log_relative(batch, first), axis=1) for first, batch in self._batches(X)]
        return self.classes_[np.concatenate(best)]

    def decision_function(self, X: Any) -> FloatArray:
        """The log-odds of the second class for two classes, otherwise (n_rows, n_classes) the scores; not moderated."""
        scores = np.concatenate([self.model_.scores(batch, first) for first, batch in self._batches(X)])
        return np.asarray(scores[:, 1]) if scores.shape[1] == 2 else scores

    def explain(self, X: Any) -> Any:
        """The account of one row: the intercept, w x of each column, the posterior."""
        ((_, batch),) = self._batches(X)
        return self.model_.explain(batch)

    @property
    def coef_(self) -> FloatArray:
        """(1, n) for two classes, otherwise (n_classes, n): the weights, in original units."""
        weights = self.model_.weights
        return weights[1:] if len(weights) == 2 else weights

    @property
    def intercept_(self) -> FloatArray:
        """(1,) for two classes, otherwise (n_classes,): the scores of a row of zeros and reference levels."""
        intercept = self.model_.intercept
        return intercept[1:] if len(intercept) == 2 else intercept

    @property
    def certificate_(self) -> Any:
        """The gradient that is left, and after how many iterations."""
        return self.model_.certificate

    @property
    def n_iter_(self) -> int:
        """The iterations, counted from 1."""
        return max(self.model_.certificate.iterations, 1)

    @property
    def separable_(self) -> bool:
        """Whether some weights separate the classes without error."""
        return self.model_.separates

    @property
    def scale_(self) -> float:
        """The scale of the prior that is in force."""
        return self.model_.scale

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
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _settings(self) -> LogisticSettings:
        return LogisticSettings(
            self.prior,
            self.scale,
            self.freedom,
            bool(self.fit_intercept),
            bool(self.standardise),
            bool(self.moderated),
            self.missing,
            self.tol,
            self.max_iter,
        )

    def _wishes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("kinds", "levels") if getattr(self, name) is not None}

    def _batches(self, X: Any) -> Any:
        check_is_fitted(self)
        X = checked_columns(self, X, reset=False)
        model = self.model_
        found = False
        for rows, batch in batches_of(model.schema, X, vocabularies=model.features.vocabularies):
            found = True
            yield rows.start, batch
        if not found:
            raise FitError("X has no rows", fix="give at least one")
