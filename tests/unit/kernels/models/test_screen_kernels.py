"""The kernels of the screen against their plain twins in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise import _kernels

GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 1), (1023, 3), (2500, 70), (5, 0)])
def test_a_rough_sum_is_that_of_the_present_cells_to_seven_digits(n_rows: int, n_columns: int) -> None:
    columns = GENERATOR.normal(size=(n_columns, n_rows)).astype(np.float32)
    columns[GENERATOR.random(columns.shape) < 0.1] = np.nan
    mean, rate, log_peak = GENERATOR.normal(size=(3, n_columns))
    rough = np.empty(n_rows, dtype=np.float32)
    _kernels.rough_normal(rough, columns, mean, rate, log_peak)
    terms = log_peak[:, None] - ((columns.astype(np.float64) - mean[:, None]) * rate[:, None]) ** 2
    error = 1e-6 * np.nansum(np.abs(log_peak[:, None]) + np.abs(terms), axis=0) + 1e-6
    assert (np.abs(rough - np.nansum(terms, axis=0)) <= error).all()


@pytest.mark.parametrize(("n_rows", "n_states"), [(1, 2), (1025, 5), (3000, 2)])
def test_the_upper_bound_is_the_log_odds_of_the_first_two_and_an_error_of_their_size(
    n_rows: int, n_states: int
) -> None:
    log_states = (10.0 * GENERATOR.normal(size=(n_states, n_rows))).astype(np.float32)
    log_prior, upper = np.log(GENERATOR.dirichlet(np.ones(n_states))), np.empty(n_rows, dtype=np.float32)
    is_open = GENERATOR.random(n_rows) < 0.8
    _kernels.upper_log_odds(upper, log_states, log_prior, is_open, 0.01)
    *_, second, top = np.sort(log_states + log_prior[:, None], axis=0)
    twin = second - top + 0.01 * (np.abs(second) + np.abs(top))
    assert upper[is_open] == pytest.approx(twin[is_open], abs=1e-4)
    assert (upper[~is_open] == -np.inf).all()


def test_a_row_that_single_precision_has_no_room_for_has_to_be_looked_at() -> None:
    """One state or none is possible as far as floats go: there is no second one to compare with."""
    upper, log_states = np.empty(3, dtype=np.float32), np.zeros((2, 3), dtype=np.float32)
    log_states[1, 0] = -np.inf
    log_states[:, 1] = -np.inf
    _kernels.upper_log_odds(upper, log_states, np.zeros(2), np.ones(3, dtype=bool), 1e-6)
    assert upper.tolist() == [np.inf, np.inf, 0.0]


def test_shapes_that_do_not_fit_are_refused() -> None:
    line, lines, one, is_open = np.zeros(2, np.float32), np.zeros((1, 2), np.float32), np.zeros(1), np.ones(2, bool)
    with pytest.raises(ValueError, match="differ in rows"):
        _kernels.rough_normal(line[:1], lines, one, one, one)
    with pytest.raises(ValueError, match="differ in number"):
        _kernels.rough_normal(line, lines, np.zeros(2), one, one)
    with pytest.raises(ValueError, match="side by side"):
        _kernels.rough_normal(line, np.zeros((1, 4), np.float32)[:, ::2], one, one, one)
    with pytest.raises(ValueError, match="upper and log_states differ"):
        _kernels.upper_log_odds(line[:1], lines, one, is_open, 0.0)
    with pytest.raises(ValueError, match="is_open"):
        _kernels.upper_log_odds(line, lines, one, is_open[:1], 0.0)
    with pytest.raises(ValueError, match="differ in states"):
        _kernels.upper_log_odds(line, lines, np.zeros(2), is_open, 0.0)
    with pytest.raises(ValueError, match="side by side"):
        _kernels.upper_log_odds(line, np.zeros((1, 4), np.float32)[:, ::2], one, is_open, 0.0)
