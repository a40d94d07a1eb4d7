"""Limits on several actions at once, beside the linear program of the same transport problem."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import bayeswise as bw
from bayeswise.decisions import within_capacity
from bayeswise.decisions.policy.capacity import least_cost_places
from bayeswise.foundation.errors import ParameterError

MAIL = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(2, 4), st.booleans())
def test_no_assignment_within_the_limits_costs_less(seed: int, n_rows: int, n_actions: int, ties: bool) -> None:
    generator = np.random.default_rng(seed)
    shape = (n_rows, n_actions)
    cost = generator.integers(0, 4, shape).astype(float) if ties else generator.normal(size=shape)
    limited = generator.permutation(n_actions)[: generator.integers(1, n_actions + 1)].tolist()
    limits = {k: int(generator.integers(0, n_rows + 1)) for k in limited}
    if len(limits) == n_actions:
        limits[limited[0]] = n_rows
    best = least_cost_places(cost, limits)
    program = linprog(
        cost.ravel(),
        A_ub=np.array([np.tile(np.arange(n_actions) == k, n_rows) for k in limits], dtype=float),
        b_ub=list(limits.values()),
        A_eq=np.kron(np.eye(n_rows), np.ones((1, n_actions))),
        b_eq=np.ones(n_rows),
        bounds=(0, 1),
    )
    assert all(np.count_nonzero(best == k) <= most for k, most in limits.items())
    assert cost[np.arange(n_rows), best].sum() == pytest.approx(program.fun, abs=1e-9)


def test_two_limits_on_a_hundred_thousand_rows_are_a_matter_of_a_second() -> None:
    spam = np.random.default_rng(0).random(100_000)
    decisions = bw.decide({"spam": spam, "ham": 1 - spam}, MAIL)
    start = time.process_time()
    found = within_capacity(decisions, {"ask": 0.05, "bin": 0.02})
    assert time.process_time() - start < 5.0  # the linear program took half a minute
    assert np.bincount(found.decisions.best).tolist() == [2000, 93000, 5000]
    order = np.argsort(-spam)  # the surest spam is binned, the user is asked about the next
    assert (found.decisions.best[order[:2000]] == 0).all()
    assert (found.decisions.best[order[2000:7000]] == 2).all()


def test_no_limit_and_no_row_change_nothing() -> None:
    some = bw.decide({"spam": [0.9, 0.6], "ham": [0.1, 0.4]}, MAIL)
    none = bw.decide({"spam": [], "ham": []}, MAIL)
    assert within_capacity(some, {}).decisions.action.tolist() == ["ask", "ask"]
    assert within_capacity(none, {"ask": 0.5, "keep": 1}).price == {"ask": 0.0, "keep": 0.0}


@pytest.mark.parametrize("most", ["2", None, True, -1, 1.5, float("nan")])
def test_a_limit_is_a_number_of_rows_or_a_share(most: object) -> None:
    decisions = bw.decide({"spam": [0.9, 0.6], "ham": [0.1, 0.4]}, MAIL)
    with pytest.raises(ParameterError, match="may take 'ask'"):
        within_capacity(decisions, {"ask": most})  # type: ignore[dict-item]
