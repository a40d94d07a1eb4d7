"""The loss of a logistic regression and its derivatives: one weight vector for two classes, else one each.

Without a prior, weights have no finite maximum where some direction separates the classes. A direction d separates if
(d_own - d_other) . z >= 0 for every row and every other class, and > 0 for some (Albert and Anderson, 1984). Along it
the likelihood rises for ever. In such a direction the loss has no curvature where Newton's method ends, so it is looked
for among the flat directions only, by a linear program over all rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, listed
from bayeswise.models.regression.features import Features
from bayeswise.models.regression.row_blocks import Rows
from bayeswise.models.regression.solving.newton import Point, intercepts_of
from bayeswise.models.settings.regression import n_weight_vectors
from bayeswise.posteriors.normalise import log_posterior

R = TypeVar("R", bound=Any)


@dataclass(frozen=True, eq=False)
class ClassLoss(Generic[R]):
    """-log p(class | row), summed; weights are (1, n) for two classes, otherwise (n_classes, n), the intercept last."""

    rows: R  # with n_rows, n_columns and weights
    targets: CodeArray  # (n_rows,)
    n_classes: int
    intercept: bool = True

    @property
    def n_vectors(self) -> int:
        return n_weight_vectors(self.n_classes)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_vectors, self.rows.n_columns

    @cached_property
    def is_intercept(self) -> BoolArray:
        """(n_vectors * n,) of the flattened weights."""
        return intercepts_of(self.shape)

    def start(self) -> FloatArray:
        """(n_vectors * n,) no slopes, and intercepts by the shares of the classes."""
        start = np.zeros(self.shape)
        if self.intercept:
            weights = self.rows.weights if len(self.rows.weights) else None
            logs = np.log(np.bincount(self.targets, weights=weights, minlength=self.n_classes) + 0.5)
            logs -= logs.mean()
            start[:, -1] = logs[1] - logs[0] if self.n_vectors == 1 else logs
        return start.ravel()

    def scores(self, weights: FloatArray) -> FloatArray:
        """(n_rows, n_classes) log p(class | row) up to a number for each row."""
        scores = self.scores_of_vectors(weights.reshape(self.shape))
        return scores if self.n_vectors > 1 else np.column_stack([np.zeros(self.rows.n_rows), scores])

    @abstractmethod
    def scores_of_vectors(self, weights: FloatArray) -> FloatArray:
        """(n_rows, n_vectors) weights . z."""

    @abstractmethod
    def slopes(self, weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss, gradient (n_vectors, n) and probabilities (n_rows, n_classes)."""

    def share_first(self, weights: FloatArray) -> float:
        """The share of rows whose own class has strictly the highest score."""
        scores, at = self.scores(weights), np.arange(self.rows.n_rows)
        own = scores[at, self.targets]
        scores[at, self.targets] = -np.inf
        return float(np.mean(own > scores.max(axis=1)))

    def separates(self, weights: FloatArray) -> bool:
        """Whether every row has its own class strictly first."""
        return self.share_first(weights) == 1.0

    def left_out_losses(
        self, out: FloatArray, scales: FloatArray, top: Callable[[float, FloatArray], FloatArray]
    ) -> FloatArray:
        """(n_scales,) the loss by the weights `out`; `top` are the best weights at a scale, from those at another."""
        start, found = self.start(), []
        for scale in scales.tolist():
            start = top(scale, start)
            log_p = log_posterior(self.scores(start))
            found.append(-float(out @ log_p[np.arange(len(log_p)), self.targets]))
        return np.array(found)

    def held(self, sums: FloatArray) -> FloatArray:
        """Without an intercept, nothing moves it."""
        if not self.intercept:
            sums[:, -1] = 0.0
        return sums


