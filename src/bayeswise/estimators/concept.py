"""Conjunctive concepts as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.checking import checked
from bayeswise.estimators.inputs.targets import as_array, class_column, labels_of
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.models.hypotheses.concepts import ConceptModel, check_way, concept_of


@dataclass(eq=False, repr=False)
class ConceptClassifier(ClassifierMixin, BaseEstimator):
    """Two classes separated by a conjunction of levels, every column a category.

    noise   how often a label is wrong; with 0 a contradiction in the rows is an error
    prior   "uniform", or in favour of "specific" or "general" concepts
    by      "average" over all concepts (the fewest errors, averaged over the prior), "gibbs" (one drawn at random: at
            most twice as many), "map" (the most probable one) or "find-s" (the most specific one)

    >>> X, y = [["sunny", "warm"], ["rainy", "cold"], ["sunny", "cold"]], ["yes", "no", "yes"]
    >>> ConceptClassifier().fit(np.array(X), y).predict(np.array([["sunny", "warm"]])).tolist()
    ['yes']
    """

    noise: float = 0.05
    prior: Any = "uniform"
    by: Any = "average"
    _: KW_ONLY
    positive: Any = None
    random_state: int = 0

    model_: ConceptModel = field(init=False)

    def fit(self, X: Any, y: Any) -> Self:
        """Weigh every concept against the rows."""
        check_way(self.by)
        X = checked(self, X, reset=True)
        values = class_column(y, X)
        labels = labels_of(values)
        if self.positive is None and len(labels.classes) > 2:
            raise SchemaError(
                "Only binary classification is supported. The type of the target is multiclass: a concept is about "
                f"two classes, and y has {len(labels.classes)}",
                fix=f"name the concept, as in positive={labels.classes[0]!r}",
            )
        self._dtype_of_y = np.asarray(values).dtype
        schema = encoding.schema_of(X, categorical=True, overrides={})
        rows = encoding.batches(schema, X, labels)
        self.model_ = concept_of(schema, rows, self.positive, self.noise, self.prior)
        return self

    @property
    def classes_(self) -> Any:
        """The classes, in the order of the columns of `predict_proba`."""
        return as_array(self.model_.classes, self._dtype_of_y)

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes)."""
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        model = self.model_
        known = dict(zip(model.columns, model.levels, strict=True))
        rows = encoding.batches(model.schema, X, vocabularies=known)
        return np.concatenate([model.predict_proba(batch, self.by, self.random_state) for batch in rows])

    def predict(self, X: Any) -> Any:
        """The more probable class."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = self.positive is not None
        tags.classifier_tags.poor_score = True  # of measured numbers: each value is a level of its own
        return tags
