"""Tables that were once answered with a raw exception, a crash or a silent change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sparse
from pyarrow import feather
from sweeps import labels_of, numbers_of

import bayeswise as bw
from bayeswise.cli import main
from bayeswise.foundation.errors import BayeswiseError, SchemaError, SourceError
from bayeswise.tables.schema.profile import profile
from bayeswise.tables.source import open_source

COMPLEX = np.array([1 + 2j, 3 - 1j])
WITH_COMPLEX: dict[str, Any] = {
    "matrix": np.array([[1.0, 2.0], COMPLEX]).T,
    "masked": np.ma.array(np.array([[1.0, 2.0], COMPLEX]).T, mask=False),
    "objects": np.array([[1, COMPLEX[0]]], dtype=object),
    "arrays": {"x0": np.array([1.0, 2.0]), "x1": COMPLEX},
    "lists": {"x0": [1, 2], "x1": list(COMPLEX)},
    "plain": {"x0": [1, 2], "x1": [1 + 2j, None]},
    "dicts": [{"x0": 1, "x1": 1j}],
    "pandas": pd.DataFrame({"x0": [1, 2], "x1": COMPLEX}),
    "records": np.array([(1, 1j)], dtype=[("x0", int), ("x1", complex)]),
}


@pytest.mark.parametrize("form", WITH_COMPLEX)
def test_complex_numbers_are_refused_by_name(form: str) -> None:
    name = "x0" if form in ("matrix", "masked") else "x1"  # an array has one type
    with pytest.raises(SourceError, match=rf"column '{name}' holds complex numbers. Fix: give their real"):
        open_source(WITH_COMPLEX[form])


def test_sparse_complex_numbers_and_single_rows_are_refused() -> None:
    with pytest.raises(SourceError, match="holds complex numbers"):
        open_source(sparse.csr_array(np.array([[1j]])))
    with pytest.raises(SourceError, match=r"a sparse array of shape \(3,\) is not a table"):
        open_source(sparse.coo_array(np.array([1.0, 0.0, 2.0])))


def test_fields_of_a_record_need_no_alignment() -> None:
    records = np.array([(True, 1.5, 7), (False, 2.5, 8)], dtype=[("flag", "?"), ("x", "<f8"), ("n", ">i4")])
    assert (numbers_of(records, "x"), numbers_of(records, "n")) == ([1.5, 2.5], [7.0, 8.0])


def test_masked_text_is_missing_where_the_mask_says_so() -> None:
    table = np.ma.array([["a", "b"], ["c", "d"]], mask=[[False, True], [False, False]])
    assert (labels_of(table, "x0"), labels_of(table, "x1")) == (["a", "c"], [None, "d"])


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"x\0y": [1]}),
        pl.DataFrame({"x\0y": [1]}).lazy(),
        pl.DataFrame({"x": [[{"a\0": 1}]]}),
        pa.table({"x\0y": [1]}),
    ],
    ids=["polars", "lazy", "struct", "pyarrow"],
)
def test_a_zero_byte_in_a_name_neither_cuts_it_nor_ends_the_process(table: Any) -> None:
    with pytest.raises(SchemaError, match=r"has a zero byte. Fix: rename the column"):
        open_source(table)


LONG = "n" * 10_000
MISTAKES: dict[str, Any] = {
    "no such column": lambda: open_source({LONG: [1]}).chunks(["x"]).__next__(),
    "requested": lambda: open_source({"x": [1]}).chunks([LONG]).__next__(),
    "twice": lambda: open_source(pd.DataFrame([[1, 2]], columns=[LONG, LONG])),
    "same after strip": lambda: open_source({LONG: [1], LONG + " ": [2]}),
    "lengths": lambda: open_source({LONG: [1], "x": [1, 2]}),
    "shape": lambda: open_source({LONG: np.zeros((2, 2)), "x": np.zeros(2)}),
    "complex": lambda: open_source({LONG: [1j]}),
    "no labels": lambda: labels_of({LONG: [[1]]}, LONG),
    "no file": lambda: open_source(LONG),
    "no pattern": lambda: open_source(LONG + "*"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_long_name_is_cut_in_every_message(mistake: str) -> None:
    with pytest.raises(BayeswiseError) as error:
        MISTAKES[mistake]()
    assert len(str(error.value)) < 1000
    assert "Fix: " in str(error.value)


def test_names_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"colname_abc": [1, 2]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"colname_abc", b"col\xffame_a\xfec"))
    with pytest.raises(BayeswiseError, match=r"odd.parquet has a column whose name is not UTF-8. Fix: rename"):
        open_source(path)
    with pytest.raises(SchemaError, match=r"pyarrow Table has a column whose name is not UTF-8"):
        open_source(pa.table({b"\xff": [1]}))


def raw_text(cells: list[bytes]) -> Any:
    """An Arrow column of text that nobody has checked."""
    offsets = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(cells))]
    return pa.Array.from_buffers(pa.string(), len(cells), buffers)


RAW = [b"caf\xc3\xa9", b"tea", b"caf\xe9", b"tea"]
NOT_UTF8 = r"column 'x' holds bytes that are not UTF-8 in row 3\. Fix: decode them"


@pytest.mark.parametrize("form", ["text", "dictionary", "stream", "chunks"])
@pytest.mark.parametrize("read", ["labels", "texts", "cells", "numbers", "profile"])
def test_cells_that_are_not_utf8_are_refused_by_column_and_row(form: str, read: str) -> None:
    cells = raw_text(RAW).dictionary_encode() if form == "dictionary" else raw_text(RAW)
    table: Any = pa.table({"y": ["n", "y", "n", "y"], "x": cells})
    if form == "stream":
        table = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    source = open_source(table, chunk_rows=2 if form == "chunks" else None)
    assert labels_of(source, "y") == ["n", "y", "n", "y"]
    with pytest.raises(SourceError, match=NOT_UTF8):
        if read == "profile":
            profile(source)
        for chunk in source.chunks(["x"]):
            getattr(chunk, read)("x")


def test_a_model_neither_learns_nor_answers_about_cells_that_are_not_utf8() -> None:
    good = pa.table({"x": ["café", "tea", "café", "tea"], "y": ["n", "y", "n", "y"]})
    bad = good.set_column(0, "x", raw_text(RAW))
    with pytest.raises(SourceError, match=NOT_UTF8):
        bw.fit(bad, target="y", model="naive-bayes")
    with pytest.raises(SourceError, match=NOT_UTF8):
        bw.fit(good, target="y", model="naive-bayes").predict(bad)
    with pytest.raises(SourceError, match=NOT_UTF8):
        bw.fit(
            bad.rename_columns(["y", "x"]).set_column(0, "y", good["x"]).set_column(1, "x", raw_text(RAW)),
            target="x",
            model="naive-bayes",
        )


@pytest.mark.parametrize("n_rows", [3, 4])
def test_arrow_backed_text_of_pandas_that_is_not_utf8_is_refused_by_column_and_row(n_rows: int) -> None:
    frame = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(raw_text(RAW[:n_rows]))})
    with pytest.raises(SourceError, match=NOT_UTF8):
        open_source(frame)


def test_levels_of_an_ordered_dictionary_that_are_not_utf8_are_refused() -> None:
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), raw_text([b"low", b"h\xefgh"]), ordered=True)
    with pytest.raises(SourceError, match="column 'x' holds bytes that are not UTF-8"):
        open_source(pa.table({"x": ordered}))


def test_cells_of_a_parquet_file_that_are_not_utf8_are_refused_by_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"y": ["n", "y", "n", "y"], "x": raw_text(RAW)}), tmp_path / "raw.parquet")
    what = r"column 'x' of .*raw.parquet holds bytes that are not UTF-8.*caf\\xE9.* Fix: decode them"
    with pytest.raises(SourceError, match=what):
        bw.fit(str(tmp_path / "raw.parquet"), target="y", model="naive-bayes")


def test_cells_of_an_arrow_file_that_are_not_utf8_are_to_be_decoded(tmp_path: Path) -> None:
    table = pa.table({"y": ["n", "y", "n", "y"], "x": raw_text(RAW)})
    with pa.OSFile(str(tmp_path / "raw.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(SourceError, match=r"raw.arrow holds bytes that are not UTF-8.* Fix: decode them"):
        bw.fit(str(tmp_path / "raw.arrow"), target="y", model="naive-bayes")


def test_lone_surrogates_are_letters_like_others(tmp_path: Path) -> None:
    """Names, labels and cells that no encoding takes are learned, saved, loaded and shown."""
    odd = "\ud800"
    table = {f"x{odd}": [f"a{odd}", "b"] * 6, "y": [f"yes{odd}", "no"] * 6}
    bw.fit(table, target="y", model="naive-bayes").save(tmp_path / "m.bayeswise")
    model = bw.load(tmp_path / "m.bayeswise")
    assert model.predict(table) == table["y"]
    for words in (["inspect"], ["inspect", "--json"], ["explain", "--row", "q=b"], ["predict", str(tmp_path / odd)]):
        assert main([words[0], str(tmp_path / "m.bayeswise"), *words[1:]]) != 1  # a bug
    with pytest.raises(SourceError, match=r"there is no file .*\\ud800"):
        open_source(tmp_path / odd)


def test_an_arrow_file_with_a_name_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    """By the reader that takes types which polars does not know."""
    path = tmp_path / "odd.feather"
    wide = pa.array([None, None], pa.decimal256(50, 2))
    feather.write_feather(pa.table({"abcd": wide, "y": ["a", "b"]}), path, compression="uncompressed")
    path.write_bytes(path.read_bytes().replace(b"abcd", b"a\xf6cd"))
    with pytest.raises(BayeswiseError, match="whose name is not UTF-8"):
        open_source(path)


def test_a_database_of_duckdb_is_not_taken_for_text(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS a")
    with pytest.raises(SourceError, match=r"t\.db is a database of DuckDB"):
        open_source(path)


def test_zero_bytes_in_pairs_are_not_those_of_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "numbers.bin"
    path.write_bytes(b"\x01\x00\x00\x00\x07\x00\x00\x00" * 200)
    with pytest.raises(SourceError, match="is not text: it holds zero bytes"):
        open_source(path)


def test_columns_of_pandas_that_numpy_cannot_hold_are_read_or_refused_by_name() -> None:
    places = pa.array([0, 1] * 10, pa.int8())
    union = pa.UnionArray.from_sparse(places, [pa.array(range(20)), pa.array(list("abcdefghijklmnopqrst"))])
    rows = {"c": ["u", "v", "v", "u"] * 5, "y": ["p", "q"] * 10}
    frame = pa.table({"x": union, **rows}).to_pandas(types_mapper=pd.ArrowDtype)
    assert labels_of(open_source(frame), "x")[:4] == [0, "b", 2, "d"]
    assert bw.fit(frame, "y", model="naive-bayes").schema["c"].kind == "category"
    nowhere = pa.array(range(20), pa.timestamp("us", "Mars/Olympus"))
    frame = pa.table({"x": nowhere, **rows}).to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(SourceError, match=r"column 'x' cannot be read: .*Mars/Olympus"):
        bw.fit(frame, "y", model="naive-bayes")
