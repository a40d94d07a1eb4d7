"""bayeswise label: answers from a pipe or keys from a terminal, and none of them is ever lost."""

from __future__ import annotations

import csv
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models.files import bytes_of
from tests.cli.hearing import HEARING

Command = Callable[..., SimpleNamespace]
posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals, locks and terminals")

START = [sys.executable, "-c", f"{HEARING}import sys; from bayeswise.cli import main; sys.exit(main())"]
TRUTH = ["no", "no", "yes", "yes", "yes", "no", "yes", "no", "yes", "yes", "yes", "yes", "yes", "no"]


@pytest.fixture
def pool(golf: Path, tmp_path: Path) -> Path:
    """The golf table without its answers."""
    rows = [line.rsplit(",", 1)[0] for line in golf.read_text().splitlines()]
    path = tmp_path / "pool.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def label(bayeswise: Command, pool: Path, tmp_path: Path) -> Command:
    """Label the pool with some lines of answers."""

    def call(*words: object, answers: str = "", session: str = "session") -> SimpleNamespace:
        arguments = ("label", pool, "-t", "play", "--classes", "no,yes", "-o", tmp_path / session, *words)
        return bayeswise(*arguments, stdin=answers.encode())

    return call


def records(session: Path) -> list[dict[str, Any]]:
    """The journal without its checksums and its header."""
    return [json.loads(line.split(" ", 1)[1]) for line in (session / "journal").read_text().splitlines()][1:]


