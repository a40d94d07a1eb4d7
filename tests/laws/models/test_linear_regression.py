"""Laws of linear regression: merge, forget, weights, leave-one-out, changes of units."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.files import bytes_of

BELIEFS = [
    {"prior": None},
    {"scale": 0.3},
    {"scale": 0.3, "standardise": False},
    {"scale": 2.0, "fit_intercept": False},
]


def table(seed: int, n: int = 30, d: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) * 10.0 ** generator.integers(-3, 4, d) + generator.standard_normal(d)
    y = X @ (1.0 / X.std(axis=0)) + generator.standard_normal(n)
    return X, y, generator.integers(1, 5, n).astype(float)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 29))
def test_forgetting_rows_gives_the_model_that_never_saw_them_to_the_last_byte(seed: int, cut: int) -> None:
    X, y, weights = table(seed)
    whole = bw.LinearRegression().fit(X, y, weights)
    part = bw.LinearRegression().fit(X[:cut], y[:cut], weights[:cut])
    rest = bw.LinearRegression().fit(X[cut:], y[cut:], weights[cut:])
    assert bytes_of(part.merge(rest).model_) == bytes_of(whole.model_)
    assert bytes_of(part.partial_fit(X[cut:], y[cut:], weights[cut:]).model_) == bytes_of(whole.model_)
    assert bytes_of(whole.forget(X[cut:], y[cut:], weights[cut:]).model_) == bytes_of(
        bw.LinearRegression().fit(X[:cut], y[:cut], weights[:cut]).model_
    )


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_a_weight_of_k_is_k_rows_in_any_order_to_the_last_byte(seed: int) -> None:
    X, y, weights = table(seed)
    many = np.repeat(np.arange(len(y)), weights.astype(int))
    many = np.random.default_rng(seed).permutation(many)
    weighted = bw.LinearRegression().fit(X, y, weights)
    assert bytes_of(weighted.model_) == bytes_of(bw.LinearRegression().fit(X[many], y[many]).model_)


@pytest.mark.parametrize("beliefs", BELIEFS)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_a_row_out_is_a_refit_without_it(beliefs: dict, weighted: bool) -> None:
    X, y, weights = table(7)
    given_weights = weights if weighted else None
    model = bw.LinearRegression(**beliefs).fit(X, y, given_weights)
    left = model.leave_one_out(X, y, given_weights)
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        refit = bw.LinearRegression(**beliefs).fit(X[others], y[others], weights[others] if weighted else None)
        ahead = refit.predict_distribution(X[[row]])
        assert np.isclose(left.location[row], ahead.location[0], rtol=1e-8, atol=1e-9)
        assert np.isclose(left.scale[row], ahead.scale[0], rtol=1e-8)
        assert np.isclose(left.df[row], ahead.df)


def test_a_row_that_is_all_that_is_known_of_a_column_is_left_out_by_a_refit() -> None:
    X, y, _ = table(3)
    X = np.column_stack([X, np.arange(30) == 4])  # only row 4 has a one
    others = np.arange(30) != 4
    for beliefs in ({"prior": None}, {"scale": 0.5}):
        left = bw.LinearRegression(**beliefs).fit(X, y).leave_one_out(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            refit = bw.LinearRegression(**beliefs).fit(X[others], y[others])
        assert np.isclose(left.location[4], refit.predict(X[[4]])[0], rtol=1e-9)


@given(st.integers(0, 10_000), st.floats(0.001, 1000.0), st.floats(-1e6, 1e6))
@settings(max_examples=25)
def test_units_and_zero_points_of_columns_do_not_matter(seed: int, factor: float, shift: float) -> None:
    X, y, _ = table(seed)
    moved = X.copy()
    moved[:, 0] = moved[:, 0] * factor + shift
    for beliefs in ({"prior": None}, {"scale": 0.3}, {"scale": "evidence"}):
        one, two = bw.LinearRegression(**beliefs).fit(X, y), bw.LinearRegression(**beliefs).fit(moved, y)
        assert np.allclose(one.predict(X), two.predict(moved), rtol=1e-6, atol=1e-6 * np.abs(y).max())


def test_another_prior_changes_nothing_in_the_statistic() -> None:
    X, y, _ = table(1)
    model = bw.LinearRegression(scale=0.1).fit(X, y).model_
    again = bw.LinearRegression(prior="laplace", scale=0.7).fit(X, y).model_
    assert np.array_equal(model.changed(prior="laplace", scale=0.7).weights, again.weights)
