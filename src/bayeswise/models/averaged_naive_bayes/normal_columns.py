"""Normal columns with mean and variance integrated out, class by class or all together.

Everything is in units of the whole column: (x - mean) / stddev. The prior is normal-inverse-gamma: `strength`
pseudo-counts with the whole column's mean and variance. Cells are then Student-t. Where the sums of pairs of columns
are known, what columns say together is counted once (redundancy.py). A log-normal column is a normal one of log x.

Where classes share the variance v of a column, with shape a, scale b and mean strength k of the prior, n_c cells of
class c with sum of squares s_c about their mean, and d_c from there to the prior's mean,

    p(cells) = Gamma(a + n/2) / Gamma(a)  b^a / (b + t)^(a + n/2)  prod_c (1 + n_c / k)^(-1/2)  (2 pi)^(-n/2)
    n = sum_c n_c          t = sum_c (s_c + k n_c / (k + n_c) d_c^2) / 2

and a cell of any class has the shape a + n/2 and the scale b + t behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.families.arithmetic.evidence import log_gamma_evidence
from bayeswise.families.arithmetic.stable_functions import (
    gap_between,
    log_gamma_ratio,
    log_one_plus_square,
    standard_scores,
)
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.averaged_naive_bayes.mixing import Cells, LeftOutInBlocks, relevance_of, tempered_cells
from bayeswise.models.averaged_naive_bayes.redundancy import About, Spread, log_temper
from bayeswise.models.naive_bayes.factors import Leaving
from bayeswise.statistics import Moments
from bayeswise.statistics.numbers.kernel_numbers import log_of
from bayeswise.statistics.numbers.scatter import PairSums
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.statistics.numbers.extents import Span

MEAN_SHARE = 0.1
"""A pseudo-row counts as this much of a row for the mean: classes may lie some of their own stddevs apart."""


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
    """`strength` pseudo-counts with this variance, and a tenth of them with this mean.

    The last axis of arrays is the columns, the one before it the classes.
    """

    mean: FloatArray
    variance: FloatArray  # 0: the column does not vary, and says nothing
    strength: float
    shared: bool = False  # one variance for all classes

    @property
    def says(self) -> Any:
        return self.variance > 0

    @property
    def shape(self) -> float:
        """Of the variance's prior: a row is worth one half."""
        return 0.5 * self.strength

    @property
    def mean_strength(self) -> float:
        """The pseudo-counts behind the mean."""
        return MEAN_SHARE * self.strength

    def scales(self, seen: Summary) -> tuple[FloatArray, FloatArray]:
        """The prior's scale, and what the cells add to it, those of all classes where they share the variance."""
        scale = self.shape * np.where(self.says, self.variance, 1.0)
        shrunk = self.mean_strength * seen.weight / (self.mean_strength + seen.weight)
        return scale, self._behind_variances(0.5 * (seen.square + shrunk * (seen.mean - self.mean) ** 2))

    def shapes(self, seen: Summary) -> FloatArray:
        """Of the variances' posteriors."""
        return np.asarray(self.shape + 0.5 * self._behind_variances(seen.weight))

    def _behind_variances(self, by_class: FloatArray) -> FloatArray:
        return np.broadcast_to(by_class.sum(axis=-2, keepdims=True), by_class.shape) if self.shared else by_class

    def log_evidence(self, seen: Summary) -> FloatArray:
        """log p(cells of all classes) in units of the column, but for -n/2 log(2 pi); 0 where it says nothing."""
        scale, added = self.scales(seen)
        log_means = 0.5 * np.log1p(seen.weight / self.mean_strength)
        if self.shared:
            events = 0.5 * seen.weight.sum(axis=-2, keepdims=True)
            log_scales = log_gamma_evidence(self.shape, scale, events, added[..., :1, :])
            return np.asarray(np.where(self.says, log_scales - log_means.sum(axis=-2, keepdims=True), 0.0)[..., 0, :])
        log_scales = log_gamma_evidence(self.shape, scale, 0.5 * seen.weight, added)
        return np.asarray(np.where(self.says, log_scales - log_means, 0.0).sum(axis=-2))

    def predictive(self, seen: Summary) -> StudentT:
        """p(z | cells)."""
        strength = self.mean_strength + seen.weight
        mean = self.mean + seen.weight * (seen.mean - self.mean) / strength
        scale, added = self.scales(seen)
        shape = self.shapes(seen)
        width = np.sqrt(2.0 * (1.0 + 1.0 / strength) * (scale + added))
        log_norm = log_gamma_ratio(shape, 0.5) - 0.5 * np.log(np.pi) - np.log(width)
        return StudentT(mean, width, shape + 0.5, log_norm)

    def log_predictive(self, seen: Summary, z: FloatArray) -> FloatArray:
        """log p(z | cells); 0 where the column says nothing, or the cell is missing."""
        return np.where(np.isnan(z) | ~self.says, 0.0, self.predictive(seen).log_density(z))


