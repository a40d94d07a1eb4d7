"""The best change of a graph in a hill climb, against a plain NumPy twin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, FloatArray


def reachable(edge: BoolArray) -> BoolArray:
    """(n, n) whether a path leads from one node to the other, or both are the same."""
    n = len(edge)
    return np.linalg.matrix_power(np.eye(n, dtype=np.int64) + edge, n) > 0


def best_change(
    edge: BoolArray,
    gain: FloatArray,
    allowed: BoolArray,
    fixed: BoolArray,
    tabu: list[tuple[int, int]],
    rounding: float,
    losing: bool,
) -> tuple[int, int, bool] | None:
    """The twin: every change tried on the graph itself."""
    possible: list[tuple[float, int, int, bool]] = []
    for parent, child in np.ndindex(edge.shape):
        for turned in (False, True):
            changed, worth = edge.copy(), gain[parent, child]
            changed[parent, child] ^= True
            if turned:
                changed[child, parent], worth = True, worth + gain[child, parent]
            barred = edge[parent, child] and fixed[parent, child]
            barred |= turned and not (edge[parent, child] and allowed[child, parent])
            barred |= (parent, child) in tabu or (child, parent) in tabu
            paths = reachable(changed)
            cyclic = bool((paths & paths.T).sum() > len(edge))
            if parent != child and not barred and not cyclic and worth > -math.inf:
                possible.append((float(worth), parent, child, turned))
    if not possible or (max(possible)[0] <= rounding and not losing):
        return None
    near = max(possible)[0] - rounding
    _, parent, child, turned = next(each for each in sorted(possible, key=lambda each: each[3]) if each[0] >= near)
    return parent, child, turned


@pytest.mark.parametrize("seed", range(40))
def test_each_change_of_a_climb_is_that_of_the_twin(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = int(generator.integers(1, 7))
    allowed = (generator.random((n, n)) < 0.9) & ~np.eye(n, dtype=bool)
    order = generator.permutation(n)
    fixed = (generator.random((n, n)) < 0.1) & (order[:, None] < order)
    allowed |= fixed
    changes = _kernels.EdgeChanges(allowed, fixed)
    edge = fixed.copy()
    for parent, child in np.argwhere(fixed).tolist():
        changes.put(parent, child)
    tabu: list[tuple[int, int]] = []
    for _ in range(12):
        gain = generator.integers(-3, 4, (n, n)).astype(np.float64)  # with many ties
        gain[~allowed | (generator.random((n, n)) < 0.2)] = -math.inf
        for node in range(n):
            parents = np.flatnonzero(gain[:, node] > -math.inf).tolist()
            changes.set_gains(node, parents, gain[parents, node].tolist())
        rounding, losing = float(generator.choice([1e-9, 1.5])), bool(generator.random() < 0.7)
        found = changes.best(tabu, rounding, losing)
        assert found == best_change(edge, gain, allowed, fixed, tabu, rounding, losing)
        if found is None:
            continue
        parent, child, turned = found
        (changes.drop if edge[parent, child] else changes.put)(parent, child)
        edge[parent, child] ^= True
        if turned:
            changes.put(child, parent)
            edge[child, parent] = True
        tabu = [*tabu, (parent, child)][-3:]
        assert [[changes.leads(one, other) for other in range(n)] for one in range(n)] == reachable(edge).tolist()


def test_a_graph_of_no_nodes_cannot_be_changed() -> None:
    nothing = np.zeros((0, 0), dtype=bool)
    assert _kernels.EdgeChanges(nothing, nothing).best([], 0.0, True) is None


def test_what_is_not_a_change_is_refused() -> None:
    allowed, fixed = ~np.eye(2, dtype=bool), np.zeros((2, 2), dtype=bool)
    changes = _kernels.EdgeChanges(allowed, fixed)
    changes.put(0, 1)
    with pytest.raises(ValueError, match="closes a cycle"):
        changes.put(1, 0)
    with pytest.raises(ValueError, match="no such edge"):
        changes.drop(1, 0)
    with pytest.raises(ValueError, match="no such node"):
        changes.set_gains(0, [2], [1.0])
    with pytest.raises(ValueError, match="no such node"):
        changes.set_gains(2, [0], [1.0])
    with pytest.raises(ValueError, match="one gain"):
        changes.set_gains(0, [1], [])
    with pytest.raises(ValueError, match="no such node"):
        changes.best([(0, 2)], 0.0, True)
    with pytest.raises(ValueError, match="one row and one column"):
        _kernels.EdgeChanges(allowed, np.zeros((2, 3), dtype=bool))
