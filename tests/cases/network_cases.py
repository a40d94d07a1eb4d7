"""Networks for tests: random ones with zeros in their tables, and an oracle that sums the whole joint."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.mixed import GaussianNode, MixedNetwork
from bayeswise.tables.schema.labels import Label

YES_NO = ["yes", "no"]


def random_network(seed: int, n_nodes: int = 6, zeros: float = 0.3, most_states: int = 3) -> BeliefNetwork:
    """Nodes in a shuffled order, up to three parents each, a share of the entries zero."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, most_states + 1, n_nodes)
    nodes = []
    for k in range(n_nodes):
        above = generator.choice(k, size=min(k, int(generator.integers(0, 4))), replace=False) if k else []
        n_rows = int(np.prod([sizes[p] for p in above], dtype=int))
        table = generator.dirichlet(np.ones(sizes[k]), n_rows) * (generator.random((n_rows, sizes[k])) >= zeros)
        table[table.sum(axis=1) == 0, 0] = 1.0
        table /= table.sum(axis=1, keepdims=True)
        nodes.append(Node(f"n{k}", [f"s{j}" for j in range(sizes[k])], table, [f"n{p}" for p in above]))
    generator.shuffle(nodes)  # type: ignore[arg-type]
    return BeliefNetwork(nodes)


def random_mixed_network(seed: int, *, n_states: int = 4, n_numbers: int = 5) -> MixedNetwork:
    """A random graph; numbers depend on up to two states and three numbers."""
    rng = np.random.default_rng(seed)
    nodes: list[Node | GaussianNode] = []
    sizes: dict[str, int] = {}
    for k in range(n_states):
        above = [f"s{j}" for j in range(k) if rng.random() < 0.4][:2]
        n_rows = math.prod(sizes[name] for name in above)
        sizes[f"s{k}"] = int(rng.integers(2, 4))
        table = rng.dirichlet(np.ones(sizes[f"s{k}"]), n_rows)
        nodes.append(Node(f"s{k}", [f"v{i}" for i in range(sizes[f"s{k}"])], table, above))
    for k in range(n_numbers):
        given = [f"s{j}" for j in range(n_states) if rng.random() < 0.35][:2]
        above = [f"x{j}" for j in range(k) if rng.random() < 0.5][:3]
        n_lines = math.prod(sizes[name] for name in given)
        weights = {name: rng.normal(size=n_lines) for name in above}
        stddev = rng.uniform(0.5, 2.0, n_lines)
        nodes.append(GaussianNode(f"x{k}", rng.normal(size=n_lines) * 2, weights, stddev, given))
    return MixedNetwork(nodes)


def joint_by_enumeration(network: BeliefNetwork) -> dict[tuple[Label, ...], float]:
    """P of every combination of states, in the order of the nodes: the product of the tables."""
    joint = {}
    places = {name: k for k, name in enumerate(network)}
    for states in itertools.product(*(network.states(name) for name in network)):
        p = 1.0
        for name, state in zip(network, states, strict=True):
            row = 0
            for parent in network.parents(name):
                row = row * len(network.states(parent)) + network.states(parent).index(states[places[parent]])
            p *= float(network.table(name)[row, network.states(name).index(state)])
        joint[states] = p
    return joint


def summed(
    network: BeliefNetwork,
    joint: Mapping[tuple[Label, ...], float],
    nodes: list[str],
    evidence: Mapping[str, Any],
    soft: Mapping[str, Mapping[Any, float]] | None = None,
) -> tuple[dict[tuple[Label, ...], float], float]:
    """P(nodes, evidence) for all states of the nodes, and P(evidence)."""
    places = {name: k for k, name in enumerate(network)}
    found = dict.fromkeys(itertools.product(*(network.states(name) for name in nodes)), 0.0)
    for states, p in joint.items():
        if all(states[places[name]] == state for name, state in evidence.items()):
            for name, likelihood in (soft or {}).items():
                p *= likelihood[states[places[name]]]
            found[tuple(states[places[name]] for name in nodes)] += p
    return found, sum(found.values())


def eliminated(
    network: BeliefNetwork,
    target: str,
    evidence: Mapping[str, Any],
    soft: Mapping[str, Mapping[Any, float]] | None = None,
) -> tuple[np.ndarray, float]:
    """P(target | evidence) and P(evidence) by summing out one node after the other, in plain NumPy."""
    factors: list[tuple[list[str], np.ndarray]] = []
    for name in network:
        axes = [*network.parents(name), name]
        cells = network.table(name).reshape([len(network.states(each)) for each in axes])
        seen = tuple(network.code(each, evidence[each]) if each in evidence else slice(None) for each in axes)
        factors.append(([each for each in axes if each not in evidence], cells[seen]))
    for name, likelihood in (soft or {}).items():
        factors.append(([name], np.array([likelihood[state] for state in network.states(name)])))

    def product(parts: list[tuple[list[str], np.ndarray]]) -> tuple[list[str], np.ndarray]:
        axes = list(dict.fromkeys(axis for each, _ in parts for axis in each))
        cells = np.ones([len(network.states(axis)) for axis in axes])
        for each, values in parts:
            order = sorted(range(len(each)), key=lambda k: axes.index(each[k]))
            shape = [len(network.states(axis)) if axis in each else 1 for axis in axes]
            cells = cells * np.transpose(values, order).reshape(shape)
        return axes, cells

    open_nodes = {name for name in network if name not in evidence and name != target}
    while open_nodes:
        touched = {n: {axis for each, _ in factors if n in each for axis in each} for n in open_nodes}
        node = min(sorted(open_nodes), key=lambda n: len(touched[n]))
        axes, cells = product([factor for factor in factors if node in factor[0]])
        factors = [factor for factor in factors if node not in factor[0]]
        factors.append(([axis for axis in axes if axis != node], cells.sum(axis=axes.index(node))))
        open_nodes.remove(node)
    _, joint = product(factors)
    return joint / joint.sum(), float(joint.sum())


def asia() -> BeliefNetwork:
    """Lauritzen and Spiegelhalter (1988): a visit to Asia, smoking, and shortness of breath."""
    return BeliefNetwork(
        [
            Node("visit", YES_NO, 0.01),
            Node("tuberculosis", YES_NO, {"yes": 0.05, "no": 0.01}, ["visit"]),
            Node("smoking", YES_NO, 0.5),
            Node("cancer", YES_NO, {"yes": 0.1, "no": 0.01}, ["smoking"]),
            Node("bronchitis", YES_NO, {"yes": 0.6, "no": 0.3}, ["smoking"]),
            Node("either", YES_NO, [1.0, 1.0, 1.0, 0.0], ["tuberculosis", "cancer"]),
            Node("x-ray", YES_NO, {"yes": 0.98, "no": 0.05}, ["either"]),
            Node("dyspnoea", YES_NO, [0.9, 0.7, 0.8, 0.1], ["either", "bronchitis"]),
        ],
        name="asia",
    )


def pyagrum_learner(frame: Any, *more: Any) -> Any:
    """pyAgrum's learner of a frame, without the temporary file that it writes the frame to and then forgets."""
    gum: Any = import_module("pyagrum")
    with tempfile.TemporaryDirectory() as folder, patch.object(tempfile, "tempdir", folder):
        return gum.BNLearner(frame, *more)
