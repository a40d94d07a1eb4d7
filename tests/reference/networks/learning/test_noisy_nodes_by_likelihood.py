"""Noisy maxima by EM: no other numbers make the rows more probable, and those that made them are found again."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError, TooFewRowsError
from bayeswise.networks import BeliefNetwork, Node, NoisyMax, NoisyOr
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.em.noisy import fit_noisy_max

YES_NO = ["yes", "no"]


def rows_of(network: BeliefNetwork, n_rows: int, seed: int) -> CodedRows:
    return CodedRows.of(network.sample(n_rows, seed=seed), states={name: network.states(name) for name in network})


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_the_greatest_that_a_search_finds(seed: int) -> None:
    """Two causes and a leak against Nelder-Mead on the likelihood itself."""
    rng = np.random.default_rng(seed)
    true = rng.uniform(0.1, 0.9, 3)
    causes = [Node("a", YES_NO, 0.4), Node("b", YES_NO, 0.5)]
    network = BeliefNetwork([*causes, Node("e", YES_NO, NoisyOr(list(true[:2]), leak=true[2]), ["a", "b"])])
    rows = rows_of(network, 400, seed)
    counts = dict.fromkeys(itertools.product((0, 1), repeat=3), 0)
    for cell in rows.codes[:, [rows.names.index(name) for name in "abe"]].tolist():
        counts[tuple(cell)] += 1

    def loss(logits: np.ndarray) -> float:
        pa, pb, leak = 1.0 / (1.0 + np.exp(-logits))
        total = 0.0
        for (a, b, e), count in counts.items():
            none = (1 - leak) * (1 - pa if a == 0 else 1.0) * (1 - pb if b == 0 else 1.0)
            total -= count * math.log(max(1 - none if e == 0 else none, 1e-300))
        return total

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000})
    found = fit_noisy_max(rows, "e", ["a", "b"], smoothing=0.0)
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-6)


def test_the_numbers_that_made_the_rows_are_found_again() -> None:
    """Three states, causes of two and three states."""
    table = NoisyMax(
        [[[0.5, 0.3, 0.2], [0.0, 0.0, 1.0]], [[0.6, 0.2, 0.2], [0.1, 0.5, 0.4], [0.0, 0.0, 1.0]]], [0.02, 0.08, 0.9]
    )
    grades, strength = ["severe", "mild", "none"], ["strong", "weak", "absent"]
    parents = [Node("a", YES_NO, 0.5), Node("b", strength, [[0.3, 0.3, 0.4]])]
    network = BeliefNetwork([*parents, Node("e", grades, table, ["a", "b"])])
    found = fit_noisy_max(rows_of(network, 40_000, 1), "e", ["a", "b"]).table
    for mine, theirs in zip((*found.causes, found.leak), (*table.causes, table.leak), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=0.03)


def test_every_step_gains_and_absence_brings_about_nothing() -> None:
    parents = [f"c{k}" for k in range(6)]
    effect = Node("e", YES_NO, NoisyOr([0.7] * 6, leak=0.1), parents)
    rows = rows_of(BeliefNetwork([*(Node(name, YES_NO, 0.3) for name in parents), effect]), 1_000, 2)
    gains = [fit_noisy_max(rows, "e", parents, smoothing=0.0, most_steps=n).log_likelihood for n in range(1, 20)]
    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(gains))
    assert all(cause[-1].tolist() == [0.0, 1.0] for cause in fit_noisy_max(rows, "e", parents).table.causes)


def test_a_network_is_learned_with_noisy_nodes() -> None:
    network = BeliefNetwork(
        [*(Node(name, YES_NO, 0.3) for name in "ab"), Node("e", YES_NO, NoisyOr([0.8, 0.5], leak=0.05), ["a", "b"])]
    )
    rows, states = network.sample(5_000, seed=3), dict.fromkeys(network, YES_NO)
    learned = bw.BeliefNetwork.learn(rows, parents={"e": ["a", "b"]}, states=states, noisy=["e"])
    node = learned.node("e").table
    assert isinstance(node, NoisyMax)
    assert [cause[0, 0] for cause in node.causes] == pytest.approx([0.8, 0.5], abs=0.05)
    assert any("EM of its 2 causes" in note for note in learned.notes)
    for overrides, said in (
        ({"states": states}, "has no causes"),
        ({"parents": {"e": ["a", "b"]}}, "the order of the states"),
    ):
        with pytest.raises(ParameterError, match=said):
            bw.BeliefNetwork.learn(rows, noisy=["e"], **overrides)  # type: ignore[arg-type]
    none = CodedRows.of({"a": [None, "yes"], "e": ["yes", None]}, states={"a": YES_NO, "e": YES_NO})
    with pytest.raises(TooFewRowsError, match="no row has 'e'"):
        fit_noisy_max(none, "e", ["a"])
