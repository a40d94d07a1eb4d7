"""All models, weighted by left-out rows, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, field
from typing import Any, Self

from bayeswise.estimators.base import ClassifierBase, with_parameters
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.targets import prior_by_name
from bayeswise.models.auto.learning import of_batches, settings_with
from bayeswise.models.auto.model import AutoModel
from bayeswise.models.settings.auto import AutoOptions, AutoSettings, seconds_of


@with_parameters
class AutoClassifier(ClassifierBase):
    """p(class | row) from all models that apply, weighted by their predictions of left-out rows.

    Columns of a frame are those of `bw.fit`; an array is numbers throughout, also where a column has only 0 and 1.
    Parameters are listed by help(bw.AutoClassifier).

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 0.0], [1.0, 1.1], [1.2, 0.1]] * 10)
    >>> AutoClassifier().fit(X, ["low", "low", "high", "high"] * 10).predict([[0.1, 0.5], [1.1, 0.5]]).tolist()
    ['low', 'high']
    """

    choose: str = "stack"
    _: KW_ONLY
    calibrate: str = "auto"
    class_prior: Mapping[Any, float] | Sequence[float] | None = None
    costs: Any = None
    within: float | str | None = None
    missing: Any = "ignore"
    unseen: Any = "smooth"
    kinds: Mapping[str, str] | None = None
    levels: Mapping[str, Any] | None = None
    class_weight: Any = None

    _model_kind = "auto"
    _settings_type = AutoSettings
    _options_type = AutoOptions
    model_: AutoModel = field(init=False)

    def _fitted(self, X: Any, y: Any, sample_weight: Any) -> Self:
        settings = self._kept(AutoSettings, class_prior=prior_by_name(self.class_prior, None), costs=None)
        settings = settings_with(settings, self.costs)
        seconds = seconds_of(self.within)
        X, labels, weights = self._rows(X, y, sample_weight, reset=True)
        self._remember_type(y, reset=True)
        weights = self._with_class_weights(labels, weights)
        schema = encoding.schema_of(X, categorical=False, overrides=self._overrides())
        rows = list(encoding.batches(schema, X, labels, weights))
        learned = of_batches(rows, schema, settings, seconds=seconds, costs=self.costs)
        prior = prior_by_name(self.class_prior, learned.classes)
        if prior is not self.class_prior:  # an array in the order of `classes_`
            learned = learned.changed(class_prior=prior)
        learned.check_prior()
        self.model_ = learned
        return self

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each member of the mixture."""
        return self.model_.weight_of_member
