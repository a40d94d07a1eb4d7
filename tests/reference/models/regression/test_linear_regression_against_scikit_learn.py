"""The same weights as scikit-learn's where conventions coincide, and the textbook's intervals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog
from sklearn.linear_model import BayesianRidge, GammaRegressor, Lasso, LinearRegression, PoissonRegressor, Ridge
from sklearn.preprocessing import StandardScaler

import bayeswise as bw


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((120, 5)) @ (np.eye(5) + 0.4 * generator.standard_normal((5, 5))) + 3.0
    y = X @ [1.0, -2.0, 0.0, 0.5, 0.1] + 4.0 + generator.standard_normal(120)
    return X, y, generator.integers(1, 4, 120).astype(float)


def test_without_a_prior_it_is_least_squares(rows: tuple[np.ndarray, ...]) -> None:
    X, y, weights = rows
    ours, peer = bw.LinearRegression(prior=None).fit(X, y, weights), LinearRegression().fit(X, y, weights)
    assert np.allclose(ours.coef_, peer.coef_, rtol=1e-10)
    assert np.isclose(ours.intercept_, peer.intercept_, rtol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_gaussian_prior_is_ridge_with_alpha_one_over_the_squared_scale(
    rows: tuple[np.ndarray, ...], intercept: bool
) -> None:
    X, y, weights = rows
    ours = bw.LinearRegression(scale=0.4, standardise=False, fit_intercept=intercept).fit(X, y, weights)
    peer = Ridge(alpha=1 / 0.4**2, fit_intercept=intercept).fit(X, y, weights)
    assert np.allclose(ours.coef_, peer.coef_, rtol=1e-9)


def test_laplace_prior_is_the_lasso(rows: tuple[np.ndarray, ...]) -> None:
    X, y, _ = rows
    ours = bw.LinearRegression(prior="laplace", scale=0.02, standardise=False).fit(X, y)
    peer = Lasso(alpha=1 / (0.02 * len(y)), tol=1e-14, max_iter=100_000).fit(X, y)
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-9)
    assert (ours.coef_ == 0).any()


def test_the_evidence_chooses_the_scale_of_bayesian_ridge(rows: tuple[np.ndarray, ...]) -> None:
    X, y, _ = rows
    peer = BayesianRidge(
        alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, tol=1e-14, max_iter=100_000, fit_intercept=False
    ).fit(X, y)
    ours = bw.LinearRegression(scale="evidence", standardise=False, fit_intercept=False).fit(X, y)
    assert np.isclose(ours.model_.scale**2, peer.alpha_ / peer.lambda_, rtol=1e-8)
    assert np.allclose(ours.coef_, peer.coef_, rtol=1e-8)


def test_the_evidence_is_the_density_of_the_targets(rows: tuple[np.ndarray, ...]) -> None:
    # Without an intercept y ~ student-t of n degrees; p(noise^2) = 1 / noise^2 leaves Gamma(n / 2) / pi^(n/2).
    X, y, _ = (each[:8] for each in rows)
    model = bw.LinearRegression(scale=0.7, standardise=False, fit_intercept=False).fit(X, y).model_
    covariance = np.eye(8) + 0.7**2 * X @ X.T
    quadratic = y @ np.linalg.solve(covariance, y)
    exact = -0.5 * np.linalg.slogdet(covariance)[1] - 4 * np.log(np.pi * quadratic) + np.log(6.0)  # Gamma(4) = 6
    assert np.isclose(model.log_evidence(), exact, rtol=1e-12)


def test_poisson_and_exponential_are_scikit_learns_glms(rows: tuple[np.ndarray, ...]) -> None:
    X, _, weights = rows
    X = StandardScaler().fit_transform(X)
    generator = np.random.default_rng(1)
    mean = np.exp(X @ [0.5, -0.3, 0.0, 0.2, 0.1] + 1.0)
    for likelihood, peer, y in (
        ("poisson", PoissonRegressor, generator.poisson(mean).astype(float)),
        ("exponential", GammaRegressor, generator.exponential(mean) + 1e-3),
    ):
        ours = bw.LinearRegression(likelihood, scale=2.0, standardise=False).fit(X, y, weights)
        alpha = 1 / (2.0**2 * weights.sum())
        theirs = peer(alpha=alpha, solver="newton-cholesky", tol=1e-12, max_iter=1_000).fit(X, y, weights)
        assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
        assert ours.model_.certificate.converged


def test_laplace_noise_is_least_absolute_deviations() -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 3))
    y = X @ [1.0, 2.0, 3.0] + generator.standard_t(2, 60)
    ours = bw.LinearRegression("laplace", prior=None).fit(X, y)
    design = np.column_stack([X, np.ones(60), np.eye(60), -np.eye(60)])
    found = linprog(np.repeat([0, 1], [4, 120]), A_eq=design, b_eq=y, bounds=[(None, None)] * 4 + [(0, None)] * 120)
    assert np.allclose(ours.coef_, found.x[:3], atol=1e-8)


def test_student_t_noise_is_at_the_top_of_its_likelihood() -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((80, 2))
    y = X @ [1.0, 2.0] + generator.standard_t(4, 80)
    model = bw.LinearRegression("student-t", prior=None).fit(X, y)

    def log_likelihood(w: np.ndarray, b: float, noise: float) -> float:
        return float(stats.t(4, loc=X @ w + b, scale=noise).logpdf(y).sum())

    w, b, noise = model.coef_, model.intercept_, model.model_.noise
    top = log_likelihood(w, b, noise)
    step = 1e-4
    for dw, db, dn in (((step, 0), 0, 0), ((0, step), 0, 0), ((0, 0), step, 0), ((0, 0), 0, step)):
        for sign in (-1, 1):
            assert log_likelihood(w + sign * np.array(dw), b + sign * db, noise + sign * dn) < top


def test_the_predictive_distribution_is_the_textbooks_prediction_interval() -> None:
    x, y = np.array([1.0, 2.0, 3.0, 4.0, 6.0]), np.array([1.2, 1.9, 3.2, 3.8, 6.3])
    ahead = bw.LinearRegression(prior=None).fit(x[:, None], y).predict_distribution([[5.0]])
    fitted = stats.linregress(x, y)
    error = np.sqrt(((y - fitted.intercept - fitted.slope * x) ** 2).sum() / 3)
    half = stats.t.ppf(0.975, 3) * error * np.sqrt(1 + 1 / 5 + (5 - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
    centre = fitted.intercept + 5 * fitted.slope
    assert np.allclose(ahead.quantile([0.025, 0.975]), [[centre - half, centre + half]], rtol=1e-12)
    assert np.allclose(ahead.cdf(centre), 0.5)
    draws = ahead.sample(20_000, seed=1)[:, 0]
    assert abs(np.quantile(draws, 0.9) - ahead.quantile(0.9)[0]) < 0.02


def test_weights_are_correctly_rounded_where_floats_lose_every_digit() -> None:
    # Powers up to 8 of points near 1: X'X has a condition number beyond 1e20.
    x = [Fraction(1) + Fraction(k, 64) for k in range(12)]
    X = np.array([[float(v) ** p for p in range(1, 9)] for v in x])
    y = np.array([float(3 * v**2 - v**5) for v in x])
    weights = bw.LinearRegression(prior=None).fit(X, y).coef_
    exact = _least_squares([[Fraction(c) for c in row] for row in X.tolist()], [Fraction(t) for t in y.tolist()])
    assert weights.tolist() == [float(w) for w in exact]


def _least_squares(X: list[list[Fraction]], y: list[Fraction]) -> list[Fraction]:
    """The normal equations about the means, in fractions."""
    n, d = len(X), len(X[0])
    mean = [sum(row[j] for row in X) / n for j in range(d)]
    level = sum(y) / n
    Z = [[row[j] - mean[j] for j in range(d)] for row in X]
    a = [
        [sum(z[i] * z[j] for z in Z) for j in range(d)] + [sum(z[i] * (t - level) for z, t in zip(Z, y, strict=True))]
        for i in range(d)
    ]
    for k in range(d):
        a[k] = [v / a[k][k] for v in a[k]]
        for i in range(d):
            if i != k:
                a[i] = [v - a[i][k] * w for v, w in zip(a[i], a[k], strict=True)]
    return [row[-1] for row in a]
