"""The policy of two states is the lower envelope of its lines, and what warnings say of it is true."""

from __future__ import annotations

import time
import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.decisions import CostWarning, minimax, minimax_regret
from bayeswise.decisions.plots import simplex_regions
from bayeswise.decisions.policy.envelope import lower_envelope

LINES = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=7)


@given(LINES)
def test_the_envelope_is_the_first_of_the_lowest_lines_at_every_point_that_matters(
    given_lines: list[tuple[int, int]],
) -> None:
    lines = [(Fraction(one), Fraction(other)) for one, other in given_lines]
    corners = {Fraction(0), Fraction(1)}
    for a1, a2 in lines:
        for b1, b2 in lines:
            slope = (a1 - a2) - (b1 - b2)
            if slope and 0 < (b2 - a2) / slope < 1:
                corners.add((b2 - a2) / slope)
    places = sorted(corners)
    places += [(low + high) / 2 for low, high in pairwise(places)]
    found = lower_envelope(lines)
    for p in places:
        (here,) = (each for each in found if each.low == each.high == p or each.low < p < each.high)
        cost = [one * p + other * (1 - p) for one, other in lines]
        assert here.line == cost.index(min(cost))


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=2, max_size=6))
def test_an_action_is_called_never_best_iff_it_wins_on_no_piece_of_a_fine_grid_or_by_a_hair(
    rows: list[tuple[int, int, int]],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CostWarning)
        costs = bw.Costs({f"a{k}": dict(zip("xyz", row, strict=True)) for k, row in enumerate(rows)})
    named = {
        k for k in range(len(rows)) if any(f"'a{k}' is never" in m or f"'a{k}' can never" in m for m in costs.warnings)
    }
    thirds = np.array([[i, j, 40 - i - j] for i in range(41) for j in range(41 - i)]) / 40.0
    cost = thirds @ costs.table.T
    alone = np.partition(cost, 1, axis=1)
    winners = set(np.argmin(cost, axis=1)[alone[:, 1] - alone[:, 0] > 1e-9].tolist())
    assert not winners & named
    assert {costs.actions[k] for k in named}.isdisjoint(simplex_regions(costs))


@pytest.mark.filterwarnings("ignore::bayeswise.decisions.CostWarning")
def test_a_thousand_actions_are_a_matter_of_moments() -> None:
    corner = np.linspace(0, np.pi / 2, 1000)
    start = time.process_time()
    costs = bw.Costs({k: {"x": 1 - float(np.cos(v)), "y": 1 - float(np.sin(v))} for k, v in enumerate(corner)})
    policy = costs.rule()
    many = bw.Costs.zero_one([str(k) for k in range(1000)]).with_reject(0.2).rule()
    assert time.process_time() - start < 6.0  # before the envelope it was an hour
    assert costs.warnings == () and len(policy.pieces) == 1000
    assert str(many) == "the most probable state if its probability is >= 0.8, else reject"


def test_of_two_equal_actions_only_the_second_is_never_best_and_only_the_first_has_a_region() -> None:
    with pytest.warns(CostWarning) as warned:
        costs = bw.Costs({"a": {"x": 0, "y": 1, "z": 3}, "b": {"x": 0, "y": 1, "z": 3}, "c": {"x": 1, "y": 0, "z": 2}})
    assert [str(each.message)[:31] for each in warned] == ["the action 'b' is never best: i"]
    assert list(simplex_regions(costs)) == ["a", "c"]


def test_costs_at_the_end_of_the_range_of_doubles_are_compared_without_overflow() -> None:
    huge = 1.7e308
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        costs = bw.Costs({"a": {"x": huge, "y": -huge}, "b": {"x": -huge, "y": huge}, "c": -0.9 * huge / 2})
    assert str(costs.rule()) == "b if P(x) >= 0.725, a if P(x) <= 0.275, else c"


def test_a_table_with_many_warnings_shows_a_few_and_keeps_all() -> None:
    with pytest.warns(CostWarning) as warned:
        costs = bw.Costs({"best": {"x": 0, "y": 0}} | {f"a{k}": {"x": k + 1, "y": 2} for k in range(50)})
    assert len(warned) == 9 and str(warned[-1].message) == "and 42 more warnings: see costs.warnings"
    assert len(costs.warnings) == 50


def test_the_probability_of_a_rule_is_from_0_to_1_and_of_two_states() -> None:
    policy = bw.Costs({"a": {"x": 0, "y": 5}, "b": {"x": 1, "y": 0}}).rule()
    assert repr(policy) == "Rule(a if P(x) >= 0.8333, else b)"
    with pytest.raises(bw.BayeswiseError, match="from 0 to 1"):
        policy.action_at(2)
    with pytest.raises(bw.BayeswiseError, match="two states; there are 3"):
        bw.Costs.zero_one("abc").rule().action_at(0.5)


@pytest.mark.filterwarnings("ignore::bayeswise.decisions.CostWarning")
def test_a_threshold_of_one_is_an_infinite_likelihood_ratio_and_one_state_has_one_action() -> None:
    policy = bw.Costs({"a": {"x": 0, "y": 5}, "b": {"x": 0, "y": 0}}).rule()
    assert policy.likelihood_ratio({"x": 0.5, "y": 0.5}).startswith("a if p(row | x) / p(row | y) >= infinity")
    assert str(bw.Costs({"a": {"x": 2}, "b": {"x": 1}}).rule()) == "always b"


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1.0, 1e9, 1e300, 5e307])
def test_the_cautious_mixture_is_the_same_in_every_unit_of_cost(unit: float) -> None:
    # a share q of a costs max(3 q, 1 - q) at worst, least at q = 1/4
    found = minimax({"a": {"x": 0, "y": 3 * unit}, "b": {"x": unit, "y": 0}})
    assert found.mixture == pytest.approx({"a": 0.25, "b": 0.75})
    assert found.mixture_worst == pytest.approx(0.75 * unit, rel=1e-9)
    assert found.least_favourable == pytest.approx({"x": 0.75, "y": 0.25})


def test_a_regret_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(bw.BayeswiseError, match="larger unit"):
        minimax_regret({"a": {"x": 1.7e308, "y": -1.7e308}, "b": {"x": -1.7e308, "y": 1.7e308}})
