"""One table in many storages: one schema, one stream of rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeswise.store.document import pack
from bayeswise.tables.batch import TextBlock
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import open_source

Columns = dict[str, list[Any]]
RANDOM = np.random.default_rng(7)
ROWS = 60
TABLE: Columns = {
    "id": [f"p{k}" for k in range(ROWS)],
    "row": list(range(100, 100 + ROWS)),
    "outlook": [["sunny", "rain", None][k % 3] for k in range(ROWS)],
    "degrees": [None if k % 7 == 0 else round(float(x), 3) for k, x in enumerate(RANDOM.normal(20, 5, ROWS))],
    "humidity": [round(float(x), 6) for x in RANDOM.random(ROWS)],
    "visits": [k % 5 for k in range(ROWS)],
    "floor": [k % 4 for k in range(ROWS)],
    "level": [float(k % 3) for k in range(ROWS)],
    "remark": [f"remark number {k} of many" for k in range(ROWS)],
    "day": [f"2024-03-{1 + k % 28:02}" for k in range(ROWS)],
    "same": ["x"] * ROWS,
    "label": [f"🎉 {k % 3}" for k in range(ROWS)],
    "weight": [k % 3 for k in range(ROWS)],
    "play": ["yes" if k % 4 else "no" for k in range(ROWS)],
}
OVERRIDES: dict[str, Any] = {
    "target": "play",
    "weight": "weight",
    "kinds": {"floor": "category", "visits": "count", "level": "category"},
    "levels": {"outlook": ["rain", "sunny", "snow"]},
}


def csv(columns: Columns, folder: Path) -> object:
    pd.DataFrame(columns).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def tsv(columns: Columns, folder: Path) -> object:
    pl.DataFrame(columns).write_csv(folder / "t.tsv", separator="\t")
    return folder / "t.tsv"


def parquet(columns: Columns, folder: Path) -> object:
    pq.write_table(pa.table(columns), folder / "t.parquet", row_group_size=17)
    return folder / "t.parquet"


STORAGES: dict[str, Callable[[Columns, Path], object]] = {
    "csv": csv,
    "tsv": tsv,
    "parquet": parquet,
    "pandas": lambda columns, folder: pd.DataFrame(columns),
    "polars": lambda columns, folder: pl.DataFrame(columns),
    "lazy polars": lambda columns, folder: pl.LazyFrame(columns),
    "pyarrow": lambda columns, folder: pa.table(columns),
    "dict of lists": lambda columns, folder: columns,
    "list of dicts": lambda columns, folder: pl.DataFrame(columns).to_dicts(),
    "dict of arrays": lambda columns, folder: {
        name: np.array(cells, dtype=object if None in cells or isinstance(cells[0], str) else None)
        for name, cells in columns.items()
    },
}


def words_of(block: TextBlock, row: int) -> list[tuple[Any, int]]:
    counts = block.counts[[row]].tocoo()
    return sorted((block.vocabulary[k], int(n)) for k, n in zip(counts.coords[1], counts.data, strict=True))


def rows_of(schema: Schema, table: object, chunk_rows: int | None = None) -> list[Any]:
    """Everything that reaches a model, by label and not by code."""
    rows: list[Any] = []
    for batch in Encoder(schema).batches(open_source(table, chunk_rows=chunk_rows)):
        assert batch.groups is not None
        assert batch.weights is not None
        for row in range(batch.n_rows):
            codes = batch.codes[row]
            labels = [v[code] if code >= 0 else None for v, code in zip(batch.vocabularies, codes, strict=True)]
            texts = [words_of(block, row) for block in batch.texts]
            values = [repr(float(value)) for value in batch.values[row]]
            rows.append((values, labels, texts, batch.group_labels[batch.groups[row]], float(batch.weights[row])))
    return rows


EXPECTED_KINDS = {
    "id": "ignored",
    "row": "ignored",
    "outlook": "category",
    "degrees": "number",
    "humidity": "number",
    "visits": "count",
    "floor": "category",
    "level": "category",
    "remark": "text",
    "day": "ignored",
    "same": "ignored",
    "label": "category",
}


@pytest.mark.parametrize("storage", STORAGES)
def test_the_schema_and_the_rows_are_the_same_in_every_storage(storage: str, tmp_path: Path) -> None:
    table = STORAGES[storage](TABLE, tmp_path)
    schema = infer_schema(open_source(table), **OVERRIDES)
    expected = infer_schema(open_source(TABLE), **OVERRIDES)
    assert {column.name: column.kind for column in schema} == EXPECTED_KINDS
    assert pack(schema) == pack(expected)
    assert rows_of(schema, table) == rows_of(expected, TABLE)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("chunk_rows", [1, 13])
def test_chunks_change_nothing_in_any_storage(storage: str, chunk_rows: int, tmp_path: Path) -> None:
    table = STORAGES[storage](TABLE, tmp_path)
    schema = infer_schema(open_source(table, chunk_rows=chunk_rows), **OVERRIDES)
    assert schema == infer_schema(open_source(TABLE), **OVERRIDES)
    assert rows_of(schema, table, chunk_rows) == rows_of(schema, TABLE)


def test_an_array_has_the_schema_of_a_frame_with_its_names(tmp_path: Path) -> None:
    numbers = {f"x{k}": [round(float(x), 4) for x in RANDOM.normal(k, 2, ROWS)] for k in range(3)}
    numbers["x3"] = [float(k) for k in range(ROWS)]
    schema = infer_schema(open_source(np.array(list(numbers.values())).T))
    assert [column.kind for column in schema] == ["number", "number", "number", "ignored"]
    for storage in STORAGES.values():
        assert infer_schema(open_source(storage(numbers, tmp_path))) == schema


def test_categories_of_pandas_and_enums_of_polars_declare_the_same_levels() -> None:
    levels, cells = ["S", "M", "L"], ["M", "S", "M", None]
    frames = [
        pd.DataFrame({"x": pd.Categorical(cells, categories=levels)}),
        pl.DataFrame({"x": pl.Series(cells, dtype=pl.Enum(levels))}),
    ]
    first, second = (infer_schema(open_source(frame)) for frame in frames)
    assert first == second == infer_schema(open_source({"x": cells}), levels={"x": levels})


def test_flags_are_binary_in_every_storage_that_knows_them(tmp_path: Path) -> None:
    flags: Columns = {"flag": [True, False, None, True], "y": ["a", "b", "a", "b"]}
    typed = [name for name in STORAGES if name not in ("csv", "tsv")]
    schemas = {name: infer_schema(open_source(STORAGES[name](flags, tmp_path)), "y") for name in typed}
    assert {schema["flag"].kind for schema in schemas.values()} == {"binary"}
    assert len({pack(schema).digest() for schema in schemas.values()}) == 1


def test_decimals_and_small_integers_and_floats_are_numbers() -> None:
    table = pa.table(
        {
            "d": pa.array([1, 2, None, 4], pa.decimal128(10, 2)),
            "i": pa.array([1, 2, None, 4], pa.int8()),
            "u": pa.array([1, 2, None, 4], pa.uint64()),
            "f": pa.array([1.0, 2.0, None, 4.5], pa.float32()),
        }
    )
    schema = infer_schema(open_source(table))
    assert [column.kind for column in schema] == ["number"] * 4
    (batch,) = Encoder(schema).batches(open_source(table))
    np.testing.assert_array_equal(batch.values[[0, 1, 3]], [[1, 1, 1, 1], [2, 2, 2, 2], [4, 4, 4, 4.5]])
    assert np.isnan(batch.values[2]).all()


def test_dates_durations_lists_structs_and_bytes_of_arrow_are_ignored() -> None:
    table = pa.table(
        {
            "date": pa.array([19000, 19001], pa.date32()),
            "time": pa.array([1, 2], pa.timestamp("us")),
            "span": pa.array([1, 2], pa.duration("s")),
            "list": pa.array([[1], [2]]),
            "struct": pa.array([{"a": 1}, {"a": 2}]),
            "bytes": pa.array([b"1", b"2"]),
        }
    )
    schema = infer_schema(open_source(table))
    assert [column.kind for column in schema] == ["ignored"] * 6
    assert all(column.reason for column in schema)
