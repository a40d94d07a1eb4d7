"""A table is the same whether its flags are written True and False, or stored as booleans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import KindError
from bayeswise.tables.encoding.one_row import typed_batch

ROWS = [(True, "a"), (False, "b"), (True, "b"), (False, "b"), (True, "a")] * 4
FRAME = pd.DataFrame(ROWS, columns=["paid", "y"])


def written(true: str, false: str) -> dict[str, list[str]]:
    return {"paid": [true if paid else false for paid, _ in ROWS], "y": [y for _, y in ROWS]}


def csv(folder: Path) -> str:
    FRAME.to_csv(folder / "flags.csv", index=False)
    return str(folder / "flags.csv")


def fitted(table: Any, **given: Any) -> bw.NaiveBayesModel:
    return bw.fit(table, "y", model="naive-bayes", **given)


@pytest.mark.parametrize("of", [pd.DataFrame, pl.DataFrame, lambda columns: columns])
def test_a_model_of_a_csv_file_reads_the_frame_of_the_same_table(tmp_path: Path, of: Any) -> None:
    path = csv(tmp_path)
    model = fitted(path)
    columns = {name: FRAME[name].tolist() for name in FRAME}
    assert model.schema["paid"].labels == "text"
    assert model.predict_proba(of(columns)).tolist() == model.predict_proba(path).tolist()
    for paid in (True, False):  # one row at a time, too
        one, many = model.predict_proba([{"paid": paid}]), model.predict_proba([{"paid": paid}, {"paid": paid}])
        assert one[0].tolist() == many[0].tolist() == model.predict_proba([{"paid": str(paid)}])[0].tolist()


@pytest.mark.parametrize(("true", "false"), [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_a_model_of_booleans_reads_texts_that_spell_them_and_one_and_zero(true: str, false: str) -> None:
    model = fitted(FRAME)
    expected = model.predict_proba(FRAME).tolist()
    assert model.predict_proba(written(true, false)).tolist() == expected
    assert model.predict_proba({"paid": [int(paid) for paid, _ in ROWS]}).tolist() == expected


@pytest.mark.parametrize(("true", "false"), [("yes", "no"), ("T", "F")])
def test_other_words_are_no_booleans(true: str, false: str) -> None:
    with pytest.raises(KindError, match="stores it as boolean"):
        fitted(written(true, false)).predict_proba(FRAME)
    with pytest.raises(KindError, match="column 'paid' is boolean"):
        fitted(FRAME).predict_proba(written(true, false))
    with pytest.raises(KindError, match="column 'paid' is boolean"):
        fitted(FRAME).predict_proba({"paid": [0, 2]})


def test_two_ways_to_spell_booleans_are_none() -> None:
    table = written("True", "False")
    table["paid"][:2] = ["true", "false"]
    with pytest.raises(KindError, match="stores it as boolean"):
        fitted(table).predict_proba(FRAME)


def test_a_typed_cell_of_a_flag_is_one_of_its_values() -> None:
    for table in (FRAME, {"paid": [int(paid) for paid, _ in ROWS], "y": [y for _, y in ROWS]}):
        model = fitted(table)
        codes = [
            typed_batch(model.schema, model.vocabularies, {"paid": word}).codes.item() for word in ("0", "1", None)
        ]
        assert codes == [0, 1, -1]
        with pytest.raises(KindError, match=r"column 'paid' is binary, but the row has 'yes'\. Fix: give one of"):
            typed_batch(model.schema, model.vocabularies, {"paid": "yes"})
