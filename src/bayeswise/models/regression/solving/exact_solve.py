"""Linear equations with exact coefficients: elimination in integers, or floats refined with exact residuals.

An exact matrix has an exact rank: a column that is a combination of earlier ones is found without a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.linalg import LinAlgError

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.special import cho_factor, cho_solve

SINGULAR = 1e-13  # the square of the least pivot of a Cholesky factor, in units of the largest
MOST_EXACT = 24  # columns; the digits of elimination grow with their number


@dataclass(frozen=True)
class Solution:
    """x of A x = b with zeros at dependent columns; `kept` are the columns that are not."""

    x: FloatArray  # (n,)
    kept: IntArray


def solve_exactly(matrix: Dyadic, right: Dyadic) -> Solution:
    """Each x correctly rounded, by elimination without fractions (Bareiss); A is symmetric and not negative.

    >>> a = Dyadic.of_integers([[2, 2, 1], [2, 2, 1], [1, 1, 3]])
    >>> solve_exactly(a, Dyadic.of_integers([2, 2, 6]))
    Solution(x=array([0., 0., 2.]), kept=array([0, 2]))
    """
    rows = [[int(v) for v in row] for row in matrix.integers]
    kept, triangle = _eliminated([[*row, int(b)] for row, b in zip(rows, right.integers, strict=True)])
    x = [Fraction(0)] * len(rows)
    for k in range(len(kept) - 1, -1, -1):
        row = triangle[k]
        known = sum((row[j] * x[j] for j in kept[k + 1 :]), Fraction(0))
        x[kept[k]] = (row[-1] - known) / row[kept[k]]
    unit = Fraction(2) ** (right.exponent - matrix.exponent)
    return Solution(np.array([float(value * unit) for value in x]), np.array(kept, dtype=np.int64))


def inverse_exactly(matrix: Dyadic, kept: IntArray) -> FloatArray:
    """The inverse of the kept block, each entry correctly rounded."""
    block = [[int(v) for v in row[kept]] for row in matrix.integers[kept]]
    n = len(block)
    units = [[int(i == j) for j in range(n)] for i in range(n)]
    _, triangle = _eliminated([[*row, *unit] for row, unit in zip(block, units, strict=True)], n)
    inverse = np.empty((n, n))
    for column in range(n):
        x = [Fraction(0)] * n
        for k in range(n - 1, -1, -1):
            known = sum((triangle[k][j] * x[j] for j in range(k + 1, n)), Fraction(0))
            x[k] = (triangle[k][n + column] - known) / triangle[k][k]
        inverse[:, column] = [float(value / Fraction(2) ** matrix.exponent) for value in x]
    return inverse


def _eliminated(rows: list[list[int]], n_columns: int | None = None) -> tuple[list[int], list[list[int]]]:
    """Rows in echelon form, all integers; a pivot of zero is a dependent column, as the matrix is symmetric."""
    n = n_columns or len(rows)
    kept: list[int] = []
    triangle: list[list[int]] = []
    left = list(range(n))
    last = 1
    for column in range(n):
        pivot = rows[column]
        left.remove(column)
        if pivot[column] == 0:
            continue
        kept.append(column)
        triangle.append(pivot)
        for i in left:
            row, factor = rows[i], rows[i][column]
            rows[i] = [0] * (column + 1) + [
                (pivot[column] * row[j] - factor * pivot[j]) // last for j in range(column + 1, len(row))
            ]
        last = pivot[column]
    return kept, triangle


def solve_refined(matrix: Dyadic, right: Dyadic, added: float, unit: FloatArray, divisor: float) -> FloatArray:
    """x of (A / divisor + added diag(unit)^2) x = b / divisor, then corrected with exact residuals.

    In the columns' units the matrix is near a correlation matrix. Where what is added is below its rounding error and
    columns are dependent, the answer is the limit for `added` to 0: the shortest x in these units.
    """
    inside = matrix.over(Dyadic.of_floats(divisor)) / np.outer(unit, unit)
    solve = symmetric_inverse(inside, added)
    x = np.zeros(len(unit))
    for _ in range(4):
        products = (matrix * Dyadic.of_floats(x)[None, :]).sum(axis=1)
        residual = (right - products).over(Dyadic.of_floats(divisor)) / unit - added * (x * unit)
        step = solve(residual) / unit
        x = x + step
        if np.all(np.abs(step) <= 1e-16 * np.abs(x)):
            break
    return x


def symmetric_inverse(matrix: FloatArray, added: float) -> Callable[[FloatArray], FloatArray]:
    """v -> (A + added I)^-1 v: by Cholesky, or by the eigenvectors above rounding where A is singular."""
    n = len(matrix)
    try:
        factor = cho_factor(matrix + added * np.eye(n), lower=True)
        if n == 0 or np.diag(factor[0]).min() ** 2 > SINGULAR * max(float(np.diag(factor[0]).max()) ** 2, added):
            return lambda v: np.asarray(cho_solve(factor, v))
    except LinAlgError:
        pass
    values, vectors = np.linalg.eigh(matrix)
    least = n * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
    seen = values > least
    below = np.where(seen, values, 0.0) + added
    inverse = np.where(seen | (added > least), 1.0 / np.where(below > 0, below, 1.0), 0.0)
    return lambda v: np.asarray(vectors @ (inverse[:, None] * (vectors.T @ v).reshape(n, -1))).reshape(v.shape)


def independent_columns(matrix: FloatArray) -> IntArray:
    """The columns of a correlation matrix that are not a combination of earlier ones, up to rounding."""
    n = len(matrix)
    left = matrix.copy()
    kept = []
    for column in range(n):
        pivot = left[column, column]
        if pivot <= 8 * n * np.finfo(float).eps:
            continue
        kept.append(column)
        left -= np.outer(left[:, column], left[column]) / pivot
    return np.array(kept, dtype=np.int64)
