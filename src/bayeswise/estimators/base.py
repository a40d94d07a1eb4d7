"""What the estimators have alike: a frozen model inside, as `model_`.

EstimatorBase     X comes in, is checked and encoded, and the model answers batch by batch
ClassifierBase    ... with the probability of each class
MergingBase       ... from exact statistics, so that rows come, go and add up
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bayeswise.engines import summarise
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.checking import checked, learned_where_rows_are
from bayeswise.estimators.inputs.targets import (
    Labels,
    as_array,
    class_labels,
    declared_classes,
    prior_by_name,
    refuse_other_classes,
    refuse_undeclared,
    row_weights,
    times_class_weights,
    weights_of_classes,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, NotAvailableError
from bayeswise.models.settings.common import ColumnOptions
from bayeswise.models.settings.declaration import Setting, Settings, current_names, declared
from bayeswise.models.settings.help_text import described, with_list
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.sources.opening import spread

Kept = TypeVar("Kept", bound=Settings)
Estimator = TypeVar("Estimator", bound="EstimatorBase")
COLUMNS = declared(ColumnOptions)


class EstimatorBase(BaseEstimator):
    """An estimator whose fitted state is one model: a `TableModel` under `model_`."""

    model_: Any

    _settings_type: ClassVar[type[Settings]]  # what the model keeps: parameters of these names are declared there
    _model_kind: ClassVar[str]  # as `bw.fit` names it
    _options_type: ClassVar[type] = ColumnOptions  # and here, those that matter only while it is learned
    _own_parameters: ClassVar[Mapping[str, str]] = {}  # what the others mean, those of scikit-learn's ways
    _takes_labels: ClassVar[bool] = True  # whether columns of X may be text or categories

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name, also by the names of earlier versions."""
        super().set_params(**current_names(parameters, self._declared()))
        return self

    @classmethod
    def _declared(cls) -> list[Setting]:
        """The declarations of those parameters that are settings of the model."""
        found = {**declared(cls._options_type), **declared(cls._settings_type)}
        return [found[name] for name in signature(cls.__init__).parameters if name in found]

    @classmethod
    def _described(cls) -> list[str]:
        """A line of help for each parameter."""
        texts = {each.name: each.text for each in cls._declared()}
        texts |= {name: text for base in reversed(cls.__mro__) for name, text in _own_texts(base).items()}
        return described({name: texts[name] for name in signature(cls.__init__).parameters if name in texts})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch; y names a column where X is a frame of Dask or Spark."""
        if self._learned_elsewhere(X, y, sample_weight):
            return self
        return self._fitted(X, y, sample_weight)

    @abstractmethod
    def _fitted(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """The same with rows that are here."""

    def explain(self, X: Any) -> Any:
        """The account of one row: what each column adds to the answer."""
        if spread(X) is not None:
            return self._model.explain(X)
        (batch,) = self._batches(X)
        return self.model_.explain(batch)

    def save(self, path: Any) -> None:
        """Write the model file."""
        self._model.save(path)

    @property
    def _model(self) -> Any:
        if not hasattr(self, "model_"):  # scikit-learn's check alone takes longer than a row
            check_is_fitted(self)
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "missing", "ignore") != "error"
        tags.input_tags.string = tags.input_tags.categorical = self._takes_labels
        return tags

    # -- inside -----------------------------------------------------------------------------------------------
    def _learned_elsewhere(self, X: Any, y: Any, sample_weight: Any) -> bool:
        """Whether X is a frame of Dask or Spark, from which the model was then learned; y names a column of it."""
        return learned_where_rows_are(self, self._model_kind, self._declared(), X, y, sample_weight)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """X after scikit-learn's checks, and those of the model's own."""
        return checked(self, X, reset=reset)

    def _kept(self, settings: type[Kept], **changes: Any) -> Kept:
        """The settings that the model keeps, from the parameters of the same names."""
        names = [name for name in declared(settings) if name in vars(self) or hasattr(type(self), name)]
        return settings(**{name: getattr(self, name) for name in names} | changes)

    def _settings(self) -> Any:
        """The settings of the model, checked."""
        return self._kept(self._settings_type)

    def _overrides(self) -> dict[str, Any]:
        """The settings of columns that differ from the defaults."""
        about = [each for each in self._declared() if each.owner is self._options_type and each.name in COLUMNS]
        return {each.name: getattr(self, each.name) for each in about if getattr(self, each.name) != each.default}

    def _batches(self, X: Any) -> Iterator[Batch]:
        """X to be predicted, encoded as the model knows it."""
        model = self._model
        X = self._checked(X, reset=False)
        found = False
        for batch in encoding.batches(model.schema, X, vocabularies=model.vocabularies):
            found = True
            yield batch
        if not found:
            raise FitError("X has no rows", fix="give at least one")

    def _over(self, X: Any, answer: Callable[[Batch], Any]) -> Any:
        """The answers to all rows of X, one below the other."""
        parts = [answer(batch) for batch in self._batches(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _merged_with(self, other: Any) -> Self:
        """A new estimator with these settings and the rows of both models."""
        check_is_fitted(self)
        check_is_fitted(other)
        both = type(self)(**self.get_params(deep=False))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(both, name, getattr(self, name))
        both.model_ = self.model_.merge(other.model_)
        return both


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def with_parameters(kind: type[Estimator]) -> type[Estimator]:
    """An estimator whose parameters are its fields: help lists them, and their earlier names are still taken."""
    made: Any = dataclass(eq=False, repr=False)(kind)
    made.__init__ = _taking_earlier_names(made.__init__)
    made.__doc__ = with_list(made.__doc__, "Parameters", made._described())
    return kind


def _own_texts(kind: type) -> Mapping[str, str]:
    own: Mapping[str, str] = vars(kind).get("_own_parameters", {})
    return own


def _taking_earlier_names(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor that takes parameters by the names of earlier versions, too, with a warning."""

    @wraps(init)
    def __init__(self: EstimatorBase, *parameters: Any, **named: Any) -> None:
        init(self, *parameters, **current_names(named, self._declared()) if named else named)

    return __init__


