"""From moments and settings to densities: where the statistic meets the prior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayeswise.families.arithmetic.stable_functions import gap_between, mean_between
from bayeswise.families.continuous.normal_inverse_wishart import NormalInverseWishart
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooFewRowsError
from bayeswise.models.gaussian_bayes.class_moments import ClassMoments, Columns, diagonals
from bayeswise.models.gaussian_bayes.covariance import (
    CovarianceFactor,
    diagonal_factor,
    factor_of,
    oracle_shrinkage,
    spherical_factor,
)
from bayeswise.models.gaussian_bayes.densities import Densities
from bayeswise.models.settings.gaussian import GaussianBayesSettings

_ORDINARY = 2.0**400


@dataclass(frozen=True)
class Estimate:
    """Mean and scale of each class; the covariance is scale / divisor."""

    mean: FloatArray  # (n_states, n_columns)
    mean_low: FloatArray  # (n_states, n_columns)
    strength: FloatArray  # (n_states,) rows behind each mean, pseudo-rows too
    scale: FloatArray  # (n_states, n_columns, n_columns) in units, or diagonals; one for all states where it is shared
    divisor: FloatArray  # (n_states,)
    df: FloatArray  # (n_states,) of the Student-t predictive


def densities(moments: ClassMoments, settings: GaussianBayesSettings, names: tuple[str, ...]) -> Densities:
    """The densities of all classes."""
    estimate = estimated(moments, settings)
    spreads = _factors(estimate, moments, settings)
    df = None
    if settings.predictive == "student-t":
        _refuse_too_few(estimate.df)
        df = estimate.df
        factor = (1.0 + 1.0 / estimate.strength) * estimate.divisor / df
        spreads = tuple(spread.times(float(f)) for spread, f in zip(spreads, factor, strict=True))
    c = moments.columns
    centre = np.stack([c.centre, c.centre_low])
    if _is_ordinary(c):
        spreads = _each(spreads, lambda spread: spread.in_units_of(c.unit))
        return Densities(names, centre, estimate.mean, estimate.mean_low, spreads, df)
    mean = c.in_units(estimate.mean, estimate.mean_low)
    return Densities(names, np.zeros_like(centre), mean, np.zeros_like(mean), spreads, df, c)


def _each(
    spreads: tuple[CovarianceFactor, ...], change: Callable[[CovarianceFactor], CovarianceFactor]
) -> tuple[CovarianceFactor, ...]:
    """A change of each spread; what was one object stays one."""
    changed = {id(spread): change(spread) for spread in spreads}
    return tuple(changed[id(spread)] for spread in spreads)


def estimated(moments: ClassMoments, settings: GaussianBayesSettings) -> Estimate:
    """Means and scales; the posterior ones under a prior, those of the rows without."""
    weight, d = moments.weight, moments.mean.shape[1]
    n_seen = float((weight > 0).sum())
    scale, rows = moments.scatter, weight
    mean, mean_low, strength = moments.mean, moments.mean_low, weight
    df = weight - 1.0  # Jeffreys' prior
    if settings.prior is not None:
        mean, mean_low, scale = _with_prior(moments, settings.prior)
        strength = weight + settings.prior.strength
        df = weight + settings.prior.df
    if settings.is_shared:
        rows = np.full_like(weight, weight.sum())
        shared = scale.sum(axis=0)
        df = rows - n_seen
        if settings.prior is not None:
            shared = shared - (len(weight) - 1) * _prior_scale(settings.prior, moments.columns)
            df = rows + settings.prior.df
        scale = np.broadcast_to(shared, scale.shape)
    divisor = _divisor(rows, df, n_seen, d, settings)
    return Estimate(mean, mean_low, strength, scale, divisor, df - d + 1.0)


def _divisor(rows: FloatArray, df: FloatArray, n_seen: float, d: int, settings: GaussianBayesSettings) -> FloatArray:
    if settings.prior is not None:
        divisor = np.asarray(df - d - 1.0)
        if settings.predictive == "student-t":
            return np.maximum(divisor, 1.0)
        if not (divisor > 0).all():
            raise ParameterError(f"the posterior mean of the covariance needs df above {d + 1}", fix="raise prior.df")
        return divisor
    less = {"n": 0.0, "n-1": 1.0, "n-K": n_seen if settings.is_shared else 1.0}[settings.variance_divisor]
    return np.asarray(rows - less)


def _with_prior(moments: ClassMoments, prior: NormalInverseWishart) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Posterior means as high + low, and posterior scales: scale + scatter + k n / (k + n) gap gap'."""
    n, strength = moments.weight, float(np.asarray(prior.strength)[0])
    if prior.n_columns != moments.mean.shape[1]:
        raise ParameterError(f"the prior has {prior.n_columns} columns, the table {moments.mean.shape[1]}")
    before = (np.asarray(prior.mean), np.asarray(prior.mean_low))
    own = (moments.mean, moments.mean_low)
    mean, mean_low = mean_between(n[:, None], own, strength, before)
    gap = gap_between(own, before) / moments.columns.unit * np.sqrt(strength * n / (strength + n))[:, None]
    added = gap[:, :, None] * gap[:, None, :]
    return mean, mean_low, _prior_scale(prior, moments.columns) + moments.scatter + added


