"""Decisions of the lectures, and two classics, as diagrams: the arithmetic in sight."""

from __future__ import annotations

import pytest

import bayeswise as bw
from bayeswise.diagrams import Chance, Cost, Decision, InfluenceDiagram, Utility
from tests.cases.diagram_cases import medical, oil

YES_NO = ["yes", "no"]


def test_the_wildcatter_tests_first_and_drills_on_a_closed_or_open_structure() -> None:
    # P(closed) = .5 * .1 + .3 * .3 + .2 * .5 = .24; gain of drilling then (-3.5 + 4.5 + 20) / .24 = 87.5
    # P(open)   = .15 + .12 + .08 = .35;              (-10.5 + 6 + 16) / .35 = 32.857; diffuse -30.49: do not drill
    # .24 * 87.5 + .35 * 32.857 - 10 = 22.5, and without a test -35 + 15 + 40 = 20
    solution = oil().solve()
    assert str(solution).splitlines() == [
        "expected utility 22.5",
        "test: yes",
        "drill: yes if report is closed or open, else no",
    ]
    assert solution.options("test") == pytest.approx({"yes": 22.5, "no": 20.0})
    assert solution.parts == pytest.approx({"price of the test": -10.0, "gain": 32.5})


def test_knowing_the_oil_is_worth_32_and_a_half_to_who_may_test_and_35_to_who_may_not() -> None:
    # who knows drills only where there is oil: .3 * 50 + .2 * 200 = 55
    assert oil().perfect_information("drill").value == pytest.approx(55 - 22.5)
    assert oil().value_of_information("oil", "drill", evidence={"test": "no"}).value == pytest.approx(55 - 20)


def test_the_test_itself_is_worth_12_and_a_half_and_costs_10() -> None:
    free = oil().changed([Cost("price of the test", 0)])
    assert free.solve().utility - free.solve({"test": "no"}).utility == pytest.approx(12.5)


def test_the_wildcatter_loses_more_often_than_not() -> None:
    # dry and drilled -80: .05 + .15 = .2; not drilled -10: P(diffuse) = .41
    profile = oil().solve().risk()
    assert dict(zip(profile.values.tolist(), profile.probability.tolist(), strict=True)) == pytest.approx(
        {-80.0: 0.2, -10.0: 0.41, 40.0: 0.21, 190.0: 0.18}
    )
    assert profile.probability_of_loss == pytest.approx(0.61)


def test_a_patient_is_tested_and_treated_on_a_positive_result() -> None:
    # treat all: 95 * .1 + 100 * .9 - 10 = 89.5; treat nobody: 40 * .1 + 100 * .9 = 94
    # test: +: .09 ill, .18 not: 95 * .09 + 100 * .18 - 10 * .27 = 23.85; -: 40 * .01 + 100 * .72 = 72.4; - 1
    solution = medical().solve()
    assert solution.utility == pytest.approx(23.85 + 72.4 - 1)
    assert solution.in_words() == ["test: yes", "treat: yes if result is +, else no"]
    assert medical().evaluate({"test": "no", "treat": "yes"}).utility == pytest.approx(89.5)
    assert medical().regret({"test": "no"}) == pytest.approx(95.25 - 94)


def test_a_test_whose_outcome_changes_nothing_is_worth_nothing() -> None:
    """The cancer test of the lectures: P(cancer | +) = .2085, so with 0-1 loss nobody is diagnosed with cancer."""
    diagram = InfluenceDiagram(
        [
            Chance("state", ["cancer", "none"], 0.008),
            Chance("lab", ["+", "-"], {"cancer": 0.98, "none": 0.03}, ["state"]),
            Decision("say", ["cancer", "none"]),
            Utility("loss", bw.Costs.zero_one(["cancer", "none"]), ["say", "state"]),
        ]
    )
    assert diagram.solve().policy("say").option() == "none"
    assert diagram.value_of_information("lab", "say").value == 0.0


def test_the_disease_test_under_costs_is_treated_long_before_it_is_likely() -> None:
    """P(disease | +) = .0032 / .1028 = .0311; treat iff p >= 1 / (1 + 99) = .01."""
    costs = bw.Costs.binary(positive="ill", negative="well", false_positive=1, false_negative=99)
    diagram = InfluenceDiagram(
        [
            Chance("disease", ["ill", "well"], 0.004),
            Chance("test", ["+", "-"], {"ill": 0.8, "well": 0.1}, ["disease"]),
            Decision("treat as", ["ill", "well"], knows=["test"]),
            Utility("costs", costs, ["treat as", "disease"]),
        ]
    )
    assert diagram.solve().in_words() == ["treat as: ill if test is +, else well"]
    assert diagram.solve().query("disease", {"test": "+"})["ill"] == pytest.approx(0.0032 / 0.1028)


