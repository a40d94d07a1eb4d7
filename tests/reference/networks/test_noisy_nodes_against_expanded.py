"""Noisy-OR and noisy-MAX nodes answer as their expanded tables do, without being expanded."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks import BeliefNetwork, Node, NoisyMax, NoisyOr


def two_effects(seed: int, *, expanded: bool) -> BeliefNetwork:
    """Five causes of two or three states, one the child of another, and two effects of three states that share some."""
    generator = np.random.default_rng(seed)
    sizes = [2, 3, 2, 3, 2]
    nodes = []
    for k, size in enumerate(sizes):
        above = ["c0"] if k == 3 else []
        nodes.append(Node(f"c{k}", range(size), generator.dirichlet(np.ones(size), 2 if above else 1), above))
    for name, causes in (("e", [0, 1, 2, 3]), ("f", [4, 2, 1])):
        noisy = NoisyMax([generator.dirichlet(np.ones(3), sizes[k]) for k in causes], generator.dirichlet([1, 1, 9]))
        table = noisy.table() if expanded else noisy
        nodes.append(Node(name, ["much", "some", "none"], table, [f"c{k}" for k in causes]))
    return BeliefNetwork(nodes)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("evidence", [{}, {"e": "much"}, {"e": "some", "f": "none"}, {"c1": 2, "f": "much"}])
def test_every_answer_is_that_of_the_expanded_table(seed: int, evidence: dict[str, object]) -> None:
    short, long = two_effects(seed, expanded=False), two_effects(seed, expanded=True)
    soft = {"c2": {0: 0.3, 1: 1.0}}
    for given in (None, soft):
        expected = long.marginals(evidence, soft=given)
        for name, found in short.marginals(evidence, soft=given).items():
            assert [*found.values()] == pytest.approx([*expected[name].values()], abs=1e-12)
            assert [*short.query(name, evidence, soft=given).values()] == pytest.approx([*found.values()], abs=1e-12)
        assert short.log_evidence(evidence, soft=given) == pytest.approx(long.log_evidence(evidence, soft=given))
    best, expected_best = short.most_probable(evidence), long.most_probable(evidence)
    assert best.log_joint == pytest.approx(expected_best.log_joint)
    assert best.states == expected_best.states
    joint = short.query(["c0", "c3"], evidence)
    assert [*joint.values()] == pytest.approx([*long.query(["c0", "c3"], evidence).values()], abs=1e-12)


def test_sampled_answers_sensitivities_and_rows_know_the_expanded_table() -> None:
    short, long = two_effects(3, expanded=False), two_effects(3, expanded=True)
    assert short.sample(50, seed=1) == long.sample(50, seed=1)
    rows = long.sample(20, seed=2)
    observed = {name: rows[name] for name in ("e", "c1")}
    assert short.predict_proba("c0", observed) == pytest.approx(long.predict_proba("c0", observed), abs=1e-12)
    first = short.sensitivity("c0", {"e": "much"}, tables=["c1"])
    second = long.sensitivity("c0", {"e": "much"}, tables=["c1"])
    assert [each.value for each in first] == [each.value for each in second]


def test_sixty_causes_take_milliseconds() -> None:
    """Expanded, the table would have 2^61 cells."""
    generator = np.random.default_rng(0)
    chances = generator.uniform(0.05, 0.5, 60)
    priors = generator.uniform(0.01, 0.1, 60)
    causes = [Node(f"c{k}", ["yes", "no"], float(p)) for k, p in enumerate(priors)]
    effect = Node("e", ["yes", "no"], NoisyOr(chances.tolist(), leak=0.01), [node.name for node in causes])
    network = BeliefNetwork([*causes, effect])
    began = time.process_time()
    no = 0.99 * np.prod(1.0 - priors * chances)
    assert network.query("e")["no"] == pytest.approx(no, rel=1e-12)
    posterior = network.query("c7", {"e": "yes"})["yes"]
    without = 0.99 * np.prod(np.delete(1.0 - priors * chances, 7))
    assert posterior == pytest.approx(priors[7] * (1.0 - (1.0 - chances[7]) * without) / (1.0 - no), rel=1e-9)
    assert time.process_time() - began < 2.0  # a guard against expansion, which would not end
    with pytest.raises(NetworkError, match="expanded, the table of 60 causes"):
        network.table("e")
    assert network.n_parameters == 60 + 1 + 120


def test_a_noisy_node_keeps_its_causes_in_a_model_file(tmp_path: Path) -> None:
    network = two_effects(1, expanded=False)
    network.save(tmp_path / "noisy.bayeswise")
    again = bw.load(tmp_path / "noisy.bayeswise")
    assert again == network
    assert again != two_effects(1, expanded=True)
    assert isinstance(again.node("e").table, NoisyMax)
    network.write(tmp_path / "noisy.bif")
    assert BeliefNetwork.read(tmp_path / "noisy.bif").table("e").tolist() == network.table("e").tolist()


def test_edits_and_interventions_leave_noisy_nodes_as_they_are() -> None:
    network = two_effects(2, expanded=False)
    renamed = network.edit.rename_node("c4", "dust").edit.rename_states("e", {"much": "very"})
    assert isinstance(renamed.node("e").table, NoisyMax)
    assert isinstance(renamed.do({"c0": 1}).node("f").table, NoisyMax)
    fewer = network.edit.remove_edge("c0", "e")
    assert fewer.query("e")["much"] == pytest.approx(network.query("e")["much"], abs=0.2)


def test_what_does_not_fit_is_said() -> None:
    a = Node("a", ["yes", "no"], 0.5)
    with pytest.raises(NetworkError, match="about causes with \\[2, 2\\] states"):
        BeliefNetwork([a, Node("e", ["yes", "no"], NoisyOr([0.5, 0.5]), ["a"])])
    with pytest.raises(ParameterError, match="one column for each state"):
        NoisyMax([])
    with pytest.raises(ParameterError, match="the leak has 3 numbers for 2 states"):
        NoisyMax([[[0.5, 0.5]]], [0.1, 0.1, 0.8])
    with pytest.raises(NetworkError, match="sums to"):
        NoisyMax([[[0.5, 0.6]]])
    with pytest.raises(ParameterError, match="the chance of a cause is 'x'"):
        NoisyOr(["x"])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="not a table of numbers"):
        NoisyMax([[["x", 0.6]]])