@dataclass(frozen=True, eq=False)
class SoftmaxLoss(ClassLoss[Rows]):
    """The loss of rows in memory, with a Hessian that is written down or applied."""

    @cached_property
    def inverse_unit(self) -> FloatArray:
        return 1.0 / self.rows.unit

    def every(self, step: int) -> SoftmaxLoss:
        """Every `step`-th row."""
        targets = np.ascontiguousarray(self.targets[::step])
        return SoftmaxLoss(self.rows.every(step), targets, self.n_classes, self.intercept)

    # -- with the Hessian ---------------------------------------------------------------------------------------
    def evaluate(self, weights: FloatArray) -> Point:
        """Loss, gradient and Hessian."""
        point = self._binary(weights) if self.n_vectors == 1 else self._multinomial(weights)
        return point if self.intercept else point.holding(self.is_intercept)

    def _block(self, rows: slice, weights: FloatArray) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Some rows and the weights, as the kernels of a pass take them."""
        beside = self.targets[rows], self.rows.weights_of(rows)
        return self.rows.matrix[rows], self.rows.centre, self.inverse_unit, weights, *beside

    def _binary(self, weights: FloatArray) -> Point:
        n = self.rows.n_columns

        def of_block(rows: slice) -> tuple[float, FloatArray, FloatArray]:
            gradient, hessian = np.empty(n), np.empty((n, n))
            return _kernels.logistic_pass(*self._block(rows, weights), gradient, hessian), gradient, hessian

        losses, gradients, hessians = zip(*self.rows.over(of_block), strict=True)
        return Point(weights, math.fsum(losses), sum(gradients), sum(hessians))

    def _multinomial(self, weights: FloatArray) -> Point:
        loss, gradient, probabilities = self.slopes(weights.reshape(self.shape))
        return Point(weights, loss, gradient.ravel(), self.hessian_at(probabilities, self.rows.by))

    def hessian_at(self, probabilities: FloatArray, by: FloatArray) -> FloatArray:
        """(m, m) blocks sum w (p_k [k = l] - p_k p_l) z z'; a shift of all intercepts changes nothing and is held."""
        n_classes, n = self.shape
        hessian = np.empty((n_classes, n, n_classes, n))
        for k in range(n_classes):
            for other in range(k + 1):
                both = probabilities[:, k] * ((k == other) - probabilities[:, other])
                block = self.rows.products(by * both)
                hessian[k, :, other] = block
                hessian[other, :, k] = block
        hessian[:, -1, :, -1] += self.rows.total_weight / n_classes**2
        return hessian.reshape(n_classes * n, n_classes * n)

    # -- without it ---------------------------------------------------------------------------------------------
    def slopes(self, weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss, gradient (n_classes, n) and probabilities (n_rows, n_classes), for more than two classes."""
        probabilities = np.empty((self.rows.n_rows, self.n_classes))

        def of_block(rows: slice) -> tuple[float, FloatArray]:
            gradient = np.empty(self.shape)
            return _kernels.softmax_pass(*self._block(rows, weights), gradient, probabilities[rows]), gradient

        losses, gradients = zip(*self.rows.over(of_block, self.n_classes), strict=True)
        return math.fsum(losses), self.held(np.asarray(sum(gradients))), probabilities

    @cached_property
    def tiles(self) -> Any:
        """The rows in single precision, as `_kernels.softmax_roughly_along` takes them."""
        matrix = self.rows.matrix
        tiles = np.empty(_kernels.shape_of_tiles(*matrix.shape), dtype=np.float32)

        def of_block(rows: slice) -> None:
            _kernels.fill_tiles(matrix[rows], self.rows.centre, self.inverse_unit, _tiles_of(tiles, rows))

        self.rows.over(of_block, self.n_classes)
        return tiles

    def along(self, direction: FloatArray, probabilities: FloatArray, *, roughly: bool = False) -> FloatArray:
        """(n_classes, n) the Hessian times a direction; roughly is in single precision."""
        tiles = self.tiles if roughly else None

        def of_block(rows: slice) -> FloatArray:
            product = np.empty(self.shape)
            beside = (direction, probabilities[rows], self.rows.weights_of(rows), product)
            if tiles is not None:
                _kernels.softmax_roughly_along(_tiles_of(tiles, rows), *beside)
            else:
                _kernels.softmax_along(self.rows.matrix[rows], self.rows.centre, self.inverse_unit, *beside)
            return product

        return self.held(np.asarray(sum(self.rows.over(of_block, self.n_classes))))

    def scores_of_vectors(self, weights: FloatArray) -> FloatArray:
        return np.column_stack([self.rows.scores(each) for each in weights])

    def separates(self, weights: FloatArray) -> bool:
        """Whether every row has its own class strictly first; a thousand rows are checked before all of them."""
        few = self.every(max(1, self.rows.n_rows // 1_000))
        return few.share_first(weights) == 1.0 and super().separates(weights)


def _tiles_of(tiles: Any, rows: slice) -> Any:
    """The tiles of a block of rows: a block begins with a tile, and its last one is filled up with zeros."""
    n_rows, _ = _kernels.shape_of_tiles(rows.stop - rows.start, 0)
    return tiles[rows.start : rows.start + n_rows]


ROUNDING = 1e-6  # of a margin, for rows and directions of length 1
FLAT = 1e-3  # the curvature for each row of weight 1, below which a direction is checked
NAMED = 3  # columns


def refuse_separated(features: Features, loss: SoftmaxLoss, point: Point) -> None:
    """`FitError` that names what separates the classes."""
    direction = separating_direction(loss, point)
    if direction is None:
        return
    alone = [k for k in range(len(features.names)) if _separates_alone(loss, k)]
    size = np.abs(direction[:, :-1]).max(axis=0)
    together = [int(k) for k in np.argsort(-size) if size[k] > 1e-3 * size.max(initial=0.0)]
    names = [_shown(features, k) for k in (alone or together)]
    how = "each by itself " if alone and len(names) > 1 else "together " if len(names) > 1 else ""
    raise FitError(
        f"without a prior the weights diverge: {listed(names, NAMED)} {how}separate{'s' * (len(names) == 1)} "
        "the classes",
        fix="choose prior='gaussian' (--prior gaussian), which keeps them finite, or leave these columns out",
    )


def separating_direction(loss: SoftmaxLoss, point: Point) -> FloatArray | None:
    """(n_vectors, n) a direction that separates the classes, for weights at which the gradient is nearly 0."""
    values, vectors = np.linalg.eigh(point.hessian)
    flat = vectors[:, values <= FLAT * loss.rows.total_weight]
    if not flat.shape[1]:
        return None
    margins = np.unique(_margins(loss, flat), axis=0)  # (n_pairs, n_flat)
    length = np.linalg.norm(margins, axis=1)
    margins = margins[length > ROUNDING] / length[length > ROUNDING, None]
    if not len(margins):
        return None
    from scipy.optimize import linprog  # late: it takes longer to import than a small table

    found = linprog(
        -margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(margins)), bounds=(-1.0, 1.0), method="highs"
    )
    if found.status != 0:
        return None
    ahead = margins @ found.x
    if ahead.min() < -ROUNDING or ahead.max() <= 1e3 * ROUNDING:
        return None
    return np.asarray(flat @ found.x).reshape(loss.shape)


def _margins(loss: SoftmaxLoss, directions: FloatArray) -> FloatArray:
    """(n_rows (n_classes - 1), n_directions) how much a step along each direction helps each row's own class."""
    columns = []
    for k in range(directions.shape[1]):
        scores = loss.scores(np.ascontiguousarray(directions[:, k]))  # (n_rows, n_classes)
        own = np.take_along_axis(scores, loss.targets[:, None].astype(np.int64), axis=1)
        others = np.arange(loss.n_classes)[None, :] != loss.targets[:, None]
        columns.append((own - scores)[others])
    return np.column_stack(columns)


def _separates_alone(loss: SoftmaxLoss, column: int) -> bool:
    """Whether one class lies on one side of all others in this column."""
    values = loss.rows.matrix[:, column]
    if values.min() == values.max():
        return False
    for state in range(loss.n_classes if loss.n_classes > 2 else 1):
        inside, outside = values[loss.targets == state], values[loss.targets != state]
        if inside.max() <= outside.min() or outside.max() <= inside.min():
            return True
    return False


def _shown(features: Features, k: int) -> str:
    column, level = features.names[k]
    return repr(column) if level is None else f"{column!r} = {level!r}"
