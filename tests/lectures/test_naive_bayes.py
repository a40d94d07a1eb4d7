"""Naive Bayes as the lectures compute it: play golf, or not, on a sunny, cool, humid and windy day."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models.naive_bayes import MEstimate
from tests.paths import GOLF

DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}


def p_no(**settings: object) -> float:
    model = bw.fit(GOLF, target="play", model="naive-bayes", **settings)
    return float(model.predict_proba([DAY])[0, model.classes.index("no")])


def test_counting_gives_486_of_611_for_no() -> None:
    assert p_no(convention="exact") == pytest.approx(486 / 611, rel=1e-14)
    assert bw.fit(GOLF, target="play", model="naive-bayes", convention="exact").predict([DAY]) == ["no"]


def test_the_joints_are_1_of_189_and_18_of_875_and_no_posteriors() -> None:
    account = bw.fit(GOLF, target="play", model="naive-bayes", convention="exact").explain(DAY)
    joint = dict(zip(account.states, np.exp(account.log_joint), strict=True))
    assert joint["yes"] == pytest.approx(float(Fraction(9, 14) * Fraction(2 * 3 * 3 * 3, 9**4)), rel=1e-14)
    assert joint["yes"] == pytest.approx(1 / 189, rel=1e-14)
    assert joint["no"] == pytest.approx(18 / 875, rel=1e-14)
    assert round(joint["no"], 4) == 0.0206  # not .0207, which rounds on the way


def test_normalising_never_changes_the_answer() -> None:
    model = bw.fit(GOLF, target="play", model="naive-bayes")
    account = model.explain(DAY)
    assert np.argmax(account.log_joint) == np.argmax(account.posterior) == model.classes.index("no")


@pytest.mark.parametrize(
    ("convention", "expected"),
    [
        ("exact", 0.7954),
        ("laplace", 0.7201),
        ("smoothed-prior", 0.7353),
        ("as-printed", 0.7384),
        ("as-printed-smoothed-prior", 0.7530),
        ("scikit-learn", 0.7201),
        ("weka", 0.7353),
    ],
)
def test_each_convention_of_smoothing_has_its_own_number(convention: str, expected: float) -> None:
    assert round(p_no(convention=convention), 4) == expected


def test_explain_names_the_convention_in_force() -> None:
    assert (
        bw.fit(GOLF, target="play", model="naive-bayes", convention="as-printed").explain(DAY).convention
        == "as-printed"
    )
    changed = bw.fit(GOLF, target="play", model="naive-bayes", smoothing=0.5).explain(DAY).convention
    assert changed == "laplace with smoothing=0.5"


def test_laplace_smoothing_adds_the_number_of_values_not_of_classes() -> None:
    """Outlook has 3 values: (2 + 1) / (9 + 3) for sunny given yes; as printed the three would add up to 12/11."""

    def outlook_given_yes(convention: str) -> list[float]:
        model = bw.fit(GOLF, target="play", model="naive-bayes", convention=convention)
        yes = model.classes.index("yes")
        return [math.exp(other.log_likelihood[yes]) for other in model.alternatives("outlook")]

    assert sum(outlook_given_yes("laplace")) == pytest.approx(1.0)
    assert outlook_given_yes("laplace")[-1] == pytest.approx(3 / 12)
    assert sum(outlook_given_yes("as-printed")) == pytest.approx(12 / 11)


def test_an_m_estimate_of_zero_rows_is_maximum_likelihood() -> None:
    assert p_no(smoothing=MEstimate(0.0)) == pytest.approx(486 / 611, rel=1e-14)


def test_an_m_estimate_distributes_pseudo_counts_by_p() -> None:
    """P(strong | no) = (3 + 10 * .4) / (5 + 10)."""
    shares = {"wind": {"strong": 0.4, "weak": 0.6}}
    model = bw.fit(GOLF, target="play", model="naive-bayes", smoothing=MEstimate(10, p=shares))
    strong = next(other for other in model.alternatives("wind") if other.value == "strong")
    assert math.exp(strong.log_likelihood[model.classes.index("no")]) == pytest.approx(7 / 15)


def test_the_class_prior_may_be_given_by_name() -> None:
    """With even priors the joints are 14/18 of 1/189 and 14/10 of 18/875."""
    yes, no = Fraction(1, 189) * Fraction(14, 18), Fraction(18, 875) * Fraction(14, 10)
    assert p_no(convention="exact", class_prior={"yes": 0.5, "no": 0.5}) == pytest.approx(float(no / (yes + no)))


def test_the_golf_model_has_13_free_parameters() -> None:
    """One for the prior, and for each class 2 + 2 + 1 + 1 for columns of 3, 3, 2 and 2 values."""
    assert bw.fit(GOLF, target="play", model="naive-bayes").n_free_parameters() == 1 + 2 * (2 + 2 + 1 + 1)


def test_the_quiz_model_has_8_free_parameters_9_with_the_redundant_prior() -> None:
    """Three classes, one normal column: 3 means, 3 variances and 2 priors; the third prior follows from them."""
    rows = [{"x": float(k * k), "y": "abc"[k % 3]} for k in range(9)]
    model = bw.fit(rows, target="y", model="naive-bayes", kinds={"x": "number"})
    assert model.n_free_parameters() == 3 + 3 + 2
    assert model.parameter_counts().written == 3 + 3 + 3


def test_a_value_unseen_in_every_class_without_smoothing_is_undefined_not_zero() -> None:
    model = bw.fit(GOLF, target="play", model="naive-bayes", convention="exact")
    with pytest.raises(bw.BayeswiseError, match="0/0"):
        model.predict_proba([{**DAY, "outlook": "foggy"}])


def test_shared_variances_make_the_log_odds_linear_as_in_the_lecture() -> None:
    """w_i = (mu+_i - mu-_i) / sigma_i^2, w0 = logit p + sum (mu-_i^2 - mu+_i^2) / (2 sigma_i^2)."""
    rng = np.random.default_rng(1)
    y = np.repeat(["+", "-"], [60, 40])
    values = rng.normal(size=(100, 3)) + (y == "+")[:, None] * np.array([1.0, -2.0, 0.5])
    plus, minus = values[y == "+"], values[y == "-"]
    variance = (((plus - plus.mean(0)) ** 2).sum(0) + ((minus - minus.mean(0)) ** 2).sum(0)) / 100
    w = (plus.mean(0) - minus.mean(0)) / variance
    w0 = math.log(0.6 / 0.4) + ((minus.mean(0) ** 2 - plus.mean(0) ** 2) / (2 * variance)).sum()

    estimator = bw.NaiveBayes(shared_variance=True).fit(values, y)
    form = estimator.model_.linear_form().between("+", "-")
    assert form.w == pytest.approx(w, rel=1e-12)
    assert form.w0 == pytest.approx(w0, rel=1e-10)
    sigmoid = 1.0 / (1.0 + np.exp(-(values @ w + w0)))
    assert estimator.predict_proba(values)[:, 0] == pytest.approx(sigmoid, rel=1e-10)
    assert form.of_numbers(values) == pytest.approx(estimator.log_odds(values, "+", "-"), abs=1e-10)


def test_states_are_drawn_first_and_then_the_cells_given_the_state() -> None:
    model = bw.fit(GOLF, target="play", model="naive-bayes", convention="exact")
    drawn = model.sample(20_000, seed=3)
    play = np.array(drawn["play"])
    assert np.mean(play == "yes") == pytest.approx(9 / 14, abs=0.015)
    sunny = np.array(drawn["outlook"]) == "sunny"
    assert np.mean(sunny[play == "no"]) == pytest.approx(3 / 5, abs=0.025)
