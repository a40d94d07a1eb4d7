"""Linear regression as an estimator, and on awkward rows."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

import bayeswise as bw
from bayeswise.foundation.errors import DataError, FitError, MissingCellError, NonFiniteError, ParameterError
from bayeswise.models.files import bytes_of


@pytest.mark.parametrize(
    "beliefs",
    [
        {},
        {"prior": None},
        {"scale": "evidence"},
        {"prior": "laplace"},
        {"likelihood": "student-t"},
        {"likelihood": "laplace"},
        {"likelihood": "poisson"},
        {"likelihood": "exponential"},
        {"missing": "mean"},
        {"fit_intercept": False},
    ],
    ids=str,
)
def test_scikit_learn_accepts_it_without_expected_failures(beliefs: dict) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_estimator(bw.LinearRegression(**beliefs), on_fail=None, on_skip=None)
    assert [each["check_name"] for each in outcomes if each["status"] == "failed"] == []
    assert [each for each in outcomes if each["status"] == "xfail"] == []


def mixed(n: int = 80) -> tuple[pd.DataFrame, pd.Series]:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"age": generator.normal(40, 10, n), "size": np.tile(["S", "M", "L", "M"], n // 4)})
    return frame, 0.1 * frame["age"] + frame["size"].map({"S": 0.0, "M": 1.0, "L": 3.0}) + 5.0


def test_weights_of_a_mixed_table_are_in_original_units_and_from_the_reference_level() -> None:
    frame, y = mixed()
    model = bw.LinearRegression(prior=None).fit(frame, y)
    found = {name: round(weight, 9) for name, weight in model.feature_weights_.items()}
    assert found == {("age", None): 0.1, ("size", "M"): -2.0, ("size", "S"): -3.0}  # L is first in canonical order
    declared = bw.LinearRegression(prior=None, levels={"size": ["S", "M", "L"]}).fit(frame, y)
    assert declared.model_.features.references == {"size": "S"}
    assert np.allclose(declared.coef_, [0.1, 1.0, 3.0])
    assert np.isclose(declared.intercept_, 5.0)


def test_levels_that_come_later_are_learned_and_forgotten() -> None:
    frame, y = mixed()
    few = frame["size"] != "S"
    model = bw.LinearRegression(scale=5.0).fit(frame[few], y[few])
    alone = model.model_.statistics
    model.partial_fit(frame[~few], y[~few])
    assert np.allclose(model.coef_, bw.LinearRegression(scale=5.0).fit(frame, y).coef_, rtol=1e-12)
    assert model.forget(frame[~few], y[~few]).model_.statistics == alone


def test_a_missing_cell_is_an_error_or_stands_at_the_mean() -> None:
    X, y = np.array([[1.0], [2.0], [np.nan], [3.0]]), np.array([1.0, 2.0, 9.0, 3.0])
    with pytest.raises(MissingCellError, match=r"'x0' is missing \(NaN\) in row 3"):
        bw.LinearRegression(missing="error").fit(X, y)
    model = bw.LinearRegression(prior=None, missing="mean").fit(X, y)
    assert model.coef_.tolist() == [1.0]
    assert model.predict([[np.nan]]).tolist() == [2.0]
    marked = bw.LinearRegression(prior=None).fit(X, y)
    assert marked.get_feature_names_out().tolist() == ["x0", "x0 is missing"]
    assert marked.coef_.tolist() == [1.0, 7.0]
    assert marked.predict([[np.nan], [5.0]]).tolist() == [9.0, 5.0]


def test_infinite_cells_and_targets_are_errors() -> None:
    for missing in ("error", "mean", "indicator"):
        with pytest.raises(NonFiniteError, match="'x0' has an infinite value in row 2"):
            bw.LinearRegression(missing=missing).fit([[1.0], [np.inf]], [1.0, 2.0])
    with pytest.raises(DataError, match="row 1"):
        bw.LinearRegression().fit([[1.0], [2.0]], [np.nan, 2.0])


def test_duplicated_and_constant_columns_are_named_and_get_no_weight() -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal(50)
    X = np.column_stack([x, x, np.full(50, 7.0), generator.standard_normal(50)])
    with pytest.warns(UserWarning, match="x1, x2"):
        model = bw.LinearRegression(prior=None).fit(X, 2.0 * x)
    assert model.coef_[1:3].tolist() == [0.0, 0.0]
    assert np.allclose(model.coef_[[0, 3]], [2.0, 0.0], atol=1e-15)
    shared = bw.LinearRegression(scale=100.0).fit(X, 2.0 * x)
    assert np.allclose(shared.coef_[:2], [1.0, 1.0], rtol=1e-4)


def test_fewer_rows_than_columns_are_fitted_under_a_prior() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((5, 60)), generator.standard_normal(5)
    for beliefs in ({}, {"prior": "laplace"}, {"scale": "evidence"}, {"likelihood": "student-t"}):
        model = bw.LinearRegression(**beliefs).fit(X, y)
        assert np.isfinite(model.coef_).all()
    assert np.isfinite(bw.LinearRegression().fit(X, y).predict_distribution(X).stddev).all()


def test_an_offset_of_a_billion_costs_no_digits() -> None:
    generator = np.random.default_rng(0)
    small = generator.standard_normal((100, 2)).round(3)
    y = small @ [1.0, -2.0]
    X = np.column_stack([small[:, 0] + 2.0**30, small[:, 1] * 1e6])
    model = bw.LinearRegression(prior=None).fit(X, y)
    assert np.allclose(model.coef_, [1.0, -2e-6], rtol=1e-6)
    assert np.allclose(model.predict(X), y, atol=1e-6)


def test_targets_outside_the_likelihood_and_odd_settings_are_refused() -> None:
    for likelihood, y in (("poisson", [-1.0, 2.0]), ("exponential", [0.0, 2.0])):
        with pytest.raises(DataError, match="row 1"):
            bw.LinearRegression(likelihood).fit([[1.0], [2.0]], y)
    for wrong in ({"scale": 0}, {"scale": "wide"}, {"prior": "flat"}, {"likelihood": "cauchy"}, {"missing": "zero"}):
        with pytest.raises(ParameterError):
            bw.LinearRegression(**wrong).fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ParameterError, match="evidence"):
        bw.LinearRegression("student-t", scale="evidence").fit([[1.0], [2.0]], [1.0, 2.0])


def test_a_column_whose_squares_leave_the_range_of_floats_is_refused_by_name() -> None:
    X, y = np.array([[1.0, 1.0], [2.0, 5.0], [3.0, 2.0]]), [1.0, 2.0, 2.5]
    for factor in (1e200, 1e-200):
        with pytest.raises(DataError, match="'x1' has a standard deviation"):
            bw.LinearRegression().fit(X * [1.0, factor], y)


def test_rows_on_a_plane_end_the_search_for_noise() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    for likelihood in ("student-t", "laplace"):
        model = bw.LinearRegression(likelihood, prior=None).fit(X, X @ [1.0, 2.0])
        assert np.allclose(model.coef_, [1.0, 2.0], atol=1e-12)
        assert model.model_.certificate.converged


def test_a_single_row_has_a_prediction_but_no_predictive_distribution() -> None:
    model = bw.LinearRegression().fit([[1.0]], [3.0])
    assert model.predict([[5.0]]).tolist() == [3.0]
    with pytest.raises(FitError, match="degree of freedom"):
        model.predict_distribution([[5.0]])


@pytest.mark.parametrize("likelihood", ["gaussian", "student-t", "poisson"])
def test_a_saved_model_answers_the_same(likelihood: str, tmp_path: Path) -> None:
    frame, y = mixed()
    model = bw.LinearRegression(likelihood).fit(frame, y)
    model.save(tmp_path / "m.bayes")
    again = bw.load(tmp_path / "m.bayes")
    assert np.array_equal(again.weights, model.coef_)
    assert again.intercept == model.intercept_


def test_only_a_gaussian_likelihood_streams() -> None:
    assert hasattr(bw.LinearRegression(), "partial_fit")
    assert not hasattr(bw.LinearRegression("poisson"), "partial_fit")


def test_four_exact_points_are_found_by_default() -> None:
    line = bw.LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    assert abs(line.coef_[0] - 2.0) < 1e-9 and abs(line.intercept_ - 1.0) < 1e-9


@pytest.mark.parametrize("likelihood", ["gaussian", "student-t", "laplace", "poisson", "exponential"])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_folds_find_a_scale_for_every_likelihood_and_prior(likelihood: str, prior: str) -> None:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(60, 2))
    y = generator.exponential(np.exp(1.0 + 0.8 * X[:, 0])) if likelihood == "exponential" else None
    y = np.ceil(np.exp(1.0 + 0.8 * X[:, 0] + 0.1 * generator.normal(size=60))) if y is None else y
    model = bw.LinearRegression(likelihood, prior, "cv").fit(X, y)
    order = generator.permutation(60)
    assert 1e-2 <= model.model_.scale <= 1e6
    assert bw.LinearRegression(likelihood, prior, "cv").fit(X[order], y[order]).model_.scale == model.model_.scale


@pytest.mark.parametrize("scale", ["evidence", "cv"])
def test_a_scale_to_be_found_without_a_prior_is_refused_with_what_works(scale: str) -> None:
    with pytest.raises(
        ParameterError, match=r"needs a prior; found prior=None\. Fix: choose a prior, or leave the scale out"
    ):
        bw.LinearRegression(prior=None, scale=scale).fit([[1.0], [2.0]], [1.0, 2.0])


def test_folds_are_kept_as_moments_so_rows_come_and_go() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 3))
    y = X @ [1.0, 0.0, -1.0] + generator.normal(size=80)
    whole = bw.LinearRegression(scale="cv").fit(X, y)
    parts = bw.LinearRegression(scale="cv").fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert bytes_of(parts.model_) == bytes_of(whole.model_) and parts.model_.scale == whole.model_.scale
    less = bw.LinearRegression(scale="cv").fit(X, y).forget(X[30:], y[30:])
    assert bytes_of(less.model_) == bytes_of(bw.LinearRegression(scale="cv").fit(X[:30], y[:30]).model_)


@pytest.mark.parametrize("likelihood", ["poisson", "exponential"])
def test_evidence_by_the_laplace_approximation_is_near_the_integral(likelihood: str) -> None:
    """One column without an intercept: log p(y | scale) by quadrature has its maximum at nearly the same scale."""
    generator = np.random.default_rng(5)
    x = generator.normal(size=40)
    x = (x - x.mean()) / x.std()
    draw = generator.poisson if likelihood == "poisson" else generator.exponential
    y = draw(np.exp(0.7 * x)).astype(float)
    found = bw.LinearRegression(likelihood, scale="evidence", fit_intercept=False).fit(x[:, None], y).model_.scale
    w = np.linspace(-4.0, 4.0, 8_001)[:, None]
    score = w * x
    log_p = (y * score - np.exp(score) if likelihood == "poisson" else -score - y * np.exp(-score)).sum(axis=1)
    scales = np.geomspace(0.05, 20.0, 2_001)
    log_prior = -0.5 * (w[:, 0] / scales[:, None]) ** 2 - np.log(scales)[:, None]
    evidence = np.exp(log_p - log_p.max() + log_prior).sum(axis=1)
    assert np.isclose(found, scales[np.argmax(evidence)], rtol=0.05)


@pytest.mark.parametrize("scale", [1e-50, 3e7, 1e9, 1e50])
@pytest.mark.parametrize("n_columns", [3, 40])
def test_dependent_columns_have_finite_weights_under_any_scale(scale: float, n_columns: int) -> None:
    generator = np.random.default_rng(1)
    X = generator.integers(-4, 5, (90, n_columns)).astype(float)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    y = X[:, 0] + generator.normal(size=90)
    model = bw.LinearRegression(scale=scale).fit(X, y)
    ahead = model.predict_distribution(X)
    assert np.isfinite(model.coef_).all() and np.isfinite(ahead.stddev).all()
    if scale > 1:
        flat = bw.LinearRegression(prior=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flat.fit(X, y)
        assert np.allclose(ahead.location, flat.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324])
def test_a_scale_whose_square_is_not_a_float_is_refused(scale: float) -> None:
    for estimator in (bw.LinearRegression, bw.LogisticRegression):
        with pytest.raises(ParameterError, match="give a number from 1e-50 to 1e"):
            estimator(scale=scale).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("likelihood", ["gaussian", "student-t", "laplace", "poisson", "exponential"])
@pytest.mark.parametrize("prior", ["gaussian", "laplace", None])
def test_rows_far_out_have_finite_answers(likelihood: str, prior: str | None) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    model = bw.LinearRegression(likelihood, prior, 1.0).fit(X, np.ceil(np.exp(X[:, 0])))
    far = np.array([[-1e6, 0], [1e6, 0], [1e308, -1e308], [1e308, 1e308], [-1.7e308, 1e308], [5e-324, 0]])
    ahead = model.predict_distribution(far)
    for answer in (model.predict(far), ahead.mean, ahead.stddev, ahead.quantile([0.05, 0.5, 0.95])):
        assert np.isfinite(answer).all()


def test_weights_and_answers_have_the_spreads_of_bayesian_ridge() -> None:
    from sklearn.linear_model import BayesianRidge

    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X @ [1.0, 0.0, -2.0] + generator.normal(size=400)
    ours, peer = bw.LinearRegression().fit(X, y), BayesianRidge().fit(X, y)
    assert np.allclose(ours.sigma_, peer.sigma_, rtol=0.05, atol=1e-5)
    (mean, spread), (_, theirs) = ours.predict(X, return_std=True), peer.predict(X, return_std=True)
    assert np.array_equal(mean, ours.predict(X)) and np.allclose(spread, theirs, rtol=0.02)
    assert ours.n_iter_ == 1 and bw.LinearRegression("student-t").fit(X, y).n_iter_ > 1
