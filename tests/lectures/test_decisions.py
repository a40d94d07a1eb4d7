"""The lectures on decisions, slide by slide."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import gamma, norm, t
from sklearn.linear_model import LogisticRegression

import bayeswise as bw
from bayeswise.decisions import (
    FeatureRule,
    ValueRule,
    absolute_action,
    best_action,
    newsvendor,
    pinball_action,
    squared_action,
)
from bayeswise.decisions.policy.rule import rule
from bayeswise.foundation.errors import ParameterError

MAIL = bw.Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})


def test_a_smoke_detector_rings_at_one_percent_of_fire() -> None:
    """A missed fire costs 99 false alarms: ring from 1 / (1 + 99) on."""
    alarm = bw.Costs.binary(positive="fire", negative="none", false_positive=1, false_negative=99)
    assert str(rule(alarm)) == "fire if P(fire) >= 0.01, else none"
    answer = bw.decide({"fire": [0.009, 0.011], "none": [0.991, 0.989]}, alarm)
    assert answer.action.tolist() == ["none", "fire"]


def test_a_rare_disease_is_treated_long_before_it_is_likely() -> None:
    """The cancer test: 0.0078 and 0.0298, so that P(cancer | +) = 0.2085; treating costs 5, missing it 100."""
    cancer = 0.008 * 0.98 / (0.008 * 0.98 + 0.992 * 0.03)
    costs = {"treat": {"cancer": 5, "none": 5}, "send home": {"cancer": 100, "none": 0}}
    answer = bw.decide({"cancer": cancer, "none": 1 - cancer}, costs)
    assert round(cancer, 5) == 0.20851
    assert answer.action.tolist() == ["treat"]  # although "none" is the most probable state
    assert answer.expected_cost.round(3).tolist() == [[5.0, 20.851]]


def test_mail_that_may_be_either_is_asked_about() -> None:
    """bin against ask: 10 (1 - p) <= 0.5, so p >= 0.95; keep against ask: p <= 0.5."""
    assert str(rule(MAIL)) == "bin if P(spam) >= 0.95, keep if P(spam) <= 0.5, else ask"
    assert rule(MAIL).thresholds == (Fraction(19, 20), Fraction(1, 2))
    answer = bw.decide({"spam": [0.96, 0.94, 0.5, 0.51], "ham": [0.04, 0.06, 0.5, 0.49]}, MAIL)
    assert answer.action.tolist() == ["bin", "ask", "keep", "ask"]


@pytest.mark.parametrize(("false_positive", "false_negative"), [(1, 9), (3, 2), (0.5, 4), (7, 0.1)])
def test_the_threshold_of_unequal_costs_is_fp_over_fp_plus_fn(false_positive: float, false_negative: float) -> None:
    costs = bw.Costs.binary(positive="+", negative="-", false_positive=false_positive, false_negative=false_negative)
    fp, fn = Fraction(str(false_positive)), Fraction(str(false_negative))
    assert rule(costs).thresholds == (fp / (fp + fn),)
    assert rule(costs).action_at(fp / (fp + fn)) == "+"  # "iff p >= ..."


def test_the_likelihood_ratio_is_compared_with_costs_times_priors() -> None:
    """(l12 - l22) / (l21 - l11) * p(C2) / p(C1) = (8 - 1) / (2 - 0) * .75 / .25 = 10.5."""
    losses = {"C1": {"C1": 0, "C2": 8}, "C2": {"C1": 2, "C2": 1}}
    said = rule(losses).likelihood_ratio({"C1": 0.25, "C2": 0.75})
    assert said == "C1 if p(row | C1) / p(row | C2) >= 10.5, else C2"


@pytest.mark.filterwarnings("ignore::bayeswise.decisions.CostWarning")
def test_where_a_difference_of_losses_is_not_positive_the_general_rule_decides() -> None:
    """l12 < l22: choosing C1 is cheaper in both states, so that there is no threshold at all."""
    losses = {"C1": {"C1": 0, "C2": 1}, "C2": {"C1": 2, "C2": 3}}
    assert rule(losses).likelihood_ratio({"C1": 0.25, "C2": 0.75}) == "always C1"
    # both differences negative: the inequality turns round
    turned = {"C1": {"C1": 5, "C2": 0}, "C2": {"C1": 1, "C2": 2}}
    assert str(rule(turned)) == "C2 if P(C1) > 0.3333, else C1"
    assert bw.decide({"C1": 0.9, "C2": 0.1}, turned).action.tolist() == ["C2"]


@pytest.mark.parametrize("cost", [0.05, 0.2, 0.45])
def test_a_class_is_named_iff_its_posterior_is_at_least_one_less_the_cost_of_abstaining(cost: float) -> None:
    costs = bw.Costs.zero_one(["a", "b", "c"]).with_reject(cost)
    shares = np.random.default_rng(5).dirichlet([1, 1, 1], 2000)
    refused = bw.decide(shares, costs, states=["a", "b", "c"]).refused
    assert (refused == (shares.max(axis=1) < 1 - cost)).all()
    assert 0 < refused.sum() < 2000


def test_on_the_boundary_one_lecture_decides_and_the_other_rejects() -> None:
    """P(y | x) >= 1 - c names the class; max posterior <= 1 - lambda rejects. The order of the actions says which."""
    names, rejects = (bw.Costs.zero_one(["a", "b"]).with_reject(0.25, first=first) for first in (False, True))
    on_it = {"a": 0.75, "b": 0.25}
    assert bw.decide(on_it, names).action.tolist() == ["a"]
    assert bw.decide(on_it, rejects).action.tolist() == ["reject"]


def test_squared_loss_asks_for_the_mean_and_absolute_loss_for_the_median() -> None:
    skewed = t(5, loc=3, scale=2)
    assert squared_action(skewed) == 3.0
    assert absolute_action(skewed) == 3.0


def test_too_little_at_nine_and_too_much_at_one_asks_for_the_ninety_percent_quantile() -> None:
    """a* = f + sigma Phi^-1(c1 / (c1 + c2)) = 100 + 20 * 1.2816."""
    action = pinball_action(norm(100, 20), under=9, over=1)
    assert action == pytest.approx(100 + 20 * norm.ppf(0.9), rel=1e-14)
    student = t(4, loc=100, scale=20)
    assert pinball_action(student, under=9, over=1) == pytest.approx(100 + 20 * t(4).ppf(0.9), rel=1e-14)


def test_any_cost_of_outcome_and_action_is_integrated() -> None:
    def cost(y: np.ndarray, a: float) -> np.ndarray:
        return np.where(y > a, 9 * (y - a), a - y)

    found = best_action(norm(100, 20), cost)
    density = norm.pdf(norm.ppf(0.9))
    assert found.action == pytest.approx(norm(100, 20).ppf(0.9), rel=1e-3)
    assert found.expected_cost == pytest.approx(20 * density * 10, rel=1e-4)


def test_the_error_is_least_where_the_weighted_densities_cross() -> None:
    """N(-1, 1) and N(1, 1) with 3/4 and 1/4: x0 = log(3) / 2, and any other edge errs more."""
    densities = {"a": norm(-1, 1), "b": norm(1, 1)}
    best = FeatureRule.of(densities, {"a": 0.75, "b": 0.25}, bw.Costs.zero_one(["a", "b"]))
    assert best.edges == pytest.approx([np.log(3) / 2], abs=1e-12)
    irreducible = 0.75 * norm.sf(best.edges[0] + 1) + 0.25 * norm.cdf(best.edges[0] - 1)
    assert best.risk == pytest.approx(irreducible, rel=1e-12)
    assert best.risk_of([0.0], ["a", "b"]) > best.risk


def test_unequal_spreads_have_two_thresholds() -> None:
    """N(0, 1) against N(0, 3) with equal priors: |x| = 3 sqrt(log(9) / 8)."""
    densities = {"narrow": norm(0, 1), "wide": norm(0, 3)}
    best = FeatureRule.of(densities, {"narrow": 0.5, "wide": 0.5}, bw.Costs.zero_one(["narrow", "wide"]))
    edge = 3 * np.sqrt(np.log(9) / 8)
    assert best.actions == ("wide", "narrow", "wide")
    assert best.edges == pytest.approx([-edge, edge], abs=1e-12)


def test_letters_are_distinguished_by_their_black_pixels() -> None:
    """p(a) = 3/4: the letter of the larger p(C) P(x | C) for each number of pixels; the rest cannot be avoided."""
    pixels = {
        "a": {4: Fraction(1, 2), 5: Fraction(1, 4), 6: Fraction(1, 4)},
        "b": {5: Fraction(1, 8), 6: Fraction(1, 2), 7: Fraction(3, 8)},
    }
    as_floats = {state: {v: float(p) for v, p in each.items()} for state, each in pixels.items()}
    best = ValueRule.of(as_floats, {"a": 0.75, "b": 0.25}, bw.Costs.zero_one(["a", "b"]))
    assert dict(zip(best.values, best.actions, strict=True)) == {4: "a", 5: "a", 6: "a", 7: "b"}
    # x = 6: 3/4 * 1/4 = 3/16 against 1/4 * 1/2 = 1/8; the error is what the loser had everywhere
    assert best.risk == pytest.approx(float(Fraction(1, 4) * (Fraction(1, 8) + Fraction(1, 2))))
    worse = {4: "a", 5: "a", 6: "b", 7: "b"}
    assert best.risk_of(worse) - best.risk == pytest.approx(float(Fraction(3, 16) - Fraction(1, 8)))
    assert best.posterior_at(6) == pytest.approx({"a": 0.6, "b": 0.4})


def test_a_feature_may_have_its_values_in_the_middle() -> None:
    """Two stretches of one action with another between them: no single threshold would do."""
    narrow, wide = {3: 0.6, 4: 0.4}, dict.fromkeys(range(8), 0.125)
    costs = bw.Costs.zero_one(["narrow", "wide"])
    best = ValueRule.of({"narrow": narrow, "wide": wide}, {"narrow": 0.5, "wide": 0.5}, costs)
    assert [action for action, _ in best.regions()] == ["wide", "narrow", "wide"]
    assert str(best) == "wide if x is 0, 1, 2; narrow if x is 3, 4; wide if x is 5, 6, 7"


def test_named_values_take_costs_of_any_shape() -> None:
    """Three actions for two states: asking is best where the value says little."""
    words = {"spam": {"win": 0.7, "hello": 0.3}, "ham": {"win": 0.05, "hello": 0.95}}
    best = ValueRule.of(words, {"spam": 0.5, "ham": 0.5}, MAIL)
    assert best.action_at("win") == "ask"  # P(spam | win) = 0.933 < 0.95
    assert best.action_at("hello") == "keep"
    assert best.risk == pytest.approx(0.375 * 0.5 + 0.15 * 1.0)
    with pytest.raises(ParameterError, match=r"sum to 0\.7"):
        ValueRule.of({"spam": {"win": 0.7}, "ham": {"win": 1.0}}, {"spam": 0.5, "ham": 0.5}, MAIL)


def test_a_posterior_is_sure_far_from_all_rows_and_the_evidence_is_not() -> None:
    """Logistic regression says 100 % for a point where nobody was ever seen; p(x) tells that it is unknown."""
    generator = np.random.default_rng(2)
    y = generator.integers(0, 2, 400)
    X = generator.normal(size=(400, 2)) + 2.0 * y[:, None]
    far, usual = [60.0, -20.0], [2.0, 2.0]
    assert LogisticRegression().fit(X, y).predict_proba([far])[0].max() > 0.9999
    costs = bw.Costs.zero_one([0, 1]).with_reject(0.1, "ask")
    maker = bw.DecisionMaker(bw.GaussianBayes(covariance="shared"), costs, novelty=0.01).fit(X, y)
    assert maker.predict_proba([far])[0].max() > 0.9999  # as sure of a class as the other one
    assert maker.refusals([far, usual]).tolist() == ["unknown", ""]
    assert maker.predict([far, usual]).tolist() == ["unknown", 1]


def test_correlated_features_are_counted_twice_and_that_costs_money() -> None:
    """The same feature ten times: naive Bayes is ten times too sure, and pays for it where costs are unequal."""
    generator = np.random.default_rng(4)
    y = generator.integers(0, 2, 3000)
    X = np.repeat(generator.normal(size=(3000, 1)) + y[:, None], 10, axis=1)
    costs = bw.Costs.binary(positive=1, negative=0, false_positive=1, false_negative=12)
    learned, new = slice(0, 1000), slice(1000, 3000)
    sure, calm = (
        bw.DecisionMaker(bw.NaiveBayes(), costs, calibrate=method).fit(X[learned], y[learned])
        for method in (None, "temperature")
    )
    assert calm.calibration_.temperature == pytest.approx(10.0, rel=0.3)
    assert -calm.score(X[new], y[new]) < 0.8 * -sure.score(X[new], y[new])


def test_the_mean_is_an_integral_of_y_and_not_of_the_density() -> None:
    """E[y] = integral of y p(y): the action of squared loss over any predictive distribution, here a skewed one."""
    y = gamma(3, scale=2)
    found = best_action(y, lambda outcome, a: (outcome - a) ** 2)
    assert squared_action(y) == pytest.approx(6.0) and found.action == pytest.approx(6.0, abs=1e-4)
    assert found.expected_cost == pytest.approx(12.0, rel=1e-5)  # the variance


def test_two_papers_share_a_van() -> None:
    """Each order is a quantile; the van holds 150, and both give way by the same price per place."""
    demands, under, over = [norm(100, 20), norm(50, 5)], [9, 4], [1, 1]
    free = newsvendor(demands, under=under, over=over)
    assert free == pytest.approx([norm(100, 20).ppf(0.9), norm(50, 5).ppf(0.8)])
    tight = newsvendor(demands, under=under, over=over, capacity=150)
    assert tight.sum() == pytest.approx(150)
    prices = [
        u - (u + o) * d.cdf(a) for d, u, o, a in zip(demands, under, over, tight, strict=True)
    ]  # what one place more would save
    assert prices[0] == pytest.approx(prices[1], abs=1e-6) and prices[0] > 0
