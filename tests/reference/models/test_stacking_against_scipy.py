"""Weights of a mixture against a general solver, and their certificate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.auto.stacking import MISTAKES_TO_COME, PULL, stacked, with_mistakes


def objective(weights: FloatArray, share: FloatArray, mass: FloatArray, pull: float) -> float:
    return float((mass * np.log(weights @ share)).sum() + pull / len(weights) * np.log(weights).sum())


@pytest.mark.parametrize("seed", range(6))
def test_weights_are_those_of_a_general_solver(seed: int) -> None:
    g = np.random.default_rng(seed)
    share = g.beta(2 + seed, 2, size=(5, 60))
    mass = g.integers(1, 4, 60).astype(float)
    found = stacked(share, mass)
    solved = minimize(
        lambda z: -objective(np.exp(z) / np.exp(z).sum(), share, mass, PULL), np.zeros(5), method="BFGS", tol=1e-10
    ).x
    expected = np.exp(solved) / np.exp(solved).sum()
    assert found.weights == pytest.approx(expected, abs=1e-4)
    assert objective(found.weights, share, mass, PULL) >= objective(expected, share, mass, PULL) - 1e-9
    assert found.gap <= 1e-9


@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(1, 50), st.floats(1e-12, 1.0))
def test_the_gap_bounds_what_any_other_weights_gain(seed: int, n_members: int, n_rows: int, least: float) -> None:
    g = np.random.default_rng(seed)
    share = least + (1.0 - least) * g.random((n_members, n_rows)) ** 4
    found = stacked(share, np.ones(n_rows))
    assert found.gap <= 1e-9
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    value = objective(found.weights, share, np.ones(n_rows), PULL)
    for other in g.dirichlet(np.ones(n_members), 5):
        if (other > 0).all():
            assert objective(other, share, np.ones(n_rows), PULL) <= value + found.gap * n_rows + 1e-9 * n_rows


def test_rows_that_no_member_thinks_possible_say_nothing() -> None:
    share = np.array([[0.9, 0.0], [0.3, 0.0]])
    assert stacked(share, np.ones(2)).weights == pytest.approx(stacked(share[:, :1], np.ones(1)).weights)


def test_without_rows_all_members_weigh_the_same() -> None:
    assert stacked(np.zeros((4, 0)), np.zeros(0)).weights.tolist() == [0.25] * 4


def test_a_confident_member_without_a_mistake_does_not_take_all_the_weight() -> None:
    """20 rows, none mistaken: 0.2 nats between the two members in all, and a mistake would cost 14 nats or 4.6."""
    own = np.array([[1.0 - 1e-6], [0.99]]).repeat(20, axis=1)
    share, weights = with_mistakes(own, np.ones(20), least=1e-9)
    assert weights[20:].sum() == pytest.approx(MISTAKES_TO_COME)
    with_them, without = stacked(share, weights, pull=1e-3), stacked(own, np.ones(20), pull=1e-3)
    assert without.weights[1] < 0.01 and with_them.weights[1] > 0.1


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 30))
def test_mistakes_are_the_other_classes_together(seed: int, n_members: int, n_rows: int) -> None:
    g = np.random.default_rng(seed)
    own, mass = g.random((n_members, n_rows)), g.random(n_rows) + 0.1
    share, weights = with_mistakes(own, mass, least=0.0)
    assert share[:, :n_rows] + share[:, n_rows:] == pytest.approx(1.0)
    assert weights[:n_rows].tolist() == mass.tolist() and weights[n_rows:].sum() == pytest.approx(MISTAKES_TO_COME)
