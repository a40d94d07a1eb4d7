"""What holds for every table of costs and every posterior."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.decisions import (
    CostWarning,
    Densities,
    Outcomes,
    minimax,
    next_test,
    perfect_information,
    within_capacity,
)
from bayeswise.decisions.policy.rule import rule
from bayeswise.posteriors.prior import shift_prior

pytestmark = pytest.mark.filterwarnings("ignore::bayeswise.decisions.CostWarning")

STATES = ["s0", "s1", "s2"]
CELLS = st.integers(-20, 20)
PRIORS = st.lists(st.integers(1, 30), min_size=3, max_size=3)


@st.composite
def cases(draw: Any, n_actions: int = 4, n_states: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """A table of costs (4, 3) of small whole numbers, so that sums are exact, and posteriors in 64ths."""
    table = np.array(
        draw(st.lists(st.lists(CELLS, min_size=n_states, max_size=n_states), min_size=n_actions, max_size=n_actions))
    )
    rows = draw(
        st.lists(st.lists(st.integers(0, 64), min_size=n_states - 1, max_size=n_states - 1), min_size=1, max_size=8)
    )
    cuts = [[0, *sorted(row), 64] for row in rows]
    return table.astype(float), np.diff(np.array(cuts), axis=1) / 64.0


def costs_of(table: np.ndarray, states: list[str] = STATES) -> bw.Costs:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CostWarning)
        return bw.Costs({f"a{i}": dict(zip(states, row.tolist(), strict=True)) for i, row in enumerate(table)})


def chosen(table: np.ndarray, shares: np.ndarray) -> list[str]:
    return bw.decide(shares, costs_of(table), states=STATES).action.tolist()


@given(cases(), st.lists(CELLS, min_size=3, max_size=3))
def test_a_constant_for_each_true_state_changes_nothing(case: Any, constants: list[int]) -> None:
    table, shares = case
    assert chosen(table + np.array(constants, dtype=float), shares) == chosen(table, shares)


@given(cases(), st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_one_positive_scale_changes_nothing(case: Any, scale: float) -> None:
    table, shares = case
    assert chosen(table * scale, shares) == chosen(table, shares)


@given(cases(), st.sampled_from([0.25, 0.5, 2.0, 4.0]), st.integers(0, 2))
def test_scaling_the_costs_of_a_state_is_scaling_its_prior(case: Any, scale: float, state: int) -> None:
    table, shares = case
    costlier, likelier = table.copy(), shares.copy()
    costlier[:, state] *= scale
    likelier[:, state] *= scale
    total = likelier.sum(axis=1)
    kept = total > 0
    likelier = likelier[kept] / total[kept, None]
    one = bw.decide(shares[kept], costs_of(costlier), states=STATES)
    other = bw.decide(likelier, costs_of(table), states=STATES)
    # dividing by the sum rounds, so that ties may break; the chosen one must be as cheap
    at = np.arange(kept.sum())
    assert np.allclose(other.expected_cost[at, one.best], other.least_cost, rtol=0, atol=1e-12)


@given(cases(), st.integers(0, 3), st.lists(st.integers(0, 5), min_size=3, max_size=3))
def test_a_dominated_action_at_the_end_changes_nothing(case: Any, which: int, more: list[int]) -> None:
    table, shares = case
    assert chosen(np.vstack([table, table[which] + np.array(more)]), shares) == chosen(table, shares)


@given(cases(), st.integers(0, 3), st.lists(st.integers(1, 5), min_size=3, max_size=3), st.integers(0, 4))
def test_an_action_that_is_always_dearer_changes_nothing_wherever_it_stands(
    case: Any, which: int, more: list[int], place: int
) -> None:
    table, shares = case
    found = bw.decide(shares, costs_of(np.insert(table, place, table[which] + np.array(more), axis=0)), states=STATES)
    assert place not in found.best
    without = bw.decide(shares, costs_of(table), states=STATES)
    assert (found.best - (found.best > place)).tolist() == without.best.tolist()


@given(cases(), PRIORS, PRIORS)
def test_another_prior_is_another_price_of_each_state(case: Any, before: list[int], after: list[int]) -> None:
    """p(s) new(s) / old(s) decides like the old posterior with costs new(s) / old(s) times as high."""
    table, shares = case
    old, new = (np.array(each) / sum(each) for each in (before, after))
    moved = shift_prior(
        shares,
        states=STATES,
        old=dict(zip(STATES, old.tolist(), strict=True)),
        new=dict(zip(STATES, new.tolist(), strict=True)),
    )
    assert moved.sum(axis=1) == pytest.approx(1.0)
    one = bw.decide(moved, costs_of(table), states=STATES)
    other = bw.decide(shares, costs_of(table * (new / old)), states=STATES)
    assert np.allclose(one.expected_cost[np.arange(len(shares)), other.best], one.least_cost, rtol=0, atol=1e-12)


@given(cases(), st.lists(st.integers(-9, 9), min_size=8, max_size=8))
def test_costs_of_the_row_are_a_table_for_each_row(case: Any, amounts: list[int]) -> None:
    """Formulas over a column decide as if every row came with a table of its own."""
    table, shares = case
    amount = np.array(amounts[: len(shares)], dtype=float)
    rows = {
        f"a{i}": {s: f"{cell} + {i + 1} * amount" for s, cell in zip(STATES, line.tolist(), strict=True)}
        for i, line in enumerate(table)
    }
    found = bw.decide(shares, bw.Costs(rows), states=STATES, rows={"amount": amount})
    slope = np.arange(1.0, 5.0)[:, None]
    each = [bw.decide(p[None], costs_of(table + slope * x), states=STATES) for p, x in zip(shares, amount, strict=True)]
    best = np.array([one.best[0] for one in each])
    least = [float(one.least_cost[0]) for one in each]
    assert found.least_cost == pytest.approx(least, abs=1e-12)
    assert found.expected_cost[np.arange(len(best)), best] == pytest.approx(least, abs=1e-12)


@given(cases(), st.integers(-20, 20), st.integers(0, 10))
def test_a_higher_price_of_asking_never_raises_the_asking_rate(case: Any, price: int, more: int) -> None:
    table, shares = case
    rates = [
        bw.decide(shares, costs_of(table).with_reject(cost), states=STATES).refused for cost in (price, price + more)
    ]
    assert (rates[1] <= rates[0]).all()


@given(cases())
def test_the_chosen_action_costs_no_more_than_any_other_and_ties_go_to_the_first(case: Any) -> None:
    table, shares = case
    answer = bw.decide(shares, costs_of(table), states=STATES)
    exact = [
        [sum(Fraction(p) * Fraction(c) for p, c in zip(row, line, strict=True)) for line in table] for row in shares
    ]
    assert answer.best.tolist() == [min(range(4), key=lambda k, row=row: (row[k], k)) for row in exact]
    assert (answer.margin >= 0).all()


@given(cases(n_states=2))
def test_the_rule_in_words_is_the_decision(case: Any) -> None:
    table, shares = case
    costs = costs_of(table, ["s0", "s1"])
    policy = rule(costs)
    answer = bw.decide(shares, costs, states=["s0", "s1"])
    assert answer.action.tolist() == [policy.action_at(Fraction(p)) for p in shares[:, 0].tolist()]


@given(cases(), st.lists(st.lists(st.integers(1, 20), min_size=3, max_size=3), min_size=2, max_size=4))
def test_information_is_never_worth_less_than_nothing_nor_more_than_everything(case: Any, counts: Any) -> None:
    table, shares = case
    likelihood = np.array(counts, dtype=float)
    column = Outcomes(tuple(range(len(counts))), likelihood / likelihood.sum(axis=0))
    posterior = dict(zip(STATES, shares[0].tolist(), strict=True))
    answer = next_test(posterior, costs_of(table), {"x": column, "again": column}, 0.0)
    assert all(0.0 <= test.value <= answer.perfect + 1e-9 for test in answer.tests)
    assert answer.perfect == perfect_information(posterior, costs_of(table))[0]
    ahead = next_test(posterior, costs_of(table), {"x": column, "again": column}, 0.0, depth=2)
    assert ahead.tests[0].value >= answer.tests[0].value - 1e-9


@given(cases(), st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 4)), min_size=3, max_size=3))
@settings(max_examples=20)
def test_a_number_is_never_worth_less_than_nothing_nor_more_than_everything(case: Any, normals: Any) -> None:
    from scipy.stats import norm

    table, shares = case
    column = Densities(tuple(norm(mean, stddev) for mean, stddev in normals))
    posterior = dict(zip(STATES, shares[0].tolist(), strict=True))
    answer = next_test(posterior, costs_of(table), {"x": column}, 0.0)
    assert 0.0 <= answer.tests[0].value <= answer.perfect + 1e-9


@given(cases(), st.integers(0, 7), st.integers(0, 3))
def test_one_place_more_never_costs_and_its_price_never_rises(case: Any, most: int, action: int) -> None:
    table, shares = case
    decisions = bw.decide(shares, costs_of(table), states=STATES)
    few, more = (within_capacity(decisions, {f"a{action}": places}) for places in (most, most + 1))
    saved = few.decisions.least_cost.sum() - more.decisions.least_cost.sum()
    assert saved == pytest.approx(few.price[f"a{action}"], abs=1e-9)
    assert more.price[f"a{action}"] <= few.price[f"a{action}"] + 1e-12


@given(cases(), st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=40)
def test_the_price_of_a_place_is_what_one_more_saves_under_several_limits(case: Any, first: int, second: int) -> None:
    table, shares = case
    decisions = bw.decide(shares, costs_of(table), states=STATES)
    limits = {"a1": first, "a3": second}
    found = within_capacity(decisions, limits)
    for action in limits:
        more = within_capacity(decisions, {**limits, action: limits[action] + 1})
        saved = found.decisions.least_cost.sum() - more.decisions.least_cost.sum()
        assert found.price[action] == pytest.approx(saved, abs=1e-9)


@given(cases(), st.integers(0, 8), st.integers(0, 3))
def test_a_limit_is_kept_at_the_least_total_cost(case: Any, most: int, action: int) -> None:
    """Against every assignment of the limited action to rows, tried one by one."""
    from itertools import combinations

    table, shares = case
    decisions = bw.decide(shares, costs_of(table), states=STATES)
    limited = within_capacity(decisions, {f"a{action}": most}).decisions
    assert np.count_nonzero(limited.best == action) <= most
    cost = decisions.expected_cost
    others = np.delete(cost, action, axis=1).min(axis=1)
    n = len(cost)
    best = min(
        others.sum() + sum(cost[k, action] - others[k] for k in taken)
        for size in range(min(most, n) + 1)
        for taken in combinations(range(n), size)
    )
    assert limited.least_cost.sum() == pytest.approx(best, abs=1e-9)


@given(cases())
def test_the_mixture_is_never_worse_than_the_best_single_action(case: Any) -> None:
    table, _ = case
    answer = minimax(costs_of(table))
    shares = np.array(list(answer.mixture.values()))
    prior = np.array(list(answer.least_favourable.values()))
    assert answer.mixture_worst <= answer.worst + 1e-9
    assert (shares @ table).max() == pytest.approx(answer.mixture_worst, abs=1e-7)
    assert (table @ prior).min() == pytest.approx(answer.mixture_worst, abs=1e-7)


def test_a_normal_column_is_worth_what_a_million_draws_say() -> None:
    from scipy.stats import norm

    generator = np.random.default_rng(11)
    table = np.array([[0.0, 10.0, 3.0], [2.0, 0.0, 5.0], [1.5, 4.0, 0.5]])
    column = Densities((norm(0, 1), norm(1.5, 2), norm(-1, 0.5)))
    prior = np.array([0.5, 0.3, 0.2])
    answer = next_test(dict(zip(STATES, prior, strict=True)), costs_of(table), {"x": column}, 0.0)
    states = generator.choice(3, 1_000_000, p=prior)
    x = generator.normal(np.array([0, 1.5, -1])[states], np.array([1, 2, 0.5])[states])
    joint = np.stack([p * d.pdf(x) for p, d in zip(prior, column.likelihoods, strict=True)], axis=1)
    after = ((joint / joint.sum(axis=1, keepdims=True)) @ table.T).min(axis=1)
    assert answer.expected_cost - answer.tests[0].value == pytest.approx(after.mean(), abs=4 * after.std() / 1000)
    sliced = next_test(dict(zip(STATES, prior, strict=True)), costs_of(table), {"x": column}, 0.0, depth=2)
    assert sliced.tests[0].value == pytest.approx(answer.tests[0].value, rel=0.01)
