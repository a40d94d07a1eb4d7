"""Independence, the chain rule, random variables, and how many parameters a model has, as lectures write them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError
from tests.paths import GOLF

WEATHER = bw.JointTable(
    ["weather", "temperature"],
    {("sun", "hot"): ".4", ("rain", "hot"): ".1", ("sun", "cold"): ".2", ("rain", "cold"): ".3"},
)


def test_weather_and_temperature_depend_on_each_other() -> None:
    """P(sun, hot) = .4, and P(sun) P(hot) = .6 * .5 = .3."""
    found = WEATHER.independent("weather", "temperature")
    assert not found and found.largest_difference == Fraction(1, 10)
    assert found.to_columns()["product"][0] == pytest.approx(0.3)
    p, q = np.array([[0.4, 0.2], [0.1, 0.3]]), np.outer([0.6, 0.4], [0.5, 0.5])
    assert found.mutual_information == pytest.approx(stats.entropy(p.ravel(), q.ravel(), base=2))


def test_pairwise_independence_is_not_mutual_independence() -> None:
    """Two fair coins, and whether they agree: any two are independent, all three are not."""
    coins = bw.JointTable.experiment(one="HT", two="HT")
    table = bw.JointTable(["one", "two", "same"], {(a, b, a == b): p for (a, b), p in coins.exact.items()})
    pairs = (("one", "two"), ("one", "same"), ("two", "same"))
    assert all(table.independent(*pair) for pair in pairs)
    assert not table.independent("one", "two", "same")
    assert not table.independent("one", "two", given="same")


def test_symptoms_are_independent_given_the_disease_only() -> None:
    cells = {}
    for ill, p in (("ill", Fraction(1, 10)), ("well", Fraction(9, 10))):
        cough, fever = (Fraction(8, 10), Fraction(7, 10)) if ill == "ill" else (Fraction(1, 10), Fraction(1, 20))
        for a in ("cough", "none"):
            for b in ("fever", "none"):
                cells[ill, a, b] = p * (cough if a == "cough" else 1 - cough) * (fever if b == "fever" else 1 - fever)
    table = bw.JointTable(["disease", "cough", "fever"], cells)
    assert table.independent("cough", "fever", given="disease")
    assert table.independent("cough", "fever", given="disease").mutual_information == 0.0
    assert not table.independent("cough", "fever")


def test_the_chain_rule_multiplies_conditionals_in_any_order() -> None:
    one = WEATHER.chain(weather="sun", temperature="hot")
    assert one.factors == (Fraction(3, 5), Fraction(2, 3)) and one.product == Fraction(2, 5)
    assert str(one) == "P(sun, hot) = P(sun) P(hot | sun) = 3/5 · 2/3 = 2/5"
    other = WEATHER.chain(["temperature", "weather"], weather="sun", temperature="hot")
    assert other.factors == (Fraction(1, 2), Fraction(4, 5)) and other.product == one.product


def test_the_sum_of_two_dice_is_a_random_variable() -> None:
    dice = bw.JointTable.experiment(first=range(1, 7), second=range(1, 7))
    total = dice.variable("sum", lambda first, second: first + second)
    assert [total.exact[(k,)] for k in range(2, 13)] == [Fraction(6 - abs(k - 7), 36) for k in range(2, 13)]
    assert total.expectation() == 7
    assert dice.expectation(lambda first, second: (first + second - 7) ** 2) == Fraction(35, 6)
    shown = total.plot()
    assert shown.ax_.get_title(loc="left") == "P(sum)" and len(shown.ax_.patches) == 11


def test_a_biased_coin_has_the_probability_that_is_given() -> None:
    toss = bw.JointTable.experiment(coin={"H": "2/3", "T": "1/3"}, die=range(1, 4))
    assert toss["H", 2] == pytest.approx(2 / 9)
    assert toss.independent()


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: WEATHER.independent("weather"), "different variables"),
        (lambda: WEATHER.independent("weather", "wind"), "no variable 'wind'"),
        (lambda: WEATHER.chain(["weather"]), "needs a level"),
        (lambda: WEATHER.chain(weather="snow"), "no level 'snow'"),
        (lambda: WEATHER.expectation(), "not one number"),
        (lambda: bw.JointTable.experiment(die=[]), "no outcome"),
    ],
)
def test_what_the_table_does_not_have_is_refused(ask: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        ask()


# -- parameters (C18, C33, E11) ---------------------------------------------------------------------------------------
def test_three_gaussian_classes_have_9_parameters_as_printed_and_8_free_ones() -> None:
    """3 classes x (prior + mean + stddev) = 9; the priors sum to 1, so that 8 are free."""
    random = np.random.default_rng(0)
    table = {"x": random.normal(size=30), "class": ["a", "b", "c"] * 10}
    for kind in ("naive-bayes", "gaussian-bayes"):
        counts = bw.fit(table, target="class", model=kind).parameter_counts()  # type: ignore[call-overload]
        assert (counts.written, counts.free, counts.full_joint) == (9, 8, None)


def test_golf_has_values_times_classes_in_each_table() -> None:
    """Outlook and temperature have 3 values, humidity and wind 2: 20 entries; the full joint has 2 * 3 * 3 * 2 * 2."""
    model = bw.fit(GOLF, target="play", model="naive-bayes")
    counts = model.parameter_counts()
    assert counts.tables == {"outlook": 6, "temperature": 6, "humidity": 4, "wind": 4}
    assert counts.written == 2 + 20
    assert counts.free == model.n_free_parameters() == 1 + 2 * (2 + 2 + 1 + 1)
    assert (counts.full_joint, counts.full_joint_free) == (72, 71)


def test_a_full_covariance_has_all_correlations() -> None:
    random = np.random.default_rng(0)
    table = {"u": random.normal(size=20), "v": random.normal(size=20), "y": ["a", "b"] * 10}
    counts = bw.fit(table, target="y", model="gaussian-bayes").parameter_counts()
    assert (counts.written, counts.free) == (2 + 2 * (2 + 2 + 1), 1 + 2 * (2 + 3))
