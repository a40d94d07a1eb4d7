"""Batches of rows: the answer to a row does not depend on the rows beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.inference.row_posteriors import posterior_and_evidence
from tests.cases.network_cases import random_network


@pytest.mark.parametrize("seed", range(25))
def test_a_row_among_many_is_answered_like_a_query(seed: int) -> None:
    """Rows at random, many of them impossible, some with missing values; a few are repeated often."""
    network = random_network(seed, n_nodes=9, zeros=0.25)
    generator = np.random.default_rng(seed)
    target, *columns = (int(k) for k in generator.permutation(9)[:7])
    sizes = np.array([len(network._states[k]) for k in columns])
    few = (generator.random((40, 6)) * sizes).astype(np.int32)
    few[generator.random(few.shape) < 0.1 * (seed % 3)] = -1
    codes = np.ascontiguousarray(few[generator.integers(0, 40, 500)])
    posterior, log_evidence = posterior_and_evidence(network, target, columns, codes)
    for row in range(60):
        seen = {network.names[n]: network._states[n][c] for n, c in zip(columns, codes[row], strict=True) if c >= 0}
        try:
            answer = network.query(network.names[target], seen)
        except ImpossibleEvidenceError:
            assert log_evidence[row] == -math.inf
            assert np.isnan(posterior[row]).all()
            continue
        assert posterior[row] == pytest.approx(answer.cells, abs=1e-13)
        assert log_evidence[row] == pytest.approx(answer.log_evidence, abs=1e-12)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 700])
def test_rows_alone_and_together_have_the_same_bits(n_rows: int) -> None:
    network = random_network(3, n_nodes=9, zeros=0.1)
    sampled = network.sample(700, seed=1)
    codes = np.array([[network.code(n, s) for s in sampled[n]] for n in list(network)[:6]], dtype=np.int32).T
    whole = np.ascontiguousarray(codes)
    together, _ = posterior_and_evidence(network, 8, list(range(6)), whole)
    parts = [
        posterior_and_evidence(network, 8, list(range(6)), whole[k : k + n_rows])[0] for k in range(0, 700, n_rows)
    ]
    assert np.array_equal(np.concatenate(parts), together)


def test_rows_beyond_doubles_are_answered_among_others() -> None:
    """Forty readings of probability 1e-10 each: 1e-400 together."""
    nodes = [Node("cause", ["yes", "no"], 0.5)]
    nodes += [Node(f"r{k}", ["on", "off"], [1e-10, 2e-10 if k else 3e-10], ["cause"]) for k in range(40)]
    network = BeliefNetwork(nodes)
    rows = {f"r{k}": ["on", "off", "on"] for k in range(40)}
    found = network.predict_proba("cause", rows)
    assert found[0, 0] == pytest.approx(1 / (1 + 3 * 2.0**39), rel=1e-12)
    assert found[1, 0] == pytest.approx(0.5, abs=1e-6)
    assert np.array_equal(found[0], found[2])
