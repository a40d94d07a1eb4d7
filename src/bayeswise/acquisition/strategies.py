"""How uncertain posteriors are: the largest score is asked first (arg max, also of the entropy)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import xlogy

from bayeswise.foundation.arrays import FloatArray


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
