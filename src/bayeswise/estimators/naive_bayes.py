"""Naive Bayes with the manners of a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bayeswise.engines import summarise
from bayeswise.estimators import features
from bayeswise.estimators.features import Labels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import DataError, FitError, ParameterError
from bayeswise.models.naive_bayes.choices import factors_for
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.model import NaiveBayesModel, request_of
from bayeswise.models.naive_bayes.selection import Selection, extent_of, select_families
from bayeswise.models.naive_bayes.settings import CONVENTIONS, MEstimate, NaiveBayesSettings, settings_of
from bayeswise.models.naive_bayes.words import Words
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema
from bayeswise.tables.weights import checked_weights, refuse_all_zero

_BELIEFS = (
    "smoothing",
    "class_prior",
    "prior_smoothing",
    "variance_divisor",
    "shared_variance",
    "variance_floor",
)


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """p(class | row) proportional to p(class) prod p(cell | class), for numbers, categories, flags and text together.

    families      "auto" by the kind of column; "select" by evidence (`selection_` says why); one family for all
                  numbers ("normal", "poisson", ...); "categorical"; a model of words for a sparse matrix
                  ("multinomial", "bernoulli", "complement"); a mapping by column
    missing       a missing cell is left out ("ignore"), a level of its own ("level") or an error
    unseen        a level never seen is smoothed ("smooth"), left out ("ignore") or an error
    convention    a preset: "laplace", "exact", "smoothed-prior", "as-printed", "scikit-learn", "weka", ...; what is
                  given besides it counts on top

    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [9.0], [10.0]]), ["low", "low", "high", "high"]
    >>> NaiveBayes().fit(X, y).predict([[3.0]]).tolist()
    ['low']
    """

    def __init__(
        self,
        families: Any = "auto",
        smoothing: float | MEstimate = 1.0,
        class_prior: Mapping[Any, float] | None = None,
        prior_smoothing: float = 0.0,
        variance_divisor: str = "n",
        missing: Any = "ignore",
        unseen: Any = "smooth",
        *,
        shared_variance: bool = False,
        variance_floor: float = 1e-9,
        convention: str | None = None,
        kinds: Mapping[str, str] | None = None,
        levels: Mapping[str, Any] | None = None,
    ) -> None:
        self.families = families
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.prior_smoothing = prior_smoothing
        self.variance_divisor = variance_divisor
        self.missing = missing
        self.unseen = unseen
        self.shared_variance = shared_variance
        self.variance_floor = variance_floor
        self.convention = convention
        self.kinds = kinds
        self.levels = levels

    model_: NaiveBayesModel
    selection_: Selection

    # -- learning ---------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch."""
        X, labels, weights = self._rows(X, y, sample_weight, reset=True)
        self._dtype_of_y = np.asarray(y).dtype
        schema = features.schema_of(X, categorical=self._is_categorical(), wishes=self._wishes())
        factors = self._factors(X, schema, labels, weights)
        empty = summarise([], schema, request_of(factors, schema)).statistics
        return self._merged(self._empty_model(schema, factors, empty), X, labels, weights)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; new classes and new categories are welcome in any batch, so `classes` is not needed."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        self._dtype_of_y = np.result_type(self._dtype_of_y, np.asarray(y).dtype)
        return self._merged(self.model_, X, labels, weights)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is then the one that never saw them, to the last byte."""
        check_is_fitted(self)
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        gone = self._statistics(self.model_, X, labels, weights)
        self.model_ = replace(
            self.model_, settings=self._settings(), statistics=self.model_.statistics.subtract(gone)
        )
        return self

    def merge(self, other: Self) -> Self:
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
        return np.asarray(self._over(X, lambda model, batch: model.posterior(batch).probability))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the logarithm of the posterior, exact in the tails."""
        return np.asarray(self._over(X, lambda model, batch: log_posterior(model.log_joint(batch))))

    def predict(self, X: Any) -> Any:
        """The most probable class."""
        best = self._over(X, lambda model, batch: np.argmax(model.log_joint(batch), axis=1))
        return self.classes_[best]

    def log_evidence(self, X: Any) -> FloatArray:
        """(n_rows,) log p(row): small for rows unlike any that were learned."""
        return np.asarray(self._over(X, lambda model, batch: model.posterior(batch).log_evidence))

    def log_odds(self, X: Any, state: Any, against: Any) -> FloatArray:
        """(n_rows,) log p(state | row) - log p(against | row)."""
        return np.asarray(self._over(X, lambda model, batch: model.log_odds(batch, state, against)))

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """(n_rows, n_classes) the posterior of each learned row under the model that never saw it."""
        return np.concatenate([self.model_.leave_one_out(batch) for batch in self._known(X, y, sample_weight)])

    def leave_one_out_evidence(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """(n_rows,) log p(row) of each learned row under the model that never saw it."""
        parts = [self.model_.leave_one_out_evidence(batch) for batch in self._known(X, y, sample_weight)]
        return np.concatenate(parts)

    def _known(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Learned rows, in the codes of the model."""
        check_is_fitted(self)
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        return features.batches(self.model_.schema, X, labels, weights, self.model_.vocabularies)

    def explain(self, X: Any) -> Any:
        """The account of one row: prior, what each column adds, posterior."""
        check_is_fitted(self)
        row = features.checked(self, X, reset=False, integers=self._is_categorical())
        (batch,) = features.batches(self.model_.schema, row, vocabularies=self.model_.vocabularies)
        return self.model_.explain(batch)

    def sample(self, n: int, seed: Any = 0) -> dict[str, list[Any]]:
        """n rows drawn from the model, as columns; the class stands under "y"."""
        check_is_fitted(self)
        return self.model_.sample(n, seed)

    def save(self, path: Any) -> None:
        """Write the model file."""
        check_is_fitted(self)
        self.model_.save(path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _empty_model(self, schema: Schema, factors: tuple[Factor, ...], empty: Any) -> NaiveBayesModel:
        return NaiveBayesModel(schema, self._settings(), empty, factors)

    def _settings(self) -> NaiveBayesSettings:
        """The convention, and what differs from the defaults on top of it."""
        standard = CONVENTIONS["laplace"]
        given = {name: getattr(self, name) for name in _BELIEFS}
        if self.convention is None:
            return settings_of(None, given)
        return settings_of(self.convention, {n: v for n, v in given.items() if v != getattr(standard, n)})

    def _factors(self, X: Any, schema: Schema, labels: Labels, weights: FloatArray | None) -> tuple[Factor, ...]:
        """The factors of the schema; every column of a sparse matrix is a word, seen or not."""
        wanted = "auto" if self._is_categorical() else self.families
        if isinstance(wanted, str) and wanted == "select":
            extents = {name: extent_of(column) for name, column in features.number_columns(schema, X).items()}
            self.selection_ = select_families(features.batches(schema, X, labels, weights), schema, extents)
            wanted = self.selection_.families
        factors = factors_for(schema, wanted)
        if not issparse(X):
            return factors
        words = features.words_of(X.shape[1])
        return tuple(replace(factor, declared=words) if isinstance(factor, Words) else factor for factor in factors)

    def _is_categorical(self) -> bool:
        return isinstance(self.families, str) and self.families == "categorical"

    def _wishes(self) -> dict[str, Any]:
        standard = {"kinds": None, "levels": None, "missing": "ignore", "unseen": "smooth"}
        return {name: getattr(self, name) for name, default in standard.items() if getattr(self, name) != default}

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Labels, FloatArray | None]:
        if y is None:
            raise ParameterError("requires y to be passed, but the target y is None", fix="give a class for each row")
        X = features.checked(self, X, reset=reset, integers=self._is_categorical())
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

    def _statistics(self, model: NaiveBayesModel, X: Any, labels: Labels, weights: FloatArray | None) -> Any:
        rows = features.batches(model.schema, X, labels, weights)
        return summarise(rows, model.schema, model.request()).statistics

    def _merged(self, model: NaiveBayesModel, X: Any, labels: Labels, weights: FloatArray | None) -> Self:
        found = self._statistics(model, X, labels, weights)
        self.model_ = replace(model, settings=self._settings(), statistics=model.statistics.merge(found))
        return self

    def _over(self, X: Any, answer: Any) -> Any:
        check_is_fitted(self)
        X = features.checked(self, X, reset=False, integers=self._is_categorical())
        parts = [
            answer(self.model_, batch)
            for batch in features.batches(self.model_.schema, X, vocabularies=self.model_.vocabularies)
        ]
        if not parts:
            raise FitError("X has no rows", fix="give at least one")
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def labels_of(values: Any) -> Labels:
    """y as codes; integers of a small range without sorting a million of them."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values) + 1024:
            seen = np.bincount(values - low, minlength=high - low + 1) > 0
            codes = (np.cumsum(seen) - 1).astype(np.int32)[values - low]
            return Labels(codes, Vocabulary((np.flatnonzero(seen) + low).tolist()))
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(codes.astype(np.int32), Vocabulary(classes.tolist()))


def as_array(classes: tuple[Any, ...], dtype: Any) -> Any:
    if dtype.kind == "O" or len({type(label) for label in classes}) > 1:
        array = np.empty(len(classes), dtype=object)
        array[:] = classes
        return array
    return np.array(classes, dtype=None if dtype.kind in "US" else dtype)


