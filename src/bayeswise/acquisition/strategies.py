"""How uncertain posteriors are: the largest score is asked first (arg max, also of the entropy).

All of them fall as the lead of the most probable state grows, which needs no exponential: the largest score of a
hundred thousand rows is found by looking at the few whose lead is small enough to have it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import xlogy

from bayeswise.foundation.arrays import FloatArray, IntArray


def entropy(posterior: FloatArray) -> FloatArray:
    """(n_rows,) -sum p log2 p, in bits.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    return np.asarray(-xlogy(posterior, posterior).sum(axis=1) / np.log(2.0)) + 0.0


def margin(posterior: FloatArray) -> FloatArray:
    """(n_rows,) 1 less the lead of the most probable state over the next.

    >>> margin(np.array([[0.5, 0.3, 0.2]])).round(12).tolist()
    [0.8]
    """
    if posterior.shape[1] < 2:
        return np.zeros(len(posterior))
    top = np.partition(posterior, -2, axis=1)
    return np.asarray(1.0 - (top[:, -1] - top[:, -2]))


def least_confident(posterior: FloatArray) -> FloatArray:
    """(n_rows,) 1 less the probability of the most probable state.

    >>> least_confident(np.array([[0.5, 0.3, 0.2]])).tolist()
    [0.5]
    """
    return np.asarray(1.0 - posterior.max(axis=1))


UNCERTAINTY: dict[str, Callable[[FloatArray], FloatArray]] = {
    "entropy": entropy,
    "margin": margin,
    "least confident": least_confident,
}


def may_be_best(lead: FloatArray, score: Callable[[FloatArray], FloatArray], least: float, n_states: int) -> IntArray:
    """The rows whose log odds between the first and the second state allow a score of at least so much.

    >>> may_be_best(np.array([0.1, 3.0, 0.1]), margin, least=0.9, n_states=2).tolist()
    [0, 2]
    """
    low, high = 0.0, 60.0
    if _highest(score, high, n_states) >= least:
        return np.arange(len(lead))
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _highest(score, middle, n_states) >= least else (low, middle)
    return np.flatnonzero(lead <= high * (1.0 + 1e-9) + 1e-12)


def _highest(score: Callable[[FloatArray], FloatArray], lead: float, n_states: int) -> float:
    """The score of the most uncertain posterior with this lead: all other states are equally probable."""
    share = np.full((1, n_states), np.exp(-lead))
    share[0, 0] = 1.0
    return float(score(share / share.sum())[0])
