"""Gaussian Bayes (QDA, LDA and what lies between) as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, field
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayeswise.engines import summarise
from bayeswise.estimators.base import MergingBase, with_parameters
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.targets import Labels
from bayeswise.families.continuous.multivariate_normal import NormalInverseWishart
from bayeswise.foundation.arrays import FloatArray, plain
from bayeswise.foundation.errors import NotAvailableError, ParameterError
from bayeswise.models.gaussian_bayes.learning import of_numbers, refuse_other_kinds
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel, request_of
from bayeswise.models.settings.gaussian import GaussianBayesSettings, GaussianOptions
from bayeswise.posteriors.line_regions import BayesError


@with_parameters
class GaussianBayes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MergingBase):
    """p(class | row) proportional to p(class) Normal(row; mean of the class, covariance), from exact sums.

    Parameters are listed by help(bw.GaussianBayes).

    A change of any of these needs no second pass: `GaussianBayes.model_.changed(covariance="shared")`.

    >>> X, y = np.array([[1.0], [2.0], [9.0], [10.0]]), ["low", "low", "high", "high"]
    >>> GaussianBayes(covariance="shared").fit(X, y).regions()
    Regions(x0: 'low' | 5.5 | 'high')
    """

    covariance: str = "per-class"
    variance_divisor: str = "n"
    shrinkage: float | Literal["auto"] = 0.0
    class_prior: Mapping[Any, float] | Sequence[float] | None = None
    _: KW_ONLY
    prior: NormalInverseWishart | None = None
    predictive: str = "plug-in"
    variance_floor: float = 1e-9
    missing: str = "ignore"
    n_components: int | None = None
    class_weight: Any = None

    _model_kind = "gaussian"
    _settings_type = GaussianBayesSettings
    _options_type = GaussianOptions
    _own_parameters: ClassVar[Mapping[str, str]] = {
        "n_components": "how many of Fisher's directions `transform` gives; None for all"
    }
    model_: GaussianBayesModel = field(init=False)

    _takes_labels: ClassVar[bool] = False

    # -- what was learned, under scikit-learn's names ---------------------------------------------------------
    @property
    def means_(self) -> FloatArray:
        """(n_classes, n_features)"""
        return np.array(self._model.means)

    @property
    def priors_(self) -> FloatArray:
        """(n_classes,) p(class), counted or as given."""
        return np.asarray(np.exp(self._model.log_prior))

    @property
    def covariance_(self) -> Any:
        """(n_features, n_features) where the classes share one; else a list with one for each class."""
        found = list(self._model.covariances)
        return found[0] if self._model.settings.is_shared else found

    @property
    def explained_variance_ratio_(self) -> FloatArray:
        """(n_components,) the share of each of Fisher's directions in what lies between the classes."""
        between = self._model.fisher().separation
        total = between.sum()
        return np.asarray(between[: self.n_components] / (total if total > 0 else 1.0))

    @property
    def coef_(self) -> FloatArray:
        """(1, n_features) for two classes, otherwise (n_classes, n_features), where log-odds are linear.

        Row k is covariance^-1 (mean_k - m) with m the mean of all rows, as in scikit-learn's discriminant analysis.
        """
        return self._linear[0]

    @property
    def intercept_(self) -> FloatArray:
        """(1,) for two classes, otherwise (n_classes,): the score of a row of zeros, where log-odds are linear."""
        return self._linear[1]

    @property
    def _linear(self) -> tuple[FloatArray, FloatArray]:
        model = self._model
        if not model.settings.is_linear:
            raise NotAvailableError(
                f"the log-odds are not linear with {model.settings}", fix="choose covariance='shared'"
            )
        own = model.densities.in_own_units()
        centre = self.priors_ @ own.mean  # (n_features,)
        away = own.mean - centre  # (n_classes, n_features)
        coef = own.spreads[0].precision_times(away)
        with np.errstate(invalid="ignore"):
            intercept = model.log_prior - 0.5 * (away * coef).sum(axis=1) - coef @ centre
            if len(coef) == 2:
                return coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        return coef, intercept

    # -- answering --------------------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> FloatArray:
        """(n_rows,) the log-odds of the second of two classes; (n_rows, n_classes) log-posteriors of more."""
        if len(self._model.classes) == 2:
            first, second = self._model.classes
            return np.asarray(self._over(X, lambda batch: self._model.log_odds(batch, second, first)))
        return self.predict_log_proba(X)

    def mahalanobis(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the distance of each row to the mean of each class, in units of its spread."""
        return np.asarray(self._over(X, lambda batch: self._model.mahalanobis(batch)))

    def transform(self, X: Any) -> FloatArray:
        """(n_rows, n_components) Fisher's projection: the directions in which the classes are farthest apart."""
        projection = self._model.fisher(self.n_components)
        return np.asarray(self._over(X, lambda batch: projection.of_numbers(batch.values)))

    # -- the model --------------------------------------------------------------------------------------------
    def regions(self, column: str | None = None) -> Any:
        """The intervals of one column in which each class is the most probable."""
        return self._model.regions(column)

    def bayes_error(self, *, draws: int = 200_000, seed: int = 0) -> BayesError:
        """The Bayes error: the smallest error of any rule, if the model is true."""
        check_is_fitted(self)
        return self.model_.bayes_error(draws=draws, seed=seed)

    @property
    def _n_features_out(self) -> int:
        return len(self._model.fisher(self.n_components).directions)

    # -- inside -----------------------------------------------------------------------------------------------
    def _check_model(self, model: GaussianBayesModel, *, more_to_come: bool) -> None:
        """Check that there are `n_components` directions; later rows may add classes, and so directions."""
        n = plain(self.n_components)
        if n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < 0):
            raise ParameterError(f"n_components is {n!r}", fix="give a whole number, or None for all directions")
        if n is not None and not more_to_come:
            model.fisher(n)

    def _empty(self, settings: Any, X: Any, labels: Labels, weights: FloatArray | None) -> GaussianBayesModel:
        overrides = self._overrides()
        schema = encoding.schema_of(
            X, categorical=False, overrides=overrides, flags_as_numbers=True, booleans_as_numbers=True
        )
        schema = of_numbers(schema)
        refuse_other_kinds(schema)
        return GaussianBayesModel(schema, settings, summarise([], schema, request_of(schema, settings)).statistics)
