"""From rows to the most probable weights of a logistic regression, its posterior and the scale of its prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.models.regression.conjugate_gradients import minimise_softmax
from bayeswise.models.regression.features import Features
from bayeswise.models.regression.newton import Certificate, minimise
from bayeswise.models.regression.penalties import Penalty
from bayeswise.models.regression.rows import Rows
from bayeswise.models.regression.settings import LogisticSettings
from bayeswise.models.regression.softmax import SoftmaxLoss
from bayeswise.posteriors.normalise import log_posterior

MOST_WORK = 4e9  # products for one Hessian
MANY_ROWS, FEW_ROWS = 100_000, 20_000
MOST_CELLS_TO_SEPARATE = 200_000
N_FOLDS = 5
SCALES = np.geomspace(0.01, 100.0, 9)
NO_COVARIANCE: FloatArray = np.empty((0, 0))


@dataclass(frozen=True)
class LogisticFit:
    """Weights of standardised columns, (n_vectors, n), and what goes with them."""

    weights: FloatArray
    rows: Rows
    scale: float
    certificate: Certificate
    separates: bool
    covariance: FloatArray  # (m, m) of the flattened weights, or empty
    log_evidence: float | None


def fit_logistic(
    features: Features,
    matrix: FloatArray,
    targets: CodeArray,
    n_classes: int,
    weights: FloatArray | None,
    settings: LogisticSettings,
) -> LogisticFit:
    """Maximum a posteriori; the scale is given, or chosen by evidence or by cross-validation."""
    loss = _loss_of(features, matrix, targets, n_classes, weights, settings)
    scale, start = settings.scale, loss.start()
    if scale == "cv":
        scale = _scale_by_folds(features, matrix, targets, n_classes, weights, settings)
    elif scale == "evidence":
        scale, start = _scale_by_evidence(loss, settings)
    known = float(scale)
    found, certificate = most_probable(loss, settings, known, start)
    covariance, log_evidence = NO_COVARIANCE, None
    if settings.prior != "laplace" and (loss.n_vectors == 1 or settings.moderated or settings.scale == "evidence"):
        covariance, log_evidence = laplace_approximation(loss, settings, known, found)
    return LogisticFit(
        found.reshape(loss.shape), loss.rows, known, certificate, separable(loss, found), covariance, log_evidence
    )


def _loss_of(
    features: Features,
    matrix: FloatArray,
    targets: CodeArray,
    n_classes: int,
    weights: FloatArray | None,
    settings: LogisticSettings,
) -> SoftmaxLoss:
    rows = Rows.of(matrix, weights, features, standardise=settings.standardise)
    if not settings.intercept:
        rows = Rows(rows.matrix, rows.weights, np.zeros_like(rows.centre), rows.unit)
    return SoftmaxLoss(rows, targets, n_classes, settings.intercept)


def most_probable(
    loss: SoftmaxLoss, settings: LogisticSettings, scale: float, start: FloatArray
) -> tuple[FloatArray, Certificate]:
    """The flattened weights of largest posterior."""
    penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.freedom)
    work = loss.rows.n_rows * float(np.prod(loss.shape)) ** 2
    if loss.n_vectors > 1 and settings.prior != "laplace" and work > MOST_WORK:
        return minimise_softmax(
            loss, penalty, start, tolerance=settings.tolerance, most_iterations=settings.most_iterations
        )
    if loss.rows.n_rows >= MANY_ROWS:
        step = loss.rows.n_rows // FEW_ROWS
        few = loss.every(step)
        lighter = Penalty(penalty.kind, scale * _as_light(penalty.kind, step), penalty.free, penalty.freedom)
        start = _by_newton(few, lighter, start, settings, 1e-6)[0]
    return _by_newton(loss, penalty, start, settings, settings.tolerance)


def _as_light(kind: str | None, step: int) -> float:
    """What a scale is multiplied by, so that the prior weighs as little against every so manieth row."""
    return float(step if kind == "laplace" else np.sqrt(step))


def _by_newton(
    loss: SoftmaxLoss, penalty: Penalty, start: FloatArray, settings: LogisticSettings, tolerance: float
) -> tuple[FloatArray, Certificate]:
    found = minimise(
        loss.evaluate,
        penalty,
        start,
        total_weight=loss.rows.total_weight,
        tolerance=tolerance,
        most_iterations=settings.most_iterations,
    )
    return found.point.weights, found.certificate


def separable(loss: SoftmaxLoss, weights: FloatArray) -> bool:
    """Whether some weights separate the classes: these, or those under a prior that hardly holds them back.

    A yes is always true. The second look is taken on small tables that are nearly separated already.
    """
    if loss.separates(weights):
        return True
    if loss.rows.n_rows * float(np.prod(loss.shape)) > MOST_CELLS_TO_SEPARATE or loss.share_first(weights) < 0.9:
        return False
    loose = Penalty("gaussian", 1e4, loss.is_intercept)
    total = loss.rows.total_weight
    found = minimise(loss.evaluate, loose, weights, total_weight=total, tolerance=1e-7, most_iterations=30)
    return loss.separates(found.point.weights)


def laplace_approximation(
    loss: SoftmaxLoss, settings: LogisticSettings, scale: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """The posterior as a Gaussian at its top: its covariance, and log p(targets | columns, scale).

    log p = -loss - penalty - log normaliser of the prior + (m / 2) log 2 pi - log |Hessian| / 2, the intercept under a
    flat prior.
    """
    penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.freedom)
    point = loss.evaluate(weights)
    hessian = point.hessian + np.diag(penalty.second(weights))
    values, vectors = np.linalg.eigh(hessian)
    if values.min() <= 0:  # a student-t prior may bend the wrong way; its parabola from above does not
        values, vectors = np.linalg.eigh(point.hessian + np.diag(penalty.curvature(weights)))
    values = np.maximum(values, np.finfo(np.float64).tiny)
    covariance = (vectors / values) @ vectors.T
    at_top = -point.loss - penalty.value(weights) - penalty.log_normaliser()
    volume = 0.5 * len(weights) * np.log(2.0 * np.pi) - 0.5 * float(np.log(values).sum())
    return covariance, float(at_top + volume)


def _scale_by_evidence(loss: SoftmaxLoss, settings: LogisticSettings) -> tuple[float, FloatArray]:
    """The scale of largest evidence, and the weights that go with it."""
    last = loss.start()

    def minus_log_evidence(log_scale: float) -> float:
        nonlocal last
        last, _ = most_probable(loss, settings, float(np.exp(log_scale)), last)
        return -laplace_approximation(loss, settings, float(np.exp(log_scale)), last)[1]

    bounds = (float(np.log(1e-3)), float(np.log(1e3)))
    found = minimize_scalar(minus_log_evidence, bounds=bounds, method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x)), last


def _scale_by_folds(
    features: Features,
    matrix: FloatArray,
    targets: CodeArray,
    n_classes: int,
    weights: FloatArray | None,
    settings: LogisticSettings,
) -> float:
    """The scale of least held-out loss, out of a grid."""
    by = np.ones(len(targets)) if weights is None else weights
    losses = np.zeros(len(SCALES))
    for out in dealt(matrix, targets, by):
        kept = by - out
        if not out.any() or not kept.any():
            continue
        loss = _loss_of(features, matrix, targets, n_classes, kept, settings)
        start = loss.start()
        for s, scale in enumerate(SCALES):
            start, _ = most_probable(loss, settings, float(scale), start)
            log_p = log_posterior(loss.scores(start))
            losses[s] -= float(out @ log_p[np.arange(len(log_p)), targets])
    return float(SCALES[int(np.argmin(losses))])


def dealt(matrix: FloatArray, targets: CodeArray, by: FloatArray) -> FloatArray:
    """(n_folds, n_rows) the weight of each row in each fold: the rows of a class are dealt like cards, in sorted order.

    So the folds do not depend on the order of the rows, and a row of weight k is dealt like k rows.

    >>> dealt(np.array([[3.0], [1.0]]), np.zeros(2, dtype=np.int32), np.array([1.0, 6.0])).tolist()
    [[0.0, 2.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    """
    order = np.lexsort([*matrix.T[::-1], targets])
    weights = by[order]
    ends = np.cumsum(weights)
    firsts = np.flatnonzero(np.append(True, np.diff(targets[order]) != 0))
    before = np.repeat((ends - weights)[firsts], np.diff(np.append(firsts, len(order))))
    until, since = ends - before, ends - weights - before
    folds = np.empty((N_FOLDS, len(by)))
    for fold in range(N_FOLDS):
        folds[fold, order] = _in_fold(until, fold) - _in_fold(since, fold)
    return folds


def _in_fold(amount: FloatArray, fold: int) -> FloatArray:
    """How much of the first so many cards a fold has got."""
    rounds, rest = np.divmod(amount, N_FOLDS)
    return np.asarray(rounds + np.clip(rest - fold, 0.0, 1.0))
