"""A check of the rows that were learned says so: it is not a check."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]
WARNING = "These are the rows that the model has learned"


@pytest.mark.parametrize("verb", ["check", "report"])
def test_the_learned_rows_in_any_order_are_known_again(
    bayeswise: Command, golf: Path, golf_model: Path, write: Write, tmp_path: Path, verb: str
) -> None:
    header, *rows = golf.read_text().splitlines(keepends=True)
    words = ["-o", tmp_path / "page.html"] if verb == "report" else []
    answer = bayeswise(verb, golf_model, write(header + "".join(rows[::-1])), "--json", *words)
    assert answer.code == 0
    assert WARNING in answer.err and "--cv loo" in answer.err
    assert json.loads(answer.out)["rows_were_learned"] is True


@pytest.mark.parametrize("change", ["one row less", "one cell changed"])
def test_other_rows_are_checked_without_a_word(
    bayeswise: Command, golf: Path, golf_model: Path, write: Write, change: str
) -> None:
    text = golf.read_text()
    changed = text.replace("weak", "strong", 1) if change == "one cell changed" else text.rsplit("\n", 2)[0] + "\n"
    assert changed != text
    answer = bayeswise("check", golf_model, write(changed), "--json")
    assert answer.code == 0
    assert WARNING not in answer.err
    assert json.loads(answer.out)["rows_were_learned"] is False


def test_left_out_rows_do_not_cause_a_warning(bayeswise: Command, golf: Path, golf_model: Path) -> None:
    answer = bayeswise("check", golf_model, golf, "--cv", "loo")
    assert answer.code == 0
    assert WARNING not in answer.err


def test_a_weighted_table_is_known_by_its_weights(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    table = write("x,n,y\n1,2.5,a\n2,1,a\n5,2,b\n7,1,b\n")
    assert bayeswise("fit", table, "-t", "y", "--model", "naive-bayes", "--weight", "n", "-o", tmp_path / "m").code == 0
    assert WARNING in bayeswise("check", tmp_path / "m", table).err
