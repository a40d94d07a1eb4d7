"""Batches of Arrow as Spark sends them, without a Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from bayeswise.engines.spark_batches import Form, streamed
from bayeswise.tables.schema.profile import profile
from bayeswise.tables.source import open_source

pytest.importorskip("pyspark")

KINDS = {"a": "double", "n": "int", "b": "double", "word": "string", "c": "double"}
ROWS = {
    "a": [1.5, None, 3.0, float("nan")],
    "n": [1, 2, None, 4],
    "b": [0.0, 1.0, None, 1e300],
    "word": ["x", "y", None, "x"],
    "c": [7.0, 8.0, 9.0, 10.0],
}
FORM = Form.of(KINDS, list(KINDS), ["c", "n", "a", "b"])


def batches(n_batches: int = 2) -> list[pa.RecordBatch]:
    """The rows above in the form, as so many batches."""
    arrays = pa.array([list(cells) for cells in zip(*(ROWS[name] for name in FORM.arrayed), strict=True)])
    table = pa.table({"c0": arrays, "c1": pa.array(ROWS["n"], pa.int32()), "c2": ROWS["word"]})
    return table.to_batches(max_chunksize=4 // n_batches)


def test_doubles_that_are_read_together_come_in_one_column_of_arrays() -> None:
    assert (FORM.arrayed, FORM.others) == (("c", "a", "b"), ("n", "word"))
    places = {name: f"p{k}" for k, name in enumerate(KINDS)}
    assert FORM.expressions(places) == ["array(p4, p0, p2) as c0", "p1 as c1", "p3 as c2"]


def test_a_single_column_of_doubles_comes_as_it_is() -> None:
    assert Form.of(KINDS, ["a", "n"], ["a", "n"]) == Form((), ("a", "n"))


@pytest.mark.parametrize("columns", [["c", "a"], ["b", "c"], ["a", "n"], ["n"]])
def test_a_matrix_of_arrays_is_that_of_the_columns(columns: list[str]) -> None:
    found = [chunk.matrix(columns)[0] for chunk in streamed(FORM, iter(batches())).chunks(columns)]
    np.testing.assert_array_equal(np.concatenate(found), np.array([ROWS[name] for name in columns], dtype=float).T)


def test_the_matrix_of_arrays_without_missing_cells_is_not_copied() -> None:
    numbers = pa.array(np.arange(6.0))
    (batch,) = pa.table({"c0": pa.FixedSizeListArray.from_arrays(numbers, 2).cast(pa.list_(pa.float64()))}).to_batches()
    (chunk,) = streamed(Form(("a", "b"), ()), iter([batch])).chunks(["a", "b"])
    assert np.shares_memory(chunk.matrix(["a", "b"])[0], batch.column(0).values.to_numpy())


def test_profiles_and_labels_are_those_of_the_columns() -> None:
    table = pa.table({name: pa.array(cells, from_pandas=True) for name, cells in ROWS.items()})
    expected = profile(open_source(table))
    assert profile(streamed(FORM, iter(batches())))["word"].levels == expected["word"].levels
    found = profile(streamed(FORM, iter(batches())), ["a", "b", "c", "n"])
    assert all(found[name] == expected[name] for name in found)
    (chunk,) = streamed(FORM, iter(batches(1))).chunks(["word", "b"])
    codes, labels = chunk.labels("b")
    assert [None if code < 0 else labels[code] for code in codes] == ROWS["b"]


def test_a_partition_without_rows_has_all_columns() -> None:
    assert {column.name for column in streamed(FORM, iter(())).columns} == KINDS.keys()
