"""The lasso on moments: min over v of v'Rv / 2 - c . v + sum of penalty |v|, by coordinate descent, then exactly."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray

MOST_ROUNDS = 2_000


def sparse_minimum(
    matrix: FloatArray, moment: FloatArray, penalty: FloatArray, start: FloatArray | None = None
) -> FloatArray:
    """The weights of least penalised squares; a penalty of 0 leaves a weight free.

    With R = I each weight is the moment, shrunk by the penalty towards 0:

    >>> sparse_minimum(np.eye(2), np.array([3.0, 0.5]), np.array([1.0, 1.0])).tolist()
    [2.0, 0.0]
    """
    v = np.zeros(len(moment)) if start is None else start.copy()
    diagonal = np.diag(matrix)
    usable = np.flatnonzero(diagonal > 0)
    v[diagonal <= 0] = 0.0
    slope = moment - matrix @ v  # what each coordinate could still gain
    good = 1e-13 * float(np.abs(moment).max(initial=0.0))
    for k in range(1, MOST_ROUNDS + 1):
        change = _one_round(matrix, diagonal, penalty, usable, v, slope)
        if change <= 1e-9 * max(float(np.abs(v).max(initial=0.0)), 1e-300):
            break
        if k % 8 == 0:  # signs settle long before sizes do
            solved = _finished(matrix, moment, penalty, v)
            if violation(matrix, moment, penalty, solved) <= good:
                return solved
    return _finished(matrix, moment, penalty, v)


def _one_round(
    matrix: FloatArray, diagonal: FloatArray, penalty: FloatArray, usable: IntArray, v: FloatArray, slope: FloatArray
) -> float:
    largest = 0.0
    for j in usable:
        target = slope[j] + diagonal[j] * v[j]
        new = np.sign(target) * max(abs(target) - penalty[j], 0.0) / diagonal[j]
        change = new - v[j]
        if change != 0.0:
            slope -= matrix[:, j] * change
            v[j] = new
            largest = max(largest, abs(float(change)))
    return largest


def _finished(matrix: FloatArray, moment: FloatArray, penalty: FloatArray, v: FloatArray) -> FloatArray:
    """With the signs known the rest is linear: solve it, and keep the answer if it meets the conditions."""
    active = np.flatnonzero(v)
    if not len(active):
        return v
    try:
        factor = cho_factor(matrix[np.ix_(active, active)], lower=True)
    except LinAlgError:
        return v
    solved = np.zeros_like(v)
    solved[active] = cho_solve(factor, moment[active] - penalty[active] * np.sign(v[active]))
    same_signs = bool(np.all(np.sign(solved[active]) == np.sign(v[active])))
    better = violation(matrix, moment, penalty, solved) <= violation(matrix, moment, penalty, v)
    return solved if same_signs and better else v


def violation(matrix: FloatArray, moment: FloatArray, penalty: FloatArray, v: FloatArray) -> float:
    """How far v is from the conditions of a minimum: the largest subgradient of least size."""
    return float(np.abs(subgradient(matrix @ v - moment, penalty, v)).max(initial=0.0))


def subgradient(gradient: FloatArray, penalty: FloatArray, v: FloatArray) -> FloatArray:
    """The subgradient of least size of a smooth function with that gradient, plus the penalised absolute values."""
    at_zero: BoolArray = v == 0
    inside = np.sign(gradient) * np.maximum(np.abs(gradient) - penalty, 0.0)
    return np.where(at_zero, inside, gradient + penalty * np.sign(v))
