"""The normal distribution of vectors with unknown mean and covariance, and its normal-inverse-Wishart prior."""

from __future__ import annotations

from dataclasses import field
from itertools import combinations_with_replacement
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.arithmetic.covariance import Factor, singular_reason, standardised, standardised_scatter
from bayeswise.families.arithmetic.gaussian_moments import Power, covariance_of, mean_of, natural_of
from bayeswise.families.arithmetic.stable_functions import (
    HALF_LOG_TWO_PI,
    gap_between,
    log_gamma_ratio,
    log_one_plus_square,
    mean_between,
    refuse_overflow,
    standard_scores,
)
from bayeswise.families.continuous.normal_inverse_wishart import NormalInverseWishart as NormalInverseWishart
from bayeswise.families.functions import Derivatives
from bayeswise.families.protocol import Estimate, ExponentialForm, OneLine, OnNumbers, Rows, Support, refuse_unless
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import ParameterError
from bayeswise.statistics.numbers.scatter import Scatter
from bayeswise.store.fields import stored_field

LOG_PI = float(np.log(np.pi))
_BLOCK = 4096  # rows at a time, to stay in the cache


@dataclass(frozen=True, repr=False)
class MultivariateNormalParameters(OneLine):
    """Mean, standard deviations and correlations; `mean_low` carries the digits of the mean beyond 53 bits."""

    mean: FloatArray  # (..., n_groups, n_columns)
    stddev: FloatArray  # (..., n_groups, n_columns)
    correlation: FloatArray  # (..., n_groups, n_columns, n_columns)
    mean_low: FloatArray | float = field(default=0.0, repr=False)

    @classmethod
    def of(cls, mean: ArrayLike, covariance: ArrayLike) -> MultivariateNormalParameters:
        """From means (n_groups, n_columns) and covariances; one group may be given without its axis.

        >>> MultivariateNormalParameters.of([0.0, 1.0], [[4.0, 1.0], [1.0, 1.0]])
        MultivariateNormal(mean=[0, 1], stddev=[2, 1], correlation=[1, 0.5, 0.5, 1])
        """
        centre, spread = np.atleast_2d(np.asarray(mean, float)), np.asarray(covariance, float)
        stddev, correlation = standardised(spread[None] if spread.ndim == 2 else spread)
        if stddev.shape != centre.shape:
            raise ParameterError(f"means and covariances do not match: {centre.shape} against {spread.shape}")
        return cls(centre, stddev, correlation)

    @property
    def covariance(self) -> FloatArray:
        return np.asarray(self.correlation * self.stddev[..., :, None] * self.stddev[..., None, :])

    def factors(self) -> list[Factor]:
        """The Cholesky factor of each group's covariance; `FitError` for one that is singular."""
        return [Factor.of(*pair) for pair in zip(self.stddev, self.correlation, strict=True)]


