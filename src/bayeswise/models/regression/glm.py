"""Regression with another likelihood than Gaussian: weights found by iteration over rows in memory.

poisson       E[y | x] = exp(score): Newton             student-t    EM: outliers get small weights
exponential   E[y | x] = exp(score): Newton             laplace      EM: least absolute deviations
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError, SupportError
from bayeswise.models.regression.features import Features, refuse_extreme
from bayeswise.models.regression.predictive import Predictive
from bayeswise.models.regression.regression_model import FoundModel, RegressionFacts
from bayeswise.models.regression.row_blocks import Rows
from bayeswise.models.regression.solving.exact_sums import (
    MOST_WEIGHTS,
    SLOPES,
    ExactLoss,
    RowSums,
    are_many,
)
from bayeswise.models.regression.solving.folds import SCALES, SCALES_OF_NOISE, dealt, least_loss
from bayeswise.models.regression.solving.newton import (
    Certificate,
    Penalty,
    Point,
    intercepts_of,
    minimise,
    scale_by_evidence,
)
from bayeswise.models.regression.solving.normal_equations import SPREADS
from bayeswise.models.regression.solving.robust import ROUGH, TIGHT, Iterated, fit_robust
from bayeswise.models.row_order import in_own_order
from bayeswise.models.settings.regression import LinearSettings
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

MOST_ITERATIONS = 200
TOLERANCE = 1e-9
LOOSE = 10.0  # the scale of a prior that stands for a flat one in a few rows
WIDEST = 1e4  # the largest scale that is looked at, and one over the smallest


@dataclass(frozen=True)
class IteratedModel(FoundModel):
    """y = w0 + w . x + noise for robust noise; E[y] = exp(w0 + w . x) for counts and times."""

    schema: Schema
    settings: LinearSettings
    levels: tuple[Vocabulary, ...]
    weights: FloatArray  # (n,) in original units
    at_centre: float  # the score of a row of means
    centre: FloatArray  # (n,) the means
    noise: float  # the scale of the noise; 1 for counts and times
    certificate: Certificate
    scale: float | None = added_later(None)  # of the prior that is in force; older files have it in the settings
    marked: tuple[str, ...] = added_later(())  # columns with an indicator of missing cells

    def regression_facts(self) -> RegressionFacts:
        noise = None if self.has_log_link else self.noise
        return replace(super().regression_facts(), noise=noise, certificate=self.certificate)

    def refuse_impossible(self) -> None:
        self.features.refuse_other_shapes(self.weights, self.centre)
        if self.weights.ndim != 1 or self.centre.ndim != 1 or not math.isfinite(self.at_centre):
            raise SchemaError("weights and means of a regression are one for each feature, and finite")
        if not 0.0 <= self.noise < math.inf or self.schema.texts or self.schema.target is None:
            raise SchemaError("a regression has a target, no texts, and noise of a finite scale")
        if self.scale is not None and not 0.0 < self.scale < math.inf:
            raise SchemaError("the prior of a regression has a finite scale above 0")

    def predictive_of(self, batch: Batch) -> Predictive:
        """The distribution of each row, the weights taken as known."""
        location = self.predict(batch)
        df = self.settings.df if self.settings.likelihood == "student-t" else np.inf
        return Predictive(self.settings.likelihood, location, np.full_like(location, self.noise), df)

    def __repr__(self) -> str:
        what = f"{self.settings.likelihood}, {self.settings.prior} prior"
        return f"IteratedModel({len(self.weights)} weights, {what}, {self.certificate})"


def fit_iterated(
    features: Features, matrix: FloatArray, target: FloatArray, weights: FloatArray | None, settings: LinearSettings
) -> IteratedModel:
    """Weights by Newton's method or by EM, with a certificate."""
    matrix, target, weights = in_own_order(matrix, target, weights)
    size = float(np.abs(target).max(initial=0.0)) or 1.0
    refuse_extreme([features.schema.target_name], size * np.std(target / size, keepdims=True), *SPREADS)
    rows = Rows.of(matrix, weights, features, settings)
    scale = _scale_of(features, rows, target, settings)
    found = _fit_at(rows, target, scale, settings)
    return _model_of(features, settings, found, scale, rows.centre, rows.unit)


