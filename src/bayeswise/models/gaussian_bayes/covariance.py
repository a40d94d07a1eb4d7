"""One covariance, ready to measure distances: standard deviations, correlations, and what to do where it is singular.

A singular covariance is found by its rank, not by a failing Cholesky factor, and gets a finite answer:
  - a column that is constant in the class has the stddev sqrt(variance_floor) times that of the whole column; if the
    whole column is constant, 2^-26 of its value (or 1 for the value 0);
  - columns that determine each other (copies, sums, more columns than rows) get the variance `variance_floor` in the
    directions, counted in units of the stddevs, in which they never differed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from bayeswise.engines.local import MOST_ENTRIES
from bayeswise.families.arithmetic.covariance import RANK_TOLERANCE
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import TooLargeError, listed
from bayeswise.models.gaussian_bayes.class_moments import Columns
from bayeswise.models.gaussian_bayes.em import LEAST_VARIANCE

ROUGH_RANK_TOLERANCE = 1e-9
"""The same for covariances that EM found: they are only as exact as its last step."""
_TAKES_PART = 1e-6  # entries of a null vector below this are rounding errors of the others


@dataclass(frozen=True)
class CovarianceFactor:
    """covariance = diag(stddev) correlation diag(stddev), of full rank."""

    stddev: FloatArray  # (n_columns,)
    correlation: FloatArray | None  # (n_columns, n_columns); None where columns are taken to be uncorrelated
    constant: tuple[int, ...] = ()  # columns without variance
    bound: tuple[int, ...] = ()  # columns that determine each other
    rank: int = 0

    @property
    def is_singular(self) -> bool:
        """Whether the rows alone would not have given an inverse."""
        return bool(self.constant or self.bound)

    @cached_property
    def is_diagonal(self) -> bool:
        return self.correlation is None or not np.any(self.correlation - np.diag(np.diagonal(self.correlation)))

    @cached_property
    def lower(self) -> FloatArray | None:
        """The Cholesky factor of the correlations."""
        if self.correlation is None:
            return None
        return np.asarray(np.linalg.cholesky(self.correlation), dtype=np.float64)

    @cached_property
    def whitener(self) -> FloatArray | None:
        """The inverse of `lower`: whitener @ ((x - mean) / stddev) has uncorrelated entries of variance 1."""
        return None if self.lower is None else _inverse(self.lower)

    @cached_property
    def pivots(self) -> FloatArray:
        """(n_columns,) the diagonal of `lower`: the stddev that is left of each score, given those before it."""
        return np.ones(len(self.stddev)) if self.lower is None else np.diagonal(self.lower)

    def whitened(self, scores: FloatArray) -> FloatArray:
        """(..., n_columns) whitener @ s for each s = (x - mean) / stddev."""
        return scores if self.whitener is None else np.asarray(scores @ self.whitener.T)

    def turned_back(self, white: FloatArray) -> FloatArray:
        """(..., n_columns) weights of scores, from weights of whitened ones."""
        return white if self.whitener is None else np.asarray(white @ self.whitener)

    def correlated(self, draws: FloatArray) -> FloatArray:
        """(..., n_columns) scores with these correlations, from uncorrelated ones: the inverse of `whitened`."""
        return draws if self.lower is None else np.asarray(draws @ self.lower.T)

    @cached_property
    def log_root_determinant(self) -> float:
        """log sqrt(det covariance)."""
        return float(np.log(self.stddev).sum() + np.log(self.pivots).sum())

    @property
    def correlation_in_full(self) -> FloatArray:
        """(n_columns, n_columns)"""
        refuse_square(len(self.stddev))
        return np.eye(len(self.stddev)) if self.correlation is None else self.correlation

    @property
    def covariance(self) -> FloatArray:
        """(n_columns, n_columns); infinite beyond the range of floats."""
        with np.errstate(over="ignore"):
            return np.asarray(self.correlation_in_full * self.stddev[:, None] * self.stddev)

    def precision_times(self, vectors: FloatArray) -> FloatArray:
        """(..., n_columns) covariance^-1 v for each v."""
        white, scores = self.whitener, vectors / self.stddev
        return np.asarray((scores if white is None else scores @ (white.T @ white)) / self.stddev)

    def block(self, columns: IntArray) -> CovarianceFactor:
        """The marginal of some columns: rows and columns of the covariance that belong to the others are left out."""
        inner = None if self.correlation is None else self.correlation[np.ix_(columns, columns)]
        return CovarianceFactor(self.stddev[columns], inner)

    def times(self, factor: float) -> CovarianceFactor:
        """The covariance times a number."""
        return replace(self, stddev=self.stddev * np.sqrt(factor))

    def in_units_of(self, unit: FloatArray) -> CovarianceFactor:
        """From units of the columns to the columns' own numbers."""
        return replace(self, stddev=self.stddev * unit)

    def singular_reason(self, names: Sequence[str]) -> str:
        """Why the rows alone give no inverse, with the columns by name; empty if they do."""
        words = []
        if self.constant:
            words.append(f"constant: {listed(repr(names[k]) for k in self.constant)}")
        if self.bound:
            words.append(f"determine each other: {listed(repr(names[k]) for k in self.bound)}")
        return f"rank {self.rank} of {len(self.stddev)} ({'; '.join(words)})" if words else ""


