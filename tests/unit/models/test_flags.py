"""Columns of 0 and 1 are flags, unless somebody says that they are amounts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.tables.schema.inference import examine, infer_schema
from bayeswise.tables.source import open_source


def table(n: int = 120) -> dict[str, list[Any]]:
    generator = np.random.default_rng(3)
    ill = generator.random(n) < 0.5
    return {
        "smoker": (generator.random(n) < 0.2 + 0.5 * ill).astype(int).tolist(),
        "share": generator.random(n).round(3).tolist(),
        "visits": generator.integers(0, 4, n).tolist(),
        "state": np.where(ill, "ill", "well").tolist(),
    }


def test_a_column_of_0_and_1_is_a_flag_and_the_schema_says_why() -> None:
    column = infer_schema(open_source(table()), "state")["smoker"]
    assert (column.kind, list(column.levels or ()), column.reason) == ("binary", [0, 1], "a flag: 0 or 1")
    examined = {found.column.name: found.column for found in examine(open_source(table()), "state").findings}
    assert examined["smoker"] == column
    assert {name: each.kind for name, each in examined.items()} == {
        "smoker": "binary",
        "share": "number",
        "visits": "number",
    }


@pytest.mark.parametrize(
    "cells", [[0, 1, 1, None], [0.0, 1.0, 1.0, None], ["0", "1", "1", ""], ["0.0", "1", "1.0", ""]]
)
def test_a_flag_is_the_same_column_in_every_storage(tmp_path: Any, cells: list[Any]) -> None:
    """A pandas column of integers with a missing cell holds floats: shards of one table must be able to merge."""
    if isinstance(cells[0], str):
        path = tmp_path / "flags.csv"
        path.write_text("\n".join(["f,y", *(f"{cell},{'ab'[k % 2]}" for k, cell in enumerate(cells))]) + "\n")
        source = open_source(path)
    else:
        source = open_source(pd.DataFrame({"f": cells, "y": list("abab")}))
    assert infer_schema(source, "y")["f"] == infer_schema(open_source({"f": [1, 0], "y": ["a", "b"]}), "y")["f"]


def test_naive_bayes_counts_flags_as_bernoulli_by_hand() -> None:
    """P(1 | ill) = (ones + 1) / (rows + 2) by Laplace's rule."""
    rows = table()
    model = bw.fit(rows, "state", model="naive-bayes", ignore=["share", "visits"])
    flag, state = np.array(rows["smoker"]), np.array(rows["state"])
    ill, well = (
        np.mean(state == each) * (flag[state == each].sum() + 1) / (np.sum(state == each) + 2)
        for each in ("ill", "well")
    )
    assert model.predict_proba({"smoker": 1})[0].tolist() == pytest.approx([ill / (ill + well), well / (ill + well)])


def test_flags_are_numbers_on_request() -> None:
    rows = table()
    settings: list[dict[str, Any]] = [
        {"kinds": {"smoker": "number"}},
        {"families": "normal"},
        {"families": {"smoker": "normal"}},
    ]
    for how in settings:
        assert bw.fit(rows, "state", model="naive-bayes", **how).facts().families["smoker"] == "normal"
    assert (
        bw.fit(rows, "state", model="naive-bayes", families={"smoker": "bernoulli"}).schema["smoker"].kind == "binary"
    )


def test_models_of_numbers_keep_flags_as_numbers() -> None:
    rows = table()
    for kind in ("gaussian", "logistic"):
        assert bw.fit(rows, "state", model=kind).schema.numbers == ("smoker", "share", "visits")  # type: ignore[call-overload]


def test_estimators_take_flags_of_frames_as_flags_and_matrices_as_numbers() -> None:
    rows = table()
    y = rows.pop("state")
    frame = pd.DataFrame(rows)
    assert bw.NaiveBayes().fit(frame, y).model_.schema.categories == ("smoker",)
    assert bw.NetworkClassifier().fit(frame, y).model_.schema.categories == ("smoker",)
    assert bw.NaiveBayes(families="normal").fit(frame, y).model_.schema.numbers == ("smoker", "share", "visits")
    assert bw.NaiveBayes(kinds={"smoker": "number"}).fit(frame, y).model_.schema.categories == ()
    assert bw.NaiveBayes().fit(frame.to_numpy(dtype=float), y).model_.schema.categories == ()
    assert bw.LogisticRegression().fit(frame, y).model_.schema.categories == ()


def test_another_value_in_a_later_batch_says_how_to_learn_numbers() -> None:
    frame = pd.DataFrame({"f": [0, 1, 0, 1]})
    model = bw.NaiveBayes().partial_fit(frame, list("abab"))
    with pytest.raises(bw.BayeswiseError, match="--number f"):
        model.partial_fit(pd.DataFrame({"f": [2]}), ["a"])


def test_thousands_of_flags_are_found_in_one_look() -> None:
    X = (np.random.default_rng(0).random((60, 5_000)) < 0.5).astype(float)
    columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    schema = infer_schema(open_source(pd.DataFrame({**columns, "y": ["a", "b"] * 30})), "y")
    assert len(schema.categories) == 5_000
    assert len(schema.forms) == 1
