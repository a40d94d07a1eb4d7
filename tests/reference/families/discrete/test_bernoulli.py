"""Bernoulli and its beta prior against scipy and mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import Bernoulli, BetaPrior, Chance
from bayeswise.foundation.errors import BayeswiseError, DataError, ParameterError
from bayeswise.statistics import Moments
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    log_beta,
    relative_error,
)

BERNOULLI = Bernoulli()


def counted(successes: float, failures: float) -> Moments:
    return BERNOULLI.statistic(np.array([[1.0], [0.0]]), weights=np.array([successes, failures]))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.999, 1.0])
def test_the_density_is_that_of_scipy(p: float) -> None:
    x = np.array([0.0, 1.0])
    np.testing.assert_allclose(BERNOULLI.log_density(Chance.of(p), x), stats.bernoulli(p).logpmf([0, 1]), rtol=1e-14)


@pytest.mark.parametrize("p", [5e-324, 1e-300, 1e-17, 0.3, 0.5, 0.7, 1 - 2**-53])
def test_the_density_keeps_its_digits_at_both_ends(p: float) -> None:
    log_zero, log_one = BERNOULLI.log_density(Chance.of(p), [0.0, 1.0])
    assert relative_error(log_zero, mp.log1p(-mp.mpf(p))) <= 1e-15
    assert relative_error(log_one, mp.log(mp.mpf(p))) <= 1e-15


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    log_p = BERNOULLI.log_density(Chance.of(0.3), [2.0, -1.0, 0.5, np.inf, np.nan])
    assert log_p[:4].tolist() == [-np.inf] * 4
    assert np.isnan(log_p[4])


def test_one_failure_in_a_thousand_billion_is_not_rounded_away() -> None:
    chance = BERNOULLI.estimate(counted(1e15, 1.0)).parameters
    exact = mp.mpf(10) ** 15 / (mp.mpf(10) ** 15 + 1)
    assert relative_error(BERNOULLI.log_density(chance, 1.0).item(), mp.log(exact)) <= 1e-15
    assert relative_error(BERNOULLI.log_density(chance, 0.0).item(), mp.log(1 - exact)) <= 1e-15


@pytest.mark.parametrize(
    ("a", "b", "k", "m"),
    [
        (1.0, 1.0, 7.0, 3.0),
        (0.5, 0.5, 1e15, 0.0),
        (1.0, 1.0, 1e15, 1e10),
        (1e15, 1e15, 3.0, 4.0),
        (1e-3, 2e5, 8.0, 9e9),
    ],
)
def test_the_evidence_agrees_with_mpmath_for_huge_counts_and_huge_priors(
    a: float, b: float, k: float, m: float
) -> None:
    found = BERNOULLI.log_marginal(counted(k, m), BetaPrior(a, b)).item()
    assert relative_error(found, log_beta(mp.mpf(a) + k, mp.mpf(b) + m) - log_beta(a, b)) <= 1e-12


def test_the_predictive_is_bernoulli_with_the_posterior_mean() -> None:
    posterior = BERNOULLI.posterior(counted(3.0, 1.0), BetaPrior(1.0, 1.0))
    assert (float(np.squeeze(posterior.successes)), float(np.squeeze(posterior.failures))) == (4.0, 2.0)
    log_p = BERNOULLI.log_predictive(posterior, np.array([1.0, 0.0]))
    np.testing.assert_allclose(log_p, np.log([[4 / 6, 2 / 6]]), rtol=1e-15)


@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.98])
def test_the_derivatives_of_the_log_partition_are_mean_and_variance(p: float) -> None:
    form = BERNOULLI.exponential_form(Chance.of(p))
    check_exponential_form(form, lambda eta: mp.log1p(mp.exp(eta)))
    x = np.array([0.0, 1.0])
    np.testing.assert_allclose(form.log_density(x), BERNOULLI.log_density(Chance.of(p), x), rtol=1e-13)
    check_moments_of_sufficient(form, x, np.array([1 - p, p]))
    assert form.log_density(np.array([0.5])).tolist() == [-np.inf]


def test_a_border_has_no_exponential_form() -> None:
    with pytest.raises(ParameterError, match="between 0 and 1"):
        BERNOULLI.exponential_form(Chance.of(0.0))


# -- awkward rows ---------------------------------------------------------------------------------------------
def test_only_zeros_give_the_border_and_say_so() -> None:
    estimate = BERNOULLI.estimate(counted(0.0, 4.0))
    assert estimate.exists.tolist() == [[True]]
    assert estimate.parameters.probability.tolist() == [[0.0]]
    assert "border" in estimate.reason


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    statistic = BERNOULLI.statistic(values)
    estimate = BERNOULLI.estimate(statistic)
    assert not estimate.exists.any()
    assert estimate.reason.startswith("no rows")
    assert BERNOULLI.log_marginal(statistic, BetaPrior(2.0, 3.0)).tolist() == [[0.0]]
    assert BERNOULLI.posterior(statistic, BetaPrior(2.0, 3.0)).successes.tolist() == [[2.0]]


def test_another_value_is_an_error_that_names_its_cell() -> None:
    with pytest.raises(DataError, match="row 2 of column 'x1' has 2"):
        BERNOULLI.statistic(np.array([[0.0, 1.0], [1.0, 2.0]]))


def test_rows_left_out_may_hold_anything() -> None:
    values, groups = np.array([[1.0], [7.0], [0.0]]), np.array([0, -1, 0], dtype=np.int32)
    assert BERNOULLI.estimate(BERNOULLI.statistic(values, groups)).parameters.probability.item() == 0.5
    weights = np.array([3.0, 0.0, 1.0])
    assert BERNOULLI.estimate(BERNOULLI.statistic(values, weights=weights)).parameters.probability.item() == 0.75


def test_an_infinite_value_is_a_typed_error() -> None:
    with pytest.raises(BayeswiseError):
        BERNOULLI.statistic(np.array([[np.inf]]))


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_a_probability_outside_the_unit_interval_is_refused(p: float) -> None:
    with pytest.raises(ParameterError):
        Chance.of(p)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.inf, np.nan])
def test_a_prior_needs_pseudo_counts_of_both_kinds(weight: float) -> None:
    with pytest.raises(ParameterError, match="must be above 0"):
        BetaPrior(1.0, weight)


def test_draws_have_the_expected_mean() -> None:
    generator = np.random.default_rng(1)
    draws = BERNOULLI.sample(Chance.of(np.array([[0.2, 0.9]])), 20_000, generator)
    assert draws.shape == (20_000, 1, 2)
    np.testing.assert_allclose(draws.mean(axis=0), [[0.2, 0.9]], atol=0.01)


def test_draws_of_a_prior_near_zero_are_finite() -> None:
    chance = BERNOULLI.sample_prior(BetaPrior(1e-8, 1e-8), 1000, np.random.default_rng(2))
    assert np.isfinite(chance.probability).all()
    np.testing.assert_allclose(chance.probability + chance.complement, 1.0, rtol=1e-12)
    assert 0.4 < chance.probability.mean() < 0.6
