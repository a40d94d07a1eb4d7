"""The log-normal family against scipy and mpmath, and against the normal family of the logarithms."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import LogNormal, LogNormalParameters, Normal, NormalInverseGamma
from bayeswise.foundation.errors import DataError, ParameterError
from bayeswise.statistics import fingerprint
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    error_of_density,
    relative_error,
)

LOG_NORMAL = LogNormal()


def exact_log_density(mean: Any, stddev: Any, x: Any) -> Any:
    m, s, y = mp.mpf(mean), mp.mpf(stddev), mp.log(mp.mpf(x))
    return -y - mp.log(s) - mp.log(2 * mp.pi) / 2 - ((y - m) / s) ** 2 / 2


def exact_log_predictive(prior: NormalInverseGamma, x: Any) -> Any:
    y, a, k = mp.log(mp.mpf(x)), mp.mpf(prior.shape), mp.mpf(prior.strength)
    f, spread = 2 * a, mp.sqrt(mp.mpf(prior.scale) * (k + 1) / (a * k))
    z = (y - mp.mpf(prior.mean)) / spread
    log_norm = mp.loggamma((f + 1) / 2) - mp.loggamma(f / 2) - mp.log(f * mp.pi) / 2 - mp.log(spread)
    return log_norm - (f + 1) / 2 * mp.log1p(z * z / f) - y


@pytest.mark.parametrize("mean", [-3.0, 0.0, 2.5])
@pytest.mark.parametrize("stddev", [0.1, 1.0, 4.0])
def test_the_density_is_that_of_scipy(mean: float, stddev: float) -> None:
    x = np.exp(mean + stddev * np.array([-4.0, -1.0, 0.1, 2.0, 6.0]))
    found = LOG_NORMAL.log_density(LogNormalParameters(mean, stddev), x)
    expected = stats.lognorm(stddev, scale=np.exp(mean)).logpdf(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mean", [-700.0, -1.0, 0.0, 0.3, 5.0, 600.0])
@pytest.mark.parametrize("stddev", [1e-3, 0.2, 1.0, 30.0, 1e5])
def test_the_density_agrees_with_mpmath(mean: float, stddev: float) -> None:
    for x in (5e-324, 1e-310, 1e-200, 1e-5, 0.5, 1.0, 3.0, 1e5, 1e100, 1e300):
        found = LOG_NORMAL.log_density(LogNormalParameters(mean, stddev), x)
        assert error_of_density(found, exact_log_density(mean, stddev, x)) <= 1e-12, x
    for deviations in (-30.0, -1.0, 0.0, 1e-4, 2.0, 40.0):
        if -740.0 < mean + deviations * stddev < 709.0:
            x = np.exp(mean + deviations * stddev)
            found = LOG_NORMAL.log_density(LogNormalParameters(mean, stddev), x)
            assert error_of_density(found, exact_log_density(mean, stddev, x)) <= 1e-12, x


@pytest.mark.parametrize("shape", [0.3, 5.0, 1e6, 1e12])
@pytest.mark.parametrize(("mean", "scale"), [(0.0, 1.0), (-600.0, 50.0)])
def test_the_predictive_agrees_with_mpmath(shape: float, mean: float, scale: float) -> None:
    prior = NormalInverseGamma(mean, 2.0, shape, scale * shape)
    for x in (5e-324, 1e-200, 0.01, 1.0, 7.0, 1e300):
        assert error_of_density(LOG_NORMAL.log_predictive(prior, x), exact_log_predictive(prior, x)) <= 1e-12, x


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    prior = NormalInverseGamma(0.0, 1.0, 1.0, 1.0)
    for log_p in (
        LOG_NORMAL.log_density(LogNormalParameters(0.0, 1.0), [0.0, -1.0, np.inf, np.nan]),
        LOG_NORMAL.log_predictive(prior, [0.0, -1.0, np.inf, np.nan]),
    ):
        assert log_p[:3].tolist() == [-np.inf] * 3
        assert np.isnan(log_p[3])


def test_the_estimate_is_that_of_scipy_with_divisor_n() -> None:
    x = np.random.default_rng(3).lognormal(1.0, 0.5, 300)
    stddev, _, scale = stats.lognorm.fit(x, floc=0)
    found = LOG_NORMAL.estimate(LOG_NORMAL.statistic(x[:, None])).parameters
    np.testing.assert_allclose([found.mean.item(), found.stddev.item()], [np.log(scale), stddev], rtol=1e-9)
    unbiased = LogNormal(variance_divisor="n-1").estimate(LOG_NORMAL.statistic(x[:, None])).parameters
    assert unbiased.stddev.item() == pytest.approx(np.log(x).std(ddof=1), rel=1e-14)


def test_the_evidence_is_that_of_the_logarithms_and_the_change_of_unit() -> None:
    x, prior = np.array([[0.2], [5.0], [1e-300], [3e200]]), NormalInverseGamma(0.5, 2.0, 1.5, 3.0)
    found = LOG_NORMAL.log_marginal(LOG_NORMAL.statistic(x), prior).item()
    of_logs = Normal().log_marginal(Normal().statistic(np.log(x)), prior).item()
    assert found == pytest.approx(of_logs - np.log(x).sum(), rel=1e-14)


def test_the_plug_in_parameters_under_a_prior_are_the_posterior_means() -> None:
    statistic, prior = LOG_NORMAL.statistic(np.exp([[1.0], [3.0]])), NormalInverseGamma(0.0, 2.0, 2.0, 1.0)
    after, found = LOG_NORMAL.posterior(statistic, prior), LOG_NORMAL.parameters(statistic, prior)
    assert found.mean.item() == np.asarray(after.mean).item() == pytest.approx(1.0)
    assert found.stddev.item() ** 2 == pytest.approx(np.asarray(after.scale).item() / 2.0)


@pytest.mark.parametrize(("mean", "stddev"), [(0.3, 0.5), (-1.0, 2.0)])
def test_the_derivatives_of_the_log_partition_are_mean_and_covariance(mean: float, stddev: float) -> None:
    parameters = LogNormalParameters(mean, stddev)
    form = LOG_NORMAL.exponential_form(parameters)
    check_exponential_form(form, lambda one, two: -(one**2) / (4 * two) - mp.log(-2 * two) / 2)
    x = np.exp(np.linspace(mean - 15 * stddev, mean + 15 * stddev, 20_001))
    log_p = LOG_NORMAL.log_density(parameters, x)
    np.testing.assert_allclose(form.log_density(x), log_p, rtol=1e-12, atol=1e-12)
    check_moments_of_sufficient(form, x, np.exp(log_p) * x)
    assert form.log_density(np.array([-1.0, 0.0])).tolist() == [-np.inf, -np.inf]


# -- awkward rows ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_constant_column_is_a_certain_value(n_rows: int) -> None:
    estimate = LOG_NORMAL.estimate(LOG_NORMAL.statistic(np.full((n_rows, 1), 1.0)))
    assert not estimate.exists.any() and "fewer than two different values" in estimate.reason
    assert LOG_NORMAL.log_density(estimate.parameters, [1.0, 2.0]).tolist() == [[np.inf, -np.inf]]


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    statistic = LOG_NORMAL.statistic(values)
    estimate = LOG_NORMAL.estimate(statistic)
    assert not estimate.exists.any() and estimate.reason.startswith("no rows")
    assert LOG_NORMAL.log_marginal(statistic, NormalInverseGamma(0.0, 1.0, 1.0, 1.0)).tolist() == [[0.0]]


@pytest.mark.parametrize("wrong", [0.0, -2.0, np.inf])
def test_a_value_outside_the_support_is_an_error_that_names_its_cell(wrong: float) -> None:
    values = np.array([[1.0, 2.0], [2.0, wrong]])
    with pytest.raises(DataError, match="row 2 of column 'x1'"):
        LOG_NORMAL.statistic(values)
    left_out = LOG_NORMAL.statistic(values, weights=np.array([1.0, 0.0]))
    assert fingerprint(left_out) == fingerprint(LOG_NORMAL.statistic(values[:1]))


def test_every_positive_float_may_be_fitted() -> None:
    x = [5e-324, 1e-310, 1e300, 1.7e308]
    found = LOG_NORMAL.estimate(LOG_NORMAL.statistic(np.array(x)[:, None])).parameters
    exact = mp.fsum(mp.log(mp.mpf(value)) for value in x) / 4
    assert relative_error(found.mean.item(), exact) <= 1e-14


def test_impossible_parameters_are_refused() -> None:
    for mean, stddev in ((np.inf, 1.0), (0.0, -1.0), (0.0, np.nan)):
        with pytest.raises(ParameterError):
            LogNormalParameters(mean, stddev)


def test_draws_have_the_expected_moments_and_stay_in_range() -> None:
    parameters = LogNormalParameters(np.array([[1.0, 0.0]]), np.array([[0.5, 1e4]]))
    draws = LOG_NORMAL.sample(parameters, 20_000, np.random.default_rng(4))
    assert draws.shape == (20_000, 1, 2) and draws.min() > 0 and np.isfinite(draws).all()
    np.testing.assert_allclose(np.log(draws[:, 0, 0]).mean(), 1.0, atol=0.02)
