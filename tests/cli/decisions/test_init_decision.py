"""init-decision: a file that works as it is, and says what may be changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.costs.number_costs import NumberCosts
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]

CREDIT, TEST = EXAMPLES / "credit.csv", EXAMPLES / "credit-test.csv"


def test_the_file_decides_for_the_most_probable_class_as_it_is(bayeswise: Command, tmp_path: Path) -> None:
    answer = bayeswise("init-decision", CREDIT, "-t", "repaid")
    assert answer.code == 0 and answer.err == ""
    path, model = tmp_path / "decision.toml", tmp_path / "m.bayeswise"
    path.write_text(answer.out)
    decision = DecisionFile.read(path)
    assert decision.target == "repaid" and decision.costs.actions == ("no", "yes")
    fitted = bw.fit(str(CREDIT), "repaid", model="naive-bayes")
    fitted.save(model)
    assert bw.decide(fitted, str(TEST), path).action.tolist() == fitted.predict(str(TEST))
    assert bayeswise("decide", model, TEST, "--costs", path).code == 0


def test_every_comment_is_an_entry_that_can_be_taken(bayeswise: Command, tmp_path: Path) -> None:
    """Without the marks of comments the file is a legal one, with all that it can hold."""
    lines = bayeswise("init-decision", CREDIT, "-t", "repaid").out.splitlines()
    entries = [line.removeprefix("# ") for line in lines if "=" in line or "[" in line]
    path = tmp_path / "full.toml"
    path.write_text("\n".join(line for line in entries if "How frequent" not in line and "What" not in line))
    decision = DecisionFile.read(path, ["no", "yes"])
    assert decision.costs.actions == ("no", "yes", "ask", "other") and decision.costs.reject == "ask"
    assert decision.costs.columns == ("income",) and decision.prices == {"income": 5.0}
    assert decision.prior == {"no": 0.157, "yes": 0.843} and decision.kinds["history"] == "category"


@pytest.mark.parametrize("labels", [("a b", "é", 'say "no"'), (0, 1), (True, False), ("1.5", "x=y"), ("\\", "#")])
def test_classes_of_any_spelling_are_keys(
    bayeswise: Command, tmp_path: Path, labels: tuple[object, ...], recwarn: pytest.WarningsRecorder
) -> None:
    table, path = tmp_path / "t.csv", tmp_path / "decision.toml"
    pd.DataFrame({"x": [k % 7 / 2 for k in range(30)], "y": [labels[k % len(labels)] for k in range(30)]}).to_csv(
        table, index=False
    )
    answer = bayeswise("init-decision", table, "-t", "y", "-o", path)
    assert answer.code == 0, answer.err
    model = bw.fit(str(table), "y", model="naive-bayes")
    found = DecisionFile.read(path, model.classes).costs.aligned(model.classes)
    assert found.table.tolist() == [[float(i != j) for j in range(len(labels))] for i in range(len(labels))]


def test_a_measurement_gets_the_costs_of_choosing_a_number(bayeswise: Command, tmp_path: Path) -> None:
    path = tmp_path / "decision.toml"
    assert bayeswise("init-decision", CREDIT, "-t", "income", "-o", path).code == 0
    assert NumberCosts.read(path) == NumberCosts("pinball", 1.0, 1.0)
    assert len(path.read_text().splitlines()) < 12


def test_json_has_the_classes_and_the_file(bayeswise: Command) -> None:
    found = json.loads(bayeswise("init-decision", CREDIT, "-t", "repaid", "--json").out)
    assert found["classes"] == {"no": 157, "yes": 843} and found["file"].startswith("# What to do about repaid")


def test_a_target_that_is_not_there_is_refused(bayeswise: Command) -> None:
    answer = bayeswise("init-decision", CREDIT, "-t", "repayd")
    assert answer.code != 0 and "did you mean 'repaid'?" in answer.err


# -- mistakes in the file -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[costs]\nlend = {good = 0, bda = 5}\nrefuse = {good = 1, bad = 0}", "'bda' in costs.lend is not a class"),
        ("[costs]\nlend = {good = 0, bda = 5}\nrefuse = {good = 1, bda = 0}", "did you mean 'bad'?"),
        ("[utilities]\nlend = {good = 1, bda = -5}\nrefuse = 0", "did you mean 'bad'?"),
        ("[costs.good]\nlend = 0\nrefuse = 1\n[costs.bad]\nlend = 5\nrefuse = 0", "the table is turned round"),
        ("[costs]\nlend = {good = 0}\nrefuse = {good = 1, bad = 0}", "the action 'lend' has no cost in state 'bad'"),
        ('target = "rsk"\n[costs]\nlend = {good = 0, bad = 5}\nrefuse = 1', 'Fix: write target = "risk"'),
    ],
)
def test_a_mistake_in_the_file_is_named(bayeswise: Command, tmp_path: Path, text: str, message: str) -> None:
    model, path, table = tmp_path / "m.bayeswise", tmp_path / "d.toml", tmp_path / "t.csv"
    pd.DataFrame({"x": [k % 7 / 2 for k in range(20)], "risk": ["good", "bad"] * 10}).to_csv(table, index=False)
    bw.fit(str(table), "risk", model="naive-bayes").save(model)
    path.write_text(text)
    answer = bayeswise("decide", model, table, "--costs", path)
    assert answer.code != 0 and message in answer.err


# -- targets that are numbers -------------------------------------------------------------------------------


def test_a_number_of_many_values_is_a_question_and_not_hundreds_of_classes(bayeswise: Command, tmp_path: Path) -> None:
    answer = bayeswise("fit", CREDIT, "-t", "income", "--model", "naive-bayes", "-o", tmp_path / "m.bayeswise")
    assert answer.code != 0
    assert "is a measurement with 489 different whole values, not a class" in answer.err or "whole values" in answer.err
    assert "--model linear" in answer.err and "category" in answer.err
    insisted = bayeswise(
        "fit", CREDIT, "-t", "income", "--model", "naive-bayes", "-o", tmp_path / "m.bayeswise", "--category", "income"
    )
    assert insisted.code == 0, insisted.err


def test_codes_of_classes_stay_classes() -> None:
    digits = {"x": [k % 7 / 2 for k in range(100)], "y": [k % 10 for k in range(100)]}
    assert bw.fit(digits, "y", model="naive-bayes").classes == tuple(range(10))


@pytest.mark.parametrize("counts", [(157, 3), (1, 1, 1), (7, 5, 3, 2, 2), (999_999, 1)])
def test_the_prior_that_is_written_is_one_that_is_read(
    bayeswise: Command, tmp_path: Path, counts: tuple[int, ...]
) -> None:
    """157 of 160 and 3 of 160 are 0.98125 and 0.01875; with four digits each they would sum to 0.99995."""
    table, path = tmp_path / "t.csv", tmp_path / "d.toml"
    rows = [f"{k % 2},c{c}\n" for c, count in enumerate(counts) for k in range(count)]
    table.write_text("x,y\n" + "".join(rows))
    text = bayeswise("init-decision", table, "-t", "y").out.replace("# prior", "prior")
    path.write_text(text)
    prior = DecisionFile.read(path).prior_of([f"c{c}" for c in range(len(counts))])
    assert prior is not None and prior.tolist() == pytest.approx([c / sum(counts) for c in counts], rel=1e-3)
