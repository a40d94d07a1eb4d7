"""The exponential distribution and its gamma prior against scipy and mpmath."""

from __future__ import annotations

import sys

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import Exponential, ExponentialParameters, GammaPrior
from bayeswise.foundation.errors import DataError, ParameterError
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    error_of_density,
    log_gamma_evidence,
)

EXPONENTIAL = Exponential()


@pytest.mark.parametrize("rate", [0.01, 1.0, 250.0])
def test_the_density_is_that_of_scipy(rate: float) -> None:
    x = np.linspace(0.0, 20.0, 41)
    found = EXPONENTIAL.log_density(ExponentialParameters(rate), x)
    np.testing.assert_allclose(found, stats.expon(scale=1.0 / rate).logpdf(x), rtol=1e-12)


@pytest.mark.parametrize("rate", [1e-310, 1e-15, 0.7, 1e15, 1e300])
@pytest.mark.parametrize("x", [0.0, 5e-324, 1e-15, 2.5, 1e15, 1e300])
def test_the_density_agrees_with_mpmath_in_the_tails(rate: float, x: float) -> None:
    exact = mp.log(mp.mpf(rate)) - mp.mpf(rate) * mp.mpf(x)
    found = EXPONENTIAL.log_density(ExponentialParameters(rate), x).item()
    if exact < -mp.mpf(sys.float_info.max):
        assert found == -np.inf
    else:
        assert error_of_density(found, exact) <= 1e-14


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    for log_p in (
        EXPONENTIAL.log_density(ExponentialParameters(2.0), [-1.0, np.inf, -np.inf, np.nan]),
        EXPONENTIAL.log_predictive(GammaPrior(2.0, 1.0), [-1.0, np.inf, -np.inf, np.nan]),
    ):
        assert log_p[:3].tolist() == [-np.inf] * 3
        assert np.isnan(log_p[3])


@pytest.mark.parametrize(("shape", "rate"), [(0.5, 0.1), (3.0, 2.0), (50.0, 7.0)])
def test_the_predictive_is_the_lomax_of_scipy(shape: float, rate: float) -> None:
    x = np.linspace(0.0, 30.0, 61)
    expected = stats.lomax(shape, scale=rate).logpdf(x)
    np.testing.assert_allclose(EXPONENTIAL.log_predictive(GammaPrior(shape, rate), x), expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("shape", "rate"), [(1e-6, 1.0), (2.5, 1e-200), (3e15, 1e15), (1e15, 1e-3), (4.0, 1e300)])
@pytest.mark.parametrize("x", [0.0, 1e-300, 1e-9, 1.0, 1e8, 1e300])
def test_the_predictive_agrees_with_mpmath(shape: float, rate: float, x: float) -> None:
    a, b = mp.mpf(shape), mp.mpf(rate)
    with mp.workdps(400):
        exact = mp.log(a) - mp.log(b) - (a + 1) * mp.log1p(mp.mpf(x) / b)
    assert error_of_density(EXPONENTIAL.log_predictive(GammaPrior(shape, rate), x).item(), exact) <= 1e-12


@pytest.mark.parametrize(
    ("shape", "rate", "n", "time"),
    [
        (1.0, 1.0, 3.0, 2.5),
        (0.1, 3.0, 1e15, 0.5),
        (2e15, 1e15, 2.0, 3.5),
        (1e-3, 1e-3, 1e6, 7.0),
        (5.0, 1e-300, 2.0, 1e300),
    ],
)
def test_the_evidence_agrees_with_mpmath(shape: float, rate: float, n: float, time: float) -> None:
    statistic = EXPONENTIAL.statistic(np.array([[time]]), weights=np.array([n]))
    with mp.workdps(400):
        exact = log_gamma_evidence(shape, rate, n, mp.mpf(n) * mp.mpf(time))
    assert error_of_density(EXPONENTIAL.log_marginal(statistic, GammaPrior(shape, rate)).item(), exact) <= 1e-12


@pytest.mark.parametrize("rate", [0.02, 1.0, 37.0])
def test_the_derivatives_of_the_log_partition_are_mean_and_variance(rate: float) -> None:
    form = EXPONENTIAL.exponential_form(ExponentialParameters(rate))
    check_exponential_form(form, lambda eta: -mp.log(-eta))
    nodes, weights = np.polynomial.laguerre.laggauss(40)
    x = nodes / rate
    log_p = EXPONENTIAL.log_density(ExponentialParameters(rate), x)
    np.testing.assert_allclose(form.log_density(x), log_p, rtol=1e-12)
    check_moments_of_sufficient(form, x, weights * np.exp(log_p + nodes))
    assert form.log_density(np.array([-1.0])).tolist() == [-np.inf]


# -- awkward rows ---------------------------------------------------------------------------------------------
def test_the_estimate_is_one_over_the_mean() -> None:
    statistic = EXPONENTIAL.statistic(np.array([[1.0], [np.nan], [2.0]]), weights=np.array([1.0, 5.0, 2.0]))
    assert EXPONENTIAL.estimate(statistic).parameters.rate.item() == 0.6


@pytest.mark.parametrize("values", [[0.0, 0.0], [5e-324, 5e-324]])
def test_only_zeros_have_no_maximum(values: list[float]) -> None:
    estimate = EXPONENTIAL.estimate(EXPONENTIAL.statistic(np.array(values)[:, None]))
    assert not estimate.exists.any()
    assert "grows with the rate" in estimate.reason
    log_p = EXPONENTIAL.log_density(estimate.parameters, [0.0, 1.0, np.nan])[0]
    assert log_p[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(log_p[2])


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    statistic = EXPONENTIAL.statistic(values)
    estimate = EXPONENTIAL.estimate(statistic)
    assert not estimate.exists.any()
    assert estimate.reason.startswith("no rows")
    assert EXPONENTIAL.log_marginal(statistic, GammaPrior(2.0, 3.0)).tolist() == [[0.0]]


def test_a_negative_time_is_an_error_that_names_its_cell() -> None:
    values = np.array([[1.0, 0.0], [2.0, -0.5]])
    with pytest.raises(DataError, match=r"row 2 of column 'x1' has -0\.5"):
        EXPONENTIAL.statistic(values)
    EXPONENTIAL.statistic(values, groups=np.array([0, -1], dtype=np.int32))


@pytest.mark.parametrize("value", [1e300, 1e-300, 1.7e308])
def test_huge_and_tiny_times_are_legal(value: float) -> None:
    estimate = EXPONENTIAL.estimate(EXPONENTIAL.statistic(np.full((4, 1), value)))
    assert estimate.exists.all()
    assert estimate.parameters.rate.item() == pytest.approx(1.0 / value, rel=1e-15)


def test_a_rate_beyond_the_range_of_floats_counts_as_infinite() -> None:
    estimate = EXPONENTIAL.estimate(EXPONENTIAL.statistic(np.full((4, 1), 1e-310)))
    assert estimate.parameters.rate.item() == np.inf
    assert not estimate.exists.any()


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan])
def test_an_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(ParameterError):
        ExponentialParameters(rate)


def test_draws_have_the_expected_mean() -> None:
    draws = EXPONENTIAL.sample(ExponentialParameters(np.array([[0.5, 1e15]])), 20_000, np.random.default_rng(5))
    assert draws.shape == (20_000, 1, 2)
    np.testing.assert_allclose(draws.mean(axis=0), [[2.0, 1e-15]], rtol=0.03)
    small = EXPONENTIAL.sample_prior(GammaPrior(1e-4, 1.0), 100, np.random.default_rng(5))
    assert (small.rate > 0).all()
