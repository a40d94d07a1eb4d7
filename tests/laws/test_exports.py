"""What holds for all models: the query and the graph give the posterior of the model, whatever the table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError
from tests.cases.classifier_cases import fit_network
from tests.cases.export_cases import posterior_in
from tests.databases import Lite

KINDS = ("naive-bayes", "averaged", "logistic", "tan", "aode", "a2de", "k-dependence")


def a_column(generator: np.random.Generator, n_rows: int) -> list[Any]:
    cells: list[Any] = [
        lambda: generator.normal(size=n_rows).tolist(),
        lambda: generator.integers(0, 4, n_rows).tolist(),
        lambda: [f"l{x}" for x in generator.integers(0, generator.integers(1, 5), n_rows)],
        lambda: (generator.random(n_rows) < 0.5).tolist(),
        lambda: [7.5] * n_rows,
        lambda: (1e9 + generator.normal(size=n_rows)).tolist(),
    ][generator.integers(0, 6)]()
    share = generator.choice([0.0, 0.1, 0.6])
    return [None if generator.random() < share else cell for cell in cells]


def a_case(seed: int, kind: str) -> tuple[Any, dict[str, list[Any]], Any]:
    """A model, rows, and their posteriors; NaN where the model refuses a row."""
    generator = np.random.default_rng(seed)
    n_rows = int(generator.integers(3, 30))
    table = {f"c{k}": a_column(generator, n_rows) for k in range(generator.integers(1, 5))}
    classes = [f"k{x}" for x in generator.integers(0, generator.integers(1, 4), n_rows)]
    policies = {"unseen": str(generator.choice(["smooth", "ignore"]))} if kind != "logistic" else {}
    if kind not in ("logistic", "averaged"):
        policies["missing"] = str(generator.choice(["ignore", "level"]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows_and_classes: Any = {**table, "y": classes}
            if kind == "a2de":  # a structure, not a kind by itself
                model: Any = fit_network(rows_and_classes, "y", structure="a2de", **policies)
            else:
                model = bw.fit(rows_and_classes, target="y", model=kind, **policies)
    except BayeswiseError:
        assume(False)
    rows = {name: [None if generator.random() < 0.2 else cell for cell in cells] for name, cells in table.items()}
    for cells in rows.values():
        if any(isinstance(cell, str) for cell in cells):
            cells[0] = "never seen"
    expected = np.full((n_rows, len(model.classes)), np.nan)
    for row in range(n_rows):
        try:
            expected[row] = model.predict_proba({name: [cells[row]] for name, cells in rows.items()})[0]
        except BayeswiseError:
            continue
    return model, rows, expected


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32))
def test_a_query_is_the_model(kind: str, seed: int) -> None:
    model, rows, expected = a_case(seed, kind)
    found = posterior_in(Lite().answers(rows, model.to_sql("sqlite")), model)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32))
def test_a_graph_has_the_same_bytes_each_time(kind: str, seed: int) -> None:
    model, _, _ = a_case(seed, kind)
    assert model.to_onnx() == model.to_onnx()
