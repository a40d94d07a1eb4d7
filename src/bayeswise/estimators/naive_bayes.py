"""Naive Bayes as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, field, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Tags

from bayeswise import _kernels
from bayeswise.engines import summarise
from bayeswise.estimators.base import MergingBase, with_parameters
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.checking import checked
from bayeswise.estimators.inputs.targets import Labels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import NotAvailableError
from bayeswise.models.naive_bayes.categories import CategoryScores
from bayeswise.models.naive_bayes.choices import (
    TEXT_MODELS,
    Selection,
    extent_of,
    factors_for,
    flags_as_numbers,
    select_families,
)
from bayeswise.models.naive_bayes.counted_columns import CountedScores
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.model import NaiveBayesModel, extents_of
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.models.naive_bayes.words import Words, WordScores
from bayeswise.models.settings.naive_bayes import FamilyOptions, MEstimate, NaiveBayesSettings, settings_of
from bayeswise.statistics import Product
from bayeswise.statistics.counts.column_counts import ColumnCounts
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

S = TypeVar("S")


@with_parameters
class NaiveBayes(MergingBase):
    """p(class | row) proportional to p(class) prod p(cell | class), for numbers, categories, flags and text together.

    Parameters are listed by help(bw.NaiveBayes).

    A sparse matrix has one model of words for all columns: families="multinomial", "bernoulli" or "complement"; with
    "select", `selection_` says why a family was taken. "categorical" takes every column as one of categories.

    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [9.0], [10.0]]), ["low", "low", "high", "high"]
    >>> NaiveBayes().fit(X, y).predict([[3.0]]).tolist()
    ['low']
    """

    families: Any = "auto"
    smoothing: float | MEstimate = 1.0
    class_prior: Mapping[Any, float] | Sequence[float] | None = None
    prior_smoothing: float = 0.0
    variance_divisor: str = "n"
    missing: Any = "ignore"
    unseen: Any = "smooth"
    _: KW_ONLY
    shared_variance: bool = False
    denominator: str = "levels"
    variance_rule: str = "floor"
    variance_floor: float = 1e-9
    word_weight: float = 1.0
    convention: str | None = None
    kinds: Mapping[str, str] | None = None
    levels: Mapping[str, Any] | None = None
    class_weight: Any = None

    _model_kind = "naive-bayes"
    _settings_type = NaiveBayesSettings
    _options_type: ClassVar[type] = FamilyOptions
    model_: NaiveBayesModel = field(init=False)
    _model_type: ClassVar[type[NaiveBayesModel]] = NaiveBayesModel
    selection_: Selection = field(init=False)

    # -- what was learned, under scikit-learn's names ---------------------------------------------------------
    @property
    def class_log_prior_(self) -> FloatArray:
        """(n_classes,) log p(class), counted or as given."""
        return np.array(self._model.log_prior)

    @property
    def class_prior_(self) -> FloatArray:
        """(n_classes,) p(class), counted or as given; the parameter `class_prior` stays what it was."""
        return np.exp(self.class_log_prior_)

    @property
    def theta_(self) -> FloatArray:
        """(n_classes, n_features) the mean of each column, where all columns are normal."""
        return np.array(self._normal("theta_").parameters.mean)

    @property
    def var_(self) -> FloatArray:
        """(n_classes, n_features) the variance of each column, where all columns are normal; its floor is in it."""
        return np.square(self._normal("var_").parameters.stddev)

    @property
    def feature_count_(self) -> FloatArray:
        """(n_classes, n_features) how often each word was seen, of a model of words."""
        words, order = self._words("feature_count_")
        return words.count[:, order]

    @property
    def feature_log_prob_(self) -> Any:
        """log p(word | class), (n_classes, n_features), of a model of words; of categories one array for each column.

        As in scikit-learn it is minus the logarithm of the share among the other classes in the complement model.
        """
        if isinstance(self._only("feature_log_prob_"), CategoryScores):
            return [np.ascontiguousarray(table.log_probability().T) for table in self._categories("").tables]
        words, order = self._words("feature_log_prob_")
        return np.ascontiguousarray(words.log_probability[:, order])

    @property
    def category_count_(self) -> list[FloatArray]:
        """(n_classes, n_levels) of each column, where all columns are categories."""
        return [np.array(table.count) for table in self._categories("category_count_").tables]

    @property
    def n_categories_(self) -> IntArray:
        """(n_features,) the number of levels of each column, where all columns are categories."""
        return np.array([table.count.shape[1] for table in self._categories("n_categories_").tables])

    def _only(self, attribute: str) -> Any:
        """The scores of the one family that all columns have."""
        model = self._model
        if type(model) is NaiveBayesModel and len(model.scores) == 1:
            return model.scores[0]
        raise NotAvailableError(
            f"{attribute} is about one family for all columns, and this model has {', '.join(map(str, model.factors))}",
            fix="use model_.scores, family by family",
        )

    def _normal(self, attribute: str) -> NormalScores:
        return _is_one(self._only(attribute), NormalScores, attribute, "normal columns")

    def _categories(self, attribute: str) -> CategoryScores:
        return _is_one(self._only(attribute), CategoryScores, attribute, "columns of categories")

    def _words(self, attribute: str) -> tuple[WordScores, Any]:
        """The scores of words, and the positions of the columns of X in them."""
        scores = self._only(attribute)
        if isinstance(scores, CountedScores):
            return scores.inner, Vocabulary(scores.columns).positions_in(scores.inner.statistic.levels)
        found = _is_one(scores, WordScores, attribute, "counts of words")
        return found, slice(None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if isinstance(self.families, str) and self.families in TEXT_MODELS and tags.classifier_tags is not None:
            tags.input_tags.positive_only = self.families != "bernoulli"
            tags.classifier_tags.poor_score = True  # of measured numbers, which are not counts of words
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _empty(self, settings: Any, X: Any, labels: Labels, weights: FloatArray | None) -> NaiveBayesModel:
        schema = encoding.schema_of(
            X,
            categorical=self._is_categorical(),
            overrides=self._overrides(),
            flags_as_numbers=flags_as_numbers(self.families),
        )
        factors = self._factors(X, schema, labels, weights)
        empty = summarise([], schema, extents_of(schema)).statistics
        return self._model_type(schema, settings, empty, factors, self._selects())

    def _statistics(self, model: Any, X: Any, labels: Labels, weights: FloatArray | None) -> Any:
        small = encoding.batch_of_small_integers(model.schema, X, labels) if weights is None else None
        found = None if small is None else self._counted(model, small)
        return super()._statistics(model, X, labels, weights) if found is None else found

    def _counted(self, model: Any, small: Batch) -> Any:
        """The statistics of small integers by one pass, which shows their levels as well; None if there are others."""
        try:
            found = summarise([small], model.schema, model.request()).statistics
        except _kernels.CodeError:
            return None
        counts = {name: part for name, part in found.part.parts.items() if isinstance(part, ColumnCounts)}
        levels = {name: part.without_unseen() for name, part in counts.items()}
        return None if None in levels.values() else replace(found, part=Product({**found.part.parts, **levels}))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return checked(self, X, reset=reset, integers=self._is_categorical(), sparse=True)

    def _settings(self) -> NaiveBayesSettings:
        """The convention, and what differs from the defaults on top of it."""
        given: NaiveBayesSettings = super()._settings()
        if self.convention is None:
            return given
        changed = {each.name for each in fields(given) if getattr(given, each.name) != each.default}
        return settings_of(self.convention, {name: getattr(given, name) for name in changed})

    def _factors(self, X: Any, schema: Schema, labels: Labels, weights: FloatArray | None) -> tuple[Factor, ...]:
        """The factors of the schema; every column of a sparse matrix is a word, seen or not."""
        families = "auto" if self._is_categorical() else self.families
        if self._selects():
            extents = {name: extent_of(column) for name, column in encoding.number_columns(schema, X).items()}
            self.selection_ = select_families(encoding.batches(schema, X, labels, weights), schema, extents)
            families = self.selection_.families
        factors = factors_for(schema, families)
        if not issparse(X):
            return factors
        words = encoding.words_of(X.shape[1])
        return tuple(replace(factor, declared=words) if isinstance(factor, Words) else factor for factor in factors)

    def _selects(self) -> bool:
        return isinstance(self.families, str) and self.families == "select"

    def _is_categorical(self) -> bool:
        return isinstance(self.families, str) and self.families == "categorical"


def _is_one(scores: Any, kind: type[S], attribute: str, of: str) -> S:
    if isinstance(scores, kind):
        return scores
    raise NotAvailableError(f"{attribute} is about {of}, which this model does not have", fix="choose another family")
