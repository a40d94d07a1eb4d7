"""Leaving rows out of variances where cells are missing: every column has its own rows, and is downdated by itself.

With n cells of a class in a column, their mean m and variance v, a cell x of weight w that leaves makes

    n' = n - w        m' = m - w (x - m) / n'        v' = (n v - w n / n' (x - m)^2) / n'

and a missing cell changes nothing but the number of rows, from which the divisor comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeswise.families.deviations import standard_scores
from bayeswise.families.special import HALF_LOG_TWO_PI
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.models.gaussian_bayes.building import Estimate
from bayeswise.models.gaussian_bayes.left_out_entries import spherical

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes.model import GaussianBayesModel


def cells_left_out(
    model: GaussianBayesModel,
    estimate: Estimate,
    values: FloatArray,
    groups: CodeArray,
    weights: FloatArray,
    least_ratio: float,
) -> FloatArray:
    """(n_rows, n_states) log-densities in units, each row left out; NaN where too few digits would be left."""
    moments, n_states = model.moments, len(model.classes)
    there = ~np.isnan(values)
    n_cells = model.scatter.cells()[0].to_floats()  # (n_states, n_columns)
    own_variance = np.diagonal(moments.scatter, axis1=1, axis2=2) / moments.weight[:, None]
    away = np.stack([_deviations(model, values, state) for state in range(n_states)])  # (n_states, n_rows, n_columns)
    every, w = np.arange(len(values)), weights[:, None]
    n, variance = n_cells[groups], own_variance[groups]  # (n_rows, n_columns)
    left = n - np.where(there, w, 0.0)
    safe = np.where(left > 0, left, 1.0)
    own = np.where(there, away[groups, every], 0.0)
    changed = np.where(there, (n * variance - w * n / safe * own**2) / safe, variance)
    enough = ((left > 0) & (changed > least_ratio * variance)).all(axis=1)
    away[groups, every] = own * n / safe
    scale = (moments.weight[groups] - weights)[:, None] * np.where(changed > 0, changed, 1.0)
    if model.settings.is_shared:
        others = moments.weight[:, None] * own_variance
        scale = scale + others.sum(axis=0) - others[groups]
    log_p = _log_densities(model, estimate, scale, away, there, groups, weights)
    return np.where((enough & (estimate.divisor[groups] > weights))[:, None], log_p, np.nan)


def _log_densities(
    model: GaussianBayesModel,
    estimate: Estimate,
    scale: FloatArray,
    away: FloatArray,
    there: BoolArray,
    groups: CodeArray,
    weights: FloatArray,
) -> FloatArray:
    """(n_rows, n_states) of deviations (n_states, n_rows, n_columns), over the cells that are there."""
    divisor = estimate.divisor[groups] - weights
    variance = scale / np.where(divisor > 0, divisor, 1.0)[:, None]  # (n_rows, n_columns) of the row's own class
    if model.settings.covariance == "spherical":
        variance = spherical(variance, model.moments.columns.unit)
    every = np.arange(len(groups))
    as_it_was = np.stack([spread.stddev**2 for spread in model.densities.spreads])
    if model.densities.frame is None:
        as_it_was = as_it_was / model.moments.columns.unit**2
    variances = np.repeat(as_it_was[:, None, :], len(groups), axis=1)  # (n_states, n_rows, n_columns)
    if model.settings.is_shared:
        variances[:] = variance
    else:
        variances[groups, every] = variance
    terms = -0.5 * away**2 / variances - 0.5 * np.log(variances) - HALF_LOG_TWO_PI
    return np.asarray(np.where(there, terms, 0.0).sum(axis=2).T)


def _deviations(model: GaussianBayesModel, values: FloatArray, state: int) -> FloatArray:
    moments = model.moments
    away = standard_scores(values, moments.mean[state], moments.mean_low[state], moments.columns.unit)
    return np.where(np.isnan(values), 0.0, away)
