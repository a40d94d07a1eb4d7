"""One row, given as a mapping or in a frame, is answered as it is in a table of many rows, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError, MissingColumnError, SourceError
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.encoding.one_row import row_in
from bayeswise.tables.schema.null_words import open_like

GENERATOR = np.random.default_rng(3)
TABLE = [
    {
        "height": float(GENERATOR.normal(170, 9)) if k % 7 else None,
        "visits": int(GENERATOR.poisson(3)),
        "size": ["S", "M", "L", ""][k % 4],
        "floor": [1, 2, 9][k % 3],
        "odd": [1, True, "1", "x"][k % 4],
        "flag": bool(k % 2),
        "fits": ["no", "yes", "maybe"][k % 5 % 3],
    }
    for k in range(60)
]
OPTIONS: dict[str, Any] = {"model": "naive-bayes", "kinds": {"floor": "category", "odd": "category", "visits": "count"}}
MODELS = {
    "naive-bayes": bw.fit(TABLE, "fits", **OPTIONS),
    "strict": bw.fit(TABLE, "fits", **OPTIONS, unseen={"size": "error"}, missing={"floor": "error"}),
    "levels": bw.fit(TABLE, "fits", **OPTIONS, missing="level", unseen="ignore"),
    "gaussian": bw.fit(TABLE, "fits", model="gaussian", ignore=["size", "floor", "odd", "flag"]),
    "logistic": bw.fit(TABLE, "fits", model="logistic", missing="mean", kinds=OPTIONS["kinds"]),
    "tree": bw.fit(TABLE, "fits", model="tree", code="exceptions", kinds=OPTIONS["kinds"]),
    "tan": bw.fit(TABLE, "fits", model="tan", kinds=OPTIONS["kinds"]),
}
CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.integers(),
    st.floats(),
    st.sampled_from(["S", "M", "L", "", " S", "x", "1", "NA", "7.5", "\u00e9"]),
    st.sampled_from([np.float64(2.5), np.float32(0.1), np.int64(2), np.bool_(True), np.str_("S"), 2.0, -0.0]),
)
ROWS = st.fixed_dictionaries(
    {name: CELLS for name in TABLE[0] if name != "fits"}, optional={"fits": CELLS, " note": CELLS, "height ": CELLS}
)


@given(ROWS, st.sampled_from(sorted(MODELS)))
def test_a_row_is_encoded_as_a_table_of_one_row_is(row: dict[str, Any], name: str) -> None:
    model = MODELS[name]
    quick = model._row_encoder.encode(row)
    if quick is None:
        return
    [slow] = Encoder(model.schema, learning=False, vocabularies=model.vocabularies).batches(
        open_like([row], model.schema)
    )
    np.testing.assert_array_equal(quick.values, slow.values)
    np.testing.assert_array_equal(quick.codes, slow.codes)
    assert quick.vocabularies == slow.vocabularies


@pytest.mark.parametrize("name", sorted(MODELS))
def test_each_row_alone_is_answered_as_in_the_table(name: str) -> None:
    model = MODELS[name]
    rows = [row for row in TABLE if row["height"] is not None]
    whole, logs = model.predict_proba(rows), model.predict_log_proba(rows)
    for k, row in enumerate(rows):
        np.testing.assert_array_equal(model.predict_proba(row), whole[[k]])
        np.testing.assert_array_equal(model.predict_proba([row]), whole[[k]])
        np.testing.assert_array_equal(model.predict_log_proba(row), logs[[k]])
        assert model.predict(row) == model.predict([row])
    assert repr(model.explain(rows[0])) == repr(model.explain([rows[0]]))


@given(ROWS)
def test_a_row_alone_fails_as_a_table_of_one_row_does(row: dict[str, Any]) -> None:
    def answer(table: Any) -> Any:
        try:
            return MODELS["strict"].predict_proba(table).tolist()
        except BayeswiseError as error:
            return type(error)

    many = answer([row, row])
    alone = answer(row)
    assert alone == (many[:1] if isinstance(many, list) else many)


def test_a_row_without_a_column_says_so() -> None:
    row = {name: cell for name, cell in TABLE[1].items() if name != "size"}
    with pytest.raises(MissingColumnError, match="no column 'size'"):
        MODELS["naive-bayes"].predict_proba(row)


def test_cells_and_lists_in_one_mapping_are_refused() -> None:
    with pytest.raises(SourceError, match=r"column 'height' of the dict is 170\.0, not a list of cells"):
        MODELS["naive-bayes"].predict_proba({**TABLE[1], "height": 170.0, "size": ["S", "M"]})


TYPES = {"height": pl.Float64, "visits": pl.Int64, "size": pl.String, "floor": pl.Int32, "flag": pl.Boolean}
STORED: dict[str, list[Any]] = {
    "height": [np.array([171.5]), np.array([np.nan]), np.array([99], np.int8), np.array([None], object), ["7"]],
    "visits": [np.array([2]), np.array([2.0]), np.array([2], np.uint64), np.array([-1]), pd.array([None], "Int64")],
    "size": [["S"], ["never"], [None], np.array([np.nan]), pd.Categorical(["S"]), pd.Categorical([None], ["S"]), [1]],
    "floor": [[9], [4], [True], np.array([9.0]), np.array([np.nan]), pd.Categorical([9]), np.array(["9"]), [None]],
    "odd": [[1], [True], ["1"], [1.0], np.array(["x"], object), [b"x"]],
    "flag": [[True], [1], ["yes"], pd.array([True], "boolean"), pd.array([None], "boolean")],
    "fits": [["no"], [1j]],
}
FRAMES = st.fixed_dictionaries({name: st.sampled_from(cells) for name, cells in STORED.items()}).map(pd.DataFrame)


def answer_of(model: Any, table: Any) -> Any:
    try:
        return model.predict_log_proba(table).tolist()[0]
    except BayeswiseError as error:
        return type(error)


@given(FRAMES, st.sampled_from(sorted(MODELS)))
def test_a_frame_of_one_row_is_answered_as_the_first_of_two_equal_rows(frame: pd.DataFrame, name: str) -> None:
    alone, many = answer_of(MODELS[name], frame), answer_of(MODELS[name], pd.concat([frame, frame]))
    np.testing.assert_equal(alone, many)


@given(
    st.fixed_dictionaries(
        {name: st.none() | st.just(cell) for name, cell in TABLE[1].items() if name in TYPES},
        optional={"fits": st.none()},
    ),
    st.permutations(sorted(TYPES)),
    st.booleans(),
)
def test_a_polars_frame_of_one_row_is_answered_as_the_first_of_two(
    row: dict[str, Any], order: list[str], shuffled: bool
) -> None:
    kinds = {name: TYPES[order[k] if shuffled and row[name] is None else name] for k, name in enumerate(sorted(TYPES))}
    frame = pl.DataFrame(
        [pl.Series(name, [cell], kinds.get(name, pl.Null)) for name, cell in row.items()] + [pl.Series("odd", ["x"])]
    )
    for model in MODELS.values():
        np.testing.assert_equal(answer_of(model, frame), answer_of(model, pl.concat([frame, frame])))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_frames_and_series_of_one_row_are_encoded_without_a_sweep(name: str) -> None:
    model, row = MODELS[name], {column: cell for column, cell in TABLE[1].items() if column != "fits"}
    for table in (row, [row], (row,), pd.DataFrame([row]), pl.DataFrame([row]), pd.DataFrame([row]).iloc[0]):
        cells = row_in(table, model.schema.used)
        assert cells is not None
        assert model._row_encoder.encode(cells) is not None
        np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba([row, row])[:1])


def test_a_series_named_like_a_column_is_a_column() -> None:
    model = bw.fit({"age": [1.0, 2.5, 3.0, 7.0], "y": ["a", "b", "a", "b"]}, "y", model="naive-bayes")
    column = pd.Series([1.0, 2.0], index=["age", "other"], name="age")
    np.testing.assert_array_equal(model.predict_proba(column), model.predict_proba(column.to_frame()))
