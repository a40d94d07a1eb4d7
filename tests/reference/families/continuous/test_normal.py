"""The normal distribution and its normal-inverse-gamma prior against scipy, fractions and mpmath."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import Normal, NormalInverseGamma, NormalParameters
from bayeswise.foundation.errors import FitError, ParameterError
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    error_of_density,
    relative_error,
)

NORMAL = Normal()


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def exact_log_normal(x: Any, mean: Any, stddev: Any) -> Any:
    z = (mp.mpf(x) - mp.mpf(mean)) / mp.mpf(stddev)
    return -mp.log(mp.mpf(stddev)) - mp.log(2 * mp.pi) / 2 - z * z / 2


# -- density ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("mean", "stddev"), [(0.0, 1.0), (-3.5, 0.2), (1e4, 30.0)])
def test_the_density_is_that_of_scipy(mean: float, stddev: float) -> None:
    x = mean + stddev * np.linspace(-40.0, 40.0, 81)
    found = NORMAL.log_density(NormalParameters(mean, stddev), x)
    np.testing.assert_allclose(found, stats.norm(mean, stddev).logpdf(x), rtol=1e-12)


@pytest.mark.parametrize(
    ("mean", "stddev"), [(0.0, 1.0), (1e15, 1.0), (-1e300, 1e299), (0.0, 1e-310), (3e-310, 1e-311)]
)
@pytest.mark.parametrize("z", [-1e6, -8.0, 0.0, 0.5, 100.0])
def test_the_density_agrees_with_mpmath_in_the_tails(mean: float, stddev: float, z: float) -> None:
    x = mean + z * stddev
    found = NORMAL.log_density(NormalParameters(mean, stddev), x).item()
    assert error_of_density(found, exact_log_normal(x, mean, stddev)) <= 1e-12


def test_a_difference_beyond_the_range_of_floats_is_handled() -> None:
    found = NORMAL.log_density(NormalParameters(-1.5e308, 1e308), 1.5e308).item()
    assert error_of_density(found, exact_log_normal(1.5e308, -1.5e308, 1e308)) <= 1e-12
    assert NORMAL.log_density(NormalParameters(0.0, 1e-300), 1e300).item() == -np.inf


def test_infinite_values_are_impossible_and_missing_stays_missing() -> None:
    log_p = NORMAL.log_density(NormalParameters(0.0, 1.0), [np.inf, -np.inf, np.nan])
    assert log_p[:2].tolist() == [-np.inf, -np.inf]
    assert np.isnan(log_p[2])


def test_a_stddev_of_zero_is_a_certain_value() -> None:
    log_p = NORMAL.log_density(NormalParameters(2.0, 0.0), [2.0, 2.5, np.nan])
    assert log_p[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(log_p[2])


# -- estimation -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("offset", [0.0, 1e9, 1e15])
def test_the_density_of_fitted_rows_is_the_same_at_any_offset(offset: float) -> None:
    values = column(-2.0, -1.0, 0.0, 1.0, 3.0, 3.0, 4.0) + offset
    fitted = NORMAL.estimate(NORMAL.statistic(values)).parameters
    exact = [Fraction(x) for x in values[:, 0]]
    mean = sum(exact, Fraction(0)) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / len(exact)
    assert relative_error(fitted.stddev.item(), mp.sqrt(mp.mpf(variance.numerator) / variance.denominator)) <= 2e-16
    for x in exact:
        square = (x - mean) ** 2 / variance
        log_p = -mp.log(2 * mp.pi * variance.numerator / mp.mpf(variance.denominator)) / 2
        log_p -= mp.mpf(square.numerator) / square.denominator / 2
        assert relative_error(NORMAL.log_density(fitted, float(x)).item(), log_p) <= 1e-14


@pytest.mark.parametrize("unit", [1e300, 1e-310, 1e-320])
def test_huge_and_tiny_numbers_have_an_estimate(unit: float) -> None:
    fitted = NORMAL.estimate(NORMAL.statistic(column(0.0, unit)))
    assert fitted.exists.all()
    assert fitted.parameters.stddev.item() == pytest.approx(unit / 2, rel=1e-15, abs=0.0)


@pytest.mark.parametrize("values", [column(7.0), column(0.1, 0.1, 0.1), column(1e300, 1e300)])
def test_one_row_or_a_constant_column_has_no_maximum(values: np.ndarray) -> None:
    for divisor in ("n", "n-1"):
        estimate = Normal(divisor).estimate(NORMAL.statistic(values))
        assert not estimate.exists.any()
        assert "grows as stddev -> 0" in estimate.reason
        assert estimate.parameters.mean.item() == values[0, 0]


@pytest.mark.parametrize("values", [np.empty((0, 1)), column(np.nan, np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    statistic = NORMAL.statistic(values)
    estimate = NORMAL.estimate(statistic)
    assert not estimate.exists.any()
    assert estimate.reason.startswith("no rows")
    prior = NormalInverseGamma(mean=1e200, strength=1.0, shape=2.0, scale=3.0)
    assert NORMAL.log_marginal(statistic, prior).tolist() == [[0.0]]
    assert repr(NORMAL.posterior(statistic, prior)) == repr(prior)


def test_a_weight_of_k_is_k_rows() -> None:
    weighted = NORMAL.statistic(column(1.0, 2.0, 9.0), weights=np.array([2.0, 3.0, 0.0]))
    repeated = NORMAL.statistic(column(1.0, 1.0, 2.0, 2.0, 2.0))
    one, other = NORMAL.estimate(weighted).parameters, NORMAL.estimate(repeated).parameters
    assert (one.mean.item(), one.stddev.item()) == (other.mean.item(), other.stddev.item())


# -- the conjugate prior ------------------------------------------------------------------------------------------
def exact_log_marginal(values: list[float], prior: NormalInverseGamma, n_copies: int = 1) -> Any:
    """The textbook formula, in exact rationals up to the gamma functions."""
    rows, n = [Fraction(x) for x in values], len(values) * n_copies
    mean = sum(rows, Fraction(0)) / len(rows)
    squares = n_copies * sum((x - mean) ** 2 for x in rows)
    strength, shape = Fraction(float(prior.strength)), Fraction(float(prior.shape))
    scale, gap = Fraction(float(prior.scale)), mean - Fraction(float(prior.mean))
    after = scale + squares / 2 + strength * n * gap**2 / (2 * (strength + n))
    a, b, k = (mp.mpf(value.numerator) / value.denominator for value in (shape, scale, strength))
    b_after = mp.mpf(after.numerator) / after.denominator
    log_gammas = mp.loggamma(a + mp.mpf(n) / 2) - mp.loggamma(a)
    log_scales = a * mp.log(b) - (a + mp.mpf(n) / 2) * mp.log(b_after)
    return log_gammas + log_scales + mp.log(k / (k + n)) / 2 - mp.mpf(n) / 2 * mp.log(2 * mp.pi)


@pytest.mark.parametrize(
    "prior",
    [
        NormalInverseGamma(mean=0.0, strength=1.0, shape=1.5, scale=2.0),
        NormalInverseGamma(mean=-3.0, strength=1e15, shape=1e15, scale=2e15),
        NormalInverseGamma(mean=2.0, strength=1e-8, shape=1e-3, scale=1e-3),
        NormalInverseGamma(mean=1e6, strength=0.1, shape=40.0, scale=1e-3),
    ],
)
def test_the_evidence_agrees_with_mpmath(prior: NormalInverseGamma) -> None:
    values = [0.5, 2.25, -1.0, 3.0]
    found = NORMAL.log_marginal(NORMAL.statistic(column(*values)), prior).item()
    assert relative_error(found, exact_log_marginal(values, prior)) <= 1e-12


def test_the_evidence_agrees_with_mpmath_for_1e15_rows() -> None:
    values, prior = [0.5, 2.25, -1.0, 3.0], NormalInverseGamma(mean=0.0, strength=1.0, shape=1.5, scale=2.0)
    statistic = NORMAL.statistic(column(*values), weights=np.full(4, 1e15))
    assert (
        relative_error(NORMAL.log_marginal(statistic, prior).item(), exact_log_marginal(values, prior, 10**15)) <= 1e-12
    )


@pytest.mark.parametrize("shape", [0.5, 3.0, 200.0])
def test_the_predictive_is_the_student_t_of_scipy(shape: float) -> None:
    posterior = NormalInverseGamma(mean=1.0, strength=2.0, shape=shape, scale=5.0)
    x = np.linspace(-30.0, 30.0, 61)
    expected = stats.t(2 * shape, loc=1.0, scale=math.sqrt(5.0 * 3.0 / (shape * 2.0))).logpdf(x)
    np.testing.assert_allclose(NORMAL.log_predictive(posterior, x), expected, rtol=1e-11)


@pytest.mark.parametrize(("shape", "scale"), [(0.01, 1.0), (2.5, 1e-300), (1e15, 1e15), (40.0, 1e300)])
@pytest.mark.parametrize("x", [0.0, 1e-9, 1.0, 1e9, 1e200, -1e300])
def test_the_predictive_agrees_with_mpmath_in_the_tails(shape: float, scale: float, x: float) -> None:
    posterior = NormalInverseGamma(mean=0.25, strength=3.0, shape=shape, scale=scale)
    with mp.workdps(1300):
        a, width = mp.mpf(shape), 2 * mp.mpf(scale) * mp.mpf(4) / 3
        exact = -mp.log(mp.pi * width) / 2 - (a + mp.mpf(1) / 2) * mp.log1p((mp.mpf(x) - mp.mpf(0.25)) ** 2 / width)
    exact += mp.loggamma(a + mp.mpf(1) / 2) - mp.loggamma(a)
    assert error_of_density(NORMAL.log_predictive(posterior, x).item(), exact) <= 1e-12


def test_the_posterior_at_1e15_keeps_the_digits_of_the_mean() -> None:
    values = column(0.0, 1.0, 3.0) + 1e15
    prior = NormalInverseGamma(mean=1e15, strength=1.0, shape=2.0, scale=2.0)
    posterior = NORMAL.posterior(NORMAL.statistic(values), prior)
    assert posterior.mean.item() - 1e15 + posterior.mean_low.item() == 1.0
    near_zero = NORMAL.posterior(
        NORMAL.statistic(values - 1e15), NormalInverseGamma(mean=0.0, strength=1.0, shape=2.0, scale=2.0)
    )
    far, near = NORMAL.log_predictive(posterior, 1e15 + 2.0), NORMAL.log_predictive(near_zero, 2.0)
    np.testing.assert_allclose(far, near, rtol=1e-14)


def test_squares_beyond_the_range_of_floats_are_a_typed_error() -> None:
    prior = NormalInverseGamma(mean=0.0, strength=1.0, shape=2.0, scale=2.0)
    for values in (column(1e300, -1e300), column(1e300), column(1.7e308, -1.7e308)):
        with pytest.raises(FitError, match="larger unit"):
            NORMAL.posterior(NORMAL.statistic(values), prior)
    tiny = NORMAL.posterior(NORMAL.statistic(column(1e-310, -1e-310)), prior)
    assert tiny.scale.item() == 2.0


def test_the_plug_in_under_a_prior_is_the_posterior_mean() -> None:
    statistic = NORMAL.statistic(column(1.0, 3.0))
    fitted = NORMAL.parameters(statistic, NormalInverseGamma(mean=0.0, strength=2.0, shape=1.0, scale=1.0))
    assert fitted.mean.item() == 1.0
    assert fitted.variance.item() == pytest.approx((1.0 + 1.0 + 2.0 * 2.0 * 4.0 / 4.0 / 2.0) / 1.0, rel=1e-15)
    with pytest.raises(ParameterError, match="shape above 1"):
        NORMAL.parameters(NORMAL.statistic(np.empty((0, 1))), NormalInverseGamma(0.0, 2.0, 1.0, 1.0))


@pytest.mark.parametrize("field", ["mean", "strength", "shape", "scale"])
def test_impossible_priors_are_refused(field: str) -> None:
    fields = {"mean": 0.0, "strength": 1.0, "shape": 1.0, "scale": 1.0, field: -np.inf}
    with pytest.raises(ParameterError, match=field):
        NormalInverseGamma(**fields)


@pytest.mark.parametrize("parameters", [(np.nan, 1.0), (0.0, -1.0), (0.0, np.nan)])
def test_impossible_parameters_are_refused(parameters: tuple[float, float]) -> None:
    with pytest.raises(ParameterError):
        NormalParameters(*parameters)


# -- exponential form -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("mean", "stddev"), [(0.0, 1.0), (2.0, 0.5), (-1.0, 3.0)])
def test_the_derivatives_of_the_log_partition_are_mean_and_covariance_of_x_and_x_squared(
    mean: float, stddev: float
) -> None:
    form = NORMAL.exponential_form(NormalParameters(mean, stddev))
    check_exponential_form(form, lambda one, two: -(one**2) / (4 * two) - mp.log(-2 * two) / 2)
    nodes, weights = np.polynomial.hermite.hermgauss(20)
    x = mean + math.sqrt(2.0) * stddev * nodes
    np.testing.assert_allclose(form.log_density(x), NORMAL.log_density(NormalParameters(mean, stddev), x), rtol=1e-12)
    check_moments_of_sufficient(form, x, weights)


# -- sampling ---------------------------------------------------------------------------------------------------
def test_draws_have_the_expected_moments() -> None:
    draws = NORMAL.sample(
        NormalParameters(np.array([[3.0, -1.0]]), np.array([[0.5, 2.0]])), 20_000, np.random.default_rng(8)
    )
    assert draws.shape == (20_000, 1, 2)
    np.testing.assert_allclose(draws.mean(axis=0), [[3.0, -1.0]], atol=0.05)
    np.testing.assert_allclose(draws.std(axis=0), [[0.5, 2.0]], rtol=0.02)


def test_draws_of_the_prior_have_its_moments() -> None:
    prior = NormalInverseGamma(mean=np.array([1.0, 2.0]), strength=4.0, shape=6.0, scale=np.array([10.0, 20.0]))
    drawn = NORMAL.sample_prior(prior, 40_000, np.random.default_rng(9))
    np.testing.assert_allclose(drawn.variance.mean(axis=0), [2.0, 4.0], rtol=0.02)
    np.testing.assert_allclose(drawn.mean.mean(axis=0), [1.0, 2.0], atol=0.02)
    np.testing.assert_allclose(drawn.mean.var(axis=0), [0.5, 1.0], rtol=0.03)
