"""Nodes of seventy thousand states: every question has its answer, and soon."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from bayeswise.networks import BeliefNetwork, Node

N_STATES = 70_000


@pytest.fixture(scope="module")
def network() -> BeliefNetwork:
    generator = np.random.default_rng(0)
    many = [f"s{k}" for k in range(N_STATES)]
    return BeliefNetwork(
        [
            Node("many", many, generator.dirichlet(np.ones(N_STATES))),
            Node("few", ["a", "b", "c"], generator.dirichlet(np.ones(3), N_STATES), ["many"]),
            Node("some", list(range(300)), generator.dirichlet(np.ones(300), 3), ["few"]),
        ]
    )


def test_answers_are_sums_over_all_states(network: BeliefNetwork) -> None:
    prior, few, some = network.table("many")[0], network.table("few"), network.table("some")
    joint = prior[:, None] * few * some[:, 299]
    expected = joint.sum(axis=0) / joint.sum()
    assert network.query("few", {"some": 299}).cells == pytest.approx(expected, rel=1e-12)
    assert network.query("many", {"some": 299})["s69999"] == pytest.approx(joint[-1].sum() / joint.sum(), rel=1e-12)
    best = np.unravel_index(np.argmax(joint), joint.shape)
    states = network.most_probable({"some": 299}).states
    assert (states["many"], states["few"]) == (f"s{best[0]}", "abc"[best[1]])
    start = time.process_time()
    assert sum(p for _, p in network.marginals()["many"].items()) == pytest.approx(1.0)
    assert time.process_time() - start < 2.0


def test_rows_with_such_columns_are_answered(network: BeliefNetwork) -> None:
    rows = network.sample(2_000, seed=1)
    with_missing = [state if k % 3 else None for k, state in enumerate(rows["many"])]
    found = network.predict_proba("few", {"many": with_missing, "some": rows["some"]})
    for row in (0, 1, 2):
        seen = {"some": rows["some"][row]} | ({"many": with_missing[row]} if with_missing[row] else {})
        assert found[row] == pytest.approx(network.query("few", seen).cells, rel=1e-12)


def test_samples_and_chains_find_the_same(network: BeliefNetwork) -> None:
    exact = network.query("few", {"some": 7})
    for method in ("importance", "likelihood-weighting", "gibbs"):
        found = network.estimate("few", {"some": 7}, method=method, n_rows=1_000)
        assert found.probability["a"] == pytest.approx(exact["a"], abs=5 * found.standard_error["a"])


def test_files_and_pictures_take_them(network: BeliefNetwork, tmp_path: Path) -> None:
    for suffix in (".bif", ".bayeswise"):
        network.write(tmp_path / f"n{suffix}")
        assert len(BeliefNetwork.read(tmp_path / f"n{suffix}").states("many")) == N_STATES
    assert "69992 others" in network.picture().svg()
