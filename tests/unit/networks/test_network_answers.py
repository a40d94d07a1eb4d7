"""Answers of networks where doubles, dimensions or memory would run out, and where evidence contradicts itself."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError, TooFewRowsError, TooLargeError
from bayeswise.networks import BeliefNetwork, Node
from tests.cases.network_cases import YES_NO, asia, random_network


def naive(n_leaves: int, rare: float) -> BeliefNetwork:
    """A cause with many effects, each of which is rare under both states, twice as rare under the second."""
    leaves = [Node(f"e{k}", YES_NO, {"yes": rare, "no": rare / 2}, ["cause"]) for k in range(n_leaves)]
    return BeliefNetwork([Node("cause", YES_NO, 0.5), *leaves])


@pytest.mark.parametrize(("n_leaves", "rare"), [(30, 1e-10), (40, 1e-10), (100, 1e-30), (3, 1e-300)])
def test_evidence_of_any_smallness_has_a_right_answer(n_leaves: int, rare: float) -> None:
    network = naive(n_leaves, rare)
    evidence = {f"e{k}": "yes" for k in range(n_leaves)}
    expected = 1.0 / (1.0 + 0.5**n_leaves)
    answer = network.query("cause", evidence)
    assert answer["yes"] == pytest.approx(expected, abs=1e-12)
    log_evidence = math.log(0.5) + n_leaves * math.log(rare) + math.log1p(0.5**n_leaves)
    assert network.log_evidence(evidence) == pytest.approx(log_evidence, rel=1e-13)
    assert network.marginals(evidence)["cause"]["yes"] == pytest.approx(expected, abs=1e-12)
    assert network.predict_proba("cause", [evidence])[0, 0] == pytest.approx(expected, abs=1e-12)


def test_a_path_that_doubles_lose_is_found_when_it_is_the_only_one_left() -> None:
    tiny = 1e-200
    nodes = [
        Node("a", YES_NO, [tiny, 1.0]),
        Node("b", YES_NO, {"yes": [tiny, 1.0], "no": [0.0, 1.0]}, ["a"]),
        Node("c", YES_NO, {"yes": [0.25, 0.75], "no": [0.0, 1.0]}, ["b"]),
    ]
    network = BeliefNetwork(nodes)
    assert network.query("a", {"c": "yes"})["yes"] == 1.0
    assert network.log_evidence({"c": "yes"}) == pytest.approx(2 * math.log(tiny) + math.log(0.25), rel=1e-14)


def test_impossible_evidence_names_the_conflict_also_far_from_the_query() -> None:
    far = [
        Node("door", YES_NO, 0.5),
        Node("light", YES_NO, {"yes": 1.0, "no": 0.0}, ["door"]),
        Node("apart", YES_NO, 0.3),
    ]
    network = BeliefNetwork(far)
    evidence = {"apart": "yes", "door": "yes", "light": "no"}
    for ask in (lambda: network.query("apart", evidence), lambda: network.marginals(evidence)):
        with pytest.raises(ImpossibleEvidenceError, match="door = yes and light = no have probability 0 together"):
            ask()
    with pytest.raises(ImpossibleEvidenceError, match="door = yes and light = no"):
        network.most_probable(evidence)
    with pytest.raises(ImpossibleEvidenceError, match="row 2: the evidence is impossible: door = yes and light = no"):
        network.predict_proba("apart", [{"door": "yes", "light": "yes"}, {"door": "yes", "light": "no"}])
    assert network.evidence_probability(evidence) == 0.0


def test_soft_evidence_is_a_factor_on_the_states() -> None:
    network = asia()
    hard = network.query("cancer", {"smoking": "yes"})
    soft = network.query("cancer", soft={"smoking": {"yes": 7.0, "no": 0.0}})
    assert soft["yes"] == pytest.approx(hard["yes"], abs=1e-15)
    assert soft.log_evidence == pytest.approx(math.log(3.5))
    with pytest.raises(ImpossibleEvidenceError, match="soft evidence on 'smoking'"):
        network.query("cancer", {"smoking": "no"}, soft={"smoking": {"yes": 1.0, "no": 0.0}})


def test_a_table_too_large_is_an_error_with_its_size_and_sampling_goes_on() -> None:
    generator = np.random.default_rng(0)
    roots = [Node(f"r{k}", YES_NO, 0.5) for k in range(35)]
    pairs = [Node(f"p{i}_{j}", YES_NO, generator.random(4), [f"r{i}", f"r{j}"]) for i in range(35) for j in range(i)]
    network = BeliefNetwork([*roots, *pairs])
    evidence = {node.name: "yes" for node in pairs}
    with pytest.raises(TooLargeError, match=r"cells, about .* GB; 2.15 GB are allowed.*estimate"):
        network.query("r0", evidence)
    few = {pairs[0].name: "yes"}
    estimate = network.estimate("r0", few, n_rows=5_000)
    exact = network.query("r0", few)
    assert abs(estimate.probability["yes"] - exact["yes"]) < 4 * estimate.standard_error["yes"]


def test_a_node_may_have_more_neighbours_than_arrays_have_dimensions() -> None:
    single = [Node(f"one{k}", ["only"], [1.0]) for k in range(70)]
    many = Node("many", YES_NO, [[0.25, 0.75]], [node.name for node in single])
    network = BeliefNetwork([*single, many])
    assert network.query("many")["yes"] == 0.25
    assert network.query(list(network.names)).cells.tolist() == [0.25, 0.75]
    leaves = naive(80, 0.25)
    assert leaves.query("cause")["yes"] == pytest.approx(0.5)


def test_samples_have_the_frequencies_of_the_network() -> None:
    rows = asia().sample(20_000, seed=1)
    share = rows["dyspnoea"].count("yes") / 20_000
    assert abs(share - asia().query("dyspnoea")["yes"]) < 4 * math.sqrt(0.25 / 20_000)


def test_likelihood_weighting_is_within_its_error_bars() -> None:
    network, evidence = asia(), {"visit": "yes", "dyspnoea": "yes"}
    estimate, exact = network.estimate("cancer", evidence, n_rows=50_000), network.query("cancer", evidence)
    assert 0.0 < estimate.standard_error["yes"] < 0.01
    assert abs(estimate.probability["yes"] - exact["yes"]) < 4 * estimate.standard_error["yes"]
    assert estimate.log_evidence == pytest.approx(exact.log_evidence, abs=0.05)
    with pytest.raises(TooFewRowsError, match="none of 100 sampled rows"):
        BeliefNetwork([Node("a", YES_NO, [0.0, 1.0])]).estimate("a", {"a": "yes"}, n_rows=100)


@pytest.mark.parametrize("share_missing", [0.0, 0.3])
def test_rows_with_any_missing_values_are_answered_as_one_by_one(share_missing: float) -> None:
    network = asia()
    columns = network.sample(500, seed=3)
    missing = np.random.default_rng(4).random((500, len(network))) < share_missing
    rows = [
        {name: None if missing[k, j] else columns[name][k] for j, name in enumerate(network.names) if name != "cancer"}
        for k in range(500)
    ]
    together = network.predict_proba("cancer", rows)
    for k in range(0, 500, 7):
        seen = {name: state for name, state in rows[k].items() if state is not None}
        assert together[k] == pytest.approx(network.query("cancer", seen).cells, abs=1e-14)


def test_marginals_that_do_not_fit_together_are_found_one_by_one() -> None:
    """Every pair of twelve causes has an effect: together they make one clique, each effect alone a small tree."""
    causes = [Node(f"c{k}", YES_NO, 0.1 + 0.05 * k) for k in range(12)]
    pairs = list(itertools.combinations(range(12), 2))
    effects = [Node(f"e{i},{j}", YES_NO, [0.9, 0.5, 0.4, 0.1], [f"c{i}", f"c{j}"]) for i, j in pairs]
    network = BeliefNetwork([*causes, *effects])
    together = network.marginals({"c0": "yes"})
    small = BeliefNetwork([*causes, *effects])
    small.engine.memory_limit = 5_000
    alone = small.marginals({"c0": "yes"})
    assert list(alone) == list(together)
    for name, expected in together.items():
        assert [*alone[name].values()] == pytest.approx([*expected.values()], rel=1e-12)
        assert alone[name].log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
    with pytest.raises(TooLargeError, match="--memory GB"):
        small.marginals({"c0": "yes", **{f"e{i},{j}": "yes" for i, j in pairs}})


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process")
def test_the_memory_that_is_planned_is_what_is_used() -> None:
    """A grid of 15 x 15 nodes: the process grows by the bytes that its tree announces, and not by twice as many."""
    code = """
