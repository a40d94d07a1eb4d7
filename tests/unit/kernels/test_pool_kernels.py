"""The kernels of a pool against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from bayeswise import _kernels
from bayeswise.acquisition.strategies import UNCERTAINTY
from bayeswise.posteriors.normalise import normalise

GENERATOR = np.random.default_rng(0)


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
    _kernels.uncertainty(score, log_states, log_prior, kind)
    twin = list(UNCERTAINTY.values())[kind](normalise((log_states + log_prior[:, None]).T).probability)
    assert score == pytest.approx(twin, rel=1e-13, abs=4e-15)


def test_the_fourth_kind_is_minus_the_log_odds_of_the_first_two() -> None:
    log_states, log_prior, score = GENERATOR.normal(size=(4, 700)), GENERATOR.normal(size=4), np.empty(700)
    _kernels.uncertainty(score, log_states, log_prior, 3)
    ordered = np.sort(log_states + log_prior[:, None], axis=0)
    assert np.array_equal(score, ordered[-2] - ordered[-1])


def test_an_impossible_row_has_no_uncertainty_and_a_certain_one_none_left() -> None:
    score = np.empty(2)
    for kind in range(3):
        _kernels.uncertainty(score, np.array([[-np.inf, 0.0], [-np.inf, -np.inf]]), np.zeros(2), kind)
        assert np.isnan(score[0]) and score[1] == pytest.approx(0.0, abs=1e-15)


def test_shapes_that_do_not_fit_are_refused() -> None:
    one, two = np.zeros(1), np.zeros(2)
    with pytest.raises(ValueError, match="differ"):
        _kernels.normal_column(one, np.zeros((1, 2)), one, one, one, one)
    with pytest.raises(ValueError, match="differ"):
        _kernels.normal_column(two, np.zeros((1, 2)), two, one, one, one)
    with pytest.raises(ValueError, match="differ"):
        _kernels.uncertainty(two, np.zeros((2, 2)), one, 0)
    with pytest.raises(ValueError, match="kind"):
        _kernels.uncertainty(two, np.zeros((2, 2)), two, 4)


def test_a_range_of_rows_is_a_view_and_a_step_between_rows_is_refused() -> None:
    log_states = GENERATOR.normal(size=(3, 100))
    whole, part = np.empty(100), np.empty(40)
    _kernels.uncertainty(whole, log_states, np.zeros(3), 0)
    _kernels.uncertainty(part, log_states[:, 30:70], np.zeros(3), 0)
    assert np.array_equal(part, whole[30:70])
    with pytest.raises(ValueError, match="side by side"):
        _kernels.uncertainty(np.empty(50), log_states[:, ::2], np.zeros(3), 0)
    with pytest.raises(ValueError, match="side by side"):
        _kernels.normal_column(np.empty(50), log_states[:, ::2], *np.ones((4, 3)))
