"""The forest-fire network of lecture 004: the table of CampFire is the lecture's, the others are inputs of ours."""

from __future__ import annotations

import math

import pytest

import bayeswise as bw
from bayeswise.networks import Node
from tests.cases.network_cases import YES_NO, asia


@pytest.fixture
def forest() -> bw.BeliefNetwork:
    return bw.BeliefNetwork(
        [
            Node("Storm", YES_NO, 0.2),
            Node("BusTourGroup", YES_NO, 0.5),
            Node("Lightning", YES_NO, {"yes": 0.7, "no": 0.01}, ["Storm"]),
            Node(
                "CampFire",
                YES_NO,
                {("yes", "yes"): 0.4, ("yes", "no"): 0.1, ("no", "yes"): 0.8, ("no", "no"): 0.2},
                ["Storm", "BusTourGroup"],
            ),
            Node("Thunder", YES_NO, {"yes": 0.9, "no": 0.05}, ["Lightning"]),
            Node("ForestFire", YES_NO, [0.7, 0.6, 0.2, 0.5, 0.4, 0.1, 0.3, 0.01], ["Storm", "Lightning", "CampFire"]),
        ]
    )


def test_the_table_of_the_lecture_is_what_the_network_answers(forest: bw.BeliefNetwork) -> None:
    for storm, bus, p in (("yes", "yes", 0.4), ("yes", "no", 0.1), ("no", "yes", 0.8), ("no", "no", 0.2)):
        answer = forest.query("CampFire", {"Storm": storm, "BusTourGroup": bus})
        assert answer["yes"] == pytest.approx(p, abs=1e-15)


def test_the_joint_is_the_product_of_the_tables(forest: bw.BeliefNetwork) -> None:
    everything = dict.fromkeys(forest.names, "yes")
    product = 0.2 * 0.5 * 0.7 * 0.4 * 0.9 * 0.7
    assert forest.log_evidence(everything) == pytest.approx(math.log(product), abs=1e-14)


def test_camp_fire_without_evidence_is_a_mean_over_storm_and_bus(forest: bw.BeliefNetwork) -> None:
    expected = 0.2 * 0.5 * 0.4 + 0.2 * 0.5 * 0.1 + 0.8 * 0.5 * 0.8 + 0.8 * 0.5 * 0.2
    assert forest.query("CampFire")["yes"] == pytest.approx(expected, abs=1e-15)


def test_thunder_and_camp_fire_are_apart_once_the_storm_is_known(forest: bw.BeliefNetwork) -> None:
    assert forest.d_separated("Thunder", "CampFire", ["Storm"])
    assert not forest.d_separated("Thunder", "CampFire")
    assert not forest.d_separated("Thunder", "CampFire", ["Storm", "ForestFire"])
    with_thunder = forest.query("CampFire", {"Storm": "yes", "Thunder": "yes"})
    assert with_thunder["yes"] == pytest.approx(forest.query("CampFire", {"Storm": "yes"})["yes"], abs=1e-15)


def test_a_distribution_over_a_cause_is_soft_evidence(forest: bw.BeliefNetwork) -> None:
    odds = 0.2 * 3.0 / (0.8 * 1.0)  # prior odds of a storm times the likelihood ratio
    heard = forest.query("Storm", soft={"Storm": {"yes": 3.0, "no": 1.0}})
    assert heard["yes"] == pytest.approx(odds / (1 + odds), abs=1e-15)


def test_asia_after_a_visit_and_with_dyspnoea() -> None:
    found = asia().marginals({"visit": "yes", "dyspnoea": "yes"})
    shown = [round(found[name]["yes"], 4) for name in ("tuberculosis", "cancer", "bronchitis")]
    assert shown == [0.0878, 0.0995, 0.8114]
