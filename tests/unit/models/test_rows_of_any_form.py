"""A user's row, in any form, gets an answer or a sentence that says what to type: for every model and every method."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError, ParameterError
from bayeswise.models.registry import MODELS

KINDS = (*(kind.name for kind in MODELS), "robust", "calibrated", "words")
METHODS = (
    *("predict", "predict_proba", "predict_log_proba", "explain", "log_joint", "posterior", "log_evidence", "log_odds"),
    *("predictive", "log_relative", "probability", "scored", "decide", "explain_action"),
)


@cache
def fitted(kind: str) -> tuple[Any, pd.DataFrame]:
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 40)
    table = pd.DataFrame({"x": generator.normal(size=40) + y, "z": generator.normal(size=40)})
    if kind == "words":
        texts = ["buy cheap pills now", "see you at lunch", "cheap cheap offer", "minutes of the meeting"] * 3
        table = pd.DataFrame({"text": texts, "y": ["yes", "no"] * 6})
        return bw.fit(table, "y", model="naive-bayes", kinds={"text": "text"}), table[["text"]]
    if kind != "gaussian":
        table["c"] = np.where(generator.random(40) < 0.3 + 0.4 * y, "a", "b")
    rows = table.copy()
    if kind in ("linear", "robust"):
        likelihood: Any = {"likelihood": "laplace"} if kind == "robust" else {}
        return bw.fit(table.assign(v=2 * table.x + generator.normal(size=40)), "v", model="linear", **likelihood), rows
    table["y"] = np.where(y, "yes", "no")
    if kind == "calibrated":
        return bw.fit(table, "y", model="naive-bayes", calibrate="sigmoid"), rows
    return bw.fit(table, "y", model=kind), rows


def one_row(frame: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Forms of the first row that identify it unambiguously."""
    one = frame.iloc[[0]]
    cells = one.iloc[0].to_dict()
    yield "dict", cells
    yield "list of one dict", [cells]
    yield "dict of lists", {name: [cell] for name, cell in cells.items()}
    yield "dict of arrays", {name: np.array([cell]) for name, cell in cells.items()}
    yield "pandas frame", one
    yield "pandas Series", one.iloc[0]
    yield "polars frame", pl.from_pandas(one)
    yield "polars lazy frame", pl.from_pandas(one).lazy()
    yield "polars named row", pl.from_pandas(one).row(0, named=True)
    yield "arrow table", pa.table({name: [cell] for name, cell in cells.items()})
    yield "named tuple", next(one.itertuples(index=False))
    yield "list of one named tuple", [next(one.itertuples(index=False))]


def other_things(frame: pd.DataFrame) -> Iterator[Any]:
    cells = frame.iloc[0].to_dict()
    yield from (None, 3, "hello", b"x", {1, 2}, object(), {}, [], (each for each in [cells]))
    yield from (list(cells.values()), tuple(cells.values()), [list(cells.values())], dict.fromkeys(cells))
    yield from (np.array(list(cells.values()), dtype=object), np.zeros(len(cells)), np.zeros((1, len(cells))))
    yield from (frame[frame.columns[0]], pl.from_pandas(frame)[frame.columns[0]], frame.iloc[:0], frame.iloc[:3])
    yield {name: [cell] if k else cell for k, (name, cell) in enumerate(cells.items())}


def answer(model: Any, method: str, row: Any) -> Any:
    costs = {"act": {"yes": 0, "no": 1}, "wait": {"yes": 2, "no": 0}}
    if method == "decide":
        return bw.decide(model, row, costs)
    if method == "explain_action":
        return bw.explain_action(model, row, costs)
    if method == "log_odds":
        return model.log_odds(row, "yes", "no")
    return getattr(model, method)(row)


def plain(value: Any) -> Any:
    for name in ("log_relative", "probability", "posterior", "expected_cost", "to_dict", "mean"):
        if hasattr(value, name):
            value = getattr(value, name)
    return value() if callable(value) else value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_one_row_is_one_row_in_every_form(kind: str, method: str) -> None:
    model, frame = fitted(kind)
    answers: dict[str, str] = {}
    for form, row in one_row(frame):
        try:
            answers[form] = str(plain(answer(model, method, row)))
        except BayeswiseError as error:
            assert error.fix
            answers[form] = f"{type(error).__name__}: {error}"
    assert len(set(answers.values())) == 1, answers


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_anything_else_is_a_table_or_a_sentence_that_says_what_to_type(kind: str, method: str) -> None:
    model, frame = fitted(kind)
    for thing in other_things(frame):
        try:
            answer(model, method, thing)
        except BayeswiseError as error:
            assert error.fix, error


def test_what_a_kind_of_model_does_not_say_is_not_there_for_hasattr() -> None:
    linear, logistic = fitted("linear")[0], fitted("logistic")[0]
    assert not hasattr(linear, "predict_proba") and not hasattr(logistic, "log_joint")
    with pytest.raises(BayeswiseError, match=r"Fix: use model.predict\(rows\)"):
        linear.predict_proba({"x": 1.0})
    with pytest.raises(AttributeError, match="no attribute 'predikt'"):
        linear.predikt  # noqa: B018


def test_decide_takes_a_model_and_its_rows() -> None:
    model, frame = fitted("naive-bayes")
    costs = bw.Costs({"act": {"yes": 0, "no": 1}, "wait": {"yes": 2, "no": 0}})
    by_hand = bw.decide(model.predict_proba(frame), costs, states=model.classes)
    found = bw.decide(model, frame, costs)
    assert found.action.tolist() == by_hand.action.tolist()
    assert bw.decide(model, rows=frame, costs=costs).action.tolist() == by_hand.action.tolist()
    assert bw.decide(model, frame.iloc[5], costs).action.tolist() == [by_hand.action[5]]
    estimator = bw.NaiveBayes().fit(frame, model.predict(frame))
    assert len(bw.decide(estimator, frame, costs)) == 40
    with pytest.raises(ParameterError, match=r"Fix: call decide\(model, rows, costs\)"):
        bw.decide(model, costs)
    with pytest.raises(ParameterError, match="needs a model"):
        bw.decide({"yes": [0.5], "no": [0.5]}, frame, costs)


def test_costs_that_depend_on_the_row_are_those_of_the_row() -> None:
    model, frame = fitted("naive-bayes")
    costs = bw.Costs({"act": {"yes": 0, "no": "10 + z"}, "wait": {"yes": 20, "no": 0}})
    every = bw.decide(model, frame, costs)
    for k in (0, 3):
        one = bw.decide(model, frame.iloc[k].to_dict(), costs)
        assert one.expected_cost[0] == pytest.approx(every.expected_cost[k])
        assert every.explain(k).expected_cost == pytest.approx(
            dict(zip(costs.actions, one.expected_cost[0], strict=True))
        )


def test_a_decision_file_is_named_by_its_path(tmp_path: Any) -> None:
    model, frame = fitted("naive-bayes")
    path = tmp_path / "decision.toml"
    path.write_text("[costs.act]\nyes = 0\nno = 1\n[costs.wait]\nyes = 2\nno = 0\n")
    assert bw.decide(model, frame, path).actions == ("act", "wait")


def test_y_in_the_place_of_the_target_says_what_to_type() -> None:
    _, frame = fitted("naive-bayes")
    y = ["yes", "no"] * 20
    for target in (y, np.array(y), pd.Series(y)):
        with pytest.raises(ParameterError, match=r"of 40 values. Fix: call fit\(X.assign\(y=y\), 'y'\)"):
            bw.fit(frame, target, model="naive-bayes")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="there is no target"):
        bw.fit(frame, model="naive-bayes")
