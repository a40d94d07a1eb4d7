"""Junction trees, Gibbs sweeps and sums over sets of columns, against plain NumPy."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels

Network = tuple[list[int], list[list[int]], list[Any]]


def network(seed: int, n: int = 6, zeros: float = 0.0) -> Network:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 4, n).tolist()
    parents = [
        sorted(generator.choice(k, min(k, int(generator.integers(0, 3))), replace=False).tolist()) for k in range(n)
    ]
    tables = []
    for k in range(n):
        table = generator.gamma(1.0, size=(math.prod(sizes[p] for p in parents[k]), sizes[k]))
        table[generator.random(table.shape) < zeros] = 0.0
        table[table.sum(axis=1) == 0.0, 0] = 1.0
        tables.append(table / table.sum(axis=1, keepdims=True))
    return sizes, parents, tables


def joint_of(of: Network) -> Any:
    """P(all nodes), one axis for each."""
    sizes, parents, tables = of
    joint = np.ones(sizes)
    for node, table in enumerate(tables):
        scope = [*parents[node], node]
        shaped = table.reshape([sizes[k] for k in scope]).transpose(np.argsort(scope))
        joint = joint * shaped.reshape([size if k in scope else 1 for k, size in enumerate(sizes)])
    return joint


def observe(joint: Any, states: list[int]) -> Any:
    for node, state in enumerate(states):
        if state >= 0:
            gone = np.arange(joint.shape[node]) != state
            joint = np.where(gone.reshape([-1 if k == node else 1 for k in range(joint.ndim)]), 0.0, joint)
    return joint


@pytest.mark.parametrize("seed", range(12))
def test_marginals_are_sums_of_the_whole_joint(seed: int) -> None:
    of = network(seed, zeros=0.2 * (seed % 2))
    joint, generator = joint_of(of), np.random.default_rng(seed)
    drawn = np.unravel_index(generator.choice(joint.size, p=joint.ravel() / joint.sum()), joint.shape)
    states = [int(k) if generator.random() < 0.4 else -1 for k in drawn]
    seen = [int(state >= 0) for state in states]
    free = [node for node, state in enumerate(states) if state < 0]
    soft = [(free[0], generator.random(joint.shape[free[0]]))] if free else []
    posterior = observe(joint, states)
    for node, likelihood in soft:
        posterior = posterior * likelihood.reshape([-1 if k == node else 1 for k in range(joint.ndim)])
    tree = _kernels.JunctionTree(_kernels.NetworkTables(*of), [1] * joint.ndim, seen, [], False, False)
    found, log_evidence = tree.marginals(free, states, soft)
    assert log_evidence == pytest.approx(math.log(posterior.sum()), rel=1e-12)
    others = [tuple(k for k in range(joint.ndim) if k != node) for node in free]
    twin = [posterior.sum(axis=axes) / posterior.sum() for axes in others]
    np.testing.assert_allclose(found, np.concatenate([np.zeros(0), *twin]), rtol=1e-11, atol=1e-14)
    best, log_best = _kernels.JunctionTree(_kernels.NetworkTables(*of), [1] * joint.ndim, seen, [], False, True).best(
        states, soft
    )
    assert log_best == pytest.approx(math.log(posterior.max()), rel=1e-12)
    whole = tuple(state if state >= 0 else best[node] for node, state in enumerate(states))
    assert posterior[whole] == pytest.approx(posterior.max(), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_marginals_are_the_same_in_any_order_of_elimination(seed: int) -> None:
    of = network(seed, n=7, zeros=0.1)
    tables, generator = _kernels.NetworkTables(*of), np.random.default_rng(seed)
    found, n_cells, work = tables.order(1e6)
    assert sorted(found) == list(range(7)) and n_cells > 0 and work > 0
    drawn = joint_of(of)
    place = np.unravel_index(generator.choice(drawn.size, p=drawn.ravel() / drawn.sum()), drawn.shape)
    states = [int(state) if node in (1, 4) else -1 for node, state in enumerate(place)]
    seen, free = [int(state >= 0) for state in states], [node for node in range(7) if states[node] < 0]
    twin, log_twin = _kernels.JunctionTree(tables, [1] * 7, seen, [], False, False).marginals(free, states, [])
    for order in (found, found[::-1], generator.permutation(7).tolist()):
        cells, log_evidence = _kernels.JunctionTree(tables, [1] * 7, seen, [], False, False, order).marginals(
            free, states, []
        )
        np.testing.assert_allclose(cells, twin, rtol=1e-12, atol=1e-15)
        assert log_evidence == pytest.approx(log_twin, rel=1e-12)
    with pytest.raises(ValueError, match="an order has"):
        _kernels.JunctionTree(tables, [1] * 7, seen, [], False, False, [0, 0, 1, 2, 3, 4, 5])
    assert tables.order(1.0)[0] == []


@pytest.mark.parametrize("seed", range(6))
def test_a_batch_of_rows_is_one_posterior_for_each(seed: int) -> None:
    of = network(seed, zeros=0.1)
    joint, generator = joint_of(of), np.random.default_rng(seed)
    columns = [0, 2, 5]
    soft = [generator.random((2, of[0][node])) for node in columns]  # codes beyond the states
    codes = np.stack([generator.integers(-1, of[0][node] + 2, 30) for node in columns], axis=1).astype(np.int32)
    tree = _kernels.JunctionTree(_kernels.NetworkTables(*of), [1] * joint.ndim, [0] * joint.ndim, [3], True, False)
    found, log_evidence = tree.batch(codes, columns, soft)
    for row, cells in enumerate(codes):
        states = {node: code for node, code in zip(columns, cells.tolist(), strict=True) if code < of[0][node]}
        posterior = observe(joint, [states.get(node, -1) for node in range(joint.ndim)])
        for node, code, likelihoods in zip(columns, cells.tolist(), soft, strict=True):
            if node not in states:
                shape = [-1 if k == node else 1 for k in range(joint.ndim)]
                posterior = posterior * likelihoods[code - of[0][node]].reshape(shape)
        posterior = posterior.sum(axis=(0, 1, 2, 4, 5))
        if posterior.sum() == 0.0:
            assert log_evidence[row] == -np.inf
            continue
        assert log_evidence[row] == pytest.approx(math.log(posterior.sum()), rel=1e-12)
        np.testing.assert_allclose(found[row], posterior / posterior.sum(), rtol=1e-11, atol=1e-14)


MASK = (1 << 64) - 1


class Random:
    """xoshiro256** seeded by splitmix64, as their authors published them."""

    def __init__(self, seed: int) -> None:
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ seed >> 30) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
            self.state.append(z ^ z >> 31)

    def uniform(self) -> float:
        s = self.state
        turned = (s[1] * 5) & MASK
        result = (((turned << 7 | turned >> 57) & MASK) * 9) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = (s[3] << 45 | s[3] >> 19) & MASK
        return (result >> 11) * 2.0**-53


@pytest.mark.parametrize(("seed", "first_chain", "zeros"), [(0, 0, 0.0), (7, 3, 0.0), (2**63 + 5, 1, 0.4)])
def test_gibbs_sweeps_are_draws_from_the_conditionals(seed: int, first_chain: int, zeros: float) -> None:
    """Three nodes in a chain a -> b -> c, blocks {a, b} and {c}; the target is b."""
    generator = np.random.default_rng(seed)
    a, b, c = generator.gamma(1.0, size=3), generator.gamma(1.0, size=(3, 2)), generator.gamma(1.0, size=(2, 4))
    b[0, 0] *= zeros == 0.0
    pairs = np.array(list(itertools.product(range(3), range(2))), dtype=np.int32)
    singles = np.arange(4, dtype=np.int32)[:, None]
    blocks = [
        (
            [0, 1],
            pairs,
            [
                (a, [], pairs[:, 0].astype(np.int64)),
                (b.ravel(), [], (2 * pairs[:, 0] + pairs[:, 1]).astype(np.int64)),
                (c.ravel(), [(2, 1)], (4 * pairs[:, 1]).astype(np.int64)),
            ],
        ),
        ([2], singles, [(c.ravel(), [(1, 4)], singles[:, 0].astype(np.int64))]),
    ]
    chains = np.array([[1, 0, 2], [2, 1, 0]], dtype=np.int32)
    state, n_burn, n_sweeps = chains.copy(), 3, 20
    sums, squares = np.zeros((2, 2)), np.zeros((2, 2))
    _kernels.gibbs(blocks, chains, 0, 1, n_burn, n_sweeps, seed, first_chain, sums, squares)
    twin, twin_squares = np.zeros((2, 2)), np.zeros((2, 2))
    for chain in range(2):
        random = Random((seed * 0x2545F4914F6CDD1D + first_chain + chain) & MASK)
        for sweep in range(n_burn + n_sweeps):
            weight = a[pairs[:, 0]] * b[pairs[:, 0], pairs[:, 1]] * c[pairs[:, 1], state[chain, 2]]
            weight = weight / weight.sum()
            if sweep >= n_burn:
                belief = np.bincount(pairs[:, 1], weight, 2)
                twin[chain] += belief
                twin_squares[chain] += belief**2
            state[chain, :2] = pairs[np.searchsorted(weight.cumsum(), random.uniform(), side="right")]
            last = c[state[chain, 1]] / c[state[chain, 1]].sum()
            state[chain, 2] = np.searchsorted(last.cumsum(), random.uniform(), side="right")
    assert chains.tolist() == state.tolist()
    np.testing.assert_allclose(sums, twin, rtol=1e-12)
    np.testing.assert_allclose(squares, twin_squares, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize(
    ("pseudo_counts", "strength", "unit"), [([], 0.0, 1.0), ([1.0, 0.5], 0.0, 1.0), ([], 2.0, 1.0), ([], 0.0, 0.25)]
)
@pytest.mark.parametrize("n_rows", [0, 1, 60])
def test_sums_over_the_cells_of_every_set_of_columns(
    n_rows: int, pseudo_counts: list[float], strength: float, unit: float, kind: type
) -> None:
    generator = np.random.default_rng(n_rows)
    sizes = [2, 3, 1, 4]
    columns = np.stack([generator.integers(0, size, n_rows) for size in sizes]).astype(kind)
    weights = generator.integers(1, 5, n_rows)
    sums = np.full((max(1, len(pseudo_counts)), 16), np.nan)
    for chosen in range(4):
        _kernels.subset_sums(columns, sizes, weights, pseudo_counts, strength, chosen, 2, 3, 20.0, sums, unit)

    def term(n: float, cells: float, k: int) -> float:
        if not pseudo_counts and strength <= 0.0:
            return n * math.log(n)
        pseudo = pseudo_counts[k] if pseudo_counts else strength / cells
        return math.lgamma(n + pseudo) - math.lgamma(pseudo)

    for chosen in range(16):
        members = [c for c in range(4) if chosen >> c & 1]
        cells = math.prod(sizes[c] for c in members)
        if len(members) > 3 or cells > 20.0:
            continue
        counts: Counter[tuple[int, ...]] = Counter()
        for row in range(n_rows):
            counts[tuple(columns[members, row].tolist())] += int(weights[row])
        twin = [sum(term(n * unit, cells, k) for n in counts.values()) for k in range(len(sums))]
        np.testing.assert_allclose(sums[:, chosen], twin, rtol=1e-11, atol=1e-11, err_msg=str(members))
