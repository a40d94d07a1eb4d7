"""`bayeswise bayes` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from bayeswise.posteriors import bayes

Command = Callable[..., SimpleNamespace]

DISEASE = ["--prior", "disease=.004", "--likelihood", "positive:disease=.8", "positive:healthy=.1"]
GOLF = [
    *["--prior", "yes=9/14", "no=5/14"],
    *["--likelihood", "sunny:yes=2/9", "sunny:no=3/5", "cool:yes=3/9", "cool:no=1/5"],
    *["--likelihood", "high:yes=3/9", "high:no=4/5", "strong:yes=3/9", "strong:no=3/5"],
    *["--observe", "sunny", "cool", "high", "strong"],
]
WEATHER = [
    "--joint",
    "sun,hot=.4",
    "rain,hot=.1",
    "sun,cold=.2",
    "rain,cold=.3",
    "--variables",
    "weather",
    "temperature",
]


def test_every_step_of_the_disease_test_is_shown(bayeswise: Command) -> None:
    answer = bayeswise("bayes", *DISEASE, "--observe", "positive")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "healthy = 1 - 0.004 = 0.996 is filled in: the other of two states\n"
        "\n"
        "                         disease   healthy     sum\n"
        "prior                      0.004     0.996       1\n"
        "x P(positive | state)        0.8       0.1\n"
        "= joint                   0.0032    0.0996  0.1028\n"
        "posterior              0.0311284  0.968872       1\n"
        "\n"
        "evidence: P(positive) = 0.1028\n"
        "P(disease | positive) = 0.0032 / 0.1028 = 0.0311284\n"
        "P(healthy | positive) = 0.0996 / 0.1028 = 0.968872\n"
        "most probable: healthy\n"
    )


def test_exact_prints_the_fractions_of_golf(bayeswise: Command) -> None:
    out = bayeswise("bayes", *GOLF, "--exact").out
    assert "= joint                1/189   18/875  611/23625" in out
    assert "P(yes | sunny, cool, high, strong) = (1/189) / (611/23625) = 125/611" in out
    assert "P(no | sunny, cool, high, strong) = (18/875) / (611/23625) = 486/611" in out


def test_json_is_what_python_answers(bayeswise: Command) -> None:
    printed = json.loads(bayeswise("bayes", *DISEASE, "--observe", "positive", "positive", "--json").out)
    answer = bayes({"disease": ".004"}, {"positive": {"disease": ".8", "healthy": ".1"}}, ["positive", "positive"])
    assert printed == {"schema": 1, **answer.to_dict()}
    assert printed["exact"]["posterior"]["disease"] == "64/313"


def test_options_may_be_repeated_or_take_several_values_in_any_order(bayeswise: Command) -> None:
    once = bayeswise("bayes", *GOLF)
    repeated = [word for value in GOLF[-4:] for word in ("--observe", value)]
    assert bayeswise("bayes", *repeated, *GOLF[:-5]).out == once.out
    assert bayeswise("bayes", "--prior=yes=9/14", *GOLF[2:]).out == once.out


def test_a_name_may_contain_an_equals_sign_or_a_colon(bayeswise: Command) -> None:
    words = ["--prior", "a:b=.5", "c=.5", "--likelihood", "wind=strong:a:b=.9", "wind=strong:c=.1"]
    answer = bayeswise("bayes", *words, "--observe", "wind=strong", "--json")
    assert json.loads(answer.out)["posterior"] == {"a:b": 0.9, "c": 0.1}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "there is no prior"),
        (["--prior", "disease"], "the prior 'disease' is not written NAME=NUMBER"),
        (
            ["--prior", "disease=often", *DISEASE[2:]],
            "the prior of 'disease' must be a number; found 'often'",
        ),
        (["--prior", "disease=1.2", *DISEASE[2:]], "the prior of 'disease' must be from 0 to 1; found 1.2"),
        (["--prior", "disease=.1", "disease=.2"], "the prior of 'disease' is given twice: .1 and .2"),
        (["--prior", "disease=.1", "healthy=.8", *DISEASE[2:]], "the prior sums to 0.9"),
        (DISEASE, "nothing was observed"),
        ([*DISEASE, "--observe", "negative"], "no likelihood for the observation 'negative'"),
        ([*DISEASE[:-1], "--observe", "positive"], "the prior sums to 0.004"),
        (
            [*DISEASE, "positive=.3", "--observe", "positive"],
            "the likelihood 'positive' is not written SEEN:STATE",
        ),
        ([*DISEASE, "positive:healthy=80", "--observe", "positive"], "is given twice"),
        (
            [*DISEASE[:-1], "positive:healthy=80", "--observe", "positive"],
            "P(positive | healthy) must be from 0 to 1",
        ),
        ([*DISEASE, "--joint", "a,b=1"], "either --joint, or --prior"),
        ([*WEATHER, "--observe", "warm"], "the observation 'warm' is a level of no variable"),
        ([*WEATHER, "--observe", "hot", "cold"], "temperature is observed twice"),
        (["--joint", "a,b=.5", "b,a=.5", "--observe", "a"], "'a' is a level of variable 1 and variable 2"),
        (["--joint", "a,b=.5", "c=.5"], "one level for each of"),
    ],
)
def test_bad_input_is_a_usage_error_that_names_the_piece(bayeswise: Command, words: list[str], named: str) -> None:
    answer = bayeswise("bayes", *words)
    assert (answer.code, answer.out) == (2, "")
    assert named in answer.err
    assert "Fix: " in answer.err


def test_an_option_without_a_value_is_a_usage_error(bayeswise: Command) -> None:
    assert bayeswise("bayes", "--prior", "--likelihood", "x:a=.5").code == 2


def test_an_impossible_observation_does_not_fit(bayeswise: Command) -> None:
    words = ["--prior", "a=.5", "b=.5", "--likelihood", "x:a=0", "x:b=0", "--observe", "x"]
    answer = bayeswise("bayes", *words)
    assert answer.code == 4
    assert "P(x) is 0" in answer.err


def test_a_joint_table_shows_marginals_and_conditionals(bayeswise: Command) -> None:
    answer = bayeswise("bayes", *WEATHER, "--observe", "hot")
    assert "P(weather):  sun 0.6   rain 0.4\n" in answer.out
    assert "P(temperature):  hot 0.5   cold 0.5\n" in answer.out
    assert "P(weather | temperature = hot):  sun 0.8   rain 0.2\n" in answer.out
    assert bayeswise("bayes", *WEATHER, "--observe", "temperature=hot").out == answer.out


def test_a_joint_table_as_json(bayeswise: Command) -> None:
    printed = json.loads(bayeswise("bayes", *WEATHER, "--observe", "cold", "--json").out)
    assert printed["observed"] == {"temperature": "cold"}
    assert printed["conditional"] == [
        {"levels": {"weather": "sun"}, "P": 0.4, "exact": "2/5"},
        {"levels": {"weather": "rain"}, "P": 0.6, "exact": "3/5"},
    ]
    assert printed["marginals"]["weather"][0]["P"] == 0.6
    assert json.loads(bayeswise("bayes", *WEATHER, "--json").out)["conditional"] is None


def test_a_likelihood_above_1_is_told_the_one_option_that_allows_it(bayeswise: Command) -> None:
    answer = bayeswise("bayes", "--prior", "a=.5", "b=.5", "--likelihood", "x:a=1.2", "x:b=.3", "--observe", "x")
    assert answer.code != 0
    assert answer.err.count("--density") == 1 and "density=True" not in answer.err
