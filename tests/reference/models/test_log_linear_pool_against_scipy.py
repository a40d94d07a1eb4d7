"""Weights of logarithms against a general solver, and their certificate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax

from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.auto.pooling import PULL, PULL_OF_POWER, LogLinear, pooled, smoothed


def objective(v: FloatArray, evidence: FloatArray, base: FloatArray, target: FloatArray) -> float:
    log_p = log_softmax(base + np.tensordot(v, evidence, axes=1), axis=1)
    pulled = PULL * len(v) * ((v - 1.0 / len(v)) ** 2).sum() + PULL_OF_POWER * (v.sum() - 1.0) ** 2
    return float((target * log_p).sum() - pulled)


Given = tuple[FloatArray, FloatArray, FloatArray]


def rows_of(seed: int, n_members: int, n_rows: int, n_states: int) -> Given:
    """Members that hear the truth through noise of their own; the last one hears nothing."""
    g = np.random.default_rng(seed)
    shares = g.dirichlet(np.full(n_states, 5.0))
    truth = g.choice(n_states, n_rows, p=shares)
    heard = np.eye(n_states)[truth] + g.normal(size=(n_members, n_rows, n_states))  # its own log-likelihood
    heard[-1] = g.normal(size=(n_rows, n_states)) * 3.0
    base = np.log(shares)
    target = smoothed(truth, g.integers(1, 4, n_rows).astype(float), shares, mistakes=0.5)
    return log_softmax(base + heard, axis=2) - base, base, target


@pytest.mark.parametrize("seed", range(6))
def test_weights_are_those_of_a_general_solver(seed: int) -> None:
    rows = rows_of(seed, 5, 60, 2 + seed % 3)
    found, gap = pooled(*rows)
    solved = minimize(
        lambda v: -objective(v, *rows), np.full(5, 0.2), method="L-BFGS-B", bounds=[(0.0, None)] * 5, tol=1e-14
    ).x
    assert found == pytest.approx(solved, abs=1e-4)
    assert gap < 1e-9
    assert objective(found, *rows) >= objective(solved, *rows) - gap * rows[2].sum() - 1e-12


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(0, 50), st.integers(1, 5))
def test_the_gap_bounds_what_any_other_weights_gain(seed: int, n_members: int, n_rows: int, n_states: int) -> None:
    rows = rows_of(seed, n_members, n_rows, n_states)
    found, gap = pooled(*rows)
    assert (found >= 0.0).all() and gap < 1e-9
    value = objective(found, *rows)
    for other in np.random.default_rng(seed).exponential(1.0 / n_members, (5, n_members)):
        assert objective(other, *rows) <= value + (gap + 1e-9) * max(rows[2].sum(), 1.0)


def test_members_with_different_reasons_are_more_confident_together() -> None:
    found, _ = pooled(*rows_of(1, 4, 2_000, 2))
    assert found[:3] == pytest.approx(1.0, abs=0.2)  # what three hear, each by itself, adds up
    assert found[3] < 0.1


def test_copies_of_one_member_are_not_more_confident_together() -> None:
    evidence, *others = rows_of(2, 2, 2_000, 3)
    found, _ = pooled(evidence[[0, 0, 0]], *others)
    assert found.sum() == pytest.approx(pooled(evidence[:1], *others)[0].sum(), abs=0.01)
    assert found == pytest.approx(found[[1, 2, 0]], abs=1e-9)


def test_a_row_of_weight_two_is_two_rows() -> None:
    evidence, base, target = rows_of(3, 3, 40, 3)
    twice = np.append(np.arange(40), np.arange(10))
    weighted = pooled(evidence, base, target * np.where(np.arange(40) < 10, 2.0, 1.0)[:, None])[0]
    assert pooled(evidence[:, twice], base, target[twice])[0] == pytest.approx(weighted, abs=1e-6)


@pytest.mark.parametrize("mistakes", [0.0, 0.1, 2.0])
def test_mistakes_to_come_are_as_many_as_given_and_as_frequent_as_their_classes(mistakes: float) -> None:
    truth, weights, frequencies = np.array([0, 0, 1, 2]), np.array([1.0, 2.0, 1.0, 4.0]), np.array([0.5, 0.3, 0.2])
    target = smoothed(truth, weights, frequencies, mistakes)
    others = np.where(np.arange(3) == truth[:, None], 0.0, target)
    assert others.sum() == pytest.approx(mistakes, abs=1e-12)
    assert target[np.arange(4), truth].tolist() == weights.tolist()
    assert others[0, 1] * 0.2 == pytest.approx(others[0, 2] * 0.3)


def test_rows_without_a_mistake_do_not_ask_for_all_the_confidence_there_is() -> None:
    evidence = np.log(np.array([[[0.99, 0.01]] * 40]) / 0.5)
    seen = np.tile([1.0, 0.0], (40, 1))
    allowed = smoothed(np.zeros(40, dtype=np.int64), np.ones(40), np.array([0.5, 0.5]), mistakes=0.1)
    base = np.log([0.5, 0.5])
    assert pooled(evidence, base, allowed)[0][0] < pooled(evidence, base, seen)[0][0]


def test_members_that_say_nothing_leave_the_shares_of_the_classes() -> None:
    classes = np.log([0.9, 0.1])
    log_members = np.log(np.array([[[0.9, 0.1]], [[0.9, 0.1]]]))
    answer = np.exp(LogLinear(power=0.4, least=1e-9).log_pool(log_members, np.array([0.5, 0.5]), classes))
    assert answer[0].tolist() == pytest.approx([0.9, 0.1], abs=1e-8)


def test_no_member_has_a_veto() -> None:
    pool = LogLinear(power=1.0, least=1e-4)
    shares = np.exp(pool.log_shares(np.log([[1.0 - 1e-300, 1e-300]])))
    assert shares[0].tolist() == pytest.approx([1.0 - 5e-5, 5e-5])