def _model_of(
    features: Features,
    settings: LinearSettings,
    found: Iterated,
    scale: float | None,
    centre: FloatArray,
    unit: FloatArray,
) -> IteratedModel:
    return IteratedModel(
        features.schema,
        settings,
        features.levels,
        found.weights[:-1] / unit,
        float(found.weights[-1]),
        centre,
        found.noise,
        found.certificate,
        scale,
        features.marked,
    )


def uses_sums(n_rows: int, n_features: int, settings: LinearSettings) -> bool:
    """Whether rows are too many for one machine's memory, and sums of them are enough."""
    by_sums = settings.likelihood in _NEEDS and settings.how_scaled != "cv"
    return by_sums and are_many(n_rows, n_features) and n_features < MOST_WEIGHTS


def fit_by_sums(features: Features, rows: RowSums, target: Moments, settings: LinearSettings) -> IteratedModel:
    """Weights for counts and times by Newton's method, each step of which needs exact sums over rows."""
    refuse_extreme([features.schema.target_name], target.stddev()[0], *SPREADS)
    mean = float(target.mean()[0, 0])
    loss = ExactLoss(rows, (1, len(features.names) + 1), intercept=settings.fit_intercept)
    few = LogLinkLoss(*rows.few(), settings)
    share = float(np.sqrt(rows.total_weight / few.rows.total_weight)) if few.rows.n_rows else 1.0

    def near(scale: float | None) -> FloatArray:
        """The weights of a few rows, under a prior that is as light against them as it is against all rows."""
        if not few.rows.n_rows:
            return _start(len(features.names) + 1, mean, settings)
        kind = settings.prior or "gaussian"
        light = (scale or LOOSE) * (share**2 if kind == "laplace" else share)
        return few.minimum(Penalty(kind, light, loss.is_intercept))[0].weights

    def top(scale: float | None, start: FloatArray) -> tuple[Point, Certificate]:
        penalty = Penalty(settings.prior, 1.0 if scale is None else scale, loss.is_intercept)
        return minimise(loss, penalty, start, tolerance=_tolerance(mean, settings), most_iterations=MOST_ITERATIONS)

    how = settings.how_scaled
    scale = None if how == "flat" else 1.0 if isinstance(how, str) else how
    start = near(scale)
    if how == "evidence":
        log_evidence = partial(laplace_evidence, settings)
        scale, start = scale_by_evidence(lambda at, last: top(at, last)[0], log_evidence, start, WIDEST)
    point, certificate = top(scale, start)
    found = Iterated(point.weights, 1.0, certificate)
    return _model_of(features, settings, found, scale, rows.centre, rows.unit)


def _fit_at(
    rows: Rows,
    target: FloatArray,
    scale: float | None,
    settings: LinearSettings,
    start: FloatArray | None = None,
    *,
    roughly: bool = False,
) -> Iterated:
    """The weights at a scale of the prior; roughly is to three digits, enough to compare scales."""
    penalty = Penalty(settings.prior, 1.0 if scale is None else scale, intercepts_of((1, rows.n_columns)))
    if settings.likelihood in ("student-t", "laplace"):
        return fit_robust(rows, target, penalty, settings, ROUGH if roughly else TIGHT)
    point, certificate = LogLinkLoss(rows, target, settings).minimum(penalty, start)
    return Iterated(point.weights, 1.0, certificate)


# -- the scale of the prior -----------------------------------------------------------------------------------


def _scale_of(features: Features, rows: Rows, target: FloatArray, settings: LinearSettings) -> float | None:
    how = settings.how_scaled
    if how == "flat":
        return None
    if how == "evidence":
        loss = LogLinkLoss(rows, target, settings)
        return scale_by_evidence(
            lambda at, last: loss.minimum(Penalty(settings.prior, at, loss.is_intercept), last)[0],
            partial(laplace_evidence, settings),
            loss.start,
            WIDEST,
        )[0]
    if how == "cv":
        return _scale_by_folds(features, rows, target, settings)
    return float(how)


def laplace_evidence(settings: LinearSettings, scale: float, point: Point) -> float:
    """log p(targets | columns, scale) up to a number that does not depend on the scale; the intercept is flat."""
    weights = point.weights
    penalty = Penalty(settings.prior, scale, intercepts_of((1, len(weights))))
    sign, log_volume = np.linalg.slogdet(point.hessian + np.diag(penalty.curvature(weights)))
    if sign <= 0:
        return -np.inf
    return float(-point.loss - penalty.value(weights) - penalty.log_normaliser() - 0.5 * log_volume)


