"""Weights of rows that no sum of squares can be multiplied by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import SchemaError

KINDS: list[dict[str, Any]] = [
    {"model": "naive-bayes"},
    {"model": "averaged"},
    {"model": "gaussian"},
    {"model": "logistic"},
    {"model": "linear"},
    {"model": "linear", "likelihood": "student-t"},
    {"model": "tan"},
    {"model": "markov-blanket"},
]


def rows_of(weights: list[float]) -> list[dict[str, float]]:
    cells = np.random.default_rng(0).normal(size=(20, 2)).tolist()
    return [{"a": a, "b": b, "y": float(k % 2), "w": weights[k % len(weights)]} for k, (a, b) in enumerate(cells)]


@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_the_message_is_about_the_weights(options: dict[str, Any], weight: float) -> None:
    with pytest.raises(SchemaError, match=r"the weight in row 2 of column 'w' is .*between 1e-100 and 1e.100"):
        bw.fit(rows_of([1.0, weight]), "y", weight="w", kinds={"a": "number", "b": "number"}, **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize("weights", [[1e100], [1e-100], [1e100, 1e-100]])
def test_up_to_there_answers_are_finite(options: dict[str, Any], weights: list[float]) -> None:
    rows = rows_of(weights)
    model = bw.fit(rows, "y", weight="w", kinds={"a": "number", "b": "number"}, **options)
    answer = model.predict(rows) if options["model"] == "linear" else model.predict_proba(rows)
    assert np.isfinite(answer).all()


@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_estimators_say_the_same_of_sample_weights(weight: float) -> None:
    for estimator in (bw.NaiveBayes(), bw.GaussianBayes(), bw.LogisticRegression(), bw.LinearRegression()):
        with pytest.raises(SchemaError, match="the weight in row 1 of sample_weight"):
            estimator.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], sample_weight=[weight] * 4)
