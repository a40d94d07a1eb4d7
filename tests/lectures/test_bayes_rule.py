"""Bayes' rule on the lectures' slides: the numbers by hand, and exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayeswise.explanations import Account, Contribution
from bayeswise.families import Normal, NormalParameters
from bayeswise.foundation.errors import ImpossibleEvidenceError
from bayeswise.posteriors import JointTable, bayes, log_odds, normalise, odds_of

GOLF = {
    "sunny": {"yes": "2/9", "no": "3/5"},
    "cool": {"yes": "3/9", "no": "1/5"},
    "high": {"yes": "3/9", "no": "4/5"},
    "strong": {"yes": "3/9", "no": "3/5"},
}


def test_a_positive_test_for_a_rare_disease_leaves_three_percent() -> None:
    likelihood = {"positive": {"disease": ".8", "not disease": ".1"}}
    answer = bayes({"disease": ".004"}, likelihood, "positive")
    assert answer.prior["not disease"] == 0.996
    assert answer.joint["disease"] == 0.0032
    assert answer.evidence == 0.1028
    assert round(answer.posterior["disease"], 4) == 0.0311
    assert answer.exact.posterior["disease"] == Fraction(32, 1028)


def test_cancer_is_not_the_diagnosis_after_one_positive_test() -> None:
    likelihood = {"+": {"cancer": ".98", "no cancer": ".03"}, "-": {"cancer": ".02", "no cancer": ".97"}}
    answer = bayes({"cancer": ".008", "no cancer": ".992"}, likelihood, "+")
    assert round(answer.joint["cancer"], 4) == 0.0078
    assert round(answer.joint["no cancer"], 4) == 0.0298
    assert round(answer.posterior["cancer"], 5) == 0.20851
    assert round(answer.posterior["no cancer"], 5) == 0.79149
    assert answer.most_probable == "no cancer"


def test_it_is_after_a_second_one() -> None:
    likelihood = {"+": {"cancer": ".98", "no cancer": ".03"}}
    answer = bayes({"cancer": ".008"}, likelihood, ["+", "+"])
    assert answer.posterior_after[0]["cancer"] == pytest.approx(0.20851, abs=5e-6)
    assert answer.most_probable == "cancer"
    again = bayes({"cancer": answer.posterior_after[0]["cancer"]}, likelihood, "+")
    assert again.posterior["cancer"] == pytest.approx(answer.posterior["cancer"], rel=1e-14)


def test_sum_rule_and_product_rule_on_weather_and_temperature() -> None:
    joint = JointTable(
        ["weather", "temperature"],
        {("sun", "hot"): ".4", ("rain", "hot"): ".1", ("sun", "cold"): ".2", ("rain", "cold"): ".3"},
    )
    assert joint.marginal("weather").exact == {("sun",): Fraction(3, 5), ("rain",): Fraction(2, 5)}
    assert joint.marginal("temperature").exact == {("hot",): Fraction(1, 2), ("cold",): Fraction(1, 2)}
    hot, cold = joint.given({"temperature": "hot"}), joint.given({"temperature": "cold"})
    assert (hot["sun"], hot["rain"]) == (0.8, 0.2)
    assert (cold["sun"], cold["rain"]) == (0.4, 0.6)
    # P(W, T) = P(W | T) P(T), for every pair
    for (weather, temperature), probability in joint.exact.items():
        conditional = joint.given({"temperature": temperature}).exact[weather,]
        assert probability == conditional * joint.marginal("temperature").exact[temperature,]


def test_the_prior_decides_between_letters_that_look_the_same() -> None:
    pixels = {"a": (15.0, 4.0), "b": (25.0, 4.0)}  # mean and standard deviation of the number of black pixels

    def letter(x: float, prior: dict[str, str]) -> str:
        density = {
            name: float(np.exp(Normal().log_density(NormalParameters(np.array(mean), np.array(sd)), x)))
            for name, (mean, sd) in pixels.items()
        }
        return str(bayes(prior, {"x": density}, "x", density=True).most_probable)

    equal = {"a": ".5", "b": ".5"}
    assert (letter(15.0, equal), letter(25.0, equal)) == ("a", "b")
    assert letter(20.0, {"a": ".75", "b": ".25"}) == "a"
    assert letter(20.0, {"a": ".25", "b": ".75"}) == "b"


def test_a_tall_person_is_rarely_a_basketball_player() -> None:
    answer = bayes({"player": ".05", "other": ".95"}, {"tall": {"player": ".6", "other": ".05"}}, "tall")
    assert answer.most_probable == "other"


def test_golf_by_hand_is_exactly_125_to_486() -> None:
    answer = bayes({"yes": "9/14", "no": "5/14"}, GOLF, ["sunny", "cool", "high", "strong"])
    assert answer.exact.joint == {"yes": Fraction(1, 189), "no": Fraction(18, 875)}
    assert answer.exact.posterior == {"yes": Fraction(125, 611), "no": Fraction(486, 611)}
    assert round(answer.posterior["yes"], 5) == 0.20458
    assert round(answer.posterior["no"], 5) == 0.79542
    assert answer.most_probable == "no"


def test_the_joint_of_golf_is_not_a_posterior_and_its_fourth_digit_is_not_rounding() -> None:
    answer = bayes({"yes": "9/14", "no": "5/14"}, GOLF, ["sunny", "cool", "high", "strong"])
    assert round(answer.joint["yes"], 6) == 0.005291  # p(x, yes), printed as a posterior
    assert round(answer.joint["no"], 6) == 0.020571  # .0207 comes from rounded factors
    assert answer.joint["yes"] + answer.joint["no"] == pytest.approx(answer.evidence, rel=1e-15)


def test_mutual_independence_is_needed_pairwise_is_not_enough() -> None:
    """Two fair bits and their parity: any two are independent given the state, the three are not."""
    rows = [(x, y, x ^ y) for x in (0, 1) for y in (0, 1)]
    cube = JointTable.of_rows(["x", "y", "z"], rows)
    for pair in (("x", "y"), ("y", "z"), ("x", "z")):
        assert set(cube.marginal(*pair).exact.values()) == {Fraction(1, 4)}
    product = cube.marginal("x")[0] * cube.marginal("y")[0] * cube.marginal("z")[1]
    assert (product, cube[0, 0, 1]) == (0.125, 0.0)


@pytest.mark.parametrize("prior", [".1", ".3", "81/206", ".5", ".9"])
def test_the_optimal_rule_has_four_equal_forms(prior: str) -> None:
    likelihood = {seen: dict(row) for seen, row in GOLF.items()}
    answer = bayes({"yes": prior}, likelihood, ["sunny", "cool", "high", "strong"])
    by_posterior = answer.posterior["yes"] > answer.posterior["no"]
    by_joint = answer.joint["yes"] > answer.joint["no"]
    by_ratio = answer.likelihood_ratio("yes", "no") > answer.prior["no"] / answer.prior["yes"]
    log_joint = np.log([[answer.joint["yes"], answer.joint["no"]]])
    by_sign = log_odds(log_joint, 0)[0] > 0
    assert by_posterior == by_joint == by_ratio == by_sign


def test_scaling_does_not_change_the_prediction() -> None:
    joint = np.array([[1 / 189, 18 / 875]])
    probability = normalise(np.log(joint)).probability
    assert probability[0].round(3).tolist() == [0.205, 0.795]
    assert probability.argmax() == joint.argmax()


def test_a_prior_by_counting() -> None:
    play = ["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes", "yes", "no"]
    counted = JointTable.of_rows(["play"], [[answer] for answer in play])
    assert counted.exact == {("no",): Fraction(5, 14), ("yes",): Fraction(9, 14)}


def test_what_no_state_allows_has_no_posterior() -> None:
    with pytest.raises(ImpossibleEvidenceError, match=r"P\(snow\) is 0.*0/0"):
        bayes({"yes": ".5", "no": ".5"}, {"snow": {"yes": 0, "no": 0}}, "snow")


def test_prior_times_feature_contributions_is_the_posterior() -> None:
    """The picture of three panels, as numbers: odds of no golf, 5/9 x 27/10 x 3/5 x 12/5 x 9/5 = 486/125."""
    account = Account(
        ("yes", "no"),
        np.log([9 / 14, 5 / 14]),
        tuple(
            Contribution(seen, seen, np.log([float(Fraction(row["yes"])), float(Fraction(row["no"]))]))
            for seen, row in GOLF.items()
        ),
    )
    balance = account.weigh("no")
    factors = [round(odds_of(term), 12) for term in (balance.log_prior_odds, *(w.log_ratio for w in balance.weights))]
    assert factors == [round(5 / 9, 12), 2.7, 0.6, 2.4, 1.8]
    assert odds_of(balance.log_odds) == pytest.approx(486 / 125, rel=1e-14)
    assert account.posterior == pytest.approx([125 / 611, 486 / 611], rel=1e-14)
