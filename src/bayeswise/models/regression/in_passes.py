"""Regression of rows that stay where they are: passes over them answer with exact sums, and no row travels.

The first pass finds levels, means and deviations, the second a few rows to start from, and each other one the loss and
its derivatives at the weights of a step of Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import ClassVar, TypeVar

from bayeswise.engines.passes import columns_of, statistic_types
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.regression import glm
from bayeswise.models.regression.first_pass import Reading, Seen, Standard, seen_in
from bayeswise.models.regression.glm import IteratedModel
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.rows import Rows
from bayeswise.models.regression.solving.exact_sums import Derivatives, FewRows, are_many, derivatives, share_to_start
from bayeswise.models.regression.solving.logistic_by_sums import asks_for_sums, fit_by_sums
from bayeswise.models.settings.regression import LinearSettings, LogisticSettings
from bayeswise.statistics import Counts, Moments
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.partitions import Pass, SpreadSource
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source

T = TypeVar("T")


@dataclass(frozen=True)
class SamplePass(Pass[FewRows]):
    """A few rows."""

    standard: Standard
    share: float
    name: ClassVar[str] = "sample"

    @property
    def types(self) -> tuple[type, ...]:
        return (FewRows, *statistic_types())

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.standard.reading.schema.numbers

    def of(self, source: Source) -> FewRows:
        parts = [FewRows.of(rows, target, self.share) for rows, target in self.standard.rows(source)]
        return reduce(FewRows.merge, parts, FewRows.empty(len(self.standard.centre)))

    def merged(self, one: FewRows, other: FewRows) -> FewRows:
        return one.merge(other)


@dataclass(frozen=True)
class StepPass(Pass[Derivatives]):
    """The loss of all rows at some weights, with its derivatives."""

    standard: Standard
    weights: FloatArray  # (n_vectors, n)
    name: ClassVar[str] = "step"

    @property
    def types(self) -> tuple[type, ...]:
        return (Derivatives, *statistic_types())

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.standard.reading.schema.numbers

    def of(self, source: Source) -> Derivatives:
        likelihood = self.standard.reading.likelihood
        parts = (derivatives(*each, self.weights, likelihood) for each in self.standard.rows(source))
        return reduce(Derivatives.merge, parts, Derivatives.empty(self.weights.size))

    def merged(self, one: Derivatives, other: Derivatives) -> Derivatives:
        return one.merge(other)


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
        found = self._asked(SamplePass(self.standard, share))
        return found.rows(self.centre, self.unit), found.target

    def derivatives(self, weights: FloatArray) -> Derivatives:
        return self._asked(StepPass(self.standard, weights))

    def _asked(self, work: Pass[T]) -> T:
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
    classes = Vocabulary.in_order(list(seen.target.levels), (schema.target and schema.target.classes) or Vocabulary())
    features = seen.features(schema, settings.missing)
    if not asks_for_sums(seen.n_rows, len(features.names), len(classes), settings):
        return None
    standard = Standard.of(reading, seen, classes, settings)
    fit = fit_by_sums(RowsElsewhere(source, standard, seen), len(classes), settings)
    if fit is None:
        return None
    weight = seen.target.weight[0, classes.positions_in(seen.target.levels)].to_floats()
    model = LogisticModel.of(features, classes, settings, fit, weight)
    return replace(model, extents=seen.extents(standard.fill)), report


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
    if not glm.asks_for_sums(seen.n_rows, len(features.names), settings):
        return None
    standard = Standard.of(reading, seen, Vocabulary(), settings)
    model = glm.fit_by_sums(features, RowsElsewhere(source, standard, seen), seen.target, settings)
    return model, report


def _are_certainly_few(source: SpreadSource, schema: Schema) -> bool:
    """Whether the rows are few however many levels they show, so that no pass needs to count these."""
    n_rows = source.n_rows
    return n_rows is not None and not are_many(n_rows, 2 * len(schema.numbers) + (n_rows + 1) * len(schema.categories))
