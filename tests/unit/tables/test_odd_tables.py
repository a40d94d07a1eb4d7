"""Tables that were once answered with a raw exception, a crash or a silent change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sparse
from sweeps import labels_of, numbers_of

import bayeswise as bw
from bayeswise.cli import main
from bayeswise.foundation.errors import BayeswiseError, SchemaError, SourceError
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
    "asked for": lambda: open_source({"x": [1]}).chunks([LONG]).__next__(),
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


def test_lone_surrogates_are_letters_like_others(tmp_path: Path) -> None:
    """Names, labels and cells that no encoding takes are learned, saved, loaded and shown."""
    odd = "\ud800"
    table = {f"x{odd}": [f"a{odd}", "b"] * 6, "y": [f"yes{odd}", "no"] * 6}
    bw.fit(table, target="y").save(tmp_path / "m.bayeswise")
    model = bw.load(tmp_path / "m.bayeswise")
    assert model.predict(table) == table["y"]
    for words in (["inspect"], ["inspect", "--json"], ["explain", "--row", "q=b"], ["predict", str(tmp_path / odd)]):
        assert main([words[0], str(tmp_path / "m.bayeswise"), *words[1:]]) != 1  # a bug
    with pytest.raises(SourceError, match=r"there is no file .*\\ud800"):
        open_source(tmp_path / odd)
