"""Small positive definite systems against LAPACK, and log gamma against 30 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.foundation.special import gammaln, xlogy
from bayeswise.models.regression.solving.newton import SMALL_SYSTEM, solve_symmetric


@pytest.mark.parametrize("n", [1, 2, 5, 17, 64])
def test_a_system_in_uneven_units_is_solved_as_by_a_factor_of_numpy(n: int) -> None:
    generator = np.random.default_rng(n)
    rows = generator.standard_normal((2 * n, n))
    unit = np.ldexp(1.0, generator.integers(-40, 40, n))
    matrix, right = (rows.T @ rows) * np.outer(unit, unit), generator.standard_normal(n) * unit
    solution = np.empty(n)
    least = _kernels.solve_positive(matrix, right, solution)

    diagonal = np.sqrt(np.diag(matrix))
    lower = np.linalg.cholesky(matrix / np.outer(diagonal, diagonal))
    expected = np.linalg.solve(lower.T, np.linalg.solve(lower, right / diagonal)) / diagonal
    assert least == pytest.approx(np.diag(lower).min(), rel=1e-10)
    np.testing.assert_allclose(solution * unit, expected * unit, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]], [[-1.0]]]
)
def test_a_matrix_that_is_not_positive_definite_has_no_pivot(matrix: list[list[float]]) -> None:
    n = len(matrix)
    assert _kernels.solve_positive(np.array(matrix), np.ones(n), np.empty(n)) == 0.0


def test_sizes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in size"):
        _kernels.solve_positive(np.eye(2), np.ones(3), np.empty(2))


@pytest.mark.parametrize("n", [3, SMALL_SYSTEM, SMALL_SYSTEM + 1])
def test_the_shortest_solution_of_a_singular_system_is_found_at_any_size(n: int) -> None:
    rows = np.random.default_rng(n).standard_normal((n + 3, n))
    rows[:, -1] = rows[:, 0]
    matrix = rows.T @ rows
    found = solve_symmetric(matrix, rows.T @ np.ones(n + 3))
    assert found[0] == pytest.approx(found[-1], rel=1e-6)
    np.testing.assert_allclose(matrix @ found, rows.T @ np.ones(n + 3), rtol=1e-6, atol=1e-8)


def test_log_gamma_is_that_of_thirty_digits() -> None:
    generator = np.random.default_rng(0)
    x = np.concatenate([np.arange(1, 60) / 2.0, generator.uniform(0.0, 3.0, 50), 10.0 ** generator.uniform(-9, 9, 50)])
    with mpmath.workdps(30):
        expected = [float(mpmath.loggamma(mpmath.mpf(value))) for value in x.tolist()]
    np.testing.assert_allclose(gammaln(x), expected, rtol=2e-15, atol=1e-300)
    assert gammaln(5) == pytest.approx(np.log(24.0), rel=1e-15)
    assert gammaln(x.reshape(-1, 3)).shape == (len(x) // 3, 3)


def test_nothing_times_the_logarithm_of_nothing_is_nothing() -> None:
    assert xlogy(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 3.0])).tolist() == [0.0, -np.inf, 2.0 * np.log(3.0)]
