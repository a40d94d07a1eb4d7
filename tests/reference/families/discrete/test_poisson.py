"""Poisson and its gamma prior against scipy and mpmath."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import GammaPrior, Poisson, PoissonParameters
from bayeswise.foundation.errors import DataError, ParameterError
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    log_gamma_evidence,
    relative_error,
)

POISSON = Poisson()


def exact_log_poisson(x: Any, rate: Any) -> Any:
    return mp.mpf(x) * mp.log(mp.mpf(rate)) - mp.mpf(rate) - mp.loggamma(mp.mpf(x) + 1)


@pytest.mark.parametrize("rate", [0.0, 0.01, 1.0, 7.5, 300.0])
def test_the_density_is_that_of_scipy(rate: float) -> None:
    x = np.arange(30.0)
    found = POISSON.log_density(PoissonParameters(rate), x)
    np.testing.assert_allclose(found, stats.poisson(rate).logpmf(x), rtol=1e-12)


@pytest.mark.parametrize("rate", [1e-300, 1e-3, 1.0, 20.5, 1e6, 1e15, 1e18])
@pytest.mark.parametrize("deviations", [-30.0, -1.0, 0.0, 0.1, 1.0, 30.0, 1e4])
def test_the_density_agrees_with_mpmath_around_the_rate(rate: float, deviations: float) -> None:
    x = float(np.floor(max(rate + deviations * np.sqrt(rate), 0.0)))
    found = POISSON.log_density(PoissonParameters(rate), x).item()
    assert relative_error(found, exact_log_poisson(x, rate)) <= 1e-12


@pytest.mark.parametrize("rate", [1e-300, 1.0, 1e15])
@pytest.mark.parametrize("x", [0.0, 1.0, 2.0, 9.0, 10.0, 11.0, 1e6, 1e15, 1e200])
def test_the_density_agrees_with_mpmath_far_from_the_rate(rate: float, x: float) -> None:
    found = POISSON.log_density(PoissonParameters(rate), x).item()
    assert relative_error(found, exact_log_poisson(x, rate)) <= 1e-12


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    for log_p in (
        POISSON.log_density(PoissonParameters(2.0), [-1.0, 0.5, np.inf, np.nan]),
        POISSON.log_predictive(GammaPrior(2.0, 1.0), [-1.0, 0.5, np.inf, np.nan]),
    ):
        assert log_p[:3].tolist() == [-np.inf] * 3
        assert np.isnan(log_p[3])


@pytest.mark.parametrize(("shape", "rate"), [(0.5, 0.1), (3.0, 2.0), (50.0, 7.0)])
def test_the_predictive_is_the_negative_binomial_of_scipy(shape: float, rate: float) -> None:
    x = np.arange(40.0)
    expected = stats.nbinom(shape, rate / (rate + 1.0)).logpmf(x)
    np.testing.assert_allclose(POISSON.log_predictive(GammaPrior(shape, rate), x), expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("shape", "rate"), [(1e-6, 1.0), (2.5, 1e-8), (3e15, 1e15), (1e20, 1e5), (7.0, 1e12), (1e15, 1e-3)]
)
@pytest.mark.parametrize("deviations", [-3.0, 0.0, 1.0, 40.0])
def test_the_predictive_agrees_with_mpmath(shape: float, rate: float, deviations: float) -> None:
    mean = shape / rate
    x = float(np.floor(max(mean + deviations * np.sqrt(mean * (1.0 + 1.0 / rate)), 0.0)))
    exact = log_gamma_evidence(shape, rate, x, 1) - mp.loggamma(mp.mpf(x) + 1)
    assert relative_error(POISSON.log_predictive(GammaPrior(shape, rate), x).item(), exact) <= 1e-12


@pytest.mark.parametrize(
    ("shape", "rate", "counts", "weights"),
    [
        (1.0, 1.0, [2.0, 0.0, 4.0], [1.0, 1.0, 1.0]),
        (0.1, 3.0, [2.0, 0.0, 4.0], [1e15, 3.0, 1e14]),
        (2e15, 1e15, [2.0, 3.0], [1.0, 1.0]),
        (1e-3, 1e-3, [7.0], [1e6]),
    ],
)
def test_the_evidence_agrees_with_mpmath(shape: float, rate: float, counts: list[float], weights: list[float]) -> None:
    statistic = POISSON.statistic(np.array(counts)[:, None], weights=np.array(weights))
    pairs = list(zip(map(mp.mpf, counts), map(mp.mpf, weights), strict=True))
    exact = log_gamma_evidence(shape, rate, mp.fsum(x * w for x, w in pairs), mp.fsum(w for _, w in pairs))
    exact -= mp.fsum(w * mp.loggamma(x + 1) for x, w in pairs)
    assert relative_error(POISSON.log_marginal(statistic, GammaPrior(shape, rate)).item(), exact) <= 1e-12


@pytest.mark.parametrize("rate", [0.02, 1.0, 37.0])
def test_the_derivatives_of_the_log_partition_are_mean_and_variance(rate: float) -> None:
    form = POISSON.exponential_form(PoissonParameters(rate))
    check_exponential_form(form, mp.exp)
    x = np.arange(300.0)
    log_p = POISSON.log_density(PoissonParameters(rate), x)
    np.testing.assert_allclose(form.log_density(x), log_p, rtol=1e-12)
    check_moments_of_sufficient(form, x, np.exp(log_p))
    assert form.log_density(np.array([-1.0, 0.5])).tolist() == [-np.inf, -np.inf]


# -- awkward rows ---------------------------------------------------------------------------------------------
def test_only_zeros_give_the_rate_zero_and_say_so() -> None:
    estimate = POISSON.estimate(POISSON.statistic(np.zeros((3, 1))))
    assert estimate.exists.all()
    assert estimate.parameters.rate.item() == 0.0
    assert "border" in estimate.reason
    assert POISSON.log_density(estimate.parameters, [0.0, 1.0]).tolist() == [[0.0, -np.inf]]


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    statistic = POISSON.statistic(values)
    estimate = POISSON.estimate(statistic)
    assert not estimate.exists.any()
    assert estimate.reason.startswith("no rows")
    assert POISSON.log_marginal(statistic, GammaPrior(2.0, 3.0)).tolist() == [[0.0]]


@pytest.mark.parametrize("wrong", [-1.0, 2.5])
def test_a_value_that_is_not_a_count_is_an_error_that_names_its_cell(wrong: float) -> None:
    values = np.array([[1.0, 0.0], [2.0, wrong]])
    with pytest.raises(DataError, match="row 2 of column 'x1'"):
        POISSON.statistic(values)
    left_out = POISSON.statistic(values, weights=np.array([2.0, 0.0]))
    assert POISSON.estimate(left_out).parameters.rate.tolist() == [[1.0, 0.0]]


def test_the_smallest_rates_and_the_largest_counts_are_legal() -> None:
    statistic = POISSON.statistic(np.array([[1e300], [0.0]]))
    assert POISSON.estimate(statistic).parameters.rate.item() == 5e299
    assert POISSON.posterior(statistic, GammaPrior(1.0, 1.0)).mean.item() == pytest.approx(1e300 / 3, rel=1e-15)


@pytest.mark.parametrize("rate", [-1.0, np.inf, np.nan])
def test_an_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(ParameterError):
        PoissonParameters(rate)


def test_draws_have_the_expected_mean() -> None:
    draws = POISSON.sample(PoissonParameters(np.array([[0.5, 1e15]])), 20_000, np.random.default_rng(4))
    assert draws.shape == (20_000, 1, 2)
    np.testing.assert_allclose(draws.mean(axis=0), [[0.5, 1e15]], rtol=0.03)
    with pytest.raises(ParameterError, match="9e18"):
        POISSON.sample(PoissonParameters(1e20), 1, np.random.default_rng(4))
