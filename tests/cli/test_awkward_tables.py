"""What a stranger meets: tables, options and files that do not fit, each answered by a line that helps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]


def test_a_missing_column_is_requested_by_name(bayeswise: Command, golf_model: Path, write: Write) -> None:
    answer = bayeswise("predict", golf_model, write("outlook,wind\nsunny,weak\n"))
    assert (answer.code, answer.out) == (4, "")
    assert "table.csv has no column 'temperature', which the model looks at" in answer.err
    assert "Fix: add it, with empty cells where it is not known" in answer.err


def test_a_mistyped_column_is_guessed(bayeswise: Command, golf_model: Path, write: Write) -> None:
    answer = bayeswise("predict", golf_model, write("Outlook,temperature,humidity,wind\nsunny,hot,high,weak\n"))
    assert "has no column 'outlook', which the model looks at. Fix: did you mean 'Outlook'?" in answer.err


def test_rows_to_forget_need_their_target(bayeswise: Command, golf_model: Path, write: Write, tmp_path: Path) -> None:
    rows = write("outlook,temperature,humidity,wind\nsunny,hot,high,weak\n")
    answer = bayeswise("forget", golf_model, rows, "-o", tmp_path / "new")
    assert answer.code == 4
    assert "table.csv has no column 'play', which is the target of the model" in answer.err


@pytest.mark.parametrize("verb", ["look", "fit"])
def test_a_table_without_a_column_to_learn_from_says_why(
    bayeswise: Command, write: Write, tmp_path: Path, verb: str
) -> None:
    words = {"look": ["-t", "y"], "fit": ["-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m"]}[verb]
    answer = bayeswise(verb, write("a,b,y\n1,,p\n1,,q\n1,,q\n"), *words)
    assert answer.code == 3
    assert "no column to learn from: a (only one value), b (every cell is missing)" in answer.err


def test_look_reads_files_by_the_options_of_fit(bayeswise: Command, write: Write) -> None:
    one = write("größe#art#y\n1,5#ä#p\n2,5#ö#q\n3,5#ä#p\n".encode("latin-1"), "one.csv")
    two = write("größe#art#y\n7,5#ö#q\n".encode("latin-1"), "two.csv")
    answer = bayeswise("look", one, two, "--delimiter", "#", "--decimal", ",", "--encoding", "latin-1", "--json")
    assert answer.code == 0, answer.err
    facts = json.loads(answer.out)
    assert facts["rows"] == 4
    assert {column["name"]: column["kind"] for column in facts["columns"]}["größe"] == "number"


def test_a_model_in_the_place_of_a_table_is_recognised(bayeswise: Command, golf_model: Path, golf: Path) -> None:
    for words in (("look", golf_model), ("predict", golf_model, golf_model)):
        answer = bayeswise(*words)
        assert answer.code == 3
        assert "golf.bayeswise is a model of bayeswise, and a table is needed here" in answer.err
    assert "Fix: give a file that bayeswise wrote; the model comes first, then the table" in (
        bayeswise("predict", golf, golf_model).err
    )


def test_an_empty_name_is_not_an_output(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    answer = bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "-o", "")
    assert answer.code == 2
    assert "cannot write ''" in answer.err


def test_a_model_file_that_was_cut_short_says_what_to_do(bayeswise: Command, golf_model: Path, tmp_path: Path) -> None:
    for n_bytes in (9, 500, 1500, golf_model.stat().st_size - 1):
        (tmp_path / "cut").write_bytes(golf_model.read_bytes()[:n_bytes])
        answer = bayeswise("inspect", tmp_path / "cut")
        assert answer.code == 3
        assert "Fix: " in answer.err


def test_models_of_two_kinds_are_called_by_their_kind(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    table = write("x,y\n" + "".join(f"{k % 5}.5,{'pq'[k % 2]}\n" for k in range(20)))
    for kind in ("naive-bayes", "gaussian"):
        assert bayeswise("fit", table, "-t", "y", "--model", kind, "-o", tmp_path / kind).code == 0
    answer = bayeswise("merge", tmp_path / "naive-bayes", tmp_path / "gaussian", "-o", tmp_path / "both")
    assert answer.code == 4
    assert "naive-bayes is a naive-bayes model and" in answer.err
    assert "gaussian a gaussian-bayes model" in answer.err


def test_a_model_that_is_merged_twice_is_reported(bayeswise: Command, golf_model: Path, tmp_path: Path) -> None:
    answer = bayeswise("merge", golf_model, golf_model, "-o", tmp_path / "twice")
    assert answer.code == 0
    assert "golf.bayeswise is named twice: its rows count twice." in answer.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--encoding", "utf-16"], 3, "golf.csv is not utf-16: UTF-16 stream does not start with BOM. Fix: name its"),
        (["--encoding", "rot13"], 2, "unknown encoding 'rot13'"),
        (["--encoding", "utf-32"], 3, "golf.csv is not utf-32"),
        (["--smoothing", "-1"], 2, "smoothing is -1.0. Fix: give a number from 0 on"),
        (["--prior", "yes=2"], 2, "the prior of yes is 2, more than 1. Fix: give a probability from 0 to 1"),
        (["--prior", "yes=-1"], 2, "the prior of yes is -1, less than 0. Fix: give a probability from 0 to 1"),
        (["--number", "outlook"], 3, "column 'outlook' is declared numeric, but 14 of its 14 cells are not: "),
        (["--table", "golf"], 2, "table_name (--table) does not apply to golf.csv. Fix: leave it out"),
    ],
)
def test_an_option_that_does_not_fit_is_reported_with_its_remedy(
    bayeswise: Command, golf: Path, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    answer = bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "m", *words)
    assert (answer.code, answer.out) == (code, "")
    assert message in answer.err
    assert not (tmp_path / "m").exists()


def test_a_file_that_is_named_twice_is_reported(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    answer = bayeswise("fit", golf, golf, "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "m")
    assert answer.code == 0
    assert "golf.csv is named twice: its rows count twice." in answer.err
