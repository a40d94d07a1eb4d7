"""Actions that are numbers, beside closed forms and sums: what the quadrature finds, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import expon, gamma, norm, poisson, t

import bayeswise as bw
from bayeswise.decisions import best_action, newsvendor, pinball_action, within_action
from bayeswise.decisions.number_actions import Expectation
from bayeswise.foundation.errors import CostError, ParameterError


def pinball(y: Any, a: Any) -> Any:
    return np.where(y > a, 9 * (y - a), a - y)


@pytest.mark.parametrize("y", [norm(100, 20), t(3, 100, 20), gamma(2, scale=10), expon(scale=3)])
def test_a_cost_with_a_kink_at_the_action_finds_the_quantile(y: Any) -> None:
    found = best_action(y, pinball)
    assert found.action == pytest.approx(pinball_action(y, under=9, over=1), rel=2e-7)


def test_the_expected_cost_of_a_normal_and_an_exponential_have_closed_forms() -> None:
    z = norm.ppf(0.9)  # 10 sigma f(z)
    assert best_action(norm(100, 20), pinball).expected_cost == pytest.approx(10 * 20 * norm.pdf(z), rel=1e-10)
    a = 3 * np.log(10)  # over * a of an exponential
    assert best_action(expon(scale=3), pinball).expected_cost == pytest.approx(a, rel=1e-10)


def test_counts_are_summed_and_not_integrated() -> None:
    k = np.arange(200)
    by_hand = [float(pinball(k, a) @ poisson(3.3).pmf(k)) for a in range(20)]
    found = best_action(poisson(3.3), pinball, actions=range(20))
    assert found.action == int(np.argmin(by_hand))
    assert found.expected_cost == pytest.approx(min(by_hand), rel=1e-12)
    assert Expectation(poisson(3)).of(lambda y: y**2) == pytest.approx(12)


def test_an_expectation_that_does_not_exist_is_refused() -> None:
    with pytest.raises(CostError, match="does not settle"):
        best_action(t(1), lambda y, a: (y - a) ** 2)
    assert best_action(t(2), lambda y, a: np.abs(y - a)).expected_cost == pytest.approx(2**0.5, rel=1e-7)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: best_action(norm(), lambda y, a: 1 if y > a else 0), CostError, "for an array of y"),
        (lambda: best_action(norm(), lambda y, a: np.nan), CostError, "the cost is nan where y is"),
        (lambda: best_action(norm(), pinball, low=5, high=1), ParameterError, "no number from 5 to 1"),
        (lambda: pinball_action(5, under=1, over=2), ParameterError, "int is not a predictive distribution"),
        (lambda: pinball_action(norm(), under="1", over=2), CostError, "too little costs 1"),
        (lambda: within_action(norm(), float("inf")), ParameterError, "the tolerance is inf"),
        (lambda: newsvendor([norm()], under=[1, 2], over=[1]), ParameterError, "1 demands, 2 costs"),
        (lambda: newsvendor([norm()], under=[1], over=[1], capacity=float("nan")), ParameterError, "capacity is nan"),
    ],
)
def test_invalid_arguments_are_refused(ask: Any, error: type[bw.BayeswiseError], message: str) -> None:
    with pytest.raises(error, match=message):
        ask()
