"""Laws of schemas and encoders: order, chunks and round trips change nothing."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswise.foundation.errors import BayeswiseError
from bayeswise.store.document import pack, unpack
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema import schema as schema_module
from bayeswise.tables.schema.columns import KINDS, LABELLED, MISSING_POLICIES, UNSEEN_POLICIES, Column
from bayeswise.tables.schema.inference import examine, infer_schema
from bayeswise.tables.schema.labels import Label, Vocabulary, label_key, label_of
from bayeswise.tables.schema.schema import Schema, Target
from bayeswise.tables.source import open_source

Columns = dict[str, list[Any]]

TEXT = st.text(max_size=8)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
LABELS: st.SearchStrategy[Label] = st.one_of(TEXT, st.integers(-(2**63), 2**63 - 1), FINITE, st.booleans())
WORDS = st.sampled_from(["a", "b", "3", "3.5", "007", "yes", "NA", "", "2024-01-02", "one two three", "3a", "-1"])
CELLS = [
    st.none() | LABELS,
    st.integers(0, 5),
    st.none() | FINITE,
    st.none() | st.sampled_from(["x", "y", "z"]),
    st.none() | st.booleans(),
    st.integers(),
    WORDS,
    st.none() | st.sampled_from([1, "1", True, 1.0]),
]


@st.composite
def tables(draw: st.DrawFn, cells: list[st.SearchStrategy[Any]] = CELLS) -> Columns:
    """Up to three columns of up to 25 rows, and a target."""
    n_rows = draw(st.integers(1, 25))
    kinds = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=3))
    columns = {f"c{k}": draw(st.lists(kind, min_size=n_rows, max_size=n_rows)) for k, kind in enumerate(kinds)}
    return {**columns, "y": draw(st.lists(st.none() | st.sampled_from("pqr"), min_size=n_rows, max_size=n_rows))}


def shuffled(columns: Columns, seed: int) -> Columns:
    order = np.random.default_rng(seed).permutation(len(columns["y"]))
    return {name: [cells[k] for k in order] for name, cells in columns.items()}


def verdict(source: Any) -> object:
    """The fingerprint of the schema, or the kinds of the problems by column."""
    examination = examine(source, "y")
    problems = {name: type(problem).__name__ for name, problem in examination.problems.items()}
    return problems or pack(examination.schema).digest()


@given(tables(), st.integers(0, 99), st.integers(1, 7))
def test_the_order_of_rows_and_the_size_of_chunks_never_change_the_schema(
    columns: Columns, seed: int, chunk_rows: int
) -> None:
    expected = verdict(open_source(columns))
    assert verdict(open_source(columns, chunk_rows=chunk_rows)) == expected
    assert verdict(open_source(shuffled(columns, seed))) == expected


NUMBERS = [
    st.none() | st.floats(-5, 5),
    st.none() | FINITE,
    st.integers(-3, 3),
    st.integers(),
    st.just(2.5),
    st.none() | st.sampled_from([0.0, -0.0]),
    st.floats(),
]


@given(tables([*NUMBERS, *CELLS]), st.sampled_from([{}, {"c0": "number"}, {"c0": "ignored"}]), st.integers(1, 30))
def test_judging_at_sight_is_judging(columns: Columns, kinds: dict[str, Any], chunk_rows: int) -> None:
    source = open_source(columns, chunk_rows=chunk_rows)
    examination = examine(source, "y", kinds=kinds)
    if examination.problems:
        with pytest.raises(BayeswiseError):
            infer_schema(source, "y", kinds=kinds)
    else:
        assert infer_schema(source, "y", kinds=kinds) == examination.schema


def test_the_widest_range_of_doubles_is_classified_at_once() -> None:
    source = open_source({"x": [-1.7e308, 0.5, 1.7e308]})
    assert infer_schema(source, kinds={"x": "number"})["x"].kind == infer_schema(source)["x"].kind == "number"


@pytest.mark.parametrize("first", [0, 5, 10**6])
@pytest.mark.parametrize("n_rows", [9, 10, 200])
def test_row_numbers_are_known_at_sight(first: int, n_rows: int) -> None:
    source = open_source(np.array([[first + k, k * k] for k in range(n_rows)], dtype=float))
    assert infer_schema(source) == examine(source).schema
    assert infer_schema(source)["x0"].kind == ("ignored" if n_rows >= 10 else "number")


def as_csv(columns: Columns) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    handle, name = tempfile.mkstemp(suffix=".csv")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text.getvalue())
    return Path(name)


@given(tables([WORDS, st.sampled_from(["1", "2", "x"]), st.integers(0, 9).map(str)]), st.integers(0, 99))
def test_the_order_of_lines_never_changes_the_schema_of_a_file(columns: Columns, seed: int) -> None:
    paths = [as_csv(columns), as_csv(shuffled(columns, seed))]
    try:
        first, second = (verdict(open_source(path, header=True, delimiter=",")) for path in paths)
    finally:
        for path in paths:
            path.unlink()
    assert first == second


@given(tables())
def test_doubled_rows_never_change_a_schema_except_by_ending_an_id(columns: Columns) -> None:
    doubled = {name: cells * 2 for name, cells in columns.items()}
    try:
        once, twice = (examine(open_source(table), "y").schema for table in (columns, doubled))
    except BayeswiseError:
        return
    for one, two in zip(once, twice, strict=True):
        assert one == two or "different" in one.reason or "free text" in one.reason


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(st.uuids().map(str), min_size=0, max_size=5, unique=True))
    return Schema(tuple(draw(columns_named(name)) for name in names), draw(st.none() | st.just(Target("y", "mixed"))))


@st.composite
def columns_named(draw: st.DrawFn, name: str) -> Column:
    kind = draw(st.sampled_from(KINDS))
    least, most = (2, 2) if kind == "binary" else (1, 6)
    levels = st.lists(LABELS.map(label_of), min_size=least, max_size=most, unique_by=label_key)
    return Column(
        name,
        kind,
        "mixed" if kind in LABELLED else None,
        draw(st.none() | levels.map(Vocabulary)) if kind in LABELLED else None,
        draw(st.sampled_from(MISSING_POLICIES)),
        draw(st.sampled_from(UNSEEN_POLICIES)),
        draw(TEXT),
    )


@given(schemas())
def test_a_document_is_a_round_trip(schema: Schema) -> None:
    again = unpack(pack(schema), (Schema, Column, schema_module.Columns, Target, Vocabulary))
    assert again == schema
    assert pack(again) == pack(schema)


@given(st.lists(st.none() | LABELS, min_size=1, max_size=40), st.integers(1, 9), st.integers(1, 9))
def test_decoding_undoes_encoding(cells: list[Label | None], chunk_rows: int, batch_rows: int) -> None:
    schema = Schema((Column("x", "category", "mixed"),))
    source = open_source({"x": cells}, chunk_rows=chunk_rows)
    decoded = [
        batch.vocabularies[0][code] if code >= 0 else None
        for batch in Encoder(schema, batch_rows=batch_rows).batches(source)
        for code in batch.codes[:, 0]
    ]
    assert [None if label is None else label_key(label) for label in decoded] == [
        None if cell is None else label_key(cell) for cell in cells
    ]


@given(tables(), st.integers(1, 9))
def test_a_frozen_vocabulary_gives_learned_rows_no_unseen_code(columns: Columns, chunk_rows: int) -> None:
    try:
        schema = examine(open_source(columns), "y").schema
    except BayeswiseError:
        return
    learner = Encoder(schema)
    learned = list(learner.batches(open_source(columns)))
    rows = [k for k, label in enumerate(columns["y"]) if label is not None]
    kept = {name: [cells[k] for k in rows] for name, cells in columns.items()}
    if not learned:
        return
    predictor = Encoder(schema, learning=False, vocabularies=learner.vocabularies)
    predicted = list(predictor.batches(open_source(kept, chunk_rows=chunk_rows)))
    np.testing.assert_array_equal(
        np.concatenate([batch.codes for batch in predicted]), np.concatenate([batch.codes for batch in learned])
    )
    np.testing.assert_array_equal(
        np.concatenate([batch.values for batch in predicted]), np.concatenate([batch.values for batch in learned])
    )


@pytest.mark.parametrize("label", ["🎉", "שלום", "a\nb", "x" * 10_000, " a", "None.", "'", '"', "a,b", "=1+1"])
def test_any_text_of_a_file_is_a_label_that_comes_back(label: str) -> None:
    path = as_csv({"x": [label, "other"] * 3, "y": ["p", "q"] * 3})
    try:
        source = open_source(path, delimiter=",", header=True)
        schema = examine(source, "y", kinds={"x": "category"}).schema
        (batch,) = Encoder(schema).batches(source)
    finally:
        path.unlink()
    assert [batch.vocabularies[0][code] for code in batch.codes[:, 0]] == [label, "other"] * 3
