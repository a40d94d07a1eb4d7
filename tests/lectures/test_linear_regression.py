"""Regression as the lectures tell it: the likelihood chooses the loss, the prior the regulariser."""

from __future__ import annotations

import numpy as np

import bayeswise as bw

X = np.array([[1.0], [2.0], [4.0], [5.0]])
y = np.array([2.0, 3.0, 3.0, 6.0])


def test_maximum_likelihood_under_gaussian_noise_is_least_squares() -> None:
    # mean x = 3, mean y = 3.5; sum (x - 3)(y - 3.5) = 3 + .5 - .5 + 5 = 8; sum (x - 3)^2 = 4 + 1 + 1 + 4 = 10
    line = bw.LinearRegression(prior=None).fit(X, y)
    assert line.coef_.tolist() == [8 / 10]
    assert line.intercept_ == 3.5 - 0.8 * 3


def test_no_other_line_has_a_larger_likelihood() -> None:
    line = bw.LinearRegression(prior=None).fit(X, y)
    best = ((y - line.predict(X)) ** 2).sum()
    for slope, intercept in ((0.81, 1.1), (0.79, 1.1), (0.8, 1.11), (0.8, 1.09)):
        assert ((y - slope * X[:, 0] - intercept) ** 2).sum() > best


def test_a_gaussian_prior_is_a_quadratic_penalty() -> None:
    # (sum zz + 1 / scale^2) w = sum zy with z = (x - 3) / sqrt(10 / 4): sum zz = 4, sum zy = 8 / sqrt(2.5)
    line = bw.LinearRegression(scale=0.5).fit(X, y)
    standardised = (8 / np.sqrt(2.5)) / (4 + 1 / 0.5**2)
    assert np.isclose(line.coef_[0], standardised / np.sqrt(2.5), rtol=1e-15)


def test_a_laplace_prior_sets_a_weak_weight_to_zero_and_a_gaussian_one_does_not() -> None:
    generator = np.random.default_rng(0)
    columns = generator.standard_normal((200, 2))
    target = 3.0 * columns[:, 0] + 0.02 * columns[:, 1] + generator.standard_normal(200)
    assert bw.LinearRegression(prior="laplace", scale=0.02).fit(columns, target).coef_[1] == 0.0
    assert bw.LinearRegression(prior="gaussian", scale=0.02).fit(columns, target).coef_[1] != 0.0


def test_the_prediction_is_the_mean_of_the_predictive_distribution() -> None:
    # E[y | x] is the integral of y p(y | x), not of p(y | x)
    line = bw.LinearRegression(prior=None).fit(X, y)
    ahead = line.predict_distribution([[3.0]])
    grid = np.linspace(-2_000.0, 2_000.0, 2_000_001)
    density = np.exp(ahead.log_density(grid))
    assert np.isclose((grid * density).sum() * (grid[1] - grid[0]), line.predict([[3.0]])[0], atol=1e-3)


def test_robust_likelihoods_ignore_a_wild_target_that_drags_least_squares_away() -> None:
    columns = np.arange(20.0)[:, None]
    target = 2.0 * columns[:, 0] + 1.0
    target[19] = 1_000.0
    slopes = {
        likelihood: bw.LinearRegression(likelihood, prior=None).fit(columns, target).coef_[0]
        for likelihood in ("gaussian", "laplace")
    }
    assert abs(slopes["laplace"] - 2.0) < 1e-6
    assert abs(slopes["gaussian"] - 2.0) > 10.0


def test_poisson_regression_of_one_flag_gives_the_means_of_both_groups() -> None:
    counts = np.array([1.0, 3.0, 8.0, 12.0])
    model = bw.LinearRegression("poisson", prior=None).fit([[0.0], [0.0], [1.0], [1.0]], counts)
    assert np.allclose(model.predict([[0.0], [1.0]]), [2.0, 10.0], rtol=1e-12)
