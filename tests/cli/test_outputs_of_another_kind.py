"""A file that is there is replaced by one of its kind only, whatever verb writes it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import bayeswise as bw
from bayeswise.cli.output.file_kinds import FILE_KINDS, kind_of_suffix
from tests.paths import GOLF

Command = Callable[..., SimpleNamespace]

BIF = GOLF.parent / "asia.bif"


def words_of(verb: str, model: Path, golf: Path, out: Path) -> list[object]:
    """A command that writes `out`."""
    return {
        "report": ["report", model, golf, "-o", out],
        "sql": ["export", model, "--sql", "duckdb", "-o", out],
        "onnx": ["export", model, "--onnx", out],
        "explain": ["explain", model, golf, "--html", out],
        "init-decision": ["init-decision", golf, "-t", "play", "-o", out],
        "fit": ["fit", golf, "-t", "play", "--model", "naive-bayes", "-o", out],
        "merge": ["merge", model, model, "-o", out],
    }[verb]


WRITERS = ("report", "sql", "onnx", "explain", "init-decision", "fit", "merge")


@pytest.mark.parametrize("verb", WRITERS)
def test_a_table_is_not_replaced_by_something_else(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path, verb: str
) -> None:
    for name in ("train.csv", "train"):  # the suffix is of another kind; the first bytes are
        table = tmp_path / name
        table.write_bytes(golf.read_bytes())
        answer = bayeswise(*words_of(verb, golf_model, golf, table))
        assert answer.code == 2, answer
        assert "Fix: name" in answer.err
        assert table.read_bytes() == golf.read_bytes()


@pytest.mark.parametrize("verb", ["report", "sql", "onnx", "explain", "init-decision"])
def test_a_model_is_not_replaced_by_something_else(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path, verb: str
) -> None:
    other = tmp_path / "other.bayeswise"
    other.write_bytes(golf_model.read_bytes())
    answer = bayeswise(*words_of(verb, golf_model, golf, other))
    assert answer.code == 2
    assert "is the suffix of a model" in answer.err
    assert other.read_bytes() == golf_model.read_bytes()


WRITTEN = ("html", "sql", "onnx", "html", "toml", "bayeswise", "bayeswise")


@pytest.mark.parametrize(
    ("verb", "suffix"),
    list(zip(WRITERS, WRITTEN, strict=True)),
)
def test_a_file_of_the_same_kind_is_replaced(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path, verb: str, suffix: str
) -> None:
    out = tmp_path / f"out.{suffix}"
    for _ in range(2):
        assert bayeswise(*words_of(verb, golf_model, golf, out)).code == 0
    out.write_bytes(b"")  # an empty file is free
    assert bayeswise(*words_of(verb, golf_model, golf, out)).code == 0


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json", "parquet", "csv.gz", "jsonl.gz"])
def test_predictions_replace_predictions_and_no_page(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path, form: str
) -> None:
    out = tmp_path / f"answers.{form}"
    for _ in range(2):
        assert bayeswise("predict", golf_model, golf, "-o", out).code == 0
    page = b"<!doctype html><html></html>"
    out.write_bytes(gzip.compress(page) if form.endswith(".gz") else page)
    answer = bayeswise("predict", golf_model, golf, "-o", out)
    assert answer.code == 2
    assert "exists and is not" in answer.err
    assert b"html" in (gzip.decompress(out.read_bytes()) if form.endswith(".gz") else out.read_bytes())


def test_rows_are_not_written_under_the_suffix_of_a_model_or_page(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path
) -> None:
    for name in ("rows.html", "rows.toml", "rows.sql"):
        answer = bayeswise("predict", golf_model, golf, "-o", tmp_path / name, "--format", "csv")
        assert answer.code == 2
        assert "is the suffix of" in answer.err


@pytest.mark.parametrize("name", ["a.bif", "a.xmlbif", "a.net", "a.xdsl", "a.dne", "a.uai", "a.bif.gz"])
def test_a_network_replaces_a_network_of_its_format(bayeswise: Command, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    for _ in range(2):
        assert bayeswise("network", "convert", BIF, out).code == 0
    out.write_text("x,y\n1,2\n")
    answer = bayeswise("network", "convert", BIF, out)
    assert answer.code == 2
    assert "exists and is not" in answer.err
    assert out.read_text() == "x,y\n1,2\n"


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_a_drawing_of_a_network_replaces_only_a_drawing(bayeswise: Command, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"asia.{suffix}"
    for _ in range(2):
        assert bayeswise("network", "show", BIF, f"--{suffix}", out).code == 0
    model = tmp_path / "asia.bayeswise"
    model.write_bytes(b"anything")
    answer = bayeswise("network", "show", BIF, f"--{suffix}", model)
    assert answer.code == 2
    assert model.read_bytes() == b"anything"


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_replaces_only_a_picture(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"why.{suffix}"
    for _ in range(2):
        assert bayeswise("explain", golf_model, golf, "--png", out).code == 0
    out.write_text("notes of mine\n")
    assert bayeswise("explain", golf_model, golf, "--png", out).code == 2
    assert out.read_text() == "notes of mine\n"


def test_every_kind_of_file_has_suffixes_of_its_own() -> None:
    suffixes = [suffix for kind in FILE_KINDS.values() for suffix in kind.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(kind_of_suffix(f"x{suffix}") is not None for suffix in suffixes)


def test_a_table_may_begin_with_the_word_of_a_network_file(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    out.write_text("class,node\na,b\n")
    assert bayeswise("predict", golf_model, golf, "-o", out).code == 0
    assert bw.load(golf_model).schema.target.name in out.read_text()
