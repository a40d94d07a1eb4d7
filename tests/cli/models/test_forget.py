"""bayeswise forget: the model that never saw these rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]


def split(golf: Path, write: Write) -> tuple[Path, Path]:
    header, *rows = golf.read_text().splitlines(keepends=True)
    return write(header + "".join(rows[:4]), "gone.csv"), write(header + "".join(rows[4:]), "kept.csv")


def test_the_new_model_is_byte_for_byte_the_one_that_never_saw_the_rows(
    bayeswise: Command, golf: Path, golf_model: Path, write: Write, tmp_path: Path
) -> None:
    gone, kept = split(golf, write)
    assert bayeswise("fit", kept, "-t", "play", "--model", "naive-bayes", "-o", tmp_path / "never").code == 0
    answer = bayeswise("forget", golf_model, gone, "-o", tmp_path / "new")
    assert answer.code == 0
    assert "Forgot 4 rows of gone.csv." in answer.out
    assert (tmp_path / "new").read_bytes() == (tmp_path / "never").read_bytes()


def test_rows_can_come_through_a_pipe_and_the_model_can_be_replaced(
    bayeswise: Command, golf: Path, golf_model: Path, write: Write
) -> None:
    gone, _ = split(golf, write)
    answer = bayeswise("forget", golf_model, "-", "-o", golf_model, "--json", stdin=gone.read_bytes())
    assert json.loads(answer.out) == {
        "schema": 1,
        "model": str(golf_model),
        "replaced": True,
        "source": "standard input",
        "rows": 4,
        "weight_forgotten": 4,
        "target": "play",
        "rows_left": 10,
        "classes": {"no": 3, "yes": 7},
        "kept_selection": [],
    }


def test_rows_that_were_never_learned_are_refused_and_nothing_is_written(
    bayeswise: Command, golf: Path, golf_model: Path, write: Write, tmp_path: Path, partials: Callable[[], list[Any]]
) -> None:
    never = write(golf.read_text().replace("yes", "no"))
    before = golf_model.read_bytes()
    for out in (tmp_path / "new", golf_model):
        answer = bayeswise("forget", golf_model, never, "-o", out)
        assert (answer.code, answer.out) == (4, "")
        assert "cannot all have been learned" in answer.err
    assert golf_model.read_bytes() == before
    assert not (tmp_path / "new").exists()
    assert partials() == []


def test_rows_without_a_target_are_reported(bayeswise: Command, golf_model: Path, write: Write, tmp_path: Path) -> None:
    rows = write("outlook,temperature,humidity,wind,play\nsunny,hot,high,weak,no\nsunny,hot,high,weak,\n")
    page = bayeswise("forget", golf_model, rows, "-o", tmp_path / "new").out
    assert "Forgot 1 row of table.csv." in page
    assert "1 row without a target had never been learned." in page


def test_a_table_without_the_target_is_refused(
    bayeswise: Command, golf_model: Path, write: Write, tmp_path: Path
) -> None:
    answer = bayeswise(
        "forget", golf_model, write("outlook,temperature,humidity,wind\na,b,c,d\n"), "-o", tmp_path / "new"
    )
    assert answer.code == 4
    assert "'play'" in answer.err


def test_weighted_rows_are_reported_by_weight(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    table = write("x,n,y\n1,2.5,a\n2,1,a\n5,2,b\n7,1,b\n")
    bayeswise("fit", table, "-t", "y", "--model", "naive-bayes", "--weight", "n", "-o", tmp_path / "m")
    page = bayeswise("forget", tmp_path / "m", write("x,n,y\n1,2.5,a\n", "gone.csv"), "-o", tmp_path / "new").out
    assert "Forgot 1 row of gone.csv, of weight 2.5." in page


def test_all_rows_can_be_forgotten(bayeswise: Command, golf: Path, golf_model: Path) -> None:
    page = bayeswise("forget", golf_model, golf, "-o", golf_model).out
    assert "The model has no rows left" in page
    answer = bayeswise("predict", golf_model, golf)
    assert answer.code == 4
    assert "learned no rows" in answer.err


def test_the_rows_cannot_be_the_output(bayeswise: Command, golf_model: Path, golf: Path, write: Write) -> None:
    rows = write(golf.read_text())
    assert bayeswise("forget", golf_model, rows, "-o", rows).code == 2
    assert rows.read_text() == golf.read_text()


def test_a_regression_of_numbers_needs_no_remaining_rows(bayeswise: Command, tmp_path: Path) -> None:
    table, gone, model = tmp_path / "t.csv", tmp_path / "gone.csv", tmp_path / "m.bayeswise"
    table.write_text("x,y\n" + "".join(f"{k},{2 * k + 1}\n" for k in range(30)))
    gone.write_text("x,y\n3,7\n")
    assert bayeswise("fit", table, "-t", "y", "--model", "linear", "-o", model).code == 0
    answer = bayeswise("forget", model, gone, "--rows", table, "-o", tmp_path / "less.bayeswise")
    assert answer.code == 2
    assert "leave --rows out" in answer.err
    assert bayeswise("forget", model, gone, "-o", tmp_path / "less.bayeswise").code == 0


def linear_rows(n: int) -> str:
    """Rows whose class depends on a sum of three numbers."""
    generator = np.random.default_rng(3)
    a, b, c, noise = generator.normal(size=(4, n)).round(4)
    y = np.where(2 * a + b + c + 0.5 * noise > 0, "p", "n")
    return "a,b,c,y\n" + "".join(f"{i},{j},{k},{y_}\n" for i, j, k, y_ in zip(a, b, c, y, strict=True))


@pytest.mark.parametrize("kind", ["tree", "logistic", "logistic --calibrate platt", "auto"])
def test_any_model_of_classes_is_learned_again_from_the_remaining_rows(
    bayeswise: Command, kind: str, write: Write, tmp_path: Path
) -> None:
    header, *rows = linear_rows(300).splitlines(keepends=True)
    table, gone, kept = (
        write(header + "".join(part), name)
        for part, name in ((rows, "all.csv"), (rows[:3], "gone.csv"), (rows[3:], "kept.csv"))
    )
    for source, name in ((table, "model"), (kept, "never")):
        assert bayeswise("fit", source, "-t", "y", "--model", *kind.split(), "-o", tmp_path / name).code == 0
    answer = bayeswise("forget", tmp_path / "model", gone, "--rows", kept, "-o", tmp_path / "new")
    assert (answer.code, answer.err.count("Forgot")) == (0, 0)
    assert "Forgot 3 rows of gone.csv." in answer.out
    assert (tmp_path / "new").read_bytes() == (tmp_path / "never").read_bytes()


def test_a_mixture_of_regressions_alone_is_learned_again(bayeswise: Command, write: Write, tmp_path: Path) -> None:
    header, *rows = linear_rows(1_000).splitlines(keepends=True)
    table, gone, kept = (
        write(header + "".join(part), name)
        for part, name in ((rows, "all.csv"), (rows[:3], "gone.csv"), (rows[3:], "kept.csv"))
    )
    for source, name in ((table, "model"), (kept, "never")):
        assert bayeswise("fit", source, "-t", "y", "--choose", "best", "-o", tmp_path / name).code == 0
    (member,) = json.loads(bayeswise("inspect", tmp_path / "model", "--json").out)["mixture"]["members"]
    assert member.startswith("logistic")
    assert bayeswise("forget", tmp_path / "model", gone, "-o", tmp_path / "new").code == 4
    assert bayeswise("forget", tmp_path / "model", gone, "--rows", kept, "-o", tmp_path / "new").code == 0
    assert (tmp_path / "new").read_bytes() == (tmp_path / "never").read_bytes()


@pytest.mark.parametrize("kind", ["tree", "logistic"])
def test_weights_of_classes_say_that_other_rows_remain(
    bayeswise: Command, kind: str, write: Write, tmp_path: Path
) -> None:
    header, *rows = linear_rows(60).splitlines(keepends=True)
    table, gone = write(header + "".join(rows), "all.csv"), write(header + "".join(rows[:3]), "gone.csv")
    odd = write(header + "".join(rows[3:]) + "1,2,3,third\n", "odd.csv")
    assert bayeswise("fit", table, "-t", "y", "--model", kind, "-o", tmp_path / "model").code == 0
    assert "--rows" in bayeswise("forget", tmp_path / "model", gone, "-o", tmp_path / "new").err
    for remaining in (table, odd):
        answer = bayeswise("forget", tmp_path / "model", gone, "--rows", remaining, "-o", tmp_path / "new")
        assert answer.code == 4, remaining
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", ["tan", "k-dependence", "markov-blanket", "naive-bayes"])
def test_what_forgotten_rows_helped_to_select_is_named(bayeswise: Command, tmp_path: Path, kind: str) -> None:
    """Cuts are quantiles of all rows: without --rows they stay, and the file is not that of the remaining rows."""
    draw = np.random.default_rng(0)
    rows = [f"{draw.normal():.3f},{draw.integers(0, 3)}x,{'yn'[draw.integers(0, 2)]}\n" for _ in range(60)]
    files = {"all": rows, "gone": rows[:20], "rest": rows[20:]}
    for name, lines in files.items():
        (tmp_path / f"{name}.csv").write_text("a,b,y\n" + "".join(lines))
    model, less, again = (tmp_path / f"{name}.bayeswise" for name in ("model", "less", "again"))
    assert bayeswise("fit", tmp_path / "all.csv", "-t", "y", "--model", kind, "-o", model).code == 0
    answer = bayeswise("forget", model, tmp_path / "gone.csv", "-o", less)
    noted = "selected with the forgotten rows" in answer.err and "forget --rows REMAINING.csv" in answer.err
    assert answer.code == 0 and noted == (kind != "naive-bayes")
    assert ("selected with the forgotten rows" in bayeswise("inspect", less).err) == noted
    answer = bayeswise("forget", model, tmp_path / "gone.csv", "--rows", tmp_path / "rest.csv", "-o", again)
    assert answer.code == 0 and "selected with" not in answer.err + bayeswise("inspect", again).err
