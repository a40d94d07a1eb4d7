"""Gaussian Bayes of many columns: forms without correlations keep the sums of each column alone, and no pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import bayeswise as bw
from bayeswise.foundation.errors import FitError, TooLargeError
from bayeswise.models.gaussian_bayes import model as gaussian
from bayeswise.statistics import Moments, PatternScatter, fingerprint

FORMS = ["diagonal", "shared-diagonal", "spherical"]


@pytest.fixture
def without_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep no pairs, however few columns there are."""
    monkeypatch.setattr(gaussian, "MOST_PAIRED_COLUMNS", 0)


def table(missing: float = 0.0, n_columns: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = np.arange(40) % 3
    X = (rng.normal(size=(40, n_columns)) + y[:, None]) * np.logspace(-3, 6, n_columns) + 1e4
    return np.where(rng.random(X.shape) < missing, np.nan, X), y


@pytest.mark.parametrize("covariance", FORMS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.usefixtures("without_pairs")
def test_the_answers_are_those_of_a_model_that_keeps_all_pairs(covariance: str, missing: float) -> None:
    X, y = table(missing)
    alone = bw.GaussianBayes(covariance=covariance).fit(X, y)
    paired = bw.GaussianBayes().fit(X, y).model_.changed(covariance=covariance)
    assert isinstance(alone.model_.statistic, Moments)
    assert isinstance(paired.statistic, PatternScatter)
    rows = {name: X[:, k] for k, name in enumerate(paired.columns)}
    np.testing.assert_allclose(alone.predict_proba(X), paired.predict_proba(rows), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(alone.model_.log_evidence(rows), paired.log_evidence(rows), rtol=1e-12)
    left_out = alone.leave_one_out(X, y), paired.leave_one_out(rows, targets=y)
    np.testing.assert_allclose(*left_out, rtol=1e-9, atol=1e-300)
    first = {name: cells[0] for name, cells in rows.items()}
    accounts = [
        [each.log_likelihood for each in model.explain(first).contributions] for model in (alone.model_, paired)
    ]
    np.testing.assert_allclose(accounts[0], accounts[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e150, 1e300])
@pytest.mark.usefixtures("without_pairs")
def test_numbers_at_the_ends_of_the_range_are_as_good_as_others(scale: float) -> None:
    X, y = table()
    X = (X - 1e4) / np.logspace(-3, 6, X.shape[1])
    near, far = (bw.GaussianBayes(covariance="diagonal").fit(cells, y).predict_proba(cells) for cells in (X, X * scale))
    np.testing.assert_allclose(near, far, rtol=1e-9)


@pytest.mark.usefixtures("without_pairs")
def test_rows_come_and_go_exactly(tmp_path: Path) -> None:
    X, y = table(0.1)
    whole = bw.GaussianBayes(covariance="diagonal").fit(X, y)
    parts = bw.GaussianBayes(covariance="diagonal").fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
    assert fingerprint(parts.model_.statistics) == fingerprint(whole.model_.statistics)
    whole.model_.save(tmp_path / "wide.bayeswise")
    loaded = bw.load(tmp_path / "wide.bayeswise")
    rows = {name: X[:, k] for k, name in enumerate(loaded.columns)}
    np.testing.assert_array_equal(loaded.predict_proba(rows), parts.predict_proba(X))
    again = whole.forget(X[25:], y[25:])
    first = bw.GaussianBayes(covariance="diagonal").fit(X[:25], y[:25])
    assert fingerprint(again.model_.statistics) == fingerprint(first.model_.statistics)


@pytest.mark.usefixtures("without_pairs")
def test_correlations_that_were_not_kept_are_not_offered() -> None:
    model = bw.GaussianBayes(covariance="diagonal").fit(*table()).model_
    assert model.changed(covariance="spherical").settings.covariance == "spherical"
    with pytest.raises(FitError, match=r"keeps the variances of its 5 columns.*fit with covariance='shared'"):
        model.changed(covariance="shared")


def test_sixty_rows_of_twenty_thousand_columns_are_what_scikit_learn_says() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20_000)), np.arange(60) % 3
    X += 0.01 * y[:, None]
    found = bw.GaussianBayes(covariance="diagonal").fit(X, y)
    expected = GaussianNB(var_smoothing=0.0).fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(found.predict_log_proba(X), expected, rtol=1e-9, atol=1e-6)
    with pytest.raises(TooLargeError, match=r"a matrix of all pairs of 20,000 columns would take 3\.2 GB"):
        _ = found.covariance_


def test_covariances_that_do_not_fit_into_memory_are_refused_with_what_does() -> None:
    X, y = np.zeros((3, 20_000)), [0, 1, 1]
    with pytest.raises(TooLargeError, match=r"20,000 columns.* take 9\.6 GB or more.*covariance='diagonal'"):
        bw.GaussianBayes(covariance="shared", shrinkage="auto").fit(X, y)
