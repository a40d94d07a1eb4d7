"""Fixes that errors name are ones for what was given: an array, one row, a posterior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import MissingColumnError, ParameterError


def test_an_array_is_not_told_to_assign() -> None:
    numbers, y = np.zeros((3, 2)), np.array([0, 1, 0])
    with pytest.raises(ParameterError, match="add y to the table as a column, or use an estimator"):
        bw.fit(numbers, y)
    with pytest.raises(ParameterError, match=r"fit\(X.assign\(y=y\), 'y'\)"):
        bw.fit(pd.DataFrame(numbers), y)


def test_one_row_is_called_the_row() -> None:
    model = bw.fit([{"x": x, "y": x > 2} for x in range(6)], "y", model="naive-bayes")
    with pytest.raises(MissingColumnError, match=r"^the row has no column 'x'"):
        model.predict_proba({"z": 1})


def test_a_posterior_above_1_is_answered_with_what_to_give() -> None:
    with pytest.raises(ParameterError, match=r"found 1\.2\. Fix: give probabilities"):
        bw.decide({"a": [1.2], "b": [0.0]}, {"go": {"a": 0, "b": 1}, "stay": 1})
