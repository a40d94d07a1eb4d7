"""bayeswise inspect: what a model file holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len

import bayeswise as bw
from bayeswise.store.file import describe

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]


def inspected(command: Command, path: Path) -> dict[str, Any]:
    answer = command("inspect", path, "--json")
    assert (answer.code, answer.err) == (0, "")
    facts: dict[str, Any] = json.loads(answer.out)
    return facts


def learned_about(facts: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(column["learned"] for column in facts["columns"] if column["name"] == name)
    return found


@pytest.fixture
def mixed_model(bayeswise: Command, write: Write, tmp_path: Path) -> Path:
    rows = "".join(
        f"{k},{k % 3 + 0.5 * (k % 2)},{k % 4},{'A' if k % 5 else 'B'},{'' if k % 7 else 'x'},"
        f"good {'bad ' * (k % 2)}day {k},{k % 2}\n"
        for k in range(60)
    )
    table = write(f"id,x,visits,town,odd,note,y\n{rows}")
    words = ["--count", "visits", "--text", "note", "--missing", "odd=level", "--category", "odd", "--prior", "1=.7"]
    answer = bayeswise("fit", table, "-t", "y", "--model", "naive-bayes", *words, "-o", tmp_path / "m")
    assert answer.code == 0, answer.err
    return tmp_path / "m"


def test_json_has_the_file_the_classes_and_the_counts(bayeswise: Command, golf_model: Path) -> None:
    facts = inspected(bayeswise, golf_model)
    about = describe(golf_model)
    assert {name: facts[name] for name in ("kind", "format", "checksum", "size")} == {
        name: about[name] for name in ("kind", "format", "checksum", "size")
    }
    assert facts["kind"] == "naive-bayes"
    assert (facts["target"], facts["classes"], facts["n_free_parameters"]) == ("play", {"no": 5, "yes": 9}, 13)
    assert learned_about(facts, "wind") == {
        "levels": ["strong", "weak"],
        "count": {"no": [3, 2], "yes": [3, 6]},
        "missing": {"no": 0, "yes": 0},
    }
    assert facts["settings"]["smoothing"] == 1.0


def test_json_has_the_parameters_of_every_family(bayeswise: Command, mixed_model: Path) -> None:
    facts = inspected(bayeswise, mixed_model)
    model = bw.load(mixed_model)
    assert {column["name"]: column["family"] for column in facts["columns"]} == {
        "id": None,
        "x": "normal",
        "visits": "poisson",
        "town": "categorical",
        "odd": "categorical",
        "note": "multinomial",
    }
    assert learned_about(facts, "x")["mean"] == {"0": 1.0, "1": 1.5}
    assert set(learned_about(facts, "visits")) == {"rate"}
    assert learned_about(facts, "odd")["missing"] == {"0": 25, "1": 26}
    assert "good" in learned_about(facts, "note")["words"]
    assert facts["settings"]["class_prior"] == {"0": 0.3, "1": 0.7}
    assert facts["n_free_parameters"] == model.n_free_parameters()


def test_json_has_the_degrees_of_freedom_also_by_their_earlier_name(
    bayeswise: Command, write: Write, tmp_path: Path
) -> None:
    table = write("x,y\n" + "".join(f"{k % 9},{k % 2}\n" for k in range(40)))
    model = tmp_path / "m"
    assert bayeswise("fit", table, "-t", "y", "--family", "x=student-t", "-o", model).code == 0
    learned = learned_about(inspected(bayeswise, model), "x")
    assert learned["freedom"] == learned["df"] == {"0": "inf", "1": "inf"}
    page = bayeswise("inspect", model).out
    assert "df inf" in page and "freedom" not in page


def test_the_page_shows_what_was_learned(bayeswise: Command, mixed_model: Path) -> None:
    page = " ".join(bayeswise("inspect", mixed_model).out.split())
    assert "naive Bayes model of y" in page
    assert "0 0.3, 1 0.7" in page
    assert "1 ± 0.8165" in page
    assert "rate " in page
    assert "more words" in page
    assert "missing" in page
    assert "ignored: id" in page


def test_the_page_fits_80_columns_whatever_the_classes_are_called(
    bayeswise: Command, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = "".join(f"{k % 13}.5,{'[b]' * 5}{k % 40},{f'class 🎉 number {k % 20} ' * 3}\n" for k in range(400))
    bayeswise(
        "fit",
        write(f"a long name of a column of numbers,c,y\n{rows}"),
        "-t",
        "y",
        "--model",
        "naive-bayes",
        "-o",
        tmp_path / "m",
    )
    page = bayeswise("inspect", tmp_path / "m").out
    assert max(map(cell_len, page.splitlines())) <= 80
    assert "more classes (--json shows all)" in page


def test_a_model_without_rows_can_be_inspected(bayeswise: Command, golf: Path, golf_model: Path) -> None:
    assert bayeswise("forget", golf_model, golf, "-o", golf_model).code == 0
    facts = inspected(bayeswise, golf_model)
    assert (facts["classes"], facts["n_free_parameters"]) == ({}, 0)
    assert bayeswise("inspect", golf_model).code == 0


def test_a_model_by_an_m_estimate_can_be_inspected(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "--m-estimate", "2", "-o", tmp_path / "m")
    assert inspected(bayeswise, tmp_path / "m")["settings"]["smoothing"] == {"m": 2.0, "p": {}}


def test_a_damaged_file_is_not_a_model(bayeswise: Command, golf_model: Path) -> None:
    golf_model.write_bytes(golf_model.read_bytes()[:-1])
    answer = bayeswise("inspect", golf_model)
    assert (answer.code, answer.out) == (3, "")


def test_two_classes_are_both_shown_however_narrow_the_page(
    bayeswise: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repaid, lost = "repaid the whole loan in time", "lost more than half of it all"
    rows = {
        "a rather long name of a column": [1.23456789e8, 2.3456789e8, 3.456e8, 4.56e8],
        "status of the account": ["a long level name", "another long level name", "a long level name", "third"],
        "outcome": [repaid, repaid, lost, lost],
    }
    kinds = {"a rather long name of a column": "number", "status of the account": "category"}
    bw.fit(rows, "outcome", kinds=kinds, model="naive-bayes").save(tmp_path / "model")
    for width in (50, 80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        page = bayeswise("inspect", tmp_path / "model").out
        text = " ".join(page.split())
        assert "more class" not in page
        assert text.count("repaid the") >= 2 and text.count("lost more") >= 2
        assert "1.79e+08" in text and "4.008e+08" in text
