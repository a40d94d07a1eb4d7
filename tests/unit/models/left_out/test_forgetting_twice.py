"""Rows that were forgotten are not forgotten again, and the model file does not show that anything was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bayeswise as bw
from bayeswise.foundation.errors import NotMergedError, StoreError
from bayeswise.models.files import bytes_of
from tests.paths import GOLF

GONE = {"wind": ["weak", "weak"], "play": ["yes", "no"]}
ROWS = {"wind": ["weak", "weak", "strong", "weak", "weak"], "play": ["yes", "no", "no", "yes", "no"]}


def swapped(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: cells[::-1] for name, cells in rows.items()}


@pytest.mark.parametrize(
    "settings", [{"model": kind} for kind in ("naive-bayes", "tan", "averaged")], ids=["naive", "tan", "averaged"]
)
def test_the_same_rows_in_any_order_are_refused_the_second_time(settings: dict[str, str]) -> None:
    less = bw.fit(ROWS, "play", **settings).forget(GONE)
    with pytest.raises(NotMergedError, match="has forgotten these rows before"):
        less.forget(swapped(GONE))
    assert len(bw.fit(ROWS, "play", **settings).forget(GONE).forget(GONE, again=True).classes) == 1


def test_a_regression_remembers_too() -> None:
    rows = {"x": [0.0, 1.0, 2.0, 1.0, 3.0], "y": [0.0, 1.0, 2.1, 1.0, 3.0]}
    gone = {"x": [1.0], "y": [1.0]}
    less = bw.fit(rows, "y", model="linear").forget(gone)
    with pytest.raises(NotMergedError, match="has forgotten these rows before"):
        less.forget(gone)
    assert less.forget(gone, again=True).n_rows == 3


def test_the_history_is_not_part_of_the_model() -> None:
    less, never = (
        bw.fit(ROWS, "play", model="naive-bayes").forget(GONE),
        bw.fit({k: v[2:] for k, v in ROWS.items()}, "play", model="naive-bayes"),
    )
    assert less == never
    assert bytes_of(less) == bytes_of(never)


def test_what_was_learned_again_can_be_forgotten_again() -> None:
    model = bw.fit(ROWS, "play", model="naive-bayes")
    assert model.forget(GONE).learn(GONE).forget(GONE) == model.forget(GONE)
    back = model.forget(GONE)
    shard = back.learn(GONE).forget({k: v[2:] for k, v in ROWS.items()})
    assert back.merge(shard) == model


def test_no_rows_can_be_forgotten_any_number_of_times() -> None:
    model = bw.fit(ROWS, "play", model="naive-bayes")
    nothing = {"wind": ["weak"], "play": [None]}
    assert model.forget(nothing).forget(nothing) == model


def test_the_ledger_beside_a_file_is_that_of_the_model_in_it(tmp_path: Path) -> None:
    path, ledger = tmp_path / "m", tmp_path / "m.forgotten"
    model = bw.fit(ROWS, "play", model="naive-bayes")
    model.forget(GONE).save(path)
    with pytest.raises(NotMergedError, match="has forgotten these rows before"):
        bw.load(path).forget(GONE)
    before = ledger.read_bytes()
    model.save(tmp_path / "other")
    (tmp_path / "other").replace(path)  # the model was put back; its ledger is about another one
    assert ledger.read_bytes() == before
    bw.load(path).forget(GONE).save(path)
    bw.fit(ROWS, "play", model="naive-bayes").save(path)
    assert not ledger.exists()


def test_a_kill_between_ledger_and_model_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    model = bw.fit(ROWS, "play", model="naive-bayes")
    more = {"wind": ["strong"], "play": ["no"]}
    model.forget(GONE).save(path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayeswise.models.files.write_bytes", killed)
    with pytest.raises(KeyboardInterrupt):
        bw.load(path).forget(more).save(path)
    monkeypatch.undo()
    bw.load(path).forget(more).save(path)  # had not happened yet
    for rows in (GONE, more):
        with pytest.raises(NotMergedError):
            bw.load(path).forget(rows)


@pytest.mark.parametrize("content", [b"notes of my own\n", b"[" * 100_000, b'{"model": 1}\n', b"\xff\xfe\n"])
def test_a_file_that_is_not_a_ledger_is_neither_believed_nor_removed(tmp_path: Path, content: bytes) -> None:
    path, ledger = tmp_path / "m", tmp_path / "m.forgotten"
    ledger.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be read"):
        bw.fit(ROWS, "play", model="naive-bayes").save(path)
    assert ledger.read_bytes() == content
    ledger.unlink()
    bw.fit(ROWS, "play", model="naive-bayes").save(path)
    ledger.write_bytes(content)
    model = bw.load(path)
    assert model.predict(GONE) == ["no", "no"]
    with pytest.raises(StoreError, match="cannot be read"):
        model.forget(GONE)


def test_the_command_refuses_a_second_time_and_writes_nothing(
    bayeswise: Callable[..., SimpleNamespace], tmp_path: Path
) -> None:
    table, gone, model = tmp_path / "t.csv", tmp_path / "gone.csv", tmp_path / "m"
    text = GOLF.read_text()
    header, *rows = text.splitlines(keepends=True)
    table.write_text(header + "".join(rows) + rows[0])
    gone.write_text(header + rows[0])
    assert bayeswise("fit", table, "-t", "play", "--model", "naive-bayes", "-o", model).code == 0
    assert bayeswise("forget", model, gone, "-o", model).code == 0
    after = model.read_bytes()
    answer = bayeswise("forget", model, gone, "-o", model)
    assert answer.code == 4
    assert "has forgotten these rows before" in answer.err and "--again" in answer.err
    assert model.read_bytes() == after
    assert bayeswise("forget", model, gone, "-o", model, "--again").code == 0
    bw.fit({**_cells(header, rows[1:])}, "play", model="naive-bayes").save(tmp_path / "never")
    assert model.read_bytes() == (tmp_path / "never").read_bytes()


def _cells(header: str, rows: list[str]) -> dict[str, list[str]]:
    columns = zip(*(row.strip().split(",") for row in rows), strict=True)
    return dict(zip(header.strip().split(","), map(list, columns), strict=True))
