"""bayeswise explain: why this answer, for one row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

import bayeswise as bw
from tests.paths import GOLF

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]

ROW = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
TYPED = [f"{name}={value}" for name, value in ROW.items()]


def explained(command: Command, *words: object) -> dict[str, Any]:
    answer = command("explain", *words, "--json")
    assert answer.code == 0, answer.err
    facts: dict[str, Any] = json.loads(answer.out)
    return facts


def test_the_reckoning_is_that_of_python(bayeswise: Command, golf_model: Path) -> None:
    account = bw.load(golf_model).explain(ROW)
    facts = explained(bayeswise, golf_model, "--row", *TYPED)
    assert facts == {"schema": 1, **account.to_dict(), "balance": facts["balance"]}
    assert facts["balance"]["log_odds"] == account.log_odds("no", "yes")


def test_the_bars_name_the_answer_its_rival_and_the_convention(bayeswise: Command, golf_model: Path) -> None:
    page = bayeswise("explain", golf_model, "--row", *TYPED).out
    assert page.startswith("Why no, not yes?\nlaplace\n")
    assert "outlook     sunny" in page
    assert "P = 0.7201" in page


def test_several_values_follow_one_option_or_each_its_own(bayeswise: Command, golf_model: Path) -> None:
    together = explained(bayeswise, golf_model, "--row", *TYPED)
    apart = explained(bayeswise, *(word for piece in TYPED for word in ("--row", piece)), golf_model)
    assert together == apart


def test_a_row_of_a_table_is_the_same_row_typed(bayeswise: Command, golf_model: Path, write: Write) -> None:
    header, values = ",".join(ROW), ",".join(ROW.values())
    path = write(f"{header}\nrainy,mild,high,weak\n{values}\n")
    from_file = explained(bayeswise, golf_model, path, "--row-number", "2")
    assert from_file["title"] == "row 2 of table.csv"
    assert {**from_file, "title": ""} == explained(bayeswise, golf_model, "--row", *TYPED)
    piped = bayeswise("explain", golf_model, "-", "--row-number", "2", "--json", stdin=path.read_bytes())
    assert json.loads(piped.out)["posterior"] == from_file["posterior"]


def test_columns_that_are_not_typed_are_missing_and_unseen_values_are_named(
    bayeswise: Command, golf_model: Path
) -> None:
    parts = explained(bayeswise, golf_model, "--row", "outlook=hail", "wind=NA")["contributions"]
    assert [(part["column"], part["value"], part["note"]) for part in parts] == [
        ("outlook", "hail", "unseen: smoothed"),
        ("temperature", None, "missing: skipped"),
        ("humidity", None, "missing: skipped"),
        ("wind", None, "missing: skipped"),
    ]


def test_an_unseen_cell_of_a_table_is_named_too(bayeswise: Command, golf_model: Path, write: Write) -> None:
    path = write("wind,outlook,temperature,humidity\nweak,hail,hot,high\n")
    assert explained(bayeswise, golf_model, path)["contributions"][0]["value"] == "hail"


def test_the_least_change_flips_the_answer(bayeswise: Command, golf_model: Path) -> None:
    flip = explained(bayeswise, golf_model, "--row", *TYPED, "--flip")["flip"]
    (change,) = flip["changes"]
    row = {**ROW, change["column"]: change["after"]}
    changed = explained(bayeswise, golf_model, "--row", *(f"{name}={value}" for name, value in row.items()))
    assert (flip["to"], changed["most_probable"]) == ("yes", "yes")
    assert changed["posterior"] == flip["posterior"]
    page = bayeswise("explain", golf_model, "--row", *TYPED, "--flip").out
    assert "Least change that makes it yes (0.7216): outlook: sunny -> overcast" in page


def test_a_rival_can_be_named(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    train = write("x,c,y\n" + "".join(f"{k % 3}.{k % 7},{'uvw'[k % 3]},{'pqr'[k % 3]}\n" for k in range(90)))
    bayeswise("fit", train, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    for rival in ("q", "r"):
        facts = explained(bayeswise, tmp_path / "m", "--row", "c=u", "x=0.1", "--against", rival, "--flip")
        assert (facts["most_probable"], facts["balance"]["against"]) == ("p", rival)
        assert facts["flip"]["to"] == rival
    answer = bayeswise("explain", tmp_path / "m", "--row", "c=u", "--against", "s")
    assert (answer.code, answer.out) == (2, "")
    assert "the model has no class 's'" in answer.err
    assert "is the answer itself" in bayeswise("explain", tmp_path / "m", "--row", "c=u", "--against", "p").err


def test_a_page_and_a_picture_are_written(bayeswise: Command, golf_model: Path, tmp_path: Path) -> None:
    answer = bayeswise(
        "explain", golf_model, "--row", *TYPED, "--html", tmp_path / "why.html", "--png", tmp_path / "why.png"
    )
    assert answer.code == 0
    assert "outlook" in (tmp_path / "why.html").read_text()
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")
    assert f"Saved {tmp_path / 'why.html'}." in answer.err


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        ([], 2, "add --row outlook=... temperature=..."),
        (["golf.csv", "--row", "wind=weak"], 2, "found a table and --row. Fix: leave out one of them"),
        (["--row", "otlook=sunny"], 4, "did you mean 'outlook'?"),
        (["--row", "outlook"], 2, "--row takes NAME=VALUE"),
        (["--row", "wind=weak", "wind=strong"], 2, "names 'wind' twice"),
        (["nothing.csv"], 3, "there is no file"),
    ],
)
def test_what_is_not_a_row_is_refused(
    bayeswise: Command, golf_model: Path, words: list[str], code: int, what: str
) -> None:
    answer = bayeswise("explain", golf_model, *words)
    assert (answer.code, answer.out) == (code, "")
    assert what in answer.err


def test_a_row_that_is_not_there_is_refused(bayeswise: Command, golf_model: Path, golf: Path) -> None:
    answer = bayeswise("explain", golf_model, golf, "--row-number", "15")
    assert answer.code == 2
    assert "golf.csv has 14 rows, so there is no row 15" in answer.err
    assert bayeswise("explain", golf_model, golf, "--row-number", "0").code == 2


def test_text_in_a_number_column_is_an_error_when_typed_and_a_note_in_a_table(
    bayeswise: Command, write: Write, tmp_path: Path
) -> None:
    bayeswise("fit", write("x,y\n1,a\n2,a\n5,b\n7,b\n"), "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m")
    typed = bayeswise("explain", tmp_path / "m", "--row", "x=many")
    assert typed.code == 4
    assert "'many'" in typed.err
    assert explained(bayeswise, tmp_path / "m", "--row", "x=6.5")["contributions"][0]["value"] == 6.5
    table = bayeswise("explain", tmp_path / "m", write("x\n3\nmany\n", "new.csv"), "--row-number", "2")
    assert table.code == 0
    assert "x: 'many' (line 3) is not a number; taken as missing." in table.err


def test_a_column_that_the_model_ignores_is_named(bayeswise: Command, golf_model: Path) -> None:
    answer = bayeswise("explain", golf_model, "--row", "wind=weak", "play=yes")
    assert answer.code == 0
    assert "play: the model does not use this column." in answer.err


def test_bars_fit_a_terminal_of_80_columns(
    bayeswise: Command, golf_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = bayeswise("explain", golf_model, "--row", *TYPED).out
    assert max(map(cell_len, page.splitlines())) <= 80


def test_smoothing_does_not_help_with_an_extreme_number(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    table, model = write("x,y\n1,a\n2,a\n3,b\n5,b\n"), tmp_path / "m.bayeswise"
    bw.fit(str(table), target="y", kinds={"x": "number"}, model="naive-bayes").save(model)
    answer = bayeswise("explain", model, "--row", "x=1e200")
    assert answer.code == 4
    assert "by x = 1e+200" in answer.err
    assert "Fix: give numbers nearer to the training rows" in answer.err


COSTS = "[costs]\ncancel = { yes = 4, no = 0 }\ngo = { yes = 0, no = 3 }\n"


def test_with_costs_the_story_is_that_of_the_action(bayeswise: Command, golf_model: Path, write: Write) -> None:
    """The class is probably yes, but going in vain costs 9 times what cancelling in vain does: cancel from 1/10 on."""
    costs = write(COSTS.replace("yes = 4", "yes = 1").replace("no = 3", "no = 9"), name="decision.toml")
    row = ["outlook=overcast", "temperature=cool", "humidity=high", "wind=strong"]
    facts = explained(bayeswise, golf_model, "--row", *row, "--costs", costs, "--flip")
    assert facts["decision"]["action"] == "cancel" and facts["decision"]["state"] == "no"
    assert facts["decision"]["threshold"] == pytest.approx(0.1)
    page = bayeswise("explain", golf_model, "--row", *row, "--costs", costs, "--flip")
    assert page.out.startswith("Why cancel, not go?\nExpected cost: cancel ")
    assert "The most probable class is yes" in page.out
    assert "Least change that makes it go: " in page.out
    assert facts["flip"]["to"] == "go"


def test_the_action_is_the_one_of_decide(bayeswise: Command, golf_model: Path, write: Write) -> None:
    costs = write(COSTS, name="decision.toml")
    table = write(",".join(ROW) + "\n" + ",".join(ROW.values()) + "\novercast,hot,normal,weak\n")
    for extra in ([], ["--prior", "no=.9"]):
        decided = json.loads(bayeswise("decide", golf_model, table, "--costs", costs, "--json", *extra).out)
        for number, row in enumerate(decided["rows"], start=1):
            words = (golf_model, table, "--row-number", number, "--costs", costs, *extra)
            story = explained(bayeswise, *words)["decision"]
            assert (story["action"], story["against"]) == (row["action"], row["runner_up"])
            assert story["expected_cost"][row["action"]] == pytest.approx(float(row["expected_cost"]), rel=1e-12)


def test_mistakes_about_actions_are_named(bayeswise: Command, golf_model: Path, write: Write) -> None:
    costs = write(COSTS, name="decision.toml")
    answer = bayeswise("explain", golf_model, "--row", *TYPED, "--costs", costs, "--against", "gone")
    assert answer.code == 2 and "did you mean 'go'" in answer.err
    answer = bayeswise("explain", golf_model, "--row", *TYPED, "--prior", "no=.5")
    assert answer.code == 2 and "add --costs decision.toml" in answer.err


def test_steps_are_the_calculation_in_fractions_and_decimals(bayeswise: Any, tmp_path: Path) -> None:
    model = tmp_path / "exact.bayeswise"
    words = ("--target", "play", "--model", "naive-bayes", "--smoothing", "0", "-o", model)
    assert bayeswise("fit", GOLF, *words).code == 0
    row = ("--row", "outlook=sunny", "temperature=cool", "humidity=high", "wind=strong")
    answer = bayeswise("explain", model, *row, "--steps")
    assert "2/9 · 3/9 · 3/9 · 3/9 · 9/14 = 1/189" in answer.out and "486/611 = 0.795417" in answer.out
    facts = json.loads(bayeswise("explain", model, *row, "--steps", "--json").out)
    assert facts["steps"]["evidence"] == {"fraction": "611/23625", "decimal": pytest.approx(0.0258624, rel=1e-5)}
    assert bayeswise("explain", model, *row, "--png", tmp_path / "why.jpg").code == 2


@pytest.mark.parametrize("model", ["naive-bayes", "auto"])
def test_a_search_for_changes_says_that_it_tried_no_other_text(
    bayeswise: Command, write: Write, tmp_path: Path, model: str
) -> None:
    ham, spam = "the project meets for lunch on monday", "win a free cash prize now"
    rows = "".join(f"{ham} {k},a,ham\n{spam} {k},{'ab'[k % 2]},spam\n" for k in range(30))
    path = write(f"text,sender,label\n{rows}")
    assert bayeswise("fit", path, "--target", "label", "--model", model, "-o", tmp_path / "m").code == 0
    costs = write('target = "label"\n[costs]\nkeep = {ham = 0, spam = 1}\nblock = {ham = 9, spam = 0}\n', "d.toml")
    for words in ([], ["--costs", costs]):
        page = bayeswise("explain", tmp_path / "m", path, "--flip", *words).out
        assert "other texts are not tried (text)" in page, page
