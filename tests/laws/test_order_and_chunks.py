"""The same rows give the same model file: in any order, any chunks, on any number of threads, once or many times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.files import bytes_of
from bayeswise.tables.source import open_source

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "naive-bayes": {"model": "naive-bayes"},
    "averaged": {"model": "averaged"},
    "gaussian": {"model": "gaussian", "ignore": ["c", "d"], "missing": "ignore"},
    "gaussian shared": {"model": "gaussian", "ignore": ["c", "d"], "covariance": "shared", "shrinkage": "auto"},
    "tan": {"model": "tan"},
    "aode": {"model": "aode"},
    "k-dependence": {"model": "k-dependence"},
    "markov-blanket": {"model": "markov-blanket"},
    "tan by EM": {"model": "tan", "missing": "em"},
    "logistic": {"model": "logistic", "missing": "mean"},
    "logistic laplace": {"model": "logistic", "prior": "laplace", "missing": "mean"},
    "logistic student-t": {"model": "logistic", "prior": "student-t", "missing": "mean", "marginalize": True},
    "logistic evidence": {"model": "logistic", "scale": "evidence", "missing": "mean"},
    "logistic cv": {"model": "logistic", "scale": "cv", "missing": "mean"},
}
REGRESSIONS: dict[str, dict[str, Any]] = {
    f"{likelihood} {prior}": {"model": "linear", "likelihood": likelihood, "prior": prior, "missing": "mean"}
    for likelihood in ("gaussian", "student-t", "laplace", "poisson", "exponential")
    for prior in ("gaussian", "laplace", None)
}


def table(seed: int, n_classes: int = 2, n_rows: int = 40) -> dict[str, list[Any]]:
    """Two numbers, a category with missing cells, one that is often missing, a class and a number above 0."""
    generator = np.random.default_rng(seed)
    x, z = generator.normal(size=n_rows).round(2), generator.exponential(size=n_rows)
    c, d = generator.integers(0, 3, n_rows), generator.integers(0, 2, n_rows)
    score = x + c - 1.0 + generator.normal(size=n_rows)
    return {
        "x": [None if generator.random() < 0.1 else float(v) for v in x],
        "z": z.tolist(),
        "c": [None if generator.random() < 0.1 else "uvw"[k] for k in c],
        "d": [None if generator.random() < 0.4 else "pq"[k] for k in d],
        "class": ["abcd"[min(int(abs(s) * 2) % n_classes, 3)] for s in score],
        "amount": np.ceil(3 * np.exp(0.3 * score)).tolist(),
        "n": generator.integers(1, 4, n_rows).tolist(),
    }


def picked(columns: dict[str, list[Any]], rows: Any) -> dict[str, list[Any]]:
    return {name: [cells[int(k)] for k in rows] for name, cells in columns.items()}


def model_bytes(columns: dict[str, list[Any]], target: str, other: str, chunk_rows: int, options: Any) -> bytes:
    overrides = {**options, "ignore": [other, *options.get("ignore", [])], "weight": "n"}
    return bytes_of(bw.fit(open_source(columns, chunk_rows=chunk_rows), target, **overrides))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSIONS])
@settings(max_examples=6)
@given(st.integers(0, 10_000), st.integers(1, 39), st.sampled_from([2, 3]))
def test_order_and_chunks_of_the_rows_never_change_the_model(
    name: str, seed: int, chunk_rows: int, n_classes: int
) -> None:
    columns = table(seed, n_classes)
    target, other = ("class", "amount") if name in CLASSIFIERS else ("amount", "class")
    options = {**CLASSIFIERS, **REGRESSIONS}[name]
    whole = model_bytes(columns, target, other, 100_000, options)
    order = np.random.default_rng(seed).permutation(40)
    assert model_bytes(picked(columns, order), target, other, chunk_rows, options) == whole


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSIONS])
def test_a_weight_of_k_is_k_rows_to_the_last_byte(name: str) -> None:
    columns = table(3)
    target, other = ("class", "amount") if name in CLASSIFIERS else ("amount", "class")
    options = {**CLASSIFIERS, **REGRESSIONS}[name]
    many = picked(columns, np.repeat(np.arange(40), columns["n"]))
    many["n"] = [1] * len(many["n"])
    assert model_bytes(many, target, other, 7, options) == model_bytes(columns, target, other, 100_000, options)


@pytest.mark.parametrize("likelihood", ["gaussian", "student-t", "poisson"])
@example(empty=6, chunk_rows=6)
@given(st.integers(1, 6), st.integers(1, 12))
@settings(max_examples=15)
def test_a_category_that_is_empty_in_a_whole_chunk_is_missing_there(
    likelihood: str, empty: int, chunk_rows: int
) -> None:
    rows = [
        {"x": k / 2, "c": None if k < empty else "uv"[k % 2], "y": float(k % 5 + 1 + 3 * (k % 2))} for k in range(12)
    ]
    options: dict[str, Any] = {"model": "linear", "likelihood": likelihood, "missing": "mean"}
    whole = bw.fit(open_source(rows), "y", **options, kinds={"x": "number"})
    parts = bw.fit(open_source(rows, chunk_rows=chunk_rows), "y", **options, kinds={"x": "number"})
    alone = bw.fit(rows[empty:], "y", **options, schema=whole.schema)
    assert bytes_of(parts) == bytes_of(whole)
    assert np.array_equal(whole.weights, alone.weights)


@pytest.mark.parametrize("estimator", [bw.LogisticRegression, bw.LinearRegression])
@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_the_layout_of_an_array_never_changes_model_or_answers(estimator: Any, seed: int) -> None:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(50, 7)) * [1, 10, 100, 1, 1, 1, 1e-3]
    y = (X[:, 0] + generator.normal(size=50) > 0).astype(int)
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[:, ::-1].copy()[:, ::-1]):
        one, two = estimator().fit(X, y), estimator().fit(other, y)
        assert bytes_of(one.model_) == bytes_of(two.model_)
        assert np.array_equal(one.predict(X), two.predict(other))
        single = np.concatenate([one.predict(row[None]) for row in X])
        assert np.array_equal(single, one.predict(other))


@pytest.mark.parametrize("model", ["naive-bayes", "averaged", "tan", "aode"])
def test_parts_merge_to_the_bytes_of_the_whole_where_levels_are_declared_in_an_order_of_their_own(model: str) -> None:
    columns = {name: cells for name, cells in table(5, n_rows=60).items() if name in ("c", "d", "class")}
    declared = {"levels": {"c": ["w", "u", "v", "z"], "d": ["q", "p"], "class": ["b", "c", "a"]}}
    parts = [bw.fit(picked(columns, rows), "class", model=model, **declared) for rows in (range(25), range(25, 60))]
    assert bytes_of(parts[0].merge(parts[1])) == bytes_of(bw.fit(columns, "class", model=model, **declared))
