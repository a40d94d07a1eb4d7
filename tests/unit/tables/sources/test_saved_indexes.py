"""A frame that was saved with its index has a first column without a name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import SchemaError
from bayeswise.tables.schema.inference import examine
from bayeswise.tables.source import open_source

FRAME = pd.DataFrame({"age": [31, 40, 52, 47] * 9, "y": list("abba") * 9}, index=[3, 9, 4, 1] * 9)


@pytest.mark.parametrize("form", ["csv", "xlsx", "pandas"])
def test_it_is_named_and_ignored_and_the_model_is_that_of_the_frame(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"t.{form}"
    if form == "xlsx":
        FRAME.to_excel(path)
    else:
        FRAME.to_csv(path)
    table = pd.read_csv(path) if form == "pandas" else str(path)
    first = examine(open_source(table), "y").findings[0].column
    assert (first.name, first.kind, first.reason) == ("Unnamed: 0", "ignored", "no name: probably a row index")
    model = bw.fit(table, "y", model="naive-bayes")
    assert model.statistics == bw.fit(FRAME, "y", model="naive-bayes").statistics
    assert model.predict_proba(FRAME).tolist() == model.predict_proba(table).tolist()


def test_it_is_kept_on_request(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv")
    schema = bw.fit(str(tmp_path / "t.csv"), "y", model="naive-bayes", kinds={"Unnamed: 0": "number"}).schema
    assert schema.used == ("Unnamed: 0", "age")


@pytest.mark.parametrize("header", [",,y", "a,,y", ",Unnamed: 0,y"])
def test_other_columns_without_a_name_stay_an_error(tmp_path: Path, header: str) -> None:
    (tmp_path / "t.csv").write_text(f"{header}\n1,2,a\n3,4,b\n")
    with pytest.raises(
        SchemaError, match=r"column [12] of t.csv has no name\. Fix: write a name for it into the header"
    ):
        open_source(tmp_path / "t.csv")
    assert len(open_source(tmp_path / "t.csv", header=False).columns) == 3
