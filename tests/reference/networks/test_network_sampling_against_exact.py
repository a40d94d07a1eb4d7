"""Sampled answers lie as far from exact ones as their standard errors say, also where tables have zeros."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, TooFewRowsError, TooLargeError
from bayeswise.foundation.threads import limit_threads
from bayeswise.networks import BeliefNetwork, Node
from tests.cases.network_cases import asia, random_network

EVIDENCE = {"x-ray": "yes", "dyspnoea": "yes"}


def grid(side: int) -> BeliefNetwork:
    """Each node depends on the one above and the one to the left: the treewidth is the side."""
    generator = np.random.default_rng(0)
    nodes = []
    for i in range(side):
        for j in range(side):
            above = [f"{i - 1},{j}"] if i else []
            above += [f"{i},{j - 1}"] if j else []
            nodes.append(Node(f"{i},{j}", ["a", "b"], generator.dirichlet([2, 2], 2 ** len(above)), above))
    return BeliefNetwork(nodes)


@pytest.mark.parametrize("method", ["importance", "likelihood-weighting", "gibbs"])
def test_errors_are_as_large_as_they_say(method: str) -> None:
    """Of forty answers with other seeds about two thirds lie within one standard error, and nearly all within two."""
    exact = asia().query("cancer", EVIDENCE)["yes"]
    network = asia()
    found = [network.estimate("cancer", EVIDENCE, method=method, n_rows=4_000, seed=seed) for seed in range(40)]
    scores = np.array([(each.probability["yes"] - exact) / each.standard_error["yes"] for each in found])
    assert 0.75 < np.sqrt((scores**2).mean()) < 1.3
    assert abs(scores.mean()) < 0.5


@pytest.mark.parametrize("seed", range(15))
def test_zeros_do_not_trap_the_chains(seed: int) -> None:
    """Networks with a third of their entries zero: what is tied together is drawn together."""
    network = random_network(seed, n_nodes=7, zeros=0.35)
    row = network.sample(1, seed=seed)
    evidence = {name: row[name][0] for name in list(network)[:2]}
    for node in list(network)[2:4]:
        exact = network.query(node, evidence)
        found = network.estimate(node, evidence, method="gibbs", n_rows=20_000, seed=seed)
        for state, p in exact.items():
            assert found.probability[state] == pytest.approx(p, abs=5 * found.standard_error[state] + 1e-9)


def test_a_copy_of_a_copy_is_not_stuck_where_it_began() -> None:
    """One node at a time, three copies of a coin would stay on the side on which they fell first."""
    copy = {"yes": 1.0, "no": 0.0}
    nodes = [
        Node("coin", ["yes", "no"], 0.3),
        Node("a", ["yes", "no"], copy, ["coin"]),
        Node("b", ["yes", "no"], copy, ["a"]),
    ]
    found = BeliefNetwork(nodes).estimate("b", method="gibbs", n_rows=5_000)
    assert found.probability["yes"] == pytest.approx(0.3, abs=1e-12)  # one block: drawn exactly
    assert found.r_hat == 1.0


def test_a_chain_that_zeros_would_trap_is_refused() -> None:
    names = [f"n{k}" for k in range(14)]
    nodes = [
        Node(name, ["a", "b"], [1.0, 0.0] if k else 0.5, names[k - 1 : k] if k else []) for k, name in enumerate(names)
    ]
    network = BeliefNetwork(nodes)
    with pytest.raises(TooLargeError, match="tie 14 nodes together"):
        network.estimate("n13", method="gibbs")
    assert network.estimate("n13", method="likelihood-weighting").probability["a"] == pytest.approx(0.5, abs=0.02)


def test_soft_evidence_and_many_children_are_sampled_right() -> None:
    """Six hundred children whose likelihoods multiply to less than a double can hold."""
    children = [Node(f"c{k}", ["a", "b"], [0.011, 0.01], ["cause"]) for k in range(600)]
    network = BeliefNetwork([Node("cause", ["yes", "no"], 1e-20), *children])
    evidence = {f"c{k}": "a" for k in range(600)}
    soft = {"cause": {"yes": 0.5, "no": 1.0}}
    exact = network.query("cause", evidence, soft=soft)["yes"]
    found = network.estimate("cause", evidence, soft=soft, method="gibbs", n_rows=1_000)
    assert found.probability["yes"] == pytest.approx(exact, rel=1e-9)


def test_a_network_that_is_too_entangled_says_how_large_and_is_sampled() -> None:
    network = grid(24)
    with pytest.raises(TooLargeError, match=r"cells, about .* GB; .* GB are allowed. Fix: sample by network.estimate"):
        small = grid(24)
        small.engine.memory_limit = 1 << 20
        small.query("23,23", {"0,0": "a"})
    network.engine.memory_limit = 1 << 20
    evidence = {"12,12": "a", "23,22": "b"}
    weighted = network.estimate("23,23", evidence, method="auto", n_rows=20_000)
    assert weighted.method == "importance"
    chained = network.estimate("23,23", evidence, method="gibbs", n_rows=20_000)
    spread = np.hypot(weighted.standard_error["a"], chained.standard_error["a"])
    assert chained.probability["a"] == pytest.approx(weighted.probability["a"], abs=5 * spread)


def test_exact_answers_have_no_error() -> None:
    found = asia().estimate("cancer", EVIDENCE, method="exact")
    assert set(found.standard_error.values()) == {0.0}
    assert "exact" in repr(found)


def test_the_seed_decides_and_threads_do_not() -> None:
    first = asia().estimate("cancer", EVIDENCE, method="gibbs", n_rows=2_000, seed=3)
    for threads in (1, 3):
        with limit_threads(threads):
            assert asia().estimate("cancer", EVIDENCE, method="gibbs", n_rows=2_000, seed=3) == first
    assert asia().estimate("cancer", EVIDENCE, method="gibbs", n_rows=2_000, seed=4) != first
    assert asia().estimate("cancer", EVIDENCE, method="gibbs", n_rows=2_000, seed=2**70) != first


def test_what_cannot_be_sampled_is_said() -> None:
    with pytest.raises(ParameterError, match="there is no method"):
        asia().estimate("cancer", method="gibs")
    with pytest.raises(ParameterError, match="the seed is -1"):
        asia().estimate("cancer", seed=-1)
    with pytest.raises(ParameterError, match="the seed is -1"):
        asia().sample(3, seed=-1)
    with pytest.raises(ParameterError, match="n_rows is 5"):
        asia().estimate("cancer", method="gibbs", n_rows=5)
    with pytest.raises(ParameterError, match="is observed"):
        asia().estimate("cancer", {"cancer": "yes"}, method="gibbs")
    for method in ("importance", "gibbs", "loopy"):
        with pytest.raises(ImpossibleEvidenceError, match="probability 0"):
            asia().estimate("smoking", {"cancer": "yes", "either": "no"}, method=method)
    with pytest.raises(TooFewRowsError, match="none of 1000 sampled rows"):
        asia().estimate("smoking", {"cancer": "yes", "either": "no"}, method="likelihood-weighting", n_rows=1_000)


# -- rare evidence and states that are never drawn -----------------------------------------------------------------


def chain_of_rare_causes(length: int) -> BeliefNetwork:
    names = [f"n{k}" for k in range(length)]
    first = Node(names[0], ["yes", "no"], 1e-5)
    others = [Node(name, ["yes", "no"], [0.9, 1e-3], [above]) for above, name in pairwise(names)]
    return BeliefNetwork([first, *others])


@pytest.mark.parametrize("method", ["importance", "likelihood-weighting", "gibbs", "loopy"])
def test_a_rare_cause_that_no_row_drew_is_still_found(method: str) -> None:
    network = chain_of_rare_causes(2)
    exact = network.query("n0", {"n1": "yes"})["yes"]
    found = network.estimate("n0", {"n1": "yes"}, method=method, n_rows=20_000)
    assert exact == pytest.approx(0.9e-5 / (0.9e-5 + 1e-3 * (1 - 1e-5)))
    assert found.probability["yes"] == pytest.approx(exact, rel=1e-9)


def test_no_stated_error_is_below_one_over_the_effective_rows() -> None:
    found = chain_of_rare_causes(2).estimate("n0", {"n1": "yes"}, n_rows=20_000)
    assert found.standard_error["yes"] >= 1.0 / found.effective_rows


@pytest.mark.parametrize("case", range(4))
def test_stated_errors_hold_over_two_hundred_seeds_where_evidence_is_rare(case: int) -> None:
    """Rare leaves of random networks, some with zeros: two standard errors hold as often as they say."""
    network = random_network(case, n_nodes=9, zeros=0.3 * (case % 2))
    row = network.sample(200, seed=case)
    leaves = [name for name in network if not network.children(name)][:2]
    rows = [{name: row[name][k] for name in leaves} for k in range(200)]
    evidence = min(rows, key=network.evidence_probability)
    node = next(name for name in network if name not in leaves)
    exact = network.query(node, evidence)
    scores = []
    for seed in range(200):
        found = network.estimate(node, evidence, n_rows=1_000, seed=seed)
        scores.append([(found.probability[s] - exact[s]) / found.standard_error[s] for s in exact])
    assert (np.abs(scores) < 2.0).mean() > 0.93
    assert np.sqrt(np.square(scores).mean()) < 1.2


def test_a_deep_rare_cause_is_found_by_the_adapted_sampler() -> None:
    """Plain weighting has a handful of effective rows here, and says so."""
    network = chain_of_rare_causes(5)
    exact = network.query("n0", {"n4": "yes"})["yes"]
    found = network.estimate("n0", {"n4": "yes"}, n_rows=20_000)
    assert found.effective_rows > 10_000
    assert found.probability["yes"] == pytest.approx(exact, abs=4 * found.standard_error["yes"])
    plain = network.estimate("n0", {"n4": "yes"}, n_rows=20_000, method="likelihood-weighting")
    assert plain.effective_rows < 100
    assert "effective rows" in plain.notes[0]


def test_a_network_whose_zeros_refuse_gibbs_is_sampled_by_importance() -> None:
    """Fourteen copies of a coin, and a sign that one side hardly ever gives."""
    copy = [1.0, 0.0]
    names = [f"n{k}" for k in range(14)]
    nodes = [Node("n0", ["a", "b"], 1e-4)]
    nodes += [Node(name, ["a", "b"], copy, [above]) for above, name in pairwise(names)]
    network = BeliefNetwork([*nodes, Node("sign", ["a", "b"], [0.9, 1e-4], ["n13"])])
    exact = network.query("n3", {"sign": "a"})["a"]
    with pytest.raises(TooLargeError, match="method='importance'"):
        network.estimate("n3", {"sign": "a"}, method="gibbs")
    found = network.estimate("n3", {"sign": "a"}, n_rows=20_000)
    assert found.probability["a"] == pytest.approx(exact, abs=4 * found.standard_error["a"])
    assert found.standard_error["a"] < 0.01


@pytest.mark.parametrize("seed", range(10))
def test_loopy_propagation_is_exact_in_trees_and_near_elsewhere(seed: int) -> None:
    """Each node with one parent at most: a tree. Asia has one loop, and its beliefs are close."""
    generator = np.random.default_rng(seed)
    nodes = [Node("0", ["a", "b", "c"], generator.dirichlet([1, 1, 1]))]
    for k in range(1, 12):
        nodes.append(Node(str(k), ["a", "b", "c"], generator.dirichlet([1, 1, 1], 3), [str(generator.integers(k))]))
    network = BeliefNetwork(nodes)
    evidence, soft = {"11": "a", "7": "c"}, {"5": {"a": 0.2, "b": 1.0, "c": 0.0}}
    for name in ("0", "3", "6", "10"):
        found = network.estimate(name, evidence, soft=soft, method="loopy")
        exact = network.query(name, evidence, soft=soft)
        assert set(found.standard_error.values()) == {0.0}
        assert [found.probability[s] for s in exact] == pytest.approx([exact[s] for s in exact], abs=1e-9)


def test_loopy_propagation_with_a_loop_states_no_error() -> None:
    found = asia().estimate("cancer", EVIDENCE, method="loopy")
    assert all(np.isnan(error) for error in found.standard_error.values())
    assert found.probability["yes"] == pytest.approx(asia().query("cancer", EVIDENCE)["yes"], abs=0.05)
    assert "error unknown" in repr(found)


def test_a_grid_is_summed_out_along_its_lines() -> None:
    """By lines a grid of side n has n^2 cliques of n + 1 or so nodes; the greedy order takes several times more."""
    network = grid(16)
    tree = network.engine.tree([network.place("15,15")], network.engine.finding({}))
    assert tree.n_cells <= 16**2 * 2**17
