"""`bayeswise likelihood` and `bayeswise beliefs`: a sample, its likelihood, and what is believed after each datum."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import stats

Command = Callable[..., SimpleNamespace]

COIN = ("1", "1", "0", "1", "0", "1", "1", "0", "1", "1")


def test_seven_heads_of_ten_have_their_maximum_at_seven_tenths(bayeswise: Command) -> None:
    printed = json.loads(bayeswise("likelihood", "bernoulli", "--data", *COIN, "--at", "probability=1/2", "--json").out)
    top, half = printed["maximum"], printed["at"]
    assert top["parameters"] == {"probability": 0.7} and top["is_maximum"]
    assert top["gradient"]["probability"] == pytest.approx(0.0, abs=1e-12)
    assert top["curvature"] == [[pytest.approx(-7 / 0.49 - 3 / 0.09)]]
    assert top["standard_errors"]["probability"] == pytest.approx((0.21 / 10) ** 0.5)
    assert half["gradient"] == {"probability": pytest.approx(7 / 0.5 - 3 / 0.5)} and not half["is_maximum"]


def test_a_column_of_a_table_is_a_sample_and_two_parameters_are_drawn(bayeswise: Command, tmp_path: Path) -> None:
    table = tmp_path / "numbers.csv"
    table.write_text("x\n-1\n2\n\n5\n")
    answer = bayeswise("likelihood", "normal", "--rows", table, "--column", "x", "--png", tmp_path / "x.png")
    assert answer.code == 0 and (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    typed = bayeswise("likelihood", "normal", "--data", "-1", "2", "5")
    assert typed.out == answer.out and "mean" in typed.out and "2.44949" in typed.out  # sqrt(6)


def test_a_belief_is_shown_datum_by_datum_with_an_animation(bayeswise: Command, tmp_path: Path) -> None:
    gif, png = tmp_path / "coin.gif", tmp_path / "coin.png"
    words = ("beliefs", "beta:successes=1,failures=1", "--data", "1", "1", "0")
    printed = json.loads(bayeswise(*words, "--png", png, "--animation", gif, "--seconds", "0.1", "--json").out)
    assert [step["mean"] for step in printed["steps"]] == pytest.approx([1 / 2, 2 / 3, 3 / 4, 3 / 5])
    assert printed["steps"][-1]["high"] == pytest.approx(stats.beta(3, 2).ppf(0.975))
    assert printed["posterior"] == "BetaPrior(successes=3, failures=2)"
    assert gif.read_bytes().startswith(b"GIF89a") and png.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "posterior"),
    [
        (("gamma:shape=2,rate=1", "--data", "3", "5"), "GammaPrior(shape=10, rate=3)"),
        (("gamma:shape=2,rate=1", "--family", "exponential", "--data", "3", "5"), "GammaPrior(shape=4, rate=9)"),
        (("dirichlet:red=1,blue=1", "--data", "red", "red", "blue"), "Dirichlet(red=3, blue=2)"),
        (("normal:mean=0,stddev=1", "--family", "normal-mean:stddev=1", "--data", "2"), "NormalPrior(mean=1"),
    ],
)
def test_each_prior_is_that_of_its_family(bayeswise: Command, words: Any, posterior: str) -> None:
    assert f"posterior  {posterior}" in bayeswise("beliefs", *words).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("likelihood", "foo", "--data", "1"), "'foo' is not a family"),
        (("likelihood", "binomial", "--data", "1"), "Fix: type binomial:trials="),
        (("likelihood", "normal"), "there is no sample. Fix: type --data 3 5 4"),
        (("likelihood", "normal", "--data", "1", "x"), "x"),
        (("likelihood", "poisson", "--data", "1", "--over", "mean"), "one or two of rate"),
        (("beliefs", "beta", "--data", "1"), "'beta' is not a prior"),
        (("beliefs", "normal:mean=0,stddev=1", "--data", "1"), "Fix: add --family normal-mean:stddev=2"),
        (("beliefs", "gamma:shap=2,rate=1", "--data", "1"), "has the parameters shape, rate; found shap, rate"),
        (("beliefs", "beta:successes=1,failures=1", "--data", "1", "--steps", "0", "9"), "from 0 to 1"),
        (("beliefs", "beta:successes=1,failures=1", "--data", "1", "--animation", "x.mp4"), "an animation is a GIF"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_type(bayeswise: Command, words: Any, message: str) -> None:
    extra = ("--png", "drawn.png") if "--steps" in words else ()
    answer = bayeswise(*words, *extra)
    assert answer.code != 0 and message in answer.err and "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("prior", "needed", "typed"),
    [
        ("beta:successes=1", "successes, failures", "beta:successes=1,failures=1"),
        ("gamma:shape=2", "shape, rate", "gamma:shape=2,rate=1"),
        (
            "normal-inverse-gamma:mean=0",
            "mean, strength, shape, scale",
            "normal-inverse-gamma:mean=0,strength=1,shape=1,scale=1",
        ),
    ],
)
def test_a_prior_has_no_parameter_that_was_not_typed(bayeswise: Command, prior: str, needed: str, typed: str) -> None:
    answer = bayeswise("beliefs", prior, "--data", "1")
    assert answer.code == 2 and f"has the parameters {needed}; found" in answer.err
    assert answer.err.rstrip().endswith(f"Fix: type {typed}.")
    assert bayeswise("beliefs", typed, "--data", "1").code == 0


@pytest.mark.parametrize("verb", [("likelihood", "bernoulli"), ("beliefs", "beta:successes=1,failures=1")])
def test_a_value_that_cannot_be_is_named_as_it_was_typed(bayeswise: Command, verb: tuple[str, ...]) -> None:
    answer = bayeswise(*verb, "--data", "1", "0", "2", "1")
    assert answer.code == 3 and "a Bernoulli value is 0 or 1; value 3 of the data is 2." in answer.err


def test_a_prior_of_another_family_is_refused(bayeswise: Command) -> None:
    answer = bayeswise("beliefs", "gamma:shape=1,rate=2", "--family", "normal", "--data", "1")
    assert answer.code == 2 and "the prior of the normal family is a NormalInverseGamma" in answer.err