class ClassifierBase(ClassifierMixin, EstimatorBase):
    """The estimator of a `ProbabilityModel`."""

    class_weight: Any = None
    _own_parameters: ClassVar[Mapping[str, str]] = {
        "class_prior": "{class: probability}, probabilities in the order of `classes_`, or None to count",
        "class_weight": '"balanced", or a weight for each class: times the weights of its rows',
    }
    _dtype_of_y: Any
    _weight_of_class: Mapping[Label, float] | None = None  # what the rows that were learned were multiplied by

    @property
    def classes_(self) -> Any:
        """The classes, in the order of the columns of `predict_proba`."""
        return as_array(self.model_.classes, self._dtype_of_y)

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the posterior; a lazy frame with more columns where X is one of Dask or Spark."""
        if spread(X) is not None:
            return self._model.predict_proba(X)  # type: ignore[no-any-return]
        return np.asarray(self._over(X, lambda batch: self.model_.probability(batch)))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the logarithm of the posterior, exact in the tails."""
        if spread(X) is not None:
            return self._model.predict_log_proba(X)  # type: ignore[no-any-return]
        return np.asarray(self._over(X, lambda batch: log_posterior(self.model_.log_relative(batch))))

    def predict(self, X: Any) -> Any:
        """The most probable class; the first one of `classes_` where several are."""
        if spread(X) is not None:
            return self._model.predict(X)
        best = self._over(X, lambda batch: np.argmax(self.model_.log_relative(batch), axis=1))
        return self.classes_[best]

    def log_odds(self, X: Any, state: Any, against: Any) -> FloatArray:
        """(n_rows,) log p(state | row) - log p(against | row)."""
        return np.asarray(self._over(X, lambda batch: self.model_.log_odds(batch, state, against)))

    def _rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Any, Labels, FloatArray | None]:
        """X, y and weights, checked."""
        if y is not None:
            X = self._checked(X, reset=reset)
        return X, class_labels(y, X), row_weights(X, sample_weight)

    def _with_class_weights(
        self, labels: Labels, weights: FloatArray | None, *, more_to_come: bool = False
    ) -> FloatArray | None:
        """The weights of rows to be learned, times those of their classes, which are remembered."""
        self._weight_of_class = None
        if self.class_weight is None:
            return weights
        of_class = weights_of_classes(self.class_weight, labels, weights, more_to_come=more_to_come)
        self._weight_of_class = dict(self.class_weight) if isinstance(self.class_weight, Mapping) else of_class
        return times_class_weights(of_class, labels, weights)

    def _remember_type(self, y: Any, *, reset: bool) -> None:
        """The type that `classes_` has: that of y, or of all y so far."""
        dtype = np.asarray(y).dtype
        self._dtype_of_y = dtype if reset else np.result_type(self._dtype_of_y, dtype)


