"""The Student-t family against scipy and mpmath."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, stats

from bayeswise.families import Normal, NormalParameters, StudentT, StudentTParameters
from bayeswise.foundation.errors import ParameterError, SupportError
from bayeswise.statistics import fingerprint
from tests.reference.families.oracle import error_of_density, relative_error

STUDENT = StudentT()
DFS = [1e-5, 0.3, 1.0, 2.0, 7.5, 19.9, 20.0, 21.0, 300.0, 1e6, 1e12, 1e100, 1e300]


def exact_log_density(location: Any, scale: Any, df: Any, x: Any) -> Any:
    f = mp.mpf(df)
    with mp.workdps(60 + 2 * max(0, int(mp.log10(f)))):
        z = (mp.mpf(x) - mp.mpf(location)) / mp.mpf(scale)
        log_norm = mp.loggamma((f + 1) / 2) - mp.loggamma(f / 2) - mp.log(f * mp.pi) / 2
        return log_norm - mp.log(mp.mpf(scale)) - (f + 1) / 2 * mp.log1p(z * z / f)


@pytest.mark.parametrize("df", [0.5, 1.0, 3.0, 30.0])
def test_the_density_is_that_of_scipy(df: float) -> None:
    x = np.linspace(-20.0, 30.0, 31)
    found = STUDENT.log_density(StudentTParameters(0.5, 2.0, df), x)
    np.testing.assert_allclose(found, stats.t(df, 0.5, 2.0).logpdf(x), rtol=1e-12)


@pytest.mark.parametrize("df", DFS)
@pytest.mark.parametrize(("location", "scale"), [(0.0, 1.0), (-3.0, 1e-200), (1e15, 3.0), (1e300, 1e290)])
def test_the_density_agrees_with_mpmath(df: float, location: float, scale: float) -> None:
    near = [location + deviations * scale for deviations in (-40.0, -1.0, 0.0, 1e-5, 2.0, 300.0)]
    for x in (*near, -1.7e308, -1e200, 0.0, 5e-324, 1.0, 1e100, 1.7e308):
        found = STUDENT.log_density(StudentTParameters(location, scale, df), x)
        exact = exact_log_density(location, scale, df, x)
        if exact > -np.finfo(np.float64).max:
            assert error_of_density(found, exact) <= 1e-12, x
        else:
            assert found == -np.inf, x


def test_the_distance_between_opposite_ends_of_the_range_does_not_overflow() -> None:
    found = STUDENT.log_density(StudentTParameters(-1.7e308, 1e300, 3.0), 1.7e308)
    assert error_of_density(found, exact_log_density(-1.7e308, 1e300, 3.0, 1.7e308)) <= 1e-12


def test_infinite_df_is_the_normal_distribution() -> None:
    x = np.array([-1e200, -3.0, 0.0, 0.7, 1e300])
    found = STUDENT.log_density(StudentTParameters(0.5, 2.0, np.inf), x)
    np.testing.assert_array_equal(found, Normal().log_density(NormalParameters(0.5, 2.0), x))


def test_far_out_the_density_is_zero_and_missing_stays_missing() -> None:
    for df in (1.0, np.inf):
        log_p = STUDENT.log_density(StudentTParameters(0.0, 1.0, df), [np.inf, -np.inf, np.nan])
        assert log_p[:2].tolist() == [-np.inf, -np.inf] and np.isnan(log_p[2])


# -- maximum likelihood ---------------------------------------------------------------------------------------
def score(parameters: StudentTParameters, x: Any) -> list[Any]:
    """The mean derivative of the log-likelihood by location (in scales), log scale and log df, at 50 digits."""
    location, scale, f = (mp.mpf(getattr(parameters, name).item()) for name in ("location", "scale", "df"))
    location += mp.mpf(np.asarray(parameters.location_low).item())
    z = [(mp.mpf(float(value)) - location) / scale for value in x]
    w = [(f + 1) / (f + value**2) for value in z]
    half = (mp.digamma((f + 1) / 2) - mp.digamma(f / 2) - 1 / f) / 2
    by_df = [half + (-mp.log1p(v**2 / f) + u * v**2 / f) / 2 for u, v in zip(w, z, strict=True)]
    n = len(z)
    return [
        mp.fsum(u * v for u, v in zip(w, z, strict=True)) / n,
        mp.fsum(u * v**2 - 1 for u, v in zip(w, z, strict=True)) / n,
        f * mp.fsum(by_df) / n,
    ]


@pytest.mark.parametrize(("df", "n_rows"), [(1.5, 60), (3.0, 200), (8.0, 1000), (30.0, 3000)])
@pytest.mark.parametrize(("location", "unit"), [(0.0, 1.0), (5.0, 1e-200), (1e12, 1e3), (-3.0, 1e300)])
def test_at_the_estimate_all_derivatives_are_zero(df: float, n_rows: int, location: float, unit: float) -> None:
    x = location * unit + unit * np.random.default_rng(11).standard_t(df, n_rows)
    estimate = STUDENT.estimate(STUDENT.statistic(x[:, None]))
    assert estimate.converged and estimate.exists.all(), estimate.reason
    assert max(abs(value) for value in score(estimate.parameters, x)) <= 1e-12


def test_the_estimate_is_no_worse_than_that_of_a_general_optimiser() -> None:
    x = np.random.default_rng(2).standard_t(2.5, 150) * 3.0 - 7.0

    def loss(point: Any) -> float:
        return -float(stats.t.logpdf(x, np.exp(point[2]), point[0], np.exp(point[1])).sum())

    start = np.array([np.median(x), np.log(x.std()), 1.0])
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000}
    best = optimize.minimize(loss, start, method="Nelder-Mead", options=options)
    found = STUDENT.estimate(STUDENT.statistic(x[:, None])).parameters
    assert -STUDENT.log_density(found, x).sum() <= best.fun + 1e-9
    np.testing.assert_allclose(found.df.item(), np.exp(best.x[2]), rtol=1e-5)


@pytest.mark.parametrize("df", [1.0, 4.0, np.inf])
def test_a_known_df_leaves_location_and_scale(df: float) -> None:
    x = np.array([-1.0, 0.0, 1.5, 2.0, 50.0])
    family = StudentT(df=df)
    estimate = family.estimate(family.statistic(x[:, None]))
    assert estimate.exists.all() and estimate.parameters.df.item() == df
    if np.isfinite(df):
        assert max(abs(value) for value in score(estimate.parameters, x)[:2]) <= 1e-14
    else:
        assert estimate.parameters.location.item() == pytest.approx(x.mean(), rel=1e-15)
        assert estimate.parameters.scale.item() == pytest.approx(x.std(), rel=1e-14)
    assert (family.n_free_parameters(), STUDENT.n_free_parameters()) == (2, 3)


def test_light_tails_climb_towards_the_normal_distribution() -> None:
    x = np.random.default_rng(1).uniform(-1.0, 1.0, 100)
    estimate = STUDENT.estimate(STUDENT.statistic(x[:, None]))
    assert not estimate.exists.any() and "no heavier than those of the normal" in estimate.reason
    assert estimate.parameters.df.item() == np.inf
    assert estimate.parameters.location.item() == pytest.approx(x.mean(), rel=1e-12)
    assert estimate.parameters.scale.item() == pytest.approx(x.std(), rel=1e-12)


def test_very_heavy_tails_stop_at_min_df() -> None:
    x = np.random.default_rng(1).standard_t(0.4, 200)
    estimate = STUDENT.estimate(STUDENT.statistic(x[:, None]))
    assert not estimate.exists.any() and "still climbs at min_df = 1" in estimate.reason
    assert estimate.parameters.df.item() == 1.0
    wider = StudentT(min_df=0.1)
    free = wider.estimate(wider.statistic(x[:, None]))
    assert free.exists.all() and 0.2 < free.parameters.df.item() < 0.8
    assert max(abs(value) for value in score(free.parameters, x)) <= 1e-12


def test_an_outlier_of_any_size_hardly_moves_the_estimate() -> None:
    x = np.append(np.random.default_rng(7).standard_t(3.0, 99), 1e300)
    estimate = STUDENT.estimate(STUDENT.statistic(x[:, None]))
    assert estimate.converged and abs(estimate.parameters.location.item()) < 1.0


@pytest.mark.parametrize("values", [[1.0], [3.0, 3.0], [1.0, 2.0], [5.0, 5.0, 5.0, 1.0, 9.0]])
def test_half_the_rows_at_one_value_have_no_estimate(values: list[float]) -> None:
    estimate = STUDENT.estimate(STUDENT.statistic(np.array(values)[:, None]))
    assert not estimate.exists.any() and "scale -> 0" in estimate.reason
    assert estimate.parameters.scale.item() == 0.0
    log_p = STUDENT.log_density(estimate.parameters, [values[0], 77.0, np.nan])
    assert log_p[0, :2].tolist() == [np.inf, -np.inf] and np.isnan(log_p[0, 2])


def test_ties_are_harmless_with_enough_degrees_of_freedom() -> None:
    family = StudentT(df=4.0)
    estimate = family.estimate(family.statistic(np.array([[5.0], [5.0], [5.0], [1.0], [9.0]])))
    assert estimate.exists.all() and estimate.parameters.location.item() == pytest.approx(5.0, rel=1e-14)


def test_a_weight_of_three_is_the_row_three_times() -> None:
    x = np.random.default_rng(3).standard_t(2.0, 20)[:, None]
    weights = np.tile([3.0, 1.0], 10)
    weighted, repeated = STUDENT.statistic(x, weights=weights), STUDENT.statistic(np.repeat(x, weights.astype(int), 0))
    assert fingerprint(weighted) == fingerprint(repeated)


# -- what there is not, and awkward rows ----------------------------------------------------------------------
def test_there_is_neither_a_conjugate_prior_nor_an_exponential_form() -> None:
    statistic, parameters = STUDENT.statistic(np.array([[0.5]])), StudentTParameters(0.0, 1.0, 3.0)
    calls = [
        lambda: STUDENT.posterior(statistic, None),
        lambda: STUDENT.log_marginal(statistic, None),
        lambda: STUDENT.log_predictive(None, 0.5),
        lambda: STUDENT.parameters(statistic, prior=1.0),
        lambda: STUDENT.sample_prior(None, 1, np.random.default_rng(0)),
        lambda: STUDENT.exponential_form(parameters),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match=r"no conjugate prior|not an exponential family"):
            call()
    assert not STUDENT.streams


@pytest.mark.parametrize("values", [np.empty((0, 1)), np.full((3, 1), np.nan)])
def test_without_rows_there_is_no_estimate(values: np.ndarray) -> None:
    estimate = STUDENT.estimate(STUDENT.statistic(values))
    assert not estimate.exists.any() and estimate.reason.startswith("no rows")


def test_the_ends_of_the_range_of_floats_can_be_fitted() -> None:
    family = StudentT(df=3.0)
    for unit in (1.7e308, 5e-320):
        x = unit * np.array([-1.0, -0.5, 0.0, 0.25, 1.0])
        estimate = family.estimate(family.statistic(x[:, None]))
        small = family.estimate(family.statistic(x[:, None] / unit))
        assert estimate.exists.all()
        assert relative_error(estimate.parameters.scale.item() / unit, small.parameters.scale.item()) < 1e-3


def test_groups_and_columns_are_estimated_apart() -> None:
    values = np.random.default_rng(9).standard_t(2.0, (400, 2))
    groups = (np.arange(400) % 2).astype(np.int32)
    together = STUDENT.estimate(STUDENT.statistic(values, groups, 3))
    assert together.exists.tolist() == [[True, True], [True, True], [False, False]]
    alone = STUDENT.estimate(STUDENT.statistic(values[groups == 1, 1:])).parameters
    assert together.parameters.location[1, 1] == alone.location.item()


def test_an_infinite_cell_is_named() -> None:
    with pytest.raises(SupportError, match="row 2 of column 'x0'"):
        STUDENT.statistic(np.array([[1.0], [np.inf]]))


def test_impossible_parameters_are_refused() -> None:
    for location, scale, df in ((np.inf, 1.0, 1.0), (0.0, -1.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, np.nan)):
        with pytest.raises(ParameterError):
            StudentTParameters(location, scale, df)
    for df, least in ((0.0, 1.0), (None, 0.0), (None, np.inf)):
        with pytest.raises(ParameterError):
            StudentT(df=df, min_df=least)


def test_draws_have_the_expected_quantiles() -> None:
    parameters = StudentTParameters(np.array([[1.0, 1.0]]), np.array([[2.0, 2.0]]), np.array([[3.0, np.inf]]))
    draws = STUDENT.sample(parameters, 40_000, np.random.default_rng(4))
    assert draws.shape == (40_000, 1, 2)
    shares = [0.05, 0.25, 0.5, 0.9]
    np.testing.assert_allclose(np.quantile(draws[:, 0, 0], shares), stats.t(3.0, 1.0, 2.0).ppf(shares), atol=0.12)
    np.testing.assert_allclose(np.quantile(draws[:, 0, 1], shares), stats.norm(1.0, 2.0).ppf(shares), atol=0.08)
