"""Logistic regression of more columns than a Hessian of all of them has room for: wide tables, and sparse ones (text).

Loss and gradient are sums over rows. Under a gaussian or student-t prior Newton's steps are found by conjugate
gradients, preconditioned by the diagonal of the Hessian. Under a laplace prior most weights are 0: the Hessian of the
columns that are not is written down, and columns join them until the gradient says that no other one belongs to them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import TooLargeError
from bayeswise.models.regression.row_blocks import NO_WEIGHTS, Rows
from bayeswise.models.regression.solving.conjugate_gradients import Search, State, conjugate_gradients
from bayeswise.models.regression.solving.folds import SCALES, least_loss
from bayeswise.models.regression.solving.newton import Certificate, Penalty, minimise
from bayeswise.models.regression.solving.normal_equations import subgradient
from bayeswise.models.regression.solving.softmax import ClassLoss, SoftmaxLoss
from bayeswise.models.settings.regression import LogisticSettings
from bayeswise.posteriors.normalise import log_posterior

MOST_PRODUCTS = 500  # with the Hessian in one step
FEWEST_JOINING = 50  # columns
MOST_WEIGHTS = 4_000  # other than 0, under a laplace prior: their Hessian and its factors take 0.5 GB


class WideRows(ABC):
    """z = (x - centre) / unit for each row, followed by a one for the intercept."""

    cells: Any  # (n_rows, n) z, or what z is made of
    weights: FloatArray  # (n_rows,)
    centre: FloatArray  # (n,)
    unit: FloatArray  # (n,)

    @property
    def n_rows(self) -> int:
        return int(self.cells.shape[0])

    @property
    def n_columns(self) -> int:
        """With the intercept."""
        return int(self.cells.shape[1]) + 1

    @cached_property
    def total_weight(self) -> float:
        return math.fsum(self.weights)

    @abstractmethod
    def scores(self, weights: FloatArray) -> FloatArray:
        """(n_rows, n_vectors) weights . z."""

    @abstractmethod
    def moment(self, amounts: FloatArray) -> FloatArray:
        """(n_vectors, n) the sum over rows of amount z."""

    @abstractmethod
    def square_moment(self, amounts: FloatArray) -> FloatArray:
        """(n_vectors, n) the sum over rows of amount z^2."""

    def some(self, columns: IntArray) -> Rows:
        """Some columns, written out."""
        by = NO_WEIGHTS if np.all(self.weights == 1.0) else self.weights
        matrix, centre = self._written_out(columns)
        return Rows(matrix, by, centre, np.ones(len(columns)))

    @abstractmethod
    def _written_out(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """(n_rows, n_chosen) and (n_chosen,): some columns, and what is subtracted from each."""


@dataclass(frozen=True)
class WrittenOut(WideRows):
    """The rows of a wide table."""

    cells: FloatArray  # (n_rows, n) z
    weights: FloatArray  # (n_rows,)
    centre: FloatArray  # (n,)
    unit: FloatArray  # (n,)

    @classmethod
    def of(cls, rows: Rows) -> WrittenOut:
        return cls(np.asarray((rows.matrix - rows.centre) / rows.unit), rows.by, rows.centre, rows.unit)

    def scores(self, weights: FloatArray) -> FloatArray:
        return np.asarray(self.cells @ weights[:, :-1].T + weights[:, -1])

    def moment(self, amounts: FloatArray) -> FloatArray:
        return np.column_stack([amounts.T @ self.cells, amounts.sum(axis=0)])

    def square_moment(self, amounts: FloatArray) -> FloatArray:
        return np.column_stack([amounts.T @ np.square(self.cells), amounts.sum(axis=0)])

    def _written_out(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        return np.ascontiguousarray(self.cells[:, columns]), np.zeros(len(columns))


@dataclass(frozen=True)
class ManyColumnsLoss(ClassLoss[WideRows]):
    """The loss of rows whose Hessian is never written down."""

    def scores_of_vectors(self, weights: FloatArray) -> FloatArray:
        return self.rows.scores(weights)

    def slopes(self, weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Loss, gradient (n_vectors, n) and probabilities (n_rows, n_classes)."""
        log_p = log_posterior(self.scores(weights))
        at = np.arange(self.rows.n_rows)
        probabilities = np.exp(log_p)
        over = probabilities.copy()
        over[at, self.targets] -= 1.0
        gradient = self.rows.moment(self._of_vectors(over) * self.rows.weights[:, None])
        loss = -float(np.sum(self.rows.weights * log_p[at, self.targets]))
        return loss, self.held(gradient), probabilities

    def along(self, direction: FloatArray, probabilities: FloatArray) -> FloatArray:
        """(n_vectors, n) the Hessian times a direction."""
        moved = self.rows.scores(direction)  # (n_rows, n_vectors)
        p = self._of_vectors(probabilities)
        mean = p * moved if self.n_vectors == 1 else (p * moved).sum(axis=1, keepdims=True)
        return self.held(self.rows.moment(p * (moved - mean) * self.rows.weights[:, None]))

    def diagonal(self, probabilities: FloatArray) -> FloatArray:
        """(n_vectors, n) the diagonal of the Hessian."""
        p = self._of_vectors(probabilities)
        return self.held(self.rows.square_moment(p * (1.0 - p) * self.rows.weights[:, None]))

    def _of_vectors(self, of_classes: FloatArray) -> FloatArray:
        return of_classes[:, 1:] if self.n_vectors == 1 else of_classes


