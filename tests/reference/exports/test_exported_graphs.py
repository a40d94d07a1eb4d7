"""Exported graphs in ONNX Runtime: doubles throughout, so that posteriors agree to 1e-12."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from tests.cases.export_cases import CASES, EXAMPLES, REGRESSIONS, decided_in, mixed

onnxruntime = pytest.importorskip("onnxruntime")
onnxruntime.disable_telemetry_events()

TOLERANCE = 1e-12


def answers_of(graph: bytes, rows: dict[str, list[Any]], missing_text: str = "") -> dict[str, Any]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    feed = {}
    for each in session.get_inputs():
        cells = rows[each.name]
        if each.type == "tensor(string)":
            feed[each.name] = np.array([missing_text if cell is None else cell for cell in cells], dtype=object)
        else:
            feed[each.name] = np.array([np.nan if cell is None else float(cell) for cell in cells])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


@pytest.mark.parametrize("case", list(CASES))
def test_a_graph_gives_the_posterior_of_the_model(case: str) -> None:
    model, rows = CASES[case]()
    answers = answers_of(model.to_onnx(), rows)
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(answers["probabilities"], expected, rtol=0.0, atol=TOLERANCE)
    predicted = answers[model.schema.target.name].tolist()
    clear = np.flatnonzero(decided_in(expected))
    most_probable = model.predict(rows)
    assert [predicted[row] for row in clear] == [str(most_probable[row]) for row in clear]


@pytest.mark.parametrize("case", list(REGRESSIONS))
def test_a_graph_gives_the_mean_of_a_regression(case: str) -> None:
    model, rows = REGRESSIONS[case]()
    expected = model.predict(rows)
    found = answers_of(model.to_onnx(), rows)["price"]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=TOLERANCE * np.abs(expected).max())


@pytest.mark.parametrize("case", ["mixed naive-bayes", "golf auto", "credit gaussian shared"])
def test_the_same_model_gives_the_same_bytes(case: str) -> None:
    model, _ = CASES[case]()
    assert model.to_onnx() == model.to_onnx()


def test_a_graph_decides_as_the_model_does() -> None:
    model, rows = CASES["credit naive-bayes"]()
    rows = {**rows, "amount": [1000.0 if cell is None else cell for cell in rows["amount"]]}
    answers = answers_of(model.to_onnx(costs=EXAMPLES / "credit.toml"), rows)
    expected = bw.decide(model, rows, EXAMPLES / "credit.toml")
    assert answers["action"].tolist() == expected.action.tolist()
    np.testing.assert_allclose(answers["expected_cost"], expected.least_cost, rtol=0.0, atol=1e-9)


def test_a_row_that_the_model_refuses_has_no_numbers_and_no_label() -> None:
    model = bw.fit(mixed(), target="class", model="naive-bayes", unseen="error")
    rows = {"x": [0.0, np.inf], "z": [5.0, 5.0], "n": [2, 2], "colour": ["red", "red"], "flag": [True, True]}
    answers = answers_of(model.to_onnx(), rows)
    assert np.isnan(answers["probabilities"][1]).all()
    assert answers["class"].tolist()[1] == ""
    assert not np.isnan(answers["probabilities"][0]).any()


def test_a_text_that_means_missing_is_never_a_level() -> None:
    import onnx

    table = {"a": ["", "x", "(missing)", "x"] * 5, "y": ["k", "l", "k", "l"] * 5}
    model = bw.fit(table, target="y", model="naive-bayes")
    graph = model.to_onnx()
    facts = {each.key: each.value for each in onnx.load_model_from_string(graph).metadata_props}
    assert json.loads(facts["classes"]) == ["k", "l"]
    missing = facts["missing_text"]
    assert missing not in table["a"]
    rows = {"a": ["", "x", None, "new"]}
    answers = answers_of(graph, rows, missing)
    np.testing.assert_allclose(answers["probabilities"], model.predict_proba(rows), rtol=0.0, atol=TOLERANCE)
