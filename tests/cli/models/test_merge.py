"""bayeswise merge: models of some rows add up to the model of all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayeswise as bw
from bayeswise.cli.commands.models.merge import refuse_other_kinds
from bayeswise.foundation.errors import KindError

Command = Callable[..., SimpleNamespace]
Write = Callable[..., Path]


def shards(golf: Path, write: Write) -> list[Path]:
    header, *rows = golf.read_text().splitlines(keepends=True)
    return [write(header + "".join(rows[k::3]), f"shard-{k}.csv") for k in range(3)]


def test_models_of_shards_add_up_to_the_pooled_model(
    bayeswise: Command, golf: Path, golf_model: Path, write: Write, tmp_path: Path
) -> None:
    models = []
    for k, shard in enumerate(shards(golf, write)):
        models.append(tmp_path / f"{k}.bayeswise")
        assert bayeswise("fit", shard, "--like", golf_model, "-o", models[-1]).code == 0
    answer = bayeswise("merge", *models, "-o", tmp_path / "all.bayeswise")
    assert answer.code == 0
    assert (tmp_path / "all.bayeswise").read_bytes() == golf_model.read_bytes()
    assert "together" in answer.out
    assert "14" in answer.out


def test_json_says_what_was_merged(bayeswise: Command, golf_model: Path, tmp_path: Path) -> None:
    answer = bayeswise("merge", golf_model, golf_model, "-o", tmp_path / "two", "--json")
    assert json.loads(answer.out) == {
        "schema": 1,
        "model": str(tmp_path / "two"),
        "replaced": False,
        "merged": [str(golf_model)] * 2,
        "target": "play",
        "rows": 28,
        "classes": {"no": 10, "yes": 18},
    }


def test_a_model_may_be_replaced_by_its_sum(bayeswise: Command, golf_model: Path) -> None:
    answer = bayeswise("merge", golf_model, golf_model, "-o", golf_model)
    assert answer.code == 0
    assert "in place of the file that was there" in answer.err


def test_models_that_do_not_fit_say_where_and_nothing_is_written(
    bayeswise: Command, golf: Path, golf_model: Path, write: Write, tmp_path: Path
) -> None:
    bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "--smoothing", "2", "-o", tmp_path / "smooth")
    bayeswise("fit", golf, "-t", "play", "--model", "naive-bayes", "--ignore", "wind", "-o", tmp_path / "calm")
    bayeswise("fit", golf, "-t", "wind", "--model", "naive-bayes", "-o", tmp_path / "wind")
    for name, what in (
        ("smooth", "their conventions are 'laplace' and 'laplace with smoothing=2.0'"),
        ("calm", "column 'wind' is a category in one and ignored in the other"),
        ("wind", "column 'wind' is in one of them only"),
    ):
        answer = bayeswise("merge", golf_model, tmp_path / name, "-o", tmp_path / "out")
        assert (answer.code, answer.out) == (4, "")
        assert what in answer.err
        assert not (tmp_path / "out").exists()


def test_one_model_alone_cannot_be_merged(bayeswise: Command, golf_model: Path, tmp_path: Path) -> None:
    answer = bayeswise("merge", golf_model, "-o", tmp_path / "out")
    assert answer.code == 2
    assert "two models or more" in answer.err


def test_an_output_is_needed(bayeswise: Command, golf_model: Path) -> None:
    assert bayeswise("merge", golf_model, golf_model).code == 2


def test_a_file_that_is_not_a_model_is_not_replaced(bayeswise: Command, golf_model: Path, write: Write) -> None:
    notes = write("notes", "notes.txt")
    assert bayeswise("merge", golf_model, golf_model, "-o", notes).code == 2
    assert notes.read_text() == "notes"


def test_models_of_different_kinds_cannot_be_merged(bayeswise: Command, golf_model: Path, write: Write) -> None:
    from bayeswise.models import gaussian_bayes

    other = golf_model.with_name("gaussian")
    gaussian_bayes.fit(str(write("x,y\n1,a\n2,a\n4,b\n7,b\n")), target="y").save(other)
    answer = bayeswise("merge", golf_model, other, "-o", golf_model.with_name("out"))
    assert answer.code == 4
    assert "merge models of one kind" in answer.err


def test_kinds_of_models_have_their_article() -> None:
    rows = [{"x": x, "y": y} for x, y in zip("abab", "nyny", strict=True)] * 3
    auto, plain = bw.fit(rows, "y"), bw.fit(rows, "y", model="naive-bayes")
    with pytest.raises(KindError, match="one is an auto model and two a naive-bayes model"):
        refuse_other_kinds(["one", "two"], [auto, plain])
