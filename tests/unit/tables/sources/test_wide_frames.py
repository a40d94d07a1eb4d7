"""Frames of thousands of columns: the same schema, numbers and answers as narrow ones, without work for each column."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayeswise as bw
from bayeswise.models.files import bytes_of
from bayeswise.tables.source import open_source

GENERATOR = np.random.default_rng(5)
VALUES = GENERATOR.normal(size=(30, 3_000))
CLASSES = np.array(["a", "b", "c"])[GENERATOR.integers(0, 3, 30)]


def frame() -> Any:
    table = pd.DataFrame(VALUES, columns=[f"gene {k}" for k in range(VALUES.shape[1])])
    return table.assign(kind=CLASSES)


@pytest.mark.parametrize("turned", [lambda table: table, pl.from_pandas], ids=["pandas", "polars"])
def test_3_000_columns_are_learned_and_answered_within_seconds(turned: Any) -> None:
    table = turned(frame())
    start = time.process_time()
    model = bw.fit(table, target="kind", model="naive-bayes")
    posterior = model.predict_proba(table)
    assert time.process_time() - start < 5.0  # half a second; 60 before
    assert len(model.schema.numbers) == 3_000
    peer = bw.NaiveBayes().fit(VALUES, CLASSES).predict_proba(VALUES)
    np.testing.assert_array_equal(posterior, peer)


def test_frames_of_both_libraries_give_the_same_bytes() -> None:
    assert bytes_of(bw.fit(frame(), "kind", model="naive-bayes")) == bytes_of(
        bw.fit(pl.from_pandas(frame()), "kind", model="naive-bayes")
    )


def test_numbers_of_every_width_are_read_at_once_as_they_are_one_by_one() -> None:
    table = pd.DataFrame(
        {
            "double": [1.5, np.nan, -0.0],
            "single": np.array([0.1, np.nan, 3e38], dtype=np.float32),
            "long": np.array([2**62 + 1, -(2**53) - 1, 0]),
            "unsigned": np.array([2**64 - 1, 1, 0], dtype=np.uint64),
            "tiny": np.array([-128, 127, 0], dtype=np.int8),
        }
    )
    for names in (list(table), ["unsigned", "double", "tiny"], ["long"]):
        (chunk,) = open_source(table).chunks(names)
        values, invalid = chunk.matrix(names)
        assert values.flags.c_contiguous
        assert not any(invalid.values())
        for place, name in enumerate(names):
            np.testing.assert_array_equal(values[:, place], chunk.numbers(name)[0])


def test_what_is_not_a_plain_number_is_still_read_column_by_column() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0], "n": pd.array([1, None], dtype="Int64"), "t": ["3", "x"]})
    (chunk,) = open_source(table).chunks(["x", "n", "t"])
    values, invalid = chunk.matrix(["x", "n", "t"])
    np.testing.assert_array_equal(values, [[1.0, 1.0, 3.0], [2.0, np.nan, np.nan]])
    assert [len(invalid[name]) for name in ("x", "n", "t")] == [0, 0, 1]
