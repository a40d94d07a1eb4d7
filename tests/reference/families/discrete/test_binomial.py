"""The binomial family against scipy, fractions and mpmath."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import BetaPrior, Binomial, Chance
from bayeswise.foundation.errors import DataError, ParameterError
from bayeswise.statistics import fingerprint
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    error_of_density,
    log_beta,
    relative_error,
)


def log_coefficient(trials: Any, k: Any) -> Any:
    return mp.loggamma(mp.mpf(trials) + 1) - mp.loggamma(mp.mpf(k) + 1) - mp.loggamma(mp.mpf(trials) - k + 1)


def exact_log_density(trials: int, probability: float, k: float) -> Any:
    p = mp.mpf(probability)
    log_p = log_coefficient(trials, k)
    log_p += mp.mpf(k) * mp.log(p) if k else 0
    return log_p + ((trials - mp.mpf(k)) * mp.log1p(-p) if k < trials else 0)


def exact_log_predictive(trials: int, a: float, b: float, k: float) -> Any:
    return log_coefficient(trials, k) + log_beta(mp.mpf(a) + k, mp.mpf(b) + (trials - k)) - log_beta(a, b)


def around(trials: int, probability: float) -> list[float]:
    """Counts near the mean, far from it and at both ends."""
    stddev = np.sqrt(trials * probability * (1.0 - probability))
    near = [np.round(trials * probability + z * stddev) for z in (-30.0, -3.0, -0.5, 0.0, 1.0, 5.0, 40.0)]
    ends = [0, 1, 2, 9, 10, trials // 2, trials - 1, trials]
    return sorted({float(min(max(k, 0), trials)) for k in (*near, *ends)})


@pytest.mark.parametrize("probability", [0.0, 0.01, 0.3, 0.5, 0.99, 1.0])
def test_the_density_is_that_of_scipy(probability: float) -> None:
    k = np.arange(13.0)
    found = Binomial(trials=12).log_density(Chance.of(probability), k)
    np.testing.assert_allclose(found, stats.binom(12, probability).logpmf(k), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("trials", [1, 2, 15, 400, 10**6, 10**10, 10**15])
@pytest.mark.parametrize("probability", [1e-300, 1e-9, 0.1, 0.5, 0.7, 1.0 - 2.0**-40])
def test_the_density_agrees_with_mpmath(trials: int, probability: float) -> None:
    for k in around(trials, probability):
        found = Binomial(trials=trials).log_density(Chance.of(probability), k)
        assert error_of_density(found, exact_log_density(trials, probability, k)) <= 1e-12, k


@pytest.mark.parametrize("trials", [1, 15, 400, 10**6, 10**10])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1e-6, 3.0), (0.5, 1e6), (40.0, 7.0), (1e10, 3e10)])
def test_the_predictive_agrees_with_mpmath(trials: int, a: float, b: float) -> None:
    for k in around(trials, a / (a + b)):
        found = Binomial(trials=trials).log_predictive(BetaPrior(a, b), k)
        assert error_of_density(found, exact_log_predictive(trials, a, b, k)) <= 1e-12, k


@pytest.mark.parametrize(("a", "b"), [(0.5, 2.0), (30.0, 4.0)])
def test_the_predictive_is_the_beta_binomial_of_scipy(a: float, b: float) -> None:
    k = np.arange(21.0)
    found = Binomial(trials=20).log_predictive(BetaPrior(a, b), k)
    np.testing.assert_allclose(found, stats.betabinom(20, a, b).logpmf(k), rtol=1e-11)
    assert np.exp(found).sum() == pytest.approx(1.0, rel=1e-14)


def test_log_coefficients_are_those_of_pascals_triangle() -> None:
    for trials in (1, 7, 60):
        found = Binomial(trials=trials).log_coefficient(np.arange(trials + 1.0))
        for k in range(trials + 1):
            assert error_of_density(found[k], mp.log(comb(trials, k))) <= 1e-14


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    family, outside = Binomial(trials=5), [-1.0, 0.5, 6.0, np.inf, np.nan]
    for log_p in (
        family.log_density(Chance.of(0.3), outside),
        family.log_predictive(BetaPrior(2.0, 1.0), outside),
    ):
        assert log_p[:4].tolist() == [-np.inf] * 4
        assert np.isnan(log_p[4])


# -- estimates and evidence -----------------------------------------------------------------------------------
def test_the_estimate_is_the_share_of_successes_correctly_rounded() -> None:
    family, k, weights = Binomial(trials=7), [1.0, 3.0, 7.0], [0.1, 1e15, 2.0]
    found = family.estimate(family.statistic(np.array(k)[:, None], weights=np.array(weights))).parameters
    successes = sum(Fraction(w) * Fraction(x) for x, w in zip(k, weights, strict=True))
    exact = successes / (7 * sum(map(Fraction, weights)))
    assert found.probability.item() == float(exact)
    assert found.complement.item() == float(1 - exact)


@pytest.mark.parametrize(("value", "border"), [(0.0, 0.0), (4.0, 1.0)])
def test_only_failures_or_only_successes_put_the_estimate_on_the_border(value: float, border: float) -> None:
    family = Binomial(trials=4)
    estimate = family.estimate(family.statistic(np.full((3, 1), value)))
    assert estimate.exists.all() and "border" in estimate.reason
    assert estimate.parameters.probability.item() == border
    assert family.log_density(estimate.parameters, [value, 2.0]).tolist() == [[0.0, -np.inf]]


def test_the_evidence_agrees_with_mpmath() -> None:
    family, prior, k = Binomial(trials=30), BetaPrior(0.5, 3.0), [0.0, 7.0, 30.0, 12.0]
    weights = [1.0, 1e6, 2.0, 0.25]
    found = family.log_marginal(family.statistic(np.array(k)[:, None], weights=np.array(weights)), prior)
    pairs = list(zip(map(mp.mpf, k), map(mp.mpf, weights), strict=True))
    successes = mp.fsum(w * x for x, w in pairs)
    failures = mp.fsum(w * (30 - x) for x, w in pairs)
    exact = log_beta(prior.successes + successes, prior.failures + failures) - log_beta(0.5, 3.0)
    exact += mp.fsum(w * log_coefficient(30, x) for x, w in pairs)
    assert relative_error(found.item(), exact) <= 1e-12


def test_the_plug_in_probability_under_a_prior_is_the_posterior_mean() -> None:
    family = Binomial(trials=10)
    found = family.parameters(family.statistic(np.array([[3.0], [5.0]])), BetaPrior(1.0, 1.0))
    assert found.probability.item() == 9 / 22
    assert family.n_free_parameters() == 1


@pytest.mark.parametrize("probability", [0.02, 0.6])
def test_the_derivatives_of_the_log_partition_are_mean_and_variance(probability: float) -> None:
    family, k = Binomial(trials=9), np.arange(10.0)
    form = family.exponential_form(Chance.of(probability))
    check_exponential_form(form, lambda eta: 9 * mp.log1p(mp.exp(eta)))
    log_p = family.log_density(Chance.of(probability), k)
    np.testing.assert_allclose(form.log_density(k), log_p, rtol=1e-12)
    check_moments_of_sufficient(form, k, np.exp(log_p))
    assert form.log_density(np.array([-1.0, 0.5, 10.0])).tolist() == [-np.inf] * 3


# -- awkward rows ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    family = Binomial(trials=4)
    estimate = family.estimate(family.statistic(values))
    assert not estimate.exists.any() and estimate.reason.startswith("no rows")
    assert family.log_marginal(family.statistic(values), BetaPrior(2.0, 3.0)).tolist() == [[0.0]]


@pytest.mark.parametrize("wrong", [-1.0, 2.5, 5.0, np.inf, 1e300])
def test_a_value_outside_the_support_is_an_error_that_names_its_cell(wrong: float) -> None:
    family, values = Binomial(trials=4), np.array([[1.0, 2.0], [2.0, wrong]])
    with pytest.raises(DataError, match="from 0 to 4; row 2 of column 'x1'"):
        family.statistic(values)
    left_out = family.statistic(values, weights=np.array([1.0, 0.0]))
    assert fingerprint(left_out) == fingerprint(family.statistic(values[:1]))


def test_a_weight_of_three_is_the_row_three_times() -> None:
    family, k = Binomial(trials=9), np.array([[2.0], [7.0]])
    weighted = family.statistic(k, weights=np.array([3.0, 1.0]))
    assert fingerprint(weighted) == fingerprint(family.statistic(k[[0, 0, 0, 1]]))


@pytest.mark.parametrize("trials", [0, -3, 2.5])
def test_an_impossible_number_of_trials_is_refused(trials: Any) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        Binomial(trials=trials)


def test_draws_have_the_expected_mean() -> None:
    draws = Binomial(trials=10).sample(Chance.of(np.array([[0.3, 1.0]])), 20_000, np.random.default_rng(4))
    assert draws.shape == (20_000, 1, 2) and (draws[:, 0, 1] == 10).all()
    np.testing.assert_allclose([draws[:, 0, 0].mean(), draws[:, 0, 0].var()], [3.0, 2.1], rtol=0.03)
