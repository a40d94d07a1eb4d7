"""The average over all naive Bayes structures as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from bayeswise.estimators.base import with_parameters
from bayeswise.estimators.inputs.targets import prior_by_name
from bayeswise.estimators.naive_bayes import NaiveBayes
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.averaged_naive_bayes.category_pairs import with_pairs
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel, refuse_unless_averageable
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.settings.averaged import AveragedOptions, AveragedSettings, given_temper
from bayeswise.models.settings.naive_bayes import MEstimate
from bayeswise.tables.schema.schema import Schema


@with_parameters
class AveragedNaiveBayes(NaiveBayes):
    """p(class | row) averaged over all 2^d naive Bayes structures: every column relevant or not.

    Parameters are listed by help(bw.AveragedNaiveBayes).

    `relevance_` is p(column relevant | rows) after fitting, `temper_` the exponent. Pairs are summed
    for up to 32,768 rows, or 67 million over columns squared, unless temper="pairs" asks for them always.

    >>> import numpy as np
    >>> X, y = np.array([[1.0, 3.0], [2.0, 5.0], [9.0, 4.0], [10.0, 4.5]]), ["low", "low", "high", "high"]
    >>> model = AveragedNaiveBayes().fit(X, y)
    >>> {column: round(share, 2) for column, share in model.relevance_.items()}
    {'x0': 0.8, 'x1': 0.29}
    """

    def __init__(
        self,
        relevance: float | Mapping[str, float] = 0.5,
        families: Any = "auto",
        smoothing: float | MEstimate = 1.0,
        class_prior: Mapping[Any, float] | Sequence[float] | None = None,
        prior_smoothing: float = 0.0,
        missing: Any = "ignore",
        unseen: Any = "smooth",
        *,
        n_relevant: Any = None,
        temper: Any = "auto",
        shared_variance: bool = False,
        kinds: Mapping[str, str] | None = None,
        levels: Mapping[str, Any] | None = None,
        class_weight: Any = None,
    ) -> None:
        self.relevance = relevance
        self.families = families
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.prior_smoothing = prior_smoothing
        self.missing = missing
        self.unseen = unseen
        self.n_relevant = n_relevant
        self.temper = temper
        self.shared_variance = shared_variance
        self.kinds = kinds
        self.levels = levels
        self.class_weight = class_weight

    _model_kind = "averaged"
    _settings_type = AveragedSettings
    _options_type = AveragedOptions
    model_: AveragedNaiveBayesModel = field(init=False)
    _model_type = AveragedNaiveBayesModel

    @property
    def relevance_(self) -> dict[str, float]:
        """p(column relevant | rows), by column."""
        relevance: dict[str, float] = self._model.relevance
        return relevance

    @property
    def temper_(self) -> float:
        """The exponent of the likelihood of the normal columns: below 1 where they are redundant."""
        temper: float = self._model.temper
        return temper

    def _settings(self) -> AveragedSettings:
        prior = prior_by_name(self.class_prior, None)
        return self._kept(AveragedSettings, class_prior=prior, temper=given_temper(self.temper))

    def _empty(self, settings: Any, X: Any, labels: Any, weights: FloatArray | None) -> NaiveBayesModel:
        model = super()._empty(settings, X, labels, weights)
        settings.check_columns(column.name for column in model.schema)
        return model

    def _factors(self, X: Any, schema: Schema, labels: Any, weights: FloatArray | None) -> tuple[Factor, ...]:
        factors = super()._factors(X, schema, labels, weights)
        for factor in factors:
            refuse_unless_averageable(factor)
        return with_pairs(factors, self.temper)
