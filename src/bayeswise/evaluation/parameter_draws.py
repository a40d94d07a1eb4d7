"""Posteriors of rows under parameters drawn from what the learned rows leave open, for naive and Gaussian Bayes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayeswise.decisions.costs.cost_cells import RowCostError
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import columns_for
from bayeswise.decisions.policy.stability import DecisionStability, joined, stability_of
from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, standard_scores
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.models.gaussian_bayes.building import estimated
from bayeswise.models.gaussian_bayes.class_moments import Columns
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.models.naive_bayes.categories import CategoryScores
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.posteriors.normalise import normalise
from bayeswise.tables.batch import MISSING, UNSEEN, Batch

_ROWS = 1 << 13  # whose draws are kept at a time


def posterior_draws(model: Any, table: Any, *, n: int = 200, seed: int = 0) -> FloatArray:
    """(n, n_rows, n_states) the posterior of each row under n draws of the parameters.

    Shares of classes and of levels are Dirichlet with the counts and the pseudo-counts of the smoothing; mean and
    variance of a normal column have the posterior of the reference prior, variance ~ n s^2 / chi^2(n - 1) and
    mean ~ N(m, variance / n). Columns of other families and texts stay at their estimates. Covariances are inverse
    Wishart.
    """
    _check(model, n)
    generator = np.random.default_rng(seed)
    batches = list(model.batches(table))
    draws = []
    gaussians = None if isinstance(model, NaiveBayesModel) else GaussianPosterior(model)
    for _ in range(n):
        log_prior = _drawn_prior(model, generator)
        drawn = _Drawn(model, generator) if gaussians is None else gaussians.draw(generator)
        parts = [normalise(_log_joint(log_prior, drawn, batch)).probability for batch in batches]
        draws.append(np.concatenate(parts) if parts else np.zeros((0, len(model.classes))))
    return np.stack(draws)


def decision_stability(model: Any, table: Any, costs: Any, *, n: int = 200, seed: int = 0) -> DecisionStability:
    """How probably each row's action is truly the best one, and what it is expected to lose if it is not.

    >>> import bayeswise as bw
    >>> rows = [{"wind": w, "play": p} for w, p in zip("aaabbbbb", "yynnnnyn")]
    >>> costs = {"go": {"y": 0, "n": 3}, "stay": {"y": 1, "n": 0}}
    >>> few, many = (bw.fit(rows * k, target="play", model="naive-bayes") for k in (1, 100))
    >>> [bool(decision_stability(m, rows[:1], costs).confidence[0] > 0.99) for m in (few, many)]
    [False, True]
    """
    _check(model, n)
    given = Costs.of(costs, model.classes)
    batches = list(model.batches(table))
    columns = columns_for(given, table, sum(batch.n_rows for batch in batches))
    parts, first = [], 0
    for part in _stretches(batches):
        cells = {name: values[first : first + part.n_rows] for name, values in columns.items()}
        draws = posterior_draws(model, part, n=n, seed=seed)  # the same parameters for every part
        try:
            parts.append(stability_of(draws, given, states=model.classes, rows=cells))
        except RowCostError as error:
            raise error.at(first + error.row) from None
        first += part.n_rows
    return joined(parts, len(given.actions))


def _check(model: Any, n: int) -> None:
    if not isinstance(model, NaiveBayesModel | GaussianBayesModel):
        raise FitError(f"{type(model).__name__} has no parameters to draw", fix="use a naive or Gaussian Bayes model")
    if n < 1:
        raise ParameterError(f"{n} draws", fix="draw at least once")


def _stretches(batches: Sequence[Batch]) -> Iterator[Batch]:
    for batch in batches:
        for first in range(0, batch.n_rows, _ROWS):
            yield batch.rows(slice(first, min(first + _ROWS, batch.n_rows)))


def _log_joint(log_prior: FloatArray, drawn: _Drawn | DrawnGaussians, batch: Batch) -> FloatArray:
    total = np.tile(log_prior, (batch.n_rows, 1))  # (n_rows, n_states)
    drawn.add_to(total, batch)
    return total


class _Drawn:
    """One draw of every parameter of naive Bayes, ready to score batches."""

    def __init__(self, model: NaiveBayesModel, generator: np.random.Generator) -> None:
        self.parts: list[tuple[Any, Any]] = [(scores, _drawn(scores, generator)) for scores in model.scores]

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        for scores, drawn in self.parts:
            if drawn is None:
                scores.add_to(log_joint, batch)
            elif isinstance(scores, CategoryScores):
                _add_categories(log_joint, scores, drawn, batch)
            else:
                _add_numbers(log_joint, scores, drawn, batch)


def _drawn(scores: Any, generator: np.random.Generator) -> Any:
    if isinstance(scores, CategoryScores):
        return [_drawn_levels(table, generator) for table in scores.tables]
    return _drawn_normals(scores, generator) if isinstance(scores, NormalScores) else None


def _drawn_prior(model: NaiveBayesModel | GaussianBayesModel, generator: np.random.Generator) -> FloatArray:
    if model.settings.class_prior is not None:
        return model.log_prior
    smoothing = model.settings.prior_smoothing if isinstance(model, NaiveBayesModel) else 0.0
    return _log_dirichlet(model.class_weight + smoothing, generator)


def _log_dirichlet(weight: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Shares along the last axis; a weight of 0 has the share 0, and weights that are all 0 share evenly."""
    drawn = generator.standard_gamma(np.maximum(weight, 0.0))
    total = drawn.sum(axis=-1, keepdims=True)
    even = np.full(weight.shape, 1.0 / weight.shape[-1])
    return log(np.where(total > 0, drawn / np.where(total > 0, total, 1.0), even))


