"""The kernels of a pool against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from bayeswise import _kernels

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


@pytest.mark.parametrize(("n_rows", "n_states"), [(1, 2), (513, 2), (1025, 7)])
def test_the_lead_is_the_top_less_the_second(n_rows: int, n_states: int) -> None:
    log_states, log_prior = GENERATOR.normal(size=(n_states, n_rows)), GENERATOR.normal(size=n_states)
    lead = np.empty(n_rows)
    _kernels.leads(lead, log_states, log_prior)
    twin = np.sort(log_states + log_prior[:, None], axis=0)
    assert np.array_equal(lead, twin[-1] - twin[-2])


def test_an_impossible_row_has_no_lead_and_a_certain_one_an_infinite_lead() -> None:
    lead = np.empty(2)
    _kernels.leads(lead, np.array([[-np.inf, 0.0], [-np.inf, -np.inf]]), np.zeros(2))
    assert np.isnan(lead[0]) and lead[1] == np.inf


def test_shapes_that_do_not_fit_are_refused() -> None:
    one, two = np.zeros(1), np.zeros(2)
    with pytest.raises(ValueError, match="differ"):
        _kernels.normal_column(one, np.zeros((1, 2)), one, one, one, one)
    with pytest.raises(ValueError, match="differ"):
        _kernels.normal_column(two, np.zeros((1, 2)), two, one, one, one)
    with pytest.raises(ValueError, match="differ"):
        _kernels.leads(two, np.zeros((2, 2)), one)
