"""From rows to the most probable weights of a logistic regression, its posterior and the scale of its prior.

Many rows are summed exactly, one pass over them for each step of Newton's method; the first step starts from the
weights of a few rows, those of least hash, which are the same in any partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.engines.local import MOST_ENTRIES
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.regression.features import Features, refuse_no_room
from bayeswise.models.regression.row_blocks import Rows
from bayeswise.models.regression.solving.exact_sums import MOST_WEIGHTS, ExactLoss, RowSums, are_many
from bayeswise.models.regression.solving.folds import SCALES, dealt, least_loss
from bayeswise.models.regression.solving.newton import (
    Certificate,
    Loss,
    Penalty,
    Point,
    minimise,
    scale_by_evidence,
)
from bayeswise.models.regression.solving.softmax import FLAT, ClassLoss, SoftmaxLoss, refuse_separated
from bayeswise.models.row_order import in_own_order
from bayeswise.models.settings.regression import LogisticSettings, n_weight_vectors

if TYPE_CHECKING:
    from bayeswise.models.regression.solving.many_columns import ManyColumnsLoss, WideRows, WrittenOut
    from bayeswise.models.regression.solving.wide import TurnedRows

MOST_WORK = 4e9  # products for one Hessian
MANY_ROWS = 100_000
FEWEST_TO_TURN = 500  # columns
FEW_TO_CHOOSE_FROM = 1_000  # weights: of more, a laplace prior leaves most at 0, and a Hessian of all is not made
MOST_WRITTEN = 1 << 28  # cells that are written out once more
WARM_UP = (50, 8)  # every k-th row first: their order is that of a hash, so these are a fair sample
MOST_CELLS_TO_SEPARATE = 200_000
LOOSE = 1e4  # a scale under which a prior hardly holds weights back
LOOSE_IN_FEW = 10.0  # the scale of a prior that stands for a flat one in a few rows
ROUGHLY = 1e-6  # the gradient at which weights are good enough to start from
WIDEST = 1e3  # the largest scale that is looked at, and one over the smallest
NO_COVARIANCE: FloatArray = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Weights of standardised columns, (n_vectors, n), and what goes with them."""

    weights: FloatArray
    centre: FloatArray  # (n - 1,)
    unit: FloatArray  # (n - 1,)
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
    *,
    only_weights: bool = False,
) -> LogisticFit:
    """Maximum a posteriori; the scale is given, or chosen by evidence or by cross-validation.

    `only_weights`: no covariance of the weights and no look for a separating direction, which can take longer.
    """
    matrix, targets, weights = in_own_order(matrix, targets, weights)
    rows = Rows.of(matrix, weights, features, settings)
    if _has_many_columns(rows, n_classes, settings):
        return _fit_wide_table(features, rows, targets, n_classes, settings)
    turned = _turned(rows, settings)
    loss = SoftmaxLoss(rows if turned is None else turned.rows, targets, n_classes, settings.fit_intercept)
    _refuse_no_room(loss, settings)
    scale, start = settings.scale, loss.start()
    if scale == "cv":
        scale = _scale_by_folds(features, loss, settings, again=turned is None)
    elif scale == "evidence":
        log_evidence = partial(log_evidence_at, loss, settings)
        scale, start = scale_by_evidence(
            lambda at, last: most_probable(loss, settings, at, last)[0], log_evidence, start, WIDEST
        )
    known = float(scale)
    point, certificate = most_probable(loss, settings, known, start)
    if settings.prior is None:
        refuse_separated(features, loss, with_hessian(loss, point))
    found = _vectors(loss, point.weights, settings)
    return LogisticFit(
        found if turned is None else np.column_stack([found[:, :-1] @ turned.directions, found[:, -1]]),
        rows.centre,
        rows.unit,
        known,
        certificate,
        not only_weights and separable(loss, point.weights, lambda s: _under_scale(loss, point.weights, s)),
        *_about_weights(loss, settings, known, point, only_weights=only_weights, in_full=turned is None),
    )


def _vectors(loss: SoftmaxLoss | ManyColumnsLoss | ExactLoss, weights: FloatArray, s: LogisticSettings) -> FloatArray:
    """(n_vectors, n) the weights; of all equally good or nearly as good ones, those of least squares."""
    found = weights.reshape(loss.shape)
    return found - found.mean(axis=0) if loss.n_vectors > 1 and s.prior in ("gaussian", None) else found


