"""The junction tree beside a second algorithm: plain elimination of one node after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeswise.networks import BeliefNetwork
from tests.cases.network_cases import eliminated, random_network
from tests.paths import PUBLIC_NETWORKS


def check(network: BeliefNetwork, seed: int, n_seen: int) -> None:
    generator = np.random.default_rng(seed)
    row = network.sample(1, seed=seed)
    names = [str(name) for name in generator.permutation(network.names)]
    evidence = {name: row[name][0] for name in names[:n_seen]}
    unstable = names[n_seen]
    soft = {
        unstable: {state: float(p) for state, p in zip(network.states(unstable), generator.random(99), strict=False)}
    }
    marginals = network.marginals(evidence, soft=soft)
    for target in names[n_seen : n_seen + 4]:
        expected, probability = eliminated(network, target, evidence, soft)
        assert marginals[target].cells == pytest.approx(expected, abs=1e-12)
        assert network.query(target, evidence, soft=soft).cells == pytest.approx(expected, abs=1e-12)
        assert network.log_evidence(evidence, soft=soft) == pytest.approx(math.log(probability), abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_networks_too_large_for_enumeration_are_answered_alike(seed: int) -> None:
    check(random_network(seed, n_nodes=16, zeros=0.2, most_states=4), seed, seed % 6)


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance", "hailfinder", "child", "sachs"])
def test_public_networks_are_answered_alike(name: str) -> None:
    if not (PUBLIC_NETWORKS / f"{name}.bif").exists():
        pytest.skip("the public file is not here")
    network = BeliefNetwork.read(PUBLIC_NETWORKS / f"{name}.bif")
    for seed in range(3):
        check(network, seed, 2 * seed)
