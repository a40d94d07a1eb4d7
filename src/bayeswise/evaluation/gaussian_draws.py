"""Draws of the means and covariances of a Gaussian model, from what its rows leave open about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.families.deviations import standard_scores
from bayeswise.families.special import HALF_LOG_TWO_PI
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.gaussian_bayes.building import estimated
from bayeswise.models.gaussian_bayes.moments import Columns

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes import GaussianBayesModel


class GaussianPosterior:
    """covariance ~ inverse Wishart(scale, freedom), mean ~ Normal(mean, covariance / strength), for each state.

    Without a prior these are the posteriors of Jeffreys' prior, with one those of the normal-inverse-Wishart: the mean
    of the density over draws is the Student-t predictive. Diagonal covariances are drawn column by column.
    """

    def __init__(self, model: GaussianBayesModel) -> None:
        self.settings, self.columns = model.settings, model.moments.columns
        if self.settings.shrinkage != 0 or self.settings.covariance == "spherical":
            raise FitError(
                f"{self.settings} has no posterior of its covariances to draw from",
                fix="use full or diagonal covariances",
            )
        estimate, d = estimated(model.moments, self.settings), len(model.columns)
        self.freedom = estimate.freedom + d - 1.0  # (n_states,)
        if not (self.freedom > (d - 1 if self.settings.is_full else 0)).all():
            raise FitError("a class has too few rows to say how wide it is", fix="give a prior, or fewer columns")
        self.mean = self.columns.in_units(estimate.mean, estimate.mean_low)  # (n_states, n_columns)
        self.strength, self.scale = estimate.strength, estimate.scale

    def draw(self, generator: np.random.Generator) -> DrawnGaussians:
        """Means and covariances of all states."""
        make = _wishart if self.settings.is_full else _variances
        covariances: list[FloatArray] = []
        means: list[FloatArray] = []
        for scale, freedom, mean, n in zip(self.scale, self.freedom, self.mean, self.strength, strict=True):
            fresh = not (covariances and self.settings.is_shared)
            covariance = make(scale, float(freedom), generator) if fresh else covariances[0]
            away = np.linalg.cholesky(covariance) @ generator.standard_normal(len(mean)) / np.sqrt(n)
            covariances.append(covariance)
            means.append(mean + away)
        return DrawnGaussians(self.columns, np.stack(means), np.stack(covariances))


@dataclass(frozen=True, eq=False)
class DrawnGaussians:
    """One draw of every mean and covariance, in units of the columns."""

    columns: Columns
    mean: FloatArray  # (n_states, n_columns)
    covariance: FloatArray  # (n_states, n_columns, n_columns)

    def add_to(self, log_joint: FloatArray, values: FloatArray) -> None:
        """log p(row | state) of each row, over the cells that are there."""
        steps = standard_scores(values, self.columns.centre, self.columns.centre_low, self.columns.unit)
        patterns, which = np.unique(np.isnan(steps), axis=0, return_inverse=True)
        for k, holes in enumerate(patterns):
            rows, there = np.flatnonzero(which == k), np.flatnonzero(~holes)
            if len(there):
                log_joint[rows] += self._log_density(steps[np.ix_(rows, there)], there)

    def _log_density(self, steps: FloatArray, there: IntArray) -> FloatArray:
        """(n_rows, n_states) in units."""
        found = np.empty((len(steps), len(self.mean)))
        for state, (mean, covariance) in enumerate(zip(self.mean, self.covariance, strict=True)):
            root = np.linalg.cholesky(covariance[np.ix_(there, there)])
            white = np.linalg.solve(root, (steps - mean[there]).T)
            found[:, state] = -0.5 * (white**2).sum(axis=0) - np.log(np.diagonal(root)).sum()
        return found - len(there) * HALF_LOG_TWO_PI


def _wishart(scale: FloatArray, freedom: float, generator: np.random.Generator) -> FloatArray:
    """An inverse Wishart draw by Bartlett's factors: (root A^-T)(root A^-T)' for scale = root root'."""
    d = len(scale)
    factor = np.tril(generator.standard_normal((d, d)), -1)
    factor[np.arange(d), np.arange(d)] = np.sqrt(generator.chisquare(freedom - np.arange(d)))
    half = np.linalg.cholesky(scale) @ np.linalg.inv(factor).T
    return np.asarray(half @ half.T)


def _variances(scale: FloatArray, freedom: float, generator: np.random.Generator) -> FloatArray:
    return np.diag(np.diagonal(scale) / generator.chisquare(freedom, len(scale)))
