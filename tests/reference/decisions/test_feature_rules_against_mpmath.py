"""Regions of one measured number against the least expected cost at 60 digits, far into both tails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats

import bayeswise as bw
from bayeswise.decisions import FeatureRule

PLACES = st.integers(-40, 40).map(lambda k: k / 4)
SCALES = st.sampled_from([0.125, 0.5, 0.999, 1.0, 1.001, 2.0, 7.5])
SHAPES = st.sampled_from([0.5, 1.0, 2.0, 3.5, 30.0])
FAMILIES = ("norm", "laplace", "logistic", "t", "gamma", "expon", "uniform")


def frozen(name: str, shape: float, place: float, scale: float) -> Any:
    shapes = (shape,) if name in ("t", "gamma") else ()
    return getattr(stats, name)(*shapes, loc=place, scale=scale)


def log_density(name: str, shape: float, place: float, scale: float, x: float) -> Any:
    z, a = (mpf(x) - mpf(place)) / mpf(scale), mpf(shape)
    if name in ("gamma", "expon", "uniform") and (z < 0 or (name == "uniform" and z > 1)):
        return -mp.inf
    if name == "gamma" and z == 0:
        return None
    value = {
        "norm": lambda: -z * z / 2 - mp.log(2 * mp.pi) / 2,
        "laplace": lambda: -abs(z) - mp.log(2),
        "logistic": lambda: -abs(z) - 2 * mp.log1p(mp.exp(-abs(z))),
        "t": lambda: (
            mp.loggamma((a + 1) / 2) - mp.loggamma(a / 2) - mp.log(a * mp.pi) / 2 - (a + 1) / 2 * mp.log1p(z * z / a)
        ),
        "gamma": lambda: (a - 1) * mp.log(z) - z - mp.loggamma(a),
        "expon": lambda: -z,
        "uniform": lambda: mpf(0),
    }[name]()
    return value - mp.log(scale)


def best_costs(table: np.ndarray, prior: list[float], states: list[Any], x: float) -> Any:
    """The exact expected costs up to a factor, or None where no state is possible."""
    log_densities = [log_density(*each, x) for each in states]
    live = [(p, v) for p, v in zip(prior, log_densities, strict=True) if v is None or (p > 0 and v > -mp.inf)]
    if not live or any(v is None for _, v in live):
        return None
    top = max(v for _, v in live)
    weights = [mpf(p) * mp.exp(v - top) for p, v in zip(prior, log_densities, strict=True)]
    return [sum(mpf(float(c)) * w for c, w in zip(line, weights, strict=True)) for line in table]


state = st.tuples(st.sampled_from(FAMILIES), SHAPES, PLACES, SCALES)
FAR = [s * x for s in (1, -1) for x in (30.0, 200.0, 1e3, 1e4, 1e6, 1e9)]


@pytest.mark.filterwarnings("ignore::bayeswise.decisions.costs.warnings.CostWarning")
@settings(max_examples=150, deadline=None)
@given(
    states=st.lists(state, min_size=2, max_size=3),
    shares=st.lists(st.sampled_from([1, 2, 5, 9, 100]), min_size=3, max_size=3),
    cells=st.lists(st.sampled_from([0.0, 1.0, 2.5, 10.0]), min_size=9, max_size=9),
    near=st.lists(st.floats(-30, 30), min_size=12, max_size=12),
)
def test_the_action_is_the_cheapest_everywhere(
    states: list[Any], shares: list[int], cells: list[float], near: list[float]
) -> None:
    mp.dps = 60
    names = ["s", "t", "u"][: len(states)]
    prior = [share / sum(shares[: len(states)]) for share in shares[: len(states)]]
    table = np.array(cells).reshape(3, 3)[:, : len(states)]
    costs = {f"act {k}": dict(zip(names, map(float, line), strict=True)) for k, line in enumerate(table)}
    rule = FeatureRule.of(
        {name: frozen(*each) for name, each in zip(names, states, strict=True)},
        dict(zip(names, prior, strict=True)),
        costs,
    )
    beside = [e * (1 + d) + d for e in rule.edges for d in (1e-6, -1e-6)]
    for x in [*near, *FAR, *beside, *[each[2] for each in states]]:
        expected = best_costs(table, prior, states, x)
        if expected is None:
            continue
        chosen = expected[list(costs).index(rule.action_at(x))]
        assert chosen - min(expected) <= (max(expected) - min(expected)) * mpf(10) ** -9, (x, rule, costs)


def test_a_second_edge_in_the_far_tail_is_found() -> None:
    """N(15, 3) and N(25, 4) at 3 to 1: 7 x^2 - 30 x - 2424.2 = 0 has two roots; far left the wider one wins again."""
    rule = FeatureRule.of(
        {"a": stats.norm(15, 3), "b": stats.norm(25, 4)}, {"a": 0.75, "b": 0.25}, bw.Costs.zero_one(["a", "b"])
    )
    constant = 225 * 16 - 625 * 9 - 288 * np.log(4 / 3 * 3)
    roots = np.sort(np.roots([7, -30, constant]).real)
    assert rule.edges == pytest.approx(roots, rel=1e-12)
    assert [rule.action_at(x) for x in (-30, 0, 30)] == ["b", "a", "b"]


@pytest.mark.parametrize("share", [0.5 + 1e-6, 0.6, 0.9, 1 - 1e-9])
def test_nearly_equal_spreads_cross_far_out(share: float) -> None:
    wide = 1 + 1e-7
    rule = FeatureRule.of(
        {"a": stats.norm(0, 1), "b": stats.norm(0, wide)}, {"a": share, "b": 1 - share}, bw.Costs.zero_one(["a", "b"])
    )
    mp.dps = 60
    log_odds = mp.log(mpf(share)) - mp.log(mpf(1 - share)) + mp.log(mpf(wide))
    edge = float(mp.sqrt(2 * log_odds / (1 - 1 / mpf(wide) ** 2)))
    assert rule.actions == ("b", "a", "b")
    assert rule.edges == pytest.approx([-edge, edge], rel=1e-7)


def test_a_constant_ratio_in_the_tail_makes_no_edge_at_1e16() -> None:
    """Beyond 1e16 floats cannot tell x - 1 from x; the log ratio of two Laplace densities stays 1."""
    for family in (stats.laplace, stats.logistic):
        rule = FeatureRule.of({"a": family(0), "b": family(1)}, {"a": 0.4, "b": 0.6}, bw.Costs.zero_one(["a", "b"]))
        assert rule.actions == ("a", "b")


def test_costs_of_any_size_have_the_same_regions() -> None:
    densities = {"a": stats.norm(-1, 1), "b": stats.norm(1, 2)}
    prior = {"a": 0.5, "b": 0.5}
    huge = FeatureRule.of(densities, prior, {"x": {"a": -1e308, "b": 1e308}, "y": {"a": 1e308, "b": -1e308}})
    small = FeatureRule.of(densities, prior, {"x": {"a": -1, "b": 1}, "y": {"a": 1, "b": -1}})
    assert huge.edges == small.edges and np.isfinite(huge.risk)


def test_values_that_no_state_has_extend_the_region_beside_them() -> None:
    rule = FeatureRule.of(
        {"a": stats.uniform(0, 1), "b": stats.uniform(2, 1)}, {"a": 0.3, "b": 0.7}, bw.Costs.zero_one(["a", "b"])
    )
    assert rule.actions == ("a", "b")
    assert [rule.action_at(x) for x in (-5, 0.0, 1.0, 2.0, 3.0, 9)] == ["a", "a", "a", "b", "b", "b"]
    assert str(FeatureRule.of({"a": stats.expon(), "b": stats.norm()}, {"a": 0.5, "b": 0.5}, rule.costs)) == (
        "b up to 0, then a"
    )
