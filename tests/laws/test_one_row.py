"""One row, given as a mapping, is answered as it is in a table of many rows, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError, MissingColumnError, SourceError
from bayeswise.tables.encoding.encoder import Encoder
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
OPTIONS: dict[str, Any] = {"kinds": {"floor": "category", "odd": "category", "visits": "count"}}
MODELS = {
    "naive-bayes": bw.fit(TABLE, "fits", **OPTIONS),
    "strict": bw.fit(TABLE, "fits", **OPTIONS, unseen={"size": "error"}, missing={"floor": "error"}),
    "levels": bw.fit(TABLE, "fits", **OPTIONS, missing="level", unseen="ignore"),
    "gaussian": bw.fit(TABLE, "fits", model="gaussian", ignore=["size", "floor", "odd", "flag"]),
    "logistic": bw.fit(TABLE, "fits", model="logistic", missing="mean", kinds=OPTIONS["kinds"]),
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
    with pytest.raises(SourceError, match=r"column 'height' of the dict is 170\.0, and no list of cells"):
        MODELS["naive-bayes"].predict_proba({**TABLE[1], "height": 170.0, "size": ["S", "M"]})
