"""Each row under the model that never saw it, without refitting.

Taking a row with weight w out of a class of strength n and mean m is a downdate of rank one: with d = x - m and
c = w n / (n - w) the scale S becomes S - c dd', so that for r = 1 - c d' S^-1 d

    det S' = r det S        d' S'^-1 d = d' S^-1 d / r        x - m' = d n / (n - w)

and, where S is shared, e' S'^-1 e = e' S^-1 e + c (e' S^-1 d)^2 / r for the deviation e from another class. Variances
and shrunk covariances are downdated entry by entry. Where that would lose digits (r near 0: the row carries a direction
of the covariance by itself) or a covariance is singular, the exact statistic is subtracted and the model is made again
for that row, which takes milliseconds instead of microseconds. Where cells are missing, variances are downdated cell by
cell, and full covariances, which EM completed, are completed again from where they were (left_out_entries.py): also
milliseconds for each row. Where a class has about as many rows as columns EM starts again and takes many more steps, in
which it completes the tables without each of several rows together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.engines import summarise
from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, log_gamma_ratio
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.models.gaussian_bayes.building import Estimate, densities, estimated
from bayeswise.models.gaussian_bayes.class_moments import class_moments_of_each
from bayeswise.models.gaussian_bayes.densities import LOG_PI, Densities
from bayeswise.models.gaussian_bayes.left_out_entries import (
    LEAST_RATIO,
    Leaving,
    cells_left_out,
    completed_left_out,
    entries_left_out,
    rows_at_once,
)
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes.model import GaussianBayesModel

_BLOCK = 4096


def log_joint_left_out(model: GaussianBayesModel, batch: Batch) -> FloatArray:
    """(n_rows, n_states) log p(state) + log p(row | state), the row itself left out; up to a number for each row."""
    joint = _log_joint_in_closed_form(model, batch)
    given = model.settings.class_prior is not None
    for others in _made_again(model, batch, np.flatnonzero(np.isnan(joint).any(axis=1))):
        joint[others.row] = -np.inf  # a class that vanishes is impossible
        if others.densities is not None:
            positions = others.model.statistics.labels.positions_in(model.statistics.labels)
            joint[others.row, positions] = others.densities.relative(others.cells)[0]
            joint[others.row, positions] += model.log_prior[positions] if given else others.model.log_prior
    return joint


def log_evidence_left_out(model: GaussianBayesModel, batch: Batch) -> FloatArray:
    """(n_rows,) log p(row) under the model that never saw it; minus infinity where no other row is left."""
    joint = _log_joint_in_closed_form(model, batch)
    again = np.isnan(joint).any(axis=1)
    log_units = np.log(model.moments.columns.unit) if _is_in_units(model) else np.zeros(len(model.columns))
    log_evidence: FloatArray = log_sum_exp(joint) - np.where(np.isnan(batch.values), 0.0, log_units).sum(axis=1)
    for others in _made_again(model, batch, np.flatnonzero(again)):
        log_evidence[others.row] = -np.inf
        if others.densities is not None:
            log_evidence[others.row] = others.densities.log_evidence(others.cells, others.model.log_prior)[0]
    return log_evidence


def _log_joint_in_closed_form(model: GaussianBayesModel, batch: Batch) -> FloatArray:
    """(n_rows, n_states); NaN in rows for which the model must be made again."""
    groups = model.groups_of(batch)
    weights = batch.row_weights
    left = np.broadcast_to(model.class_weight, (batch.n_rows, len(model.classes))).copy()
    left[np.arange(batch.n_rows), groups] -= weights
    leaving = Leaving(batch.values, groups, weights)
    joint = np.full(left.shape, np.nan)
    if _has_closed_form(model):
        for rows, log_density in _closed_form(model, leaving):
            joint[rows] = log_density
        vanished = left[np.arange(batch.n_rows), groups] <= 0
        joint += model.log_prior_of(np.where(vanished[:, None], 1.0, left))
        joint[vanished] = np.nan
    return joint


def _has_closed_form(model: GaussianBayesModel) -> bool:
    if any(spread.is_singular for spread in model.densities.spreads):
        return False
    return not (model.settings.is_bayesian and model.settings.shrinkage != 0)


def _closed_form(model: GaussianBayesModel, leaving: Leaving) -> Iterator[tuple[slice, FloatArray]]:
    """Log-densities, block by block; NaN in rows for which the closed form is not exact enough."""
    estimate = estimated(model.moments, model.settings)
    by_entries = _by_entries(model)
    width = len(model.columns) * (len(model.columns) if model.settings.is_full else len(model.classes))  # of a row
    size = max(64, min(_BLOCK, (1 << 22) // max(1, width))) if by_entries else _BLOCK
    for start in range(0, len(leaving), size):
        rows = slice(start, min(start + size, len(leaving)))
        part = leaving[rows]
        if model.has_missing and model.settings.is_full:
            yield rows, completed_left_out(model, part)
        elif model.has_missing:
            yield rows, cells_left_out(model, estimate, part)
        elif by_entries:
            yield rows, entries_left_out(model, estimate, part)
        else:
            yield rows, _downdated(model, estimate, part)


def _is_in_units(model: GaussianBayesModel) -> bool:
    """Whether the closed forms count in units of the columns."""
    if model.has_missing and model.settings.is_full:
        return False
    return _by_entries(model) or model.densities.frame is not None


def _by_entries(model: GaussianBayesModel) -> bool:
    return not model.settings.is_full or model.settings.shrinkage != 0


def _downdated(model: GaussianBayesModel, estimate: Estimate, leaving: Leaving) -> FloatArray:
    """(n_rows, n_states) log-densities after a downdate of rank one."""
    d, n_states = len(model.columns), len(model.classes)
    every = np.arange(len(leaving))
    groups, w = leaving.groups, leaving.weights
    factor = _covariance_factor(estimate, model)  # (n_states,) covariance = scale * factor
    own = model.densities.squared_distances(leaving.values) * factor  # (n_rows, n_states) in the metric of the scale
    strength = estimate.strength[groups]
    with np.errstate(divide="ignore", invalid="ignore"):
        c = w * strength / (strength - w)
        ratio = 1.0 - c * own[every, groups]
        usable = (strength > w) & (ratio > LEAST_RATIO)
        squares = own.copy()
        if model.settings.is_shared:
            inner = 0.5 * (own + own[every, groups][:, None] - _squared_distances(model, factor)[groups])
            squares += (c / ratio)[:, None] * inner**2
        squares[every, groups] = (strength / (strength - w)) ** 2 * own[every, groups] / ratio
    log_roots = np.array([s.log_root_determinant for s in model.densities.spreads]) - 0.5 * d * np.log(factor)
    log_root = np.broadcast_to(log_roots, own.shape).copy()
    touched = np.ones((1, n_states), bool) if model.settings.is_shared else groups[:, None] == np.arange(n_states)
    log_ratio = np.log(np.where(usable, ratio, 1.0))
    log_root += np.where(touched, 0.5 * log_ratio[:, None], 0.0)
    rows_left = np.where(touched, w[:, None], 0.0)
    mean_left = np.where(groups[:, None] == np.arange(n_states), w[:, None], 0.0)
    log_p = _log_density(model, estimate, squares, log_root, rows_left, mean_left)
    log_p[~usable] = np.nan
    return log_p


def _log_density(
    model: GaussianBayesModel,
    estimate: Estimate,
    squares: FloatArray,
    log_root: FloatArray,
    rows_left: FloatArray,
    mean_left: FloatArray,
) -> FloatArray:
    """Densities from squares and determinants in the metric of the scale, with the divisors of the rows that stay."""
    d = len(model.columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        if model.settings.predictive == "plug-in":
            divisor = estimate.divisor - rows_left
            log_p = -0.5 * squares * divisor - log_root + 0.5 * d * np.log(divisor) - d * HALF_LOG_TWO_PI
            return np.asarray(np.where(divisor > 0, log_p, np.nan))
        df = estimate.df - rows_left
        strength = estimate.strength - mean_left
        width = 1.0 + 1.0 / strength
        log_gammas = np.asarray(log_gamma_ratio(0.5 * np.where(df > 0, df, 1.0), 0.5 * d))
        log_p = log_gammas - log_root - 0.5 * d * (LOG_PI + np.log(width))
        log_p = log_p - 0.5 * (df + d) * np.log1p(squares / width)
        return np.asarray(np.where(df > 0, log_p, np.nan))


def _covariance_factor(estimate: Estimate, model: GaussianBayesModel) -> FloatArray:
    """(n_states,) what the scale is multiplied by to give the matrix of the densities."""
    if model.settings.predictive == "plug-in":
        return np.asarray(1.0 / estimate.divisor)
    return np.asarray((1.0 + 1.0 / estimate.strength) / estimate.df)


def _squared_distances(model: GaussianBayesModel, factor: FloatArray) -> FloatArray:
    """(n_states, n_states) squared distances of the means from each other in the metric of the scale."""
    densities = model.densities
    gap = (densities.mean[:, None] - densities.mean) + (densities.mean_low[:, None] - densities.mean_low)
    spread = densities.spreads[0]
    white = spread.whitened(gap / spread.stddev)
    return np.asarray((white**2).sum(axis=2) * factor[0])


@dataclass(frozen=True)
class _Others:
    """A row, and the model of all others."""

    row: int
    cells: FloatArray  # (1, n_columns)
    model: GaussianBayesModel
    densities: Densities | None  # None where no class is left


def _made_again(model: GaussianBayesModel, batch: Batch, rows: IntArray) -> Iterator[_Others]:
    """The models of all rows but one, for each of some rows; where cells are missing EM completes several together."""
    at_once = rows_at_once(model) if model.has_missing and model.settings.is_full else 1
    for some in (rows[k : k + at_once].tolist() for k in range(0, len(rows), at_once)):
        smaller = [_without(model, batch.rows(slice(row, row + 1))) for row in some]
        sums = [each.sums for each in smaller if each.classes]
        moments = iter(class_moments_of_each(sums, model.settings.covariance))
        for row, each in zip(some, smaller, strict=True):
            found = densities(next(moments), each.settings, each.columns) if each.classes else None
            yield _Others(row, batch.values[row : row + 1], each, found)


def _without(model: GaussianBayesModel, row: Batch) -> GaussianBayesModel:
    gone = summarise([row], model.schema, model.request()).statistics
    return replace(model, statistics=model.statistics.subtract(gone))