def _scale_by_folds(features: Features, rows: Rows, target: FloatArray, settings: LinearSettings) -> float:
    """The scale of least held-out loss, out of a grid; the loss is minus the log of the likelihood."""
    by, matrix = rows.by, rows.matrix
    scales = SCALES if settings.likelihood in ("poisson", "exponential") else SCALES_OF_NOISE

    def losses(kept: FloatArray, out: FloatArray) -> FloatArray:
        learned = np.flatnonzero(kept > 0)
        held = np.flatnonzero(out > 0)
        inside = Rows.of(matrix[learned], kept[learned], features, settings)
        ahead = Rows(matrix[held], np.empty(0), inside.centre, inside.unit)
        found, start = [], None
        for scale in scales:
            fit = _fit_at(inside, target[learned], float(scale), settings, start, roughly=True)
            start = fit.weights
            minus_log_p = -_log_density(ahead.scores(fit.weights), target[held], fit.noise, settings)
            found.append(float(out[held] @ np.minimum(minus_log_p, 1e6)))
        return np.array(found)

    return least_loss(dealt(matrix, np.zeros(rows.n_rows, dtype=np.int32), by), by, scales, losses)


def _log_density(score: FloatArray, target: FloatArray, noise: float, settings: LinearSettings) -> FloatArray:
    """(n_rows,) log p(target | score) up to a number for each target."""
    if settings.likelihood in SLOPES:
        return -SLOPES[settings.likelihood](score, target)[0]
    size = max(noise, 1e-13 * float(np.abs(target).max(initial=0.0)), 1e-300)
    away = (target - score) / size
    if settings.likelihood == "laplace":
        return np.asarray(-np.abs(away) - np.log(size))
    return np.asarray(-0.5 * (settings.df + 1.0) * np.log1p(away**2 / settings.df) - np.log(size))


# -- counts and times -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogLinkLoss:
    """Minus the log likelihood for E[y] = exp(score)."""

    rows: Rows
    target: FloatArray  # (n_rows,)
    settings: LinearSettings

    @cached_property
    def is_intercept(self) -> BoolArray:
        """(n,)."""
        return intercepts_of((1, self.rows.n_columns))

    @cached_property
    def mean(self) -> float:
        """Of the targets."""
        return float(self.rows.by @ self.target) / self.rows.total_weight

    @property
    def start(self) -> FloatArray:
        """(n,) weights to begin with."""
        return _start(self.rows.n_columns, self.mean, self.settings)

    def evaluate(self, weights: FloatArray) -> Point:
        """Loss, gradient and Hessian."""
        rows, by = self.rows, self.rows.by
        each, first, second = SLOPES[self.settings.likelihood](rows.scores(weights), self.target)
        point = Point(weights, float(by @ each), rows.moment(by * first), rows.products(by * second))
        return point if self.settings.fit_intercept else point.holding(self.is_intercept)

    def minimum(self, penalty: Penalty, start: FloatArray | None = None) -> tuple[Point, Certificate]:
        """The weights of least loss + penalty."""
        tolerance = _tolerance(self.mean, self.settings)
        first = self.start if start is None else start
        return minimise(self, penalty, first, tolerance=tolerance, most_iterations=MOST_ITERATIONS)


def _start(n: int, mean: float, settings: LinearSettings) -> FloatArray:
    """(n,) no slopes, and an intercept by the mean of the targets."""
    start = np.zeros(n)
    if settings.fit_intercept and mean > 0:
        start[-1] = np.log(mean)
    return start


def _tolerance(mean: float, settings: LinearSettings) -> float:
    """The gradient at which iterations end, by the mean of the targets."""
    return TOLERANCE * max(mean if settings.likelihood == "poisson" else 1.0, 1e-3)


_NEEDS = {"poisson": "a poisson target is not negative", "exponential": "an exponential target is above 0"}


def refuse_outside(target: FloatArray, likelihood: str, column: str, place: Callable[[int], int] = int) -> None:
    """An error for the first target that the likelihood does not allow; `place` is where a row stands in its table."""
    if likelihood not in _NEEDS:
        return
    wrong = target < 0 if likelihood == "poisson" else target <= 0
    if wrong.any():
        row = int(np.argmax(wrong))
        raise SupportError(_NEEDS[likelihood], row=place(row), column=column, value=float(target[row]))
