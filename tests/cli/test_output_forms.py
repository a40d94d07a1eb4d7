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
from bayeswise.cli.output.table_text import _STARTS_A_CELL, CsvText, guarded
from bayeswise.tables.source import open_source

Command = Callable[..., SimpleNamespace]

TABLE = "id,zip,size,kind,y\n" + "1,0007,1.50,a,yes\n2,1234,NA,b,no\n3,0815,-3,,yes\n4,0001,2e1,a,no\n" * 3
NEW = "id,zip,size,kind\n1,0007,1.50,a\n2,1234,NA,b\n3,0815,-3,\n"


@pytest.fixture
def model(write: Callable[..., Path], tmp_path: Path) -> Path:
    path = tmp_path / "y.bayeswise"
    bw.fit(str(write(TABLE)), target="y").save(path)
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


@pytest.mark.parametrize("suffix", ["xlsx", "db", "arrow", "csv.zst", "ods", "bayeswise", "parquet.gz", "jsonl.bz2"])
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
