"""A covariance as standard deviations and correlations, its rank, and its Cholesky factor.

Scaled so, columns in metres and in nanometres are treated alike, and numbers of 1e300 or 1e-300 do no harm. The rank is
checked first: Cholesky may succeed on columns that are exactly collinear, and its answer is then noise.
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.statistics.numbers.moments import Divisor
from bayeswise.statistics.numbers.scatter import Scatter

RANK_TOLERANCE = 8.0 * float(np.finfo(np.float64).eps)
"""Eigenvalues of a correlation matrix below this times the number of columns are rounding errors of its entries."""
_TAKES_PART = 1e-6  # entries of a null vector below this are rounding errors of the others


@dataclass(frozen=True)
class Factor:
    """covariance = L L' with L = diag(stddev) lower, of one group.

    Rows are whitened column by column and not by BLAS, so that a row gives the same bits alone and in any batch.
    """

    stddev: FloatArray  # (n_columns,)
    lower: FloatArray  # (n_columns, n_columns)

    @classmethod
    def of(cls, stddev: FloatArray, correlation: FloatArray) -> Factor:
        """`FitError` if the rank is too low."""
        reason = singular_reason(stddev, correlation)
        if reason:
            raise FitError(reason, fix="leave out a column, give more rows, or give a prior")
        return cls(stddev, np.asarray(np.linalg.cholesky(correlation), dtype=np.float64))

    @property
    def log_root_determinant(self) -> float:
        """log sqrt(det covariance)."""
        return float(np.log(self.stddev).sum() + np.log(np.diagonal(self.lower)).sum())

    def whiten(self, scores: FloatArray) -> FloatArray:
        """(n_rows, n_columns) L^-1 applied to rows that are already in units of stddev."""
        white = np.array(scores.T)  # (n_columns, n_rows)
        for j, row in enumerate(self.lower):
            for k in range(j):
                white[j] -= row[k] * white[k]
            white[j] /= row[j]
        return white.T

    def distances(self, scores: FloatArray) -> FloatArray:
        """(n_rows,) sqrt(s' R^-1 s) of rows in units of stddev, with R the correlation; no square overflows."""
        white = self.whiten(scores).T
        largest = np.maximum(np.abs(white).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
        squares = np.zeros(len(scores))
        for coordinate in white:
            squares += (coordinate / largest) ** 2
        return np.asarray(largest * np.sqrt(squares))

    def precision(self) -> FloatArray:
        """(n_columns, n_columns) the inverse covariance."""
        inverse = self.whiten(np.eye(len(self.stddev)) / self.stddev)  # L^-1, transposed
        return np.asarray(inverse @ inverse.T)

    def colour(self, draws: FloatArray) -> FloatArray:
        """(n_rows, n_columns) L applied to each row."""
        return np.asarray(draws @ self.lower.T * self.stddev)

    def inverse_wishart(
        self, df: float, size: int, generator: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draws of a covariance C ~ InverseWishart(df, L L'), as stddev and correlation, and of Normal(0, C).

        With A lower triangular, A_ii^2 ~ chi-squared(df - i) and A_ij ~ Normal(0, 1), the covariance is M M' with
        M = L A^-T (Bartlett).
        """
        d = len(self.stddev)
        bartlett = np.tril(generator.standard_normal((size, d, d)), -1)
        diagonal = np.arange(d)
        bartlett[:, diagonal, diagonal] = np.sqrt(2.0 * generator.standard_gamma(0.5 * (df - diagonal), (size, d)))
        root = np.swapaxes(np.linalg.solve(bartlett, np.broadcast_to(self.lower.T, bartlett.shape)), 1, 2)
        length = np.sqrt((root**2).sum(axis=-1))  # (size, n_columns)
        unit = root / length[..., None]
        errors = (root @ generator.standard_normal((size, d, 1)))[..., 0] * self.stddev
        return self.stddev * length, unit @ np.swapaxes(unit, 1, 2), errors


def singular_reason(stddev: FloatArray, correlation: FloatArray) -> str:
    """Why a covariance has no inverse; empty if it has one.

    >>> singular_reason(np.ones(3), np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]))
    'the covariance has rank 2 of 3: columns 0, 2 determine each other'
    """
    n_columns = len(stddev)
    varies = np.flatnonzero(stddev > 0)
    constant = np.flatnonzero(stddev == 0)
    values, vectors = np.linalg.eigh(correlation[np.ix_(varies, varies)])
    null = values <= RANK_TOLERANCE * n_columns
    if not (null.any() or len(constant)):
        return ""
    words = [_listed(constant, "is constant", "are constant")] if len(constant) else []
    if null.any():
        bound = varies[np.abs(vectors[:, null]).max(axis=1) > _TAKES_PART]
        words.append(_listed(bound, "determines itself", "determine each other"))
    rank = len(varies) - int(null.sum())
    return f"the covariance has rank {rank} of {n_columns}: {' and '.join(words)}"


def standardised(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations and correlations of covariances (..., n_columns, n_columns).

    >>> standardised(np.array([[4.0, 1.0], [1.0, 1.0]]))[1].tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    if not (np.isfinite(covariance).all() and (variance >= 0).all()):
        raise ParameterError("a covariance must be finite, with variances from 0 on", fix="check its diagonal")
    if not np.allclose(covariance, np.swapaxes(covariance, -1, -2), rtol=1e-9, atol=0.0):
        raise ParameterError("a covariance must be symmetric", fix="average it with its transpose")
    stddev = np.sqrt(variance)
    return stddev, _unit_diagonal(covariance / _safe(stddev)[..., :, None] / _safe(stddev)[..., None, :])


def standardised_scatter(statistic: Scatter, divisor: Divisor) -> tuple[FloatArray, FloatArray]:
    """Standard deviations and correlations of groups with enough rows, from exact sums."""
    rows, columns = np.tril_indices(statistic.n_columns)
    diagonal = np.arange(statistic.n_columns)
    weight, total = Dyadic.of(statistic.weight)[:, None], Dyadic.of(statistic.total)
    spread = weight * Dyadic.of(statistic.cross) - total[:, rows] * total[:, columns]
    less = Dyadic.of_integers([0 if divisor == "n" else 1])
    below = weight * (weight - less)
    stddev = spread[:, diagonal * (diagonal + 3) // 2].sqrt_over(below)  # (n_groups, n_columns)
    unit = Dyadic.of_floats(_safe(stddev))
    lower = spread.over(below * unit[:, rows] * unit[:, columns])
    correlation = np.empty((*stddev.shape, statistic.n_columns))
    correlation[:, rows, columns] = lower
    correlation[:, columns, rows] = lower
    return stddev, _unit_diagonal(correlation)


def _unit_diagonal(correlation: FloatArray) -> FloatArray:
    diagonal = np.arange(correlation.shape[-1])
    correlation[..., diagonal, diagonal] = 1.0
    return correlation


def _safe(stddev: FloatArray) -> FloatArray:
    """One in place of zero: a constant column has correlation 0 with all others."""
    return np.where(stddev > 0, stddev, 1.0)


def _listed(columns: IntArray, one: str, several: str) -> str:
    names = ", ".join(str(column) for column in columns)
    return f"column {names} {one}" if len(columns) == 1 else f"columns {names} {several}"
