"""How uncertain posteriors are: the largest score is asked first (arg max, also of the entropy); how alike rows are.

Rows are alike by exp(-distance^2 / 2) over all columns, 1 for equal rows. Numbers differ by standard deviations of the
pool, categories by 1 where the levels differ, texts by the angle between their words; the sum of squares is divided by
the number of columns, so that a few or many columns are the same scale.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.acquisition.pool import Parts
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.special import xlogy
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.tables.batch import Batch


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


REFERENCES = 256
_BLOCK_CELLS = 1 << 22


class Likeness:
    """The likeness of rows of one pool.

    >>> batch = Batch(3, np.array([[0.0], [0.0], [2.0]]), np.empty((3, 0), dtype=np.int32))
    >>> Likeness(batch).between(np.arange(3), np.array([0]))[:, 0].round(3).tolist()
    [1.0, 1.0, 0.105]
    """

    def __init__(self, batch: Batch, seed: int = 0) -> None:
        self._batch = batch
        self._seed = seed

    @cached_property
    def _numbers(self) -> FloatArray:
        """(n_rows, n_numbers) in standard deviations; a missing cell is average."""
        values = self._batch.values
        present = ~np.isnan(values)
        weight = np.maximum(present.sum(axis=0), 1)
        size = np.max(np.abs(np.where(present, values, 0.0)), axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)  # squares of huge numbers stay in range
        scaled = np.where(present, values / size, 0.0)
        mean = scaled.sum(axis=0) / weight
        gap = np.where(present, scaled - mean, 0.0)
        stddev = np.sqrt((gap**2).sum(axis=0) / weight)
        return np.asarray(gap / np.where(stddev > 0, stddev, 1.0))

    @cached_property
    def _texts(self) -> list[Any]:
        """Word counts with rows of length 1."""
        return [_unit_rows(block.counts) for block in self._batch.texts]

    def between(self, rows: IntArray, others: IntArray) -> FloatArray:
        """(n_rows, n_others)."""
        mine, theirs = self._numbers[rows], self._numbers[others]
        square = (mine**2).sum(axis=1)[:, None] + (theirs**2).sum(axis=1) - 2.0 * (mine @ theirs.T)
        np.maximum(square, 0.0, out=square)
        codes = self._batch.codes
        for c in range(codes.shape[1]):
            square += codes[rows, c][:, None] != codes[others, c]
        for unit in self._texts:
            square += 2.0 - 2.0 * (unit[rows] @ unit[others].T).toarray()
        n_columns = mine.shape[1] + codes.shape[1] + len(self._texts)
        return np.asarray(np.exp(square / (-2.0 * max(n_columns, 1))))

    @cached_property
    def density(self) -> FloatArray:
        """(n_rows,) the mean likeness of each row to 256 rows drawn from the pool, or to all of a smaller one."""
        n_rows = self._batch.n_rows
        others = np.arange(n_rows)
        if n_rows > REFERENCES:
            others = np.sort(np.random.default_rng(self._seed).choice(n_rows, REFERENCES, replace=False))
        step = max(1, _BLOCK_CELLS // len(others))
        parts = [
            self.between(np.arange(start, min(start + step, n_rows)), others).mean(axis=1)
            for start in range(0, n_rows, step)
        ]
        return np.concatenate(parts)


def _unit_rows(counts: Any) -> Any:
    length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return counts.multiply((1.0 / np.where(length > 0, length, 1.0))[:, None]).tocsr()


def diverse(scores: FloatArray, rows: IntArray, n: int, likeness: Likeness) -> list[int]:
    """n positions of large scores, best first; a score falls to (1 - likeness) of itself beside a row that was chosen.

    >>> batch = Batch(3, np.array([[0.0], [0.0], [2.0]]), np.empty((3, 0), dtype=np.int32))
    >>> diverse(np.array([0.9, 0.9, 0.5]), np.arange(3), 2, Likeness(batch))
    [0, 2]
    """
    left = scores.astype(np.float64).copy()
    chosen: list[int] = []
    for _ in range(min(n, len(rows))):
        best = int(np.argmax(left))
        chosen.append(best)
        unlike = 1.0 - likeness.between(rows, rows[[best]])[:, 0]
        np.multiply(left, unlike, out=left, where=left > 0)
        left[chosen] = -np.inf
    return chosen


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
        """(n_rows,) and a number: their sum is not below the log odds of any open row. None where that says too little.

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
        """Sum up anew what is stale, and bound the log odds, part by part."""
        columns, log_states, upper = self._columns, self._log_states, self._upper

        def work(rows: slice) -> None:
            for k in stale:
                _kernels.rough_normal(log_states[k, rows], columns[:, rows], mean[k], rate[k], log_peak[k])
            _kernels.upper_log_odds(upper[rows], log_states[:, rows], log_prior, is_open[rows], self._error)

        self._in_parts(work)
