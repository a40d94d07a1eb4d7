"""The fitted logistic regression: weights in original units, their posterior, and a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeswise import _kernels
from bayeswise.engines.local import over_ranges
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, SchemaError
from bayeswise.foundation.logspace import log
from bayeswise.models.base.table_model import Capabilities, where_rows_are
from bayeswise.models.regression.features import Features
from bayeswise.models.regression.regression_model import RegressionFacts, WeightedModel
from bayeswise.models.regression.solving.logistic_fit import NO_COVARIANCE, LogisticFit
from bayeswise.models.regression.solving.newton import Certificate
from bayeswise.models.relearning import RelearnedModel
from bayeswise.models.settings.regression import LogisticSettings, n_weight_vectors
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account, Contribution
    from bayeswise.explanations.nomogram import Nomogram

_STEPS = 20  # of a fit, and passes over the rows that one takes


@dataclass(frozen=True, eq=False)
class LogisticModel(WeightedModel, RelearnedModel):
    """log p(class | row) = w0 + w . x up to a number for each row; for two classes the first one's w is 0."""

    schema: Schema
    settings: LogisticSettings
    levels: tuple[Vocabulary, ...]
    labels: Vocabulary
    weights: FloatArray  # (n_classes, n) in original units
    at_centre: FloatArray  # (n_classes,) the scores of a row of means
    centre: FloatArray  # (n,)
    unit: FloatArray  # (n,) standard deviations, which the prior is measured in
    scale: float
    certificate: Certificate
    separates: bool
    covariance: FloatArray  # of standardised weights, vector after vector, each with its intercept; or empty
    log_evidence_of_scale: float | None
    class_weight: FloatArray  # (n_classes,) of the rows that were learned
    extents: tuple[tuple[float, float], ...] = added_later(())  # the least and largest value of each number
    marked: tuple[str, ...] = added_later(())  # columns with an indicator of missing cells
    whole: tuple[str, ...] = added_later(())  # number columns of which all values were whole numbers
    capabilities: ClassVar[Capabilities] = Capabilities(classes=True, relearns=True, alternatives=True, weights=True)

    def regression_facts(self) -> RegressionFacts:
        return replace(
            super().regression_facts(),
            log_evidence=self.log_evidence_of_scale,
            certificate=self.certificate,
            separable=self.separates,
        )

    def refuse_impossible(self) -> None:
        self.features.refuse_other_shapes(self.weights, self.centre, self.unit)
        n_classes, n = len(self.labels), len(self.features.names)
        shapes = ((n_classes, n), (n_classes,), (n,), (n,), (n_classes,))
        arrays = (self.weights, self.at_centre, self.centre, self.unit, self.class_weight)
        if tuple(each.shape for each in arrays) != shapes or not all(np.isfinite(each).all() for each in arrays):
            raise SchemaError("weights, means and classes of a logistic regression do not match, or are not finite")
        n_weights = n_weight_vectors(n_classes) * (n + 1)
        if self.covariance.shape not in ((0, 0), (n_weights, n_weights)) or not np.isfinite(self.covariance).all():
            raise SchemaError("the covariance of a logistic regression is not one of its weights")
        if self.settings.marginalize and n_classes > 1 and not self.covariance.size:
            raise SchemaError("a marginalized logistic regression needs the covariance of its weights")
        if not (self.unit > 0).all() or not 0.0 < self.scale < np.inf or (self.class_weight < 0).any():
            raise SchemaError("units, scale and class weights of a logistic regression must not be below zero")
        if self.extents and (
            len(self.extents) != len(self.schema.numbers) or not all(low <= high for low, high in self.extents)
        ):
            raise SchemaError("a logistic regression has the least and the largest value of each number, or of none")
        if not set(self.whole) <= set(self.schema.numbers):
            raise SchemaError("only number columns of a logistic regression have whole numbers")
        if not self.labels or self.schema.target is None or self.schema.texts:
            raise SchemaError("a logistic regression has a target, classes and no texts")

    @classmethod
    def of(
        cls,
        features: Features,
        labels: Vocabulary,
        settings: LogisticSettings,
        fit: LogisticFit,
        class_weight: FloatArray,
    ) -> LogisticModel:
        slopes = fit.weights[:, :-1] / fit.unit
        at_centre = fit.weights[:, -1]
        if len(labels) == 2:
            slopes, at_centre = np.vstack([np.zeros_like(slopes), slopes]), np.append(0.0, at_centre)
        return cls(
            features.schema,
            settings,
            features.levels,
            labels,
            slopes,
            at_centre,
            fit.centre,
            fit.unit,
            fit.scale,
            fit.certificate,
            fit.separates,
            fit.covariance,
            fit.log_evidence,
            class_weight,
            marked=features.marked,
        )

    @classmethod
    def of_one_class(
        cls, features: Features, labels: Vocabulary, settings: LogisticSettings, class_weight: FloatArray
    ) -> LogisticModel:
        """All rows have one class, and so has every other: its probability is 1."""
        n = len(features.names)
        certificate = Certificate(0.0, 0, True, settings.tol)
        scale = 1.0 if isinstance(settings.scale, str) else float(settings.scale)
        fit = LogisticFit(np.zeros((1, n + 1)), np.zeros(n), np.ones(n), scale, certificate, True, NO_COVARIANCE, None)
        return cls.of(features, labels, settings, fit, class_weight)

    # -- what it is ---------------------------------------------------------------------------------------------
    @property
    def log_prior(self) -> FloatArray:
        """(n_classes,) the shares of the classes in the rows that were learned."""
        return np.asarray(log(self.class_weight) - log(self.class_weight.sum()))

    def n_free_parameters(self) -> int:
        """A weight for each column and an intercept; for more than two classes, for each class."""
        of_class = len(self.features.names) + int(self.settings.fit_intercept)
        return n_weight_vectors(len(self.classes)) * of_class if len(self.classes) > 1 else 0

    @property
    def intercept(self) -> FloatArray:
        """(n_classes,) the scores of a row of zeros and reference levels."""
        return np.asarray(self.at_centre - self.weights @ self.centre)

    def between(self, state: Any, against: Any) -> tuple[FloatArray, float]:
        """w and w0 of log p(state | row) - log p(against | row)."""
        one, other = self.state(state), self.state(against)
        intercept = self.intercept
        return self.weights[one] - self.weights[other], float(intercept[one] - intercept[other])

    def __repr__(self) -> str:
        word = ", separable" if self.separates else ""
        inside = f"{len(self.classes)} classes, {len(self.features.names)} columns, {self.prior_in_words}"
        return f"LogisticModel({inside}{word}, {self.certificate})"

    @property
    def prior_in_words(self) -> str:
        """The prior of the weights, with the scale that is in force."""
        return "flat prior" if self.settings.prior is None else f"{self.settings.prior} prior of scale {self.scale:g}"

    # -- what it says about rows --------------------------------------------------------------------------------
    def scores(self, batch: Batch) -> FloatArray:
        """(n_rows, n_classes) log p(class | row) up to a number for each row, at the most probable weights."""
        return self._scores_of(self.matrix(batch)) if batch.sparse is None else self._sparse_scores(batch.sparse)

    def _sparse_scores(self, matrix: Any) -> FloatArray:
        """The scores of rows whose zeros are not written out: each row's sum is over its own cells, in order."""
        return np.asarray(matrix @ self.weights.T + self.intercept)

    def matrix(self, batch: Batch) -> FloatArray:
        return self.features.filled(batch, self.centre, missing=self.settings.missing)

    def _scores_of(self, matrix: FloatArray) -> FloatArray:
        scores = np.empty((len(matrix), len(self.classes)))
        centre = np.vstack([self.centre, np.zeros_like(self.centre)])

        def fill(rows: slice) -> None:
            _kernels.linear_scores(scores[rows], matrix[rows], centre, self.weights, self.at_centre[None, :])

        over_ranges(fill, len(matrix))
        return scores

    def log_relative(self, batch: Batch) -> FloatArray:
        """(n_rows, n_classes) the scores that the answers come from: marginalized ones, if so set."""
        if batch.sparse is not None and not self.settings.marginalize:
            return self._sparse_scores(batch.sparse)
        matrix = self.matrix(batch)
        scores = self._scores_of(matrix)
        if not self.settings.marginalize or len(self.classes) < 2:
            return scores
        if not self.covariance.size:
            raise FitError("the posterior of the weights was not learned", fix="fit with marginalize=True")
        return marginalized_scores(scores, (matrix - self.centre) / self.unit, self.covariance)

    def learned_like(self, table: Any) -> tuple[LogisticModel, Report]:
        """The regression of the table under the same columns and settings, and its report."""
        from bayeswise.models.regression.learning import logistic_of

        return logistic_of(open_like(table, self.schema), self.schema, self.settings)

    # -- rows left out ------------------------------------------------------------------------------------------
    @property
    def selected_by_rows(self) -> tuple[str, ...]:
        """Everything: weights, the units of columns, levels, and a scale that rows choose."""
        return ("weights",)

    @property
    def cells_per_row(self) -> int:
        """How many cells the steps of a fit read of each row, about."""
        steps = _STEPS * (10 if isinstance(self.settings.scale, str) else 1)  # scales are tried
        return steps * max(1, len(self.features.names)) * max(1, len(self.classes) - 1)

    def relearned(self, batches: Sequence[Batch]) -> LogisticModel:
        """The regression of these rows alone; schema and settings stay."""
        from bayeswise.models.regression.learning import relearned_logistic

        return relearned_logistic(self, batches)

    @where_rows_are
    def explain(self, row: Any) -> Account:
        """Why: the score of a row of means, and w (x - mean) of each column, for one row; not marginalized."""
        from bayeswise.explanations.account import Account, Contribution
        from bayeswise.explanations.balance import AT_THE_MEANS

        batch = self.row_of(row)
        terms = self.weights * (self.matrix(batch)[0] - self.centre)  # (n_classes, n)
        parts = []
        for name in self.schema.used:
            value, note = self.shown_cell(name, batch, self.missing_note(name), "unseen: at the mean")
            parts.append(Contribution(name, value, terms[:, self.features.of_column(name)].sum(axis=1), note))
        convention = f"logistic regression, {self.prior_in_words}"
        return Account(self.classes, self.at_centre, tuple(parts), convention, start=AT_THE_MEANS)

    def nomogram(self, row: Any, state: Any = None, against: Any = None) -> Nomogram:
        """Points for each value of each column, for reading by eye; the row is marked."""
        from bayeswise.explanations.nomogram import Nomogram

        return Nomogram.of_model(self, row, state, against)

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """What the column could say instead: every level, or round numbers about the mean."""
        from bayeswise.explanations.account import Contribution
        from bayeswise.explanations.alternatives import number_grid

        name = find_name(column, self.schema.used, where="the model")
        own = self.features.of_column(name)
        weights, centre = self.weights[:, own], self.centre[own]
        there = np.zeros(len(self.classes))  # what an indicator of missing cells says where the cell is there
        if name in self.marked:
            there = -weights[:, -1] * centre[-1]
            own, weights, centre = own[:-1], weights[:, :-1], centre[:-1]
        if name in self.schema.numbers:
            count = self.schema[name].kind == "count"
            observed = self.extents[self.schema.numbers.index(name)] if self.extents else None  # older files have none
            about = float(centre[0]), float(self.unit[own[0]]), float(self.class_weight.sum())
            grid = number_grid(*about, whole=count or name in self.whole, positive=count, observed=observed)
            return tuple(Contribution(name, float(x), weights[:, 0] * (x - centre[0]) + there) for x in grid)
        levels = self.features.ordered[self.schema.categories.index(name)]
        cells = np.vstack([np.zeros(len(own)), np.eye(len(own))]) - centre  # (n_levels, n), the reference first
        return tuple(
            Contribution(name, level, weights @ cell + there) for level, cell in zip(levels, cells, strict=True)
        )


