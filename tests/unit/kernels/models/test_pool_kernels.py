"""The kernels of a pool against their plain twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from bayeswise import _kernels
from bayeswise.acquisition.uncertainty import UNCERTAINTY
from bayeswise.posteriors.normalise import normalise

GENERATOR = np.random.default_rng(0)


def everyone(n_rows: int) -> np.ndarray:
    return np.ones(n_rows, dtype=bool)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 1), (511, 3), (1300, 70), (5, 0)])
def test_a_normal_column_is_the_sum_of_log_densities_of_present_cells(n_rows: int, n_columns: int) -> None:
    columns = GENERATOR.normal(size=(n_columns, n_rows))
    columns[GENERATOR.random(columns.shape) < 0.1] = np.nan
    mean, stddev = GENERATOR.normal(size=n_columns), 0.5 + GENERATOR.random(n_columns)
    log_likelihood = np.empty(n_rows)
    log_peak = -np.log(stddev * np.sqrt(2 * np.pi))
    _kernels.normal_column(log_likelihood, columns, mean, np.zeros(n_columns), 1 / stddev, log_peak)
    twin = np.nansum(norm.logpdf(columns, mean[:, None], stddev[:, None]), axis=0)
    assert log_likelihood == pytest.approx(twin, rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize(("n_rows", "n_states", "scale"), [(1, 2, 1.0), (513, 2, 30.0), (1025, 7, 3.0), (99, 40, 99.0)])
def test_uncertainty_is_that_of_the_posterior(n_rows: int, n_states: int, scale: float, kind: int) -> None:
    log_states = scale * GENERATOR.normal(size=(n_states, n_rows))
    log_states[0, ::7] = -np.inf
    log_prior = np.log(GENERATOR.dirichlet(np.ones(n_states)))
    score = np.empty(n_rows)
    _kernels.uncertainty(score, log_states, log_prior, everyone(n_rows), kind)
    twin = list(UNCERTAINTY.values())[kind](normalise((log_states + log_prior[:, None]).T).probability)
    assert score == pytest.approx(twin, rel=1e-13, abs=4e-15)


def test_the_fourth_kind_is_minus_the_log_odds_of_the_first_two() -> None:
    log_states, log_prior, score = GENERATOR.normal(size=(4, 700)), GENERATOR.normal(size=4), np.empty(700)
    _kernels.uncertainty(score, log_states, log_prior, everyone(700), 3)
    ordered = np.sort(log_states + log_prior[:, None], axis=0)
    assert np.array_equal(score, ordered[-2] - ordered[-1])


def test_an_impossible_row_has_no_uncertainty_and_a_certain_one_none_left() -> None:
    score = np.empty(2)
    for kind in range(3):
        _kernels.uncertainty(score, np.array([[-np.inf, 0.0], [-np.inf, -np.inf]]), np.zeros(2), everyone(2), kind)
        assert np.isnan(score[0]) and score[1] == pytest.approx(0.0, abs=1e-15)


def test_shapes_that_do_not_fit_are_refused() -> None:
    one, two = np.zeros(1), np.zeros(2)
    with pytest.raises(ValueError, match="differ"):
        _kernels.normal_column(one, np.zeros((1, 2)), one, one, one, one)
    with pytest.raises(ValueError, match="differ"):
        _kernels.normal_column(two, np.zeros((1, 2)), two, one, one, one)
    with pytest.raises(ValueError, match="differ"):
        _kernels.uncertainty(two, np.zeros((2, 2)), one, everyone(2), 0)
    with pytest.raises(ValueError, match="differ"):
        _kernels.uncertainty(two, np.zeros((2, 2)), two, everyone(1), 0)
    with pytest.raises(ValueError, match="kind"):
        _kernels.uncertainty(two, np.zeros((2, 2)), two, everyone(2), 4)
    with pytest.raises(ValueError, match="four"):
        _kernels.moments_of_rows(np.zeros((4, 1)), np.zeros((2, 2)))


def test_a_range_of_rows_is_a_view_and_a_step_between_rows_is_refused() -> None:
    log_states = GENERATOR.normal(size=(3, 100))
    whole, part = np.empty(100), np.empty(40)
    _kernels.uncertainty(whole, log_states, np.zeros(3), everyone(100), 0)
    _kernels.uncertainty(part, log_states[:, 30:70], np.zeros(3), everyone(40), 0)
    assert np.array_equal(part, whole[30:70])
    with pytest.raises(ValueError, match="side by side"):
        _kernels.uncertainty(np.empty(50), log_states[:, ::2], np.zeros(3), everyone(50), 0)
    with pytest.raises(ValueError, match="side by side"):
        _kernels.normal_column(np.empty(50), log_states[:, ::2], *np.ones((4, 3)))


@pytest.mark.parametrize("kind", range(4))
def test_a_row_that_is_not_open_is_never_the_best(kind: int) -> None:
    log_states = GENERATOR.normal(size=(3, 1100))
    log_states[:, 5] = -np.inf
    is_open = GENERATOR.random(1100) < 0.9
    is_open[[0, 5, 511, 512, 1099]] = False
    score, unasked = np.empty(1100), np.empty(1100)
    _kernels.uncertainty(unasked, log_states, np.zeros(3), everyone(1100), kind)
    _kernels.uncertainty(score, log_states, np.zeros(3), is_open, kind)
    assert np.array_equal(score, np.where(is_open, unasked, -np.inf))


def moments_in_numpy(values: np.ndarray) -> np.ndarray:
    """Count, mean, mean_low and stddev of the present cells of each column, in two passes."""
    present = ~np.isnan(values)
    count = present.sum(axis=0)
    divisor = np.maximum(count, 1)
    first = np.where(count > 0, np.max(values, axis=0, initial=-np.inf, where=present), 0.0)
    gap = np.where(present, values - first, 0.0)
    mean = gap.sum(axis=0) / divisor
    rest = np.where(present, gap - mean, 0.0)
    low = rest.sum(axis=0) / divisor
    high = first + mean
    lost = (first - high) + mean
    return np.array([count, high, lost + low, np.sqrt(np.maximum((rest**2).sum(axis=0) / divisor - low**2, 0.0))])


@pytest.mark.parametrize(("n_rows", "n_columns"), [(0, 3), (1, 1), (2, 20), (40, 33), (3, 0)])
def test_moments_of_rows_are_those_of_their_plain_twin(n_rows: int, n_columns: int) -> None:
    values = 5.0 + GENERATOR.normal(size=(n_rows, n_columns))
    values[GENERATOR.random(values.shape) < 0.2] = np.nan
    moments = np.empty((4, n_columns))
    _kernels.moments_of_rows(moments, values)
    twin = moments_in_numpy(values)
    assert moments[[0, 1, 3]] == pytest.approx(twin[[0, 1, 3]], rel=1e-14, abs=1e-14)


def test_moments_of_rows_keep_the_digits_that_a_float_has_no_room_for() -> None:
    """1e15, 1e15 + 1, 1e15 + 1: the mean ends in 0.666..., and 1e15 has three digits after the point at most."""
    values, moments = np.array([[1e15, 0.1], [1e15 + 1, 0.1], [1e15 + 1, 0.1]]), np.empty((4, 2))
    _kernels.moments_of_rows(moments, values)
    _, mean, mean_low, stddev = moments
    exact = [sum(map(Fraction, column.tolist())) / 3 for column in values.T]
    for c in range(2):
        assert abs(Fraction(mean[c]) + Fraction(mean_low[c]) - exact[c]) < Fraction(1, 10**15)
    assert stddev[0] == pytest.approx(np.sqrt(2.0 / 9.0), rel=1e-14)
    assert stddev[1] == 0.0  # equal cells have no spread at all
