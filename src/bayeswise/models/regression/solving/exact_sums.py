"""What a step of Newton's method needs of rows, as exact sums: any order, chunks and partitions give the same bits.

A step is a regression by least squares of rows that are reweighted. With `first` and `second`, the derivatives of a
row's loss by its score, and r = sqrt(second), the curvature is the sum of (r z)(r z)' and the gradient that of
(first / r)(r z): cross products, which `Scatter` sums without rounding. Only what belongs to one row is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.exact import ExactArray
from bayeswise.models.regression.row_blocks import Rows
from bayeswise.models.regression.solving.newton import Point, intercepts_of
from bayeswise.models.row_order import row_hashes
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.statistics.protocol import Additive, Weights

MOST_CELLS_IN_MEMORY = 1 << 25
"""Rows of fewer cells are collected on one machine, in an order of their own; more are summed where they are."""

MOST_WEIGHTS = 1_000
"""Of which a curvature is summed: half a million exact sums."""

CELLS_TO_START = 1 << 20
"""Of a sample of rows, by which the first step starts near the end."""

LARGEST_SCORE = 700.0
_LEAST_ROOT = 2.0**-400


def are_many(n_rows: int, n_features: int) -> bool:
    """Whether rows, each with an intercept, are more than are brought together."""
    return n_rows * (n_features + 1) > MOST_CELLS_IN_MEMORY


@dataclass(frozen=True)
class Derivatives(Additive):
    """The loss of some rows at some weights, with its derivatives."""

    loss: ExactArray  # (1,)
    gradient: ExactArray  # (n_weights,)
    curvature: ExactArray  # (n_weights (n_weights + 1) / 2,): the lower triangle, row by row
    not_first: ExactArray  # (1,) rows whose own class does not have strictly the highest score

    sums = ("loss", "gradient", "curvature", "not_first")

    @classmethod
    def empty(cls, n_weights: int) -> Derivatives:
        """Those of no rows."""
        shapes = (1, n_weights, n_weights * (n_weights + 1) // 2, 1)
        return cls(*map(ExactArray.zeros, shapes))

    def at(self, weights: FloatArray) -> Point:
        """The rounded sums."""
        n = len(weights)
        hessian = np.empty((n, n))
        rows, columns = np.tril_indices(n)
        hessian[rows, columns] = hessian[columns, rows] = self.curvature.to_floats()
        return Point(weights, float(self.loss.to_floats()[0]), self.gradient.to_floats(), hessian)


Slopes = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""(n_rows,) loss, first and second derivative of each row, by its score and its target."""


def derivatives(rows: Rows, target: Any, weights: FloatArray, likelihood: str) -> Derivatives:
    """What rows say at some weights, (n_vectors, n); of several vectors the targets are codes of classes."""
    if not rows.n_rows:
        return Derivatives.empty(weights.size)

    def of_block(block: slice) -> Derivatives:
        by = rows.weights_of(block) if len(rows.weights) else None
        z = _standard(rows, block)
        if len(weights) > 1:
            return _of_classes(z, target[block], by, weights)
        return _of_scores(z, target[block], by, weights[0], SLOPES[likelihood], counts_first=likelihood == "softmax")

    return reduce(Derivatives.merge, rows.over(of_block, len(weights)))


def _standard(rows: Rows, block: slice) -> FloatArray:
    """(n + 1, n_rows) z of each row, with a one; the last line is left for what goes with them."""
    part = rows.matrix[block]
    z = np.empty((rows.n_columns + 1, len(part)))
    np.subtract(part.T, rows.centre[:, None], out=z[:-2])
    z[:-2] *= (1.0 / rows.unit)[:, None]
    z[-2] = 1.0
    return z


def _scores(z: FloatArray, weights: FloatArray) -> FloatArray:
    """(n_rows,) column after column: the rows beside a row do not change its bits."""
    scores = weights[-1] * z[-2]
    for weight, column in zip(weights[:-1].tolist(), z, strict=False):
        scores += weight * column
    return np.asarray(scores)


