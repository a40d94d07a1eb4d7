"""A prior of the classes is checked when a model is fitted, and classes keep the order in which they were declared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError, PriorError

KINDS = ["naive-bayes", "averaged", "gaussian", "tan", "aode", "k-dependence", "markov-blanket"]
ROWS = {"x": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0], "z": [2.0, 1.0, 3.0, 8.0, 9.0, 7.0], "y": 3 * ["green"] + 3 * ["ripe"]}
BAD = [
    ({"green": 0.7, "ripe": 0.2}, "sums to 0.9"),
    ({"green": 1.5, "ripe": -0.5}, "'ripe' must be a number from 0 to 1"),
    ({"green": math.nan, "ripe": 0.5}, "found nan"),
    ({"green": 1.0}, "no entry for state 'ripe'"),
    ({"green": 0.5, "rip": 0.5}, "unknown state 'rip'.*did you mean 'ripe'"),
    ({}, "names no state"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("prior", "message"), BAD)
def test_a_prior_that_is_none_is_refused_by_fit(kind: str, prior: dict[str, float], message: str) -> None:
    with pytest.raises(PriorError, match=message):
        bw.fit(ROWS, "y", model=kind, class_prior=prior)  # type: ignore[call-overload]


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_of_prior_zero_stays_impossible(kind: str) -> None:
    model = bw.fit(ROWS, "y", model=kind, class_prior={"green": 0.0, "ripe": 1.0})  # type: ignore[call-overload]
    assert model.predict_proba(ROWS).tolist() == 6 * [[0.0, 1.0]]


@pytest.mark.parametrize("estimator", [bw.NaiveBayes, bw.GaussianBayes, bw.AveragedNaiveBayes, bw.NetworkClassifier])
@pytest.mark.parametrize(("prior", "message"), BAD)
def test_an_estimator_refuses_it_by_fit_and_is_not_fitted(
    estimator: Any, prior: dict[str, float], message: str
) -> None:
    maker = estimator(class_prior=prior)
    X = np.column_stack([ROWS["x"], ROWS["z"]])
    with pytest.raises(PriorError, match=message):
        maker.fit(X, ROWS["y"])
    assert not hasattr(maker, "model_")


def test_rows_that_come_in_parts_may_lack_a_class_of_the_prior_but_not_the_other_way_round() -> None:
    X = np.column_stack([ROWS["x"], ROWS["z"]])
    maker = bw.NaiveBayes(class_prior={"green": 0.9, "ripe": 0.1})
    maker.partial_fit(X[:3], ROWS["y"][:3]).partial_fit(X[3:], ROWS["y"][3:])
    assert np.exp(maker.model_.log_prior) == pytest.approx([0.9, 0.1])
    with pytest.raises(PriorError, match="no entry for state 'rotten'"):
        maker.partial_fit(X[:1], ["rotten"])


def test_declared_classes_are_compared_before_a_row_is_read() -> None:
    rows = iter([{"x": 1.0, "y": "green"}])
    with pytest.raises(PriorError, match="unknown state 'rip'"):
        bw.fit(
            list(rows),
            "y",
            kinds={"x": "number"},
            levels={"y": ["ripe", "green"]},
            class_prior={"green": 0.5, "rip": 0.5},
            model="naive-bayes",
        )


def test_another_prior_of_a_fitted_model_is_checked_at_once() -> None:
    model = bw.fit(ROWS, "y", model="naive-bayes")
    with pytest.raises(PriorError, match=r"sums to 0\.9"):
        model.changed(class_prior={"green": 0.7, "ripe": 0.2})
    with pytest.raises(PriorError, match="no entry for state 'ripe'"):
        model.changed(class_prior={"green": 1.0})


# -- the order of classes -------------------------------------------------------------------------------------
ORDER = ["ripe", "green"]
DECLARED: dict[str, tuple[Any, dict[str, Any]]] = {
    "levels": (ROWS, {"levels": {"y": ORDER}}),
    "pandas": (pd.DataFrame(ROWS).assign(y=pd.Categorical(ROWS["y"], ORDER)), {}),
    "polars": (pl.DataFrame(ROWS).with_columns(pl.col("y").cast(pl.Enum(ORDER))), {}),
}


@pytest.mark.parametrize("kind", [*KINDS, "logistic"])
@pytest.mark.parametrize("how", DECLARED)
def test_classes_keep_the_declared_order(kind: str, how: str, tmp_path: Path) -> None:
    table, overrides = DECLARED[how]
    model = bw.fit(table, "y", model=kind, **overrides)  # type: ignore[call-overload]
    sorted_model = bw.fit(ROWS, "y", model=kind)  # type: ignore[call-overload]
    assert model.classes == ("ripe", "green") and sorted_model.classes == ("green", "ripe")
    close = pytest.approx(sorted_model.predict_proba(ROWS)[:, ::-1], abs=1e-12)
    assert model.predict_proba(ROWS) == close
    model.save(tmp_path / "model")
    assert bw.load(tmp_path / "model").classes == ("ripe", "green")


def test_ties_go_to_the_first_declared_class() -> None:
    rows = {"x": [1.0, 2.0, 1.0, 2.0], "y": ["a", "a", "b", "b"]}
    for order in (["a", "b"], ["b", "a"]):
        model = bw.fit(rows, "y", kinds={"x": "number"}, levels={"y": order}, model="naive-bayes")
        assert model.predict({"x": [1.5]}) == [order[0]]


def test_rows_in_any_parts_give_one_file_in_the_declared_order(tmp_path: Path) -> None:
    overrides: dict[str, Any] = {"model": "naive-bayes", "levels": {"y": ["b", "c", "a"]}, "kinds": {"x": "number"}}
    rows = [{"x": float(k), "y": "abc"[k % 3]} for k in range(9)]
    whole = bw.fit(rows, "y", **overrides)
    parts = bw.fit(rows[:1], "y", **overrides).learn(rows[4:]).merge(bw.fit(rows[1:4], "y", **overrides))
    for name, model in {"whole": whole, "parts": parts, "again": parts.learn(rows[:2]).forget(rows[:2])}.items():
        assert model.classes == ("b", "c", "a")
        model.save(tmp_path / name)
    assert len({(tmp_path / name).read_bytes() for name in ("whole", "parts", "again")}) == 1


def test_estimators_sort_their_classes_as_scikit_learn_demands() -> None:
    y = pd.Series(pd.Categorical(ROWS["y"], ORDER))
    fitted = bw.NaiveBayes().fit(np.column_stack([ROWS["x"], ROWS["z"]]), y)
    assert fitted.classes_.tolist() == ["green", "ripe"]


def test_a_learner_keeps_the_order_and_takes_a_prior() -> None:
    rows = [{"x": float(k)} for k in range(4)]
    how: dict[str, Any] = {"target": "y", "classes": ORDER, "kinds": {"x": "number"}}
    learner = bw.ActiveLearner.over(rows, class_prior={"green": 0.25, "ripe": 0.75}, **how)
    assert learner.classes == ("ripe", "green")
    assert np.exp(learner.model.log_prior) == pytest.approx([0.75, 0.25])
    learner.teach(0, "green").teach(1, "green").teach(3, "ripe")
    assert np.exp(learner.model.log_prior) == pytest.approx([0.75, 0.25])
    with pytest.raises(PriorError, match=r"sums to 0\.9"):
        bw.ActiveLearner.over(rows, class_prior={"green": 0.2, "ripe": 0.7}, **how)
    with pytest.raises(ParameterError, match="at least two classes"):
        bw.ActiveLearner.over(rows, **{**how, "classes": ["ripe"]})
