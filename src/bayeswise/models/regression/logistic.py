"""The fitted logistic regression: weights in original units, their posterior, and a certificate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.engines.ranges import over_ranges
from bayeswise.explanations.account import Account, Contribution
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.regression.features import Features
from bayeswise.models.regression.logistic_fit import LogisticFit
from bayeswise.models.regression.moderation import moderated_scores
from bayeswise.models.regression.newton import Certificate
from bayeswise.models.regression.settings import LogisticSettings
from bayeswise.posteriors.normalise import log_posterior, normalise
from bayeswise.posteriors.states import find_state
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Label, Vocabulary
from bayeswise.tables.schema import Schema


@dataclass(frozen=True)
class LogisticModel:
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
    log_evidence_of_scale: float | None = None

    @classmethod
    def of(cls, features: Features, labels: Vocabulary, settings: LogisticSettings, fit: LogisticFit) -> LogisticModel:
        slopes = fit.weights[:, :-1] / fit.rows.unit
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
            fit.rows.centre,
            fit.rows.unit,
            fit.scale,
            fit.certificate,
            fit.separates,
            fit.covariance,
            fit.log_evidence,
        )

    @classmethod
    def of_one_class(cls, features: Features, labels: Vocabulary, settings: LogisticSettings) -> LogisticModel:
        """All rows have one class, and so has every other: its probability is 1."""
        n = len(features.names)
        certificate = Certificate(0.0, 0, True, settings.tolerance)
        scale = 1.0 if isinstance(settings.scale, str) else float(settings.scale)
        return cls(
            features.schema,
            settings,
            features.levels,
            labels,
            np.zeros((1, n)),
            np.zeros(1),
            np.zeros(n),
            np.ones(n),
            scale,
            certificate,
            True,
            np.empty((0, 0)),
        )

    # -- what it is ---------------------------------------------------------------------------------------------
    @property
    def classes(self) -> tuple[Label, ...]:
        return self.labels.labels

    @cached_property
    def features(self) -> Features:
        return Features(self.schema, self.levels)

    @property
    def intercept(self) -> FloatArray:
        """(n_classes,) the scores of a row of zeros and reference levels."""
        return np.asarray(self.at_centre - self.weights @ self.centre)

    def between(self, state: Any, against: Any) -> tuple[FloatArray, float]:
        """w and w0 of log p(state | row) - log p(against | row)."""
        one, other = find_state(state, self.classes), find_state(against, self.classes)
        intercept = self.intercept
        return self.weights[one] - self.weights[other], float(intercept[one] - intercept[other])

    def __repr__(self) -> str:
        word = ", separable" if self.separates else ""
        inside = f"{len(self.classes)} classes, {len(self.features.names)} columns, {self.settings.prior} prior"
        return f"LogisticModel({inside} of scale {self.scale:g}{word}, {self.certificate})"

    # -- what it says about rows --------------------------------------------------------------------------------
    def scores(self, batch: Batch, first_row: int = 0) -> FloatArray:
        """(n_rows, n_classes) log p(class | row) up to a number for each row, at the most probable weights."""
        return self._scores_of(self.matrix(batch, first_row))

    def matrix(self, batch: Batch, first_row: int = 0) -> FloatArray:
        return self.features.filled(batch, self.centre, missing=self.settings.missing, first_row=first_row)

    def _scores_of(self, matrix: FloatArray) -> FloatArray:
        scores = np.empty((len(matrix), len(self.classes)))
        centre = np.vstack([self.centre, np.zeros_like(self.centre)])

        def fill(rows: slice) -> None:
            _kernels.linear_scores(scores[rows], matrix[rows], centre, self.weights, self.at_centre[None, :])

        over_ranges(fill, len(matrix))
        return scores

    def log_relative(self, batch: Batch, first_row: int = 0) -> FloatArray:
        """(n_rows, n_classes) the scores that the answers come from: moderated ones, if so set."""
        matrix = self.matrix(batch, first_row)
        scores = self._scores_of(matrix)
        if not self.settings.moderated or len(self.classes) < 2:
            return scores
        if not self.covariance.size:
            raise FitError("the posterior of the weights was not learned", fix="fit with moderated=True")
        return moderated_scores(scores, (matrix - self.centre) / self.unit, self.covariance)

    def probability(self, batch: Batch, first_row: int = 0) -> FloatArray:
        """(n_rows, n_classes) the posterior."""
        return normalise(self.log_relative(batch, first_row)).probability

    def log_probability(self, batch: Batch, first_row: int = 0) -> FloatArray:
        return log_posterior(self.log_relative(batch, first_row))

    def explain(self, batch: Batch) -> Account:
        """Why: the intercept, and w x of each column, for one row."""
        matrix = self.matrix(batch)
        if len(matrix) != 1:
            raise FitError(f"explain takes one row; found {len(matrix)}", fix="pick a row first")
        terms = self.weights * matrix[0]  # (n_classes, n)
        parts = []
        for name in self.schema.used:
            own = [k for k, (column, _) in enumerate(self.features.names) if column == name]
            value, note = self._shown(name, batch)
            parts.append(Contribution(name, value, terms[:, own].sum(axis=1), note))
        convention = f"logistic regression, {self.settings.prior} prior of scale {self.scale:g}"
        return Account(self.classes, self.intercept, tuple(parts), convention)

    def _shown(self, name: str, batch: Batch) -> tuple[Any, str]:
        if name in self.schema.numbers:
            value = float(batch.values[0, self.schema.numbers.index(name)])
            return (None, "missing: at its mean") if np.isnan(value) else (value, "")
        position = self.schema.categories.index(name)
        code = int(batch.codes[0, position])
        if code >= 0:
            return batch.vocabularies[position][code], ""
        return (None, "missing: at its mean") if code == -1 else ("(unseen)", "unseen: at the mean")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file."""
        from bayeswise.models.files import save_model

        save_model(self, path)
