"""Newton's method for many classes and columns, where the Hessian is applied but never written down.

Each step is found by conjugate gradients, to one or a few digits: single precision is enough for their products with
the Hessian, while loss and gradient, which the certificate is about, are in double precision. They are preconditioned
by the Hessian of rows that all have the same probabilities, S x X'X with S = mean of diag(p) - p p', whose inverse is
two rotations; where that is too far from the truth, by the Hessian of a few rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.special import cho_factor, cho_solve
from bayeswise.foundation.threads import algebra_on_one_thread
from bayeswise.models.regression.solving.newton import EPSILON, Certificate, Penalty
from bayeswise.models.regression.solving.softmax import ClassLoss, SoftmaxLoss

Operator = Callable[[FloatArray], FloatArray]
PATIENCE = 10  # products with the Hessian in one step, before a better preconditioner is made
MOST_DENSE = 4_000  # weights
MANY_ROWS, FEW_ROWS = 40_000, 10_000
SINGLE_PRECISION = (1e-6, 1e6)  # standard deviations whose squares and products a float32 holds with room to spare
MOST_COPIED = 250_000_000  # cells that are kept in single precision, too: 1 GB


L = TypeVar("L", bound=ClassLoss[Any])


@dataclass(frozen=True)
class State:
    """The loss and its slopes at some weights."""

    weights: FloatArray  # (m,)
    loss: float
    slopes: FloatArray  # (n_classes, n)
    probabilities: FloatArray  # (n_rows, n_classes)


@algebra_on_one_thread()
def minimise_softmax(
    loss: SoftmaxLoss, penalty: Penalty, start: FloatArray, *, tolerance: float, most_iterations: int
) -> tuple[FloatArray, Certificate]:
    """The flattened weights of least loss + penalty; begun on a part of the rows where there are many.

    What is solved between two sweeps over the rows is small: a thread of BLAS that waits for the next of it would take
    a core from the sweeps.
    """
    products = loss.rows.products(loss.rows.by)[:-1, :-1]
    values, vectors = np.linalg.eigh(products)
    spreads = np.sqrt(np.diag(products) / loss.rows.total_weight)
    fits = (spreads >= SINGLE_PRECISION[0]) & (spreads <= SINGLE_PRECISION[1])
    roughly = loss.rows.matrix.size <= MOST_COPIED and bool(np.all(fits | (spreads == 0.0)))
    if loss.rows.n_rows >= MANY_ROWS:
        step = loss.rows.n_rows // FEW_ROWS
        lighter = Penalty(penalty.kind, penalty.scale * np.sqrt(step), penalty.free, penalty.df)
        start, _ = _DenseSearch(loss.every(step), lighter, values / step, vectors, roughly).run(
            start, 3e-3, most_iterations
        )
    return _DenseSearch(loss, penalty, values, vectors, roughly).run(start, tolerance, most_iterations)


class Search(ABC, Generic[L]):
    """Steps that descend, until the gradient is as small as it should be."""

    def __init__(self, loss: L, penalty: Penalty) -> None:
        self.loss, self.penalty = loss, penalty
        self.total: float = loss.rows.total_weight

    @abstractmethod
    def _step(self, state: State, gradient: FloatArray, norm: float, tolerance: float) -> FloatArray:
        """(m,) a direction of descent, of the length of Newton's step."""

    def run(self, start: FloatArray, tolerance: float, most_iterations: int) -> tuple[FloatArray, Certificate]:
        state, iterations = self._at(start), 0
        while True:
            gradient = state.slopes.ravel() + self.penalty.gradient(state.weights)
            norm = float(np.abs(gradient).max()) / self.total
            if norm <= tolerance or iterations >= most_iterations:
                break
            iterations += 1
            found = self._descended(state, gradient, self._step(state, gradient, norm, tolerance))
            if found is None:
                break
            state = found
        return state.weights, Certificate(norm, iterations, norm <= tolerance, tolerance)

    def _at(self, weights: FloatArray) -> State:
        return State(weights, *self.loss.slopes(weights.reshape(self.loss.shape)))

    def _descended(self, state: State, gradient: FloatArray, step: FloatArray) -> State | None:
        here = state.loss + self.penalty.value(state.weights)
        slope, length = float(gradient @ step), 1.0
        for _ in range(40):
            ahead = self._at(state.weights + length * step)
            change = ahead.loss + self.penalty.value(ahead.weights) - here
            if change <= 1e-4 * length * slope or abs(change) <= 16.0 * EPSILON * max(abs(here), 1.0):
                return ahead
            length *= 0.5
        return None


