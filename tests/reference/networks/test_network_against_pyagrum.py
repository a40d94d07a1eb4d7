"""Exact inference on public networks against pyAgrum, which is handed our tables as doubles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bayeswise.networks import BeliefNetwork
from tests.cases.network_cases import asia, random_network
from tests.paths import PUBLIC_NETWORKS

gum = pytest.importorskip("pyagrum")

CLOSE = 1e-10


def as_pyagrum(network: BeliefNetwork) -> Any:
    """The same network, node for node; names are numbers there, because not all of ours are allowed."""
    theirs = gum.BayesNet()
    for k, name in enumerate(network):
        theirs.add(gum.LabelizedVariable(f"v{k}", "", len(network.states(name))))
    places = {name: k for k, name in enumerate(network)}
    for parent, child in network.edges:
        theirs.addArc(f"v{places[parent]}", f"v{places[child]}")
    for k, name in enumerate(network):
        theirs.cpt(f"v{k}").fillWith(1.0)
        above = [f"v{places[parent]}" for parent in network.parents(name)]
        table = network.table(name).reshape([len(network.states(parent)) for parent in network.parents(name)] + [-1])
        # pyAgrum keeps its axes in the order of its own names, the node last
        axes = [above.index(axis) if axis in above else table.ndim - 1 for axis in theirs.cpt(f"v{k}").names[::-1]]
        theirs.cpt(f"v{k}")[:] = np.ascontiguousarray(np.transpose(table, axes))
    return theirs


def networks() -> list[Any]:
    own = [pytest.param(asia, id="own asia"), pytest.param(lambda: random_network(5, 12, zeros=0.0), id="random")]
    public = [
        pytest.param(
            lambda name=name: BeliefNetwork.read(PUBLIC_NETWORKS / f"{name}.bif"),
            id=name,
            marks=pytest.mark.skipif(
                not (PUBLIC_NETWORKS / f"{name}.bif").exists(), reason="the public file is not here"
            ),
        )
        for name in ("asia", "alarm", "insurance", "hailfinder", "child")
    ]
    return [*own, *public]


@pytest.mark.parametrize("make", networks())
def test_every_marginal_is_that_of_pyagrum(make: Any) -> None:
    network = make()
    theirs = as_pyagrum(network)
    row = network.sample(1, seed=2)
    names = list(np.random.default_rng(0).permutation(network.names))
    for n_seen in (0, 2, 5):
        evidence = {name: row[name][0] for name in names[:n_seen]}
        engine = gum.LazyPropagation(theirs)
        codes = {f"v{network.place(name)}": network.code(name, state) for name, state in evidence.items()}
        engine.setEvidence(codes)
        engine.makeInference()
        found = network.marginals(evidence)
        for k, name in enumerate(network):
            if name not in evidence:
                assert found[name].cells == pytest.approx(engine.posterior(f"v{k}").toarray(), abs=CLOSE)
        if evidence:
            assert network.log_evidence(evidence) == pytest.approx(math.log(engine.evidenceProbability()), abs=1e-9)
