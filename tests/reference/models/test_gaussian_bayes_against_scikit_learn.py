"""Equality with scikit-learn where the conventions coincide, and the whole suite of its checks.

LinearDiscriminantAnalysis with solver="lsqr" divides by n, our variance_divisor="n". QuadraticDiscriminantAnalysis
divides by n in newer versions and by n - 1 in older ones, so the test reads its divisor off its covariances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayeswise as bw

pytestmark = pytest.mark.filterwarnings("ignore::bayeswise.models.gaussian_bayes.SingularWarning")
LOADS = [load_iris, load_wine]


@parametrize_with_checks(
    [
        bw.GaussianBayes(),
        bw.GaussianBayes("shared", variance_divisor="n-K", shrinkage="auto"),
        bw.GaussianBayes("spherical", missing="error"),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def divisor_of_qda(X: Any, y: Any) -> str:
    found = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y).covariance_[0]
    return "n" if np.allclose(found, np.cov(X[y == 0].T, bias=True), rtol=1e-6) else "n-1"


@pytest.mark.parametrize("load", LOADS)
def test_per_class_covariances_are_quadratic_discriminant_analysis(load: Any) -> None:
    X, y = load(return_X_y=True)
    ours = bw.GaussianBayes(variance_divisor=divisor_of_qda(X, y)).fit(X, y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    assert ours.predict_log_proba(X) == pytest.approx(theirs.predict_log_proba(X), rel=1e-8, abs=1e-8)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-8)


@pytest.mark.parametrize("load", [*LOADS, load_breast_cancer])
def test_a_shared_covariance_is_linear_discriminant_analysis(load: Any) -> None:
    X, y = load(return_X_y=True)
    ours = bw.GaussianBayes("shared").fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-8)
    if len(theirs.classes_) == 2:
        discriminant = ours.model_.linear(1, 0)
        assert discriminant.w == pytest.approx(theirs.coef_[0], rel=1e-6)
        assert discriminant.w0 == pytest.approx(theirs.intercept_[0], rel=1e-6)


def test_fishers_projection_is_that_of_linear_discriminant_analysis_up_to_scale_and_sign() -> None:
    X, y = load_iris(return_X_y=True)
    ours = bw.GaussianBayes("shared").fit(X, y).transform(X)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).transform(X)
    for k in range(2):
        assert abs(np.corrcoef(ours[:, k], theirs[:, k])[0, 1]) == pytest.approx(1.0, abs=1e-10)


def test_a_diagonal_covariance_is_gaussian_naive_bayes() -> None:
    X, y = load_wine(return_X_y=True)
    ours = bw.GaussianBayes("diagonal").fit(X, y).predict_proba(X)
    assert ours == pytest.approx(GaussianNB(var_smoothing=0).fit(X, y).predict_proba(X), abs=1e-10)


def test_automatic_shrinkage_is_oracle_approximating_shrinkage_of_standardised_columns() -> None:
    X, y = load_wine(return_X_y=True)
    model = bw.GaussianBayes(shrinkage="auto").fit(X, y).model_
    for state in range(3):
        rows = X[y == state]
        expected = OAS(assume_centered=True).fit(StandardScaler().fit_transform(rows)).covariance_
        stddev = np.sqrt(np.diagonal(model.covariances[state]))
        assert model.covariances[state] / stddev / stddev[:, None] == pytest.approx(expected, abs=1e-10)
        assert stddev == pytest.approx(rows.std(axis=0), rel=1e-12)


def test_weights_are_repetitions_of_rows() -> None:
    X, y = load_iris(return_X_y=True)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    for form in ("per-class", "shared", "spherical"):
        weighted = bw.GaussianBayes(form, variance_divisor="n-1").fit(X, y, sample_weight=times.astype(float))
        repeated = bw.GaussianBayes(form, variance_divisor="n-1").fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert weighted.predict_proba(X).tolist() == repeated.predict_proba(X).tolist()


def test_batches_with_new_classes_are_one_fit() -> None:
    X, y = load_iris(return_X_y=True)
    parts = bw.GaussianBayes("shared")
    for start in range(0, 150, 30):
        parts.partial_fit(X[start : start + 30], y[start : start + 30])
    whole = bw.GaussianBayes("shared").fit(X, y)
    assert parts.classes_.tolist() == [0, 1, 2]
    assert parts.predict_proba(X).tolist() == whole.predict_proba(X).tolist()
    assert whole.forget(X[:60], y[:60]).classes_.tolist() == [1, 2]


def test_it_works_in_pipelines_and_searches() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), bw.GaussianBayes()),
        {"gaussianbayes__covariance": ["per-class", "shared"], "gaussianbayes__shrinkage": [0.0, 0.1, "auto"]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.94