@earlier_fields(divisor="variance_divisor")
@dataclass(frozen=True)
class MultivariateNormal(OnNumbers[Scatter]):
    """p(x) = exp(-(x - mean)' covariance^-1 (x - mean) / 2) / sqrt(det(2 pi covariance)); a value is a row.

    >>> normal = MultivariateNormal()
    >>> normal.estimate(normal.statistic([[0.0, 1.0], [2.0, 1.0], [1.0, 4.0]])).parameters
    MultivariateNormal(mean=[1, 2], stddev=[0.816497, 1.41421], correlation=[1, 0, 0, 1])
    """

    variance_divisor: Literal["n", "n-1"] = field(default="n", metadata=stored_field({}, "divisor"))

    name: ClassVar[str] = "multivariate normal"
    support: ClassVar[Support] = "vector"

    # -- estimation -------------------------------------------------------------------------------------------
    def kept(self, numbers: FloatArray, rows: Rows) -> Scatter:
        """n, sum x, sum x x'; a row with a missing cell is counted as incomplete."""
        return Scatter.of(numbers, *rows)

    def estimate(self, statistic: Scatter) -> Estimate[MultivariateNormalParameters]:
        """Sample means and covariances; a singular covariance has no maximum, and is found by its rank."""
        n_groups, n_columns = statistic.total.shape
        mean, mean_low = _means(statistic)
        stddev = np.zeros((n_groups, n_columns))
        correlation = np.broadcast_to(np.eye(n_columns), (n_groups, n_columns, n_columns)).copy()
        enough = np.flatnonzero(statistic.weight.to_floats() > (0 if self.variance_divisor == "n" else 1))
        stddev[enough], correlation[enough] = standardised_scatter(statistic.take(enough), self.variance_divisor)
        reasons = [singular_reason(*pair) for pair in zip(stddev, correlation, strict=True)]
        exists = np.array([not reason for reason in reasons], dtype=np.bool_)  # (n_groups,)
        named = [f"group {group}: {reason}" for group, reason in enumerate(reasons) if reason]
        parameters = MultivariateNormalParameters(mean, stddev, correlation, mean_low)
        return Estimate(parameters, exists, "; ".join(named))

    def parameters(self, statistic: Scatter, prior: NormalInverseWishart | None = None) -> MultivariateNormalParameters:
        """Maximum likelihood, or the posterior means (df above n_columns + 1 needed)."""
        if prior is None:
            return self.estimate(statistic).parameters
        after = self.posterior(statistic, prior)
        df = after.df - (after.n_columns + 1.0)
        if not np.all(df > 0):
            raise ParameterError(
                f"the posterior mean of the covariance needs df above {after.n_columns + 1}",
                fix="raise prior.df",
            )
        stddev, correlation = standardised(after.scale / np.asarray(df)[:, None, None])
        return MultivariateNormalParameters(after.mean, stddev, correlation, after.mean_low)

    def n_free_parameters(self, n_columns: int) -> int:  # type: ignore[override]  # of rows, not of one number
        return n_columns + n_columns * (n_columns + 1) // 2

    # -- density ----------------------------------------------------------------------------------------------
    def log_density(self, parameters: MultivariateNormalParameters, x: ArrayLike) -> FloatArray:
        """(n_rows, n_groups) of rows (n_rows, n_columns); NaN for a row with a missing cell."""
        rows = np.asarray(x, dtype=np.float64)
        log_p = np.empty((len(rows), len(parameters.mean)))
        low = np.broadcast_to(parameters.mean_low, parameters.mean.shape)
        for group, factor in enumerate(parameters.factors()):
            distance = _distances(rows, parameters.mean[group], low[group], factor)
            with np.errstate(over="ignore"):
                log_p[:, group] = -0.5 * distance * distance - factor.log_root_determinant
        return np.asarray(log_p - rows.shape[1] * HALF_LOG_TWO_PI)

    def sample(self, parameters: MultivariateNormalParameters, size: int, generator: np.random.Generator) -> FloatArray:
        """(size, n_groups, n_columns)"""
        factors = parameters.factors()
        draws = generator.standard_normal((size, *parameters.mean.shape))
        coloured = [factor.colour(draws[:, group]) for group, factor in enumerate(factors)]
        return np.asarray(parameters.mean + np.stack(coloured, axis=1))

    def exponential_form(self, parameters: MultivariateNormalParameters) -> ExponentialForm:
        """T = (x_i; x_i x_j for i <= j), eta = (P mean; -P_ii / 2, -P_ij) with the precision P.

        a = mean' P mean / 2 + log sqrt(det covariance).
        """
        mean, covariance, factors = parameters.mean, parameters.covariance, parameters.factors()
        n_columns = mean.shape[-1]
        precision = np.stack([factor.precision() for factor in factors])
        leaning = (precision @ mean[..., None])[..., 0]  # P mean, (n_groups, n_columns)
        powers: list[Power] = [(i,) for i in range(n_columns)]
        powers += combinations_with_replacement(range(n_columns), 2)
        return ExponentialForm(
            log_base_measure=lambda x: np.full(np.shape(x)[:-1], -n_columns * HALF_LOG_TWO_PI),
            sufficient=lambda x: tuple(np.prod(np.asarray(x)[..., list(power)], axis=-1) for power in powers),
            natural=tuple(natural_of(power, leaning, precision) for power in powers),
            log_partition=0.5 * (mean * leaning).sum(axis=-1)
            + np.array([factor.log_root_determinant for factor in factors]),
            mean_of_sufficient=tuple(mean_of(power, mean, covariance) for power in powers),
            covariance_of_sufficient=tuple(
                tuple(covariance_of(one, other, mean, covariance) for other in powers) for one in powers
            ),
        )

    def of_natural(self, *natural: FloatArray) -> MultivariateNormalParameters:
        """P_ii = -2 eta_ii, P_ij = -eta_ij; covariance = P^-1, mean = covariance eta."""
        k = next((k for k in range(1, 200) if k + k * (k + 1) // 2 == len(natural)), 0)
        if not k:
            raise ParameterError(
                f"no number of columns has {len(natural)} natural parameters", fix="give k + k (k + 1) / 2"
            )
        flat = [float(np.reshape(each, ())) for each in natural]
        precision = np.zeros((k, k))
        for value, (i, j) in zip(flat[k:], combinations_with_replacement(range(k), 2), strict=True):
            precision[i, j] = precision[j, i] = -2.0 * value if i == j else -value
        refuse_unless(np.linalg.eigvalsh(precision) > 0, "the natural precision must be positive definite", precision)
        covariance = np.linalg.inv(precision)
        return MultivariateNormalParameters.of(covariance @ np.array(flat[:k]), 0.5 * (covariance + covariance.T))

    def derivatives(self, parameters: MultivariateNormalParameters, data: ArrayLike) -> Derivatives:
        """By the means m_i and the entries c_ij, i <= j, of the covariance, with P its inverse and E_ij its derivative.

        d/dm = P sum d; d/dE = -(n tr PE - tr PEPS) / 2; d2/dm dm = -n P; d2/dm dE = -P E P sum d;
        d2/dE dF = (n tr PFPE - tr PFPEPS - tr PEPFPS) / 2, with d = x - m and S = sum d d'.
        """
        rows = np.atleast_2d(np.asarray(data, dtype=np.float64))
        mean = np.asarray(parameters.mean, dtype=np.float64).reshape(-1)
        k, n = len(mean), len(rows)
        precision = np.linalg.inv(np.asarray(parameters.covariance, dtype=np.float64).reshape(k, k))
        away = rows - mean
        total, scatter = away.sum(axis=0), away.T @ away
        pairs = list(combinations_with_replacement(range(k), 2))
        entries = []
        for i, j in pairs:
            entry = np.zeros((k, k))
            entry[i, j] = entry[j, i] = 1.0
            entries.append(entry)
        moved = [precision @ entry for entry in entries]  # P E
        outer = precision @ scatter  # P S
        by_entry = [-0.5 * (n * np.trace(each) - np.trace(each @ outer)) for each in moved]
        gradient = np.concatenate([precision @ total, by_entry])
        matrix = np.zeros((k + len(pairs), k + len(pairs)))
        matrix[:k, :k] = -n * precision
        for a, one in enumerate(moved):
            matrix[:k, k + a] = matrix[k + a, :k] = -(one @ precision @ total)
            for b, other in enumerate(moved):
                both = n * np.trace(other @ one) - np.trace(other @ one @ outer) - np.trace(one @ other @ outer)
                matrix[k + a, k + b] = 0.5 * both
        names = (*(f"mean_{i}" for i in range(k)), *(f"covariance_{i}{j}" for i, j in pairs))
        return names, gradient, matrix

    # -- the conjugate prior ------------------------------------------------------------------------------------
    def posterior(self, statistic: Scatter, prior: NormalInverseWishart) -> NormalInverseWishart:
        """strength + n, df + n, scale + sum (x - xbar)(x - xbar)' + strength n / (strength + n) gap gap'."""
        before = prior.over(statistic.total.shape[0])
        n, added = statistic.weight.to_floats(), _added_scale(statistic, before)
        mean, mean_low = mean_between(
            n[:, None], _means(statistic), np.asarray(before.strength)[:, None], (before.mean, before.mean_low)
        )
        return NormalInverseWishart(mean, before.strength + n, before.df + n, before.scale + added, mean_low)

    def log_marginal(self, statistic: Scatter, prior: NormalInverseWishart) -> FloatArray:
        """(n_groups,) log Gamma_d(f'/2) / Gamma_d(f/2) + f/2 log|S| - f'/2 log|S'| + d/2 log(k / k') - nd/2 log pi."""
        before, n = prior.over(statistic.total.shape[0]), statistic.weight.to_floats()
        d, added = prior.n_columns, _added_scale(statistic, before)
        growth, log_root = np.empty(len(n)), np.empty(len(n))
        for group, factor in enumerate(before.factors()):
            half = factor.whiten(added[group] / factor.stddev).T / factor.stddev
            growth[group] = np.log1p(np.maximum(np.linalg.eigvalsh(factor.whiten(half)), 0.0)).sum()  # log|S'| / |S|
            log_root[group] = factor.log_root_determinant
        halves = 0.5 * (np.asarray(before.df)[:, None] - np.arange(d))  # (n_groups, n_columns)
        log_gammas = log_gamma_ratio(halves, 0.5 * n[:, None]).sum(axis=1)
        log_scales = -0.5 * before.df * growth - n * (log_root + 0.5 * growth)
        return np.asarray(log_gammas + log_scales - 0.5 * d * (np.log1p(n / before.strength) + n * LOG_PI))

    def log_predictive(self, posterior: NormalInverseWishart, x: ArrayLike) -> FloatArray:
        """(n_rows, n_groups) Student-t with df - d + 1 degrees of freedom, proportional to (1 + q)^-(df + 1)/2.

        q = (x - mean)' scale^-1 (x - mean) strength / (strength + 1).
        """
        rows, d = np.asarray(x, dtype=np.float64), posterior.n_columns
        low = np.broadcast_to(posterior.mean_low, posterior.mean.shape)
        shape = 0.5 * (np.asarray(posterior.df) - d + 1.0)  # (n_groups,)
        width = np.sqrt(1.0 + 1.0 / np.asarray(posterior.strength))
        log_norm = log_gamma_ratio(shape, 0.5 * d) - 0.5 * d * LOG_PI - d * np.log(width)
        log_p = np.empty((len(rows), len(posterior.mean)))
        for group, factor in enumerate(posterior.factors()):
            distance = _distances(rows, posterior.mean[group], low[group], factor)
            log_tail = (shape[group] + 0.5 * d) * log_one_plus_square(distance, width[group])
            log_p[:, group] = log_norm[group] - factor.log_root_determinant - log_tail
        return log_p

    def sample_prior(
        self, prior: NormalInverseWishart, size: int, generator: np.random.Generator
    ) -> MultivariateNormalParameters:
        """Draws of mean and covariance from the prior (or a posterior)."""
        df = np.asarray(prior.df)
        drawn = [factor.inverse_wishart(f, size, generator) for f, factor in zip(df, prior.factors(), strict=True)]
        stddev, correlation, errors = (np.stack(part, axis=1) for part in zip(*drawn, strict=True))
        mean = prior.mean + errors / np.sqrt(np.asarray(prior.strength))[:, None]
        return MultivariateNormalParameters(mean, stddev, correlation, prior.mean_low)


def _means(statistic: Scatter) -> tuple[FloatArray, FloatArray]:
    """(n_groups, n_columns) the means as high + low, 0 for a group without rows."""
    seen = np.flatnonzero(~statistic.weight.is_zero())
    high, low = np.zeros(statistic.total.shape), np.zeros(statistic.total.shape)
    high[seen], low[seen] = statistic.take(seen).mean_pair()
    return high, low


def _added_scale(statistic: Scatter, prior: NormalInverseWishart) -> FloatArray:
    """(n_groups, n_columns, n_columns) what the rows add to the scale of the prior."""
    n, strength = statistic.weight.to_floats(), np.asarray(prior.strength)
    seen = np.flatnonzero(n > 0)
    share = np.sqrt(strength * (n / (strength + n)))
    added = np.zeros((len(n), prior.n_columns, prior.n_columns))
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (gap_between(_means(statistic), (prior.mean, prior.mean_low)) * share[:, None])[seen]
        added[seen] = n[seen, None, None] * statistic.take(seen).covariance("n") + gap[:, :, None] * gap[:, None, :]
    refuse_overflow(added)
    return added


def _distances(rows: FloatArray, mean: FloatArray, mean_low: FloatArray, factor: Factor) -> FloatArray:
    """(n_rows,) sqrt((x - mean)' covariance^-1 (x - mean)), without overflow in the squares."""
    distances = np.empty(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        scores = standard_scores(rows[block], mean, mean_low, factor.stddev)
        missing, infinite = np.asarray(np.isnan(scores).any(axis=1)), np.asarray(np.isinf(scores).any(axis=1))
        distance = factor.distances(np.where((missing | infinite)[:, None], 0.0, scores))
        distances[block] = np.where(missing, np.nan, np.where(infinite, np.inf, distance))
    return distances
