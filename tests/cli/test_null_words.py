"""--null: a model remembers which words mean "missing", and every verb reads new rows by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bayeswise as bw
from bayeswise.models.files import bytes_of
from bayeswise.tables.source import open_source

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]

# "none" is an answer here and no missing value, and a missing value is written "x"
ROWS = "pet,age,ill\n" + "none,40,no\ncat,31,no\nnone,x,no\nx,52,yes\ncat,55,yes\ncat,60,yes\n" * 4
NEW = "pet,age\nnone,x\nx,58\n"
KINDS = ["naive-bayes", "averaged", "tan"]


@pytest.fixture
def table(write: Write) -> Path:
    return write(ROWS, "rows.csv")


@pytest.fixture
def fit(bayeswise: Command, table: Path, tmp_path: Path) -> Callable[..., Path]:
    def fit(*words: object, of: Path = table, name: str = "ill.bayeswise") -> Path:
        kind = () if {"--like", "--model"} & set(words) else ("--model", "naive-bayes")
        answer = bayeswise("fit", of, "-o", tmp_path / name, *words, *kind)
        assert answer.code == 0, answer.err
        return tmp_path / name

    return fit


def rows_of(answer: SimpleNamespace) -> Any:
    assert answer.code == 0, answer.err
    return json.loads(answer.out)["rows"]


@pytest.mark.parametrize("kind", KINDS)
def test_predict_reads_new_rows_as_the_model_was_learned(
    bayeswise: Command, fit: Callable[..., Path], write: Write, kind: str
) -> None:
    model = fit("-t", "ill", "--null", "x", "--model", kind)
    new = write(NEW)
    remembered = bayeswise("predict", model, new, "--proba", "--json")
    asked = bayeswise("predict", model, new, "--proba", "--json", "--null", "x")
    assert rows_of(remembered) == rows_of(asked)
    assert json.loads(remembered.out)["missing"] == {"pet": 1, "age": 1}
    assert remembered.err == asked.err


def test_python_reads_a_file_as_the_model_was_learned(fit: Callable[..., Path], write: Write) -> None:
    model = bw.load(fit("-t", "ill", "--null", "x"))
    new = write(NEW)
    assert model.predict_proba(str(new)).tolist() == model.predict_proba(open_source(new, null_words=["x"])).tolist()


def test_other_words_than_the_models_are_obeyed_and_told(
    bayeswise: Command, fit: Callable[..., Path], write: Write
) -> None:
    model = fit("-t", "ill", "--null", "x")
    answer = bayeswise("predict", model, write("pet,age\nnone,\n-,58\n"), "--json", "--null", "-", "--null", "")
    assert json.loads(answer.out)["missing"] == {"pet": 1, "age": 1}
    assert "Missing values are '' or '-', by --null; the model was fitted with 'x'." in answer.err


def test_a_model_of_the_usual_words_tells_so_when_others_are_asked_for(
    bayeswise: Command, golf_model: Path, golf: Path
) -> None:
    told = bayeswise("predict", golf_model, golf, "--null", "x").err
    assert "Missing values are 'x', by --null; the model was fitted with the usual words ('', '?', 'n/a', " in told
    assert "--null" not in bayeswise("predict", golf_model, golf).err


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_learned_with_other_words_is_forgotten_without_naming_them(
    bayeswise: Command, fit: Callable[..., Path], write: Write, tmp_path: Path, kind: str
) -> None:
    header, *lines = ROWS.splitlines(keepends=True)
    whole = fit("-t", "ill", "--null", "x", "--model", kind)
    rest = write(header + "".join(lines[6:]), "rest.csv")
    gone = write(header + "".join(lines[:6]), "gone.csv")
    never = fit("--like", whole, of=rest, name="never.bayeswise")
    assert bayeswise("forget", whole, gone, "-o", tmp_path / "after.bayeswise").code == 0
    assert (tmp_path / "after.bayeswise").read_bytes() == never.read_bytes()


def test_models_like_another_read_as_it_did_and_can_be_merged(
    bayeswise: Command, fit: Callable[..., Path], write: Write, tmp_path: Path
) -> None:
    header, *lines = ROWS.splitlines(keepends=True)
    first = fit("-t", "ill", "--null", "x", of=write(header + "".join(lines[:12]), "first.csv"), name="a.bayeswise")
    second = fit("--like", first, of=write(header + "".join(lines[12:]), "second.csv"), name="b.bayeswise")
    assert bayeswise("merge", first, second, "-o", tmp_path / "c.bayeswise").code == 0
    both = fit("--like", first, name="d.bayeswise")
    assert (tmp_path / "c.bayeswise").read_bytes() == both.read_bytes()


def test_models_of_different_words_do_not_merge(bayeswise: Command, fit: Callable[..., Path], tmp_path: Path) -> None:
    one = fit("-t", "ill", "--ignore", "age", "--null", "x", name="a.bayeswise")
    other = fit("-t", "ill", "--ignore", "age", "--null", "y", name="b.bayeswise")
    refused = bayeswise("merge", one, other, "-o", tmp_path / "c.bayeswise")
    assert refused.code == 4
    assert "one takes 'x' for missing, the other 'y'" in refused.err


def test_explain_check_and_decide_read_as_the_model_was_learned(
    bayeswise: Command, fit: Callable[..., Path], write: Write, table: Path
) -> None:
    model, new = fit("-t", "ill", "--null", "x"), write(NEW)
    costs = write("[costs.treat]\nno = 5\nyes = 0\n\n[costs.wait]\nno = 0\nyes = 20\n", "decision.toml")
    for words in (
        ("explain", model, "--row", "pet=none", "age=x"),
        ("explain", model, new),
        ("check", model, table, "--costs", costs, "--cv", "loo"),
        ("decide", model, new, "--costs", costs),
    ):
        remembered, asked = bayeswise(*words, "--json"), bayeswise(*words, "--json", "--null", "x")
        assert remembered.code == asked.code == 0, remembered.err
        assert remembered.out == asked.out


def test_a_regression_remembers_them_too(bayeswise: Command, fit: Callable[..., Path], write: Write) -> None:
    rows = write("".join(["size,price\n", *(f"{k},{3 * k}\n" for k in range(1, 30)), "-,7\n"]))
    model = fit("-t", "price", "--model", "linear", "--missing", "mean", "--null", "-", of=rows)
    new = write("size\n-\n4\n", "new.csv")
    remembered, asked = (bayeswise("predict", model, new, *words) for words in ([], ["--null", "-"]))
    assert remembered.code == 0
    assert remembered.out == asked.out


def test_inspect_shows_the_words_and_only_where_they_are_unusual(
    bayeswise: Command, fit: Callable[..., Path], golf_model: Path
) -> None:
    model = fit("-t", "ill", "--null", "x", "--null", "-")
    assert json.loads(bayeswise("inspect", model, "--json").out)["null_words"] == ["-", "x"]
    assert "missing     '-' or 'x'" in bayeswise("inspect", model).out
    assert json.loads(bayeswise("inspect", golf_model, "--json").out)["null_words"] is None
    assert "missing" not in bayeswise("inspect", golf_model).out


def test_order_case_and_blanks_of_the_words_make_no_other_model(fit: Callable[..., Path]) -> None:
    one = fit("-t", "ill", "--null", "x", "--null", "N/A")
    other = fit("-t", "ill", "--null", " n/a", "--null", "X", "--null", "x", name="other.bayeswise")
    assert one.read_bytes() == other.read_bytes()


def test_the_usual_words_named_one_by_one_are_the_usual_words(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    words = [word for null in ("", "na", "n/a", "NULL", "?", "nan", "none") for word in ("--null", null)]
    bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "m", *words)
    assert (tmp_path / "m").read_bytes() == bytes_of(bw.fit(str(golf), "play", model="naive-bayes"))
