"""The geometric distribution (failures before the first success) against scipy and mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from bayeswise.families import BetaPrior, Chance, Geometric
from bayeswise.foundation.errors import DataError, ParameterError
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    log_beta,
    relative_error,
)

GEOMETRIC = Geometric()


@pytest.mark.parametrize("p", [0.01, 0.5, 0.99, 1.0])
def test_the_density_is_that_of_scipy_one_trial_earlier(p: float) -> None:
    x = np.arange(20.0)
    np.testing.assert_allclose(GEOMETRIC.log_density(Chance.of(p), x), stats.geom(p, loc=-1).logpmf(x), rtol=1e-12)


@pytest.mark.parametrize("p", [1e-300, 1e-15, 0.3, 1 - 2**-53])
@pytest.mark.parametrize("x", [0.0, 1.0, 17.0, 1e9, 1e15, 1e300])
def test_the_density_agrees_with_mpmath_in_the_tails(p: float, x: float) -> None:
    exact = mp.log(mp.mpf(p)) + mp.mpf(x) * mp.log1p(-mp.mpf(p))
    assert relative_error(GEOMETRIC.log_density(Chance.of(p), x).item(), exact) <= 1e-14


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    log_p = GEOMETRIC.log_density(Chance.of(0.3), [-1.0, 0.5, np.inf, -np.inf, np.nan])
    assert log_p[:4].tolist() == [-np.inf] * 4
    assert np.isnan(log_p[4])
    log_p = GEOMETRIC.log_predictive(BetaPrior(1.0, 1.0), [-1.0, 0.5, np.inf, np.nan])
    assert log_p[:3].tolist() == [-np.inf] * 3
    assert np.isnan(log_p[3])


def test_the_estimate_is_n_over_all_trials() -> None:
    statistic = GEOMETRIC.statistic(np.array([[2.0], [0.0], [np.nan], [5.0]]))
    assert GEOMETRIC.estimate(statistic).parameters.probability.item() == 3 / 10


def test_no_other_probability_is_likelier() -> None:
    values = np.array([[2.0], [0.0], [5.0], [1.0]])
    best = GEOMETRIC.estimate(GEOMETRIC.statistic(values)).parameters.probability.item()
    grid = Chance.of(np.linspace(0.01, 0.99, 99))
    assert GEOMETRIC.log_density(Chance.of(best), values).sum() >= GEOMETRIC.log_density(grid, values).sum(axis=0).max()


@pytest.mark.parametrize(
    ("a", "b", "n", "x"), [(1.0, 1.0, 4.0, 2.0), (0.5, 2.0, 1e15, 1.0), (1e15, 1e12, 3.0, 7.0), (1.0, 1.0, 1.0, 1e15)]
)
def test_the_evidence_of_n_equal_rows_agrees_with_mpmath(a: float, b: float, n: float, x: float) -> None:
    statistic = GEOMETRIC.statistic(np.array([[x]]), weights=np.array([n]))
    exact = log_beta(mp.mpf(a) + mp.mpf(n), mp.mpf(b) + mp.mpf(n) * mp.mpf(x)) - log_beta(a, b)
    assert relative_error(GEOMETRIC.log_marginal(statistic, BetaPrior(a, b)).item(), exact) <= 1e-12


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.3, 40.0), (1e15, 2e15), (1e15, 3.0), (1e-5, 1e8)])
@pytest.mark.parametrize("x", [0.0, 1.0, 8.0, 1e6, 1e15])
def test_the_predictive_agrees_with_mpmath(a: float, b: float, x: float) -> None:
    exact = log_beta(mp.mpf(a) + 1, mp.mpf(b) + mp.mpf(x)) - log_beta(a, b)
    assert relative_error(GEOMETRIC.log_predictive(BetaPrior(a, b), x).item(), exact) <= 1e-12


@pytest.mark.parametrize("p", [0.05, 0.5, 0.97])
def test_the_derivatives_of_the_log_partition_are_mean_and_variance(p: float) -> None:
    form = GEOMETRIC.exponential_form(Chance.of(p))
    check_exponential_form(form, lambda eta: -mp.log(-mp.expm1(eta)))
    x = np.arange(2000.0)
    log_p = GEOMETRIC.log_density(Chance.of(p), x)
    np.testing.assert_allclose(form.log_density(x), log_p, rtol=1e-12)
    check_moments_of_sufficient(form, x, np.exp(log_p))
    assert form.log_density(np.array([-1.0, 0.5])).tolist() == [-np.inf, -np.inf]


# -- awkward rows ---------------------------------------------------------------------------------------------
def test_only_zeros_give_certain_success_and_say_so() -> None:
    estimate = GEOMETRIC.estimate(GEOMETRIC.statistic(np.zeros((3, 1))))
    assert estimate.exists.all()
    assert estimate.parameters.probability.item() == 1.0
    assert "border" in estimate.reason
    assert GEOMETRIC.log_density(estimate.parameters, [0.0, 1.0]).tolist() == [[0.0, -np.inf]]


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    statistic = GEOMETRIC.statistic(values)
    assert not GEOMETRIC.estimate(statistic).exists.any()
    assert GEOMETRIC.log_marginal(statistic, BetaPrior(2.0, 3.0)).tolist() == [[0.0]]


@pytest.mark.parametrize("wrong", [-1.0, 0.5])
def test_a_value_that_is_not_a_count_is_an_error_that_names_its_cell(wrong: float) -> None:
    with pytest.raises(DataError, match="row 2 of column 'x0'"):
        GEOMETRIC.statistic(np.array([[0.0], [wrong]]))
    GEOMETRIC.statistic(np.array([[0.0], [wrong]]), weights=np.array([1.0, 0.0]))


def test_draws_have_the_expected_mean_also_for_tiny_probabilities() -> None:
    chance = Chance.of(np.array([0.25, 1e-30, 1.0]))
    draws = GEOMETRIC.sample(chance, 20_000, np.random.default_rng(3))
    np.testing.assert_allclose(draws.mean(axis=0)[:2], [3.0, 1e30], rtol=0.03)
    assert (draws[:, 2] == 0).all()
    assert (draws == np.floor(draws)).all()
    with pytest.raises(ParameterError, match="above 0"):
        GEOMETRIC.sample(Chance.of(0.0), 1, np.random.default_rng(3))
