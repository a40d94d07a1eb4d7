"""Several naive Bayes models of one table side by side: bits, and how well each predicts rows left out.

All of them are made of the statistics of one sweep. Normal, exponential and geometric columns need the same sums; the
logarithms of positive columns and the log factorials of whole ones are summed beside them, as long as a column is
positive or whole. Rows are kept to be left out, each in closed form: all of a table of up to 8,192, a sample
of a larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Unpack

import numpy as np

from bayeswise.engines import Request, summarise
from bayeswise.engines.local import ROWS
from bayeswise.families.protocol import Extent
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError
from bayeswise.foundation.exact import stacked
from bayeswise.foundation.special import gammaln
from bayeswise.models.averaged_naive_bayes.category_pairs import PairedNumbers, with_pairs
from bayeswise.models.averaged_naive_bayes.model import averaged
from bayeswise.models.description_length.bits import Part
from bayeswise.models.description_length.lengths import description_length
from bayeswise.models.from_table import no_rows
from bayeswise.models.naive_bayes.choices import candidates as families_allowed
from bayeswise.models.naive_bayes.choices import choice, factors_for
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.model import NaiveBayesModel, request_of
from bayeswise.models.naive_bayes.normal_columns import Numbers
from bayeswise.models.naive_bayes.others import Others
from bayeswise.models.relearning import posteriors_of_folds
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.posteriors.calibration import turns
from bayeswise.statistics import Moments, Product
from bayeswise.statistics.intervals import MOST_FOLDS, Bounds, Estimate, mean_with_interval, variance_inflation
from bayeswise.statistics.numbers.kernel_numbers import log_of
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.overrides import SchemaOverrides, spelling_overrides
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source, open_source

LEVEL = 0.95  # of the intervals

CostsOf = Callable[[tuple[Any, ...]], FloatArray]


@dataclass(frozen=True)
class Compared:
    """One model's line."""

    name: str
    bits: float  # -log2 p(all rows), parameters integrated out
    log_loss: float  # the mean of -log p(own class) over rows left out, in nats
    error: float  # the share of rows left out whose most probable class is wrong
    cost: float | None  # the mean cost of the cheapest action for rows left out
    log_loss_interval: tuple[float, float] = (-np.inf, np.inf)  # of 95 %, corrected for shared training rows
    error_interval: tuple[float, float] = (0.0, 1.0)
    cost_interval: tuple[float, float] | None = None
    n_rows: int = 0  # how many rows were left out, each in turn
    families: str = "given"  # whose: "given", "of each fold", or "of all rows" where only some are at hand
    parts: tuple[Part, ...] = ()  # the bits of the target, and of each column


@spelling_overrides
def candidates(table: Any, target: str, **overrides: Unpack[SchemaOverrides]) -> dict[str, NaiveBayesModel]:
    """Four readings of one table; the last one only where some column is a number of another family than its kind's."""
    return candidates_of(open_source(table), target, KeptRows(0), overrides)


@spelling_overrides
def compare_table(
    table: Any, target: str, costs_of: CostsOf | None = None, **overrides: Unpack[SchemaOverrides]
) -> tuple[Compared, ...]:
    """The candidates of a table, in one pass over it; `costs_of` gives costs (n_actions, n_states) for the classes.

    >>> rows = 8 * [{"wind": w, "play": p} for w, p in (("weak", "yes"), ("strong", "no"))]
    >>> [(line.name, round(line.bits), line.error) for line in compare_table(rows, "play")]
    [('naive Bayes', 24, 0.0), ('averaged', 25, 0.0), ('baseline (prior only)', 35, 1.0)]
    """
    kept = KeptRows()
    models = candidates_of(open_source(table), target, kept, overrides)
    first = next(iter(models.values()))
    return _compared(models, kept.batches(first.schema, first.vocabularies), costs_of)


def compare(models: Mapping[str, NaiveBayesModel], table: Any, costs_of: CostsOf | None = None) -> tuple[Compared, ...]:
    """Models that have learned a table, in the order of their bits; every row is left out in turn."""
    first = next(iter(models.values()))
    encoder = Encoder(first.schema, learning=True, vocabularies=dict(first.vocabularies), check_invalid=False)
    return _compared(models, encoder.batches(open_like(table, first.schema)), costs_of)


