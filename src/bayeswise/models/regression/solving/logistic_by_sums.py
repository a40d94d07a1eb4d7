"""Logistic regression of rows that are asked for exact sums: one pass over them for each step of Newton's method.

The first step starts from the weights of a few rows, those of least hash, which are the same in any partitions.
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression.solving.exact_sums import (
    MOST_WEIGHTS,
    AskedLoss,
    AskedRows,
    are_many,
)
from bayeswise.models.regression.solving.logistic_fit import (
    NO_COVARIANCE,
    LogisticFit,
    as_light,
    by_newton,
    laplace_approximation,
    scale_by_evidence,
)
from bayeswise.models.regression.solving.newton import Certificate, Penalty, Point
from bayeswise.models.regression.solving.softmax import FLAT, SoftmaxLoss
from bayeswise.models.settings.regression import LogisticSettings

LOOSE = 10.0  # the scale of a prior that stands for a flat one in a few rows
ROUGHLY = 1e-6  # the gradient at which the weights of a few rows are good enough to start from


def asks_for_sums(n_rows: int, n_features: int, n_classes: int, settings: LogisticSettings) -> bool:
    """Whether rows are too many to stand in one place, and their sums are all that is needed."""
    n_vectors = 1 if n_classes == 2 else n_classes
    few_weights = n_vectors * (n_features + 1) <= MOST_WEIGHTS
    return n_classes > 1 and are_many(n_rows, n_features) and few_weights and settings.scale != "cv"


def fit_by_sums(
    rows: AskedRows, n_classes: int, settings: LogisticSettings, *, only_weights: bool = False
) -> LogisticFit | None:
    """Maximum a posteriori; None where only the rows themselves tell whether there is one: a flat prior and loss."""
    loss = AskedLoss(rows, (1 if n_classes == 2 else n_classes, len(rows.centre) + 1), intercept=settings.fit_intercept)
    few, targets = rows.few()
    sample = SoftmaxLoss(few, targets.astype(np.int32), n_classes, settings.fit_intercept)
    scale = settings.scale
    start = _near(sample, settings, 1.0 if isinstance(scale, str) else scale, rows.total_weight)
    if isinstance(scale, str):
        scale, start = scale_by_evidence(loss, settings, start, lambda at, last: _top(loss, settings, at, last)[0])
    known = float(scale)
    point, certificate = _top(loss, settings, known, start)
    if settings.prior is None and _is_flat(loss, point):
        return None
    covariance, log_evidence = NO_COVARIANCE, None
    of_interest = loss.n_vectors == 1 or settings.marginalize or settings.scale == "evidence"
    if of_interest and settings.prior != "laplace" and not only_weights:
        covariance, log_evidence = laplace_approximation(loss, settings, known, point)
    weights = point.weights.reshape(loss.shape)
    if loss.n_vectors > 1 and settings.prior in ("gaussian", None):
        weights = weights - weights.mean(axis=0)  # of all equally good or nearly as good weights, the smallest
    separates = not only_weights and loss.separates(point.weights)
    return LogisticFit(weights, rows.centre, rows.unit, known, certificate, separates, covariance, log_evidence)


def _near(sample: SoftmaxLoss, settings: LogisticSettings, scale: float, total_weight: float) -> FloatArray:
    """The weights of a few rows, under a prior that is as light against them as it is against all rows."""
    if not sample.rows.n_rows:
        return sample.start()
    kind = settings.prior or "gaussian"  # a few rows may be separated where all of them are not
    light = (scale if settings.prior else LOOSE) * as_light(kind, total_weight / sample.rows.total_weight)
    penalty = Penalty(kind, light, sample.is_intercept, settings.df)
    return by_newton(sample, penalty, sample.start(), settings, ROUGHLY)[0].weights


def _is_flat(loss: AskedLoss, point: Point) -> bool:
    """Whether the loss hardly bends in some direction, other than a shift of all classes."""
    n_vectors, n = loss.shape
    total = loss.rows.total_weight
    shifts = np.kron(np.ones((n_vectors, n_vectors)), np.eye(n)) * (total / n_vectors if n_vectors > 1 else 0.0)
    return bool(np.linalg.eigvalsh(point.hessian + shifts).min() <= FLAT * total)


def _top(loss: AskedLoss, settings: LogisticSettings, scale: float, start: FloatArray) -> tuple[Point, Certificate]:
    penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.df)
    return loss.minimum(penalty, start, tolerance=settings.tol, most_iterations=settings.max_iter)