def _of_scores(
    z: FloatArray, target: FloatArray, by: FloatArray | None, weights: FloatArray, slopes: Slopes, *, counts_first: bool
) -> Derivatives:
    from bayeswise.statistics.numbers.scatter import Scatter

    scores = _scores(z, weights)
    loss, first, second = slopes(scores, target)
    n = len(weights)
    root = np.maximum(np.sqrt(second), _LEAST_ROOT)
    z[-1] = first / root
    z[:-1] *= root
    found = Scatter.of(z.T, weights=by).cross[0]
    below = n * (n + 1) // 2
    first_of_own = (scores > 0.0) == (target > 0.5) if counts_first else np.ones(len(scores), dtype=bool)
    away = int(np.count_nonzero(~first_of_own | ((scores == 0.0) & counts_first)))
    return Derivatives(
        _total(loss, by), found[below : below + n], found[:below], ExactArray.from_integers(np.array([away]))
    )


def _of_classes(z: FloatArray, codes: FloatArray, by: FloatArray | None, weights: FloatArray) -> Derivatives:
    """The curvature is sum p_k z z' on the diagonal, less the sum of (p z)(p z)' over all classes side by side."""
    from bayeswise.statistics.numbers.scatter import Scatter

    n_classes, n = weights.shape
    scores = np.stack([_scores(z, vector) for vector in weights])  # (n_classes, n_rows)
    places = np.arange(scores.shape[1])
    own = scores[codes, places]
    away = scores - scores.max(axis=0)
    p = np.exp(away)
    others = np.zeros(len(places))
    for k in range(n_classes):
        others += np.where(codes == k, 0.0, p[k])
    total = others + p[codes, places]
    loss = np.log(total) - away[codes, places]
    p /= total
    slope = p.copy()
    slope[codes, places] = -(others / total)
    z = z[:-1]
    side_by_side = (p[:, None, :] * z[None]).reshape(n_classes * n, -1)
    curvature = -Scatter.of(side_by_side.T, weights=by).cross[0]
    rows, columns = np.tril_indices(n)
    for k in range(n_classes):
        mine = Scatter.of((np.sqrt(p[k]) * z).T, weights=by).cross[0]
        high, low = rows + k * n, columns + k * n
        curvature = curvature + mine.scatter_to(high * (high + 1) // 2 + low, len(curvature.digits))
    gradient = Moments.of((slope[:, None, :] * z[None]).reshape(n_classes * n, -1).T, weights=by).total[0]
    scores[codes, places] = -np.inf
    not_first = int(np.count_nonzero(own <= scores.max(axis=0)))
    return Derivatives(_total(loss, by), gradient, curvature, ExactArray.from_integers(np.array([not_first])))


def _total(amounts: FloatArray, by: FloatArray | None) -> ExactArray:
    return Moments.of(amounts[:, None], weights=by).total[0]


# -- the losses -----------------------------------------------------------------------------------------------
def _logistic(score: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log(1 + e^score) - target score, without overflow."""
    small = np.exp(-np.abs(score))
    likely = 1.0 / (1.0 + small)
    unlikely = small * likely
    above = np.where(score >= 0.0, likely, unlikely)  # p(1)
    below = np.where(score >= 0.0, unlikely, likely)
    first = np.where(target > 0.5, -below, above)
    return np.log1p(small) + np.maximum(score, 0.0) - target * score, first, likely * unlikely


def _poisson(score: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    held = np.clip(score, -LARGEST_SCORE, LARGEST_SCORE)
    mean = np.exp(held)
    return mean - target * held, mean - target, mean


def _exponential(score: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    held = np.clip(score, -LARGEST_SCORE, LARGEST_SCORE)
    ratio = target * np.exp(-held)
    return held + ratio, 1.0 - ratio, ratio


SLOPES: dict[str, Slopes] = {"softmax": _logistic, "poisson": _poisson, "exponential": _exponential}


# -- a few rows to start from ---------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class FewRows:
    """Different rows of small hashes, each with the weight of all that are equal to it, whatever the partitions."""

    hashes: IntArray  # (n_rows,) ascending
    matrix: FloatArray  # (n_rows, n)
    target: FloatArray  # (n_rows,)
    weights: ExactArray  # (n_rows,)

    @classmethod
    def of(cls, rows: Rows, target: FloatArray, share: float) -> FewRows:
        """About such a share of rows; none where only a few of them differ."""
        hashes = row_hashes(rows.matrix, target) >> np.uint64(1)
        kept = np.flatnonzero(hashes <= np.uint64(min(share, 1.0) * (2.0**63 - 1_024.0)))
        found, first, which = np.unique(hashes[kept].astype(np.int64), return_index=True, return_inverse=True)
        by = rows.weights[kept] if len(rows.weights) else None
        weights = Weights.of(len(kept), which.astype(np.int32).ravel(), len(found), by).weight
        places = kept[first]
        return cls(found, rows.matrix[places] + np.float64(0.0), target[places].astype(np.float64), weights)

    @classmethod
    def empty(cls, n_features: int) -> FewRows:
        """No rows."""
        return cls(np.empty(0, np.int64), np.empty((0, n_features)), np.empty(0), ExactArray.zeros(0))

    def merge(self, other: FewRows) -> FewRows:
        """Those of both together."""
        found, first = np.unique(np.concatenate([self.hashes, other.hashes]), return_index=True)
        matrix, target = np.vstack([self.matrix, other.matrix]), np.append(self.target, other.target)
        mine, theirs = (
            each.weights.scatter_to(np.searchsorted(found, each.hashes), len(found)) for each in (self, other)
        )
        return FewRows(found, matrix[first], target[first], mine + theirs)

    def rows(self, centre: FloatArray, unit: FloatArray) -> Rows:
        """The same as rows in memory."""
        return Rows(self.matrix, self.weights.to_floats(), centre, unit)


def share_to_start(n_rows: int, total_weight: float, n_features: int) -> float:
    """The share of rows that makes a sample of a few cells; a row of weight 2 is as two rows."""
    return CELLS_TO_START / (max(n_rows, total_weight) * (n_features + 1.0))


# -- a loss by exact sums --------------------------------------------------------------------------------------
class RowSums(Protocol):
    """Rows, here or elsewhere, that answer with sums."""

    @property
    def total_weight(self) -> float:
        """Of all of them."""

    @property
    def centre(self) -> FloatArray:
        """(n,) what is subtracted from each column."""

    @property
    def unit(self) -> FloatArray:
        """(n,) what each column is divided by."""

    def few(self) -> tuple[Rows, FloatArray]:
        """Some of them, with their targets."""

    def derivatives(self, weights: FloatArray) -> Derivatives:
        """What all of them say at weights (n_vectors, n)."""


@dataclass(frozen=True, eq=False)
class RowsHere:
    """All rows on this machine."""

    rows: Rows
    target: Any  # (n_rows,) numbers, or codes of classes
    likelihood: str

    @cached_property
    def total_weight(self) -> float:
        return self.rows.total_weight

    @property
    def centre(self) -> FloatArray:
        return self.rows.centre

    @property
    def unit(self) -> FloatArray:
        return self.rows.unit

    def few(self) -> tuple[Rows, FloatArray]:
        share = share_to_start(self.rows.n_rows, self.total_weight, self.rows.n_columns - 1)
        found = FewRows.of(self.rows, self.target, share)
        return found.rows(self.centre, self.unit), found.target

    def derivatives(self, weights: FloatArray) -> Derivatives:
        return derivatives(self.rows, self.target, weights, self.likelihood)


class ExactLoss:
    """The loss as exact sums over rows, computed once for each weights."""

    def __init__(self, rows: RowSums, shape: tuple[int, int], *, intercept: bool) -> None:
        self.rows, self.shape, self.intercept = rows, shape, intercept
        self._last: tuple[bytes, Point, Derivatives] | None = None

    @property
    def n_vectors(self) -> int:
        return self.shape[0]

    @cached_property
    def is_intercept(self) -> BoolArray:
        """(n_weights,) of the flattened weights."""
        return intercepts_of(self.shape)

    def evaluate(self, weights: FloatArray) -> Point:
        """Loss, gradient and Hessian."""
        return self._at(weights)[1]

    def separates(self, weights: FloatArray) -> bool:
        """Whether every row has its own class strictly first."""
        return bool(self._at(weights)[2].not_first.is_zero()[0])

    def _at(self, weights: FloatArray) -> tuple[bytes, Point, Derivatives]:
        if self._last is None or self._last[0] != weights.tobytes():
            sums = self.rows.derivatives(weights.reshape(self.shape))
            self._last = weights.tobytes(), self._held(sums.at(weights)), sums
        return self._last

    def _held(self, point: Point) -> Point:
        """A shift of the intercepts of all classes changes nothing and is held; without intercepts, so are they."""
        free = self.is_intercept
        if not self.intercept:
            return point.holding(free)
        if self.n_vectors > 1:
            point.hessian[np.ix_(free, free)] += self.rows.total_weight / self.n_vectors**2
        return point