def _compared(
    models: Mapping[str, NaiveBayesModel], batches: Iterable[Batch], costs_of: CostsOf | None
) -> tuple[Compared, ...]:
    rows = [batch for batch in batches if batch.n_rows]
    if not rows:
        raise FitError("there is no row to leave out", fix="give the rows that the models have learned")
    weights = np.concatenate([each.row_weights for each in rows])
    lines = []
    for name, model in models.items():
        own = np.concatenate([each.groups_in(model.statistics.labels) for each in rows])
        costs = None if costs_of is None else costs_of(model.classes)
        relearns = bool(model.selected_by_rows) and _are_all_rows(model, weights) and len(own) > 1
        figures = _figures(_log_posteriors(model, rows, own, relearns), own, weights, costs)
        families = "of each fold" if relearns else "of all rows" if model.selected_by_rows else "given"
        length = description_length(model)
        lines.append(Compared(name, length.bits, **figures, n_rows=len(own), families=families, parts=length.parts))
    return tuple(sorted(lines, key=lambda line: line.bits))


def _log_posteriors(
    model: NaiveBayesModel, rows: list[Batch], own: IntArray, relearns: bool
) -> tuple[FloatArray, FloatArray]:
    """(n_rows, n_states) log p(state) of rows left out, and in folds; both in folds where these choose families."""
    few = min(MOST_FOLDS, len(own) if relearns else len(own) // 2)
    kept = model if relearns else replace(model, selected=False)
    if few < 2:
        alone = kept.leave_one_out_log_proba(rows)
        return alone, alone
    in_folds = np.full((len(own), len(model.classes)), -np.inf)
    for places, found in posteriors_of_folds(kept, rows, turns(own, few), range(few), logarithms=True):
        in_folds[places] = found
    if relearns:
        return in_folds, in_folds
    return kept.leave_one_out_log_proba(rows), in_folds


def _are_all_rows(model: NaiveBayesModel, weights: FloatArray) -> bool:
    """Whether rows of these weights are all that the model has learned."""
    return bool(np.isclose(weights.sum(), model.class_weight.sum(), rtol=1e-12))


def _figures(
    log_posteriors: tuple[FloatArray, FloatArray], own: IntArray, weights: FloatArray, costs: FloatArray | None
) -> dict[str, Any]:
    """The means over rows left out, with intervals that hold those in folds."""
    alone, in_folds = (_values(each, own, costs) for each in log_posteriors)
    bounds = {"error": (0.0, 1.0), "cost": None if costs is None else (float(costs.min()), float(costs.max()))}
    figures: dict[str, Any] = {"cost": None}
    for name, values in alone.items():
        both = [_with_interval(each, weights, bounds.get(name)) for each in (values, in_folds[name])]
        found = both[0].around(both[1])
        figures[name], figures[f"{name}_interval"] = found.mean, (found.low, found.high)
    return figures


def _values(log_posterior: FloatArray, own: IntArray, costs: FloatArray | None) -> dict[str, FloatArray]:
    """(n_rows,) log-loss, error and cost of each row."""
    rows = np.arange(len(own))
    wrong = np.argmax(log_posterior, axis=1) != own
    values = {"log_loss": -log_posterior[rows, own], "error": wrong.astype(float)}
    if costs is not None:
        values["cost"] = costs[np.argmin(np.exp(log_posterior) @ costs.T, axis=1), own]
    return values


def _with_interval(values: FloatArray, weights: FloatArray, bounds: Bounds | None) -> Estimate:
    if not np.isfinite(values).all():
        return Estimate(np.inf, float(np.average(np.where(np.isfinite(values), values, 0.0), weights=weights)), np.inf)
    return mean_with_interval(values, weights, LEVEL, bounds, variance_inflation(MOST_FOLDS))


_LOGS, _FACTORIALS = "logarithms", "log factorials"


# -- four readings of one table from the statistics of one sweep ----------------------------------------------


def candidates_of(
    source: Source, target: str, kept: KeptRows, overrides: SchemaOverrides
) -> dict[str, NaiveBayesModel]:
    """The models by name; some rows to leave out go to `kept`."""
    schema = infer_schema(source, target, **overrides)
    factors = with_pairs(factors_for(schema, "auto"))
    request = request_of(factors, schema)
    if schema.numbers:
        request = request | Request.numbers(_LOGS, schema.numbers, _moments_of_logs)
        request = request | Request.numbers(_FACTORIALS, schema.numbers, _moments_of_factorials)
    lowest = _Lowest(np.full(len(schema.numbers), np.inf))
    batches = lowest.watching(Encoder(schema, learning=True).batches(source))
    found = summarise(kept.watching(batches), schema, request)
    if found.n_rows == 0:
        raise no_rows(source, schema)
    every = found.statistics.part
    own = Product({name: every[name] for name in (ROWS, *(factor.name for factor in factors))})
    plain = NaiveBayesModel(schema, NaiveBayesSettings(), replace(found.statistics, part=own), factors)
    models = {
        "baseline (prior only)": averaged(plain, relevance=0.0),
        "naive Bayes": plain,
        "averaged": averaged(plain, relevance=0.5),
    }
    chosen = _Shared(schema, plain, every, lowest.values).by_evidence() if schema.numbers else plain
    if chosen.factors != plain.factors:
        models["averaged, families by evidence"] = averaged(chosen, relevance=0.5)
    return models


@dataclass
class _Lowest:
    """The smallest cell of each number column."""

    values: FloatArray  # (n_columns,)

    def watching(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            self.values = np.fmin(self.values, np.fmin.reduce(batch.values, axis=0, initial=np.inf))
            yield batch


def _moments_of_logs(
    values: FloatArray, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
) -> Moments:
    """Of columns that are positive in these rows; no cell of the others."""
    inside = np.flatnonzero(~(values <= 0).any(axis=0))
    return _spread(log_of(_picked(values, inside)), inside, values.shape[1], groups, n_groups, weights)


def _moments_of_factorials(
    values: FloatArray, groups: CodeArray | None, n_groups: int, weights: FloatArray | None
) -> Moments:
    """Of columns that are whole and not negative in these rows; no cell of the others."""
    at_sight = np.flatnonzero(_are_counts(values[:64]))
    inside = at_sight[_are_counts(values[:, at_sight])]
    return _spread(gammaln(_picked(values, inside) + 1.0), inside, values.shape[1], groups, n_groups, weights)


def _are_counts(values: FloatArray) -> BoolArray:
    return np.asarray(~((values < 0) | ((values != np.floor(values)) & ~np.isnan(values))).any(axis=0))


def _picked(values: FloatArray, columns: IntArray) -> FloatArray:
    return np.ascontiguousarray(values[:, columns])


def _spread(
    cells: FloatArray,
    columns: IntArray,
    n_columns: int,
    groups: CodeArray | None,
    n_groups: int,
    weights: FloatArray | None,
) -> Moments:
    """The moments of some columns in their places among all."""
    some = Moments.of(cells, groups, n_groups, weights)
    parts = [part.scatter_to(columns, n_columns, axis=1) for part in (some.weight, some.total, some.squares)]
    return Moments(some.rows, *parts)


@dataclass(frozen=True)
class _Shared:
    """What one sweep has summed of all number columns."""

    schema: Schema
    plain: NaiveBayesModel
    every: Product
    lowest: FloatArray  # (n_columns,)

    def by_evidence(self) -> NaiveBayesModel:
        """The model of the families with the largest evidence."""
        best = {name: choice(name, self._statistics(name)).family for name in self.schema.numbers}
        factors = tuple(self._paired(factor) for factor in factors_for(self.schema, best))
        parts = {factor.name: self._part(factor) for factor in factors}
        whole = Product({ROWS: self.every[ROWS], **parts})
        statistics = replace(self.plain.statistics, part=whole)
        return replace(self.plain, statistics=statistics, factors=factors, selected=True)

    def _paired(self, factor: Factor) -> Factor:
        """With the sums of pairs, if those of all its columns are known."""
        before = next((each for each in self.plain.factors if isinstance(each, PairedNumbers)), None)
        if before is None or type(factor) is not Numbers or not set(factor.columns) <= set(before.columns):
            return factor
        return PairedNumbers(factor.columns, before.most_rows)

    def _statistics(self, name: str) -> Mapping[Any, Any]:
        """The statistic of a column under each family that it allows."""
        values, factorials = self._values(name), self._column(_FACTORIALS, name)
        logs = self._column(_LOGS, name)
        lowest, whole = float(self.lowest[self.schema.numbers.index(name)]), _are_all(factorials, values)
        is_flag = whole and lowest == 0.0 and bool((values.squares - values.total).is_zero().all())  # x^2 = x
        extent = Extent(lowest, whole, 1.0 if is_flag else np.inf)
        return {family: family.of_moments(values, logs, factorials) for family in families_allowed(extent)}

    def _values(self, name: str) -> Moments:
        factor = next(each for each in self.plain.factors if name in each.columns)
        part, place = self.every[factor.name], np.array([factor.columns.index(name)])
        if isinstance(factor, PairedNumbers):
            part = part.moments
        moments: Moments = (part if isinstance(part, Moments) else part["values"]).columns(place)
        return moments

    def _column(self, which: str, name: str) -> Moments:
        column: Moments = self.every[which].columns(np.array([self.schema.numbers.index(name)]))
        return column

    def _part(self, factor: Any) -> Any:
        """The statistic of a factor, put together from its columns; of the same columns as before, with their pairs."""
        if factor in self.plain.factors:
            return self.every[factor.name]
        if isinstance(factor, PairedNumbers):
            before = next(each for each in self.plain.factors if isinstance(each, PairedNumbers))
            return self.every[before.name].columns(np.array([before.columns.index(name) for name in factor.columns]))
        if not isinstance(factor, Numbers | Others):
            return self.every[factor.name]
        values = _side_by_side([self._values(name) for name in factor.columns])
        if isinstance(factor, Numbers):
            return values
        others = (
            _side_by_side([self._column(which, name) for name in factor.columns]) for which in (_LOGS, _FACTORIALS)
        )
        return factor.family.of_moments(values, *others)


def _are_all(some: Moments, every: Moments) -> bool:
    """Whether no cell was left out."""
    return bool((some.weight.to_floats() == every.weight.to_floats()).all())


def _side_by_side(columns: list[Moments]) -> Moments:
    parts = [stacked([getattr(each, name)[:, 0] for each in columns]) for name in ("weight", "total", "squares")]
    return Moments(columns[0].rows, *parts)


MOST_ROWS = 1 << 13
_SEED = 0x6B65_7074_2072_6F77  # a small one may be the seed that made the table, and choose by its columns


@dataclass
class KeptRows:
    """At most `most` rows: each has a number drawn for it, and the bar is lowered whenever too many lie below it."""

    most: int = MOST_ROWS
    parts: list[tuple[Batch, IntArray]] = field(default_factory=list)
    bar: int = 1 << 32
    _generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(_SEED))

    def watching(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches as they come; some of their rows are kept."""
        for batch in batches:
            numbers = self._generator.integers(0, 1 << 32, batch.n_rows)
            has_target = np.ones(batch.n_rows, dtype=bool) if batch.groups is None else batch.groups >= 0
            rows = np.flatnonzero(has_target & (numbers < self.bar))
            self.parts.append((batch.take(rows), numbers[rows]))
            self._lower_the_bar()
            yield batch

    def _lower_the_bar(self) -> None:
        while sum(batch.n_rows for batch, _ in self.parts) > self.most:
            self.bar //= 2
            below = [(batch, numbers, np.flatnonzero(numbers < self.bar)) for batch, numbers in self.parts]
            self.parts = [(batch.take(rows), numbers[rows]) for batch, numbers, rows in below]

    def batches(self, schema: Schema, vocabularies: Mapping[str, Vocabulary]) -> Iterator[Batch]:
        """The rows in the codes of a model's vocabularies."""
        known = tuple(vocabularies[name] for name in schema.categories)
        for batch, _ in self.parts:
            if batch.n_rows:
                yield batch.recode(known, unseen=[MISSING] * len(known))