class _DenseSearch(Search[SoftmaxLoss]):
    def __init__(
        self, loss: SoftmaxLoss, penalty: Penalty, values: FloatArray, vectors: FloatArray, roughly: bool
    ) -> None:
        super().__init__(loss, penalty)
        self.roughly = roughly
        self.by = loss.rows.by
        self.values, self.vectors = values, vectors  # of X'X
        self.dense: Operator | None = None
        self.norm_before = 0.0

    def _step(self, state: State, gradient: FloatArray, norm: float, tolerance: float) -> FloatArray:
        bent = self.penalty.curvature(state.weights)
        forcing = self._forcing(norm, tolerance)

        def curved(v: FloatArray) -> FloatArray:
            along = self.loss.along(v.reshape(self.loss.shape), state.probabilities, roughly=self.roughly)
            return along.ravel() + bent * v

        if self.dense is not None:
            return conjugate_gradients(curved, self.dense, -gradient, forcing, 250)[0]
        step, reached = conjugate_gradients(curved, self._alike(state, bent), -gradient, forcing, PATIENCE)
        if not reached and len(bent) <= MOST_DENSE:
            self.dense = self._of_few(state, bent)
        return step

    def _forcing(self, norm: float, tolerance: float) -> float:
        """The share of the gradient that a step may leave; the last step goes to the tolerance at once.

        Newton's step squares what is left: this one leaves about (norm / norm before)^2 of the gradient at best.
        """
        before, self.norm_before = self.norm_before, norm
        to_the_end = 0.3 * tolerance / norm
        is_last = norm**3 <= tolerance * before**2
        return to_the_end if is_last else max(min(0.1, math.sqrt(norm)), to_the_end)

    # -- preconditioners ----------------------------------------------------------------------------------------
    def _alike(self, state: State, bent: FloatArray) -> Operator:
        """As if every row had the mean of diag(p) - p p'."""
        p = state.probabilities
        weighted = self.by[:, None] * p if len(self.loss.rows.weights) else p
        shares = self.by @ p / self.total
        spread, classes = np.linalg.eigh(np.diag(shares) - weighted.T @ p / self.total)
        spread = np.maximum(spread, 0.0)
        prior = float(bent[~self.penalty.free].mean())
        below = spread[:, None] * self.values + prior + 1e-12 * self.total
        moves = spread > 1e-10 * spread.max()  # a shift of all intercepts changes nothing
        intercepts = np.where(moves, 1.0 / np.where(moves, spread * self.total, 1.0), 0.0)

        def precondition(v: FloatArray) -> FloatArray:
            turned = classes.T @ v.reshape(self.loss.shape)
            inside = (turned[:, :-1] @ self.vectors) / below @ self.vectors.T
            return np.asarray((classes @ np.column_stack([inside, turned[:, -1] * intercepts])).ravel())

        return precondition

    def _of_few(self, state: State, bent: FloatArray) -> Operator:
        """The Hessian of every k-th row, four times as many as weights."""
        step = max(1, self.loss.rows.n_rows // (4 * len(bent)))
        few = self.loss.every(step)
        hessian = few.hessian_at(state.probabilities[::step], self.by[::step]) * step
        factor = cho_factor(hessian + np.diag(bent + 1e-9 * np.diag(hessian)), lower=True)
        return lambda v: np.asarray(cho_solve(factor, v))


def conjugate_gradients(
    curved: Operator, precondition: Operator, right: FloatArray, forcing: float, patience: int
) -> tuple[FloatArray, bool]:
    """x with |A x - right| <= forcing |right|, and whether it was reached in `patience` products."""
    x = np.zeros_like(right)
    left = right.copy()
    turned = precondition(left)
    direction, power = turned.copy(), float(left @ turned)
    goal = forcing * float(np.abs(right).max())
    for _ in range(patience):
        product = curved(direction)
        bend = float(direction @ product)
        if bend <= 0.0:
            break
        x += (power / bend) * direction
        left -= (power / bend) * product
        if float(np.abs(left).max()) <= goal:
            return x, True
        turned = precondition(left)
        fresh = float(left @ turned)
        direction = turned + (fresh / power) * direction
        power = fresh
    return (x if x.any() else turned), False