def factor_of(
    covariance: FloatArray, columns: Columns, *, shrinkage: float, variance_floor: float, exact: bool = True
) -> CovarianceFactor:
    """A covariance in units of the columns, shrunk towards its diagonal and then, where singular, repaired."""
    variance = np.diagonal(covariance)
    varies = variance > (0.0 if exact else 2.0 * LEAST_VARIANCE * columns.stddev**2)
    own = np.sqrt(np.where(varies, variance, 1.0))
    correlation = covariance / own[:, None] / own
    correlation[~varies, :] = 0.0
    correlation[:, ~varies] = 0.0
    correlation = np.clip((1.0 - shrinkage) * correlation, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    stddev = np.where(varies, own, _least_stddev(columns, variance_floor))
    correlation, bound = _repaired(correlation, varies, variance_floor, exact)
    rank = int(varies.sum()) - bound[1]
    constant = tuple(np.flatnonzero(~varies).tolist())
    return CovarianceFactor(stddev, correlation, constant, tuple(bound[0].tolist()), rank)


def diagonal_factor(variance: FloatArray, columns: Columns, *, variance_floor: float) -> CovarianceFactor:
    """Uncorrelated columns, from variances in units of the columns."""
    varies = variance > 0
    stddev = np.where(varies, np.sqrt(np.abs(variance)), _least_stddev(columns, variance_floor))
    constant = tuple(np.flatnonzero(~varies).tolist())
    return CovarianceFactor(stddev, None, constant, (), int(varies.sum()))


def spherical_factor(variance: FloatArray, columns: Columns, *, variance_floor: float) -> CovarianceFactor:
    """One variance for all columns, the mean of theirs in their own units."""
    largest = columns.unit.max(initial=5e-324)
    width = columns.unit / largest
    common = float(np.mean(variance * width**2)) if len(variance) else 1.0
    constant: tuple[int, ...] = ()
    if common <= 0:
        common = float(np.mean((_least_stddev(columns, variance_floor) * width) ** 2))
        constant = tuple(range(len(variance)))
    stddev = np.sqrt(common) / width
    return CovarianceFactor(stddev, None, constant, (), len(variance) - len(constant))


def refuse_square(n_columns: int) -> None:
    """`TooLargeError` before a matrix of all pairs of columns is written down that does not fit into memory."""
    if n_columns**2 > MOST_ENTRIES:
        raise TooLargeError(
            f"a matrix of all pairs of {n_columns:,} columns would take {8e-9 * n_columns**2:,.1f} GB; "
            f"at most {8e-9 * MOST_ENTRIES:.1f} are taken",
            fix="use variances, which `model.densities.spreads` keeps as stddev, or fewer columns",
        )


def oracle_shrinkage(correlation: FloatArray, n: float) -> float:
    """Oracle approximating shrinkage (Chen, Wiesel, Eldar, Hero 2010) of correlations from n rows.

    With a = mean of r_ij^2 over all d^2 entries it is (a + 1) / ((n + 1)(a - 1/d)), at most 1.

    >>> oracle_shrinkage(np.array([[1.0, 0.5], [0.5, 1.0]]), 9.0)
    1.0
    """
    d = len(correlation)
    if d < 2 or n <= 0:
        return 0.0
    alpha = float(np.mean(correlation**2))
    excess = (n + 1.0) * (alpha - 1.0 / d)
    return 1.0 if excess <= 0 else min(1.0, (alpha + 1.0) / excess)


def _least_stddev(columns: Columns, variance_floor: float) -> FloatArray:
    """(n_columns,) in units, for a class in which the column never varies."""
    return np.where(columns.stddev > 0, np.sqrt(variance_floor) * columns.stddev, 1.0)


def _repaired(
    correlation: FloatArray, varies: BoolArray, floor: float, exact: bool
) -> tuple[FloatArray, tuple[IntArray, int]]:
    """Eigenvalues that are rounding errors of zero, raised to the floor; the columns that they bind, and their number.

    No raised eigenvalue passes one that the rows gave.
    """
    if _has_full_rank(correlation):
        return correlation, (np.empty(0, dtype=np.int64), 0)
    values, vectors = np.linalg.eigh(correlation)
    tolerance = (RANK_TOLERANCE if exact else ROUGH_RANK_TOLERANCE) * len(values)
    null = values <= tolerance
    n_null = int(null.sum())
    if n_null == 0:
        return correlation, (np.empty(0, dtype=np.int64), 0)
    raised = min(floor, float(values[~null].min(initial=1.0)))
    bound = np.flatnonzero(varies & (np.abs(vectors[:, null]).max(axis=1) > _TAKES_PART))
    values = np.where(null, raised, values)
    full = (vectors * values) @ vectors.T
    return 0.5 * (full + full.T), (bound, n_null)


def _has_full_rank(correlation: FloatArray) -> bool:
    """Whether the Cholesky factor alone proves it: no eigenvalue is below 1 / |L^-1|^2."""
    try:
        lower = np.asarray(np.linalg.cholesky(correlation), dtype=np.float64)
    except np.linalg.LinAlgError:
        return False
    return bool(np.sum(_inverse(lower) ** 2) < 1.0 / ROUGH_RANK_TOLERANCE / max(1, len(lower)))


def _inverse(lower: FloatArray) -> FloatArray:
    """The inverse of a lower triangle, row by row."""
    inverse = np.zeros_like(lower)
    for j in range(len(lower)):
        inverse[j] = -(lower[j, :j] @ inverse[:j])
        inverse[j, j] += 1.0
        inverse[j] /= lower[j, j]
    return inverse
