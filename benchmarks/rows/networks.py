"""Belief networks beside pyAgrum: all marginals, one query, batches of rows; files by their time alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bayeswise.networks import BeliefNetwork, Node, NoisyOr, formats
from bayeswise.networks.formats import bif
from bayeswise.networks.inference.row_posteriors import Cases, posterior_of_cases
from bayeswise.networks.inference.sampling import sample_codes
from bayeswise.networks.soft_evidence import no_soft_cells
from benchmarks.harness import Figure, Race, Row, Size, Task, best_of
from benchmarks.pyagrum_twins import network_twin

PUBLIC = Path(__file__).parents[3] / "shared" / "networks"
_QUERIES = 50  # one alone is over before a clock can tell


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


def networks() -> dict[str, Callable[[], BeliefNetwork]]:
    """The public networks where they are at hand, else made ones of their size."""
    found: dict[str, Callable[[], BeliefNetwork]] = {
        name: partial(BeliefNetwork.read, PUBLIC / f"{name}.bif")
        for name in ("alarm", "insurance", "hailfinder")
        if (PUBLIC / f"{name}.bif").exists()
    }
    return found or {"37 nodes": partial(made_network, 37, 4), "56 nodes": partial(made_network, 56, 4)}


def fresh(network: BeliefNetwork) -> BeliefNetwork:
    """The same network with nothing compiled."""
    network.__dict__.pop("engine", None)
    return network


def all_marginals(make: Callable[[], BeliefNetwork]) -> tuple[Task, Task]:
    gum: Any = import_module("pyagrum")

    network = make()
    theirs = network_twin(network)

    def ours() -> None:
        for _ in range(5):
            fresh(network).marginals()

    def peer() -> None:
        for _ in range(5):
            engine = gum.LazyPropagation(theirs)
            engine.makeInference()
            for name in network.names:
                engine.posterior(name)

    return ours, peer


def queries(make: Callable[[], BeliefNetwork], compiled: bool) -> tuple[Task, Task]:
    """Other nodes each time, two of them observed; the peer has a new engine for each, as its users do."""
    gum: Any = import_module("pyagrum")

    network = make()
    theirs = network_twin(network)
    generator = np.random.default_rng(0)
    row = network.sample(1, seed=3)
    queries: list[tuple[str, dict[str, Any], dict[str, int]]] = []
    for _ in range(_QUERIES):
        target, *seen = (network.names[k] for k in generator.choice(len(network), 3, replace=False))
        evidence = {name: row[name][0] for name in seen}
        queries.append((target, evidence, {name: network.code(name, state) for name, state in evidence.items()}))

    def ours() -> None:
        for target, evidence, _ in queries:
            (network if compiled else fresh(network)).query(target, evidence)

    def peer() -> None:
        for target, _, codes in queries:
            engine = gum.LazyPropagation(theirs)
            engine.setEvidence(codes)
            engine.addTarget(target)
            engine.makeInference()
            engine.posterior(target)

    if compiled:
        ours()
    return ours, peer


def pedigree(n_nodes: int, reach: int) -> BeliefNetwork:
    """Genes of animals whose parents were born shortly before them: what the public network pigs is about."""
    generator = np.random.default_rng(1)
    passed = {"aa": 1.0, "ab": 0.5, "bb": 0.0}  # the chance of passing on an a
    table = [[p * q, p * (1 - q) + (1 - p) * q, (1 - p) * (1 - q)] for p in passed.values() for q in passed.values()]
    nodes = [Node(f"n{k}", passed, [0.25, 0.5, 0.25]) for k in range(reach)]
    for k in range(reach, n_nodes):
        above = generator.choice(np.arange(k - reach, k), 2, replace=False)
        nodes.append(Node(f"n{k}", passed, table, [f"n{p}" for p in above]))
    return BeliefNetwork(nodes)


def new_evidence(make: Callable[[], BeliefNetwork], repeats: int) -> float:
    """All marginals for evidence on nodes that were never observed together, over the same evidence queried again."""
    network = make()
    generator = np.random.default_rng(0)
    row = network.sample(1, seed=3)
    queries = [
        {network.names[k]: row[network.names[k]][0] for k in generator.choice(len(network), 5, replace=False)}
        for _ in range(20)
    ]

    def all_of_them() -> None:
        for evidence in queries:
            network.marginals(evidence)

    first = again = float("inf")
    for _ in range(repeats + 2):
        fresh(network).marginals(queries[0])
        [seconds] = best_of(1, all_of_them)
        first = min(first, seconds)
        [seconds] = best_of(1, all_of_them)
        again = min(again, seconds)
    return first / again


def batch(make: Callable[[], BeliefNetwork], n_rows: int, share_missing: float) -> tuple[Task, Task]:
    """One node for every row, 18 others observed; pyAgrum answers row by row."""
    gum: Any = import_module("pyagrum")
    network = make()
    theirs = network_twin(network)
    generator = np.random.default_rng(1)
    target, *columns = (int(k) for k in generator.choice(len(network), 19, replace=False))
    codes = np.ascontiguousarray(sample_codes(network, n_rows, generator)[:, columns])
    codes[generator.random(codes.shape) < share_missing] = -1

    def peer() -> None:
        engine = gum.LazyPropagation(theirs)
        engine.addTarget(network.names[target])
        for row in codes.tolist():
            engine.setEvidence({network.names[k]: code for k, code in zip(columns, row, strict=True) if code >= 0})
            engine.makeInference()
            engine.posterior(network.names[target])

    cases = Cases(0, columns, codes, no_soft_cells(len(network.states(network.names[k])) for k in columns))
    return lambda: posterior_of_cases(network, target, cases), peer


def causes_of_one(n_causes: int) -> tuple[Task, Task]:
    """Which of many causes an effect has, each acting for itself: pyAgrum writes the whole table out."""
    gum: Any = import_module("pyagrum")
    chances = np.linspace(0.05, 0.95, n_causes).tolist()
    names = [f"cause{k}" for k in range(n_causes)]
    effect = Node("effect", ["yes", "no"], NoisyOr(chances, leak=0.01), parents=names)
    network = BeliefNetwork([*(Node(name, ["yes", "no"], 0.1) for name in names), effect])
    twin = gum.BayesNet()
    for name in names:
        twin.add(gum.LabelizedVariable(name, "", 2))
        twin.cpt(name).fillWith([0.9, 0.1])
    twin.addNoisyORNet(gum.LabelizedVariable("effect", "", 2), 0.01)
    for name, chance in zip(names, chances, strict=True):
        twin.addWeightedArc(twin.idFromName(name), twin.idFromName("effect"), chance)

    def peer() -> float:
        engine = gum.LazyPropagation(twin)
        engine.setEvidence({"effect": 1})
        engine.makeInference()
        found = [float(engine.posterior(name)[1]) for name in names]
        return found[0]

    def ours() -> float:
        return fresh(network).marginals({"effect": "yes"})["cause0"]["yes"]

    if not np.isclose(ours(), peer(), rtol=1e-9, atol=0):
        raise AssertionError("the posteriors differ")
    return ours, peer


def reading(n_nodes: int) -> float:
    text = bif.text(formats.Description.of_network(made_network(n_nodes, 3)))
    [best] = best_of(5, lambda: formats.network_of(text, "made.bif"))
    return best * 1e6 / len(text)


def rows(size: Size) -> Iterator[Row]:
    found = networks()
    for name, make in found.items():
        yield Race(f"{name}, all marginals, compiled again | pyAgrum", partial(all_marginals, make), at_least=5)
    for name, make in found.items():
        yield Race(f"{name}, {_QUERIES} queries, fresh | pyAgrum", partial(queries, make, False), at_least=1)
        yield Race(f"{name}, {_QUERIES} queries, compiled | pyAgrum", partial(queries, make, True), at_least=8)
    made: dict[str, Callable[[], BeliefNetwork]] = {
        "223 nodes": partial(made_network, 223, 16, 2),
        "a pedigree of 441": partial(pedigree, 441, 10),
    }
    for name, make in {**found, **made}.items():
        measure = partial(new_evidence, make, size.repeats)
        yield Figure(f"{name}, new evidence over known", measure, at_most=1.5, unit="times")
    name, make = next(iter(found.items()))
    n_rows = size.rows(100_000)
    yield Race(f"{name}, {n_rows:,} rows, 18 columns | pyAgrum", partial(batch, make, n_rows, 0.0), at_least=50)
    yield Race(f"{name}, {n_rows:,} rows, 20 % missing | pyAgrum", partial(batch, make, n_rows, 0.2), at_least=10)
    n_causes = 22 if size.scale >= 1 else 8
    yield Race(f"noisy-OR of {n_causes} causes, all marginals | pyAgrum", partial(causes_of_one, n_causes), 100)
    yield Figure("reading 1 MB of BIF", partial(reading, 900), at_most=0.3)
