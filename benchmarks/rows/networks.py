"""Belief networks beside pyAgrum: all marginals, one query, batches, structure; files by their time alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.formats import bif
from bayeswise.networks.learning import Scores, chow_liu, climb
from bayeswise.networks.learning.rows import CodedRows
from bayeswise.networks.rows import posterior_of_codes
from bayeswise.networks.sampling import sample_codes
from bayeswise.tables.labels import Vocabulary
from benchmarks.harness import Figure, Race, Row, Size, Task, best_of


def made_network(n_nodes: int, reach: int, n_states: int = 3) -> BeliefNetwork:
    """Each node depends on some of the few before it: about as entangled as the public networks of its size."""
    generator = np.random.default_rng(0)
    states = [f"s{k}" for k in range(n_states)]
    nodes: list[Node] = []
    for k in range(n_nodes):
        n_above = min(k, int(generator.integers(1, 4)))
        near = range(max(0, k - reach), k)
        above: Any = generator.choice(list(near), size=min(n_above, len(near)), replace=False) if k else []
        table = generator.dirichlet(np.ones(n_states), n_states ** len(above))
        nodes.append(Node(f"n{k}", states, table, [f"n{p}" for p in above]))
    return BeliefNetwork(nodes)


def as_pyagrum(network: BeliefNetwork) -> Any:
    gum: Any = import_module("pyagrum")

    theirs = gum.BayesNet()
    for name in network:
        theirs.add(gum.LabelizedVariable(name, "", [str(state) for state in network.states(name)]))
    for parent, child in network.edges:
        theirs.addArc(parent, child)
    for name in network:
        parents = network.parents(name)
        table = network.table(name).reshape([*(len(network.states(parent)) for parent in parents), -1])
        axes = [parents.index(axis) if axis in parents else table.ndim - 1 for axis in theirs.cpt(name).names[::-1]]
        theirs.cpt(name)[:] = np.ascontiguousarray(np.transpose(table, axes))
    return theirs


def fresh(network: BeliefNetwork) -> BeliefNetwork:
    """The same network with nothing compiled."""
    network.__dict__.pop("engine", None)
    return network


def all_marginals(n_nodes: int, reach: int) -> tuple[Task, Task]:
    gum: Any = import_module("pyagrum")

    network = made_network(n_nodes, reach)
    theirs = as_pyagrum(network)

    def peer() -> object:
        engine = gum.LazyPropagation(theirs)
        engine.makeInference()
        return [engine.posterior(name) for name in network.names]

    return lambda: fresh(network).marginals(), peer


def one_query(n_nodes: int, reach: int, compiled: bool) -> tuple[Task, Task]:
    gum: Any = import_module("pyagrum")

    network = made_network(n_nodes, reach)
    theirs = as_pyagrum(network)
    target, codes = network.names[-1], {network.names[3]: 0, network.names[8]: 1}
    evidence = {name: network.states(name)[code] for name, code in codes.items()}

    def peer() -> object:
        engine = gum.LazyPropagation(theirs)
        engine.setEvidence(codes)
        engine.addTarget(target)
        engine.makeInference()
        return engine.posterior(target)

    return lambda: (network if compiled else fresh(network)).query(target, evidence), peer


def batch(n_rows: int, share_missing: float) -> tuple[Task, Task]:
    """pyAgrum answers row by row."""
    gum: Any = import_module("pyagrum")
    network = made_network(37, 4)
    theirs = as_pyagrum(network)
    columns = list(range(0, 36, 2))
    generator = np.random.default_rng(1)
    codes = np.ascontiguousarray(sample_codes(network, n_rows, generator)[:, columns])
    codes[generator.random(codes.shape) < share_missing] = -1

    def peer() -> None:
        engine = gum.LazyPropagation(theirs)
        engine.addTarget("n1")
        for row in codes.tolist():
            engine.setEvidence({network.names[k]: code for k, code in zip(columns, row, strict=True) if code >= 0})
            engine.makeInference()
            engine.posterior("n1")

    return lambda: posterior_of_codes(network, 1, columns, codes), peer


def climbing(n_rows: int) -> tuple[Task, Task]:
    import pandas as pd

    gum: Any = import_module("pyagrum")

    network = made_network(37, 4)
    codes = sample_codes(network, n_rows, np.random.default_rng(2))
    rows = CodedRows(network.names, tuple(Vocabulary(network.states(name)) for name in network), codes)
    frame = pd.DataFrame({name: [f"s{code}" for code in codes[:, k]] for k, name in enumerate(network)})

    def peer() -> object:
        learner = gum.BNLearner(frame)
        learner.useGreedyHillClimbing()
        learner.useScoreBIC()
        return learner.learnDAG()

    return lambda: climb(Scores(rows, "bic")), peer


def tree_of_many_rows(n_rows: int) -> float:
    codes = np.random.default_rng(0).integers(0, 4, (n_rows, 40)).astype(np.int32)
    rows = CodedRows(tuple(f"c{k}" for k in range(40)), (Vocabulary("abcd"),) * 40, codes)
    start = time.perf_counter()
    chow_liu(Scores(rows, "bic"))
    return time.perf_counter() - start


def reading(n_nodes: int) -> float:
    text = bif.text(made_network(n_nodes, 3))
    [best] = best_of(3, lambda: bif.parse(text, "made.bif"))
    return best * 1e6 / len(text)


def rows(size: Size) -> Iterator[Row]:
    for n_nodes, reach in ((37, 4), (56, 4)):
        yield Race(f"network of {n_nodes}, all marginals | pyAgrum", partial(all_marginals, n_nodes, reach), at_least=3)
    yield Race("network of 37, one query, fresh | pyAgrum", partial(one_query, 37, 4, False), at_least=1)
    yield Race("network of 37, one query, compiled | pyAgrum", partial(one_query, 37, 4, True), at_least=5)
    n_rows = size.rows(4_000)
    yield Race(f"network of 37, {n_rows:,} rows, 18 columns | pyAgrum", partial(batch, n_rows, 0.0), at_least=50)
    yield Race(f"network of 37, {n_rows:,} rows, 20 % missing | pyAgrum", partial(batch, n_rows, 0.2), at_least=10)
    n_rows = size.rows(50_000)
    yield Race(f"hill climbing, BIC, {n_rows:,} x 37 | pyAgrum", partial(climbing, n_rows), at_least=2)
    n_rows = size.rows(1_000_000)
    yield Figure(f"Chow-Liu tree of {n_rows:,} x 40", partial(tree_of_many_rows, n_rows), at_most=2.0)
    yield Figure("reading 1 MB of BIF", partial(reading, 600), at_most=0.3)