@dataclass(frozen=True)
class StudentT:
    """log p(z) = log_norm - power log(1 + ((z - mean) / width)^2); arrays of one shape."""

    mean: FloatArray
    width: FloatArray
    power: FloatArray
    log_norm: FloatArray

    def log_density(self, z: FloatArray) -> FloatArray:
        return np.asarray(self.log_norm - self.power * log_one_plus_square(z - self.mean, self.width))


_BLOCK_CELLS = 1 << 18
_BLOCK_PAIRS = 1 << 21
_LEAST_SHARE_LEFT = 1e-4


@dataclass(frozen=True)
class AveragedNormalScores(LeftOutInBlocks):
    """All normal columns; (n_states, n_columns) in units of each column."""

    columns: tuple[str, ...]
    positions: IntArray  # of the columns in Batch.values
    statistic: Moments | PairSums
    strength: float
    log_prior_odds: FloatArray  # (n_columns,)
    given_temper: float | None = None  # None: from the pairs of columns, where they are known
    of_logs: bool = False  # log-normal: the statistic and the cells are those of log x
    shared: bool = False  # one variance for all classes

    @property
    def moments(self) -> Moments:
        return self.statistic.moments if isinstance(self.statistic, PairSums) else self.statistic

    @cached_property
    def unit(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean (high and low) and stddev of the whole columns, (n_columns,); a stddev of 0 counts as 1."""
        whole = self.moments.pooled()
        mean, mean_low = whole.mean_pair(empty=0.0)
        stddev = whole.stddev("n", empty=0.0)
        return mean[0], mean_low[0], np.where(stddev[0] > 0, stddev[0], 1.0)

    @property
    def stddev(self) -> FloatArray:
        """(n_columns,) the unit of each column."""
        return self.unit[2]

    @cached_property
    def seen(self) -> Summary:
        """(n_states, n_columns)."""
        return self._summary(self.moments)

    @cached_property
    def whole(self) -> Summary:
        """(1, n_columns)."""
        return self._summary(self.moments.pooled())

    def _summary(self, statistic: Moments) -> Summary:
        mean, mean_low, stddev = self.unit
        weight = statistic.weight.to_floats()
        gap = gap_between(statistic.mean_pair(empty=0.0), (mean, mean_low)) / stddev
        spread = statistic.stddev("n", empty=0.0) / stddev
        return Summary(weight, np.where(weight > 0, gap, 0.0), weight * spread**2)

    @cached_property
    def prior(self) -> Prior:
        return self._prior_of(self.whole)

    def _prior_of(self, whole: Summary) -> Prior:
        variance = np.where(whole.weight > 0, whole.square / np.where(whole.weight > 0, whole.weight, 1.0), 0.0)
        return Prior(whole.mean, variance, self.strength, self.shared)

    @cached_property
    def log_factor(self) -> FloatArray:
        """(n_columns,) log p(cells | relevant) - log p(cells | not relevant)."""
        return _log_factor(self.prior, self.seen, self.whole)

    # -- columns that say the same ------------------------------------------------------------------------------
    @cached_property
    def spread(self) -> Spread | None:
        """The complete rows, if pairs of columns were summed."""
        if self.given_temper is not None or not isinstance(self.statistic, PairSums) or not self.statistic.keeps_pairs:
            return None
        scatter = self.statistic.scatter
        weight = scatter.weight.to_floats()
        mean, mean_low, stddev = self.unit
        full = np.flatnonzero(weight > 0)
        centre = np.zeros((len(weight), len(self.columns)))
        if len(full):
            centre[full] = gap_between(scatter.take(full).mean_pair(), (mean, mean_low)) / stddev
        return Spread(weight, centre, weight[:, None, None] * scatter.covariance_in(stddev), self.shared)

    @cached_property
    def temper(self) -> float:
        """The exponent of what these columns say: 1, or less where they say the same."""
        if self.spread is None:
            return 1.0 if self.given_temper is None else self.given_temper
        return float(np.exp(log_temper(self.spread.classes(self._about_whole(self.prior, self.log_factor[None]))))[0])

    def _about_whole(self, prior: Prior, log_factor: FloatArray) -> About:
        shape = (len(log_factor), len(self.columns))
        says = np.broadcast_to(prior.says, (*shape[:1], 1, shape[1]))[:, 0]
        mean, variance = (np.broadcast_to(part, (shape[0], 1, shape[1]))[:, 0] for part in (prior.mean, prior.variance))
        share = np.where(says, relevance_of(log_factor), 0.0)
        return About(mean, np.where(says, variance, 1.0), share, prior.mean_strength, prior.strength)

    def _temper_without(
        self, z: FloatArray, groups: CodeArray, weights: FloatArray, prior: Prior, log_factor: FloatArray
    ) -> FloatArray:
        """(n_rows,) the exponent without each row; one with a missing cell was in no pair."""
        if self.spread is None:
            return np.full(len(z), self.temper)
        about = self._about_whole(prior, log_factor)
        complete = ~np.isnan(z).any(axis=1)
        found = np.zeros(len(z))
        step = max(1, _BLOCK_PAIRS // max(z.shape[1] ** 2, 1))
        for state in (-1, *range(len(self.spread.weight))):
            mine = np.flatnonzero(complete & (groups == state) if state >= 0 else ~complete)
            for part in (mine[k : k + step] for k in range(0, len(mine), step)):
                if state < 0:
                    found[part] = log_temper(self.spread.classes(about[part]))
                else:
                    own = self.spread.classes_without(z[part], weights[part], state, about[part])
                    found[part] = log_temper(own)
        return np.exp(found)

    # -- rows ---------------------------------------------------------------------------------------------------
    def _scores_of(self, batch: Batch) -> FloatArray:
        mean, mean_low, stddev = self.unit
        return standard_scores(self._taken(batch.values[:, self.positions]), mean, mean_low, stddev)

    def _taken(self, values: FloatArray) -> FloatArray:
        """The cells as they are summed; what has no logarithm has no class either, and says nothing."""
        return log_of(np.where(values > 0, values, np.nan)) if self.of_logs else values

    def cells(self, batch: Batch) -> Cells:
        """What the cells say, in units of x."""
        return self._cells(self._scores_of(batch))

    def _cells(self, z: FloatArray) -> Cells:
        return self._cells_under(z, self.prior, self.seen, self.whole, self.log_factor, np.array([self.temper]))

    def _cells_under(
        self, z: FloatArray, prior: Prior, seen: Summary, whole: Summary, log_factor: FloatArray, temper: FloatArray
    ) -> Cells:
        cells = z[:, None, :]
        mean, _, stddev = self.unit
        log_unit = np.log(stddev) + (mean + stddev * cells if self.of_logs else 0.0)  # d log x = dx / x
        log_unit = np.where(np.isnan(cells) | ~prior.says, 0.0, log_unit)
        log_irrelevant = prior.log_predictive(whole, cells) - log_unit
        log_relevant = prior.log_predictive(seen, cells) - log_unit
        if (temper != 1.0).any():
            log_relevant = tempered_cells(log_relevant, log_irrelevant, temper[:, None, None])
        return Cells(log_relevant, log_irrelevant, log_factor)

    def _log_cells(self, z: FloatArray) -> FloatArray:
        """(n_rows, n_states, n_columns) in units of x."""
        return self._cells(z).mixed(self.log_prior_odds)

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        z = self._scores_of(batch)
        for rows in self._blocks(len(z)):
            log_joint[rows] += self._cells(z[rows]).mixed_and_summed(self.log_prior_odds)

    def _blocks(self, n_rows: int) -> Iterator[slice]:
        step = max(1, _BLOCK_CELLS // max(self.seen.weight.size, 1))
        return (slice(start, start + step) for start in range(0, max(n_rows, 1), step))

    def _blocks_left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> Iterator[Cells]:
        z, leaving = self._scores_of(batch), Leaving.of(groups, weights)
        for rows in self._blocks(batch.n_rows):
            cells, far = self._left_out_block(z[rows], leaving.groups[rows], leaving.weights[rows])
            for row in np.flatnonzero(far).tolist():
                at = slice(rows.start + row, rows.start + row + 1)
                own = self._refitted_without(batch.values[at], groups[at], None if weights is None else weights[at])
                cells.log_relevant[row], cells.log_irrelevant[row] = own.log_relevant[0], own.log_irrelevant[0]
                cells.log_factor[row] = own.log_factor
            yield cells

    def _left_out_block(self, z: FloatArray, groups: CodeArray, weights: FloatArray) -> tuple[Cells, BoolArray]:
        """The cells, and the rows that were so far out that what is left is lost in rounding."""
        n_states = self.seen.weight.shape[0]
        present = ~np.isnan(z)
        cell, gone = np.where(present, z, 0.0)[:, None, :], np.where(present, weights[:, None], 0.0)[:, None, :]
        own = (np.arange(n_states) == groups[:, None])[:, :, None]  # (n_rows, n_states, 1)
        seen, whole = self.seen.without(cell, gone * own), self.whole.without(cell, gone)
        prior = self._prior_of(whole)
        log_factor = _log_factor(prior, seen, whole)
        temper = self._temper_without(z, groups, weights, prior, log_factor)
        lost = (self.whole.square > 0) & (whole.square[:, 0] < _LEAST_SHARE_LEFT * self.whole.square)
        return self._cells_under(z, prior, seen, whole, log_factor, temper), np.asarray((lost & present).any(axis=1))

    def _refitted_without(self, values: FloatArray, groups: CodeArray, weights: FloatArray | None) -> Cells:
        """One row, from the exact sums without it."""
        cells = np.ascontiguousarray(self._taken(values[:, self.positions]))
        n_states, own = self.seen.weight.shape[0], np.ascontiguousarray(groups)
        gone: Any = Moments.of(cells, own, n_states, weights)
        if isinstance(self.statistic, PairSums):
            gone = PairSums.of(cells, own, n_states, weights, self.statistic.most_rows)
        positions = np.arange(len(self.columns), dtype=np.int64)
        rest = replace(self, positions=positions, statistic=self.statistic.subtract(gone))
        return rest._cells(standard_scores(cells, *rest.unit))

    # -- the rest of what scores do -------------------------------------------------------------------------------
    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        """Relevant or not, then the variance, the mean and the cell, each from its posterior."""
        drawn = {}
        mean, _, stddev = self.unit
        by_class, as_whole = self._posterior(self.seen), self._posterior(self.whole)
        for c, name in enumerate(self.columns):
            relevant = generator.random(len(states)) < relevance_of(self.log_odds[c])
            z = np.zeros(len(states))
            if self.prior.says[0, c]:
                centre, strength, scale, shape = (
                    np.where(relevant, mine[states, c], ours[0, c])
                    for mine, ours in zip(by_class, as_whole, strict=True)
                )
                spread = np.sqrt(scale / generator.standard_gamma(shape) * (1.0 + 1.0 / strength))
                z = centre + spread * generator.standard_normal(len(states))
            cells = mean[c] + stddev[c] * z
            drawn[name] = np.exp(cells) if self.of_logs else cells
        return drawn

    def _posterior(self, seen: Summary) -> tuple[FloatArray, ...]:
        """Mean and strength of means, scale and shape of variances; each by class and column."""
        scale, added = self.prior.scales(seen)
        strength = self.prior.mean_strength + seen.weight
        centre = self.prior.mean + seen.weight * (seen.mean - self.prior.mean) / strength
        return centre, strength, scale + added, self.prior.shapes(seen)

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        """Round numbers about the mean of the whole column; of logarithms, numbers of three digits."""
        from bayeswise.explanations.account import Contribution
        from bayeswise.explanations.alternatives import ALTERNATIVES, WIDTH, class_ends, number_grid, short_numbers

        at = self.columns.index(column)
        mean, _, stddev = self.unit
        own = self.moments.columns(np.array([at]))
        n_rows = float(own.pooled().weight.to_floats()[0, 0])
        if self.of_logs:
            reach = min(WIDTH, max(n_rows - 1.0, 0.0) ** 0.5)
            places = np.exp(mean[at] + stddev[at] * np.linspace(-reach, reach, ALTERNATIVES))
            shown = short_numbers(places, span)
        else:
            ends = class_ends(own.mean(empty=mean[at])[:, 0], own.stddev("n", empty=stddev[at])[:, 0])
            about = float(mean[at]), float(stddev[at]), n_rows
            shown = np.array(number_grid(*about, whole=own.are_whole(), classes=ends, span=span))
        z = np.zeros((len(shown), len(self.columns)))
        z[:, at] = ((np.log(shown) if self.of_logs else shown) - mean[at]) / stddev[at]
        log_cells = self._log_cells(z)[:, :, at]
        return tuple(Contribution(column, float(x), log_cells[k]) for k, x in enumerate(shown))

    def n_free_parameters(self) -> int:
        n_states = len(self.seen.weight)
        return len(self.columns) * (n_states + (1 if self.shared else n_states))


def _log_factor(prior: Prior, seen: Summary, whole: Summary) -> FloatArray:
    """The states are the last axis but one."""
    return prior.log_evidence(seen) - prior.log_evidence(whole)