def _about_weights(
    loss: SoftmaxLoss | ExactLoss,
    settings: LogisticSettings,
    scale: float,
    point: Point,
    *,
    only_weights: bool,
    in_full: bool = True,
) -> tuple[FloatArray, float | None]:
    """The covariance of the weights and the evidence of the scale, as far as they are known and of interest."""
    of_interest = loss.n_vectors == 1 or settings.marginalize or settings.scale == "evidence"
    if not of_interest or only_weights or settings.prior == "laplace":
        return NO_COVARIANCE, None
    if in_full:
        return laplace_approximation(loss, settings, scale, point)
    return NO_COVARIANCE, log_evidence_at(loss, settings, scale, point)


def _has_many_columns(rows: Rows, n_classes: int, settings: LogisticSettings) -> bool:
    """Whether no Hessian of all columns is made; a gaussian prior has fewer columns to look at instead."""
    by_gradient = settings.prior in ("laplace", "student-t") and settings.scale != "evidence"
    vectors = n_classes if settings.prior == "laplace" and n_classes > 2 else 1
    written = float(rows.n_rows) * rows.n_columns <= MOST_WRITTEN
    most = FEW_TO_CHOOSE_FROM if settings.prior == "laplace" else (MOST_ENTRIES / 3.0) ** 0.5
    return by_gradient and written and not settings.marginalize and vectors * rows.n_columns > most


def _fit_wide_table(
    features: Features, rows: Rows, targets: CodeArray, n_classes: int, settings: LogisticSettings
) -> LogisticFit:
    from bayeswise.models.regression.solving.many_columns import ManyColumnsLoss, WrittenOut

    written = WrittenOut.of(rows)

    def rows_of(by: FloatArray) -> WrittenOut:
        return WrittenOut.of(Rows.of(rows.matrix, by, features, settings))

    folds = dealt(rows.matrix, targets, written.weights) if settings.scale == "cv" else None
    loss = ManyColumnsLoss(written, targets, n_classes, settings.fit_intercept)
    return fit_many_columns(loss, settings, folds, rows_of)


def fit_many_columns(
    loss: ManyColumnsLoss,
    settings: LogisticSettings,
    folds: FloatArray | None,
    rows_of: Callable[[FloatArray], WideRows],
) -> LogisticFit:
    """Maximum a posteriori without the Hessian of all columns; `folds` where the scale is to be chosen by them."""
    from bayeswise.models.regression.solving.many_columns import most_probable_of_many, scale_of_many_by_folds

    scale = settings.scale if folds is None else scale_of_many_by_folds(loss, settings, folds, rows_of)
    found, certificate = most_probable_of_many(loss, settings, float(scale), loss.start())
    loosely = settings.changed(prior="gaussian", scale=1.0)
    separates = separable(loss, found, lambda scale: most_probable_of_many(loss, loosely, scale, found, 1e-7, 30)[0])
    rows, vectors = loss.rows, _vectors(loss, found, settings)
    return LogisticFit(vectors, rows.centre, rows.unit, float(scale), certificate, separates, NO_COVARIANCE, None)


def _turned(rows: Rows, settings: LogisticSettings) -> TurnedRows | None:
    """The rows in fewer columns, where they have far more columns than there are rows."""
    is_wide = rows.n_columns > max(rows.n_rows, FEWEST_TO_TURN) and not settings.marginalize
    if settings.prior != "gaussian" or not is_wide:
        return None
    from bayeswise.models.regression.solving.wide import turned_rows

    return turned_rows(rows)


def _refuse_no_room(loss: SoftmaxLoss, settings: LogisticSettings) -> None:
    """The memory of a Hessian and its factors: of all vectors, or of one where conjugate gradients find them."""
    vectors = loss.n_vectors if settings.prior == "laplace" or not _by_gradients(loss) else 1
    n_columns = loss.rows.n_columns - 1
    fix = "choose fewer columns" + (", or prior='gaussian'" if settings.prior != "gaussian" else "")
    if settings.marginalize and loss.rows.n_columns > loss.rows.n_rows:
        fix += ", or marginalize=False"
    what = f"the curvature of {n_columns:,} columns and {loss.n_classes} classes"
    refuse_no_room(3.0 * (vectors * loss.rows.n_columns) ** 2, what, fix)


