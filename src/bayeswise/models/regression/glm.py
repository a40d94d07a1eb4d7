"""Regression with another likelihood than Gaussian: weights found by iteration over rows in memory.

poisson       E[y | x] = exp(score): Newton             student-t    EM: outliers get small weights
exponential   E[y | x] = exp(score): Newton             laplace      EM: least absolute deviations
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import SchemaError, SupportError
from bayeswise.models.regression.features import Features, refuse_extreme
from bayeswise.models.regression.newton import Certificate, Point, minimise
from bayeswise.models.regression.normal_equations import SPREADS
from bayeswise.models.regression.penalties import Penalty
from bayeswise.models.regression.predictive import Predictive
from bayeswise.models.regression.regression_model import RegressionModel
from bayeswise.models.regression.robust import Iterated, fit_robust
from bayeswise.models.regression.rows import Rows
from bayeswise.models.regression.settings import LinearSettings
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema

MOST_ITERATIONS = 200
TOLERANCE = 1e-9
LARGEST_SCORE = 700.0


@dataclass(frozen=True)
class IteratedModel(RegressionModel):
    """y = w0 + w . x + noise for robust noise; E[y] = exp(w0 + w . x) for counts and times."""

    schema: Schema
    settings: LinearSettings
    levels: tuple[Vocabulary, ...]
    weights: FloatArray  # (n,) in original units
    at_centre: float  # the score of a row of means
    centre: FloatArray  # (n,) the means
    noise: float  # the scale of the noise; 1 for counts and times
    certificate: Certificate

    def refuse_impossible(self) -> None:
        self.features.refuse_other_shapes(self.weights, self.centre)
        if self.weights.ndim != 1 or self.centre.ndim != 1 or not math.isfinite(self.at_centre):
            raise SchemaError("weights and means of a regression are one for each feature, and finite")
        if not 0.0 <= self.noise < math.inf or self.schema.texts or self.schema.target is None:
            raise SchemaError("a regression has a target, no texts, and noise of a finite scale")

    @cached_property
    def features(self) -> Features:
        return Features(self.schema, self.levels)

    @property
    def baseline(self) -> tuple[FloatArray, float]:
        return self.centre, self.at_centre

    def matrix(self, batch: Batch) -> FloatArray:
        return self.features.filled(batch, self.centre, missing=self.settings.missing)

    def predictive_of(self, batch: Batch) -> Predictive:
        """The distribution of each row, the weights taken as known."""
        location = self.predict(batch)
        freedom = self.settings.freedom if self.settings.likelihood == "student-t" else np.inf
        return Predictive(self.settings.likelihood, location, np.full_like(location, self.noise), freedom)

    def __repr__(self) -> str:
        what = f"{self.settings.likelihood}, {self.settings.prior} prior"
        return f"IteratedModel({len(self.weights)} weights, {what}, {self.certificate})"


def fit_iterated(
    features: Features, matrix: FloatArray, target: FloatArray, weights: FloatArray | None, settings: LinearSettings
) -> IteratedModel:
    """Weights by Newton's method or by EM, with a certificate."""
    size = float(np.abs(target).max(initial=0.0)) or 1.0
    name = features.schema.target.name if features.schema.target else "y"
    refuse_extreme([name], size * np.std(target / size, keepdims=True), *SPREADS)
    rows = Rows.of(matrix, weights, features, standardise=settings.standardise)
    if not settings.intercept:
        rows = Rows(rows.matrix, rows.weights, np.zeros_like(rows.centre), rows.unit)
    penalty = Penalty(settings.prior, float(settings.scale), np.arange(rows.n_columns) == rows.n_columns - 1)
    if settings.likelihood in ("student-t", "laplace"):
        found = fit_robust(rows, target, penalty, settings)
    else:
        found = _fit_log_link(rows, target, penalty, settings)
    slopes = found.weights[:-1] / rows.unit
    return IteratedModel(
        features.schema,
        settings,
        features.levels,
        slopes,
        float(found.weights[-1]),
        rows.centre,
        found.noise,
        found.certificate,
    )


def _fit_log_link(rows: Rows, target: FloatArray, penalty: Penalty, settings: LinearSettings) -> Iterated:
    by = rows.weights if len(rows.weights) else np.ones(rows.n_rows)
    counts = settings.likelihood == "poisson"

    def evaluate(w: FloatArray) -> Point:
        score = np.clip(rows.scores(w), -LARGEST_SCORE, LARGEST_SCORE)
        if counts:
            mean = np.exp(score)
            each, first, second = mean - target * score, mean - target, mean
        else:
            ratio = target * np.exp(-score)
            each, first, second = score + ratio, 1.0 - ratio, ratio
        gradient, hessian = rows.moment(by * first), rows.products(by * second)
        if not settings.intercept:
            gradient[-1], hessian[-1], hessian[:, -1], hessian[-1, -1] = 0.0, 0.0, 0.0, 1.0
        return Point(w, float(by @ each), gradient, hessian)

    start = np.zeros(rows.n_columns)
    mean = float(by @ target) / rows.total_weight
    if settings.intercept and mean > 0:
        start[-1] = np.log(mean)
    found = minimise(
        evaluate,
        penalty,
        start,
        total_weight=rows.total_weight,
        tolerance=TOLERANCE * max(mean if counts else 1.0, 1e-3),
        most_iterations=MOST_ITERATIONS,
    )
    return Iterated(found.point.weights, 1.0, found.certificate)


_NEEDS = {"poisson": "a poisson target is not negative", "exponential": "an exponential target is above 0"}


def refuse_outside(target: FloatArray, likelihood: str, column: str, place: Callable[[int], int] = int) -> None:
    """An error for the first target that the likelihood does not allow; `place` is where a row stands in its table."""
    if likelihood not in _NEEDS:
        return
    wrong = target < 0 if likelihood == "poisson" else target <= 0
    if wrong.any():
        row = int(np.argmax(wrong))
        raise SupportError(_NEEDS[likelihood], row=place(row), column=column, value=float(target[row]))
