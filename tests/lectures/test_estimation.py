"""Slides on estimation: maximum likelihood, bias, smoothing, and the exponential family."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bayeswise.families import (
    Bernoulli,
    Categorical,
    Chance,
    Dirichlet,
    Exponential,
    ExponentialParameters,
    MultivariateNormal,
    MultivariateNormalParameters,
    Normal,
    NormalParameters,
    Poisson,
    PoissonParameters,
)
from bayeswise.tables.schema.labels import Vocabulary


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


# -- maximum likelihood -----------------------------------------------------------------------------------------
def test_seven_heads_in_ten_throws_are_likeliest_for_a_coin_of_seven_tenths() -> None:
    coin = Bernoulli()
    throws = column(1, 1, 0, 1, 1, 0, 1, 1, 0, 1)  # k = 7, N = 10
    theta = coin.estimate(coin.statistic(throws)).parameters.probability.item()
    assert theta == 7 / 10

    def log_likelihood(p: float) -> float:
        return float(coin.log_density(Chance.of(p), throws).sum())  # k log p + (N - k) log(1 - p)

    step = 1e-4
    slope = (log_likelihood(theta + step) - log_likelihood(theta - step)) / (2 * step)
    curvature = (log_likelihood(theta + step) - 2 * log_likelihood(theta) + log_likelihood(theta - step)) / step**2
    assert slope == pytest.approx(0.0, abs=1e-5)
    assert curvature == pytest.approx(-10 / (0.7 * 0.3), rel=1e-5)  # negative: a maximum


def test_the_likeliest_normal_has_the_mean_and_the_mean_square_of_the_rows() -> None:
    normal = Normal()
    fitted = normal.estimate(normal.statistic(column(2, 4, 4, 4, 5, 5, 7, 9))).parameters
    assert fitted.mean.item() == 5.0  # 40 / 8
    assert fitted.stddev.item() == 2.0  # sqrt(32 / 8)


def test_the_biased_variance_is_too_small_on_average_and_the_unbiased_one_is_not() -> None:
    population = (Fraction(0), Fraction(2), Fraction(7))
    mean = sum(population) / 3
    variance = sum((x - mean) ** 2 for x in population) / 3
    samples = list(product(population, repeat=2))  # all samples of N = 2, equally likely

    def average_variance(divisor: str) -> float:
        family = Normal(divisor)  # type: ignore[arg-type]
        squares = [
            family.estimate(family.statistic(column(*map(float, s)))).parameters.stddev.item() ** 2 for s in samples
        ]
        return float(np.mean(squares))

    assert average_variance("n") == pytest.approx(float(variance / 2), rel=1e-12)  # (N - 1) / N of the truth
    assert average_variance("n-1") == pytest.approx(float(variance), rel=1e-12)


def test_each_class_has_its_own_mean_vector_and_covariance() -> None:
    rows = np.array([[1.0, 2.0], [3.0, 2.0], [2.0, 5.0], [0.0, 0.0], [2.0, 2.0], [4.0, 1.0]])
    groups = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    normal = MultivariateNormal()
    fitted = normal.estimate(normal.statistic(rows, groups, 2)).parameters
    np.testing.assert_allclose(fitted.mean, [[2.0, 3.0], [2.0, 1.0]], rtol=1e-15)
    np.testing.assert_allclose(fitted.covariance * 3, [[[2, 0], [0, 6]], [[8, 2], [2, 2]]], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("covariance", "long_axis", "short_axis"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], (1.0, 0.0), (0.0, 1.0)),  # circles
        ([[2.0, 0.0], [0.0, 0.5]], (2.0**0.5, 0.0), (0.0, 0.5**0.5)),  # ellipses along the axes
        ([[1.0, 0.7], [0.7, 1.0]], (0.85**0.5, 0.85**0.5), (0.15**0.5, -(0.15**0.5))),  # leaning to the right
        ([[1.0, -0.7], [-0.7, 1.0]], (0.85**0.5, -(0.85**0.5)), (0.15**0.5, 0.15**0.5)),  # leaning to the left
    ],
)
def test_contours_are_ellipses_along_the_axes_of_the_covariance(
    covariance: list[list[float]], long_axis: tuple[float, float], short_axis: tuple[float, float]
) -> None:
    parameters = MultivariateNormalParameters.of([0.0, 0.0], covariance)
    log_p = MultivariateNormal().log_density(parameters, np.array([(0.0, 0.0), long_axis, short_axis]))[:, 0]
    np.testing.assert_allclose(log_p[0] - log_p[1:], [0.5, 0.5], rtol=1e-12)  # both are one stddev away


def test_a_density_may_exceed_one() -> None:
    log_p = Normal().log_density(NormalParameters(0.0, 0.1), 0.0)
    assert np.exp(log_p) == pytest.approx(3.989, abs=1e-3)  # 1 / (0.1 sqrt(2 pi)): no probability


# -- smoothing --------------------------------------------------------------------------------------------------
OUTLOOK = Vocabulary(["overcast", "rain", "sunny"])


@pytest.mark.parametrize(
    ("counts", "n_rows", "as_printed"), [((4, 3, 2), 9, Fraction(12, 11)), ((0, 2, 3), 5, Fraction(8, 7))]
)
def test_laplace_divides_by_the_number_of_values_and_not_of_classes(
    counts: tuple[int, ...], n_rows: int, as_printed: Fraction
) -> None:
    n_classes, n_values = 2, 3
    assert sum(Fraction(n + 1, n_rows + n_classes) for n in counts) == as_printed  # the printed rows do not sum to 1
    codes = np.repeat(np.arange(3, dtype=np.int32), counts)
    seen = Categorical().statistic(codes, OUTLOOK, declared=OUTLOOK)
    smoothed = Categorical().parameters(seen, Dirichlet.laplace(OUTLOOK)).probability[0]
    np.testing.assert_allclose(smoothed, [(n + 1) / (n_rows + n_values) for n in counts], rtol=1e-15)
    assert smoothed.sum() == pytest.approx(1.0, rel=1e-15)


def test_the_m_estimate_mixes_counts_with_m_pseudo_counts() -> None:
    winds = Vocabulary(["strong", "weak"])
    seen = Categorical().statistic(np.array([0, 0, 0, 1, 1], dtype=np.int32), winds)  # strong 3 of 5
    for m, expected in ((0, 3 / 5), (5, (3 + 2.5) / 10), (95, (3 + 47.5) / 100)):
        shares = Categorical().parameters(seen, Dirichlet.m_estimate(winds, m=m)).probability[0]
        assert shares[0] == pytest.approx(expected, rel=1e-15)


# -- the exponential family -------------------------------------------------------------------------------------
@pytest.mark.parametrize("mu", [0.1, 0.5, 0.8])
def test_bernoulli_has_the_log_odds_as_natural_parameter(mu: float) -> None:
    form = Bernoulli().exponential_form(Chance.of(mu))
    (eta,) = form.natural
    assert eta == pytest.approx(np.log(mu / (1 - mu)), abs=1e-15)
    assert form.log_partition == pytest.approx(np.log(1 + np.exp(eta)), rel=1e-14)
    assert form.mean_of_sufficient[0] == pytest.approx(1 / (1 + np.exp(-eta)), rel=1e-14)  # a' is the sigmoid
    assert form.covariance_of_sufficient[0][0] == pytest.approx(mu * (1 - mu), rel=1e-14)


@pytest.mark.parametrize("mu", [-2.0, 0.0, 1.5])
def test_a_normal_of_unit_variance_has_its_mean_as_natural_parameter(mu: float) -> None:
    form = Normal().exponential_form(NormalParameters(mu, 1.0))
    eta = form.natural[0]
    assert eta == mu
    assert form.log_partition == eta**2 / 2
    assert form.mean_of_sufficient[0] == eta  # a' = eta
    assert form.covariance_of_sufficient[0][0] == 1.0  # a'' = 1
    # h(x) = exp(-x^2 / 2) / sqrt(2 pi): the second statistic has the constant natural parameter -1/2.
    assert form.natural[1] == -0.5


def test_poisson_and_exponential_have_their_natural_parameters() -> None:
    poisson = Poisson().exponential_form(PoissonParameters(3.0))
    assert (poisson.natural[0], poisson.log_partition) == (np.log(3.0), 3.0)  # a = e^eta
    exponential = Exponential().exponential_form(ExponentialParameters(4.0))
    assert (exponential.natural[0], exponential.log_partition) == (-4.0, -np.log(4.0))  # a = -log(-eta)
    assert exponential.mean_of_sufficient[0] == 1 / 4
    assert exponential.covariance_of_sufficient[0][0] == 1 / 16


def test_the_derivatives_of_the_log_partition_speak_of_the_statistic_and_not_of_x() -> None:
    mean, variance = 3.0, 4.0
    form = Normal().exponential_form(NormalParameters(mean, 2.0))  # T = (x, x^2)
    of_x, of_square = form.mean_of_sufficient
    assert of_x == mean
    assert of_square == mean**2 + variance  # E[x^2], which is not the mean of x
    assert form.covariance_of_sufficient[1][1] == 4 * mean**2 * variance + 2 * variance**2  # not the variance of x
