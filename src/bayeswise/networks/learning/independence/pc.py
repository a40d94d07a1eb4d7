"""PC-stable: no edge where two columns are independent given some neighbours; directed where colliders force it.

Neighbours are fixed while sets of one size are tried (Colombo and Maathuis 2014), and whether a node is a collider is
decided by the separating set with the largest p-value (Ramsey 2016), so that the order of the columns does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bayeswise.foundation.arrays import BoolArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.equivalence import EquivalenceClass
from bayeswise.networks.learning.constraints import Constraints, Progress, Search, silent
from bayeswise.networks.learning.independence.tests import IndependenceTest


def pc(
    test: IndependenceTest,
    constraints: Constraints | None = None,
    *,
    alpha: float = 0.05,
    progress: Progress = silent,
) -> EquivalenceClass:
    """The class of graphs that the independences among the columns ask for: directed edges, and undirected ones."""
    if not 0.0 < alpha < 1.0:
        raise ParameterError(f"alpha is {alpha!r}", fix="choose a level of significance between 0 and 1, as 0.05")
    rules = constraints or Constraints()
    may, fixed = rules.allowed(test.names), rules.fixed(test.names)
    beside, separators = _skeleton(test, may | may.T, fixed | fixed.T, alpha, rules, progress)
    return EquivalenceClass.of_skeleton(beside, separators, may, fixed)


def pc_graph(test: IndependenceTest, rules: Constraints, alpha: float, progress: Progress) -> Search:
    """A graph of the class that independences ask for, and what is not known of it."""
    found = pc(test, rules, alpha=alpha, progress=progress)
    parents = found.members_parents()
    return Search(parents, 0.0, notes=found.notes(test.names))


Separators = dict[tuple[int, int], tuple[float, tuple[int, ...]]]
"""For each pair without an edge the largest p-value, and the set that gives it."""


def _skeleton(
    test: IndependenceTest, may: BoolArray, must: BoolArray, alpha: float, rules: Constraints, progress: Progress
) -> tuple[BoolArray, Separators]:
    n = len(may)
    beside = may.copy()
    separators: Separators = {}
    size = 0
    most = rules.most(n)
    while size <= min(most, n - 2) and (beside.sum(axis=1) > size).any():
        fixed = [np.flatnonzero(row).tolist() for row in beside]
        for x, y in combinations(range(n), 2):
            if beside[x, y] and not must[x, y]:
                separator = _best_separator(test, x, y, fixed, size)
                if separator is not None and separator[0] > alpha:
                    separators[x, y] = separator
        for x, y in separators:
            beside[x, y] = beside[y, x] = False
        progress(f"independence given {size}", size + 1, None)
        size += 1
    neighbours = [np.flatnonzero(row).tolist() for row in beside]
    for x, y in separators:
        if (beside[x] & beside[y]).any():  # what is between them is a collider or not: the surest of all sets decides
            found = [_best_separator(test, x, y, neighbours, n_given) for n_given in range(size)]
            separators[x, y] = max((each for each in (separators[x, y], *found) if each), key=lambda each: each[0])
    return beside, separators


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
