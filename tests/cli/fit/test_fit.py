"""bayeswise fit: from a table to a model file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bayeswise as bw
from bayeswise.models.files import bytes_of
from bayeswise.tables.sources import opening
from bayeswise.tables.sources.text.csv import CsvSource

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]

MIXED = "id,age,visits,town,note,n,ill\n" + "".join(
    f"{k},{20 + 7 * (k % 9)}.5,{k % 4},{'ABC'[k % 3]},{['good', 'bad', 'ugly', 'fine'][k % 4]} day {k % 5},"
    f"{1 + k % 2},{'yes' if k % 3 else 'no'}\n"
    for k in range(60)
)


def learned(command: Command, *words: object) -> dict[str, Any]:
    kind = () if "--like" in words else ("--model", "naive-bayes")
    answer = command("fit", *words, *kind, "--json")
    assert answer.code == 0, answer.err
    facts: dict[str, Any] = json.loads(answer.out)
    return facts


# -- what comes out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("beside", [[], ["--threads", "1"], ["--like"]])
def test_a_long_file_is_read_once(
    beside: list[str], bayeswise: Command, golf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so it is by Python, which gives the same bytes; a model like another one needs no first rows."""
    sweeps: list[str] = []
    pieces = CsvSource.pieces
    monkeypatch.setattr(opening, "LONG_TEXT", 0)
    monkeypatch.setattr(CsvSource, "pieces", lambda self, columns: sweeps.append("all") or pieces(self, columns))
    monkeypatch.setenv("BAYESWISE_PROGRESS", "json")
    bw.fit(golf, "play", model="naive-bayes").save(tmp_path / "like")
    sweeps.clear()
    like = beside == ["--like"]
    words = ["--like", tmp_path / "like"] if like else ["-t", "play", "--model", "naive-bayes"]
    answer = bayeswise("fit", golf, *words, *([] if like else beside), "-o", tmp_path / "m")
    assert answer.code == 0 and len(sweeps) == (1 if like else 2), answer.err
    assert json.loads(next(line for line in answer.err.splitlines() if line.startswith('{"progress"')))["done"] == 14
    assert (tmp_path / "m").read_bytes() == (tmp_path / "like").read_bytes()


