"""bayeswise label: the key of each class, names that would be lost, and screens of any width."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.cells import cell_len

import bayeswise as bw
from bayeswise.cli.commands.label.keys import COMMANDS, Keys
from tests.cli.label.test_label import START, line_from, posix, reply, started

Command = Callable[..., SimpleNamespace]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.csv"
    path.write_text("colour,size\n" + "red,1\nblue,2\nred,3\nblue,4\n" * 3)
    return path


@pytest.fixture
def label(bayeswise: Command, pool: Path, tmp_path: Path) -> Command:
    def call(classes: str, answers: str, *words: object) -> SimpleNamespace:
        arguments = ("label", pool, "-t", "y", "--classes", classes, "-o", tmp_path / "s", *words)
        return bayeswise(*arguments, stdin=answers.encode())

    return call


def labels(tmp_path: Path) -> list[str]:
    with (tmp_path / "s" / "labelled.csv").open(encoding="utf-8", newline="") as file:
        return sorted(row["y"] for row in csv.DictReader(file))


def test_a_digit_means_the_class_of_that_name_and_never_another_one(label: Command, tmp_path: Path) -> None:
    answer = label("0,1", "1\n1\n0\n1\n2\n")
    assert "[0] 0  [1] 1\n" in answer.err
    assert "'2' is not a key here." in answer.err
    assert labels(tmp_path) == ["0", "1", "1", "1"]


def test_a_letter_means_the_class_of_that_name_also_beyond_the_ninth_class(label: Command, tmp_path: Path) -> None:
    answer = label("a,b,c,d,e,f,g,h,i,j,k,l", "j\na\nd\nD\n")
    assert "[1] a" in answer.err and "[4] d" in answer.err and "[j] j" in answer.err and "[D] don't know" in answer.err
    assert "is not asked again" in answer.err
    assert labels(tmp_path) == ["a", "d", "j"]


def test_all_letters_and_digits_leave_a_key_for_each_command() -> None:
    names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    keys = Keys.of(list(names))
    assert [keys.meaning(name) for name in names] == [("class", name) for name in names]
    assert list(keys.commands.values()) == list(COMMANDS) and len(keys.commands) == len(COMMANDS)
    assert not keys.without


def test_thirty_classes_that_begin_alike_have_keys_or_are_typed(label: Command, tmp_path: Path) -> None:
    names = [f"class-{k:02d}" for k in range(30)]
    answer = label(",".join(names), "1\nz\nclass-29\n/\n")
    assert "[/] 1 more, by name" in answer.err
    assert "'/' is not a key here." in answer.err
    assert labels(tmp_path) == ["class-00", "class-28", "class-29"]


@pytest.mark.parametrize("classes", ["a,", "a,,b", "NA,ok", "nan,b", "x,None", "?,b"])
def test_names_that_would_be_read_as_missing_are_refused(label: Command, tmp_path: Path, classes: str) -> None:
    answer = label(classes, "1\n")
    assert answer.code == 2 and "Fix:" in answer.err
    assert not (tmp_path / "s").exists()


def test_a_new_class_may_not_mean_missing_either_unless_another_word_does(label: Command, tmp_path: Path) -> None:
    answer = label("a,b", "1\nn\nNA\n2\n")
    assert "'NA' would be read as a missing one" in answer.err
    assert labels(tmp_path) == ["a", "b"]
    shutil.rmtree(tmp_path / "s")
    assert label("NA,b", "1\n2\n", "--null", "-").code == 0
    assert labels(tmp_path) == ["NA", "b"]


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_of_a_screen_is_wider_than_the_terminal(
    bayeswise: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    long, wide = "a very long story " * 20, "日本語の文章" * 20
    header = "a column with quite a long name,text,other"
    (tmp_path / "pool.csv").write_text(f"{header}\n" + f"x,{long},{wide}\ny,{wide},{long}\n" * 4)
    monkeypatch.setenv("COLUMNS", str(width))
    classes = ",".join(f"class number {k}" for k in range(12)) + ",日本語"
    words = ("label", tmp_path / "pool.csv", "-t", "y", "--classes", classes, "-o", tmp_path / "s")
    kinds = ("--category", "text", "--category", "other")
    shown = bayeswise(*words, *kinds, stdin=b"1\n2\n3\nx x\n4\n").err.split("\n\nStopped.")[0]
    screens = [line for line in shown.splitlines() if not line.startswith("Saved")]
    assert len(screens) > 40
    assert max(map(cell_len, screens)) <= width


@posix
def test_an_answer_to_a_journal_that_was_deleted_is_not_confirmed(pool: Path, tmp_path: Path) -> None:
    process = started(pool, tmp_path / "s")
    try:
        assert "ask" in line_from(process)
        (tmp_path / "s" / "journal").unlink()
        reply(process, b"1\n")
        assert process.wait(20) == 3
        assert process.stdout is not None and b"saved" not in process.stdout.read()
        assert process.stderr is not None and b"was deleted while it was in use" in process.stderr.read()
    finally:
        process.kill()
        process.wait()


@posix
def test_a_disk_without_room_for_the_table_says_where_the_answers_are(label: Command, tmp_path: Path) -> None:
    label("a,b", "1\n")
    (tmp_path / "s" / "labelled.csv").unlink()
    (tmp_path / "s" / "labelled.csv").mkdir()
    answer = label("a,b", "2\n")
    assert answer.code != 0 and "2 answers are safe in" in answer.err
    (tmp_path / "s" / "labelled.csv").rmdir()
    assert label("a,b", "").code == 0
    assert labels(tmp_path) == ["a", "b"]


def test_a_class_that_was_named_once_belongs_to_the_session_whatever_is_typed_later(
    label: Command, bayeswise: Command, pool: Path, tmp_path: Path
) -> None:
    label("no,yes", "1\n")
    label("no,yes,maybe", "maybe\n")
    assert label("no,yes", "2\n").code == 0
    resumed = bayeswise("label", pool, "-t", "y", "-o", tmp_path / "s", stdin=b"3\n")
    assert resumed.code == 0 and "[1] no  [2] yes  [3] maybe" in resumed.err
    assert labels(tmp_path) == ["maybe", "maybe", "no", "yes"]


def test_numbers_in_the_pool_and_names_that_are_typed_are_of_one_type(
    bayeswise: Command, pool: Path, tmp_path: Path
) -> None:
    header, *rows = pool.read_text().splitlines()
    some = [f"{row},{k % 2 if k < 4 else ''}" for k, row in enumerate(rows)]
    pool.write_text("\n".join([f"{header},y", *some]) + "\n")
    words = ("label", pool, "-t", "y", "-o", tmp_path / "s")
    assert "[0] 0  [1] 1\n" in bayeswise(*words, stdin=b"1\n").err
    refused = bayeswise(*words, "--classes", "0,1,maybe", stdin=b"1\n")
    assert refused.code == 2 and "'maybe' is not of type integer as other classes are" in refused.err
    mixed = bayeswise("label", pool, "-t", "y", "-o", tmp_path / "t", "--classes", "0,1,maybe", stdin=b"2\n")
    assert "[0] 0  [1] 1  [2] maybe\n" in mixed.err
    assert bw.load(tmp_path / "t" / "model.bayeswise").classes == ("0", "1", "maybe")


def test_what_is_wrong_is_found_before_there_is_a_session(label: Command, tmp_path: Path) -> None:
    answer = label("no,yes", "1\n", "--strategy", "ask")
    assert answer.code == 2 and "asks for a label" in answer.err
    assert not (tmp_path / "s").exists()


def test_a_terminal_of_ascii_letters_is_ruled_too(pool: Path, tmp_path: Path) -> None:
    words = ["label", str(pool), "-t", "y", "--classes", "no,yes", "-o", str(tmp_path / "s")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    done = subprocess.run([*START, *words], input=b"1\n", capture_output=True, env=environment)
    assert done.returncode == 0 and b"\n" + b"-" * 80 + b"\n" in done.stderr and b"\\u" not in done.stderr
