"""Leaving rows out of variances and of shrunk covariances: every entry is downdated, and factored again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeswise.families.arithmetic.deviations import standard_scores
from bayeswise.families.arithmetic.special import HALF_LOG_TWO_PI
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.models.gaussian_bayes.building import Estimate

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes.model import GaussianBayesModel


def entries_left_out(
    model: GaussianBayesModel,
    estimate: Estimate,
    values: FloatArray,
    groups: CodeArray,
    weights: FloatArray,
    least_ratio: float,
) -> FloatArray:
    """(n_rows, n_states) log-densities in units, each row left out; NaN where too few digits would be left."""
    shared, n_states = model.settings.is_shared, len(model.classes)
    log_p = np.zeros((len(values), n_states)) if shared else model.densities.log_density(values)
    if not shared:
        log_p += np.log(model.moments.columns.unit).sum()
    for group in np.unique(groups).tolist():
        rows = np.flatnonzero(groups == group)
        away = np.stack([_deviations(model, values[rows], state) for state in range(n_states)])
        n, w = estimate.strength[group], weights[rows]
        divisor = estimate.divisor[group] - w
        usable = (n > w) & (divisor > 0)
        safe_divisor, left = np.where(usable, divisor, 1.0), np.where(n > w, n - w, 1.0)
        own = away[group].copy()
        step = w * n / left
        away[group] = own * (n / left)[:, None]
        states = np.arange(n_states) if shared else np.array([group])
        scale = estimate.scale[group]
        changed, enough = _log_densities(model, scale, own, step, safe_divisor, away[states], least_ratio)
        changed[~(usable & enough)] = np.nan
        log_p[np.ix_(rows, states)] = changed
    return log_p


def _deviations(model: GaussianBayesModel, values: FloatArray, state: int) -> FloatArray:
    moments = model.moments
    return standard_scores(values, moments.mean[state], moments.mean_low[state], moments.columns.unit)


def _log_densities(
    model: GaussianBayesModel,
    scale: FloatArray,
    own: FloatArray,
    step: FloatArray,
    divisor: FloatArray,
    away: FloatArray,
    least_ratio: float,
) -> tuple[FloatArray, BoolArray]:
    """(n_rows, n_chosen) log-densities of deviations (n_chosen, n_rows, n_columns), and which rows to trust."""
    before = np.diagonal(scale)
    variance = before - step[:, None] * own**2  # (n_rows, n_columns), times the divisor
    enough = np.asarray((variance > least_ratio * before).all(axis=1))
    variance = np.where(variance > 0, variance, 1.0) / divisor[:, None]
    if model.settings.covariance == "spherical":
        variance = spherical(variance, model.moments.columns.unit)
    scores: FloatArray = away / np.sqrt(variance)
    log_root = 0.5 * np.log(variance).sum(axis=1)
    if model.settings.is_full:
        lower = _factors(model, scale, own, step, divisor, variance)
        scores = np.asarray(np.linalg.solve(lower, scores.transpose(1, 2, 0)).transpose(2, 0, 1), dtype=np.float64)
        log_root += np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    log_p = -0.5 * (scores**2).sum(axis=2).T - log_root[:, None] - away.shape[2] * HALF_LOG_TWO_PI
    return np.asarray(log_p), enough


def spherical(variance: FloatArray, unit: FloatArray) -> FloatArray:
    """One variance for all columns, in the units of each."""
    width = unit / unit.max(initial=5e-324)
    common = (variance * width**2).mean(axis=1, keepdims=True)
    return np.asarray(common / width**2)


def _factors(
    model: GaussianBayesModel,
    scale: FloatArray,
    own: FloatArray,
    step: FloatArray,
    divisor: FloatArray,
    variance: FloatArray,
) -> FloatArray:
    """(n_rows, n_columns, n_columns) Cholesky factors of the shrunk correlations."""
    stddev = np.sqrt(variance)
    covariance = (scale - step[:, None, None] * own[:, :, None] * own[:, None, :]) / divisor[:, None, None]
    correlation = covariance / stddev[:, :, None] / stddev[:, None, :]
    diagonal = np.arange(len(scale))
    correlation[:, diagonal, diagonal] = 1.0
    asked = model.settings.shrinkage
    share = _oracle(correlation, _rows_left(model, divisor)) if isinstance(asked, str) else np.full(len(own), asked)
    correlation *= (1.0 - share)[:, None, None]
    correlation[:, diagonal, diagonal] = 1.0
    return np.asarray(np.linalg.cholesky(correlation))


def _rows_left(model: GaussianBayesModel, divisor: FloatArray) -> FloatArray:
    """n that belongs to a divisor of n, n-1 or n-K."""
    n_seen = float((model.class_weight > 0).sum()) if model.settings.is_shared else 1.0
    return divisor + {"n": 0.0, "n-1": 1.0, "n-K": n_seen}[model.settings.divisor]


def _oracle(correlation: FloatArray, n: FloatArray) -> FloatArray:
    d = correlation.shape[1]
    if d < 2:
        return np.zeros(len(correlation))
    alpha = np.mean(correlation**2, axis=(1, 2))
    excess = (n + 1.0) * (alpha - 1.0 / d)
    safe = np.where(excess > 0, excess, 1.0)
    return np.where(excess > 0, np.minimum(1.0, (alpha + 1.0) / safe), 1.0)
