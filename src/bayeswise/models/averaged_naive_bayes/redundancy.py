"""How often naive Bayes counts the same evidence: redundant columns, and the exponent that corrects for them.

For a row of class a, the log-likelihood ratio of the classes a and b is a sum over columns. If columns were independent
given the class, its variance would be the sum of theirs (V0); with the covariances of the columns it is another (V).
With normal columns of mean m and variance v, D = 1/v_b - 1/v_a and g = (m_a - m_b) / v_b,

    V0 = sum_j D_j^2 v_j^2 / 2 + g_j^2 v_j          V = sum_ij D_i D_j C_ij^2 / 2 + g_i g_j C_ij

A score that varies more than it claims is too sure of itself: it is calibrated by the factor V0 / V. A copy of every
column doubles V0 and makes V four times as large, and so changes no posterior. The factor is the geometric mean over
all pairs of classes, each weighted by its frequency, and at most 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass

_BLOCK_CELLS = 1 << 13  # classes x rows x columns at a time


@dataclass(frozen=True)
class Classes:
    """The parameters of each class, for each of some rows that are left out (or once); in units of the columns."""

    weight: FloatArray  # (n_rows, n_states)
    mean: FloatArray  # (n_rows, n_states, n_columns)
    variance: FloatArray  # (n_rows, n_states, n_columns)
    share: FloatArray  # (n_rows, n_columns) p(relevant)
    beside: tuple[FloatArray, ...]  # for each state (n_columns, n_columns), or one for each row: covariance, diagonal 0


def log_temper(classes: Classes) -> FloatArray:
    """(n_rows,) the logarithm of the factor, at most 0."""
    n_rows, n_states = classes.weight.shape
    size = max(1, _BLOCK_CELLS // max(1, n_rows * classes.share.shape[1]))
    log_sum, total = np.zeros(n_rows), np.zeros(n_rows)
    for a in range(n_states):
        squared = classes.beside[a] ** 2
        others = [b for b in range(n_states) if b != a]
        for some in (others[k : k + size] for k in range(0, n_states - 1, size)):
            weight = classes.weight[:, a] * classes.weight.T[some]  # (n_others, n_rows)
            log_sum = _added(log_sum, weight * _log_ratios(classes, a, some, squared))
            total = _added(total, weight)
    return np.minimum(np.divide(log_sum, total, out=np.zeros_like(log_sum), where=total > 0), 0.0)


def _added(first: FloatArray, others: FloatArray) -> FloatArray:
    """A sum one by one: the same bits for any size of blocks."""
    for each in others:
        first = first + each
    return first


def _log_ratios(classes: Classes, a: int, others: list[int], squared: FloatArray) -> FloatArray:
    """(n_others, n_rows) log V0 - log V of the log-likelihood ratios of a against other classes, for rows of a."""
    mine = classes.variance[:, a]
    other, centre = (each.transpose(1, 0, 2)[others] for each in (classes.variance, classes.mean))
    slope = classes.share * (1.0 / other - 1.0 / mine)
    push = classes.share * (classes.mean[:, a] - centre) / other
    claimed = (0.5 * (slope * mine) ** 2 + push**2 * mine).sum(axis=2)
    found = claimed + 0.5 * _quadratic(slope, squared) + _quadratic(push, classes.beside[a])
    says = (claimed > 0) & (found > 0)
    return np.where(says, np.log(np.where(says, claimed, 1.0)) - np.log(np.where(says, found, 1.0)), 0.0)


def _quadratic(vectors: FloatArray, matrix: FloatArray) -> FloatArray:
    """(n_others, n_rows) v' M v, with one matrix for all or one for each row."""
    if matrix.ndim == 2:
        return np.asarray(((vectors @ matrix) * vectors).sum(axis=2))
    return np.asarray(((vectors[:, :, None, :] @ matrix)[:, :, 0, :] * vectors).sum(axis=2))


@dataclass(frozen=True)
class About:
    """The whole columns, for each of some rows that are left out (or once), and the pseudo-counts behind them."""

    mean: FloatArray  # (n_rows, n_columns)
    variance: FloatArray  # (n_rows, n_columns)
    share: FloatArray  # (n_rows, n_columns) p(relevant)
    mean_rows: float
    rows: float

    def __getitem__(self, rows: IntArray) -> About:
        return About(self.mean[rows], self.variance[rows], self.share[rows], self.mean_rows, self.rows)


@dataclass(frozen=True)
class Spread:
    """Complete rows by class, in units of the columns: weight, mean, and covariance times weight."""

    weight: FloatArray  # (n_states,)
    mean: FloatArray  # (n_states, n_columns)
    cross: FloatArray  # (n_states, n_columns, n_columns)
    shared: bool = False  # one covariance for all classes

    def classes(self, about: About) -> Classes:
        """With pseudo-counts of the whole columns."""
        n_rows, rows = len(about.mean), about.rows
        weight = np.broadcast_to(self.weight, (n_rows, len(self.weight)))
        cross, behind = self.cross, self.weight
        if self.shared:
            cross, behind = np.broadcast_to(cross.sum(axis=0), cross.shape), np.full_like(behind, behind.sum())
        square = np.einsum("kjj->kj", cross)
        beside = cross / (behind + rows)[:, None, None]
        places = np.arange(self.mean.shape[1])
        beside[:, places, places] = 0.0
        return Classes(
            weight,
            _shrunk_mean(self.weight[:, None], self.mean, about.mean[:, None], about.mean_rows),
            (square + rows * about.variance[:, None]) / (behind[:, None] + rows),
            about.share,
            tuple(beside),
        )

    def classes_without(self, z: FloatArray, weight: FloatArray, state: int, about: About) -> Classes:
        """The same where each of some complete rows z of one state, of these weights, has been left out."""
        kept, rows = self.classes(about), about.rows
        left = self.weight[state] - weight  # (n_rows,)
        safe = np.where(left > 0, left, 1.0)
        gap = np.where((left > 0)[:, None], z - self.mean[state], 0.0)
        own_mean = np.where((left > 0)[:, None], self.mean[state] - (weight / safe)[:, None] * gap, 0.0)
        taken = (weight * self.weight[state] / safe)[:, None, None] * gap[:, :, None] * gap[:, None, :]
        cross, behind = np.where((left > 0)[:, None, None], self.cross[state] - taken, 0.0), left
        changed = np.arange(len(self.weight)) == state
        if self.shared:
            cross, behind = cross + self.cross[~changed].sum(axis=0), left + self.weight[~changed].sum()
            changed = np.ones_like(changed)
        square = np.maximum(np.einsum("njj->nj", cross), 0.0)
        beside = cross / (behind + rows)[:, None, None]
        places = np.arange(z.shape[1])
        beside[:, places, places] = 0.0
        weights, means, variances = kept.weight.copy(), kept.mean.copy(), kept.variance.copy()
        weights[:, state] = np.maximum(left, 0.0)
        means[:, state] = _shrunk_mean(left[:, None], own_mean, about.mean, about.mean_rows)
        variances[:, changed] = ((square + rows * about.variance) / (behind[:, None] + rows))[:, None]
        every = tuple(beside if new else matrix for new, matrix in zip(changed, kept.beside, strict=True))
        return replace(kept, weight=weights, mean=means, variance=variances, beside=every)


def _shrunk_mean(weight: FloatArray, mean: FloatArray, towards: FloatArray, rows: float) -> FloatArray:
    return np.asarray(towards + weight * (mean - towards) / (weight + rows))
