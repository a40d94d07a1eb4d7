"""The scale of a prior by rows left out: which fold a row belongs to, and the scale of least held-out loss.

A row's fold is a function of the row and of the rows it is sorted among, never of its place in the table: the order of
the rows, chunks and repetitions do not change the scale that is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.models.row_order import row_hashes
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.models.regression.solving.normal_equations import NormalEquations
    from bayeswise.statistics.numbers.regression_moments import RegressionMoments

N_FOLDS = 5
SCALES = np.geomspace(1e-2, 1e2, 9)  # of weights of standardised columns
SCALES_OF_NOISE = np.geomspace(1e-2, 1e6, 17)  # the same in units of the noise, which may be small


# -- rows in memory -------------------------------------------------------------------------------------------


def dealt(matrix: FloatArray, targets: CodeArray, by: FloatArray) -> FloatArray:
    """(n_folds, n_rows) the weight of each row in each fold: the rows of a class are dealt like cards, in sorted order.

    So the folds do not depend on the order of the rows, and a row of weight k is dealt like k rows.

    >>> dealt(np.array([[3.0], [1.0]]), np.zeros(2, dtype=np.int32), np.array([1.0, 6.0])).tolist()
    [[0.0, 2.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    """
    return dealt_in(np.lexsort([*matrix.T[::-1], targets]), targets, by)


def dealt_in(order: IntArray, targets: CodeArray, by: FloatArray) -> FloatArray:
    """(n_folds, n_rows) the same of rows in some order, by class."""
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
    """How much of the first `amount` cards a fold gets."""
    rounds, rest = np.divmod(amount, N_FOLDS)
    return np.asarray(rounds + np.clip(rest - fold, 0.0, 1.0))


def least_loss(
    folds: Iterable[FloatArray],
    by: FloatArray,
    scales: FloatArray,
    losses: Callable[[FloatArray, FloatArray], FloatArray],
) -> float:
    """The scale of least loss; `losses` of (weights kept, weights left out) are one number for each scale."""
    total = np.zeros(len(scales))
    for out in folds:
        kept = by - out
        if out.any() and kept.any():
            total += losses(kept, out)
    return best_of(scales, total)


def best_of(scales: FloatArray, losses: FloatArray) -> float:
    """The scale of least loss; 1 where all losses are equal."""
    return float(scales[int(np.argmin(losses))]) if np.ptp(losses) > 0 else 1.0


# -- rows as moments ------------------------------------------------------------------------------------------


def fold_of_rows(batch: Batch, target: FloatArray) -> IntArray:
    """(n_rows,) the fold that the cells of a row choose: equal rows are left out together."""
    hashes = row_hashes(batch.values, target)
    for c in range(batch.codes.shape[1]):
        own = np.array([_hash_of(label) for label in batch.vocabularies[c]] + [0], dtype=np.uint64)
        hashes = (hashes ^ own[np.maximum(batch.codes[:, c], -1)]) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((hashes >> np.uint64(33)) % np.uint64(N_FOLDS), dtype=np.int64)


def _hash_of(label: Label) -> int:
    text = f"{type(label).__name__} {label!r}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def scale_by_moments(
    whole: RegressionMoments,
    folds: Sequence[RegressionMoments],
    equations_of: Callable[[RegressionMoments], NormalEquations],
    *,
    sparse: bool,
) -> float:
    """The scale of least squared error in rows left out, from the moments of the folds: no row is looked at again."""

    from bayeswise.statistics.numbers.regression_moments import RegressionMoments

    losses = np.zeros(len(SCALES_OF_NOISE))
    for fold in folds:
        out = fold.over_levels(whole.levels)
        kept = RegressionMoments(whole.levels, whole.scatter.subtract(out.scatter), whole.declared)
        if out.n_rows() > 0 and kept.n_rows() > 0:
            losses += _squared_errors(equations_of(kept), equations_of(out), sparse=sparse)
    return best_of(SCALES_OF_NOISE, losses)


def _squared_errors(learned: NormalEquations, left_out: NormalEquations, *, sparse: bool) -> FloatArray:
    """(n_scales,) sum of (y - w0 - w . x)^2 over the rows left out."""
    values, vectors = np.linalg.eigh(learned.correlation)
    turned = vectors.T @ learned.moment
    apart = left_out.mean - learned.mean
    right = left_out.moment * left_out.unit
    errors: list[float] = []
    w = np.zeros(len(values))
    for scale in SCALES_OF_NOISE:
        if sparse:
            w = learned.laplace(float(scale), w)
        else:
            w = vectors @ (turned / (np.maximum(values, 0.0) + scale**-2)) / learned.unit
        within = left_out.total - 2.0 * float(w @ right) + float(w @ left_out.products @ w)
        between = left_out.n_rows * (apart[-1] - float(w @ apart[:-1])) ** 2 if learned.centred else 0.0
        errors.append(max(within, 0.0) + between)
    return np.array(errors)