def test_asking_the_user_wins_between_the_thresholds_of_the_costs() -> None:
    """Spam, not spam or ask: the thresholds of the diagram are those of the rule, .95 and .5."""
    costs = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
    diagram = InfluenceDiagram(
        [
            Chance("mail", ["spam", "ham"], 0.7),
            Decision("do", ["bin", "keep", "ask"]),
            Utility("costs", costs, ["do", "mail"]),
        ]
    )
    found = diagram.sensitivity("mail", "spam")
    assert found.thresholds == pytest.approx((0.5, 0.95))
    assert [piece.rules for piece in found.pieces] == [("do: keep",), ("do: ask",), ("do: bin",)]
    for p in (0.2, 0.7, 0.97):
        alone = bw.decide({"spam": [p], "ham": [1 - p]}, costs)
        assert -found.utility_at(p) == pytest.approx(float(alone.least_cost[0]))


def test_abstaining_is_best_below_one_minus_its_cost() -> None:
    """Class iff P(y) >= 1 - c, else reject; with c = .2 between .2 and .8."""
    costs = bw.Costs.zero_one(["a", "b"]).with_reject(0.2)
    pieces = [
        Chance("y", ["a", "b"], 0.5),
        Decision("say", ["a", "b", "reject"]),
        Utility("loss", costs, ["say", "y"]),
    ]
    assert InfluenceDiagram(pieces).sensitivity("y", "a").thresholds == pytest.approx((0.2, 0.8))


def test_the_forest_is_watched_when_it_thunders() -> None:
    """The network of the lectures with a decision on top: costs about a node that nobody sees."""
    network = bw.BeliefNetwork(
        {
            "Storm": {"states": YES_NO, "table": 0.2},
            "BusTourGroup": {"states": YES_NO, "table": 0.5},
            "Lightning": {"states": YES_NO, "table": {"yes": 0.7, "no": 0.01}, "parents": ["Storm"]},
            "CampFire": {
                "states": YES_NO,
                "table": [0.4, 0.1, 0.8, 0.2],
                "parents": ["Storm", "BusTourGroup"],
            },
            "Thunder": {"states": YES_NO, "table": {"yes": 0.9, "no": 0.05}, "parents": ["Lightning"]},
        }
    )
    diagram = InfluenceDiagram.from_network(
        network,
        decisions=[Decision("watch", ["send", "stay"], knows=["Thunder", "BusTourGroup"])],
        costs={"send": 1, "stay": {"yes": 5, "no": 0}},
        about="Lightning",
    )
    solution = diagram.solve()
    assert solution.in_words() == ["watch: send if Thunder is yes, else stay"]
    assert solution.policies["watch"].knows == ("Thunder",)  # the bus tour tells nothing about lightning


def test_the_umbrella_is_taken_on_a_bad_forecast() -> None:
    diagram = InfluenceDiagram(
        [
            Chance("weather", ["rain", "sun"], 0.3),
            Chance("forecast", ["bad", "good"], {"rain": 0.8, "sun": 0.1}, parents=["weather"]),
            Decision("umbrella", ["take", "leave"], knows=["forecast"]),
            Utility(
                "comfort",
                {"take": {"rain": 70, "sun": 20}, "leave": {"rain": 0, "sun": 100}},
                parents=["umbrella", "weather"],
            ),
        ]
    )
    # bad: .24 rain, .07 sun: take 16.8 + 1.4 = 18.2 > 7; good: .06, .63: leave 63 > 4.2 + 12.6
    assert diagram.solve().utility == pytest.approx(18.2 + 63)
    # without a forecast leave: 70; with certainty .3 * 70 + .7 * 100 = 91
    assert diagram.perfect_information().value == pytest.approx(91 - 81.2)
    unseen = diagram.changed([Decision("umbrella", ["take", "leave"])])
    assert unseen.value_of_information("forecast", "umbrella", price=2).net == pytest.approx(81.2 - 70 - 2)
