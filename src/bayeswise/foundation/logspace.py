"""Sums and logarithms of probabilities without leaving log space; zero has the logarithm minus infinity."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import FloatArray


def log(probability: ArrayLike) -> FloatArray:
    """The natural logarithm, with log 0 = -inf and no warning.

    >>> log([0.0, 1.0]).tolist()
    [-inf, 0.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(probability, dtype=np.float64)))


def log_sum_exp(log_terms: FloatArray, axis: int = -1) -> FloatArray:
    """log of a sum of exponentials: max + log sum exp(t - max); minus infinity if all terms are.

    >>> round(float(log_sum_exp(np.array([-1000.0, -1000.0]))) + 1000.0, 6)
    0.693147
    """
    log_top = np.max(log_terms, axis=axis, keepdims=True)
    log_shift = np.where(np.isfinite(log_top), log_top, 0.0)
    with np.errstate(divide="ignore"):
        log_total = np.log(np.sum(np.exp(log_terms - log_shift), axis=axis, keepdims=True))
    return np.asarray(np.squeeze(log_total + log_shift, axis=axis))
