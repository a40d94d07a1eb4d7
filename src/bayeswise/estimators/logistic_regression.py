"""Logistic regression as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, field
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from bayeswise.estimators.base import ClassifierBase, with_parameters
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.checking import present, sparse_numbers
from bayeswise.estimators.inputs.encoding import ExpandedColumns, schema_for, sparse_batch
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NotAvailableError
from bayeswise.models.regression.learning import fitted_logistic, fitted_sparse_logistic
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.settings.regression import LogisticSettings
from bayeswise.tables.batch import Batch


@with_parameters
class LogisticRegression(ExpandedColumns, ClassifierBase):
    """p(class | row) = softmax(w0 + w . x) at the most probable weights: MAP is penalised likelihood.

    Parameters are listed by help(bw.LogisticRegression).

    The prior is not of the intercept; None is maximum likelihood, where classes that some columns separate are an error
    that names them. scale="evidence" takes the scale of largest marginal likelihood, "cv" that of least log loss in
    five folds. Marginalized probabilities (Laplace approximation) go back towards even far from the learned rows.

    The weights minimise  -log likelihood + |s w|^2 / (2 scale^2)  (gaussian) or  ... + |s w|_1 / scale  (laplace),
    s w being the weights of standardised columns. So on standardised columns, or with standardise=False on the columns
    as they are, scikit-learn's LogisticRegression with C = scale^2 (for l1: C = scale) has the same weights; the
    intercept is free in both (but in its "liblinear"). Two classes have one weight vector, more have one each.

    `certificate_` is the gradient that is left; `separable_` says that some weights separate the classes without
    error, so that only the prior keeps them finite (a yes is certain; a strong prior on a large table may hide one).
    X may be a sparse matrix of scipy (counts of words, say): its zeros are never written out, and the weights are those
    of X.toarray(). It needs a prior with a number for scale (or scale="cv", but for laplace), marginalize=False and
    not missing="mean".

    A category's reference is its first declared level, or the first in canonical order. A missing cell stands
    at the mean of its column, with an indicator of missing cells that has a weight of its own; with missing="mean" its
    row is left out of training, and in a prediction it is the mean; missing="error" refuses it.

    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"]
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict([[0.5], [5.0]]).tolist(), model.separable_, model.certificate_.converged
    (['low', 'high'], True, True)
    """

    prior: str | None = "gaussian"
    scale: float | str = 1.0
    _: KW_ONLY
    df: float = 4.0
    marginalize: bool = False
    fit_intercept: bool = True
    standardise: bool = True
    missing: str = "indicator"
    tol: float = 1e-8
    max_iter: int = 200
    kinds: Mapping[str, str] | None = None
    levels: Mapping[str, Any] | None = None
    class_weight: Any = None

    _model_kind = "logistic"
    _settings_type = LogisticSettings
    model_: LogisticModel = field(init=False)

    # -- learning ---------------------------------------------------------------------------------------------
    def _fitted(self, X: Any, y: Any, sample_weight: Any) -> Self:
        settings = self._settings()
        X, labels, weights = self._rows(X, y, sample_weight, reset=True)
        self._remember_type(y, reset=True)
        X, codes, weights = present(X, labels.codes, self._with_class_weights(labels, weights))
        schema = schema_for(X, self._overrides())
        if issparse(X):
            self.model_ = fitted_sparse_logistic(schema, X, codes, labels.classes, weights, settings)
        else:
            rows = encoding.batches(schema, X, None, weights)
            self.model_ = fitted_logistic(schema, rows, codes, labels.classes, settings)
        if not self.model_.certificate.converged:
            warnings.warn(str(self.model_.certificate), ConvergenceWarning, stacklevel=3)
        return self

    # -- answering --------------------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> FloatArray:
        """The log-odds of the second class for two classes, else (n_rows, n_classes) the scores; not marginalized."""
        scores = self._over(X, lambda batch: self.model_.scores(batch))
        return np.asarray(scores[:, 1]) if scores.shape[1] == 2 else scores

    def explain(self, X: Any) -> Any:
        """The account of one row: what each column adds to the answer."""
        return super().explain(X[:2].toarray() if issparse(X) else X)

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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn moves the rows of its checks away from 0 for estimators that take categories, and there no
        # weights without an intercept separate three classes: its own have the same score of 0.757, not the 0.83.
        tags.classifier_tags.poor_score = not self.fit_intercept
        tags.input_tags.sparse = (
            self.prior in ("gaussian", "student-t", "laplace")
            and (not isinstance(self.scale, str) or (self.scale == "cv" and self.prior != "laplace"))
            and not self.marginalize
            and self.missing != "mean"
        )
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _batches(self, X: Any) -> Iterator[Batch]:
        if not issparse(X):
            return super()._batches(X)
        model = self._model
        if model.settings.marginalize or model.schema.categories:
            what = "marginalized probabilities" if model.settings.marginalize else "a model of categories"
            raise NotAvailableError(f"{what} and a sparse matrix do not go together", fix="give X.toarray()")
        return iter([sparse_batch(self._checked(X, reset=False))])

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return sparse_numbers(self, X, reset=reset) if issparse(X) else super()._checked(X, reset=reset)
