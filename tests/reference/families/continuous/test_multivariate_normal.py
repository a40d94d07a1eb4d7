"""The multivariate normal distribution and its normal-inverse-Wishart prior against scipy and mpmath."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import (
    MultivariateNormal,
    MultivariateNormalParameters,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    NormalParameters,
)
from bayeswise.foundation.errors import FitError, ParameterError
from tests.reference.families.oracle import check_exponential_form, check_moments_of_sufficient, error_of_density

NORMAL = MultivariateNormal()
MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[4.0, 1.0, -0.5], [1.0, 2.0, 0.25], [-0.5, 0.25, 1.0]])
ROWS = np.random.default_rng(10).multivariate_normal(MEAN, COVARIANCE, 12)


def matrix(values: Any) -> Any:
    return mp.matrix([[mp.mpf(float(value)) for value in row] for row in values])


def exact_distance(x: Any, mean: Any, covariance: Any) -> Any:
    deviation = mp.matrix([mp.mpf(float(a)) - mp.mpf(float(b)) for a, b in zip(x, mean, strict=True)])
    return (deviation.T * mp.lu_solve(covariance, deviation))[0]


# -- density ----------------------------------------------------------------------------------------------------
def test_the_density_is_that_of_scipy() -> None:
    parameters = MultivariateNormalParameters.of([MEAN, MEAN + 1.0], [COVARIANCE, 2.0 * COVARIANCE])
    found = NORMAL.log_density(parameters, ROWS)
    assert found.shape == (12, 2)
    expected = [stats.multivariate_normal(MEAN + g, (1 + g) * COVARIANCE).logpdf(ROWS) for g in (0, 1)]
    np.testing.assert_allclose(found.T, expected, rtol=1e-12)


@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), (1e6, 1.0, 1e-9), (1e140, 1e-140, 1.0)])
@pytest.mark.parametrize("z", [0.0, 1.0, 50.0, 1e8])
def test_the_density_agrees_with_mpmath_in_any_units(units: tuple[float, ...], z: float) -> None:
    scale = np.array(units)
    mean, covariance = MEAN * scale, COVARIANCE * scale * scale[:, None]
    x = mean + z * scale
    with mp.workdps(700):  # mpmath tests for singularity by the digits
        determinant, distance = mp.det(matrix(covariance)), exact_distance(x, mean, matrix(covariance))
    exact = -mp.log(determinant) / 2 - 3 * mp.log(2 * mp.pi) / 2 - distance / 2
    found = NORMAL.log_density(MultivariateNormalParameters.of(mean, covariance), x[None]).item()
    assert error_of_density(found, exact) <= 1e-12


def test_one_column_is_the_normal_distribution() -> None:
    x = np.array([[-3.0], [0.5], [1e5], [np.nan], [np.inf]])
    found = NORMAL.log_density(MultivariateNormalParameters.of([2.0], [[9.0]]), x)
    np.testing.assert_allclose(found, Normal().log_density(NormalParameters(2.0, 3.0), x), rtol=1e-14)


def test_the_columns_of_a_diagonal_covariance_are_independent() -> None:
    found = NORMAL.log_density(MultivariateNormalParameters.of(MEAN, np.diag([4.0, 1.0, 0.25])), ROWS)[:, 0]
    each = Normal().log_density(NormalParameters(MEAN, np.array([2.0, 1.0, 0.5])), ROWS)
    np.testing.assert_allclose(found, each.sum(axis=1), rtol=1e-13)


def test_a_missing_cell_makes_the_row_missing_and_an_infinite_one_impossible() -> None:
    rows = np.array([[1.0, np.nan, 0.0], [np.inf, 0.0, 0.0], [np.inf, np.nan, 0.0]])
    found = NORMAL.log_density(MultivariateNormalParameters.of(MEAN, COVARIANCE), rows)[:, 0]
    assert np.isnan(found).tolist() == [True, False, True]
    assert found[1] == -np.inf


def test_a_row_has_the_same_bits_alone_and_in_a_batch() -> None:
    generator = np.random.default_rng(15)
    rows, d = generator.standard_normal((9000, 11)), 11
    parameters = NORMAL.estimate(NORMAL.statistic(rows @ generator.standard_normal((d, d)))).parameters
    together = NORMAL.log_density(parameters, rows)
    for k in (0, 17, 4095, 4096, 8999):
        assert NORMAL.log_density(parameters, rows[k : k + 1]).tolist() == together[k : k + 1].tolist()


# -- estimation -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("divisor", "less"), [("n", 0), ("n-1", 1)])
def test_the_estimate_is_mean_and_covariance(divisor: Any, less: int) -> None:
    fitted = MultivariateNormal(divisor).estimate(NORMAL.statistic(ROWS)).parameters
    np.testing.assert_allclose(fitted.mean[0], ROWS.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(fitted.covariance[0], np.cov(ROWS.T, ddof=less), rtol=1e-13)


@pytest.mark.parametrize("offset", [1e9, 1e15])
def test_the_density_of_fitted_rows_is_the_same_at_any_offset(offset: float) -> None:
    near = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 5.0], [4.0, 4.0]])
    here, there = (NORMAL.estimate(NORMAL.statistic(rows)).parameters for rows in (near, near + offset))
    np.testing.assert_allclose(NORMAL.log_density(there, near + offset), NORMAL.log_density(here, near), rtol=1e-13)


@pytest.mark.parametrize("unit", [1e300, 1e-310])
def test_huge_and_tiny_numbers_have_an_estimate(unit: float) -> None:
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 3.0], [0.0, 0.0]])
    estimate = NORMAL.estimate(NORMAL.statistic(rows * np.array([unit, 1.0])))
    assert estimate.exists.all()
    expected = NORMAL.estimate(NORMAL.statistic(rows)).parameters
    np.testing.assert_allclose(estimate.parameters.correlation, expected.correlation, rtol=1e-12)
    np.testing.assert_allclose(estimate.parameters.stddev, expected.stddev * np.array([unit, 1.0]), rtol=1e-12)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (lambda a, b: [a, b, a], "rank 2 of 3: columns 0, 2 determine each other"),
        (lambda a, b: [a, b, a + b], "rank 2 of 3: columns 0, 1, 2 determine each other"),
        (lambda a, b: [a, b, -3.0 * b + 7.0], "rank 2 of 3: columns 1, 2 determine each other"),
        (lambda a, b: [a, b, 1e9 * a], "rank 2 of 3: columns 0, 2 determine each other"),
        (lambda a, b: [a, b, np.full_like(a, 0.1)], "rank 2 of 3: column 2 is constant"),
        (lambda a, b: [a, np.zeros_like(a), np.ones_like(a)], "rank 1 of 3: columns 1, 2 are constant"),
        (lambda a, b: [a, a, np.zeros_like(a)], "column 2 is constant and columns 0, 1 determine each other"),
    ],
)
def test_a_singular_covariance_is_found_by_its_rank(columns: Any, reason: str) -> None:
    generator = np.random.default_rng(11)
    rows = np.stack(columns(generator.standard_normal(50), generator.standard_normal(50)), axis=1)
    estimate = NORMAL.estimate(NORMAL.statistic(rows))
    assert estimate.exists.tolist() == [False]
    assert reason in estimate.reason
    with pytest.raises(FitError, match="rank"):
        NORMAL.log_density(estimate.parameters, rows)


def test_almost_collinear_columns_are_still_distinguished() -> None:
    generator = np.random.default_rng(12)
    a, b = generator.standard_normal(50), generator.standard_normal(50)
    estimate = NORMAL.estimate(NORMAL.statistic(np.stack([a, a + 1e-6 * b], axis=1)))
    assert estimate.exists.all()


def test_fewer_rows_than_columns_have_no_estimate() -> None:
    estimate = NORMAL.estimate(NORMAL.statistic(ROWS[:3]))
    assert estimate.exists.tolist() == [False]
    assert "rank 2 of 3" in estimate.reason


def test_each_group_is_checked_alone() -> None:
    groups = np.array([0] * 8 + [1] + [2] * 2 + [-1], dtype=np.int32)
    for divisor in ("n", "n-1"):
        estimate = MultivariateNormal(divisor).estimate(NORMAL.statistic(ROWS, groups, 4))
        assert estimate.exists.tolist() == [True, False, False, False]
        assert all(f"group {g}" in estimate.reason for g in (1, 2, 3))
        assert np.isfinite(estimate.parameters.covariance).all()
        np.testing.assert_allclose(estimate.parameters.mean[1], ROWS[8], rtol=1e-15)


@pytest.mark.parametrize("rows", [np.empty((0, 2)), np.full((3, 2), np.nan)])
def test_without_rows_there_is_no_estimate(rows: np.ndarray) -> None:
    statistic = NORMAL.statistic(rows)
    assert not NORMAL.estimate(statistic).exists.any()
    prior = NormalInverseWishart(np.array([1e200, 0.0]), 1.0, 3.0, np.eye(2))
    assert NORMAL.log_marginal(statistic, prior).tolist() == [0.0]
    np.testing.assert_array_equal(NORMAL.posterior(statistic, prior).scale, [np.eye(2)])


# -- the conjugate prior ------------------------------------------------------------------------------------------
def test_one_column_has_the_posterior_of_the_normal_inverse_gamma() -> None:
    rows = ROWS[:, :1]
    wishart = NormalInverseWishart(np.array([0.5]), strength=2.0, df=5.0, scale=np.array([[3.0]]))
    gamma = NormalInverseGamma(mean=0.5, strength=2.0, shape=2.5, scale=1.5)
    vector, number = (
        NORMAL.posterior(NORMAL.statistic(rows), wishart),
        Normal().posterior(Normal().statistic(rows), gamma),
    )
    assert float(vector.mean.item()) == pytest.approx(number.mean.item(), rel=1e-15)
    assert float(vector.scale.item()) == pytest.approx(2.0 * number.scale.item(), rel=1e-15)
    np.testing.assert_allclose(
        NORMAL.log_marginal(NORMAL.statistic(rows), wishart),
        Normal().log_marginal(Normal().statistic(rows), gamma)[0],
        rtol=1e-13,
    )
    x = np.array([[-40.0], [0.0], [3.0]])
    np.testing.assert_allclose(NORMAL.log_predictive(vector, x), Normal().log_predictive(number, x), rtol=1e-13)


def test_the_predictive_is_the_multivariate_t_of_scipy() -> None:
    prior = NormalInverseWishart(MEAN, strength=2.0, df=6.0, scale=COVARIANCE)
    df = 6.0 - 3 + 1
    expected = stats.multivariate_t(MEAN, COVARIANCE * 3.0 / (2.0 * df), df=df).logpdf(ROWS)
    np.testing.assert_allclose(NORMAL.log_predictive(prior, ROWS)[:, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("df", [2.5, 40.0, 1e15])
@pytest.mark.parametrize("z", [0.0, 3.0, 1e6, 1e200])
def test_the_predictive_agrees_with_mpmath_in_the_tails(df: float, z: float) -> None:
    scale, strength = COVARIANCE * df, 3.0
    x = MEAN + z
    q = exact_distance(x, MEAN, matrix(scale)) * mp.mpf(3) / 4
    half = (mp.mpf(df) + 1) / 2
    exact = mp.loggamma(half) - mp.loggamma(half - mp.mpf(3) / 2) - half * mp.log1p(q)
    exact -= (3 * mp.log(mp.pi * mp.mpf(4) / 3) + mp.log(mp.det(matrix(scale)))) / 2
    found = NORMAL.log_predictive(NormalInverseWishart(MEAN, strength, df, scale), x[None]).item()
    assert error_of_density(found, exact) <= 1e-12


@pytest.mark.parametrize(
    ("strength", "df", "size"), [(1.0, 3.0, 1.0), (1e-6, 2.0001, 1e-3), (1e15, 1e15, 1e15), (5.0, 1e6, 1.0)]
)
def test_the_evidence_agrees_with_mpmath(strength: float, df: float, size: float) -> None:
    rows = np.round(ROWS * 8.0) / 8.0
    n, d = mp.mpf(len(rows)), 3
    prior = NormalInverseWishart(np.zeros(3), strength, df, COVARIANCE * size)
    data = matrix(rows)
    mean = mp.matrix([mp.fsum(data[:, j]) / n for j in range(d)])
    gathered = data.T * data - n * mean * mean.T
    after = matrix(COVARIANCE * size) + gathered + mp.mpf(strength) * n / (mp.mpf(strength) + n) * mean * mean.T
    half, half_after = mp.mpf(df) / 2, (mp.mpf(df) + n) / 2
    halves = [mp.mpf(j) / 2 for j in range(d)]
    exact = mp.fsum(mp.loggamma(half_after - h) - mp.loggamma(half - h) for h in halves)
    exact += half * mp.log(mp.det(matrix(COVARIANCE * size))) - half_after * mp.log(mp.det(after))
    exact += mp.mpf(d) / 2 * mp.log(mp.mpf(strength) / (mp.mpf(strength) + n)) - n * d / 2 * mp.log(mp.pi)
    assert error_of_density(NORMAL.log_marginal(NORMAL.statistic(rows), prior).item(), exact) <= 1e-12


def test_the_plug_in_under_a_prior_is_the_posterior_mean() -> None:
    prior = NormalInverseWishart(np.zeros(3), strength=1.0, df=5.0, scale=np.eye(3))
    after = NORMAL.posterior(NORMAL.statistic(ROWS[:2]), prior)
    fitted = NORMAL.parameters(NORMAL.statistic(ROWS[:2]), prior)
    np.testing.assert_allclose(fitted.covariance, after.scale / 3.0, rtol=1e-14)
    np.testing.assert_allclose(fitted.mean[0], ROWS[:2].sum(axis=0) / 3.0, rtol=1e-14)
    with pytest.raises(ParameterError, match="df above 4"):
        NORMAL.parameters(NORMAL.statistic(ROWS[:0]), NormalInverseWishart(np.zeros(3), 1.0, 3.0, np.eye(3)))


def test_products_beyond_the_range_of_floats_are_a_typed_error() -> None:
    prior = NormalInverseWishart(np.zeros(2), 1.0, 3.0, np.eye(2))
    with pytest.raises(FitError, match="larger unit"):
        NORMAL.posterior(NORMAL.statistic(np.array([[1e300, 0.0], [0.0, 1.0]])), prior)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"strength": 0.0}, "strength"),
        ({"df": 1.0}, "df must be above 1"),
        ({"mean": np.array([np.nan, 0.0])}, "mean"),
        ({"scale": np.ones((2, 2))}, "full rank"),
        ({"scale": np.array([[1.0, 0.5], [0.2, 1.0]])}, "symmetric"),
        ({"scale": np.eye(3)}, "as many rows"),
        ({"scale": np.diag([1.0, np.inf])}, "finite"),
    ],
)
def test_impossible_priors_are_refused(change: dict[str, Any], words: str) -> None:
    fields = {"mean": np.zeros(2), "strength": 1.0, "df": 3.0, "scale": np.eye(2), **change}
    with pytest.raises(ParameterError, match=words):
        NormalInverseWishart(**fields)


# -- exponential form -------------------------------------------------------------------------------------------
def test_the_derivatives_of_the_log_partition_are_means_and_covariances_of_x_and_its_products() -> None:
    parameters = MultivariateNormalParameters.of([1.0, -0.5], [[2.0, 0.6], [0.6, 1.0]])
    form = NORMAL.exponential_form(parameters)

    def log_partition(one: Any, two: Any, first: Any, mixed: Any, second: Any) -> Any:
        precision = mp.matrix([[-2 * first, -mixed], [-mixed, -2 * second]])
        leaning = mp.matrix([one, two])
        return (leaning.T * mp.inverse(precision) * leaning)[0] / 2 - mp.log(mp.det(precision)) / 2

    check_exponential_form(form, log_partition)
    nodes, weights = np.polynomial.hermite.hermgauss(12)
    white = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2) * np.sqrt(2.0)
    x = parameters.mean[0] + white @ np.linalg.cholesky(parameters.covariance[0]).T
    np.testing.assert_allclose(form.log_density(x[:, None, :]), NORMAL.log_density(parameters, x), rtol=1e-11)
    check_moments_of_sufficient(form, x, np.outer(weights, weights).ravel())


def test_free_parameters_are_means_variances_and_covariances() -> None:
    assert [NORMAL.n_free_parameters(d) for d in (1, 2, 3)] == [2, 5, 9]


# -- sampling ---------------------------------------------------------------------------------------------------
def test_draws_have_the_expected_moments() -> None:
    parameters = MultivariateNormalParameters.of([MEAN, -MEAN], [COVARIANCE, np.eye(3)])
    draws = NORMAL.sample(parameters, 40_000, np.random.default_rng(13))
    assert draws.shape == (40_000, 2, 3)
    np.testing.assert_allclose(draws.mean(axis=0), [MEAN, -MEAN], atol=0.05)
    np.testing.assert_allclose(np.cov(draws[:, 0].T), COVARIANCE, atol=0.1)


def test_draws_of_the_prior_have_its_moments() -> None:
    prior = NormalInverseWishart(MEAN, strength=2.0, df=14.0, scale=COVARIANCE * 10.0)
    drawn = NORMAL.sample_prior(prior, 40_000, np.random.default_rng(14))
    assert drawn.covariance.shape == (40_000, 1, 3, 3)
    np.testing.assert_allclose(drawn.covariance.mean(axis=0)[0], COVARIANCE, atol=0.05)
    np.testing.assert_allclose(np.cov(drawn.mean[:, 0].T), COVARIANCE / 2.0, atol=0.05)
