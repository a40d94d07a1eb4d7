"""Graphs by tests of independence, for counts the G test.

PC-stable: no edge where two columns are independent given some neighbours; oriented by v-structures and Meek's rules.

Neighbours are fixed while sets of one size are tried (Colombo and Maathuis 2014), and whether a node is a collider is
decided by the separating set with the largest p-value (Ramsey 2016), so that the order of the columns does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.special import chdtrc
from bayeswise.networks.equivalence import EquivalenceClass
from bayeswise.networks.learning.coded_rows import CodedRows, summed_weights
from bayeswise.networks.learning.constraints import Constraints, Progress, Search, silent
from bayeswise.networks.learning.search.scores import MOST_CELLS


class IndependenceTest(Protocol):
    """The interface of a search: the p-value of the independence of two columns given others."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """The probability of as large a dependence by chance; 0 where no test can be made."""


class GTest:
    """The G test: 2 sum n log(n n_z / n_xz n_yz), a chi-square variable if x and y are independent given z.

    Empty margins do not count for the df.

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
        if n_cases * math.prod(sizes) > MOST_CELLS:  # no test: the columns count as dependent
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


def pc(
    test: IndependenceTest,
    constraints: Constraints | None = None,
    *,
    alpha: float = 0.05,
    progress: Progress = silent,
) -> EquivalenceClass:
    """The class of graphs implied by the independences among the columns: directed edges, and undirected ones."""
    if not 0.0 < alpha < 1.0:
        raise ParameterError(f"alpha is {alpha!r}", fix="choose a level of significance between 0 and 1, as 0.05")
    rules = constraints or Constraints()
    allowed, fixed = rules.allowed(test.names), rules.fixed(test.names)
    adjacent, separators = _skeleton(test, allowed | allowed.T, fixed | fixed.T, alpha, rules, progress)
    return EquivalenceClass.of_skeleton(adjacent, separators, allowed, fixed)


def pc_graph(test: IndependenceTest, rules: Constraints, alpha: float, progress: Progress) -> Search:
    """A graph of the class implied by independences, with notes on edges of unknown direction."""
    graphs = pc(test, rules, alpha=alpha, progress=progress)
    parents = graphs.members_parents()
    return Search(parents, 0.0, notes=graphs.notes(test.names))


Separators = dict[tuple[int, int], tuple[float, tuple[int, ...]]]
"""For each pair without an edge the largest p-value, and the set that gives it."""


def _skeleton(
    test: IndependenceTest, allowed: BoolArray, must: BoolArray, alpha: float, rules: Constraints, progress: Progress
) -> tuple[BoolArray, Separators]:
    n = len(allowed)
    adjacent = allowed.copy()
    separators: Separators = {}
    size = 0
    most = rules.most(n)
    while size <= min(most, n - 2) and (adjacent.sum(axis=1) > size).any():
        fixed = [np.flatnonzero(row).tolist() for row in adjacent]
        for x, y in combinations(range(n), 2):
            if adjacent[x, y] and not must[x, y]:
                separator = _best_separator(test, x, y, fixed, size)
                if separator is not None and separator[0] > alpha:
                    separators[x, y] = separator
        for x, y in separators:
            adjacent[x, y] = adjacent[y, x] = False
        progress(f"independence given {size}", size + 1, None)
        size += 1
    neighbours = [np.flatnonzero(row).tolist() for row in adjacent]
    for x, y in separators:
        if (adjacent[x] & adjacent[y]).any():  # the set of the largest p-value decides whether these are colliders
            found = [_best_separator(test, x, y, neighbours, n_given) for n_given in range(size)]
            separators[x, y] = max((each for each in (separators[x, y], *found) if each), key=lambda each: each[0])
    return adjacent, separators


def _best_separator(
    test: IndependenceTest, x: int, y: int, neighbours: Sequence[Sequence[int]], size: int
) -> tuple[float, tuple[int, ...]] | None:
    """Among sets of neighbours of either column the one with the largest p-value."""
    sets = {
        chosen
        for one, other in ((x, y), (y, x))
        for chosen in combinations([each for each in neighbours[one] if each != other], size)
    }
    if not sets:
        return None
    return max(((test.p_value(x, y, chosen), chosen) for chosen in sorted(sets)), key=lambda found: found[0])
