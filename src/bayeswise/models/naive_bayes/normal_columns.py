"""Normal columns: log p(x | state) = -log(stddev sqrt(2 pi)) - z^2 / 2, with a floor under each column's variance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise import _kernels
from bayeswise.engines import Request
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.naive_bayes.factors import Leaving, LinearTerm, OfColumns, Scores
from bayeswise.models.naive_bayes.left_out import log_left_out
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.statistics import Moments
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import Schema, positions_in

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.families.continuous.normal import NormalParameters
    from bayeswise.statistics.numbers.extents import Span

LEAST_SPREAD = 2.0**-26
"""Without a floor, a class that is constant where the column varies gets this share of the column's stddev."""


@dataclass(frozen=True)
class Numbers:
    """The columns modelled by a normal distribution for each class."""

    columns: tuple[str, ...]

    name = "normal"

    def request(self, schema: Schema) -> Request:
        return Request.numbers(self.name, self.columns, Moments.of)

    def scores(self, statistic: Moments, settings: NaiveBayesSettings, schema: Schema) -> NormalScores:
        positions = positions_in(schema.numbers, self.columns)
        return NormalScores(self.columns, positions, statistic, settings, normal_parameters(statistic, settings))


def normal_parameters(statistic: Moments, settings: NaiveBayesSettings) -> NormalParameters:
    """Mean and stddev of each class and column, (n_states, n_columns), finite whatever the rows.

    A class without a cell in a column gets the whole column's mean and stddev there: it is not evidence for
    or against it. A column that never varies has the stddev 0 everywhere, and is not evidence.
    """
    return ClassMoments.of(statistic, settings).within(statistic.pooled(), settings)


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Mean and stddev of each class by its own cells alone, (n_states, n_columns); 0 where there is no cell."""

    none: BoolArray
    mean: FloatArray
    mean_low: FloatArray
    stddev: FloatArray

    @classmethod
    def of(cls, statistic: Moments, settings: NaiveBayesSettings) -> ClassMoments:
        return cls(statistic.is_empty(), *statistic.mean_pair(empty=0.0), _stddev(statistic, settings))

    def within(self, whole: Moments, settings: NaiveBayesSettings) -> NormalParameters:
        """The parameters, where the statistic of all classes together replaces missing classes and sets the floor."""
        pair = whole.mean_pair(empty=0.0)
        return self.inside(ClassMoments(whole.is_empty(), *pair, whole.stddev("n", empty=0.0)), settings)

    def inside(self, whole: ClassMoments, settings: NaiveBayesSettings) -> NormalParameters:
        """The same, with the moments of all classes together, (1, n_columns)."""
        from bayeswise.families.continuous.normal import NormalParameters

        stddev = np.where(self.none, whole.stddev, self.stddev)
        mean, mean_low = np.where(self.none, whole.mean, self.mean), np.where(self.none, whole.mean_low, self.mean_low)
        return NormalParameters(mean, raised(stddev, whole.stddev, settings), mean_low)


def raised(stddev: FloatArray, whole_stddev: FloatArray, settings: NaiveBayesSettings) -> FloatArray:
    """The stddev after the rule for variances: above zero in every column that varies, zero in the others."""
    if settings.variance_rule == "added":
        added = np.sqrt(settings.variance_floor) * np.max(whole_stddev, axis=-1, keepdims=True, initial=0.0)
        stddev = np.hypot(stddev, added)
    else:
        stddev = np.maximum(stddev, np.sqrt(settings.variance_floor) * whole_stddev)
    smallest = np.maximum(whole_stddev * LEAST_SPREAD, np.nextafter(0.0, 1.0))
    return np.where(whole_stddev > 0, np.where(stddev > 0, stddev, smallest), 0.0)


def _stddev(statistic: Moments, settings: NaiveBayesSettings) -> FloatArray:
    if not settings.shared_variance:
        return statistic.stddev(settings.variance_divisor, empty=0.0)
    weight = statistic.weight.to_floats()
    total = weight.sum(axis=0)
    df = total if settings.variance_divisor == "n" else total - (weight > 0).sum(axis=0)
    norms = np.sqrt(weight) * statistic.stddev("n", empty=0.0)
    largest = norms.max(axis=0, initial=0.0)
    relative = norms / np.where(largest > 0, largest, 1.0)
    share = np.divide((relative**2).sum(axis=0), df, out=np.zeros_like(total), where=df > 0)
    return np.broadcast_to(largest * np.sqrt(share), weight.shape).copy()


@dataclass(frozen=True, eq=False)
class NormalScores(OfColumns):
    """Parameters in the form the kernel needs."""

    columns: tuple[str, ...]
    positions: IntArray  # of the columns in Batch.values
    statistic: Moments
    settings: NaiveBayesSettings
    parameters: NormalParameters

    @cached_property
    def precision(self) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.where(self.varies, 1.0 / self._divisor, 0.0)

    @cached_property
    def log_peak(self) -> FloatArray:
        from bayeswise.families.continuous.normal import LOG_TWO_PI

        return np.where(self.varies, -np.log(self._divisor) - 0.5 * LOG_TWO_PI, 0.0)

    @cached_property
    def varies(self) -> BoolArray:
        """(n_columns,) whether the column says anything."""
        return np.asarray((self.parameters.stddev > 0).all(axis=0))

    @property
    def _divisor(self) -> FloatArray:
        return np.where(self.varies, self.parameters.stddev, 1.0)

    @cached_property
    def is_ordinary(self) -> bool:
        """Whether the kernel's x - mean and 1 / stddev stay in range."""
        largest = np.abs(self.parameters.mean).max(initial=0.0)
        used = self.precision[:, self.varies]
        return bool(largest < 2.0**1020 and np.isfinite(used).all() and (used > 2.0**-1000).all())

    def values(self, batch: Batch) -> FloatArray:
        return self.own(batch.values)

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        values = self.values(batch)
        if self.is_ordinary:
            p = self.parameters
            _kernels.add_normal(log_joint, values, p.mean, np.asarray(p.mean_low), self.precision, self.log_peak)
        else:
            log_joint += self.by_column(batch).sum(axis=1)

    def by_column(self, batch: Batch) -> FloatArray:
        from bayeswise.families.continuous.normal import Normal, NormalParameters

        values = self.values(batch)[:, None, :]  # (n_rows, 1, n_columns)
        p = NormalParameters(self.parameters.mean, self._divisor, self.parameters.mean_low)
        log_cells = Normal().log_density(p, values)  # (n_rows, n_states, n_columns)
        return np.where(np.isnan(values) | ~self.varies, 0.0, log_cells).transpose(0, 2, 1)

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        return log_left_out(self, self.values(batch), Leaving.of(groups, weights))

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        mean, stddev = self.parameters.mean[states], self.parameters.stddev[states]
        drawn = mean + stddev * generator.standard_normal(mean.shape)
        return {name: drawn[:, c] for c, name in enumerate(self.columns)}

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        """Round numbers about the mean of the whole column, where it has values."""
        from bayeswise.explanations.account import Contribution
        from bayeswise.explanations.alternatives import class_ends, number_grid
        from bayeswise.families.continuous.normal import Normal, NormalParameters

        at = self.columns.index(column)
        own = self.statistic.columns(np.array([at]))
        pooled = own.pooled()
        mean, stddev = float(pooled.mean(empty=0.0)[0, 0]), float(pooled.stddev("n", empty=0.0)[0, 0])
        if not self.varies[at]:
            return (Contribution(column, mean, np.zeros(len(self.parameters.mean))),)
        n_rows = float(pooled.weight.to_floats()[0, 0])
        p = self.parameters
        ends = class_ends(p.mean[:, at], p.stddev[:, at])
        grid = np.array(number_grid(mean, stddev, n_rows, whole=own.are_whole(), classes=ends, span=span))
        one = NormalParameters(p.mean[:, at], p.stddev[:, at], np.asarray(p.mean_low)[:, at])
        log_cells = Normal().log_density(one, grid[:, None])  # (n_values, n_states)
        return tuple(Contribution(column, float(x), log_cells[k]) for k, x in enumerate(grid))

    def linear_terms(self) -> Iterator[LinearTerm] | None:
        """w = mean / variance about the whole column's mean; the squares cancel where the variance is shared."""
        if not self.settings.shared_variance:
            return None
        return self._linear_terms()

    def _linear_terms(self) -> Iterator[LinearTerm]:
        centre = self.statistic.pooled().mean(empty=0.0)[0]
        p = self.parameters
        away = (p.mean - centre) + p.mean_low  # (n_states, n_columns)
        for c, name in enumerate(self.columns):
            scaled = away[:, c] * self.precision[:, c]
            constant = self.log_peak[:, c] - 0.5 * scaled**2
            yield LinearTerm(name, None, scaled * self.precision[:, c], constant, float(centre[c]))

    def n_free_parameters(self) -> int:
        n_states, n_columns = (int(size) for size in self.parameters.mean.shape)
        return n_columns * (n_states + (1 if self.settings.shared_variance else n_states))


