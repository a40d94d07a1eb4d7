"""The same values give the same chunks, whatever table they come from."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sweeps import labels_of, numbers_of

from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.profile import profile
from bayeswise.tables.source import Chunk, open_source

N = 5_000


def values() -> pd.DataFrame:
    generator = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "size": np.where(generator.random(N) < 0.1, math.nan, generator.normal(size=N) * 1e3),
            "count": generator.integers(-5, 100, N),
            "colour": generator.choice(["red", "größe", "a longer name, with a comma"], N),
        }
    )


def to_csv(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def to_parquet(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_parquet(folder / "t.parquet", row_group_size=700)
    return folder / "t.parquet"


FORMS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "csv": to_csv,
    "parquet": to_parquet,
    "pandas": lambda frame, _: frame,
    "nullable": lambda frame, _: frame.convert_dtypes(),
    "polars": lambda frame, _: pl.from_pandas(frame),
    "lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame),
    "batches": lambda frame, _: pa.Table.from_pandas(frame).to_reader(max_chunksize=321),
    "relation": lambda frame, folder: duckdb.connect().read_parquet(str(to_parquet(frame, folder))),
    "arrays": lambda frame, _: {name: frame[name].to_numpy() for name in frame},
    "dicts": lambda frame, _: frame.to_dict("records"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("chunk_rows", [1, 64, 10_000])
def test_every_source_gives_the_same_cells(tmp_path: Path, form: str, chunk_rows: int) -> None:
    frame = values() if chunk_rows > 1 else values().head(200)
    source = open_source(FORMS[form](frame, tmp_path), chunk_rows=chunk_rows)
    found = np.array(numbers_of(source, "size"))
    assert found.tobytes() == frame["size"].to_numpy().tobytes()
    assert numbers_of(source, "count") == frame["count"].tolist()
    assert labels_of(source, "colour") == frame["colour"].tolist()
    assert source.n_rows == len(frame)


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_is_its_columns_side_by_side(tmp_path: Path, form: str) -> None:
    frame = values()
    source = open_source(FORMS[form](frame, tmp_path), chunk_rows=999)
    matrices = [chunk.matrix(["count", "size"])[0] for chunk in source.chunks(["size", "count"])]
    assert np.concatenate(matrices).tobytes() == frame[["count", "size"]].to_numpy(dtype=float).tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_every_source_has_the_same_profile(tmp_path: Path, form: str) -> None:
    frame = values()
    found = profile(open_source(FORMS[form](frame, tmp_path)))
    size, count, colour = found["size"], found["count"], found["colour"]
    assert size.missing + sum(size.null_words.values()) == frame["size"].isna().sum()
    assert size.decimals == frame["size"].notna().sum() == size.present
    assert (size.minimum, size.maximum) == (frame["size"].min(), frame["size"].max())
    assert (count.integers, count.distinct, count.distinct_exact) == (N, frame["count"].nunique(), True)
    assert [n for _, n in count.levels] == frame["count"].value_counts().tolist()
    counts = frame["colour"].value_counts()
    assert dict(colour.levels) == counts.to_dict()
    assert (colour.invalid, colour.longest, colour.levels_complete) == (N, 27, True)


def test_numbers_of_an_array_are_those_of_a_frame_with_its_names() -> None:
    array = values()[["size", "count"]].to_numpy()
    frame = pd.DataFrame(array, columns=["x0", "x1"])
    assert profile(open_source(array))["x0"] == profile(open_source(frame))["x0"]


@pytest.mark.parametrize("form", FORMS)
def test_a_sweep_over_no_columns_still_counts_the_rows(tmp_path: Path, form: str) -> None:
    source = open_source(FORMS[form](values(), tmp_path))
    assert sum(chunk.n_rows for chunk in source.chunks([])) == N


@pytest.mark.parametrize("form", FORMS)
def test_chunks_may_be_read_by_several_threads_at_once(tmp_path: Path, form: str) -> None:
    frame = values()
    source = open_source(FORMS[form](frame, tmp_path), chunk_rows=50)

    def colours(chunk: Chunk) -> tuple[int, list[Label]]:
        codes, levels = chunk.labels("colour")
        return chunk.first_row, [levels[code] for code in codes]

    with ThreadPoolExecutor(4) as pool:
        found = dict(pool.map(colours, source.chunks(["colour", "count"])))
    assert [label for row in sorted(found) for label in found[row]] == frame["colour"].tolist()