def _by_gradients(loss: SoftmaxLoss) -> bool:
    return loss.n_vectors > 1 and loss.rows.n_rows * float(np.prod(loss.shape)) ** 2 > MOST_WORK


def most_probable(
    loss: SoftmaxLoss, settings: LogisticSettings, scale: float, start: FloatArray
) -> tuple[Point, Certificate]:
    """The flattened weights of largest posterior; the point has no Hessian where that was too large to be made."""
    penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.df)
    if settings.prior != "laplace" and _by_gradients(loss):
        from bayeswise.models.regression.solving.conjugate_gradients import minimise_softmax

        found, certificate = minimise_softmax(
            loss, penalty, start, tolerance=settings.tol, most_iterations=settings.max_iter
        )
        return Point(found, np.nan, np.empty(0), NO_COVARIANCE), certificate
    for share in WARM_UP if loss.rows.n_rows >= MANY_ROWS else ():
        few = loss.every(share)
        lighter = Penalty(penalty.kind, scale * as_light(penalty.kind, share), penalty.free, penalty.df)
        start = minimise(few, lighter, start, tolerance=ROUGHLY, most_iterations=settings.max_iter)[0].weights
    return minimise(loss, penalty, start, tolerance=settings.tol, most_iterations=settings.max_iter)


def with_hessian(loss: Loss, point: Point) -> Point:
    """The point with its Hessian, where it was found without one."""
    return point if point.hessian.size else loss.evaluate(point.weights)


def as_light(kind: str | None, step: float) -> float:
    """What a scale is multiplied by, so that the prior weighs as little against every k-th row."""
    return float(step if kind == "laplace" else np.sqrt(step))


def separable(loss: ClassLoss[Any], weights: FloatArray, under_scale: Callable[[float], FloatArray]) -> bool:
    """Whether some weights separate the classes: these, or those under a prior that hardly holds them back.

    A yes is always true. The second look is taken on small tables that are nearly separated already.
    """
    if loss.separates(weights):
        return True
    if loss.rows.n_rows * float(np.prod(loss.shape)) > MOST_CELLS_TO_SEPARATE or loss.share_first(weights) < 0.9:
        return False
    return loss.separates(under_scale(LOOSE))


def _under_scale(loss: SoftmaxLoss, weights: FloatArray, scale: float) -> FloatArray:
    """Weights near the most probable ones under a normal prior of this scale."""
    loose = Penalty("gaussian", scale, loss.is_intercept)
    return minimise(loss, loose, weights, tolerance=1e-7, most_iterations=30)[0].weights


def laplace_approximation(
    loss: Loss, settings: LogisticSettings, scale: float, point: Point
) -> tuple[FloatArray, float | None]:
    """The posterior as a Gaussian at its top: its covariance, and log p(targets | columns, scale) if there is a prior.

    log p = -loss - penalty - log normaliser of the prior + (m / 2) log 2 pi - log |Hessian| / 2, the intercept under a
    flat prior.
    """
    penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.df)
    weights, point = point.weights, with_hessian(loss, point)
    values, vectors = np.linalg.eigh(point.hessian + np.diag(penalty.second(weights)))
    if values.min() <= 0:  # a student-t prior may bend the wrong way; its parabola from above does not
        values, vectors = np.linalg.eigh(point.hessian + np.diag(penalty.curvature(weights)))
    values = np.maximum(values, np.finfo(np.float64).tiny)
    if settings.prior is None:  # nothing is known along dependent columns, and no answer depends on it
        seen = values > len(values) * np.finfo(np.float64).eps * values.max()
        return (vectors * np.where(seen, 1.0 / values, 0.0)) @ vectors.T, None
    return (vectors / values) @ vectors.T, _at_top(point, penalty, float(np.log(values).sum()))


def log_evidence_at(loss: Loss, settings: LogisticSettings, scale: float, point: Point) -> float:
    """The same log p(targets | columns, scale) by a Cholesky factor, which takes a thirtieth of all eigenvectors."""
    penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.df)
    point = with_hessian(loss, point)
    try:
        factor = np.linalg.cholesky(point.hessian + np.diag(penalty.second(point.weights)))
    except np.linalg.LinAlgError:
        found = laplace_approximation(loss, settings, scale, point)[1]
        assert found is not None
        return found
    return _at_top(point, penalty, 2.0 * float(np.log(np.diagonal(factor)).sum()))


