"""Mistakes with decision files and rows: every one ends in a line that says what to do, and the right exit code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayeswise as bw
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]

TEST = EXAMPLES / "credit-test.csv"
TOML = EXAMPLES / "credit.toml"
PLAIN = "[costs]\nrefuse = 0\nlend = { yes = -1, no = 5 }\n"


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the credit table."""
    path = tmp_path_factory.mktemp("credit") / "credit.bayeswise"
    bw.fit(str(EXAMPLES / "credit.csv"), target="repaid", model="naive-bayes").save(path)
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN + "[costs.ask", "is not TOML"),
        ("[utilities]\nrefuse = 0\nlend = { yes = [1], no = 5 }\n", "'lend' in state 'yes' must be a number"),
        (PLAIN.replace("5", "9" * 5000), "is not TOML"),
        (
            PLAIN.replace("yes", "Yes"),
            "'Yes' in costs.lend is not a class; the classes are 'no', 'yes'. Fix: did you mean 'yes'?",
        ),
        (PLAIN.replace("yes", "Yes"), "Fix: did you mean 'yes'?"),
        ("[costs]\na = { yes = 0, no = 1 }\nb = { yes = 1, noo = 0 }\n", "'noo' in costs.b is not a class"),
        ('[utilities]\nlend = { yes = "1) - (2", no = 0 }\nrefuse = 0\n', "closes a bracket that was never opened"),
        (PLAIN + "[prices]\nhistry = 5\n", "did you mean 'history'?"),
    ],
)
def test_a_mistaken_file_exits_with_a_message(
    bayeswise: Command, credit: Path, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "decision.toml").write_text(text)
    answer = bayeswise("next-test", credit, "--row", "amount=500", "--costs", tmp_path / "decision.toml")
    assert answer.code in (2, 4) and message in answer.err and answer.out == ""


def test_an_action_that_stands_twice_in_a_csv_is_named(bayeswise: Command, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("action,yes,no\nlend,-1,5\nlend,-2,6\nrefuse,0,0\n")
    answer = bayeswise("thresholds", tmp_path / "costs.csv")
    assert answer.code == 2 and "the action 'lend' is named twice" in answer.err


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (["next-test", "--row", "amount=500", "--price", "histry=3"], 4, "did you mean 'history'?"),
        (["next-test", "--row", "income=500"], 2, "depend on 'amount', which the row does not have"),
        (["check", str(TEST), "--max-cost", "nan"], 2, "--max-cost is not a number"),
        (["check", str(TEST), "--cv", "99999999"], 2, "99999999 folds of 500 rows"),
        (["check", str(TEST), "--prior", "yes=.7", "--cv", "5"], 2, "prior of the model"),
        (["check", str(TEST), "--prior", "yes=.7", "no=.4"], 2, "sums to 1.1"),
    ],
)
def test_what_is_mistyped_is_named(bayeswise: Command, credit: Path, typed: list[str], code: int, message: str) -> None:
    verb, *rest = typed
    answer = bayeswise(verb, credit, *rest, "--costs", TOML)
    assert answer.code == code and message in answer.err and answer.out == ""


def test_a_row_that_names_another_column_is_guessed_by_thresholds(bayeswise: Command) -> None:
    answer = bayeswise("thresholds", TOML, "--row", "amuont=500")
    assert answer.code == 2 and "write amount instead of amuont" in answer.err


def test_a_prior_of_three_states_has_no_likelihood_ratio(bayeswise: Command, tmp_path: Path) -> None:
    (tmp_path / "three.toml").write_text("[costs]\ngo = { a = 0, b = 1, c = 2 }\nstay = { a = 2, b = 1, c = 0 }\n")
    answer = bayeswise("thresholds", tmp_path / "three.toml", "--prior", "a=.5", "b=.3", "c=.2")
    assert answer.code == 2 and "two states; there are 3" in answer.err