import re
import numpy as np
from pathlib import Path
from bayeswise.networks import BeliefNetwork, Node
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
generator, nodes = np.random.default_rng(0), []
for i in range(15):
    for j in range(15):
        above = [f"{i - 1},{j}"] * (i > 0) + [f"{i},{j - 1}"] * (j > 0)
        nodes.append(Node(f"{i},{j}", ["a", "b"], generator.dirichlet([2, 2], 2 ** len(above)), above))
network = BeliefNetwork(nodes)
tree = network.engine._tree_of_all(network.engine.finding({}))
before = peak()
network.marginals()
print((peak() - before) / tree.n_bytes)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.8 < float(found.stdout) < 1.2


@pytest.mark.parametrize("seed", range(6))
def test_new_evidence_in_a_small_network_takes_no_new_tree_and_gives_the_same_numbers(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayeswise.networks.inference import engine

    network = random_network(seed, n_nodes=8)
    row = network.sample(1, seed=seed)
    sets = [{name: row[name][0] for name in network.names[k : k + 3]} for k in range(6)]
    soft = {network.names[-1]: dict.fromkeys(network.states(network.names[-1]), 0.5)}
    network.marginals()
    kept = len(network.engine._plans)
    found = [network.marginals(evidence, soft=soft) for evidence in sets[:4]]
    assert len(network.engine._plans) == kept
    monkeypatch.setattr(engine, "_SMALL_TREE", 0)
    network.__dict__.pop("engine")
    for evidence, mine in zip(sets[:4], found, strict=True):
        expected = network.marginals(evidence, soft=soft)
        for name in network:
            assert [*mine[name].values()] == pytest.approx([*expected[name].values()], rel=1e-12, abs=1e-15)
        assert mine[name].log_evidence == pytest.approx(expected[name].log_evidence, rel=1e-12)
    assert len(network.engine._plans) > 1


def test_a_gibbs_estimate_is_not_worth_more_rows_than_were_drawn() -> None:
    network = BeliefNetwork([Node("rare", ["y", "n"], 1e-5), Node("sign", ["y", "n"], [0.9, 0.001], ["rare"])])
    found = network.estimate("rare", {"sign": "y"}, method="gibbs", n_rows=2_048)
    assert found.effective_rows <= 2_048


def test_independent_findings_neither_support_each_other_nor_disagree() -> None:
    network = BeliefNetwork([Node(name, YES_NO, p) for name, p in (("a", 0.1), ("b", 0.3), ("c", 0.7))])
    assert str(network.conflict({"a": "yes", "b": "no", "c": "yes"})) == "conflict 0 bits: the findings are independent"
