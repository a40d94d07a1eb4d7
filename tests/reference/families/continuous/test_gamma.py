"""The gamma family, with an unknown and a known shape, against scipy and mpmath."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import Gamma, GammaParameters, GammaPrior
from bayeswise.foundation.errors import DataError, ParameterError
from bayeswise.statistics import fingerprint
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    error_of_density,
    log_beta,
    log_gamma_evidence,
    relative_error,
)

GAMMA = Gamma()
SHAPES = [1e-300, 1e-3, 0.5, 1.0, 3.0, 9.99, 10.0, 10.5, 150.0, 1e6, 1e10, 1e15]


def exact_log_density(shape: Any, rate: Any, x: Any) -> Any:
    a, b, x = mp.mpf(shape), mp.mpf(rate), mp.mpf(x)
    return a * mp.log(b) + (a - 1) * mp.log(x) - b * x - mp.loggamma(a)


def exact_shape(x: Any, start: float) -> Any:
    """The root of the likelihood equation at 50 digits."""
    values = [mp.mpf(float(value)) for value in x]
    deficit = mp.log(mp.fsum(values) / len(values)) - mp.fsum(map(mp.log, values)) / len(values)
    return mp.findroot(lambda a: mp.log(a) - mp.digamma(a) - deficit, mp.mpf(start), tol=1e-70)


@pytest.mark.parametrize("shape", [0.3, 1.0, 4.5, 60.0])
@pytest.mark.parametrize("rate", [1e-3, 2.0])
def test_the_density_is_that_of_scipy(shape: float, rate: float) -> None:
    x = np.array([0.01, 0.3, 1.0, 2.5, 40.0]) / rate
    found = GAMMA.log_density(GammaParameters(shape, rate), x)
    np.testing.assert_allclose(found, stats.gamma(shape, scale=1 / rate).logpdf(x), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [1e-200, 0.3, 7.0, 1e200])
def test_the_density_agrees_with_mpmath_around_the_mean(shape: float, rate: float) -> None:
    for deviations in (-3.0, -0.01, 0.0, 1e-5, 1.0, 5.0, 40.0):
        x = (shape + deviations * np.sqrt(shape)) / rate
        if x > 0:
            found = GAMMA.log_density(GammaParameters(shape, rate), x)
            assert error_of_density(found, exact_log_density(shape, rate, x)) <= 1e-12, x


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [1e-200, 0.3, 1e200])
def test_the_density_agrees_with_mpmath_in_the_tails(shape: float, rate: float) -> None:
    for x in (5e-324, 1e-310, 1e-200, 1e-5, 1.0, 1e5, 1e100, 1e300):
        exact = exact_log_density(shape, rate, x)
        found = GAMMA.log_density(GammaParameters(shape, rate), x)
        if exact > -1.7e308:
            assert error_of_density(found, exact) <= 1e-12, x
        else:
            assert found == -np.inf, x


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    for log_p in (
        GAMMA.log_density(GammaParameters(0.5, 1.0), [0.0, -1.0, np.inf, -np.inf, np.nan]),
        Gamma(shape=0.5).log_predictive(GammaPrior(2.0, 1.0), [0.0, -1.0, np.inf, -np.inf, np.nan]),
    ):
        assert log_p[:4].tolist() == [-np.inf] * 4
        assert np.isnan(log_p[4])


# -- maximum likelihood ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("shape", "unit", "bound"),
    [
        (0.01, 1.0, 1e-14),
        (0.5, 1e300, 1e-14),
        (3.0, 1e-300, 1e-13),
        (1e3, 2.0, 1e-13),
        (1e6, 1e200, 1e-7),
        (1e8, 3.0, 1e-7),
        (1e11, 1e-200, 1e-7),
        (1e15, 1.0, 1e-7),
        (1e25, 1.0, 1e-7),
    ],
)
def test_the_estimate_solves_the_likelihood_equation(shape: float, unit: float, bound: float) -> None:
    draws = np.random.default_rng(5).standard_gamma(shape, 40) / shape * unit
    x = np.maximum(draws, 1e-305)
    estimate = GAMMA.estimate(GAMMA.statistic(x[:, None]))
    assert estimate.converged and estimate.exists.all() and 0 < estimate.iterations <= 10
    found = estimate.parameters.shape.item()
    assert relative_error(found, exact_shape(x, found)) <= bound
    mean = mp.fsum(map(mp.mpf, x)) / len(x)
    assert relative_error(estimate.parameters.rate.item(), found / mean) <= 1e-15


def test_the_estimate_is_that_of_scipy() -> None:
    x = np.random.default_rng(6).gamma(2.5, 3.0, 500)
    shape, _, scale = stats.gamma.fit(x, floc=0)
    found = GAMMA.estimate(GAMMA.statistic(x[:, None])).parameters
    np.testing.assert_allclose([found.shape.item(), found.rate.item()], [shape, 1 / scale], rtol=1e-7)


def test_a_known_shape_leaves_only_the_rate() -> None:
    erlang = Gamma(shape=3.0)
    estimate = erlang.estimate(erlang.statistic(np.array([[1.0], [2.0], [6.0]])))
    assert (estimate.parameters.shape.item(), estimate.parameters.rate.item()) == (3.0, 1.0)
    assert (erlang.n_free_parameters(), GAMMA.n_free_parameters()) == (1, 2)
    one_row = erlang.estimate(erlang.statistic(np.array([[4.0]])))
    assert one_row.exists.all() and one_row.parameters.rate.item() == 0.75


# -- the conjugate prior of the rate --------------------------------------------------------------------------
@pytest.mark.parametrize("known", [0.2, 3.0, 1e3, 1e8])
@pytest.mark.parametrize(("shape", "rate"), [(0.5, 0.1), (3.0, 1e-200), (1e10, 7.0), (50.0, 1e200)])
def test_the_predictive_agrees_with_mpmath(known: float, shape: float, rate: float) -> None:
    for factor in (1e-305, 1e-60, 1e-3, 0.999, 1.0, 1.5, 1e3, 1e60):
        x = known * rate / shape * factor
        if 0 < x < np.inf:
            odds = mp.mpf(x) / mp.mpf(rate)
            exact = -known * mp.log1p(1 / odds) - shape * mp.log1p(odds) - log_beta(known, shape) - mp.log(mp.mpf(x))
            found = Gamma(shape=known).log_predictive(GammaPrior(shape, rate), x)
            assert error_of_density(found, exact) <= 1e-12, x


@pytest.mark.parametrize("known", [0.2, 1.0, 30.0])
def test_the_evidence_agrees_with_mpmath(known: float) -> None:
    family, prior, x = Gamma(shape=known), GammaPrior(1.5, 2.5), [0.25, 3.0, 1e-5, 12.0]
    weights = [1.0, 2.0, 1e6, 0.5]
    found = family.log_marginal(family.statistic(np.array(x)[:, None], weights=np.array(weights)), prior)
    pairs = list(zip(map(mp.mpf, x), map(mp.mpf, weights), strict=True))
    n, total = mp.fsum(weights), mp.fsum(w * v for v, w in pairs)
    exact = log_gamma_evidence(prior.shape, prior.rate, known * n, total) - n * mp.loggamma(known)
    exact += (mp.mpf(known) - 1) * mp.fsum(w * mp.log(v) for v, w in pairs)
    assert relative_error(found.item(), exact) <= 1e-12


def test_the_plug_in_parameters_under_a_prior_have_the_posterior_mean_rate() -> None:
    family = Gamma(shape=2.0)
    found = family.parameters(family.statistic(np.array([[1.0], [2.0], [6.0]])), GammaPrior(1.0, 1.0))
    assert (found.shape.item(), found.rate.item()) == (2.0, 0.7)


def test_an_unknown_shape_has_no_conjugate_prior_and_says_so() -> None:
    statistic, prior = GAMMA.statistic(np.array([[1.0]])), GammaPrior(1.0, 1.0)
    calls = [
        lambda: GAMMA.posterior(statistic, prior),
        lambda: GAMMA.log_marginal(statistic, prior),
        lambda: GAMMA.log_predictive(prior, 1.0),
        lambda: GAMMA.parameters(statistic, prior),
        lambda: GAMMA.sample_prior(prior, 1, np.random.default_rng(0)),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match=r"no conjugate prior.*Fix: give the shape"):
            call()


@pytest.mark.parametrize(("shape", "rate"), [(0.7, 3.0), (5.0, 0.2)])
def test_the_derivatives_of_the_log_partition_are_mean_and_covariance(shape: float, rate: float) -> None:
    parameters = GammaParameters(shape, rate)
    form = GAMMA.exponential_form(parameters)
    check_exponential_form(form, lambda one, two: mp.loggamma(one + 1) - (one + 1) * mp.log(-two))
    x = np.exp(np.linspace(-60.0, 6.0, 200_001))
    log_p = GAMMA.log_density(parameters, x)
    np.testing.assert_allclose(form.log_density(x), log_p, rtol=1e-12, atol=1e-12)
    check_moments_of_sufficient(form, x, np.exp(log_p) * x)  # an even grid in log x
    assert form.log_density(np.array([-1.0, 0.0])).tolist() == [-np.inf, -np.inf]


# -- awkward rows ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [3.0, 1e300, 5e-324])
@pytest.mark.parametrize("n_rows", [1, 4])
def test_a_constant_column_is_a_certain_value(value: float, n_rows: int) -> None:
    estimate = GAMMA.estimate(GAMMA.statistic(np.full((n_rows, 1), value)))
    assert not estimate.exists.any() and "fewer than two different values" in estimate.reason
    log_p = GAMMA.log_density(estimate.parameters, [value, 2.5, np.nan, -1.0])
    assert log_p[0, :2].tolist() == [np.inf, -np.inf] and np.isnan(log_p[0, 2]) and log_p[0, 3] == -np.inf
    assert GAMMA.sample(estimate.parameters, 2, np.random.default_rng(0)).ravel().tolist() == [value, value]


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    estimate = GAMMA.estimate(GAMMA.statistic(values))
    assert not estimate.exists.any() and estimate.reason.startswith("no rows")
    assert (estimate.parameters.shape.item(), estimate.parameters.rate.item()) == (1.0, 1.0)
    known = Gamma(shape=2.0)
    assert known.log_marginal(known.statistic(values), GammaPrior(2.0, 3.0)).tolist() == [[0.0]]


def test_denormal_values_whose_rate_is_not_a_float_are_reported() -> None:
    estimate = GAMMA.estimate(GAMMA.statistic(np.array([[1e-309], [3e-309], [2e-309]])))
    assert not estimate.exists.any() and "smaller unit" in estimate.reason
    assert GAMMA.log_density(estimate.parameters, 1.0).item() == -np.inf


@pytest.mark.parametrize("wrong", [0.0, -2.0, np.inf])
def test_a_value_outside_the_support_is_an_error_that_names_its_cell(wrong: float) -> None:
    values = np.array([[1.0, 2.0], [2.0, wrong]])
    with pytest.raises(DataError, match="row 2 of column 'x1'"):
        GAMMA.statistic(values)
    left_out = GAMMA.statistic(values, weights=np.array([1.0, 0.0]))
    assert fingerprint(left_out) == fingerprint(GAMMA.statistic(values[:1]))


def test_a_weight_of_three_is_the_row_three_times() -> None:
    x = np.array([[0.1], [7.0]])
    weighted = GAMMA.statistic(x, weights=np.array([3.0, 1.0]))
    assert fingerprint(weighted) == fingerprint(GAMMA.statistic(x[[0, 0, 0, 1]]))


@pytest.mark.parametrize(("shape", "rate"), [(-1.0, 1.0), (1.0, 0.0), (np.nan, 1.0), (1.0, np.inf)])
def test_impossible_parameters_are_refused(shape: float, rate: float) -> None:
    with pytest.raises(ParameterError):
        GammaParameters(shape, rate)


def test_draws_have_the_expected_moments_and_never_leave_the_support() -> None:
    parameters = GammaParameters(np.array([[4.0, 1e-4]]), np.array([[0.5, 1.0]]))
    draws = GAMMA.sample(parameters, 20_000, np.random.default_rng(4))
    assert draws.shape == (20_000, 1, 2) and draws.min() > 0
    np.testing.assert_allclose([draws[:, 0, 0].mean(), draws[:, 0, 0].var()], [8.0, 16.0], rtol=0.03)
