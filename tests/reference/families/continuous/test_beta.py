"""The beta family against scipy and mpmath."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import Beta, BetaParameters
from bayeswise.foundation.errors import DataError, ParameterError
from bayeswise.statistics import fingerprint
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    error_of_density,
    log_beta,
    relative_error,
)

BETA = Beta()
SIZES = [1e-300, 1e-3, 0.5, 1.0, 3.0, 9.99, 10.0, 60.0, 1e6, 1e10, 1e15]
LARGEST = float(np.nextafter(1.0, 0.0))


def exact_log_density(alpha: Any, beta: Any, x: Any) -> Any:
    a, b, x = mp.mpf(alpha), mp.mpf(beta), mp.mpf(x)
    with mp.workdps(400):  # 1 - x of a denormal x
        return (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) - log_beta(a, b)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.5, 60.0])
@pytest.mark.parametrize("beta", [0.7, 2.0, 300.0])
def test_the_density_is_that_of_scipy(alpha: float, beta: float) -> None:
    x = np.array([0.001, 0.3, 0.5, 0.9, 0.999])
    found = BETA.log_density(BetaParameters(alpha, beta), x)
    np.testing.assert_allclose(found, stats.beta(alpha, beta).logpdf(x), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("alpha", SIZES)
def test_the_density_agrees_with_mpmath_around_the_mean(alpha: float) -> None:
    for beta in SIZES:
        mean = alpha / (alpha + beta)
        stddev = np.sqrt(mean) * np.sqrt(beta / (alpha + beta) / (alpha + beta + 1.0))
        for deviations in (-3.0, -0.01, 0.0, 1e-5, 1.0, 5.0, 40.0):
            x = mean + deviations * stddev
            if 0 < x < 1:
                found = BETA.log_density(BetaParameters(alpha, beta), x)
                assert error_of_density(found, exact_log_density(alpha, beta, x)) <= 1e-12, (beta, x)


@pytest.mark.parametrize("alpha", SIZES)
def test_the_density_agrees_with_mpmath_in_the_tails(alpha: float) -> None:
    for beta in SIZES:
        for x in (5e-324, 1e-310, 1e-200, 1e-9, 0.5, 0.999, LARGEST):
            found = BETA.log_density(BetaParameters(alpha, beta), x)
            assert error_of_density(found, exact_log_density(alpha, beta, x)) <= 1e-12, (beta, x)


def test_the_uniform_distribution_has_density_one_exactly() -> None:
    x = np.array([5e-324, 0.1, 0.5, LARGEST])
    assert np.abs(BETA.log_density(BetaParameters(1.0, 1.0), x)).max() <= 1e-15


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    log_p = BETA.log_density(BetaParameters(0.5, 0.5), [0.0, 1.0, -1.0, 2.0, np.inf, np.nan])
    assert log_p[:5].tolist() == [-np.inf] * 5
    assert np.isnan(log_p[5])


# -- maximum likelihood ---------------------------------------------------------------------------------------
def exact_estimate(x: Any, found: BetaParameters) -> tuple[Any, Any]:
    """The root of the likelihood equations at 50 digits."""
    values = [mp.mpf(float(value)) for value in x]
    with mp.workdps(400):
        g = mp.fsum(map(mp.log, values)) / len(values)
        h = mp.fsum(mp.log1p(-value) for value in values) / len(values)

    def equations(a: Any, b: Any) -> tuple[Any, Any]:
        return mp.digamma(a) - mp.digamma(a + b) - g, mp.digamma(b) - mp.digamma(a + b) - h

    start = (mp.mpf(found.alpha.item()), mp.mpf(found.beta.item()))
    alpha, beta = mp.findroot(equations, start, tol=1e-75)
    return alpha, beta


@pytest.mark.parametrize(
    ("alpha", "beta", "bound"),
    [
        (0.01, 0.02, 1e-14),
        (0.002, 1e5, 1e-13),
        (0.3, 5.0, 1e-14),
        (2.0, 3.0, 1e-14),
        (50.0, 1.0, 1e-14),
        (1.5, 1e12, 1e-13),
        (1e3, 2e3, 1e-12),
        (1e5, 1e3, 1e-11),
        (1e7, 1e7, 1e-8),
        (1e9, 3e9, 1e-6),
        (1e11, 1e11, 1e-5),
        (1e13, 1e12, 1e-5),
    ],
)
def test_the_estimate_solves_the_likelihood_equations(alpha: float, beta: float, bound: float) -> None:
    x = np.clip(np.random.default_rng(5).beta(alpha, beta, 40), 1e-300, LARGEST)
    estimate = BETA.estimate(BETA.statistic(x[:, None]))
    assert estimate.converged and estimate.exists.all() and estimate.iterations <= 30
    exact = exact_estimate(x, estimate.parameters)
    assert relative_error(estimate.parameters.alpha.item(), exact[0]) <= bound
    assert relative_error(estimate.parameters.beta.item(), exact[1]) <= bound


def test_the_estimate_is_that_of_scipy() -> None:
    x = np.random.default_rng(6).beta(2.5, 0.7, 500)
    alpha, beta, _, _ = stats.beta.fit(x, floc=0, fscale=1)
    found = BETA.estimate(BETA.statistic(x[:, None])).parameters
    np.testing.assert_allclose([found.alpha.item(), found.beta.item()], [alpha, beta], rtol=1e-7)


def test_values_at_both_ends_of_the_interval_have_an_estimate() -> None:
    x = np.array([5e-324, 1e-200, LARGEST, 0.5])
    estimate = BETA.estimate(BETA.statistic(x[:, None]))
    assert estimate.converged and estimate.exists.all()
    exact = exact_estimate(x, estimate.parameters)
    assert relative_error(estimate.parameters.alpha.item(), exact[0]) <= 1e-13


def test_there_is_no_conjugate_prior_and_the_family_says_so() -> None:
    statistic = BETA.statistic(np.array([[0.5]]))
    calls = [
        lambda: BETA.posterior(statistic, None),
        lambda: BETA.log_marginal(statistic, None),
        lambda: BETA.log_predictive(None, 0.5),
        lambda: BETA.parameters(statistic, prior=1.0),
        lambda: BETA.sample_prior(None, 1, np.random.default_rng(0)),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match="beta family has no conjugate prior"):
            call()


@pytest.mark.parametrize(("alpha", "beta"), [(0.7, 3.0), (5.0, 2.2)])
def test_the_derivatives_of_the_log_partition_are_mean_and_covariance(alpha: float, beta: float) -> None:
    parameters = BetaParameters(alpha, beta)
    form = BETA.exponential_form(parameters)
    check_exponential_form(form, lambda one, two: log_beta(one + 1, two + 1))
    logit = np.linspace(-80.0, 34.0, 400_001)
    x = 1.0 / (1.0 + np.exp(-logit))
    log_p = BETA.log_density(parameters, x)
    np.testing.assert_allclose(form.log_density(x), log_p, rtol=1e-12, atol=1e-12)
    check_moments_of_sufficient(form, x, np.exp(log_p) * x * (1.0 - x))  # an even grid in the log odds
    assert BETA.n_free_parameters() == 2


# -- awkward rows ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [0.3, 0.5, 1e-300, 5e-324, 0.99, LARGEST])
@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_constant_column_is_a_certain_value(value: float, n_rows: int) -> None:
    estimate = BETA.estimate(BETA.statistic(np.full((n_rows, 1), value)))
    assert not estimate.exists.any() and "fewer than two different values" in estimate.reason
    log_p = BETA.log_density(estimate.parameters, [value, 0.25, np.nan, 1.0])
    assert log_p[0, :2].tolist() == [np.inf, -np.inf] and np.isnan(log_p[0, 2]) and log_p[0, 3] == -np.inf


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    estimate = BETA.estimate(BETA.statistic(values))
    assert not estimate.exists.any() and estimate.reason.startswith("no rows")
    assert (estimate.parameters.alpha.item(), estimate.parameters.beta.item()) == (1.0, 1.0)


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, 1.5, np.inf])
def test_a_value_outside_the_support_is_an_error_that_names_its_cell(wrong: float) -> None:
    values = np.array([[0.1, 0.2], [0.2, wrong]])
    with pytest.raises(DataError, match="row 2 of column 'x1'"):
        BETA.statistic(values)
    left_out = BETA.statistic(values, groups=np.array([0, -1], dtype=np.int32))
    assert fingerprint(left_out) == fingerprint(BETA.statistic(values[:1]))


def test_one_call_estimates_groups_and_columns_of_all_kinds() -> None:
    values = np.array([[0.1, 0.2], [0.7, 0.2], [0.4, np.nan]])
    estimate = BETA.estimate(BETA.statistic(values, np.array([0, 0, 1], dtype=np.int32), 3))
    assert estimate.exists.tolist() == [[True, False], [False, False], [False, False]]
    alone = BETA.estimate(BETA.statistic(values[:2, :1])).parameters
    assert estimate.parameters.alpha[0, 0] == pytest.approx(alone.alpha.item(), rel=1e-14)


def test_draws_have_the_expected_moments_and_never_leave_the_support() -> None:
    parameters = BetaParameters(np.array([[2.0, 1e-4]]), np.array([[3.0, 1e-4]]))
    draws = BETA.sample(parameters, 20_000, np.random.default_rng(4))
    assert draws.shape == (20_000, 1, 2) and draws.min() > 0 and draws.max() < 1
    np.testing.assert_allclose([draws[:, 0, 0].mean(), draws[:, 0, 0].var()], [0.4, 0.04], rtol=0.03)
