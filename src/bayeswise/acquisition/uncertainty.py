"""How uncertain posteriors are: the largest score is queried first (arg max, also of the entropy).

All rows of a pool are seen in single precision first, from above; only those that may be the most uncertain are scored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.acquisition.pool import Parts
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.special import xlogy
from bayeswise.models.naive_bayes.normal_columns import NormalScores


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


_SHARP = 0.05  # log odds that may be wrong by more leave too many rows to look at
_ROUNDING = 1e-5  # of a number that the bounds, which are in single precision, are compared with


class Screen:
    """The log odds of the two most probable states of each row, seen from above: by sums in single precision.

    That is half the memory of a sweep in double precision. Numbers are taken as u = (x - centre) / scale of the pool,
    and so are the means and precisions of a state. Its log joint j = log prior + sum of (log peak - z^2 / 2),
    z = (u - mean) precision, is then found with an error of at most

        error (|j| + size),     error = 2^-22 (n_columns + 12)
                                size = |log prior| + sum of (3/2 |log peak| + 2 (mean precision)^2).

    For z carries four roundings of numbers up to a = (|u| + |mean|) precision <= |z| + 2 |mean| precision, its term a
    few more, and each sum one for each column: 1.02 (n_columns + 12) roundings of

        sum of (a^2 / 2 + |log peak|) <= 2 (|j| + size).

    A rounding is 2^-24, so that 2^-22 is about twice what is needed; the rest is for the arithmetic of the bound.
    """

    def __init__(self, values: FloatArray, n_states: int, in_parts: Parts) -> None:
        n_rows, n_columns = values.shape
        self._centre, self._scale = np.zeros(n_columns), np.ones(n_columns)
        self._columns = np.empty((n_columns, n_rows), dtype=np.float32)
        for c in range(n_columns):
            cells = values[~np.isnan(values[:, c]), c]
            if len(cells) and cells.std() > 0:
                self._centre[c], self._scale[c] = cells.mean(), cells.std()
            self._columns[c] = (values[:, c] - self._centre[c]) / self._scale[c]
        self._log_states = np.empty((n_states, n_rows), dtype=np.float32)
        self._upper = np.empty(n_rows, dtype=np.float32)
        self._error = 2.0**-22 * (n_columns + 12)
        self._in_parts = in_parts
        self.stale: set[int] = set(range(n_states))  # whose sums are not those of the latest scores

    def upper_log_odds(
        self, scores: NormalScores, log_prior: FloatArray, is_open: BoolArray
    ) -> tuple[NDArray[np.float32], float] | None:
        """(n_rows,) and a number: their sum is not below the log odds of any open row. None where that is too loose.

        -inf for rows that are not open, inf for rows that single precision has no room for.
        """
        if not scores.is_ordinary:
            return None
        p = scores.parameters
        mean = ((p.mean - self._centre) + p.mean_low) / self._scale  # (n_states, n_columns)
        precision = scores.precision * self._scale
        with np.errstate(over="ignore"):
            size = (1.5 * np.abs(scores.log_peak) + 2.0 * (mean * precision) ** 2).sum(axis=1)
        size += np.abs(log_prior, out=np.zeros(len(log_prior)), where=log_prior > -np.inf)
        blur = 2.0 * self._error * float(size.max()) + _ROUNDING
        if not blur < _SHARP:
            return None
        stale, self.stale = self.stale, set()
        self._sweep(stale, mean, precision * np.sqrt(0.5), scores.log_peak, log_prior, is_open)
        return self._upper, blur

    def _sweep(
        self,
        stale: set[int],
        mean: FloatArray,
        rate: FloatArray,
        log_peak: FloatArray,
        log_prior: FloatArray,
        is_open: BoolArray,
    ) -> None:
        """Recompute what is stale, and bound the log odds, part by part."""
        columns, log_states, upper = self._columns, self._log_states, self._upper

        def work(rows: slice) -> None:
            for k in stale:
                _kernels.rough_normal(log_states[k, rows], columns[:, rows], mean[k], rate[k], log_peak[k])
            _kernels.upper_log_odds(upper[rows], log_states[:, rows], log_prior, is_open[rows], self._error)

        self._in_parts(work)
