"""Networks over all columns of a table, from naive Bayes to any graph, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, field
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from bayeswise.estimators.base import COLUMNS, MergingBase, with_parameters
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.checking import checked, learned_where_rows_are
from bayeswise.estimators.inputs.targets import Labels, prior_by_name
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NotAvailableError, ParameterError
from bayeswise.models.settings.network import AVERAGES, NetworkOptions, NetworkSettings, divided_missing
from bayeswise.networks.classifiers.learning import prepared
from bayeswise.networks.classifiers.model import NetworkClassifierModel
from bayeswise.networks.network import BeliefNetwork
from bayeswise.tables.batch import Batch


@with_parameters
class NetworkClassifier(MergingBase):
    """p(class | row) from a belief network of the class and all columns.

    Parameters are listed by help(bw.NetworkClassifier).

    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 10)
    >>> exclusive = (X[:, 0] != X[:, 1]).astype(int)               # no single column says anything
    >>> NetworkClassifier("naive", numbers="category").fit(X, exclusive).score(X, exclusive)
    0.5
    >>> NetworkClassifier("tan", numbers="category").fit(X, exclusive).score(X, exclusive)
    1.0
    """

    structure: str = "tan"
    prior: str = "laplace"
    smoothing: float = 1.0
    class_prior: Mapping[Any, float] | Sequence[float] | None = None
    _: KW_ONLY
    k: int = 2
    min_frequency: float = 1.0
    criterion: str = "auto"
    max_parents: int = 3
    numbers: str = "cut"
    cuts: Mapping[str, Sequence[float]] | None = None
    missing: Any = "ignore"
    unseen: Any = "smooth"
    kinds: Mapping[str, str] | None = None
    levels: Mapping[str, Any] | None = None
    class_weight: Any = None

    _settings_type = NetworkSettings
    _options_type = NetworkOptions
    _own_parameters: ClassVar[Mapping[str, str]] = {
        "criterion": "score that the search for any graph maximises: the setting `score`, here a method of estimators",
        "numbers": '"cut" where that shortens the description of the classes (Fayyad and Irani), or each a "category"',
    }
    model_: NetworkClassifierModel = field(init=False)

    @property
    def network(self) -> BeliefNetwork:
        """The belief network, numbers as intervals in words; averages have one for each superparent in `model_`."""
        check_is_fitted(self)
        if self.model_.settings.structure in AVERAGES:
            raise NotAvailableError(
                "an average over superparents has no single graph", fix="use model_.superparent_network(column)"
            )
        return self.model_.network

    # -- inside -----------------------------------------------------------------------------------------------
    def _learned_elsewhere(self, X: Any, y: Any, sample_weight: Any) -> bool:
        declared = [each for each in self._declared() if each.name not in ("structure", "numbers", "criterion")]
        return learned_where_rows_are(self, self.structure, declared, X, y, sample_weight)

    def _settings(self) -> NetworkSettings:
        prior, (_, by_em) = prior_by_name(self.class_prior, None), divided_missing(self.missing)
        return self._kept(NetworkSettings, class_prior=prior, score=self.criterion, **by_em)

    def _overrides(self) -> dict[str, Any]:
        overrides = super()._overrides() | {"missing": divided_missing(self.missing)[0]}
        return {name: value for name, value in overrides.items() if value != COLUMNS[name].default}

    def _empty(self, settings: Any, X: Any, labels: Labels, weights: FloatArray | None) -> NetworkClassifierModel:
        schema = encoding.schema_of(X, categorical=self._is_categorical, overrides=self._overrides())

        def rows() -> Iterator[Batch]:
            return encoding.batches(schema, X, labels, weights)

        return prepared(rows, schema, settings, self.cuts)

    def _statistics(self, model: Any, X: Any, labels: Labels, weights: FloatArray | None) -> Any:
        return model.summary(encoding.batches(model.schema, X, labels, weights))

    @property
    def _is_categorical(self) -> bool:
        if self.numbers not in ("cut", "category"):
            raise ParameterError(f"numbers is {self.numbers!r}", fix="choose 'cut' or 'category'")
        return self.numbers == "category"

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return checked(self, X, reset=reset, integers=self._is_categorical)