def _at_top(point: Point, penalty: Penalty, log_determinant: float) -> float:
    at_top = -point.loss - penalty.value(point.weights) - penalty.log_normaliser()
    return float(at_top + 0.5 * len(point.weights) * np.log(2.0 * np.pi) - 0.5 * log_determinant)


def _scale_by_folds(features: Features, loss: SoftmaxLoss, settings: LogisticSettings, *, again: bool) -> float:
    """The scale of least held-out loss, out of a grid; `again`: the columns are standardised again for each fold."""
    matrix, targets, by = loss.rows.matrix, loss.targets, loss.rows.by

    def losses(kept: FloatArray, out: FloatArray) -> FloatArray:
        rows = Rows(matrix, kept, loss.rows.centre, loss.rows.unit)
        if again:
            rows = Rows.of(matrix, kept, features, settings)
        without = SoftmaxLoss(rows, targets, loss.n_classes, settings.fit_intercept)
        return without.left_out_losses(
            out, SCALES, lambda scale, start: most_probable(without, settings, scale, start)[0].weights
        )

    return least_loss(dealt(matrix, targets, by), by, SCALES, losses)


# -- rows that are summed -------------------------------------------------------------------------------------


def uses_sums(n_rows: int, n_features: int, n_classes: int, settings: LogisticSettings) -> bool:
    """Whether rows are too many for one machine's memory, and sums of them are enough."""
    few_weights = n_weight_vectors(n_classes) * (n_features + 1) <= MOST_WEIGHTS
    return n_classes > 1 and are_many(n_rows, n_features) and few_weights and settings.scale != "cv"


def fit_by_sums(
    rows: RowSums, n_classes: int, settings: LogisticSettings, *, only_weights: bool = False
) -> LogisticFit | None:
    """Maximum a posteriori; None where sums cannot show whether there is one: a flat prior and loss."""
    shape = (n_weight_vectors(n_classes), len(rows.centre) + 1)
    loss = ExactLoss(rows, shape, intercept=settings.fit_intercept)

    def top(scale: float, start: FloatArray) -> tuple[Point, Certificate]:
        penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.df)
        return minimise(loss, penalty, start, tolerance=settings.tol, most_iterations=settings.max_iter)

    few, targets = rows.few()
    sample = SoftmaxLoss(few, targets.astype(np.int32), n_classes, settings.fit_intercept)
    scale = settings.scale
    start = _near(sample, settings, 1.0 if isinstance(scale, str) else scale, rows.total_weight)
    if isinstance(scale, str):
        log_evidence = partial(log_evidence_at, loss, settings)
        scale, start = scale_by_evidence(lambda at, last: top(at, last)[0], log_evidence, start, WIDEST)
    known = float(scale)
    point, certificate = top(known, start)
    if settings.prior is None and _is_flat(loss, point):
        return None
    covariance, evidence = _about_weights(loss, settings, known, point, only_weights=only_weights)
    separates = not only_weights and loss.separates(point.weights)
    vectors = _vectors(loss, point.weights, settings)
    return LogisticFit(vectors, rows.centre, rows.unit, known, certificate, separates, covariance, evidence)


def _near(sample: SoftmaxLoss, settings: LogisticSettings, scale: float, total_weight: float) -> FloatArray:
    """The weights of a few rows, under a prior that is as light against them as it is against all rows."""
    if not sample.rows.n_rows:
        return sample.start()
    kind = settings.prior or "gaussian"  # a few rows may be separated where all of them are not
    light = (scale if settings.prior else LOOSE_IN_FEW) * as_light(kind, total_weight / sample.rows.total_weight)
    penalty = Penalty(kind, light, sample.is_intercept, settings.df)
    return minimise(sample, penalty, sample.start(), tolerance=ROUGHLY, most_iterations=settings.max_iter)[0].weights


def _is_flat(loss: ExactLoss, point: Point) -> bool:
    """Whether the loss hardly bends in some direction, other than a shift of all classes."""
    n_vectors, n = loss.shape
    total = loss.rows.total_weight
    shifts = np.kron(np.ones((n_vectors, n_vectors)), np.eye(n)) * (total / n_vectors if n_vectors > 1 else 0.0)
    return bool(np.linalg.eigvalsh(point.hessian + shifts).min() <= FLAT * total)
