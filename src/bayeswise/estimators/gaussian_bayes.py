"""Gaussian Bayes (QDA, LDA and what lies between) with the manners of a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bayeswise.engines import summarise
from bayeswise.estimators import features
from bayeswise.estimators.features import Labels
from bayeswise.estimators.naive_bayes import as_array, labels_of
from bayeswise.families.normal_inverse_wishart import NormalInverseWishart
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import DataError, FitError, MissingCellError, ParameterError
from bayeswise.models.gaussian_bayes.bayes_error import BayesError
from bayeswise.models.gaussian_bayes.learning import refuse_other_kinds
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel, request_of
from bayeswise.models.gaussian_bayes.settings import GaussianBayesSettings
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import Batch
from bayeswise.tables.weights import checked_weights, refuse_all_zero

_BELIEFS = ("covariance", "divisor", "shrinkage", "class_prior", "prior", "predictive", "variance_floor")


class GaussianBayes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """p(class | row) proportional to p(class) Normal(row; mean of the class, covariance), from exact sums.

    covariance    "per-class" (QDA: quadratic boundary), "shared" (LDA: linear), "diagonal", "shared-diagonal",
                  "spherical" (one variance for each class)
    divisor       "n" (maximum likelihood), "n-1" or "n-K" (K classes)
    shrinkage     0 to 1 towards the diagonal, or "auto" (oracle approximating shrinkage)
    class_prior   {class: probability}, or None to count
    prior         a NormalInverseWishart distribution of means and covariances, or None
    predictive    "plug-in" Gaussian, or "student-t": parameters integrated out
    missing       missing cells are integrated out ("ignore": EM in training, marginals in prediction) or an "error"
    n_components  how many of Fisher's directions `transform` gives; None for all

    A change of any of these needs no second pass: `GaussianBayes.model_.changed(covariance="shared")`.

    >>> X, y = np.array([[1.0], [2.0], [9.0], [10.0]]), ["low", "low", "high", "high"]
    >>> GaussianBayes(covariance="shared").fit(X, y).regions()
    Regions(x0: 'low' | 5.5 | 'high')
    """

    def __init__(
        self,
        covariance: str = "per-class",
        divisor: str = "n",
        shrinkage: float | Literal["auto"] = 0.0,
        class_prior: Mapping[Any, float] | None = None,
        *,
        prior: NormalInverseWishart | None = None,
        predictive: str = "plug-in",
        variance_floor: float = 1e-9,
        missing: str = "ignore",
        n_components: int | None = None,
    ) -> None:
        self.covariance = covariance
        self.divisor = divisor
        self.shrinkage = shrinkage
        self.class_prior = class_prior
        self.prior = prior
        self.predictive = predictive
        self.variance_floor = variance_floor
        self.missing = missing
        self.n_components = n_components

    model_: GaussianBayesModel

    # -- learning ---------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch."""
        settings = self._settings()
        X, labels, weights = self._rows(X, y, sample_weight, reset=True)
        self._dtype_of_y = np.asarray(y).dtype
        wishes = {} if self.missing == "ignore" else {"missing": self.missing}
        schema = features.schema_of(X, categorical=False, wishes=wishes)
        refuse_other_kinds(schema)
        found = self._statistics(schema, X, labels, weights)
        return self._with(GaussianBayesModel(schema, settings, found))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; new classes are welcome in any batch, so `classes` is not needed."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        self._dtype_of_y = np.result_type(self._dtype_of_y, np.asarray(y).dtype)
        found = self._statistics(self.model_.schema, X, labels, weights)
        return self._with(replace(self.model_, statistics=self.model_.statistics.merge(found)))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is then the one that never saw them, to the last byte."""
        check_is_fitted(self)
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        gone = self._statistics(self.model_.schema, X, labels, weights)
        self.model_ = replace(
            self.model_, settings=self._settings(), statistics=self.model_.statistics.subtract(gone)
        )
        return self

    def merge(self, other: GaussianBayes) -> GaussianBayes:
        """A new estimator that has learned the rows of both."""
        check_is_fitted(self)
        check_is_fitted(other)
        both = type(self)(**self.get_params(deep=False))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(both, name, getattr(self, name))
        both._dtype_of_y = np.result_type(self._dtype_of_y, other._dtype_of_y)
        both.model_ = self.model_.merge(other.model_)
        return both

    # -- answering --------------------------------------------------------------------------------------------
    @property
    def classes_(self) -> Any:
        """The classes, in the order of the columns of `predict_proba`."""
        return as_array(self.model_.classes, self._dtype_of_y)

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the posterior."""
        return np.asarray(self._over(X, lambda batch: self._model.probability(batch)))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the logarithm of the posterior, exact in the tails."""
        return np.asarray(self._over(X, lambda batch: log_posterior(self._model.log_relative(batch))))

    def predict(self, X: Any) -> Any:
        """The most probable class."""
        best = self._over(X, lambda batch: np.argmax(self._model.log_relative(batch), axis=1))
        return self.classes_[best]

    def decision_function(self, X: Any) -> FloatArray:
        """(n_rows,) the log-odds of the second of two classes; (n_rows, n_classes) log-posteriors of more."""
        if len(self._model.classes) == 2:
            first, second = self._model.classes
            return np.asarray(self._over(X, lambda batch: self._model.log_odds(batch, second, first)))
        return self.predict_log_proba(X)

    def log_evidence(self, X: Any) -> FloatArray:
        """(n_rows,) log p(row): small for rows unlike any that were learned."""
        return np.asarray(self._over(X, lambda batch: self._model.log_evidence(batch)))

    def log_odds(self, X: Any, state: Any, against: Any) -> FloatArray:
        """(n_rows,) log p(state | row) - log p(against | row)."""
        return np.asarray(self._over(X, lambda batch: self._model.log_odds(batch, state, against)))

    def mahalanobis(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the distance of each row to the mean of each class, in units of its spread."""
        return np.asarray(self._over(X, lambda batch: self._model.mahalanobis(batch)))

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """(n_rows, n_classes) the posterior of each learned row under the model that never saw it."""
        return np.concatenate([self._model.leave_one_out(batch) for batch in self._known(X, y, sample_weight)])

    def leave_one_out_evidence(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """(n_rows,) log p(row) of each learned row under the model that never saw it."""
        parts = [self._model.leave_one_out_evidence(batch) for batch in self._known(X, y, sample_weight)]
        return np.concatenate(parts)

    def _known(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Learned rows, encoded."""
        schema = self._model.schema
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        return features.batches(schema, X, labels, weights)

    def transform(self, X: Any) -> FloatArray:
        """(n_rows, n_components) Fisher's projection: rows seen from where the classes stand farthest apart."""
        projection = self._model.fisher(self.n_components)
        return np.asarray(self._over(X, lambda batch: projection.of_numbers(batch.values)))

    # -- the model --------------------------------------------------------------------------------------------
    def regions(self, column: str | None = None) -> Any:
        """The intervals of one column in which each class is the most probable."""
        return self._model.regions(column)

    def bayes_error(self, **settings: Any) -> BayesError:
        """The error that no rule can undercut, if the model is true."""
        return self._model.bayes_error(**settings)

    def sample(self, n: int, seed: Any = 0) -> dict[str, list[Any]]:
        """n rows drawn from the model, as columns; the class stands under "y"."""
        return self._model.sample(n, seed)

    def save(self, path: Any) -> None:
        """Write the model file."""
        self._model.save(path)

    @property
    def _model(self) -> GaussianBayesModel:
        check_is_fitted(self)
        return self.model_

    @property
    def _n_features_out(self) -> int:
        return len(self._model.fisher(self.n_components).directions)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _settings(self) -> GaussianBayesSettings:
        return GaussianBayesSettings(**{name: getattr(self, name) for name in _BELIEFS})

    def _with(self, model: GaussianBayesModel) -> Self:
        self.model_ = replace(model, settings=self._settings())
        self.model_.warn()
        return self

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if issparse(X):
            return validate_data(self, X, reset=reset)  # says that dense data are needed
        X = features.checked(self, X, reset=reset)
        if self.missing == "error" and isinstance(X, np.ndarray) and np.isnan(X).any():
            row, column = (int(place) for place in np.argwhere(np.isnan(X))[0])
            raise MissingCellError(f"column {column} of row {row} is missing (NaN)", fix='missing="ignore"')
        return X

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Labels, FloatArray | None]:
        if y is None:
            raise ParameterError("requires y to be passed, but the target y is None", fix="give a class for each row")
        X = self._checked(X, reset=reset)
        values = column_or_1d(y, warn=True)
        check_classification_targets(values)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(values) != n_rows:
            raise DataError(f"X and y have inconsistent numbers of rows: {n_rows} and {len(values)}")
        weights = None
        if sample_weight is not None:
            weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), (n_rows,))
            weights = np.ascontiguousarray(checked_weights(weights, 0, "sample_weight"))
            refuse_all_zero(float(weights.max(initial=0.0)), n_rows, "sample_weight")
        return X, labels_of(values), weights

    def _statistics(self, schema: Any, X: Any, labels: Labels, weights: FloatArray | None) -> Any:
        rows: Iterator[Batch] = features.batches(schema, X, labels, weights)
        return summarise(rows, schema, request_of(schema)).statistics

    def _over(self, X: Any, answer: Callable[[Batch], Any]) -> Any:
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        parts = [answer(batch) for batch in features.batches(self.model_.schema, X, vocabularies={})]
        if not parts:
            raise FitError("X has no rows", fix="give at least one")
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
