"""The Laplace family against scipy, mpmath and a search over all locations."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayeswise.families import Laplace, LaplaceParameters
from bayeswise.foundation.errors import NotMergedError, ParameterError, SupportError
from bayeswise.statistics import fingerprint
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    error_of_density,
)

LAPLACE = Laplace()


@pytest.mark.parametrize("location", [-1.7e308, -3.0, 0.0, 1e15, 1e300])
@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e15, 1e300])
def test_the_density_agrees_with_mpmath(location: float, scale: float) -> None:
    for x in (-1.7e308, -1e15, -3.0, -1e-310, 0.0, 5e-324, 0.7, 1e15 + 1, 1e300, 1.7e308):
        away = abs(mp.mpf(x) - mp.mpf(location))
        exact = -mp.log(2 * mp.mpf(scale)) - away / mp.mpf(scale)
        found = LAPLACE.log_density(LaplaceParameters(location, scale), x)
        if exact > -np.finfo(np.float64).max:
            assert error_of_density(found, exact) <= 1e-15, x
        else:
            assert found == -np.inf, x


def test_the_density_is_that_of_scipy() -> None:
    x = np.linspace(-8.0, 9.0, 30)
    found = LAPLACE.log_density(LaplaceParameters(0.5, 2.0), x)
    np.testing.assert_allclose(found, stats.laplace(0.5, 2.0).logpdf(x), rtol=1e-13)


def test_far_out_the_density_is_zero_and_missing_stays_missing() -> None:
    log_p = LAPLACE.log_density(LaplaceParameters(0.0, 1.0), [np.inf, -np.inf, np.nan])
    assert log_p[:2].tolist() == [-np.inf, -np.inf] and np.isnan(log_p[2])


# -- maximum likelihood ---------------------------------------------------------------------------------------
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9))
def test_no_location_is_more_likely_than_the_median(values: list[float]) -> None:
    estimate = LAPLACE.estimate(LAPLACE.statistic(np.array(values)[:, None]))
    if not estimate.exists.all():
        return
    best = LAPLACE.log_density(estimate.parameters, values).sum()
    for location in values:
        scale = np.abs(np.array(values) - location).mean()
        if scale > 0:
            other = LAPLACE.log_density(LaplaceParameters(location, scale), values).sum()
            assert other <= best + 1e-9 * abs(best)


def test_the_estimate_is_that_of_scipy() -> None:
    x = np.random.default_rng(3).laplace(2.0, 3.0, 301)
    location, scale = stats.laplace.fit(x)
    found = LAPLACE.estimate(LAPLACE.statistic(x[:, None])).parameters
    assert found.location.item() == location
    assert found.scale.item() == pytest.approx(scale, rel=1e-15)


def test_between_two_middle_values_the_one_halfway_stands_for_all() -> None:
    found = LAPLACE.estimate(LAPLACE.statistic(np.array([[1.0], [2.0], [4.0], [9.0]]))).parameters
    assert (found.location.item(), found.scale.item()) == (3.0, 2.5)


def test_deviations_are_exact_at_any_offset_and_size() -> None:
    shifted = LAPLACE.estimate(LAPLACE.statistic(np.array([[1e15], [1e15 + 1], [1e15 + 5]]))).parameters
    assert shifted.scale.item() == 5 / 3
    huge = LAPLACE.estimate(LAPLACE.statistic(np.array([[-1.5e308], [0.0], [1.5e308]]))).parameters
    assert (huge.location.item(), huge.scale.item()) == (0.0, 1e308)


def test_a_merged_outlier_leaves_no_trace_when_it_is_subtracted() -> None:
    rows, outlier = LAPLACE.statistic(np.array([[1.0], [2.0], [6.0]])), LAPLACE.statistic(np.array([[1e300]]))
    assert fingerprint(rows.merge(outlier).subtract(outlier)) == fingerprint(rows)
    with pytest.raises(NotMergedError):
        rows.subtract(outlier)


def test_a_weight_of_three_is_the_row_three_times() -> None:
    x = np.array([[0.1], [7.0]])
    weighted = LAPLACE.statistic(x, weights=np.array([3.0, 1.0]))
    assert fingerprint(weighted) == fingerprint(LAPLACE.statistic(x[[0, 0, 0, 1]]))
    assert LAPLACE.estimate(weighted).parameters.location.item() == 0.1


# -- what there is not ----------------------------------------------------------------------------------------
def test_it_keeps_every_different_value() -> None:
    assert not LAPLACE.streams
    assert LAPLACE.statistic(np.array([[0.5], [0.5], [2.0]])).values.tolist() == [0.5, 2.0]


def test_there_is_no_conjugate_prior_and_the_family_says_so() -> None:
    statistic = LAPLACE.statistic(np.array([[0.5]]))
    calls = [
        lambda: LAPLACE.posterior(statistic, None),
        lambda: LAPLACE.log_marginal(statistic, None),
        lambda: LAPLACE.log_predictive(None, 0.5),
        lambda: LAPLACE.parameters(statistic, prior=1.0),
        lambda: LAPLACE.sample_prior(None, 1, np.random.default_rng(0)),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match="laplace family has no conjugate prior"):
            call()


def test_with_a_known_location_it_is_an_exponential_family() -> None:
    parameters = LaplaceParameters(0.5, 2.0)
    form = LAPLACE.exponential_form(parameters)
    check_exponential_form(form, lambda eta: mp.log(-2 / eta))
    distance = np.exp(np.linspace(-40.0, 6.0, 100_001))  # an even grid in log |x - location|
    x = np.concatenate([0.5 - distance, 0.5 + distance])
    log_p = LAPLACE.log_density(parameters, x)
    np.testing.assert_allclose(form.log_density(x), log_p, rtol=1e-13)
    check_moments_of_sufficient(form, x, np.exp(log_p) * np.concatenate([distance, distance]))
    assert LAPLACE.n_free_parameters() == 2


# -- awkward rows ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", [0.0, 1e300, 5e-324])
@pytest.mark.parametrize("n_rows", [1, 4])
def test_a_constant_column_is_a_certain_value(value: float, n_rows: int) -> None:
    estimate = LAPLACE.estimate(LAPLACE.statistic(np.full((n_rows, 1), value)))
    assert not estimate.exists.any() and "fewer than two different values" in estimate.reason
    log_p = LAPLACE.log_density(estimate.parameters, [value, 2.5, np.nan])
    assert log_p[0, :2].tolist() == [np.inf, -np.inf] and np.isnan(log_p[0, 2])


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    estimate = LAPLACE.estimate(LAPLACE.statistic(values))
    assert not estimate.exists.any() and estimate.reason.startswith("no rows")
    assert (estimate.parameters.location.item(), estimate.parameters.scale.item()) == (0.0, 0.0)


def test_an_infinite_cell_is_named() -> None:
    with pytest.raises(SupportError, match="row 2 of column 'x0'"):
        LAPLACE.statistic(np.array([[1.0], [np.inf]]))


def test_impossible_parameters_are_refused() -> None:
    for location, scale in ((np.inf, 1.0), (0.0, -1.0), (0.0, np.inf), (0.0, np.nan)):
        with pytest.raises(ParameterError):
            LaplaceParameters(location, scale)


def test_draws_have_the_expected_moments() -> None:
    parameters = LaplaceParameters(np.array([[1.0, -5.0]]), np.array([[2.0, 0.0]]))
    draws = LAPLACE.sample(parameters, 20_000, np.random.default_rng(4))
    assert draws.shape == (20_000, 1, 2) and (draws[:, 0, 1] == -5.0).all()
    np.testing.assert_allclose([draws[:, 0, 0].mean(), draws[:, 0, 0].var()], [1.0, 8.0], rtol=0.05)