def labelled(session: Path) -> list[dict[str, str]]:
    with (session / "labelled.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines_of(answer: SimpleNamespace) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.out.splitlines()]


# -- a session ------------------------------------------------------------------------------------------------


def test_keys_and_names_are_answers_and_the_files_hold_them(label: Command, tmp_path: Path) -> None:
    answer = label(answers="1\nyes\n2\n")
    assert answer.code == 0 and answer.out == ""
    assert [record["label"] for record in records(tmp_path / "session")] == ["no", "yes", "yes"]
    rows = labelled(tmp_path / "session")
    assert len(rows) == 3 and {row["play"] for row in rows} == {"no", "yes"}
    model = bw.load(tmp_path / "session" / "model.bayeswise")
    again = bw.fit(str(tmp_path / "session" / "labelled.csv"), target="play", model="naive-bayes")
    assert model.class_weight.tolist() == again.class_weight.tolist() == [1.0, 2.0]


def test_a_case_shows_its_cells_why_it_was_selected_and_the_keys(label: Command) -> None:
    screen = label(answers="1\n2\n" * 5, session="s").err
    assert "of pool.csv" in screen and "outlook" in screen and "sunny" in screen
    assert "why: it was drawn at random, as long as a class has" in screen
    assert "why: its two most probable classes are closest" in screen
    assert "\n[1] no  [2] yes\n[s] skip  [d] don't know  [u] undo  [n] new class  [w] why  [q] quit\n" in screen
    assert "Saved: row " in screen and " is no." in screen
    assert "cost per row: expected" in screen and "measured" in screen and "expected to save" in screen


def test_a_session_goes_on_where_it_was_left_and_repeats_nothing(label: Command, tmp_path: Path) -> None:
    label(answers="1\n2\n1\n")
    answer = label(answers="2\nq\n1\n")
    assert "3 answers so far" in answer.err
    found = records(tmp_path / "session")
    assert len(found) == 4 and len({record["row"] for record in found}) == 4
    in_one = label(answers="1\n2\n1\n2\n", session="other")
    assert in_one.code == 0
    assert records(tmp_path / "other") == found
    models = [bw.load(tmp_path / name / "model.bayeswise") for name in ("session", "other")]
    assert bytes_of(models[0]) == bytes_of(models[1])


def test_undo_takes_answers_back_also_those_of_an_earlier_sitting(label: Command, tmp_path: Path) -> None:
    label(answers="1\n2\n")
    first, second = (record["row"] + 1 for record in records(tmp_path / "session"))
    answer = label("--json", answers="u\nu\nu\n")
    assert [line["saved"]["undo"] for line in lines_of(answer) if "saved" in line] == [second, first]
    assert "There is no answer to take back." in [line["refused"] for line in lines_of(answer) if "refused" in line]
    assert labelled(tmp_path / "session") == []
    assert len(records(tmp_path / "session")) == 4  # the journal forgets nothing


def test_skipped_rows_come_again_at_the_end_and_unknown_ones_never(label: Command) -> None:
    answer = label("--json", answers="s\nd\n" + "1\n" * 20)
    queried = [line["ask"]["row"] for line in lines_of(answer) if "ask" in line]
    skipped, unknown = queried[:2]
    assert queried[-1] == skipped and queried.count(unknown) == 1
    assert len(queried) == 15
    assert lines_of(answer)[-1]["end"] == {
        "reason": "Every row has been shown.",
        "n_labels": 13,
        **{key: lines_of(answer)[-1]["end"][key] for key in ("labelled", "model")},
    }


def test_skipping_for_ever_ends(label: Command) -> None:
    answer = label(answers="s\n" * 100)
    assert "Every row has been shown." in answer.err


def test_a_bad_key_changes_nothing_and_says_what_can_be_pressed(label: Command, tmp_path: Path) -> None:
    answer = label(answers="x\n\n7\nnope\n1\n")
    assert answer.err.count("is not a key here") == 4
    assert len(records(tmp_path / "session")) == 1


def test_a_new_class_can_be_named_and_emoji_are_letters(label: Command, tmp_path: Path) -> None:
    answer = label("--json", answers="1\nn\n🌧️ rain\n🌧️ rain\n3\nn\n\nn\nyes\n2\n")
    assert answer.code == 0
    found = [record for record in records(tmp_path / "session") if "row" in record]
    assert [record["label"] for record in found] == ["no", "🌧️ rain", "🌧️ rain", "yes"]
    assert {row["play"] for row in labelled(tmp_path / "session")} == {"no", "yes", "🌧️ rain"}
    assert label("--json", answers="").code == 0
    assert bw.load(tmp_path / "session" / "model.bayeswise").classes == ("no", "yes", "🌧️ rain")


def test_why_shows_what_each_column_says(label: Command) -> None:
    screen = label(answers="1\n2\nw\n").err
    assert "Why" in screen and "factor" in screen


def test_labels_that_the_pool_has_are_learned_first(bayeswise: Command, golf: Path, tmp_path: Path) -> None:
    header, *rows = golf.read_text().splitlines()
    some = [row if k < 6 else row.rsplit(",", 1)[0] + "," for k, row in enumerate(rows)]
    (tmp_path / "some.csv").write_text("\n".join([header, *some]) + "\n")
    answer = bayeswise("label", tmp_path / "some.csv", "-t", "play", "-o", tmp_path / "s", "--json", stdin=b"1\n")
    queried = [line["ask"]["row"] for line in lines_of(answer) if "ask" in line]
    assert all(row > 6 for row in queried)
    assert len(labelled(tmp_path / "s")) == 7


# -- costs, price, models -------------------------------------------------------------------------------------

DECISION = """
target = "play"
reject = "ask"
costs.go = { yes = 0, no = 4 }
costs.stay = { yes = 1, no = 0 }
costs.ask = 0.3
"""


def test_the_asking_action_of_a_decision_makes_the_queue(
    bayeswise: Command, golf: Path, pool: Path, tmp_path: Path
) -> None:
    (tmp_path / "decision.toml").write_text(DECISION)
    model = bw.fit(str(golf), target="play", model="naive-bayes")
    model.save(tmp_path / "golf.bayeswise")
    words = ("--costs", tmp_path / "decision.toml", "--from", tmp_path / "golf.bayeswise", "--random-share", 0)
    answer = bayeswise("label", pool, *words, "-o", tmp_path / "s", "--json", stdin=b"2\n" * 20)
    costs = bw.Costs.read(tmp_path / "decision.toml")
    decisions = bw.decide(model.predict_proba(str(pool)), costs, states=model.classes)
    first = bw.rows_to_ask(decisions)[0]
    ask = lines_of(answer)[0]["ask"]
    assert ask["row"] == first.row + 1
    assert f"asking saves {first.saving:.3g}" in ask["why"]
    assert lines_of(answer)[-1]["end"]["reason"] == "No row is left whose best action is to ask."
    assert lines_of(answer)[-1]["end"]["n_labels"] < 14


def test_a_price_ends_the_session_and_is_added_up(label: Command) -> None:
    answer = label("--price", 0.5, "--json", answers="1\n1\n2\n" + "2\n" * 12)
    end = lines_of(answer)[-1]["end"]
    assert "its price is 0.5" in end["reason"]
    spent = [line["spent"] for line in lines_of(answer) if "ask" in line]
    assert spent[:3] == [0.0, 0.5, 1.0]
    assert end["n_labels"] < 14
    assert "its price is" in label("--price", 0.0, answers="1\n2\n", session="t").err


def test_a_row_drawn_by_chance_ends_no_session_where_another_is_worth_its_price(
    bayeswise: Command, tmp_path: Path
) -> None:
    """The eighth row is drawn by chance and saves nothing, but the most uncertain one does."""
    generator = np.random.default_rng(4)
    x = np.round(np.r_[generator.normal(size=20), generator.normal(size=20) + 2.2], 3)
    (tmp_path / "pool.csv").write_text("x\n" + "\n".join(map(str, x)) + "\n")
    words = ("-t", "y", "--classes", "a,b", "-o", tmp_path / "s", "--random-share", 0.5, "--price", 0.05, "--json")
    answer = bayeswise("label", tmp_path / "pool.csv", *words, stdin=b"1\n2\n" * 3 + b"1\n")
    queried = [line["ask"] for line in lines_of(answer) if "ask" in line]
    assert len(queried) == 8 and "drawn at random" in queried[7]["why"]
    assert lines_of(answer)[-1]["end"]["reason"] == "Stopped."


# -- what can go wrong ----------------------------------------------------------------------------------------


def test_a_changed_pool_is_refused(label: Command, pool: Path) -> None:
    label(answers="1\n")
    whole = pool.read_text()
    pool.write_text(whole.replace("sunny", "cloudy", 1))
    answer = label(answers="1\n")
    assert answer.code == 4 and "cells have changed" in answer.err
    pool.write_text(whole + "sunny,hot,high,weak\n")
    assert "it has 15 rows now" in label(answers="1\n").err
    pool.write_text(whole)
    assert label(answers="1\n").code == 0


def test_another_target_classes_too_few_and_standard_input_are_refused(
    bayeswise: Command, label: Command, pool: Path, tmp_path: Path
) -> None:
    label(answers="1\n")
    other = bayeswise("label", pool, "-t", "walk", "--classes", "a,b", "-o", tmp_path / "session")
    assert other.code == 4 and "about 'play'" in other.err
    none = bayeswise("label", pool, "-t", "play", "-o", tmp_path / "new")
    assert none.code == 2 and "--classes A,B" in none.err
    piped = bayeswise("label", "-", "-t", "play", "--classes", "a,b", "-o", tmp_path / "new")
    assert piped.code == 2 and "answers" in piped.err
    assert bayeswise("label", pool, "--classes", "a,b", "-o", tmp_path / "new").code == 2
    assert not (tmp_path / "new").exists()


def test_a_truncated_line_is_dropped_and_damage_is_reported(label: Command, tmp_path: Path) -> None:
    label(answers="1\n2\n1\n")
    journal = tmp_path / "session" / "journal"
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    for end in (1, 2, 3, 20, len(lines[-1]) - 2):
        journal.write_bytes(whole[:-end] if end == 1 else whole[: -end - 1])
        answer = label(answers="")
        assert answer.code == 0
        assert len(records(tmp_path / "session")) == (3 if end == 1 else 2)  # whole but for the end of its line
    assert "incomplete" in answer.err
    for k in range(len(lines)):
        journal.write_bytes(whole.replace(lines[k], lines[k].replace(b'"', b"'", 1)))
        answer = label(answers="1\n")
        assert answer.code == 3 and f"line {k + 1}" in answer.err
    journal.write_bytes(lines[0][:20])  # killed while the session began
    assert label(answers="1\n").code == 0


def test_a_record_that_makes_no_sense_is_an_error(label: Command, tmp_path: Path) -> None:
    from bayeswise.acquisition.journal import line_of

    label(answers="1\n")
    journal = tmp_path / "session" / "journal"
    whole = journal.read_bytes()
    row = records(tmp_path / "session")[0]["row"]
    for record in ({"row": 99, "label": "no"}, {"row": 3, "label": "perhaps"}, {"row": row, "label": "no"}, {"x": 1}):
        journal.write_bytes(whole + line_of(record))
        answer = label(answers="1\n")
        assert answer.code == 3 and "not an answer of this session" in answer.err


@posix
def test_a_full_disk_loses_the_answer_that_was_not_confirmed_and_no_other(
    label: Command, pool: Path, tmp_path: Path
) -> None:
    label(answers="1\n2\n")
    journal = tmp_path / "session" / "journal"
    before = journal.read_bytes()
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 20},) * 2); "
    words = ["label", str(pool), "-t", "play", "-o", str(tmp_path / "session"), "--classes", "no,yes"]
    run = [sys.executable, "-c", limit + START[2], *words]
    done = subprocess.run(run, input=b"1\n", capture_output=True)
    assert done.returncode == 3, done.stderr
    assert b"could not be saved" in done.stderr and b"all earlier ones are safe" in done.stderr
    assert b"Saved: row" not in done.stderr
    assert journal.read_bytes() == before
    assert label(answers="1\n").code == 0


