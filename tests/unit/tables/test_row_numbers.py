"""Rows are counted from 1 in every message, whatever they came from and however they were cut into batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.engines import Request, summarise
from bayeswise.foundation.errors import KindError, MissingCellError, NonFiniteError
from bayeswise.statistics import Moments
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.schema import Schema, Target
from bayeswise.tables.source import open_source

SCHEMA = Schema((Column("x", "number"),), Target("y", "text"))
TABLE: dict[str, list[Any]] = {"x": [1.0, 2.0, np.inf, 4.0], "y": ["a", "b", "a", "b"]}


def test_the_first_row_below_the_header_of_a_file_is_row_1(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1.5,a\n2.5,b\ninf,a\n")
    with pytest.raises(NonFiniteError, match="in row 3"):
        bw.fit(path, target="y", schema=SCHEMA, model="naive-bayes")


@pytest.mark.parametrize("rows", [TABLE, np.array([[1.0], [2.0], [np.inf], [4.0]])])
def test_the_first_row_of_an_array_or_a_table_is_row_1(rows: Any) -> None:
    schema = Schema((Column("x0" if isinstance(rows, np.ndarray) else "x", "number"),))
    batches = Encoder(schema, with_target=False).batches(open_source(rows))
    with pytest.raises(NonFiniteError, match="in row 3"):
        summarise(batches, schema, Request.numbers("all", schema.numbers, Moments.of))


def test_rows_without_a_target_are_counted_too() -> None:
    table = {"x": [1.0, 2.0, 3.0, np.inf], "y": ["a", None, "b", "b"]}
    with pytest.raises(NonFiniteError, match="in row 4"):
        bw.fit(table, target="y", schema=SCHEMA, model="naive-bayes")


def test_batches_know_where_they_begin() -> None:
    table = {"x": list(map(float, range(10))), "y": ["a", None, "b", "b", "a", None, "a", "b", "a", "b"]}
    batches = list(Encoder(SCHEMA, batch_rows=3).batches(open_source(table)))
    places = [batch.place(row) for batch in batches for row in range(batch.n_rows)]
    assert places == [0, 2, 3, 4, 6, 7, 8, 9]
    assert [batch.values[row, 0] for batch in batches for row in range(batch.n_rows)] == places


def test_a_missing_value_and_what_is_not_a_count_stand_in_rows_of_the_same_numbers() -> None:
    with pytest.raises(MissingCellError, match="row 2"):
        bw.fit(
            {"x": [1.0, None], "y": ["a", "b"]}, target="y", kinds={"x": "number"}, missing="error", model="naive-bayes"
        )
    with pytest.raises(KindError, match="row 2"):
        counts = Schema((Column("x", "count"),), SCHEMA.target)
        bw.fit({"x": [1.0, 0.5], "y": ["a", "b"]}, target="y", schema=counts, model="naive-bayes")