def test_the_model_is_the_one_that_python_learns(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    facts = learned(bayeswise, golf, "-t", "play", "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == bytes_of(bw.fit(str(golf), target="play", model="naive-bayes"))
    assert (facts["rows"], facts["target"], facts["classes"]) == (14, "play", {"no": 5, "yes": 9})
    assert facts["prior"] == {"no": pytest.approx(5 / 14), "yes": pytest.approx(9 / 14)}
    assert facts["columns"][0] == {
        "name": "outlook",
        "kind": "category",
        "family": "categorical",
        "reason": "labels",
    }
    assert (facts["convention"], facts["n_free_parameters"], facts["replaced"]) == ("laplace", 13, False)


def test_the_page_says_what_was_learned_where_it_went_and_what_to_type_next(
    bayeswise: Command, golf: Path, tmp_path: Path
) -> None:
    answer = bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "a b")
    assert "golf.csv: 14 rows learned; target play" in answer.out
    assert "64.3 %" in answer.out
    assert "categorical  outlook, temperature, humidity, wind" in answer.out
    assert f"Saved {tmp_path / 'a b'} (" in answer.err
    assert f"Next: bayeswise predict '{tmp_path / 'a b'}' NEW.csv" in answer.err


def test_without_an_output_the_model_is_called_like_the_target(
    bayeswise: Command, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = write("x,is it/ok?\n1,a\n2,b\n3,a\n1,b\n")
    answer = bayeswise("fit", table, "-t", "is it/ok?", "--model", "naive-bayes")
    assert answer.code == 0
    assert "Saved is_it_ok.bayeswise" in answer.err
    assert (tmp_path / "is_it_ok.bayeswise").is_file()


def test_rows_in_several_files_or_on_stdin_give_the_same_bytes(
    bayeswise: Command, golf: Path, write: Write, tmp_path: Path
) -> None:
    header, *rows = golf.read_text().splitlines(keepends=True)
    write(header + "".join(rows[:3]), "part-1.csv")
    write(header + "".join(reversed(rows[3:])), "part-2.csv")
    learned(bayeswise, golf, "-t", "play", "-o", tmp_path / "one")
    learned(bayeswise, tmp_path / "part-1.csv", tmp_path / "part-2.csv", "-t", "play", "-o", tmp_path / "two")
    learned(bayeswise, tmp_path / "part-*.csv", "-t", "play", "-o", tmp_path / "glob")
    answer = bayeswise(
        "fit", "-", "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "stdin", stdin=golf.read_bytes()
    )
    assert answer.code == 0
    assert len({(tmp_path / name).read_bytes() for name in ("one", "two", "glob", "stdin")}) == 1


def test_the_number_of_threads_changes_nothing(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    table = write(MIXED)
    for threads in (1, 2, 5):
        learned(bayeswise, table, "-t", "ill", "--threads", threads, "-o", tmp_path / str(threads))
    assert len({(tmp_path / name).read_bytes() for name in ("1", "2", "5")}) == 1


# -- what can be set ----------------------------------------------------------------------------------


def test_kinds_families_levels_and_weights_can_be_set(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    table = write(MIXED)
    facts = learned(
        bayeswise, table, "-t", "ill", "--count", "visits", "--text", "note", "--weight", "n", "--category", "id",
        "--levels", "town=A,B,C,D", "--family", "age=gamma", "note=bernoulli", "--missing", "town=level",
        "--unseen", "error", "-o", tmp_path / "m",
    )  # fmt: skip
    families = {column["name"]: (column["kind"], column["family"]) for column in facts["columns"]}
    assert families == {
        "id": ("category", "categorical"),
        "age": ("number", "gamma"),
        "visits": ("count", "poisson"),
        "town": ("category", "categorical"),
        "note": ("text", "bernoulli"),
    }
    model = bw.load(tmp_path / "m")
    town = model.schema["town"]
    assert (list(town.levels), town.missing, town.unseen) == (["A", "B", "C", "D"], "level", "error")
    assert model.schema.weight == "n"
    assert sum(facts["classes"].values()) == 90


def test_levels_of_the_target_are_its_classes(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    facts = learned(bayeswise, golf, "-t", "play", "--levels", "play=no,maybe,yes", "-o", tmp_path / "m")
    assert facts["classes"] == {"maybe": 0, "no": 5, "yes": 9}


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["--smoothing", ".5"], {"smoothing": 0.5}),
        (["--m-estimate", "2"], {"smoothing": bw.MEstimate(2.0)}),
        (["--convention", "weka"], {"convention": "weka"}),
        (["--prior-smoothing", "1", "--variance-divisor", "n-1"], {"prior_smoothing": 1.0, "variance_divisor": "n-1"}),
        (["--shared-variance"], {"shared_variance": True}),
        (["--prior", "yes=3/5", "no=40%"], {"class_prior": {"yes": 0.6, "no": 0.4}}),
        (["--prior", "no=.4", "yes=.6"], {"class_prior": {"yes": 0.6, "no": 0.4}}),
        (["--prior", "yes=.6"], {"class_prior": {"yes": 0.6, "no": 0.4}}),
    ],
)  # fmt: skip
def test_beliefs_are_those_of_python(
    bayeswise: Command, golf: Path, tmp_path: Path, words: list[str], settings: dict[str, Any]
) -> None:
    learned(bayeswise, *words, golf, "-t", "play", "-o", tmp_path / "m")
    assert (
        bw.load(tmp_path / "m").settings == bw.fit(str(golf), target="play", model="naive-bayes", **settings).settings
    )


@pytest.mark.parametrize(
    ("convention", "share"),
    [
        ("exact", 0.7954),
        ("laplace", 0.7201),
        ("smoothed-prior", 0.7353),
        ("as-printed", 0.7384),
        ("as-printed-smoothed-prior", 0.7530),
    ],
)
def test_every_convention_of_the_lecture_gives_its_number(
    bayeswise: Command, golf: Path, tmp_path: Path, convention: str, share: float
) -> None:
    learned(bayeswise, golf, "-t", "play", "--convention", convention, "-o", tmp_path / "m")
    row = ["outlook=sunny", "temperature=cool", "humidity=high", "wind=strong"]
    why = json.loads(bayeswise("explain", tmp_path / "m", "--row", *row, "--json").out)
    assert why["convention"] == convention
    assert why["most_probable"] == "no"
    assert round(why["posterior"][0], 4) == share


def test_selected_families_say_why(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    answer = bayeswise(
        "fit", write(MIXED), "-t", "ill", "--model", "naive-bayes", "--family", "select", "-o", tmp_path / "m", "--json"
    )
    assert "times as probable as under" in answer.err
    assert "select" not in {column["family"] for column in json.loads(answer.out)["columns"]}


def test_like_takes_columns_and_settings_from_a_model(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    learned(bayeswise, write(MIXED), "-t", "ill", "--count", "visits", "--smoothing", "2", "-o", tmp_path / "m")
    short = write("id,age,visits,town,note,n,ill\n5,40,1,A,good day,1,no\n", "short.csv")
    facts = learned(bayeswise, short, "--like", tmp_path / "m", "-o", tmp_path / "n")
    mine, theirs = bw.load(tmp_path / "n"), bw.load(tmp_path / "m")
    assert (mine.schema, mine.settings, mine.factors) == (theirs.schema, theirs.settings, theirs.factors)
    assert (facts["rows"], facts["target"]) == (1, "ill")
    refused = bayeswise("fit", short, "--like", tmp_path / "m", "--count", "visits", "-o", tmp_path / "o")
    assert refused.code == 2
    assert "--count cannot be given" in refused.err
    assert bayeswise("fit", short, "--like", tmp_path / "m", "-t", "town", "-o", tmp_path / "o").code == 4


def test_null_words_delimiter_decimal_mark_and_encoding_can_be_named(
    bayeswise: Command, write: Write, tmp_path: Path
) -> None:
    rows = "".join(f"{k % 7},{k % 10};{'ä-'[k % 2]};{'pq'[k % 2]}\n" for k in range(40))
    table = write(f"größe;art;y\n{rows}".encode("latin-1"))
    facts = learned(
        bayeswise, table, "-t", "y", "--delimiter", ";", "--decimal", ",", "--encoding", "latin-1", "--null", "-",
        "-o", tmp_path / "m",
    )  # fmt: skip
    reasons = {column["name"]: (column["kind"], column["reason"]) for column in facts["columns"]}
    assert reasons == {"größe": ("number", "numbers"), "art": ("ignored", "only one value")}
    assert max(bw.load(tmp_path / "m").sample(50)["größe"]) > 1.5


# -- what is reported -------------------------------------------------------------------------------------------


def test_invalid_values_and_rows_without_a_target_are_reported(
    bayeswise: Command, write: Write, tmp_path: Path
) -> None:
    rows = "".join(f"{k % 9}.5,{'ab'[k % 2]}\n" for k in range(300))
    table = write(f"x,y\n{rows}3a,a\n1,\n2,\n")
    facts = learned(bayeswise, table, "-t", "y", "-o", tmp_path / "m")
    assert (facts["rows"], facts["rows_without_target"]) == (301, 2)
    assert "'3a' (line 302)" in facts["no_numbers"]["x"]
    page = bayeswise("fit", table, "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m").out
    assert "2 rows have no target and were left out" in page
    assert "x: 1 of 303 cells is not a number: '3a' (line 302); taken as missing" in page


def test_a_single_class_is_reported(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    page = bayeswise(
        "fit", write("x,y\n1,a\n2,a\n5,a\n"), "-t", "y", "--model", "naive-bayes", "-o", tmp_path / "m"
    ).out
    assert "there is only one class" in page


def test_a_model_that_is_there_is_replaced_and_that_is_said(bayeswise: Command, golf: Path, golf_model: Path) -> None:
    old = golf_model.read_bytes()
    answer = bayeswise("fit", golf, "-t", "wind", "--model", "naive-bayes", "-o", golf_model)
    assert answer.code == 0
    assert "in place of the file that was there" in answer.err
    assert golf_model.read_bytes() != old


# -- what is refused ----------------------------------------------------------------------------------------


def refused(command: Command, code: int, what: str, *words: object) -> None:
    answer = command("fit", *words, "--model", "naive-bayes")
    assert answer.code == code, answer.err
    assert answer.out == ""
    assert what in answer.err
    assert "Traceback" not in answer.err


def test_what_was_typed_wrong_is_guessed(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    out = ["-o", tmp_path / "m"]
    refused(bayeswise, 4, "did you mean 'play'?", golf, "-t", "Plya", *out)
    refused(bayeswise, 4, "did you mean 'wind'?", golf, "-t", "play", "--category", "wnd", *out)
    refused(bayeswise, 2, "did you mean 'yes'?", golf, "-t", "play", "--prior", "yse=.5", *out)
    refused(bayeswise, 2, "sums to 1.1", golf, "-t", "play", "--prior", "yes=.5", "no=.6", *out)
    refused(bayeswise, 2, "must be a number; found 'half'", golf, "-t", "play", "--prior", "yes=half", *out)
    refused(bayeswise, 2, "--prior takes NAME=VALUE", golf, "-t", "play", "--prior", "yes", *out)
    refused(bayeswise, 2, "did you mean 'laplace'", golf, "-t", "play", "--convention", "laplac", *out)
    refused(bayeswise, 2, "exclude each other", golf, "-t", "play", "--smoothing", "1", "--m-estimate", "1", *out)
    refused(bayeswise, 2, "smoothing is -1.0. Fix: give a number", golf, "-t", "play", "--smoothing", "-1", *out)
    refused(bayeswise, 2, "choose one of 'ignore'", golf, "-t", "play", "--missing", "skip", *out)
    refused(bayeswise, 2, "there is no target", golf, *out)
    refused(bayeswise, 3, "there is no file", tmp_path / "nothing.csv", "-t", "y", *out)
    assert list(tmp_path.iterdir()) == []


def test_a_family_without_a_statistic_of_fixed_size_is_learned_from_a_file(
    bayeswise: Command, write: Write, tmp_path: Path
) -> None:
    table = write(MIXED)
    answer = bayeswise(
        "fit", table, "-t", "ill", "--model", "naive-bayes", "--family", "age=laplace", "-o", tmp_path / "m"
    )
    assert answer.code == 0, answer.err
    bw.fit(table, target="ill", families={"age": "laplace"}, model="naive-bayes").save(tmp_path / "python")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "python").read_bytes()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("x,y\n", "no rows"),
        ("x,y\n1,\n", "missing in all 1 rows"),
        ("x,y\n1,a,3\n", "line 2"),
    ],
)
def test_a_table_without_rows_teaches_nothing(
    bayeswise: Command, write: Write, tmp_path: Path, text: str, what: str
) -> None:
    refused(bayeswise, 3, what, write(text), "-t", "y", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_place_where_nothing_can_be_written_is_refused_before_the_rows_are_read(
    bayeswise: Command, golf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the table was read")

    monkeypatch.setattr("bayeswise.tables.source.open_source", fail)
    refused(bayeswise, 2, "it is a directory", golf, "-t", "play", "-o", tmp_path)
    refused(bayeswise, 2, "there is no directory", golf, "-t", "play", "-o", tmp_path / "no" / "m")
    refused(bayeswise, 2, "cannot go to standard output", golf, "-t", "play", "-o", "-")


def test_a_read_only_directory_is_refused(
    bayeswise: Command, golf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def access(path: object, mode: int) -> bool:  # root may write everywhere
        return Path(str(path)) != tmp_path

    monkeypatch.setattr(os, "access", access)
    refused(bayeswise, 2, "its directory is write-protected", golf, "-t", "play", "-o", tmp_path / "m")


def test_no_file_of_the_user_is_overwritten_by_mistake(bayeswise: Command, golf: Path, write: Write) -> None:
    table = write(golf.read_text())
    other = write("my only notes", "notes.txt")
    refused(bayeswise, 2, "would be overwritten", table, "-t", "play", "-o", table)
    refused(bayeswise, 2, "would be overwritten", table.parent / "*.csv", "-t", "play", "-o", table)
    refused(bayeswise, 2, "add --force to replace it", table, "-t", "play", "-o", other)
    assert (table.read_text(), other.read_text()) == (golf.read_text(), "my only notes")
    assert bayeswise("fit", table, "-t", "play", "--model", "naive-bayes", "-o", other, "--force").code == 0
    empty = write("", "made-by-mktemp")
    assert bayeswise("fit", table, "-t", "play", "--model", "naive-bayes", "-o", empty).code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_reported(bayeswise: Command, golf: Path) -> None:
    answer = bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "-o", "/dev/full")
    assert answer.code == 3
    assert "the disk is full" in answer.err


def test_the_traceback_is_for_those_who_ask(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    answer = bayeswise("fit", golf, "-t", "Plya", "--model", "naive-bayes", "-o", tmp_path / "m", "-v")
    assert "Traceback" in answer.err
    assert answer.code == 4


def test_help_is_grouped_by_what_every_model_has_columns_and_models(bayeswise: Command) -> None:
    text = bayeswise("fit", "--help").out
    titles = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == [
        "Arguments",
        "Common",
        "Columns",
        "Reading",
        "Engine",
        "Several models",
        "Naive Bayes (naive-bayes, averaged)",
        "Gaussian classes (gaussian)",
        "Regressions (logistic, linear)",
        "Networks (tan, aode, k-dependence, markov-blanket)",
        "Trees (tree)",
        "All models (auto)",
    ]
    groups = dict(zip(titles, re.split(r"^\S.*:\n", text, flags=re.MULTILINE)[-len(titles) :], strict=True))
    assert (
        "--target" in groups["Common"] and "--levels" in groups["Columns"] and "--smoothing" in groups["Several models"]
    )
    assert "--delimiter" in groups["Reading"] and "--header" in groups["Reading"] and "--master" in groups["Engine"]
    assert groups["Common"].lower().count("calibrate posteriors on") == 1  # not once more for auto
    assert "--df" in groups["Regressions (logistic, linear)"] and "--shrinkage" in groups["Gaussian classes (gaussian)"]


def test_the_earlier_name_of_an_option_means_the_same_and_says_so_on_stderr(
    bayeswise: Command, golf: Path, tmp_path: Path
) -> None:
    arguments = ("fit", golf, "-t", "play", "--model", "logistic", "--prior", "student-t")
    before = bayeswise(*arguments, "--freedom=3", "--moderated", "-o", tmp_path / "before")
    today = bayeswise(*arguments, "--df", "3", "--marginalize", "-o", tmp_path / "today")
    assert (before.code, today.code) == (0, 0), before.err + today.err
    assert "--freedom is now called --df" in before.err and "--moderated is now called --marginalize" in before.err
    assert "now called" not in today.err
    assert (tmp_path / "before").read_bytes() == (tmp_path / "today").read_bytes()


def test_after_a_fit_with_costs_the_next_command_decides(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    decision, model = tmp_path / "d.toml", tmp_path / "m"
    decision.write_text('target = "play"\n[costs]\ngo = { yes = 0, no = 3 }\nstay = 1\n', encoding="utf-8")
    answer = bayeswise("fit", golf, "--decision", decision, "--model", "naive-bayes", "-o", model)
    assert f"Next: bayeswise decide {model} NEW.csv --costs {decision} > actions.csv" in answer.err
    decision.write_text('target = "play"\n', encoding="utf-8")
    answer = bayeswise("fit", golf, "--decision", decision, "--model", "naive-bayes", "-o", model)
    assert f"Next: bayeswise predict {model} NEW.csv" in answer.err
