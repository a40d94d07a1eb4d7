"""How alike rows are: by exp(-distance^2 / 2) over all columns, 1 for equal rows; and rows of a query that differ.

Numbers differ by standard deviations of the pool, categories by 1 where the levels differ, texts by the angle between
their words; the sum of squares is divided by the number of columns, so that a few or many columns are the same scale.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.tables.batch import Batch

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