def _drawn_levels(table: Any, generator: np.random.Generator) -> FloatArray:
    """(n_cells, n_states)"""
    weight = table.count + table.pseudo_rows.by_cell(table.count.shape[1])  # (n_states, n_cells)
    return _log_dirichlet(weight, generator).T


def _drawn_normals(scores: NormalScores, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    weight = scores.statistic.weight.to_floats()  # (n_states, n_columns)
    mean, stddev = scores.parameters.mean, scores.parameters.stddev
    open_ = (weight > 1.0) & (stddev > 0.0)
    df = np.where(open_, weight - 1.0, 1.0)
    spread = np.where(open_, stddev * np.sqrt(weight / generator.chisquare(df)), stddev)
    at = mean + np.where(open_, spread / np.sqrt(np.maximum(weight, 1.0)), 0.0) * generator.standard_normal(mean.shape)
    return at, spread


def _add_categories(total: FloatArray, scores: CategoryScores, drawn: list[FloatArray], batch: Batch) -> None:
    for table, log_cells, position in zip(scores.tables, drawn, scores.positions.tolist(), strict=True):
        codes = batch.codes[:, position]
        unseen = codes == UNSEEN
        if unseen.any():
            total[unseen] += table.log_unseen()
        cells = np.where(codes == MISSING, table.n_levels if table.column.missing == "level" else -1, codes)
        present = cells >= 0
        total[present] += log_cells[cells[present]]


def _add_numbers(total: FloatArray, scores: NormalScores, drawn: tuple[FloatArray, FloatArray], batch: Batch) -> None:
    mean, stddev = drawn
    for c, position in enumerate(scores.positions.tolist()):
        if not scores.varies[c]:
            continue
        x = batch.values[:, position]
        z = (x[:, None] - mean[:, c]) / stddev[:, c]
        total += np.where(np.isnan(x)[:, None], 0.0, -0.5 * z * z - np.log(stddev[:, c]))


class GaussianPosterior:
    """covariance ~ inverse Wishart(scale, df), mean ~ Normal(mean, covariance / strength), for each state.

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
        self.df = estimate.df + d - 1.0  # (n_states,)
        if not (self.df > (d - 1 if self.settings.is_full else 0)).all():
            raise FitError("a class has too few rows to estimate its covariance", fix="give a prior, or fewer columns")
        self.mean = self.columns.in_units(estimate.mean, estimate.mean_low)  # (n_states, n_columns)
        self.strength, self.scale = estimate.strength, estimate.scale

    def draw(self, generator: np.random.Generator) -> DrawnGaussians:
        """Means and covariances of all states."""
        make = _wishart if self.settings.is_full else _variances
        covariances: list[FloatArray] = []
        means: list[FloatArray] = []
        for scale, df, mean, n in zip(self.scale, self.df, self.mean, self.strength, strict=True):
            fresh = not (covariances and self.settings.is_shared)
            covariance = make(scale, float(df), generator) if fresh else covariances[0]
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

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        """log p(row | state) of each row, over the cells that are there."""
        steps = standard_scores(batch.values, self.columns.centre, self.columns.centre_low, self.columns.unit)
        patterns, which = np.unique(np.isnan(steps), axis=0, return_inverse=True)
        for k, missing in enumerate(patterns):
            rows, there = np.flatnonzero(which == k), np.flatnonzero(~missing)
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


def _wishart(scale: FloatArray, df: float, generator: np.random.Generator) -> FloatArray:
    """An inverse Wishart draw by Bartlett's factors: (root A^-T)(root A^-T)' for scale = root root'."""
    d = len(scale)
    factor = np.tril(generator.standard_normal((d, d)), -1)
    factor[np.arange(d), np.arange(d)] = np.sqrt(generator.chisquare(df - np.arange(d)))
    half = np.linalg.cholesky(scale) @ np.linalg.inv(factor).T
    return np.asarray(half @ half.T)


def _variances(scale: FloatArray, df: float, generator: np.random.Generator) -> FloatArray:
    return np.diag(np.diagonal(scale) / generator.chisquare(df, len(scale)))