class MergingBase(ClassifierBase):
    """The estimator of a `Classifier`, whose statistics merge and subtract exactly."""

    # -- what each estimator says for itself -----------------------------------------------------------------------
    class_prior: Any

    def _settings(self) -> Any:
        """The settings, checked; a prior that is an array waits for the classes that it is about."""
        return self._kept(self._settings_type, class_prior=prior_by_name(self.class_prior, None))

    @abstractmethod
    def _empty(self, settings: Any, X: Any, labels: Labels, weights: FloatArray | None) -> Any:
        """The model of no rows, for columns like those of X."""

    # -- learning ---------------------------------------------------------------------------------------------
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows. New categories are welcome in any batch, and so are new classes.

        `classes` is not needed; where the first call names them, they are all there are, also before they have rows.
        """
        declared = None if classes is None else declared_classes(classes)
        if not hasattr(self, "model_"):
            return self._fitted(X, y, sample_weight, declared, more_to_come=True)
        if declared is not None:
            refuse_other_classes(declared, self.model_.classes)
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        refuse_undeclared(labels.classes, self.model_.schema.target.classes)
        self._remember_type(y, reset=False)
        weights = self._with_class_weights(labels, weights, more_to_come=True)
        found = self.model_.statistics.merge(self._statistics(self.model_, X, labels, weights))
        return self._learned(replace(self.model_, settings=self._settings()), found, more_to_come=True)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: the model is then the one that never saw them, to the last byte."""
        model = self._model
        X, labels, weights = self._learned_rows(X, y, sample_weight)
        left = model.statistics.subtract(self._statistics(model, X, labels, weights))
        self.model_ = replace(model, settings=self._of_classes(self._settings(), left.labels), statistics=left)
        return self

    def merge(self, other: Self) -> Self:
        """A new estimator that has learned the rows of both."""
        both = self._merged_with(other)
        both._dtype_of_y = np.result_type(self._dtype_of_y, other._dtype_of_y)
        if self._weight_of_class == other._weight_of_class:
            both._weight_of_class = self._weight_of_class
        return both

    # -- what was learned, under scikit-learn's names ---------------------------------------------------------
    @property
    def class_count_(self) -> FloatArray:
        """(n_classes,) the weight of the rows of each class."""
        return np.array(self._model.class_weight)

    # -- answering --------------------------------------------------------------------------------------------
    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) log p(class) + log p(row | class)."""
        return np.asarray(self._over(X, lambda batch: self.model_.log_joint(batch)))

    def log_evidence(self, X: Any) -> FloatArray:
        """(n_rows,) log p(row): small for rows unlike any that were learned."""
        return np.asarray(self._over(X, lambda batch: self.model_.log_evidence(batch)))

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """(n_rows, n_classes) the posterior of each learned row under the model that never saw it."""
        return np.asarray(self._model.leave_one_out(list(self._known(X, y, sample_weight))))

    def leave_one_out_evidence(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """(n_rows,) log p(row) of each learned row under the model that never saw it."""
        return np.asarray(self._model.leave_one_out_evidence(list(self._known(X, y, sample_weight))))

    def sample(self, n: int, seed: Any = 0) -> dict[str, list[Any]]:
        """n rows drawn from the model, as columns; the class stands under "y"."""
        drawn: dict[str, list[Any]] = self._model.sample(n, seed)
        return drawn

    # -- inside -----------------------------------------------------------------------------------------------
    def _known(self, X: Any, y: Any, sample_weight: Any) -> Iterator[Batch]:
        """Learned rows, in the codes of the model."""
        model = self._model
        X, labels, weights = self._learned_rows(X, y, sample_weight)
        return encoding.batches(model.schema, X, labels, weights, model.vocabularies)

    def _learned_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Labels, FloatArray | None]:
        """Learned rows, with the weights that they were learned with."""
        X, labels, weights = self._rows(X, y, sample_weight, reset=False)
        if self.class_weight is None:
            return X, labels, weights
        if self._weight_of_class is None:
            raise NotAvailableError(
                "the rows of merged estimators were learned with different weights of classes",
                fix="leave class_weight out, and give sample_weight to each call",
            )
        return X, labels, times_class_weights(self._weight_of_class, labels, weights)

    def _statistics(self, model: Any, X: Any, labels: Labels, weights: FloatArray | None) -> Any:
        rows = encoding.batches(model.schema, X, labels, weights)
        return summarise(rows, model.schema, model.request()).statistics

    def _fitted(
        self, X: Any, y: Any, sample_weight: Any, declared: Vocabulary | None = None, *, more_to_come: bool = False
    ) -> Self:
        settings = self._settings()
        X, labels, weights = self._rows(X, y, sample_weight, reset=True)
        refuse_undeclared(labels.classes, declared)
        self._remember_type(y, reset=True)
        weights = self._with_class_weights(labels, weights, more_to_come=more_to_come)
        model = self._empty(settings, X, labels, weights)
        if declared is not None:
            target = replace(model.schema.target, classes=declared)
            model = replace(model, schema=replace(model.schema, target=target))
        return self._learned(model, self._statistics(model, X, labels, weights), more_to_come=more_to_come)

    def _learned(self, model: Any, found: Any, *, more_to_come: bool) -> Self:
        learned = replace(model, settings=self._of_classes(model.settings, found.labels), statistics=found)
        learned.check_prior(more_to_come=more_to_come)
        self._check_model(learned, more_to_come=more_to_come)
        self.model_ = learned
        self.model_.warn()
        return self

    def _check_model(self, model: Any, *, more_to_come: bool) -> None:
        """What can be checked only when rows are known."""

    def _of_classes(self, settings: Any, classes: Sequence[Label]) -> Any:
        """The settings with the prior by class, where it was given as an array in the order of `classes_`."""
        prior = prior_by_name(self.class_prior, classes)
        return settings if prior is self.class_prior else settings.changed(class_prior=prior)
