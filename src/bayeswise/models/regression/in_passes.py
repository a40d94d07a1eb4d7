"""Regression of rows that stay where they are: passes over them answer with exact sums, and no row travels.

The first pass finds levels, means and deviations, the second a few rows to start from, and each other one the loss and
its derivatives at the weights of a step of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, ClassVar, TypeVar

import numpy as np

from bayeswise.engines.passes import REPORT_TYPES, columns_of, statistic_types
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.exact import ExactArray
from bayeswise.models.regression import glm
from bayeswise.models.regression.features import Features, markable, refuse_extreme, refuse_missing
from bayeswise.models.regression.glm import IteratedModel, refuse_outside
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.row_blocks import SPREADS, Rows, TargetRows, are_whole, whole_columns
from bayeswise.models.regression.solving.exact_sums import Derivatives, FewRows, are_many, derivatives, share_to_start
from bayeswise.models.regression.solving.logistic_fit import fit_by_sums, uses_sums
from bayeswise.models.settings.regression import LinearSettings, LogisticSettings
from bayeswise.statistics import Counts, Moments
from bayeswise.statistics.protocol import united
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.partitions import Pass, SpreadSource
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source

T = TypeVar("T", bound=Any)


@dataclass(frozen=True)
class Reading:
    """How rows are read: those without a target, and with missing="mean" those that lack a cell, are left out."""

    schema: Schema
    missing: str
    likelihood: str  # softmax: the target is a class

    def batches(self, source: Source) -> tuple[Iterator[tuple[Batch, FloatArray]], Callable[[], Report]]:
        """Batches with their targets (codes of the batch's own labels, or numbers), and the report at the end."""
        if self.likelihood == "softmax":
            encoder = Encoder(self.schema, learning=True, whole=False)
            rows = ((batch, batch.groups) for batch in encoder.batches(source))
            return self._whole(rows), lambda: encoder.report
        numbers = TargetRows(self.schema, source, whole=False)
        return self._whole(self._checked(numbers)), lambda: numbers.report

    def _checked(self, rows: TargetRows) -> Iterator[tuple[Batch, FloatArray]]:
        for batch, target in rows:
            refuse_outside(target, self.likelihood, rows.target, batch.place)
            yield batch, target

    def _whole(self, rows: Iterator[tuple[Batch, Any]]) -> Iterator[tuple[Batch, FloatArray]]:
        for batch, target in rows:
            refuse_missing(self.schema, batch, self.missing)
            if self.missing != "indicator":
                there = ~np.isnan(batch.values).any(axis=1) & (batch.codes >= 0).all(axis=1)
                batch, target = batch.take(np.flatnonzero(there)), target[there]
            if batch.n_rows:
                yield batch, target


# -- the first pass -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Seen:
    """What is to be known of rows before the first step."""

    n_rows: int
    numbers: Moments
    levels: tuple[Vocabulary, ...]
    categories: tuple[Counts, ...]
    target: Counts | Moments
    least: FloatArray  # (n_numbers,)
    largest: FloatArray  # (n_numbers,)
    whole: BoolArray  # (n_numbers,) whether all values are whole numbers

    @classmethod
    def of(cls, schema: Schema, batch: Batch, target: FloatArray, *, classes: bool) -> Seen:
        by = batch.weights
        counts = Counts.of_columns(batch.codes, list(batch.vocabularies), weights=by) if schema.categories else []
        low, high = np.fmin.reduce(batch.values, axis=0), np.fmax.reduce(batch.values, axis=0)
        return cls(
            batch.n_rows,
            Moments.of(batch.values, weights=by),
            tuple(Vocabulary.of(list(known)) for known in batch.vocabularies),
            tuple(counts),
            Counts.of(target.astype(np.int32), batch.group_labels, weights=by)
            if classes
            else Moments.of(target[:, None], weights=by),
            np.where(np.isnan(low), np.inf, low),
            np.where(np.isnan(high), -np.inf, high),
            are_whole(batch.values),
        )

    def merge(self, other: Seen) -> Seen:
        both = zip(self.categories, other.categories, strict=True)
        target: Any = self.target
        return Seen(
            self.n_rows + other.n_rows,
            self.numbers.merge(other.numbers),
            united(self.levels, other.levels),
            tuple(mine.merge(theirs) for mine, theirs in both),
            target.merge(other.target),
            np.minimum(self.least, other.least),
            np.maximum(self.largest, other.largest),
            self.whole & other.whole,
        )

    def features(self, schema: Schema, missing: str) -> Features:
        """The columns of the regression."""
        lacking = [
            *(~(self.numbers.rows[:, None] - self.numbers.weight).is_zero()[0]).tolist(),
            *(not bool(counts.missing.is_zero()[0]) for counts in self.categories),
        ]
        marked = tuple(name for name, there in zip(markable(schema), lacking, strict=True) if there)
        return Features(schema, self.levels, marked if missing == "indicator" else ())

    def extents(self, fill: FloatArray) -> tuple[tuple[float, float], ...]:
        """The least and the largest of each number, where missing ones are replaced by the mean."""
        none = np.isinf(self.least)
        low, high = (np.where(none, fill[: len(none)], each).tolist() for each in (self.least, self.largest))
        return tuple((first + 0.0, last + 0.0) for first, last in zip(low, high, strict=True))


@dataclass(frozen=True)
class SeenPass(Pass[tuple[Seen | None, Report]]):
    """Levels, means and deviations of all rows."""

    reading: Reading
    name: ClassVar[str] = "statistics"

    @property
    def types(self) -> tuple[type, ...]:
        return (Seen, *statistic_types(), *REPORT_TYPES)

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.reading.schema.numbers

    def of(self, source: Source) -> tuple[Seen | None, Report]:
        batches, report = self.reading.batches(source)
        classes = self.reading.likelihood == "softmax"
        parts = [Seen.of(self.reading.schema, batch, target, classes=classes) for batch, target in batches]
        return (reduce(Seen.merge, parts) if parts else None), report()

    def merged(self, one: tuple[Seen | None, Report], other: tuple[Seen | None, Report]) -> tuple[Seen | None, Report]:
        parts = [each for each in (one[0], other[0]) if each is not None]
        return (reduce(Seen.merge, parts) if parts else None), one[1].merge(other[1])


# -- standardised rows ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Standard:
    """How encoded rows become rows of a regression about their means, in units of their deviations."""

    reading: Reading
    features: Features
    classes: Vocabulary  # none for a number
    fill: FloatArray  # (n,) the replacement of missing cells
    centre: FloatArray  # (n,)
    unit: FloatArray  # (n,)

    @classmethod
    def of(
        cls, reading: Reading, seen: Seen, classes: Vocabulary, settings: LinearSettings | LogisticSettings
    ) -> Standard:
        features = seen.features(reading.schema, reading.missing)
        there = _moments(features, seen)
        fill = there.mean(empty=0.0)[0]
        filled = _with_means(there, fill)
        spread = filled.stddev()[0]
        refuse_extreme([name for name, _ in features.names], spread, *SPREADS)
        unit = np.where(features.is_number & (spread > 0) & settings.standardise, spread, 1.0)
        centre = filled.mean()[0]
        return cls(reading, features, classes, fill, centre if settings.fit_intercept else np.zeros_like(centre), unit)

    def rows(self, source: Source) -> Iterator[tuple[Rows, FloatArray]]:
        """Rows with their targets, codes of the classes or numbers."""
        for batch, target in self.reading.batches(source)[0]:
            matrix = self.features.matrix(batch)
            if self.reading.missing == "indicator":
                matrix = np.where(np.isnan(matrix), self.fill, matrix)
            if self.reading.likelihood == "softmax":
                target = batch.group_labels.positions_in(self.classes)[target].astype(np.int32)
            yield Rows(matrix, np.empty(0) if batch.weights is None else batch.weights, self.centre, self.unit), target


def _moments(features: Features, seen: Seen) -> Moments:
    """Those of each feature over the cells that are there."""
    rows = seen.numbers.rows
    weight, total, squares = ([exact[0, j] for j in range(exact.shape[1])] for exact in _sums(seen.numbers))
    for counts, ordered in zip(seen.categories, features.ordered, strict=True):
        places = ordered.positions_in(counts.levels)[1:].tolist()
        found = [counts.weight[0, k] if k >= 0 else ExactArray.zeros(()) for k in places]
        weight += [(rows - counts.missing)[0]] * len(found)
        total, squares = total + found, squares + found
    by_column = dict(zip(markable(features.schema), _lacking(seen), strict=True))
    for name in features.marked:
        weight, total, squares = [*weight, rows[0]], [*total, by_column[name]], [*squares, by_column[name]]
    return Moments(rows, *(_row(each) for each in (weight, total, squares)))


def _sums(moments: Moments) -> tuple[ExactArray, ExactArray, ExactArray]:
    return moments.weight, moments.total, moments.squares


def _lacking(seen: Seen) -> list[ExactArray]:
    """The weight of rows that lack a cell, of each column."""
    numbers = seen.numbers.rows[:, None] - seen.numbers.weight
    return [numbers[0, j] for j in range(numbers.shape[1])] + [counts.missing[0] for counts in seen.categories]


def _row(entries: list[ExactArray]) -> ExactArray:
    return _exact([entry.to_fractions().item() for entry in entries])


def _exact(values: list[Fraction]) -> ExactArray:
    """(1, n) sums of floats as they are: their denominators are powers of 2."""
    limbs = max((value.denominator.bit_length() + 30 for value in values), default=0) // 32
    whole = np.empty((1, len(values)), dtype=object)
    whole[0] = [int(value * (1 << 32 * limbs)) for value in values]
    return ExactArray.from_ints(whole, -limbs)


def _with_means(there: Moments, fill: FloatArray) -> Moments:
    """The moments with a mean in the place of each missing cell."""
    lacking = (there.rows[:, None] - there.weight).to_fractions()[0]
    if not lacking.any():
        return there
    means = [Fraction(value) for value in fill.tolist()]
    added = [[n * mean for n, mean in zip(lacking, means, strict=True)]]
    added.append([n * mean * mean for n, mean in zip(lacking, means, strict=True)])
    rows = _exact(there.rows.to_fractions().tolist() * len(means))
    return Moments(there.rows, rows, there.total + _exact(added[0]), there.squares + _exact(added[1]))


def seen_in(source: SpreadSource, reading: Reading) -> tuple[Seen | None, Report]:
    """The first pass over the rows of a source."""
    seen, report = source.ask(SeenPass(reading), columns_of(reading.schema, source))
    report.check(reading.schema, source.description)
    source.n_rows = report.rows
    return seen, report


# -- the other passes -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class StandardPass(Pass[T]):
    """What rows about their means say, of which any two parts merge."""

    standard: Standard

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.standard.reading.schema.numbers

    def merged(self, one: T, other: T) -> T:
        return one.merge(other)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class SamplePass(StandardPass[FewRows]):
    """A few rows."""

    share: float
    name: ClassVar[str] = "sample"

    @property
    def types(self) -> tuple[type, ...]:
        return (FewRows, *statistic_types())

    def of(self, source: Source) -> FewRows:
        parts = [FewRows.of(rows, target, self.share) for rows, target in self.standard.rows(source)]
        return reduce(FewRows.merge, parts, FewRows.empty(len(self.standard.centre)))


@dataclass(frozen=True)
class StepPass(StandardPass[Derivatives]):
    """The loss of all rows at some weights, with its derivatives."""

    weights: FloatArray  # (n_vectors, n)
    name: ClassVar[str] = "step"

    @property
    def types(self) -> tuple[type, ...]:
        return (Derivatives, *statistic_types())

    def of(self, source: Source) -> Derivatives:
        likelihood = self.standard.reading.likelihood
        parts = (derivatives(*each, self.weights, likelihood) for each in self.standard.rows(source))
        return reduce(Derivatives.merge, parts, Derivatives.empty(self.weights.size))


@dataclass(frozen=True)
class RowsElsewhere:
    """Rows in partitions, which answer with sums."""

    source: SpreadSource
    standard: Standard
    seen: Seen

    @cached_property
    def total_weight(self) -> float:
        return float(self.seen.numbers.rows.to_floats()[0])

    @property
    def centre(self) -> FloatArray:
        return self.standard.centre

    @property
    def unit(self) -> FloatArray:
        return self.standard.unit

    def few(self) -> tuple[Rows, FloatArray]:
        share = share_to_start(self.seen.n_rows, self.total_weight, len(self.centre))
        found = self._answer(SamplePass(self.standard, share))
        return found.rows(self.centre, self.unit), found.target

    def derivatives(self, weights: FloatArray) -> Derivatives:
        return self._answer(StepPass(self.standard, weights))

    def _answer(self, work: Pass[T]) -> T:
        return self.source.ask(work, columns_of(self.standard.reading.schema, self.source))


def logistic_elsewhere(
    source: SpreadSource, schema: Schema, settings: LogisticSettings
) -> tuple[LogisticModel, Report] | None:
    """Logistic regression by passes; None where the rows are few, or sums of them are not enough."""
    if _are_certainly_few(source, schema):
        return None
    reading = Reading(schema, settings.missing, "softmax")
    seen, report = seen_in(source, reading)
    if seen is None or not isinstance(seen.target, Counts):
        return None  # which has its errors
    classes = Vocabulary.in_order(list(seen.target.levels), schema.declared_classes)
    features = seen.features(schema, settings.missing)
    if not uses_sums(seen.n_rows, len(features.names), len(classes), settings):
        return None
    standard = Standard.of(reading, seen, classes, settings)
    fit = fit_by_sums(RowsElsewhere(source, standard, seen), len(classes), settings)
    if fit is None:
        return None
    weight = seen.target.weight[0, classes.positions_in(seen.target.levels)].to_floats()
    model = LogisticModel.of(features, classes, settings, fit, weight)
    whole = whole_columns(schema, seen.whole)
    return replace(model, extents=seen.extents(standard.fill), whole=whole), report


def iterated_elsewhere(
    source: SpreadSource, schema: Schema, settings: LinearSettings
) -> tuple[IteratedModel, Report] | None:
    """The regression of counts or times by passes; None where the rows are few, or sums of them are not enough."""
    if settings.likelihood not in ("poisson", "exponential") or _are_certainly_few(source, schema):
        return None
    reading = Reading(schema, settings.missing, settings.likelihood)
    seen, report = seen_in(source, reading)
    if seen is None or not isinstance(seen.target, Moments):
        return None
    features = seen.features(schema, settings.missing)
    if not glm.uses_sums(seen.n_rows, len(features.names), settings):
        return None
    standard = Standard.of(reading, seen, Vocabulary(), settings)
    model = glm.fit_by_sums(features, RowsElsewhere(source, standard, seen), seen.target, settings)
    return model, report


def _are_certainly_few(source: SpreadSource, schema: Schema) -> bool:
    """Whether the rows are few however many levels they show, so that no pass needs to count these."""
    n_rows = source.n_rows
    return n_rows is not None and not are_many(n_rows, 2 * len(schema.numbers) + (n_rows + 1) * len(schema.categories))
