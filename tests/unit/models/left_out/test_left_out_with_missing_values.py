"""Rows left out of Gaussian classes whose tables have missing cells: the same as a fit without the row."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models.gaussian_bayes.em import complete


def a_table_with_holes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = generator.normal(size=(n, 3)) @ generator.normal(size=(3, 3)) + 0.8 * y[:, None] + 50.0
    X[generator.random(X.shape) < 0.15] = np.nan
    X[0] = np.nan  # a row that shows nothing
    return X, y, generator.integers(1, 4, n).astype(float)


def refitted(settings: dict[str, Any], X: Any, y: Any, weights: Any, row: int) -> bw.GaussianBayes:
    others = np.arange(len(X)) != row
    return bw.GaussianBayes(**settings).fit(X[others], y[others], weights[others])


@pytest.mark.parametrize("divisor", ["n", "n-1", "n-K"])
@pytest.mark.parametrize("covariance", ["diagonal", "shared-diagonal", "spherical"])
def test_variances_are_downdated_cell_by_cell(covariance: str, divisor: str) -> None:
    settings = {"covariance": covariance, "variance_divisor": divisor}
    X, y, weights = a_table_with_holes(45)
    model = bw.GaussianBayes(**settings).fit(X, y, weights)
    posterior, evidence = model.leave_one_out(X, y, weights), model.leave_one_out_evidence(X, y, weights)
    for row in range(0, 45, 4):
        again = refitted(settings, X, y, weights, row)
        assert posterior[row] == pytest.approx(again.predict_proba(X[row : row + 1])[0], rel=1e-11)
        assert evidence[row] == pytest.approx(again.log_evidence(X[row : row + 1])[0], rel=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"covariance": "shared", "variance_divisor": "n-K"},
        {"shrinkage": "auto", "variance_divisor": "n-1"},
        {"predictive": "student-t"},
        {"covariance": "shared", "predictive": "student-t", "class_prior": {0: 0.5, 1: 0.3, 2: 0.2}},
    ],
    ids=str,
)
def test_covariances_are_completed_again_from_where_they_were(settings: dict[str, Any]) -> None:
    """EM stops where nothing moves by 1e-13 stddevs, so that two ways to one end meet."""
    X, y, weights = a_table_with_holes(90)
    model = bw.GaussianBayes(**settings).fit(X, y, weights)
    for row in (0, 7, 20):
        one = (X[row : row + 1], y[row : row + 1], weights[row : row + 1])
        again = refitted(settings, X, y, weights, row)
        assert model.leave_one_out(*one) == pytest.approx(again.predict_proba(one[0]), abs=1e-10)
        assert model.leave_one_out_evidence(*one) == pytest.approx(again.log_evidence(one[0]), abs=1e-9)


@pytest.mark.filterwarnings("ignore:the covariance is singular")
def test_the_last_cell_of_a_class_is_left_out_by_a_fit_of_the_others() -> None:
    X, y, weights = a_table_with_holes(30)
    X[y == 1, 2] = np.nan
    X[4, 2] = 7.0  # the only cell of its column in class 1
    assert y[4] == 1
    model = bw.GaussianBayes(covariance="diagonal").fit(X, y, weights)
    again = refitted({"covariance": "diagonal"}, X, y, weights, 4)
    assert model.leave_one_out(X, y, weights)[4] == pytest.approx(again.predict_proba(X[4:5])[0], rel=1e-11)


def test_variances_with_missing_values_are_left_out_without_refits() -> None:
    X, y, weights = a_table_with_holes(6_000)
    model = bw.GaussianBayes(covariance="diagonal").fit(X, y, weights)
    began = time.process_time()
    model.leave_one_out(X, y, weights)
    assert time.process_time() - began < 2.0  # by refits it takes more than a minute


@pytest.mark.parametrize("covariance", ["per-class", "shared"])
def test_rows_left_out_together_are_those_left_out_one_by_one(covariance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, weights = a_table_with_holes(60)
    model = bw.GaussianBayes(covariance=covariance).fit(X, y, weights)
    together = model.leave_one_out(X, y, weights)
    monkeypatch.setattr("bayeswise.models.gaussian_bayes.left_out_entries._ROWS_TOGETHER", 1)
    assert np.array_equal(together, model.leave_one_out(X, y, weights))


@pytest.mark.filterwarnings("ignore:the covariance is singular")
@pytest.mark.parametrize("covariance", ["per-class", "shared"])
def test_rows_of_singular_classes_are_left_out_by_one_em_that_does_what_a_fit_of_each_does(
    covariance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, weights = a_table_with_holes(40)
    X[:, 2] = X[:, 0] + X[:, 1]  # missing where one of both is
    model = bw.GaussianBayes(covariance=covariance).fit(X, y, weights)
    assert model.model_.singular
    runs: list[int] = []

    def counted(tables: Any, **settings: Any) -> Any:
        runs.append(len(tables))
        return complete(tables, **settings)

    monkeypatch.setattr("bayeswise.models.gaussian_bayes.class_moments.complete", counted)
    found, evidence = model.leave_one_out(X, y, weights), model.leave_one_out_evidence(X, y, weights)
    assert runs == [40, 40]
    for row in range(0, 40, 4):
        again = refitted({"covariance": covariance}, X, y, weights, row)
        assert found[row] == pytest.approx(again.predict_proba(X[row : row + 1])[0], abs=1e-10)
        assert evidence[row] == pytest.approx(again.log_evidence(X[row : row + 1])[0], abs=1e-9)


def test_a_leave_one_out_that_takes_long_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = a_table_with_holes(60)
    table = {**{f"x{k}": [None if np.isnan(x) else x for x in X[:, k]] for k in range(3)}, "y": [f"c{k}" for k in y]}
    model = bw.fit(table, "y", model="gaussian")
    monkeypatch.setattr(type(model), "rows_left_out_at_once", 16)
    done: list[int] = []
    in_parts = bw.evaluate(model, table, cv="loo", progress=done.append)
    assert done[:4] == [16, 16, 16, 12]
    assert in_parts.log_loss == pytest.approx(bw.evaluate(model, table, cv="loo").log_loss)
