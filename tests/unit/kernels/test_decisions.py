"""The kernels of decisions beside plain NumPy twins, digit by digit."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise import _kernels

GENERATOR = np.random.default_rng(4)


def twin_costs(shares: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """State by state in their order; an action that costs the same everywhere costs exactly that."""
    expected = np.zeros((len(table), len(shares)))
    for line, total in zip(table, expected, strict=True):
        if (line == line[0]).all():
            total[:] = line[0]
            continue
        for p, cost in zip(shares.T, line, strict=True):
            total += p * cost
    return expected, expected.argmin(axis=0)


def twin_shift(shares: np.ndarray, factor: np.ndarray) -> np.ndarray:
    joint = shares * factor
    total = np.zeros(len(shares))
    for column in joint.T:
        total += column
    return joint / total[:, None]


@pytest.mark.parametrize("n_rows", [0, 1, 511, 512, 513, 3000])
@pytest.mark.parametrize(("n_actions", "n_states"), [(3, 2), (1, 4), (5, 3), (2, 17), (4, 1)])
def test_expected_costs_are_those_of_numpy(n_rows: int, n_actions: int, n_states: int) -> None:
    shares = GENERATOR.dirichlet(np.ones(n_states), n_rows)
    table = GENERATOR.integers(-3, 9, (n_actions, n_states)).astype(float)  # small numbers, so that there are ties
    table[-1] = 2.0
    expected, best = np.empty((n_actions, n_rows)), np.full(n_rows, -1)
    _kernels.expected_costs(shares, table, expected, best)
    costs, first = twin_costs(shares, table)
    assert expected.tolist() == costs.tolist()
    assert best.tolist() == first.tolist()


@pytest.mark.parametrize("n_rows", [0, 1, 512, 1500])
@pytest.mark.parametrize("n_states", [1, 2, 3, 11])
def test_shifted_rows_are_those_of_numpy(n_rows: int, n_states: int) -> None:
    shares, factor = GENERATOR.dirichlet(np.ones(n_states), n_rows), GENERATOR.random(n_states) + 0.01
    moved = np.empty(shares.shape)
    assert _kernels.shift_rows(shares, factor, moved) == -1
    assert moved.tolist() == twin_shift(shares, factor).tolist()


def test_the_first_row_that_has_nothing_left_is_reported() -> None:
    shares = np.tile([0.5, 0.5], (2000, 1))
    shares[[1234, 1900]] = [1.0, 0.0]
    assert _kernels.shift_rows(shares, np.array([0.0, 1.0]), np.empty((2000, 2))) == 1234


def test_arrays_that_do_not_fit_are_refused() -> None:
    shares, best = np.full((4, 2), 0.5), np.zeros(4, dtype=np.int64)
    with pytest.raises(ValueError, match="fit together"):
        _kernels.expected_costs(shares, np.ones((3, 3)), np.empty((3, 4)), best)
    with pytest.raises(ValueError, match="fit together"):
        _kernels.expected_costs(shares, np.ones((3, 2)), np.empty((3, 5)), best)
    with pytest.raises(ValueError, match="fit together"):
        _kernels.shift_rows(shares, np.ones(3), np.empty((4, 2)))
