"""Bayesian learning as the lectures compute it: hypotheses, version spaces and the Bayes-optimal answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import fit_averaged
from tests.paths import GOLF

TEST = {"+": {"cancer": 0.98, "healthy": 0.03}, "-": {"cancer": 0.02, "healthy": 0.97}}


def test_a_positive_test_for_cancer_leaves_the_patient_probably_healthy() -> None:
    space = bw.HypothesisSpace({"cancer": 0.008, "healthy": 0.992}, TEST).observe("+")
    assert {h: round(p, 4) for h, p in space.posterior.items()} == {"cancer": 0.2085, "healthy": 0.7915}
    assert space.map == "healthy"
    assert space.ml == "cancer"


def test_the_best_answer_is_not_that_of_the_best_hypothesis() -> None:
    believed = bw.HypothesisSpace({"h1": 0.4, "h2": 0.3, "h3": 0.3}, {}, exact=True)
    said = believed.combine({"h1": "+", "h2": "-", "h3": "-"})
    assert said.probability == {"+": Fraction(4, 10), "-": Fraction(6, 10)}
    assert believed.map == "h1" and said.by_map == "+"
    assert said.answer == "-"


def test_fractions_give_125_of_611_for_golf() -> None:
    day = {
        "sunny": {"yes": "2/9", "no": "3/5"},
        "cool": {"yes": "3/9", "no": "1/5"},
        "high": {"yes": "3/9", "no": "4/5"},
        "strong": {"yes": "3/9", "no": "3/5"},
    }
    space = bw.HypothesisSpace({"yes": "9/14", "no": "5/14"}, day, exact=True).observe(*day)
    assert space.posterior == {"yes": Fraction(125, 611), "no": Fraction(486, 611)}
    assert space.map == "no"
    assert space.evidence == Fraction(1, 189) + Fraction(18, 875)


def test_without_noise_each_hypothesis_of_the_version_space_has_an_equal_share_and_the_others_none() -> None:
    bounds = {k: (lambda x, k=k: x >= k) for k in range(10)}
    space = bw.HypothesisSpace.of_classifiers(bounds, exact=True).observe((7, True), (3, False))
    assert space.version_space == (4, 5, 6, 7)
    assert space.posterior == {k: Fraction(1, 4) if k in (4, 5, 6, 7) else 0 for k in range(10)}


def test_the_posterior_gathers_on_the_consistent_hypotheses_as_data_arrive() -> None:
    bounds = {k: (lambda x, k=k: x >= k) for k in range(10)}
    space = bw.HypothesisSpace.of_classifiers(bounds).observe((7, True), (3, False))
    assert [round(step[5], 4) for step in space.history] == [0.1, 0.125, 0.25]
    assert space.display().steps() == [0, 1, 2]


def test_a_wrong_label_collapses_the_version_space_but_not_the_soft_one() -> None:
    bounds = {k: (lambda x, k=k: x >= k) for k in range(10)}
    data = [(7, True), (3, False), (8, False)]
    with pytest.raises(bw.FitError, match=r"no hypothesis allows datum 2"):
        bw.HypothesisSpace.of_classifiers(bounds).observe(*data)
    soft = bw.HypothesisSpace.of_classifiers(bounds, noise=0.1).observe(*data, (9, True), (6, True))
    assert soft.map in (4, 5, 6)


DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}


def test_golf_averaged_over_all_sixteen_structures() -> None:
    model = fit_averaged(GOLF, target="play")
    relevance = {name: round(p, 3) for name, p in model.relevance.items()}
    assert relevance == {"outlook": 0.675, "temperature": 0.366, "humidity": 0.671, "wind": 0.472}
    assert round(model.predict_proba([DAY])[0, 0], 4) == 0.6103
    assert round(model.changed(prior_smoothing=1.0).predict_proba([DAY])[0, 0], 4) == 0.6284
