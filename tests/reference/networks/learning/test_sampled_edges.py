"""Chains over orders against the sum over all orders, and on a public network that is too large for that."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.foundation.errors import ParameterError
from bayeswise.networks import BeliefNetwork
from bayeswise.networks.learning import Constraints, Scores, edge_probabilities, edge_strengths
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.search.orders import edge_posteriors, sampled_edges
from tests.cases.network_cases import asia, random_network
from tests.paths import PUBLIC_NETWORKS

CHILD = PUBLIC_NETWORKS / "child.bif"


@pytest.mark.parametrize(("score", "seed"), [("bdeu", 1), ("bic", 2), ("k2", 3)])
def test_chains_find_what_the_sum_over_all_orders_gives(score: str, seed: int) -> None:
    network = asia() if seed < 3 else random_network(seed, n_nodes=10, zeros=0.0, most_states=3)
    scores = Scores(CodedRows.of(network.sample(200, seed=seed)), score)
    found = sampled_edges(scores, tolerance=0.03, seed=seed, most_orders=2_048)
    assert found.converged and found.difference <= 0.03
    wrong = np.abs(found.probability - edge_posteriors(scores))
    assert wrong.max() < 0.05
    assert (wrong <= 6.0 * found.standard_error + 1e-3).mean() > 0.98


def test_constraints_hold_in_every_order() -> None:
    rows = CodedRows.of(asia().sample(200, seed=1))
    rules = Constraints(
        required=(("visit", "x-ray"),),
        forbidden=(("either", "x-ray"),),
        tiers=(("x-ray",), ("smoking", "cancer")),
        max_parents=2,
    )
    scores, at = Scores(rows, "bdeu"), rows.names.index
    found = sampled_edges(scores, rules, tolerance=0.03).probability
    assert found[at("visit"), at("x-ray")] == pytest.approx(1.0, abs=1e-9)
    assert (
        found[at("either"), at("x-ray")] == found[at("cancer"), at("x-ray")] == found[at("smoking"), at("x-ray")] == 0.0
    )
    assert np.abs(found - edge_posteriors(scores, rules)).max() < 0.05


def test_the_same_seed_gives_the_same_numbers_and_chains_that_differ_say_so() -> None:
    scores = Scores(CodedRows.of(asia().sample(100, seed=2)), "bdeu")
    one, other = (sampled_edges(scores, seed=5, most_orders=2, tolerance=1e-6) for _ in range(2))
    np.testing.assert_array_equal(one.probability, other.probability)
    assert not one.converged and ", above 1e-06" in one.described()[0]
    with pytest.raises(ParameterError, match="chains=1"):
        sampled_edges(scores, chains=1)
    with pytest.raises(ParameterError, match="MDL is not a log probability"):
        sampled_edges(Scores(CodedRows.of(asia().sample(100, seed=2)), "mdl"))


def test_ctrl_c_ends_with_what_the_chains_have_seen() -> None:
    def interrupt(what: str, done: int, total: int | None) -> None:
        if what == "orders drawn":
            raise KeyboardInterrupt

    scores = Scores(CodedRows.of(asia().sample(100, seed=2)), "bdeu")
    found = sampled_edges(scores, progress=interrupt, tolerance=1e-6)
    assert found.interrupted and found.n_orders == 64 and "were interrupted" in found.described()[0]


@pytest.mark.skipif(not CHILD.exists(), reason="the public file is not here")
def test_edges_of_a_public_network_are_as_probable_as_they_are_true() -> None:
    network = BeliefNetwork.read(CHILD)
    rows = network.sample(500, seed=1)
    found = edge_probabilities(rows, max_parents=2, tolerance=0.1)
    known = np.zeros_like(found.probability, dtype=bool)
    for parent, child in network.edges:
        known[found.names.index(parent), found.names.index(child)] = True
    either, true = np.triu(found.probability + found.probability.T), np.triu(known | known.T)
    assert true[either > 0.9].mean() > 0.9 and (either > 0.9).sum() >= 12
    assert not true[either < 0.02].sum() > 5
    assert found.converged and "chains" in found.notes[0]


def test_strengths_of_more_columns_than_can_be_summed_over_are_sampled() -> None:
    rng = np.random.default_rng(0)
    columns = {f"c{k:02}": rng.integers(0, 2, 60) for k in range(18)}
    columns["c01"] = columns["c00"]
    rows = CodedRows.of({name: column.tolist() for name, column in columns.items()})
    graph = [()] * 18
    graph[1] = (0,)
    found = edge_strengths(rows, graph, averaged=True, constraints=Constraints(max_parents=2), seed=1)
    assert found.edges[0].posterior == pytest.approx(0.5, abs=0.1)  # either way, and nothing tells which
    assert found.notes[0].startswith("edge probabilities are means over")
