"""Normal columns with mean and variance integrated out, class by class or all together.

Everything is in units of the whole column: (x - mean) / stddev. The prior is normal-inverse-gamma: `strength`
imagined rows with the whole column's mean and variance. Cells are then Student-t.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.explanations.account import Contribution
from bayeswise.families.deviations import gap_between, log_one_plus_square, standard_scores
from bayeswise.families.evidence import log_gamma_evidence
from bayeswise.families.special import log_gamma_ratio
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.models.averaged_naive_bayes.mixing import log_mixture, relevance_of
from bayeswise.models.naive_bayes.factors import Leaving, LinearTerm
from bayeswise.models.naive_bayes.numbers import ALTERNATIVES
from bayeswise.statistics import Moments
from bayeswise.tables.batch import Batch

_BLOCK_CELLS = 1 << 18
_LEAST_SHARE_LEFT = 1e-4


@dataclass(frozen=True)
class Summary:
    """Weight, mean and sum of squared deviations of some cells, in units of a column; arrays of one shape."""

    weight: FloatArray
    mean: FloatArray
    square: FloatArray

    def without(self, z: FloatArray, weight: FloatArray) -> Summary:
        """The same without a cell z of some weight."""
        left = self.weight - weight
        safe = np.where(left > 0, left, 1.0)
        gap = z - self.mean
        mean = np.where(left > 0, self.mean - weight * gap / safe, 0.0)
        square = np.where(left > 0, np.maximum(self.square - weight * gap**2 * (self.weight / safe), 0.0), 0.0)
        return Summary(left, mean, square)


@dataclass(frozen=True)
class Prior:
    """`strength` imagined rows with this mean and variance."""

    mean: FloatArray
    variance: FloatArray  # 0: the column does not vary, and says nothing
    strength: float

    @property
    def says(self) -> Any:
        return self.variance > 0

    @property
    def shape(self) -> float:
        """Of the variance's prior: a row is worth one half."""
        return 0.5 * self.strength

    def _scales(self, seen: Summary) -> tuple[FloatArray, FloatArray]:
        """The prior's scale, and what the cells add to it."""
        scale = self.shape * np.where(self.says, self.variance, 1.0)
        shrunk = self.strength * seen.weight / (self.strength + seen.weight)
        return scale, 0.5 * (seen.square + shrunk * (seen.mean - self.mean) ** 2)

    def log_evidence(self, seen: Summary) -> FloatArray:
        """log p(cells) in units of the column, but for -n/2 log(2 pi); 0 where the column says nothing."""
        scale, added = self._scales(seen)
        log_scales = log_gamma_evidence(self.shape, scale, 0.5 * seen.weight, added)
        return np.where(self.says, log_scales - 0.5 * np.log1p(seen.weight / self.strength), 0.0)

    def log_predictive(self, seen: Summary, z: FloatArray) -> FloatArray:
        """log p(z | cells): Student-t; 0 where the column says nothing, or the cell is missing."""
        strength = self.strength + seen.weight
        mean = self.mean + seen.weight * (seen.mean - self.mean) / strength
        scale, added = self._scales(seen)
        shape = self.shape + 0.5 * seen.weight
        width = np.sqrt(2.0 * (1.0 + 1.0 / strength) * (scale + added))
        log_norm = log_gamma_ratio(shape, 0.5) - 0.5 * np.log(np.pi) - np.log(width)
        log_cells = log_norm - (shape + 0.5) * log_one_plus_square(z - mean, width)
        return np.where(np.isnan(z) | ~self.says, 0.0, log_cells)


