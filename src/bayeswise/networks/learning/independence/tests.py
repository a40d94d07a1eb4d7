"""Tests of independence of two columns given others: what a search by tests asks, and the G test of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.special import chdtrc
from bayeswise.networks.learning.rows import CodedRows, summed_weights

MOST_CELLS = 1 << 20
"""A test over more cells is not made: the columns count as dependent there."""


class IndependenceTest(Protocol):
    """What a search asks: how surprising the rows are if two columns are independent given others."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """The probability of as large a dependence by chance; 0 where no test can be made."""


class GTest:
    """The G test: 2 sum n log(n n_z / n_xz n_yz), a chi-square variable if x and y are independent given z.

    A margin without rows takes no degree of freedom.

    >>> rows = CodedRows.of({"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "c": [0, 1, 1, 0] * 9})
    >>> test = GTest(rows)
    >>> test.p_value(0, 1, ()), test.p_value(0, 1, (2,)) < 1e-6
    (1.0, True)
    """

    def __init__(self, rows: CodedRows) -> None:
        self.names = rows.names
        self._columns = [np.ascontiguousarray(column, dtype=np.int64) for column in rows.complete().codes.T]
        self._n_rows, self._sizes, self._weights = len(rows.codes), rows.sizes, rows.weights

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """The probability of as large a dependence by chance."""
        sizes = [self._sizes[x], self._sizes[y]]
        which, n_cases = self._cases(given)
        if n_cases * math.prod(sizes) > MOST_CELLS:
            return 0.0
        cell = (which * sizes[0] + self._columns[x]) * sizes[1] + self._columns[y]
        n = summed_weights(cell, n_cases * math.prod(sizes), self._weights).reshape(n_cases, *sizes)
        of_x, of_y, of_z = n.sum(axis=2, keepdims=True), n.sum(axis=1, keepdims=True), n.sum(axis=(1, 2), keepdims=True)
        df = ((of_x > 0).sum(axis=1) - 1).clip(0) * ((of_y > 0).sum(axis=2) - 1).clip(0)
        if not df.any():
            return 1.0
        return float(chdtrc(float(df.sum()), max(0.0, 2.0 * _information(n, of_x, of_y, of_z))))

    def _cases(self, given: Sequence[int]) -> tuple[IntArray, int]:
        """The configuration of the given columns in each row; where these are many, only those that occur."""
        which = np.zeros(self._n_rows, dtype=np.int64)
        for column in given:
            which = which * self._sizes[column] + self._columns[column]
        n_cases = math.prod(self._sizes[column] for column in given)
        if n_cases <= self._n_rows:
            return which, n_cases
        shown, which = np.unique(which, return_inverse=True)
        return np.asarray(which.ravel(), dtype=np.int64), len(shown)


def _information(n: FloatArray, of_x: FloatArray, of_y: FloatArray, of_z: FloatArray) -> float:
    """sum n log(n n_z / n_x n_y) over the cells that rows are in."""
    seen = n > 0
    ratio = np.divide(n * of_z, of_x * of_y, out=np.ones_like(n), where=seen)
    return math.fsum((n * np.log(ratio))[seen])
