"""y has a class in every row: a missing one is an error that names the row."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import DataError

X = np.arange(8.0).reshape(-1, 1)


@pytest.mark.parametrize(
    "y",
    [
        ["a", None, "b", "a"] * 2,
        ["a", float("nan"), "b", "a"] * 2,
        np.array(["a", None, "b", "a"] * 2, dtype=object),
        np.array([0.0, np.nan, 1.0, 1.0] * 2),
        pd.Series(["a", pd.NA, "b", "a"] * 2),
        pd.Series([1, None, 2, 1] * 2, dtype="Int64"),
        pd.Series(["a", None, "b", "a"] * 2, dtype="category"),
    ],
)
@pytest.mark.parametrize("estimator", [bw.NaiveBayes(), bw.LogisticRegression()])
def test_a_missing_class_is_an_error_that_names_its_row(y: Any, estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=r"y contains NaN or None in row 2 and 1 more\. Fix: leave out the rows"):
            estimator.fit(X, y)


def test_an_infinite_class_is_an_error_and_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match="y contains infinity in row 4"):
            bw.NaiveBayes().fit(X, [0.0, 1.0, 1.0, np.inf] * 2)


def test_texts_that_look_missing_are_classes() -> None:
    assert bw.NaiveBayes().fit(X, ["nan", "None"] * 4).classes_.tolist() == ["None", "nan"]