@dataclass(frozen=True)
class AveragedNormalScores:
    """All normal columns; (n_states, n_columns) in units of each column."""

    columns: tuple[str, ...]
    positions: IntArray  # of the columns in Batch.values
    statistic: Moments
    strength: float
    log_prior_odds: FloatArray  # (n_columns,)

    @cached_property
    def _unit(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean (high and low) and stddev of the whole columns, (n_columns,); a stddev of 0 counts as 1."""
        whole = self.statistic.pooled()
        mean, mean_low = whole.mean_pair(empty=0.0)
        stddev = whole.stddev("n", empty=0.0)
        return mean[0], mean_low[0], np.where(stddev[0] > 0, stddev[0], 1.0)

    @property
    def stddev(self) -> FloatArray:
        """(n_columns,) the unit of each column."""
        return self._unit[2]

    @cached_property
    def seen(self) -> Summary:
        """(n_states, n_columns)."""
        return self._summary(self.statistic)

    @cached_property
    def whole(self) -> Summary:
        """(1, n_columns)."""
        return self._summary(self.statistic.pooled())

    def _summary(self, statistic: Moments) -> Summary:
        mean, mean_low, stddev = self._unit
        weight = statistic.weight.to_floats()
        gap = gap_between(statistic.mean_pair(empty=0.0), (mean, mean_low)) / stddev
        spread = statistic.stddev("n", empty=0.0) / stddev
        return Summary(weight, np.where(weight > 0, gap, 0.0), weight * spread**2)

    @cached_property
    def prior(self) -> Prior:
        return self._prior_of(self.whole)

    def _prior_of(self, whole: Summary) -> Prior:
        variance = np.where(whole.weight > 0, whole.square / np.where(whole.weight > 0, whole.weight, 1.0), 0.0)
        return Prior(whole.mean, variance, self.strength)

    @cached_property
    def log_odds(self) -> FloatArray:
        """(n_columns,) log p(relevant | rows) - log p(not relevant | rows)."""
        return self._log_odds(self.prior, self.seen, self.whole)

    def _log_odds(self, prior: Prior, seen: Summary, whole: Summary) -> FloatArray:
        """The states are the last axis but one."""
        by_class = prior.log_evidence(seen).sum(axis=-2)
        return np.asarray(self.log_prior_odds + by_class - prior.log_evidence(whole)[..., 0, :])

    # -- rows ---------------------------------------------------------------------------------------------------
    def _scores_of(self, batch: Batch) -> FloatArray:
        mean, mean_low, stddev = self._unit
        return standard_scores(batch.values[:, self.positions], mean, mean_low, stddev)

    def _log_cells(self, z: FloatArray) -> FloatArray:
        """(n_rows, n_states, n_columns) in units of x."""
        cells = z[:, None, :]
        log_relevant = self.prior.log_predictive(self.seen, cells)
        log_irrelevant = self.prior.log_predictive(self.whole, cells)
        return log_mixture(self.log_odds, log_relevant, log_irrelevant) - self._log_unit(cells, self.prior)

    def _log_unit(self, z: FloatArray, prior: Prior) -> FloatArray:
        """A density by x is one by z over the stddev."""
        return np.where(np.isnan(z) | ~prior.says, 0.0, np.log(self._unit[2]))

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        z = self._scores_of(batch)
        for rows in self._blocks(len(z)):
            log_joint[rows] += self._log_cells(z[rows]).sum(axis=2)

    def by_column(self, batch: Batch) -> FloatArray:
        return self._log_cells(self._scores_of(batch)).transpose(0, 2, 1)

    def _blocks(self, n_rows: int) -> Iterator[slice]:
        step = max(1, _BLOCK_CELLS // max(self.seen.weight.size, 1))
        return (slice(start, start + step) for start in range(0, n_rows, step))

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        z, leaving = self._scores_of(batch), Leaving.of(groups, weights)
        log_sums = np.empty((batch.n_rows, self.seen.weight.shape[0]))
        for rows in self._blocks(batch.n_rows):
            log_sums[rows], far = self._left_out_block(z[rows], leaving.groups[rows], leaving.weights[rows])
            for row in (np.flatnonzero(far) + rows.start).tolist():
                log_sums[row] = self._refitted_without(batch.values[row : row + 1], groups[row : row + 1], weights, row)
        return log_sums

    def _left_out_block(self, z: FloatArray, groups: CodeArray, weights: FloatArray) -> tuple[FloatArray, Any]:
        """Log-likelihoods, and the rows that were so far out that what is left is lost in rounding."""
        n_states = self.seen.weight.shape[0]
        present = ~np.isnan(z)
        cell, gone = np.where(present, z, 0.0)[:, None, :], np.where(present, weights[:, None], 0.0)[:, None, :]
        own = (np.arange(n_states) == groups[:, None])[:, :, None]  # (n_rows, n_states, 1)
        seen, whole = self.seen.without(cell, gone * own), self.whole.without(cell, gone)
        prior = self._prior_of(whole)
        log_odds = self._log_odds(prior, seen, whole)[:, None, :]
        cells = z[:, None, :]
        log_relevant, log_irrelevant = prior.log_predictive(seen, cells), prior.log_predictive(whole, cells)
        log_cells = log_mixture(log_odds, log_relevant, log_irrelevant) - self._log_unit(cells, prior)
        lost = (self.whole.square > 0) & (whole.square[:, 0] < _LEAST_SHARE_LEFT * self.whole.square)
        return log_cells.sum(axis=2), (lost & present).any(axis=1)

    def _refitted_without(
        self, values: FloatArray, groups: CodeArray, weights: FloatArray | None, row: int
    ) -> FloatArray:
        """(n_states,) one row, from the exact sums without it."""
        cells = np.ascontiguousarray(values[:, self.positions])
        taken = None if weights is None else weights[row : row + 1]
        gone = Moments.of(cells, np.ascontiguousarray(groups), self.seen.weight.shape[0], taken)
        positions = np.arange(len(self.columns), dtype=np.int64)
        rest = AveragedNormalScores(
            self.columns, positions, self.statistic.subtract(gone), self.strength, self.log_prior_odds
        )
        return np.asarray(rest._log_cells(standard_scores(cells, *rest._unit)).sum(axis=2)[0])

    # -- the rest of what scores do -------------------------------------------------------------------------------
    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        """Relevant or not, then the variance, the mean and the cell, each from its posterior."""
        drawn = {}
        mean, _, stddev = self._unit
        for c, name in enumerate(self.columns):
            relevant = generator.random(len(states)) < relevance_of(self.log_odds[c])
            n, m, s = (
                np.where(relevant, mine[states, c], ours[0, c])
                for mine, ours in (
                    (self.seen.weight, self.whole.weight),
                    (self.seen.mean, self.whole.mean),
                    (self.seen.square, self.whole.square),
                )
            )
            drawn[name] = mean[c] + stddev[c] * self._drawn(Summary(n, m, s), c, generator)
        return drawn

    def _drawn(self, seen: Summary, column: int, generator: np.random.Generator) -> FloatArray:
        prior = Prior(self.prior.mean[0, column], self.prior.variance[0, column], self.strength)
        if not prior.says:
            return np.zeros(len(seen.weight))
        scale, added = prior._scales(seen)
        strength = self.strength + seen.weight
        centre = prior.mean + seen.weight * (seen.mean - prior.mean) / strength
        variance = (scale + added) / generator.standard_gamma(prior.shape + 0.5 * seen.weight)
        spread = np.sqrt(variance * (1.0 + 1.0 / strength))
        return np.asarray(centre + spread * generator.standard_normal(len(seen.weight)))

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """A grid of numbers over three standard deviations of the whole column."""
        at = self.columns.index(column)
        mean, _, stddev = self._unit
        z = np.zeros((ALTERNATIVES, len(self.columns)))
        z[:, at] = np.linspace(-3.0, 3.0, ALTERNATIVES)
        log_cells = self._log_cells(z)[:, :, at]
        return tuple(
            Contribution(column, float(mean[at] + stddev[at] * z[k, at]), log_cells[k]) for k in range(ALTERNATIVES)
        )

    def linear_terms(self) -> Iterator[LinearTerm] | None:
        return None

    def n_free_parameters(self) -> int:
        return 2 * int(self.seen.weight.size)