# -- rows so far out that every state has density 0 in doubles ------------------------------------------------


def far_out(joint: FloatArray, batch: Batch, log_prior: FloatArray, scores: Sequence[Scores]) -> IntArray:
    """Repair rows of the log joint that are minus infinity in every state; the rows that were, up to a constant.

    Their squares are compared as fractions.
    """
    normal = next((each for each in scores if isinstance(each, NormalScores)), None)
    if normal is None:
        return np.empty(0, dtype=np.int64)
    lost = np.flatnonzero(joint.max(axis=1, initial=-np.inf) == -np.inf)
    repaired = []
    for row in lost.tolist():
        part = batch.rows(slice(row, row + 1))
        rest = log_prior + sum(
            (each.by_column(part).sum(axis=1)[0] for each in scores if each is not normal), np.zeros_like(log_prior)
        )
        log_ratio = _relative(normal, normal.values(part)[0], rest)
        if log_ratio is not None:
            joint[row] = log_ratio
            repaired.append(row)
    return np.array(repaired, dtype=np.int64)


def _relative(normal: NormalScores, x: FloatArray, rest: FloatArray) -> FloatArray | None:
    """The log joint of one row less its largest quadratic term; None if the states are excluded for other reasons."""
    possible = np.isfinite(rest)
    if not possible.any():
        return None
    seen = [c for c in range(len(x)) if normal.varies[c] and not math.isnan(x[c])]
    quadratic = [_half_squares(normal, x, state, seen) for state in range(len(rest))]
    least = min(quadratic[state] for state in np.flatnonzero(possible))
    peaks = normal.log_peak[:, seen].sum(axis=1)
    ratio = [_float(least - quadratic[state]) for state in range(len(rest))]
    return np.where(possible, rest + peaks + np.array(ratio), -np.inf)


def _half_squares(normal: NormalScores, x: FloatArray, state: int, columns: list[int]) -> Fraction:
    p = normal.parameters
    total = Fraction(0)
    for c in columns:
        z = (Fraction(x[c]) - Fraction(p.mean[state, c])) / Fraction(p.stddev[state, c])
        total += z * z
    return total / 2


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return -math.inf