# -- the most probable weights --------------------------------------------------------------------------------


def most_probable_of_many(
    loss: ManyColumnsLoss,
    settings: LogisticSettings,
    scale: float,
    start: FloatArray,
    tolerance: float | None = None,
    most_iterations: int | None = None,
) -> tuple[FloatArray, Certificate]:
    """The flattened weights of largest posterior."""
    tolerance = settings.tol if tolerance is None else tolerance
    most = settings.max_iter if most_iterations is None else most_iterations
    penalty = Penalty(settings.prior, scale, loss.is_intercept, settings.df)
    if settings.prior == "laplace":
        return _with_few_weights(loss, penalty, start, tolerance, most)
    return _DiagonalSearch(loss, penalty).run(start, tolerance, most)


def _with_few_weights(
    loss: ManyColumnsLoss, penalty: Penalty, start: FloatArray, tolerance: float, most_iterations: int
) -> tuple[FloatArray, Certificate]:
    """Newton's method on the columns that have weights, which those join whose gradient is beyond the penalty."""
    weights = start.reshape(loss.shape).copy()
    total, iterations = loss.rows.total_weight, 0
    chosen = np.flatnonzero(weights[:, :-1].any(axis=0))
    while True:
        gradient = loss.slopes(weights)[1].ravel()
        left = np.abs(subgradient(gradient, penalty.absolute, weights.ravel())).reshape(loss.shape)
        norm = float(left.max(initial=0.0)) / total
        beyond = left[:, :-1].max(axis=0)
        beyond[chosen] = 0.0
        joining = np.flatnonzero(beyond > tolerance * total)
        if norm <= tolerance or iterations >= most_iterations or (iterations and not len(joining)):
            return weights.ravel(), Certificate(norm, iterations, norm <= tolerance, tolerance)
        chosen = np.flatnonzero(weights[:, :-1].any(axis=0))  # those that were left without a weight may join again
        largest = np.argsort(-beyond[joining], kind="stable")[: max(FEWEST_JOINING, len(chosen))]
        chosen = np.union1d(chosen, joining[largest])
        found, steps = _on_columns(loss, penalty, weights, chosen, 0.5 * tolerance, most_iterations)
        iterations += max(steps, 1)
        weights[:, :-1] = 0.0
        weights[:, chosen], weights[:, -1] = found[:, :-1], found[:, -1]


def _on_columns(
    loss: ManyColumnsLoss, penalty: Penalty, weights: FloatArray, columns: IntArray, tolerance: float, most: int
) -> tuple[FloatArray, int]:
    """(n_vectors, n_chosen + 1) the best weights if all other columns have none, and the iterations they took."""
    if loss.n_vectors * len(columns) > MOST_WEIGHTS:
        raise TooLargeError(
            f"under a laplace prior of scale {penalty.scale:g} more than {MOST_WEIGHTS:,} weights of "
            f"{loss.rows.n_columns - 1:,} columns may differ from 0, too many to fit",
            fix="choose a smaller scale, which leaves fewer weights, or prior='gaussian'",
        )
    few = SoftmaxLoss(loss.rows.some(columns), loss.targets, loss.n_classes, loss.intercept)
    own = Penalty(penalty.kind, penalty.scale, few.is_intercept, penalty.df)
    start = np.column_stack([weights[:, columns], weights[:, -1]]).ravel()
    point, certificate = minimise(few, own, start, tolerance=tolerance, most_iterations=most)
    return point.weights.reshape(few.shape), certificate.iterations


def scale_of_many_by_folds(
    loss: ManyColumnsLoss,
    settings: LogisticSettings,
    folds: FloatArray,
    rows_of: Callable[[FloatArray], WideRows],
) -> float:
    """The scale of least held-out loss, out of a grid; `rows_of` standardises the rows by the weights that are kept."""

    def losses(kept: FloatArray, out: FloatArray) -> FloatArray:
        without = ManyColumnsLoss(rows_of(kept), loss.targets, loss.n_classes, loss.intercept)
        return without.left_out_losses(
            out, SCALES, lambda scale, start: most_probable_of_many(without, settings, scale, start)[0]
        )

    return least_loss(folds, loss.rows.weights, SCALES, losses)


class _DiagonalSearch(Search[ManyColumnsLoss]):
    """Conjugate gradients in units in which the Hessian has ones on its diagonal."""

    def _step(self, state: State, gradient: FloatArray, norm: float, tolerance: float) -> FloatArray:
        bent = self.penalty.curvature(state.weights)
        diagonal = self.loss.diagonal(state.probabilities).ravel() + bent
        inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)

        def curved(v: FloatArray) -> FloatArray:
            return self.loss.along(v.reshape(self.loss.shape), state.probabilities).ravel() + bent * v

        forcing = min(0.1, float(np.sqrt(norm)))
        return conjugate_gradients(curved, lambda v: inverse * v, -gradient, forcing, MOST_PRODUCTS)[0]
