"""Rows that are written: the suffix of the file says in which form, and the form is what it promises."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import math
import unicodedata
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

import bayeswise as bw
from bayeswise.cli.app import VERBS
from bayeswise.cli.output.table_text import _STARTS_A_CELL, CsvText, guarded
from bayeswise.tables.source import open_source

Command = Callable[..., SimpleNamespace]

TABLE = "id,zip,size,kind,y\n" + "1,0007,1.50,a,yes\n2,1234,NA,b,no\n3,0815,-3,,yes\n4,0001,2e1,a,no\n" * 3
NEW = "id,zip,size,kind\n1,0007,1.50,a\n2,1234,NA,b\n3,0815,-3,\n"


@pytest.fixture
def model(write: Callable[..., Path], tmp_path: Path) -> Path:
    path = tmp_path / "y.bayeswise"
    bw.fit(str(write(TABLE)), target="y", model="naive-bayes").save(path)
    return path


@pytest.fixture
def costs(write: Callable[..., Path]) -> Path:
    return write("action,no,yes\ngo,1,0\nstay,0,3\n", "costs.csv")


def read(path: Path) -> list[dict[str, Any]]:
    """What other readers than ours find in the file."""
    packed = path.read_bytes()
    data = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix, lambda data: data)(packed)
    form = path.name.split(".")[1]
    if form == "parquet":
        return list(pq.read_table(io.BytesIO(data)).to_pylist())
    if form in ("jsonl", "ndjson"):
        return [json.loads(line, parse_constant=pytest.fail) for line in data.decode().splitlines()]
    if form == "json":
        return list(json.loads(data, parse_constant=pytest.fail))
    return list(csv.DictReader(io.StringIO(data.decode()), delimiter="\t" if form == "tsv" else ","))


def test_every_document_of_json_begins_with_the_version_of_its_form(
    bayeswise: Command, golf: Path, golf_model: Path, tmp_path: Path
) -> None:
    examples = golf.parent
    rows, bif, oil, out = examples / "golf-tomorrow.csv", examples / "asia.bif", examples / "oil.toml", tmp_path / "o"
    row = ("--row", "outlook=sunny", "wind=weak")
    costs = tmp_path / "costs.csv"
    costs.write_text("action,no,yes\ngo,1,0\nstay,0,3\n")
    commands = {
        "look": (golf, "-t", "play"),
        "fit": (golf, "-t", "play", "--model", "naive-bayes", "-o", out),
        "predict": (golf_model, rows),
        "init-decision": (golf, "-t", "play"),
        "decide": (golf_model, rows, "--costs", costs),
        "check": (golf_model, golf, "--costs", costs),
        "report": (golf_model, golf, "--costs", costs, "-o", tmp_path / "report.html"),
        "thresholds": ("--costs", costs),
        "next-test": (golf_model, *row, "--costs", costs, "--price", "humidity=0.1"),
        "explain": (golf_model, *row),
        "inspect": (golf_model,),
        "export": (golf_model, "--sql", "duckdb"),
        "merge": (golf_model, golf_model, "-o", out),
        "forget": (golf_model, examples / "golf-regretted.csv", "-o", out),
        "bayes": ("--prior", "a=.1", "b=.9", "--likelihood", "x:a=.5", "x:b=.25", "--observe", "x"),
        "likelihood": ("poisson", "--data", "2", "4", "3"),
        "beliefs": ("beta:successes=1,failures=1", "--data", "1", "0"),
        "concept": (golf, "-t", "play"),
        "network query": (bif, "lung", "--given", "smoke=yes"),
        "network show": (bif,),
        "network explain": (bif, "lung", "--given", "smoke=yes"),
        "network effect": (bif, "smoke", "lung"),
        "network conflict": (bif, "--given", "smoke=yes", "lung=yes"),
        "network edit": (bif, "-o", tmp_path / "edited.bif", "--remove-node", "xray"),
        "network learn": (golf, "-o", tmp_path / "learned.bif"),
        "diagram solve": (oil,),
        "diagram value": (oil,),
        "diagram tornado": (oil,),
        "diagram sensitivity": (oil, "report", "open", "--case", "test=yes", "oil=dry"),
        "diagram show": (oil,),
        "label": (golf, "-t", "play", "-o", tmp_path / "session"),
        "compare": (golf, "-t", "play", "--models", "naive-bayes,logistic"),
    }
    for verb, words in commands.items():
        answer = bayeswise(*verb.split(), *words, "--json")
        assert answer.code in (0, 5), (verb, answer.err)
        document = answer.out.splitlines()[0] if verb == "label" else answer.out
        assert next(iter(json.loads(document).items())) == ("schema", 1), verb
    covered = {verb.split()[0] for verb in commands}
    without = {"serve", "densities"}  # a server; a picture, whose tests are elsewhere
    assert covered | without == set(VERBS)


@pytest.mark.parametrize("verb", ["predict", "decide"])
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "ndjson", "json", "parquet", "csv.gz", "csv.bz2", "jsonl.gz"])
def test_the_suffix_says_the_form(
    bayeswise: Command, write: Callable[..., Path], model: Path, costs: Path, tmp_path: Path, verb: str, form: str
) -> None:
    new, out = write(NEW, "new.csv"), tmp_path / f"out.{form}"
    options = ["--proba"] if verb == "predict" else ["--costs", costs]
    answer = bayeswise(verb, model, new, "-o", out, *options)
    assert answer.code == 0, answer.err
    rows = read(out)
    assert len(rows) == 3
    assert [row["zip"] for row in rows] == ["0007", "1234", "0815"]
    typed = form.split(".")[0] not in ("csv", "tsv")
    assert [row["size"] for row in rows] == ([1.5, None, -3] if typed else ["1.50", "NA", "-3"])
    assert [row["kind"] for row in rows] == (["a", "b", None] if typed else ["a", "b", ""])
    assert all(math.isclose(float(row["p_no"]) + float(row["p_yes"]), 1.0) for row in rows)
    if typed:
        assert all(type(row["p_no"]) is float for row in rows)
    assert open_source(out).columns[0].name == "id"


@pytest.mark.parametrize(
    "suffix", ["xlsx", "db", "arrow", "csv.zst", "bayeswise", "parquet.gz", "jsonl.bz2", "out", "cvs"]
)
def test_a_form_that_cannot_be_written_is_refused_before_the_work(
    bayeswise: Command, write: Callable[..., Path], model: Path, tmp_path: Path, suffix: str
) -> None:
    answer = bayeswise("predict", model, write(NEW, "new.csv"), "-o", tmp_path / f"out.{suffix}")
    assert answer.code == 2
    assert "rows cannot be written as" in answer.err and "Fix: name a file that ends in" in answer.err
    assert not (tmp_path / f"out.{suffix}").exists()


def test_a_format_against_the_suffix_is_refused(
    bayeswise: Command, write: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    new = write(NEW, "new.csv")
    for options in (["--format", "csv"], ["--json"]):
        answer = bayeswise("predict", model, new, "-o", tmp_path / "out.parquet", *options)
        assert answer.code == 2 and "promises parquet" in answer.err
    assert bayeswise("predict", model, new, "-o", tmp_path / "out.data", "--format", "parquet").code == 0
    assert pq.read_table(tmp_path / "out.data").num_rows == 3


def test_without_a_suffix_rows_are_csv_and_a_requested_form_needs_none(
    bayeswise: Command, write: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    new = write(NEW, "new.csv")
    assert bayeswise("predict", model, new, "-o", tmp_path / "rows").code == 0
    assert bayeswise("predict", model, new, "-o", tmp_path / "rows.out", "--format", "csv").code == 0
    assert (tmp_path / "rows").read_bytes() == (tmp_path / "rows.out").read_bytes()
    refused = bayeswise("predict", model, new, "-o", tmp_path / "rows.xlsx", "--format", "csv")
    assert refused.code == 2 and "--format" not in refused.err


def test_parquet_has_types_also_without_rows_and_with_odd_cells(
    bayeswise: Command, write: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    assert bayeswise("predict", model, write("id,zip,size,kind\n", "none.csv"), "-o", out).code == 0
    types = {field.name: str(field.type) for field in pq.read_schema(out)}
    assert types == {"id": "double", "zip": "string", "size": "double", "kind": "string", "y": "string"}
    rows = "".join(f"{k},1,{k}.5,a\n" for k in range(200)) + "200,1,oops,a\n"
    assert bayeswise("predict", model, write("id,zip,size,kind\n" + rows, "odd.csv"), "-o", out).code == 0
    assert str(pq.read_schema(out).field("size").type) == "string"
    assert pq.read_table(out)["size"].to_pylist()[-2:] == ["199.5", "oops"]


def test_names_that_differ_in_case_do_not_become_one_in_parquet(
    bayeswise: Command, write: Callable[..., Path], model: Path, tmp_path: Path
) -> None:
    new = write("Size," + NEW.replace("\n", "\n1,").removesuffix("1,"), "new.csv")
    answer = bayeswise("predict", model, new, "-o", tmp_path / "out.parquet")
    assert answer.code == 2 and "'Size' and 'size' would be one" in answer.err
    assert not (tmp_path / "out.parquet").exists()


HIDDEN = [
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\u00a0=1",
    "\ufeff=1",
    "\u200b=1",
    "\uff1d1",
    " \uff0b1",
    "\uff0dx",
    "\uff20x",
]


@pytest.mark.parametrize("cell", ["=1", "+cmd", "-1+1", "@x", "\tx", *HIDDEN])
def test_nothing_before_a_formula_hides_it(cell: str) -> None:
    assert guarded(cell) == "'" + cell
    for text in (CsvText().begin([cell]), CsvText().rows([["plain", cell]], safe=[False])):
        assert "'" + cell in [row[0] for row in csv.reader(io.StringIO(text.decode(), newline="")) if row]


@pytest.mark.parametrize("cell", ["-3.5", "+5", " -3", "-1e-5", "-1,5", "a=b", "x", "", " ", "'=1", "5-3"])
def test_numbers_and_plain_text_stay_as_they_are(cell: str) -> None:
    assert guarded(cell) == cell


def test_every_letter_that_reads_as_a_sign_is_known() -> None:
    alike = [chr(k) for k in range(0x110000) if unicodedata.normalize("NFKC", chr(k))[:1] in set("=+-@")]
    assert len(alike) > 15 and [sign for sign in alike if not _STARTS_A_CELL.match(sign)] == []