def marginalized_scores(scores: FloatArray, standardised: FloatArray, covariance: FloatArray) -> FloatArray:
    """(n_rows, n_classes) scores shrunk by their uncertainty; `standardised` is (n_rows, n) without the intercept.

    >>> z = np.array([[0.0], [10.0]])
    >>> marginalized_scores(np.array([[0.0, 1.0], [0.0, 1.0]]), z, np.diag([0.5, 0.0])).round(3).tolist()
    [[0.0, 1.0], [0.0, 0.22]]
    """
    n_classes = scores.shape[1]
    z = np.column_stack([standardised, np.ones(len(standardised))])
    if n_classes == 2:
        return scores * _shrinkage(_variance(z, covariance))[:, None]
    blocks = shared_covariances(covariance, n_classes)
    variance = np.column_stack([_variance(z, blocks[k]) for k in range(n_classes)])
    about_mean = scores - scores.mean(axis=1, keepdims=True)
    return np.asarray(about_mean * _shrinkage(variance))


def _variance(z: FloatArray, covariance: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(((z @ covariance) * z).sum(axis=1), 0.0))


def _shrinkage(variance: FloatArray) -> FloatArray:
    return np.asarray(1.0 / np.sqrt(1.0 + 0.125 * np.pi * variance))


def shared_covariances(covariance: FloatArray, n_classes: int) -> FloatArray:
    """(n_classes, n, n) the covariance of each class's vector less the mean of all vectors."""
    n = len(covariance) // n_classes
    blocks = covariance.reshape(n_classes, n, n_classes, n)
    to_mean = blocks.mean(axis=2)  # (n_classes, n, n)
    overall = to_mean.mean(axis=0)
    own = np.stack([blocks[k, :, k] for k in range(n_classes)])
    return np.asarray(own - to_mean - to_mean.transpose(0, 2, 1) + overall)