def test_check_and_report_judge_what_decide_would_do_under_the_prior_of_the_file(
    bayeswise: Command, credit: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.toml"
    moved.write_text(TOML.read_text() + "\n[prior]\nyes = 0.7\nno = 0.3\n")
    decided = json.loads(bayeswise("decide", credit, TEST, "--costs", moved, "--json").out)
    for typed in (["--costs", moved], ["--costs", TOML, "--prior", "yes=.7", "no=.3"]):
        checked = json.loads(bayeswise("check", credit, TEST, *typed, "--json").out)
        assert checked["expected_cost_per_case"]["mean"] == pytest.approx(decided["expected_cost"] / 500)
        counts = [sum(line[k] for line in checked["confusion"]) for k in range(3)]
        assert counts == [each["rows"] for each in decided["decided"]]
    page = tmp_path / "r.html"
    assert bayeswise("report", credit, TEST, "--costs", moved, "-o", page).code == 0
    assert f"{checked['cost_per_case']['mean']:.4g}" in page.read_text()
    folded = bayeswise("check", credit, EXAMPLES / "credit.csv", "--costs", moved, "--cv", "5")
    assert folded.code == 0 and "with --cv it is ignored" in folded.err


def test_a_row_without_its_amount_is_counted_from_the_top_of_the_table(
    bayeswise: Command, credit: Path, tmp_path: Path
) -> None:
    head, *rows = TEST.read_text().splitlines()
    many = (rows * 150)[:70_000]  # more than one chunk
    many[69_000] = "2940,,new,yes,other,yes"
    many[5] = "2940,4700,new,yes,other,"  # whose state is not known, so that nothing is checked there
    (tmp_path / "long.csv").write_text("\n".join([head, *many]) + "\n")
    for verb in ("decide", "check"):
        answer = bayeswise(verb, credit, tmp_path / "long.csv", "--costs", TOML)
        assert answer.code == 2 and "has no number for 'amount' in row 69001" in answer.err


def test_a_column_with_blanks_is_quoted_for_the_shell(bayeswise: Command, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("action,yes,no\nlend,-1,`amount in EUR`\nrefuse,0,0\n")
    answer = bayeswise("thresholds", tmp_path / "costs.csv")
    assert answer.code == 2 and "add --row 'amount in EUR=5'" in answer.err
    assert bayeswise("thresholds", tmp_path / "costs.csv", "--row", "amount in EUR=5").code == 0


def test_a_single_action_is_nothing_to_decide(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    (tmp_path / "decision.toml").write_text("[costs]\nlend = { yes = 0, no = 1 }\n")
    answer = bayeswise("decide", credit, TEST, "--costs", tmp_path / "decision.toml")
    assert answer.code == 0 and "there is nothing to decide: 'lend' is the only action." in answer.err


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "cells",
    [
        ("-1e308", "1e308", "1e308", "-1e308"),
        ("1.5e308", "1.7e308", "1.7e308", "1e308"),
        ("0", "1e308", "1e-300", "0"),
        ("0", "5e-324", "1e-320", "0"),
    ],
)
def test_costs_at_both_ends_of_the_floats_are_decided_checked_and_drawn(
    bayeswise: Command, credit: Path, tmp_path: Path, cells: tuple[str, ...]
) -> None:
    a, b, c, d = cells
    costs, page = tmp_path / "decision.toml", tmp_path / "report.html"
    costs.write_text(f"[costs]\nlend = {{ yes = {a}, no = {b} }}\nrefuse = {{ yes = {c}, no = {d} }}\n")
    answers = [
        bayeswise(*words, "--costs", costs)
        for words in (
            ("check", credit, TEST),
            ("check", credit, TEST, "--json"),
            ("report", credit, TEST, "-o", page),
            ("decide", credit, TEST, "-o", tmp_path / "out.csv"),
            ("next-test", credit, "--row", "income=3000"),
            ("explain", credit, "--row", "income=3000", "--flip"),
        )
    ]
    for answer in answers:
        assert answer.code == 0, answer.err
        assert not re.search(r"\b(nan|inf)\b", answer.out.replace('"inf"', "").replace('"-inf"', "") + answer.err)
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan[a-z]*", "", page.read_text())


@pytest.mark.parametrize(
    "entry", ['reject = "ask"', 'target = "repaid"', 'unit = "EUR"', "prior = { yes = 0.7, no = 0.3 }"]
)
def test_an_entry_below_costs_is_not_taken_for_an_action(
    bayeswise: Command, credit: Path, tmp_path: Path, entry: str
) -> None:
    path = tmp_path / "d.toml"
    path.write_text(f"[costs]\nlend = {{ yes = -1, no = 5 }}\nask = 1\n{entry}\n", encoding="utf-8")
    answer = bayeswise("decide", credit, EXAMPLES / "credit-test.csv", "--costs", path)
    assert answer.code == 2
    assert f"{entry.split(' ')[0]} = " in answer.err
    assert "is below [costs]" in answer.err and "Fix: move it above [costs]." in answer.err


def test_an_action_that_is_called_reject_has_a_cost_like_others(
    bayeswise: Command, credit: Path, tmp_path: Path
) -> None:
    path = tmp_path / "d.toml"
    path.write_text('[costs]\nlend = { yes = -1, no = 5 }\nreject = "0.1 * amount"\n', encoding="utf-8")
    assert bayeswise("decide", credit, EXAMPLES / "credit-test.csv", "--costs", path).code == 0


@pytest.mark.parametrize("verb", ["decide", "check"])
def test_a_formula_over_text_says_so_as_an_error_of_the_data(
    bayeswise: Command, credit: Path, tmp_path: Path, verb: str
) -> None:
    path = tmp_path / "d.toml"
    path.write_text('[costs]\nlend = { yes = "history * 2", no = 5 }\nrefuse = 0\n', encoding="utf-8")
    answer = bayeswise(verb, credit, EXAMPLES / "credit-test.csv", "--costs", path)
    assert answer.code == 4
    assert "column 'history' is text, such as" in answer.err and "fill that cell" not in answer.err


def test_a_table_of_costs_without_actions_is_named_once(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    path = tmp_path / "k2.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    answer = bayeswise("decide", credit, EXAMPLES / "credit-test.csv", "--costs", path)
    assert "k2.csv: the table does not show where its actions are" in answer.err
    assert answer.err.count("k2.csv") == 1


@pytest.mark.parametrize("verb", ["decide", "check", "compare"])
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("[costs]\nlend = { yes = -1 }\nrefuse = 0\n", "costs have no entry for state 'no'"),
        (
            "prior = { yes = 0.5, no = 0.4 }\n[costs]\nlend = { yes = -1, no = 5 }\nrefuse = 9\n",
            "the prior sums to 0.9",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named_with_the_file_and_before_warnings(
    bayeswise: Command, credit: Path, tmp_path: Path, verb: str, entry: str, said: str
) -> None:
    path = tmp_path / "d.toml"
    path.write_text(entry, encoding="utf-8")
    words = [credit, EXAMPLES / "credit-test.csv"]
    if verb == "compare":
        if "prior" in said:
            pytest.skip("compare takes the prior of the rows")
        words = [EXAMPLES / "credit.csv", "-t", "repaid", "--models", "naive-bayes"]
    answer = bayeswise(verb, *words, "--costs", path)
    assert answer.code != 0 and f"bayeswise: {path}: {said}" in answer.err
    assert verb == "compare" or (answer.err.count(str(path)) == 1 and "never best" not in answer.err)