def _prior_scale(prior: NormalInverseWishart, columns: Columns) -> FloatArray:
    return np.asarray(np.asarray(prior.scale)[0] / columns.unit[:, None] / columns.unit)


def _factors(
    estimate: Estimate, moments: ClassMoments, settings: GaussianBayesSettings
) -> tuple[CovarianceFactor, ...]:
    made: list[CovarianceFactor] = []
    for state, (scale, divisor) in enumerate(zip(estimate.scale, estimate.divisor, strict=True)):
        if state and settings.is_shared:
            made.append(made[0])
        else:
            n = float(moments.weight.sum() if settings.is_shared else moments.weight[state])
            made.append(_factor(scale, float(divisor), n, moments, settings))
    return tuple(made)


def _factor(
    scale: FloatArray, divisor: float, n: float, moments: ClassMoments, settings: GaussianBayesSettings
) -> CovarianceFactor:
    """The covariance of one class; where no row is left for a variance it is zero, and gets the floor."""
    columns, floor = moments.columns, settings.variance_floor
    without_rows = n <= 0 and settings.prior is None  # such a class has no evidence
    if not settings.is_full:
        diagonal = diagonals(scale[None])[0]
        variance = columns.stddev**2 if without_rows else diagonal / divisor if divisor > 0 else np.zeros_like(diagonal)
        to_factor = spherical_factor if settings.covariance == "spherical" else diagonal_factor
        return to_factor(variance, columns, variance_floor=floor)
    covariance = scale / divisor if divisor > 0 else np.zeros_like(scale)
    if without_rows:
        covariance = np.diag(columns.stddev**2)
    share = shrinkage_of(covariance, n, settings)
    return factor_of(covariance, columns, shrinkage=share, variance_floor=floor, exact=moments.is_complete)


def shrinkage_of(covariance: FloatArray, n: float, settings: GaussianBayesSettings) -> float:
    """The share that is set, or the one estimated from the correlations."""
    if not isinstance(settings.shrinkage, str):
        return float(settings.shrinkage)
    variance = np.diagonal(covariance)
    varies = np.flatnonzero(variance > 0)
    stddev = np.sqrt(variance[varies])
    return oracle_shrinkage(covariance[np.ix_(varies, varies)] / stddev / stddev[:, None], n)


def _refuse_too_few(df: FloatArray) -> None:
    if not (df > 0).all():
        raise TooFewRowsError(
            "the Student-t predictive needs more rows of each class than there are columns",
            fix='give a prior, choose covariance="shared", or predictive="plug-in"',
        )


def _is_ordinary(columns: Columns) -> bool:
    """Whether 1 / stddev and x - mean stay well within the range of floats."""
    unit, centre = columns.unit, np.abs(columns.centre)
    return bool((unit > 1.0 / _ORDINARY).all() and (unit < _ORDINARY).all() and (centre < _ORDINARY).all())