def started(pool: Path, folder: Path) -> subprocess.Popen[bytes]:
    words = ["label", str(pool), "-t", "play", "--classes", "no,yes", "-o", str(folder), "--json"]
    return subprocess.Popen([*START, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def reply(process: subprocess.Popen[bytes], text: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()


def line_from(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


@posix
def test_a_kill_loses_no_confirmed_answer_and_no_row_is_asked_twice(pool: Path, tmp_path: Path) -> None:
    confirmed: dict[int, str] = {}
    for sitting in range(3):
        process = started(pool, tmp_path / "s")
        try:
            for k in range(3):
                row = line_from(process)["ask"]["row"]
                assert row not in confirmed
                answer = ["no", "yes"][(sitting + k) % 2]
                reply(process, answer.encode() + b"\n")
                assert line_from(process)["saved"] == {"row": row, "label": answer}
                confirmed[row] = answer
            reply(process, b"1\n")  # and killed before anybody reads whether it was saved
        finally:
            process.kill()
            process.wait()
        extra = [record for record in records(tmp_path / "s") if record["row"] + 1 not in confirmed]
        assert len(extra) <= 1
        confirmed.update({record["row"] + 1: record["label"] for record in extra})
    assert {record["row"] + 1: record["label"] for record in records(tmp_path / "s")} == confirmed


@posix
def test_ctrl_c_saves_the_table_and_the_model_and_a_second_process_is_refused(
    bayeswise: Command, pool: Path, tmp_path: Path
) -> None:
    process = started(pool, tmp_path / "s")
    try:
        line_from(process)
        reply(process, b"no\n")
        assert "saved" in line_from(process)
        line_from(process)
        second = bayeswise("label", pool, "-t", "play", "--classes", "no,yes", "-o", tmp_path / "s", stdin=b"1\n")
        assert second.code == 2 and "another process" in second.err
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    finally:
        process.kill()
    assert [row["play"] for row in labelled(tmp_path / "s")] == ["no"]
    assert process.stderr is not None and b"Traceback" not in process.stderr.read()
    assert (tmp_path / "s" / "model.bayeswise").exists()


@posix
def test_on_a_terminal_one_key_is_an_answer(pool: Path, tmp_path: Path) -> None:
    import pty

    master, slave = pty.openpty()
    words = ["label", str(pool), "-t", "play", "--classes", "no,yes", "-o", str(tmp_path / "s")]
    process = subprocess.Popen([*START, *words], stdin=slave, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    shown = b""

    def wait_for(text: bytes) -> None:
        nonlocal shown
        deadline = time.monotonic() + 30
        while text not in shown and time.monotonic() < deadline:
            if select.select([master], [], [], 1.0)[0]:
                shown += os.read(master, 65536)
        assert text in shown, shown[-500:]

    try:
        keys = {b"1": b"is no.", b"2": b"is yes.", b"\x1b[A": b"not a key here", b"u": b"Taken back"}
        for key, text in keys.items():
            wait_for(b"not a key here" if key == b"u" else b"[q] quit")
            time.sleep(0.1)
            shown = b""
            os.write(master, key)
            wait_for(text)
        wait_for(b"[q] quit")
        time.sleep(0.1)
        os.write(master, b"q")
        assert process.wait(20) == 0
    finally:
        process.kill()
        os.close(master)
    assert [row["play"] for row in labelled(tmp_path / "s")] == ["no"]


def test_cells_cannot_steer_the_terminal_and_formulas_stay_text(bayeswise: Command, tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text("a,b\n\x1b[2J=1+1,1\n=cmd,2\nplain,3\n")
    words = ("label", tmp_path / "pool.csv", "-t", "y", "--classes", "0,1", "--category", "a", "-o", tmp_path / "s")
    answer = bayeswise(*words, stdin=b"0\n1\n0\n")
    assert answer.code == 0 and "\x1b" not in answer.err
    assert "'=cmd" in (tmp_path / "s" / "labelled.csv").read_text()
    assert bw.load(tmp_path / "s" / "model.bayeswise").classes == (0, 1)


@pytest.mark.parametrize("content", [b"dear diary", b"dear diary\nsecond line\n", b"deadbeef", b"\xff\x00", b"{}"])
def test_a_foreign_journal_is_left_alone(label: Command, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "session").mkdir()
    (tmp_path / "session" / "journal").write_bytes(content)
    answer = label(answers="no\n")
    assert answer.code == 2
    assert "is not a bayeswise journal" in answer.err
    assert (tmp_path / "session" / "journal").read_bytes() == content


@pytest.mark.parametrize("name", ["labelled.csv", "model.bayeswise"])
def test_a_foreign_table_or_model_in_the_folder_is_left_alone(label: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "session").mkdir()
    (tmp_path / "session" / name).write_text("mine")
    answer = label(answers="no\n")
    assert answer.code == 2 and "there is no journal beside it" in answer.err
    assert [path.name for path in (tmp_path / "session").iterdir()] == [name]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".jsonl.gz"])
def test_the_suffix_says_how_labelled_rows_are_written_and_numbers_stay_numbers(
    bayeswise: Command, tmp_path: Path, suffix: str
) -> None:
    (tmp_path / "pool.csv").write_text("size,zip\n1.5,a7\n2.25,b8\n,a7\n4.0,b8\n")
    words = ("label", tmp_path / "pool.csv", "-t", "y", "--classes", "0,1", "--number", "size")
    table = tmp_path / f"out{suffix}"
    assert bayeswise(*words, "-o", table, stdin=b"0\n1\n").code == 0
    answer = bayeswise(*words, "-o", table, stdin=b"1\n0\n")  # the same session
    assert answer.code == 0 and "2 answers so far" in answer.err and f"{table} and" in answer.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["journal", "model.bayeswise"]
    path = str(table)
    read = {
        ".csv": lambda: duckdb.read_csv(path),
        ".tsv": lambda: duckdb.read_csv(path, sep="\t"),
        ".parquet": lambda: duckdb.read_parquet(path),
    }
    rows = read.get(suffix, lambda: duckdb.read_json(path))()
    assert rows.columns == ["size", "zip", "y"]
    assert [str(kind) for kind in rows.types] == ["DOUBLE", "VARCHAR", "BIGINT"]
    known = {record["row"]: int(record["label"]) for record in records(tmp_path / "out")}
    cells = [(1.5, "a7"), (2.25, "b8"), (None, "a7"), (4.0, "b8")]
    assert rows.fetchall() == [(*cells[row], known[row]) for row in range(4)]


@pytest.mark.parametrize("name", ["out.xlsx", "out.v2", "out.parquet.gz", "out.bayeswise"])
def test_a_table_of_unknown_suffix_is_refused_before_there_is_a_session(
    label: Command, tmp_path: Path, name: str
) -> None:
    before = sorted(tmp_path.iterdir())
    answer = label(answers="no\n", session=name)
    assert (
        answer.code == 2 and "rows cannot be written as" in answer.err and "Fix: name a file that ends in" in answer.err
    )
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_may_have_a_dot_in_its_name(label: Command, tmp_path: Path) -> None:
    (tmp_path / "june.v2").mkdir()
    assert label(answers="no\n", session="june.v2").code == 0
    assert len(labelled(tmp_path / "june.v2")) == 1


def test_the_pool_and_foreign_tables_are_not_overwritten(label: Command, pool: Path, tmp_path: Path) -> None:
    before = pool.read_text()
    answer = label(answers="no\n", session="pool.csv")
    assert answer.code == 2 and "would be overwritten" in answer.err and pool.read_text() == before
    (tmp_path / "out.jsonl").write_text("mine")
    answer = label(answers="no\n", session="out.jsonl")
    assert answer.code == 2 and "there is no journal in" in answer.err
    assert (tmp_path / "out.jsonl").read_text() == "mine" and not (tmp_path / "out").exists()


@posix
def test_a_pipe_is_not_a_journal(label: Command, tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    os.mkfifo(tmp_path / "session" / "journal")
    answer = label(answers="no\n")
    assert answer.code == 2 and "journal' is not a file" in answer.err


def test_what_a_kill_left_of_the_first_line_is_begun_anew(label: Command, tmp_path: Path) -> None:
    assert label(answers="no\n").code == 0
    whole = (tmp_path / "session" / "journal").read_bytes().splitlines(keepends=True)[0]
    for length in range(len(whole)):
        session = tmp_path / f"cut{length}"
        session.mkdir()
        (session / "journal").write_bytes(whole[:length])
        if length % 40 in (0, 3, 12):
            assert label(answers="no\n", session=session.name).code == 0
            assert len(records(session)) == 1


def test_a_table_that_is_labelled_already_has_nothing_to_continue(bayeswise: Command, tmp_path: Path) -> None:
    pool = tmp_path / "pool.csv"
    pool.write_text("x,y\n1,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    answer = bayeswise("label", pool, "-t", "y", "-o", tmp_path / "session")
    assert answer.code == 0
    assert "Every row already has a label." in answer.err
    assert "Run the same command to continue." not in answer.err
