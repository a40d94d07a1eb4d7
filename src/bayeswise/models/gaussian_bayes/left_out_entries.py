"""Leaving rows out of variances and of shrunk covariances: every entry is downdated, and factored again.

Where EM completed rows with missing cells there is no closed form, as EM has none. But the sums of all other patterns
stay, only the class of the row moves (all of them where the covariance is shared), and it moves little, so that a few
steps from where EM was do what a fit from nothing does in many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, standard_scores
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.gaussian_bayes.building import Estimate, densities
from bayeswise.models.gaussian_bayes.class_moments import ClassMoments, diagonals, pattern_moments
from bayeswise.models.gaussian_bayes.em import Completion, Incomplete, PatternMoments, complete
from bayeswise.statistics.numbers.pattern_scatter import pattern_of

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes.model import GaussianBayesModel

LEAST_RATIO = 1e-3
"""Where less than this is left of a determinant or a variance, digits are lost and the model is made again."""
_ROWS_TOGETHER = 64  # that EM leaves out at once
_CELLS_TOGETHER = 1 << 22  # of the scatters of all their patterns


@dataclass(frozen=True)
class Leaving:
    """Rows that leave: their cells, the class of each and its weight."""

    values: FloatArray  # (n_rows, n_columns)
    groups: CodeArray  # (n_rows,)
    weights: FloatArray  # (n_rows,)

    def __getitem__(self, rows: slice) -> Leaving:
        return Leaving(self.values[rows], self.groups[rows], self.weights[rows])

    def __len__(self) -> int:
        return len(self.groups)


def entries_left_out(model: GaussianBayesModel, estimate: Estimate, leaving: Leaving) -> FloatArray:
    """(n_rows, n_states) log-densities in units, each row left out; NaN where too few digits would be left."""
    values, groups, weights = leaving.values, leaving.groups, leaving.weights
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
        changed, enough = _log_densities(model, _Downdate(scale, own, step, safe_divisor), away[states])
        changed[~(usable & enough)] = np.nan
        log_p[np.ix_(rows, states)] = changed
    return log_p


@dataclass(frozen=True)
class _Downdate:
    """The scale of a class without each of its rows: (scale - step own own') / divisor."""

    scale: FloatArray  # (n_columns, n_columns), or its diagonal
    own: FloatArray  # (n_rows, n_columns) deviations from the mean of the class
    step: FloatArray  # (n_rows,)
    divisor: FloatArray  # (n_rows,)


def _deviations(model: GaussianBayesModel, values: FloatArray, state: int) -> FloatArray:
    moments = model.moments
    return standard_scores(values, moments.mean[state], moments.mean_low[state], moments.columns.unit)


def _log_densities(model: GaussianBayesModel, left: _Downdate, away: FloatArray) -> tuple[FloatArray, BoolArray]:
    """(n_rows, n_chosen) log-densities of deviations (n_chosen, n_rows, n_columns), and which rows to trust."""
    before = diagonals(left.scale[None])[0]
    variance = before - left.step[:, None] * left.own**2  # (n_rows, n_columns), times the divisor
    enough = np.asarray((variance > LEAST_RATIO * before).all(axis=1))
    variance = np.where(variance > 0, variance, 1.0) / left.divisor[:, None]
    if model.settings.covariance == "spherical":
        variance = spherical(variance, model.moments.columns.unit)
    scores: FloatArray = away / np.sqrt(variance)
    log_root = 0.5 * np.log(variance).sum(axis=1)
    if model.settings.is_full:
        lower, proper = _factors(model, left, np.sqrt(variance))
        enough &= proper
        scores = np.asarray(np.linalg.solve(lower, scores.transpose(1, 2, 0)).transpose(2, 0, 1), dtype=np.float64)
        log_root += np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    log_p = -0.5 * (scores**2).sum(axis=2).T - log_root[:, None] - away.shape[2] * HALF_LOG_TWO_PI
    return np.asarray(log_p), enough


def spherical(variance: FloatArray, unit: FloatArray) -> FloatArray:
    """One variance for all columns, in the units of each."""
    width = unit / unit.max(initial=5e-324)
    common = (variance * width**2).mean(axis=1, keepdims=True)
    return np.asarray(common / width**2)


def _factors(model: GaussianBayesModel, left: _Downdate, stddev: FloatArray) -> tuple[FloatArray, BoolArray]:
    """(n_rows, n_columns, n_columns) Cholesky factors of the shrunk correlations, and which rows have one.

    Without a row that is not among those that were learned, correlations need not be any.
    """
    scale, own = left.scale, left.own
    covariance = scale - left.step[:, None, None] * own[:, :, None] * own[:, None, :]
    covariance /= left.divisor[:, None, None]
    correlation = covariance / stddev[:, :, None] / stddev[:, None, :]
    diagonal = np.arange(len(scale))
    correlation[:, diagonal, diagonal] = 1.0
    given = model.settings.shrinkage
    share = (
        _oracle(correlation, _rows_left(model, left.divisor)) if isinstance(given, str) else np.full(len(own), given)
    )
    correlation *= (1.0 - share)[:, None, None]
    correlation[:, diagonal, diagonal] = 1.0
    try:
        return np.asarray(np.linalg.cholesky(correlation)), np.ones(len(own), dtype=bool)
    except np.linalg.LinAlgError:
        proper = np.asarray(np.linalg.eigvalsh(correlation)[:, 0] > len(scale) * np.finfo(float).eps)
        correlation[~proper] = np.eye(len(scale))
        return np.asarray(np.linalg.cholesky(correlation)), proper


def _rows_left(model: GaussianBayesModel, divisor: FloatArray) -> FloatArray:
    """n that belongs to a divisor of n, n-1 or n-K."""
    n_seen = float((model.class_weight > 0).sum()) if model.settings.is_shared else 1.0
    return divisor + {"n": 0.0, "n-1": 1.0, "n-K": n_seen}[model.settings.variance_divisor]


def _oracle(correlation: FloatArray, n: FloatArray) -> FloatArray:
    d = correlation.shape[1]
    if d < 2:
        return np.zeros(len(correlation))
    alpha = np.mean(correlation**2, axis=(1, 2))
    excess = (n + 1.0) * (alpha - 1.0 / d)
    safe = np.where(excess > 0, excess, 1.0)
    return np.where(excess > 0, np.minimum(1.0, (alpha + 1.0) / safe), 1.0)


def completed_left_out(model: GaussianBayesModel, leaving: Leaving) -> FloatArray:
    """(n_rows, n_states) log-densities, each row left out; NaN where the statistic itself must be taken apart.

    Several rows are completed together. Where classes have covariances of their own, each row of a class is a class
    without that row; where they share one, each row is a table without it.
    """
    values, groups, weights = leaving.values, leaving.groups, leaving.weights
    patterns = pattern_moments(model.scatter, model.moments.columns)
    columns = model.moments.columns
    names = [pattern_of(np.isin(np.arange(values.shape[1]), each.observed[0])) for each in patterns]
    cells = standard_scores(values, columns.centre, columns.centre_low, columns.unit)
    log_p = np.full((len(values), len(model.classes)), np.nan)
    places = np.array([names.index(pattern_of(there)) for there in ~np.isnan(values)], dtype=np.int64)
    stays = np.flatnonzero(model.class_weight[groups] > weights)
    shared = model.settings.is_shared
    there = ~np.isnan(values)
    for rows in _chunks(stays, rows_at_once(model)) if shared else _alike(model, stays, groups):
        every = patterns if shared else [_of_states(each, groups[rows].astype(np.int64)) for each in patterns]
        left = [list(every) for _ in rows] if shared else [every] * len(rows)
        for k, row in enumerate(rows.tolist()):
            state = int(groups[row]) if shared else k
            at = places[row]
            left[k][at] = _without(left[k][at], state, weights[row], cells[row, there[row]])
        moments = _moments(model, left if shared else [every], groups[rows], weights[rows])
        for row, moment in zip(rows.tolist(), moments, strict=True):
            found = None if moment is None else densities(moment, model.settings, model.columns)
            if found is not None and not any(spread.is_singular for spread in found.spreads):
                log_p[row] = found.log_density(values[row : row + 1])[0]
    return log_p


def rows_at_once(model: GaussianBayesModel) -> int:
    """As many as share the work of a step of EM, and whose patterns fit into memory together."""
    cells = len(model.classes) * sum(len(observed) ** 2 for observed, _ in model.scatter.by_pattern())
    return max(1, min(_ROWS_TOGETHER, _CELLS_TOGETHER // max(1, cells)))


def _chunks(rows: IntArray, size: int) -> Iterator[IntArray]:
    yield from (rows[k : k + size] for k in range(0, len(rows), size))


def _alike(model: GaussianBayesModel, rows: IntArray, groups: CodeArray) -> Iterator[IntArray]:
    """The rows of each class, some at a time."""
    for group in np.unique(groups[rows]):
        yield from _chunks(rows[groups[rows] == group], rows_at_once(model))


def _without(pattern: PatternMoments, group: int, weight: float, cells: FloatArray) -> PatternMoments:
    """The pattern without one of its rows: a downdate of rank one."""
    weights, mean, scatter = pattern.weight.copy(), pattern.mean.copy(), pattern.scatter.copy()
    n, left = weights[0, group], weights[0, group] - weight
    away = cells - mean[0, group]
    weights[0, group] = max(left, 0.0)
    if left > 0:
        mean[0, group] -= weight / left * away
        scatter[0, group] -= weight * n / left * np.outer(away, away)
    else:
        scatter[0, group] = 0.0
    return PatternMoments(pattern.observed, weights, mean, scatter)


def _moments(
    model: GaussianBayesModel, tables: list[list[PatternMoments]], groups: CodeArray, weights: FloatArray
) -> Iterator[ClassMoments | None]:
    """The moments of all classes without each row, completed again; None where EM did not end.

    There is one table whose classes are those of the rows, each without its row; or a table for each row, of all
    classes, if these share a covariance.
    """
    before, shared = model.moments, model.settings.is_shared
    assert before.completion is not None
    states = np.arange(len(model.classes)) if shared else groups.astype(np.int64)
    start = _start(model, states)
    completed = complete([Incomplete(each, before.columns.stddev, start) for each in tables], shared=shared)
    for k, (group, weight) in enumerate(zip(groups.tolist(), weights.tolist(), strict=True)):
        found, own, changed = completed[0], slice(k, k + 1), states[k : k + 1]
        if shared:
            found, own, changed = completed[k], slice(None), states
        if not found.ended[own].all():
            yield None
            continue
        left, mean, scatter = before.weight.copy(), before.completion.mean.copy(), before.scatter.copy()
        left[group] -= weight
        mean[changed], scatter[changed] = found.mean[own], found.scatter[own]
        high, low = before.columns.from_units(mean)
        completion = Completion(mean, scatter, found.log_likelihood, np.ones(len(mean), dtype=np.bool_))
        yield replace(before, weight=left, mean=high, mean_low=low, scatter=scatter, completion=completion)


def _of_states(pattern: PatternMoments, states: IntArray) -> PatternMoments:
    return PatternMoments(
        pattern.observed, pattern.weight[:, states], pattern.mean[:, states], pattern.scatter[:, states]
    )


def _start(model: GaussianBayesModel, states: IntArray) -> tuple[FloatArray, FloatArray]:
    """The means and covariances of maximum likelihood that all rows together led to."""
    moments = model.moments
    assert moments.completion is not None
    if model.settings.is_shared:
        pooled = moments.scatter.sum(axis=0) / moments.weight.sum()
        return moments.completion.mean, np.repeat(pooled[None], len(states), axis=0)
    weight = np.where(moments.weight[states] > 0, moments.weight[states], 1.0)
    return moments.completion.mean[states], moments.scatter[states] / weight[:, None, None]


def cells_left_out(model: GaussianBayesModel, estimate: Estimate, leaving: Leaving) -> FloatArray:
    """(n_rows, n_states) log-densities in units, each row left out; NaN where too few digits would be left."""
    values, groups, weights = leaving.values, leaving.groups, leaving.weights
    moments, n_states = model.moments, len(model.classes)
    there = ~np.isnan(values)
    n_cells = model.weight_of_cells  # (n_states, n_columns)
    own_variance = diagonals(moments.scatter) / moments.weight[:, None]
    away = np.stack([_deviations(model, values, state) for state in range(n_states)])  # (n_states, n_rows, n_columns)
    away = np.where(there, away, 0.0)
    every, w = np.arange(len(values)), weights[:, None]
    n, variance = n_cells[groups], own_variance[groups]  # (n_rows, n_columns)
    left = n - np.where(there, w, 0.0)
    safe = np.where(left > 0, left, 1.0)
    own = np.where(there, away[groups, every], 0.0)
    changed = np.where(there, (n * variance - w * n / safe * own**2) / safe, variance)
    enough = ((left > 0) & (changed > LEAST_RATIO * variance)).all(axis=1)
    away[groups, every] = own * n / safe
    scale = (moments.weight[groups] - weights)[:, None] * np.where(changed > 0, changed, 1.0)
    if model.settings.is_shared:
        others = moments.weight[:, None] * own_variance
        scale = scale + others.sum(axis=0) - others[groups]
    divisor = estimate.divisor[groups] - weights
    changed = scale / np.where(divisor > 0, divisor, 1.0)[:, None]
    log_p = _log_densities_of_cells(model, changed, away, there, groups)
    return np.where((enough & (divisor > 0))[:, None], log_p, np.nan)


def _log_densities_of_cells(
    model: GaussianBayesModel, variance: FloatArray, away: FloatArray, there: BoolArray, groups: CodeArray
) -> FloatArray:
    """(n_rows, n_states) of deviations (n_states, n_rows, n_columns), over the cells that are there.

    The variance is that of the row's own class without it, (n_rows, n_columns).
    """
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
