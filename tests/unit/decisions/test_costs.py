"""A table of costs: every way to say it, and what is refused by the name of its cell."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayeswise as bw
from bayeswise.decisions import CostWarning
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.costs.expressions import Expression
from bayeswise.evaluation.evaluate import evaluation_of
from bayeswise.evaluation.report import evaluation_text
from bayeswise.foundation.errors import CostError
from bayeswise.models.held_out import HeldOut

MAIL = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}
TABLE = [[0.0, 10.0], [1.0, 0.0], [0.5, 0.5]]


def test_a_table_is_read_by_action_and_state_never_by_position() -> None:
    turned = {"bin": {"ham": 10, "spam": 0}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}
    assert bw.Costs(MAIL).table.tolist() == TABLE
    assert bw.Costs(turned).aligned(["spam", "ham"]).table.tolist() == TABLE


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_say_which_way_round_they_are(frame: Any) -> None:
    by_action = frame({"action": ["bin", "keep", "ask"], "spam": [0.0, 1.0, 0.5], "ham": [10.0, 0.0, 0.5]})
    by_state = frame({"state": ["spam", "ham"], "bin": [0, 10], "keep": [1, 0], "ask": [0.5, 0.5]})
    assert bw.Costs(by_action).table.tolist() == TABLE
    assert bw.Costs(by_state).table.tolist() == TABLE


def test_a_frame_with_a_named_index_and_a_long_frame_are_read_too() -> None:
    wide = pd.DataFrame({"spam": [0, 1], "ham": [10, 0]}, index=pd.Index(["bin", "keep"], name="action"))
    long = pd.DataFrame({"action": ["bin", "bin", "keep", "keep"], "state": ["spam", "ham"] * 2, "cost": [0, 10, 1, 0]})
    assert bw.Costs(wide).table.tolist() == bw.Costs(long).table.tolist() == TABLE[:2]


def test_costs_come_from_toml_and_csv(tmp_path: Path) -> None:
    toml, csv = tmp_path / "decision.toml", tmp_path / "costs.csv"
    toml.write_text("[costs]\nask = 0.5\n[costs.bin]\nspam = 0\nham = 'amount / 2'\n[costs.keep]\nspam = 1\nham = 0\n")
    csv.write_text("action,spam,ham\nbin,0,amount / 2\nkeep,1,0\nask,0.5,0.5\n")
    assert bw.Costs.read(toml).to_dict()["bin"] == {"spam": 0.0, "ham": "amount / 2"}
    assert bw.Costs.read(csv).to_dict()["bin"] == {"spam": 0.0, "ham": "amount / 2"}


def test_a_unit_stands_in_headings_and_goes_with_the_costs(tmp_path: Path) -> None:
    path = tmp_path / "decision.toml"
    path.write_text('unit = "EUR"\n[costs]\nact = { y = 0, n = 5 }\nwait = { y = 2, n = 0 }\n')
    costs = bw.Costs.read(path)
    assert DecisionFile.read(path).costs.unit == "EUR"
    others = [costs.aligned(["n", "y"]), costs.with_reject(1), costs.changed({"act": {"n": 7}}), costs.for_row({})]
    assert {each.unit for each in others} == {"EUR"}
    ones = np.ones(1)
    known = HeldOut(("y", "n"), np.array([[0.9, 0.1]]), np.array([0]), ones, ones > 0, "as it is")
    assert "cost per case (EUR)" in evaluation_text(evaluation_of(known, costs))
    assert "(EUR)" in costs._repr_html_()


@pytest.mark.parametrize("unit", ["", "  ", 3, "a\nb", "x" * 21])
def test_a_unit_is_a_short_word(unit: Any) -> None:
    with pytest.raises(CostError, match="the unit of costs is a short word"):
        bw.Costs({"act": {"y": 0, "n": 5}, "wait": {"y": 2, "n": 0}}, unit=unit)


def test_a_file_may_name_gains_instead(tmp_path: Path) -> None:
    path = tmp_path / "gains.toml"
    path.write_text('reject = "ask"\n[utilities]\nlend = { yes = "0.12 * amount", no = -6 }\nask = -1\n')
    costs = bw.Costs.read(path)
    assert costs.for_row({"amount": 100}).to_dict() == {"lend": {"yes": -12, "no": 6}, "ask": {"yes": 1, "no": 1}}
    assert costs.reject == "ask" and DecisionFile.read(path).costs == costs
    path.write_text("[utilities]\na = { x = 1, y = 2 }\n[costs]\na = { x = 1, y = 2 }\n")
    with pytest.raises(CostError, match=r"both \[costs\] and \[utilities\]"):
        bw.Costs.read(path)


def test_states_of_a_file_are_matched_by_their_text(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("action,0,1\ntreat,5,0\nwait,0,80\n")
    answer = bw.decide(np.array([[0.9, 0.1]]), bw.Costs.read(path), states=[0, 1])
    assert answer.action.tolist() == ["treat"]
    with pytest.raises(CostError, match="costs name '0', which is not a class, and have no entry for state 0"):
        bw.decide(np.array([[0.9, 0.1]]), {"treat": {"0": 5, "1": 0}, "wait": {"0": 0, "1": 80}}, states=[0, 1])


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ({}, "no action"),
        ({"ask": 1}, "no action has costs by state"),
        ({"bin": {"spam": 0}, "keep": {"spam": 1, "ham": 0}}, "'bin' has no cost in state 'ham'"),
        ({"bin": {"spam": 0, "ham": float("nan")}}, "'bin' in state 'ham' must be finite; found nan"),
        ({"bin": {"spam": 0, "ham": float("inf")}}, "'bin' in state 'ham' must be finite"),
        ({"bin": {"spam": 0, "ham": None}}, "'bin' in state 'ham' must be a number"),
        ({"bin": {"spam": True, "ham": 1}}, "'bin' in state 'spam' must be a number"),
        ({"bin": {"spam": 0, "ham": "2 +"}}, "'bin' in state 'ham': the formula"),
        ({"bin": {"spam": 0, "ham": "1e999"}}, "'bin' in state 'ham' must be finite"),
        ({"bin": {"spam": 0, "ham": 10**400}}, "'bin' in state 'ham' must be a number"),
    ],
)
def test_an_error_names_the_cell(costs: Any, says: str) -> None:
    with pytest.raises(CostError, match=says):
        bw.Costs(costs)


def test_states_that_do_not_match_the_posterior_are_refused() -> None:
    with pytest.raises(CostError, match="no entry for state 'eggs'"):
        bw.decide({"spam": 0.5, "eggs": 0.5}, MAIL)
    with pytest.raises(CostError, match="costs name 'ham', which is not a class"):
        bw.decide({"spam": 1.0}, MAIL)


# -- formulas -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14.0),
        ("(2 + 3) * 4", 20.0),
        ("2 - 3 - 4", -5.0),
        ("16 / 4 / 2", 2.0),
        ("-2 * -(1 + 1)", 4.0),
        ("- -a", 7.0),
        ("+a", 7.0),
        ("1.5e1 - .5", 14.5),
        ("a / 2 + `b c`", 13.5),
        ("(" * 300 + "a" + ")" * 300, 7.0),
    ],
)
def test_formulas_follow_the_usual_rules(text: str, value: float) -> None:
    columns = {"a": np.array([7.0]), "b c": np.array([10.0])}
    assert np.ravel(Expression.parse(text).values(columns)).tolist() == [value]


@pytest.mark.parametrize(
    "text",
    ["", "a b", "2 3", "2 +", "* 2", "(2", "2)", "()", "a(2)", "__import__('os')", "a.b", "a ** 2", "`a", "1" * 1001],
)
def test_what_is_not_a_formula_is_refused(text: str) -> None:
    with pytest.raises(CostError):
        Expression.parse(text)


def test_costs_of_the_row_are_paid_by_that_row() -> None:
    loan = bw.Costs({"grant": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0})
    rows = {"amount": [100.0, 1000.0], "age": [30, 40]}
    answer = bw.decide({"good": [0.95, 0.9], "bad": [0.05, 0.1]}, loan, rows=rows)
    assert answer.expected_cost.round(9).tolist() == [[-4.5, 0.0], [10.0, 0.0]]
    assert answer.action.tolist() == ["grant", "refuse"]


def test_a_row_without_its_amount_is_named() -> None:
    loan = bw.Costs({"grant": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0})
    posterior = {"good": [0.95, 0.9], "bad": [0.05, 0.1]}
    with pytest.raises(CostError, match=r"'grant' in state 'good'.*row 2"):
        bw.decide(posterior, loan, rows={"amount": [100.0, float("nan")]})
    with pytest.raises(CostError, match="depend on the columns 'amount'"):
        bw.decide(posterior, loan)
    with pytest.raises(bw.UsageError, match="1 cells for 2"):
        bw.decide(posterior, loan, rows={"amount": [100.0]})


# -- warnings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ({"a": {"x": 0, "y": 3, "z": 1}, "b": {"x": 1, "y": 3, "z": 2}}, "'b' is never best: it never costs less"),
        ({"a": {"x": 0, "y": 3}, "b": {"x": 0, "y": 3}}, "'b' is never best: it costs the same as 'a'"),
        ({"x": {"x": 0, "y": 1}, "y": {"x": 1, "y": 0}, "ask": 0.5}, "'ask' can never win at a cost of 0.5"),
        ({"a": {"x": 0, "y": 9}, "b": {"x": 9, "y": 0}, "c": {"x": 5, "y": 5.5}}, "'c' is never best: at every"),
        ({"x": {"x": 5, "y": 1}, "y": {"x": 1, "y": 0.5}, "n": {"x": 9, "y": 0}}, "the right decision 'x' costs 5"),
    ],
)
def test_what_was_probably_not_meant_is_said(costs: Any, says: str) -> None:
    with pytest.warns(CostWarning) as warned:
        bw.Costs(costs)
    assert any(says in str(each.message) for each in warned)


def test_a_sound_table_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bw.Costs(MAIL)
        bw.Costs.zero_one(["a", "b", "c"]).with_reject(0.6)


def test_abstention_never_wins_from_one_less_one_over_k_on() -> None:
    """E19: with K states some posterior is at least 1/K, so that a mistake is at most 1 - 1/K likely."""
    with pytest.warns(CostWarning, match="must cost below 0.6667"):
        costs = bw.Costs.zero_one(["a", "b", "c"]).with_reject(2 / 3)
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], 1000)
    assert "reject" not in bw.decide(shares, costs, states=["a", "b", "c"]).action


def test_utilities_are_costs_with_the_other_sign() -> None:
    gains = {"sell": {"up": -3, "down": "2 * n", "flat": 0}, "hold": {"up": 1, "down": -1, "flat": 0.5}}
    costs = bw.Costs.utilities(gains).for_row({"n": 4})
    assert costs.table.tolist() == [[3.0, -8.0, 0.0], [-1.0, 1.0, -0.5]]


def test_false_positives_and_false_negatives_are_a_table_of_two_states() -> None:
    costs = bw.Costs(cFP=1, cFN=9, states=["ill", "well"])
    assert costs.to_dict() == {"ill": {"ill": 0, "well": 1}, "well": {"ill": 9, "well": 0}}
    assert costs == bw.Costs.binary(positive="ill", negative="well", false_positive=1, false_negative=9)
    assert str(costs.rule()) == "ill if P(ill) >= 0.1, else well"


@pytest.mark.parametrize("given", [{"cFP": 1}, {"cFP": 1, "cFN": 2}, {"cFP": 1, "cFN": 2, "states": list("abc")}, {}])
def test_half_a_table_is_refused(given: Any) -> None:
    with pytest.raises(CostError):
        bw.Costs(**given)
    with pytest.raises(CostError, match="no other table"):
        bw.Costs({"a": {"x": 1, "y": 0}}, cFP=1, cFN=2, states=["x", "y"])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"action": ["bin", "bin"], "spam": [0, 1], "ham": [10, 0]}, "the action 'bin' is named twice"),
        ({"state": ["spam", "spam"], "bin": [0, 1], "keep": [10, 0]}, "the state 'spam' is named twice"),
        ({"action": ["a", "a"], "state": [None, "y"], "cost": [0, 3]}, "'a' has one cost for all states"),
        ({"action": ["a", "a"], "state": ["y", None], "cost": [0, 3]}, "'a' has one cost for all states"),
        ({"action": ["a", "a"], "state": ["y", "y"], "cost": [0, 3]}, "'a' in state 'y' is given twice"),
        ({"action": ["a", None], "y": [0, 3], "n": [1, 0]}, "the name of an action is unusable"),
        ({"action": ["a", "b"], "y": [0, None], "n": [1, 0]}, "'b' in state 'y' must be a number; found an empty cell"),
    ],
)
def test_a_frame_that_says_a_thing_twice_or_not_at_all_is_refused_by_name(frame: dict[str, Any], message: str) -> None:
    with pytest.raises(CostError, match=message):
        bw.Costs(pl.DataFrame(frame))


@pytest.mark.parametrize("matrix", [np.eye(2), [[0, 1], [1, 0]], ((0, 1), (1, 0))])
def test_a_bare_matrix_is_refused_whatever_it_is_made_of(matrix: Any) -> None:
    with pytest.raises(CostError, match="does not name its actions and states"):
        bw.Costs(matrix)


def test_gains_are_checked_like_costs_and_may_come_as_a_frame() -> None:
    frame = pd.DataFrame({"action": ["sell", "hold"], "up": [-3, 1], "down": [2, -1]})
    assert bw.Costs.utilities(frame).table.tolist() == [[3.0, -2.0], [-1.0, 1.0]]
    for wrong, message in ((None, "found an empty cell"), (True, "found True"), ([1], "must be a number")):
        with pytest.raises(CostError, match=f"'sell' in state 'up'.*{message}"):
            bw.Costs.utilities({"sell": {"up": wrong, "down": 2}, "hold": {"up": 1, "down": -1}})


def test_a_state_that_is_nearly_right_is_guessed() -> None:
    with pytest.raises(CostError, match=r"costs name 'spam', which is not a class.*did you mean 'Spam'"):
        bw.decide({"Spam": [0.5], "ham": [0.5]}, MAIL)
    with pytest.raises(CostError, match=r"no entry for state 0;.*did you mean 0 .int, not str."):
        bw.decide({0: [0.5], 1: [0.5]}, {"a": {"0": 0, "1": 2}, "b": {"0": 1, "1": 0}})


def test_a_missing_amount_is_named_by_row_and_column() -> None:
    loan = bw.Costs({"lend": {"yes": "-0.12 * amount", "no": "0.6 * amount"}, "refuse": 0})
    posterior = {"yes": [0.9, 0.8], "no": [0.1, 0.2]}
    with pytest.raises(CostError, match=r"'lend' in state 'yes', '-0.12 . amount', has no number for 'amount' in row"):
        bw.decide(posterior, loan, rows={"amount": [5, None]})
    with pytest.raises(CostError, match="is inf with amount = inf in row 2"):
        bw.decide(posterior, loan.changed({"lend": {"yes": "amount"}}), rows={"amount": [5, float("inf")]})
    with pytest.raises(CostError, match=r"which the row does not have.*write amount instead of amuont"):
        loan.rule({"amuont": 5})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[costs.lend]\nyes = -1\nno = 5\n[costs.refu", "not TOML"),
        ("[costs.lend]\nyes = " + "9" * 5000 + "\nno = 1\n[costs]\nrefuse = 0\n", "not TOML"),
        ("[costs.lend]\nyes = 1" + "0" * 400 + "\nno = 1\n[costs]\nrefuse = 0\n", "'yes' must be a number"),
        ("a = " + "[" * 50_000, "nested too deeply"),
        ("[utilities.lend]\nyes = [1]\nno = 2\n", "'lend' in state 'yes' must be a number"),
        ("[costs]\nlend = {yes = -1, no = 2}\nrefuse = 0\n[prices]\nlab = 1" + "0" * 400, "prices.lab must be"),
    ],
)
def test_a_file_that_is_cut_or_absurd_ends_in_a_message(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "decision.toml").write_text(text)
    with pytest.raises(CostError, match=message) as raised:
        DecisionFile.read(tmp_path / "decision.toml")
    assert len(str(raised.value)) < 400 + len(str(tmp_path))


def test_a_file_may_begin_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "decision.toml").write_bytes(b"\xef\xbb\xbf[costs]\nlend = {yes = -1, no = 5}\nrefuse = 0\n")
    assert bw.Costs.read(tmp_path / "decision.toml").actions == ("lend", "refuse")


def test_actions_that_look_alike_are_distinguished_everywhere() -> None:
    costs = bw.Costs({1: {"a": 0, "b": 2}, "1": {"a": 1, "b": 0}})
    columns = bw.decide({"a": [0.9, 0.1], "b": [0.1, 0.9]}, costs).to_columns()
    assert columns["action"] == [1, "1"] and columns["cost_1"] == [0.2, 1.8] and columns["cost_'1'"] == [0.9, 0.1]
    ones = np.ones(2)
    known = HeldOut(("a", "b"), np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0, 1]), ones, ones > 0, "as it is")
    found = evaluation_of(known, costs)
    assert found.to_columns()["rule"][2:4] == ["always 1", "always '1'"]
    assert [found.to_dict()["always"][name]["mean"] for name in ("1", "'1'")] == [1.0, 0.5]


def test_a_decision_file_is_read_by_name_and_a_name_with_a_line_break_stays_in_its_line() -> None:
    with pytest.raises(CostError, match=r"is a decision file.*Costs\.read"):
        bw.Costs("decision.toml")
    assert repr(bw.Costs({"x\ny": {"a": 0, "b": 2}, "n": {"a": 1, "b": 0}})) == ("Costs(x\\ny: a 0, b 2; n: a 1, b 0)")


def test_a_gain_written_as_a_formula_is_read_before_its_sign_is_turned() -> None:
    """ "1) - (2" pasted into -(...) would read -(1) - (2) = -3."""
    with pytest.raises(CostError, match="closes a bracket that was never opened"):
        bw.Costs.utilities({"lend": {"yes": "1) - (2", "no": 0}, "refuse": 0})
    costs = bw.Costs.utilities({"lend": {"yes": "2 * amount - 5", "no": "1 - 2"}, "refuse": 0})
    assert costs.for_row({"amount": 7}).table.tolist() == [[-9.0, 1.0], [0.0, 0.0]]
