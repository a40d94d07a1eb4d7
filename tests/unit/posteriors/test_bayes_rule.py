"""The calculator's border: what may be typed, and what is said when it may not."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, PriorError
from bayeswise.posteriors import bayes
from bayeswise.render.numbers import decimal_text, exact, fraction_text

TEST = {"positive": {"disease": ".8", "healthy": ".1"}}


@pytest.mark.parametrize(
    "typed",
    [
        ".004",
        "0.004",
        "4e-3",
        "1/250",
        "0.4%",
        " .004 ",
        0.004,
        Decimal("0.004"),
        Fraction(1, 250),
        np.float32(0.004),
    ],
)
def test_a_number_is_what_was_typed(typed: object) -> None:
    assert exact(typed, "p") == Fraction(1, 250)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "typed", ["", "half", "1/0", "1e9999", "nan", "inf", float("nan"), "1_0", "٣", "0,004", True, "9" * 500]
)
def test_what_is_not_a_number_is_refused(typed: object) -> None:
    with pytest.raises(ParameterError, match=r"p must be a number; found .*write it as .004"):
        exact(typed, "p")  # type: ignore[arg-type]


def test_fractions_of_any_length_can_be_written() -> None:
    assert len(fraction_text(Fraction(10**5000, 3))) == 5003
    assert decimal_text(Fraction(1, 3**20000)) == "3.75756E-9543"  # 20000 log10(3) = 9542.42509...


def test_a_filled_in_complement_is_said() -> None:
    answer = bayes({"disease": ".004"}, TEST, "positive")
    assert answer.notes == ("healthy = 1 - 0.004 = 0.996 is filled in: the other of two states",)
    assert bayes({"disease": ".004", "healthy": ".996"}, TEST, "positive").notes == ()


@pytest.mark.parametrize("bad", ["-.1", "1.5", "nan", "x"])
def test_a_prior_outside_zero_and_one_names_its_state(bad: str) -> None:
    with pytest.raises(PriorError, match="the prior of 'disease' must be"):
        bayes({"disease": bad}, TEST, "positive")


def test_a_prior_of_the_wrong_sum_shows_its_terms() -> None:
    with pytest.raises(PriorError, match=r"sums to 0.9, not to 1: 0.4 \+ 0.5"):
        bayes({"disease": ".4", "healthy": ".5"}, TEST, "positive")


def test_a_third_state_without_a_prior_is_not_filled_in() -> None:
    likelihood = {"positive": {"disease": ".8", "healthy": ".1", "carrier": ".3"}}
    with pytest.raises(PriorError, match="no entry for state 'healthy'"):
        bayes({"disease": ".004"}, likelihood, "positive")


def test_a_misspelt_state_is_guessed() -> None:
    likelihood = {"positive": {"disease": ".8", "helthy": ".1"}}
    with pytest.raises(PriorError, match=r"'helthy'. Fix: did you mean 'healthy'\?"):
        bayes({"disease": ".004", "healthy": ".996"}, likelihood, "positive")


def test_a_misspelt_observation_is_guessed() -> None:
    with pytest.raises(ParameterError, match=r"observation 'postive'. Fix: did you mean 'positive'\?"):
        bayes({"disease": ".004"}, TEST, "postive")


def test_a_likelihood_that_is_missing_is_named() -> None:
    likelihood = {"positive": {"disease": ".8"}, "negative": {"disease": ".2", "healthy": ".9"}}
    with pytest.raises(ParameterError, match=r"no likelihood P\(positive \| healthy\). Fix: add positive:healthy="):
        bayes({"disease": ".004"}, likelihood, "positive")


@pytest.mark.parametrize("observe", [[], ()])
def test_something_must_be_observed(observe: object) -> None:
    with pytest.raises(ParameterError, match=r"nothing was observed.*one or several of: 'positive'"):
        bayes({"disease": ".004"}, TEST, observe)


def test_a_likelihood_above_one_must_be_called_a_density() -> None:
    tall = {"x": {"a": 3, "b": 1}}
    with pytest.raises(ParameterError, match=r"P\(x \| a\) must be from 0 to 1; found 3. Fix: .*density=True"):
        bayes({"a": ".5", "b": ".5"}, tall, "x")
    assert bayes({"a": ".5", "b": ".5"}, tall, "x", density=True).posterior["a"] == 0.75


def test_a_negative_density_is_refused() -> None:
    with pytest.raises(ParameterError, match="found -1"):
        bayes({"a": ".5", "b": ".5"}, {"x": {"a": -1, "b": 1}}, "x", density=True)


@pytest.mark.parametrize(
    ("prior", "likelihood"), [({}, TEST), ([0.5, 0.5], TEST), ({"a": 1}, [0.5]), ({"a": 1}, {"x": 0.5})]
)
def test_bare_numbers_are_refused(prior: object, likelihood: object) -> None:
    with pytest.raises((PriorError, ParameterError), match="given by name"):
        bayes(prior, likelihood, "positive")  # type: ignore[arg-type]


def test_a_zero_prior_stays_zero_whatever_is_seen() -> None:
    answer = bayes({"a": 0, "b": 1}, {"x": {"a": 1, "b": "1e-300"}}, ["x"] * 3)
    assert answer.posterior == {"a": 0.0, "b": 1.0}


def test_a_zero_prior_and_a_zero_likelihood_are_impossible_together() -> None:
    with pytest.raises(ImpossibleEvidenceError, match=r"P\(x\) is 0"):
        bayes({"a": 0, "b": 1}, {"x": {"a": 1, "b": 0}}, "x")


def test_a_tie_goes_to_the_first_state_that_was_named() -> None:
    same = {"x": {"a": ".5", "b": ".5"}}
    assert bayes({"b": ".5", "a": ".5"}, same, "x").most_probable == "b"
    assert bayes({"a": ".5", "b": ".5"}, same, "x").most_probable == "a"


def test_a_thousand_observations_underflow_nothing() -> None:
    answer = bayes({"a": ".5", "b": ".5"}, {"x": {"a": "1e-10", "b": "2e-10"}}, ["x"] * 1000)
    assert answer.joint == {"a": 0.0, "b": 0.0}  # the floats do, the fractions do not
    assert answer.most_probable == "b"
    assert answer.exact.posterior["a"] == Fraction(1, 1 + 2**1000)
    assert answer.likelihood_ratio("a", "b") == 2.0**-1000


def test_products_of_densities_may_exceed_a_float() -> None:
    answer = bayes({"a": ".5", "b": ".5"}, {"x": {"a": "1e200", "b": "3e200"}}, ["x", "x"], density=True)
    assert answer.posterior == {"a": 0.1, "b": 0.9}
    assert answer.evidence == math.inf
    assert json.loads(json.dumps(answer.to_dict(), allow_nan=False))["evidence"] is None


def test_the_likelihood_ratio_of_the_impossible() -> None:
    answer = bayes({"a": ".5", "b": ".5"}, {"x": {"a": ".5", "b": "0"}}, "x")
    assert answer.likelihood_ratio("a", "b") == math.inf
    assert answer.likelihood_ratio("b", "a") == 0.0


def test_numbers_and_flags_are_states_as_well_and_are_not_mixed_up() -> None:
    answer = bayes({1: ".5", 0: ".5"}, {"x": {1: ".9", 0: ".1"}}, "x")
    assert answer.posterior == {1: 0.9, 0: 0.1}
    with pytest.raises(PriorError, match="no entry for state True"):
        bayes({1: ".5", 0: ".5"}, {"x": {True: ".9", 0: ".1"}}, "x")


def test_the_text_shows_every_step() -> None:
    text = str(bayes({"disease": ".004"}, TEST, "positive"))
    assert "= joint                   0.0032    0.0996  0.1028" in text
    assert "P(disease | positive) = 0.0032 / 0.1028 = 0.0311284" in text
    assert text.endswith("most probable: healthy")


def test_many_states_are_shown_in_several_tables_of_80_columns() -> None:
    names = [f"state {k}" for k in range(13)]
    text = str(bayes(dict.fromkeys(names, "1/13"), {"x": dict.fromkeys(names, "1/7")}, "x"))
    assert text.count("\nprior") == 4
    assert max(map(len, text.splitlines())) <= 80


def test_labels_of_every_kind_are_shown_in_one_line() -> None:
    odd = ["two\nlines", "\x1b[31mred", "日本語", "🙂" * 40, "שלום", ""]
    text = str(bayes(dict.fromkeys(odd, "1/6"), {"x": dict.fromkeys(odd, "1/7")}, "x"))
    assert "\x1b" not in text
    assert "two\\nlines" in text
    assert "שלום" in text
