"""From a table to a fitted regression: of classes (logistic) or of a number (linear)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from bayeswise.engines.passes import REPORT_TYPES, columns_of, statistic_types
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import NotStreamableError, ParameterError, SchemaError
from bayeswise.models.from_table import SCHEMA_WORDS, Progress, divided, no_rows, schema_for
from bayeswise.models.regression import glm
from bayeswise.models.regression.features import Features, usable
from bayeswise.models.regression.glm import IteratedModel, refuse_outside
from bayeswise.models.regression.in_passes import iterated_elsewhere, logistic_elsewhere
from bayeswise.models.regression.linear import LinearModel
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.row_blocks import Design, Rows, TargetRows
from bayeswise.models.regression.solving.exact_sums import RowsHere
from bayeswise.models.regression.solving.logistic_fit import (
    LogisticFit,
    fit_by_sums,
    fit_logistic,
    standardised,
    uses_sums,
)
from bayeswise.models.regression.solving.newton import Certificate
from bayeswise.models.regression.solving.wide import WideModel, fit_wide, may_use_rows, uses_rows
from bayeswise.models.settings.regression import LinearSettings, LogisticSettings
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.statistics.numbers.regression_moments import RegressionMoments
from bayeswise.statistics.protocol import Weights
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.partitions import Pass, SpreadSource
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.profile import by_column
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source

T = TypeVar("T")
COLUMN_WORDS = tuple(word for word in SCHEMA_WORDS if word != "missing")  # the regression's own has other values
NUMBERS = ("integer", "number")


# -- classes --------------------------------------------------------------------------------------------------


def learned_logistic(
    table: Any,
    target: str,
    *,
    schema: Schema | None = None,
    progress: Progress | None = None,
    **overrides: Any,
) -> tuple[LogisticModel, Report]:
    """Logistic regression of a column of classes, and its report.

    Other overrides: those of LogisticSettings, with missing ("indicator", "mean" or "error").

    >>> rows = [{"x": x, "y": y} for x, y in ((0.0, "low"), (1.0, "low"), (3.0, "high"), (4.0, "high"))]
    >>> model, _ = learned_logistic(rows, "y", scale=2.0)
    >>> model.predict([{"x": 0.5}, {"x": 5.0}]), model.certificate.converged
    (['low', 'high'], True)
    """
    about_columns, changes = divided(overrides, COLUMN_WORDS)
    settings = LogisticSettings().changed(**changes)
    source = open_like(table, schema)
    schema = usable(schema_for(source, target, schema, about_columns, flags_as_numbers=True))
    return logistic_of(source, schema, settings, progress)


def logistic_of(
    source: Source, schema: Schema, settings: LogisticSettings, progress: Progress | None = None
) -> tuple[LogisticModel, Report]:
    """Logistic regression of all rows of a source: many that are spread over machines stay there."""
    if isinstance(source, SpreadSource):
        found = logistic_elsewhere(source, schema, settings)
        if found is not None:
            warn_unfinished(found[0].certificate)
            return found
    encoder = Encoder(schema, learning=True)
    batches = [reported(batch, batch, progress) for batch in encoder.batches(source)]
    if not batches:
        raise no_rows(source, schema)
    model = logistic_of_batches(batches, schema, settings)
    warn_unfinished(model.certificate)
    return model, encoder.report


def logistic_of_batches(
    batches: Sequence[Batch], schema: Schema, settings: LogisticSettings, *, only_weights: bool = False
) -> LogisticModel:
    """Logistic regression of encoded rows; `only_weights` without what is known about them."""
    declared = (schema.target and schema.target.classes) or Vocabulary()
    classes = Vocabulary.in_order((label for batch in batches for label in _seen_in(batch)), declared)
    codes = np.concatenate([batch.group_labels.positions_in(classes)[batch.groups] for batch in batches])
    return fitted_logistic(schema, batches, codes.astype(np.int32), classes, settings, only_weights=only_weights)


def _seen_in(batch: Batch) -> list[Any]:
    assert batch.groups is not None
    return [batch.group_labels[int(code)] for code in np.flatnonzero(np.bincount(batch.groups))]


def fitted_logistic(
    schema: Schema,
    batches: Any,
    codes: CodeArray,
    classes: Vocabulary,
    settings: LogisticSettings,
    *,
    only_weights: bool = False,
) -> LogisticModel:
    """The most probable weights for encoded rows with the class of each; a class without a complete row is left out."""
    design = Design.of(schema, batches, settings.missing)
    codes, classes, weight = _with_rows(design.of_rows(codes), classes, design.weights)
    if len(classes) < 2:
        return LogisticModel.of_one_class(design.features, classes, settings, weight)
    fit: LogisticFit | None = None
    if uses_sums(len(design.matrix), design.matrix.shape[1], len(classes), settings):
        whole = Rows.of(design.matrix, design.weights, design.features, standardise=settings.standardise)
        rows = RowsHere(standardised(whole, settings.fit_intercept), codes, "softmax")
        fit = fit_by_sums(rows, len(classes), settings, only_weights=only_weights)
    if fit is None:
        known = design.matrix, codes, len(classes), design.weights
        fit = fit_logistic(design.features, *known, settings, only_weights=only_weights)
    model = LogisticModel.of(design.features, classes, settings, fit, weight)
    numbers = design.matrix[:, : len(schema.numbers)]
    extents = zip(by_column(np.minimum, numbers).tolist(), by_column(np.maximum, numbers).tolist(), strict=True)
    return replace(model, extents=tuple((low + 0.0, high + 0.0) for low, high in extents))


def relearned_logistic(model: LogisticModel, batches: Sequence[Batch]) -> LogisticModel:
    """The regression of encoded rows under the schema and settings of a model; levels are those of these rows."""
    shown = [
        Vocabulary.of([level for batch in batches for level in _levels_in(batch, c)])
        for c in range(len(model.schema.categories))
    ]
    rows = [batch.recode(shown) for batch in batches]
    codes = [batch.group_labels.positions_in(model.labels)[batch.groups] for batch in batches]
    found = fitted_logistic(model.schema, rows, np.concatenate(codes).astype(np.int32), model.labels, model.settings)
    warn_unfinished(found.certificate)
    return found


def _levels_in(batch: Batch, category: int) -> list[Any]:
    codes = np.unique(batch.codes[:, category])
    return [batch.vocabularies[category][int(code)] for code in codes[codes >= 0]]


def fitted_sparse_logistic(
    schema: Schema,
    matrix: Any,
    codes: CodeArray,
    classes: Vocabulary,
    weights: FloatArray | None,
    settings: LogisticSettings,
) -> LogisticModel:
    """The most probable weights for a CSR matrix of finite numbers, one for each column of the schema."""
    from bayeswise.models.regression.solving.sparse_matrix import fit_sparse_logistic, refuse_unsupported

    refuse_unsupported(settings)
    features = Features(schema, ())
    codes, classes, weight = _with_rows(codes, classes, weights)
    if len(classes) < 2:
        return LogisticModel.of_one_class(features, classes, settings, weight)
    fit = fit_sparse_logistic(features, matrix, codes, len(classes), weights, settings)
    return LogisticModel.of(features, classes, settings, fit, weight)


def _with_rows(
    codes: CodeArray, classes: Vocabulary, weights: FloatArray | None
) -> tuple[CodeArray, Vocabulary, FloatArray]:
    """Codes into the classes that have rows, these classes, and the weight of their rows."""
    weight = Weights.of(len(codes), codes, len(classes), weights).weight.to_floats()
    if weight.all():
        return codes, classes, weight
    kept = np.flatnonzero(weight)
    return np.searchsorted(kept, codes).astype(np.int32), Vocabulary([classes[int(k)] for k in kept]), weight[kept]


# -- numbers --------------------------------------------------------------------------------------------------


def learned_linear(
    table: Any,
    target: str,
    *,
    schema: Schema | None = None,
    progress: Progress | None = None,
    **overrides: Any,
) -> tuple[LinearModel | IteratedModel | WideModel, Report]:
    """Linear regression of a column of numbers, and its report.

    Other overrides: those of LinearSettings, with missing ("indicator", "mean" or "error").

    >>> rows = [{"x": float(x), "y": 1.0 + 2.0 * x} for x in range(4)]
    >>> model, _ = learned_linear(rows, "y", prior=None)
    >>> model.predict([{"x": 10.0}]).tolist(), model.weights.tolist()
    ([21.0], [2.0])
    """
    about_columns, changes = divided(overrides, COLUMN_WORDS)
    settings = LinearSettings().changed(**changes)
    source = open_like(table, schema)
    if schema is None:
        about_columns = _number_target(target, about_columns)
    schema = usable(schema_for(source, target, schema, about_columns, flags_as_numbers=True))
    _refuse_labels(source, schema)
    return linear_of(source, schema, settings, progress)


def linear_of(
    source: Source, schema: Schema, settings: LinearSettings, progress: Progress | None = None
) -> tuple[LinearModel | IteratedModel | WideModel, Report]:
    """Linear regression of all rows of a source."""
    if settings.likelihood == "gaussian" and not _uses_rows(source, len(schema.used), settings):
        found = _moments(source, MomentsPass(schema, settings), progress)
        if not found.moments:
            raise no_rows(source, schema)
        solved = LinearModel(schema, settings, found.moments[0], found.moments[1:])
        warn_dependent(solved)
        return solved, found.report
    if isinstance(source, SpreadSource):
        iterated = iterated_elsewhere(source, schema, settings)
        if iterated is not None:
            warn_unfinished(iterated[0].certificate)
            return iterated
    rows = TargetRows(schema, source)
    with _named(f"{settings.likelihood} noise", settings.likelihood in ("laplace", "student-t")):
        parts = [reported(pair, pair[0], progress) for pair in rows]
    if not parts:
        raise no_rows(source, schema)
    for batch, numbers in parts:
        refuse_outside(numbers, settings.likelihood, rows.target, batch.place)
    design = Design.of(schema, (batch for batch, _ in parts), settings.missing)
    target: FloatArray = design.of_rows(np.concatenate([numbers for _, numbers in parts]))
    if settings.likelihood == "gaussian":
        return fit_wide(design.features, design.matrix, target, design.weights, settings), rows.report
    model = iterated_of(design, target, settings)
    warn_unfinished(model.certificate)
    return model, rows.report


def _uses_rows(source: Source | SpreadSource, n_columns: int, settings: LinearSettings) -> bool:
    """Whether the rows themselves are needed; they are counted where it depends on their number."""
    if not may_use_rows(n_columns, settings):
        return False
    if isinstance(source, SpreadSource):
        return uses_rows(source.counted(), n_columns, settings)
    n_rows = source.n_rows or 0
    if source.n_rows is None:
        for chunk in source.chunks([source.columns[0].name]):
            n_rows += chunk.n_rows
            if n_rows >= n_columns:
                break
    return uses_rows(n_rows, n_columns, settings)


@contextmanager
def _named(what: str, has_no_sums: bool) -> Iterator[None]:
    """An error about rows that are too many, which names what needs them."""
    try:
        yield
    except NotStreamableError as error:
        if not has_no_sums:
            raise
        raise NotStreamableError(
            f"{what} weighs rows by how far they are from the line, again and again, and has no sums of fixed size: "
            + error.what,
            fix="choose likelihood='gaussian' (--likelihood gaussian), ignore columns, or give a sample of the rows: "
            "frame.sample(...)",
        ) from None


def iterated_of(design: Design, target: FloatArray, settings: LinearSettings) -> IteratedModel:
    """The regression of rows in memory; many are summed, as rows elsewhere are."""
    if not glm.uses_sums(len(design.matrix), design.matrix.shape[1], settings):
        return glm.fit_iterated(design.features, design.matrix, target, design.weights, settings)
    whole = glm.standardised_rows(design.matrix, design.weights, design.features, settings)
    rows = RowsHere(whole, target, settings.likelihood)
    return glm.fit_by_sums(design.features, rows, Moments.of(target[:, None], weights=design.weights), settings)


@dataclass(frozen=True)
class FoundMoments:
    """The moments of all rows, then those of each fold, if folds are needed; none without rows."""

    moments: tuple[RegressionMoments, ...]
    report: Report


@dataclass(frozen=True)
class MomentsPass(Pass[FoundMoments]):
    """The moments of a linear regression."""

    schema: Schema
    settings: LinearSettings
    name: ClassVar[str] = "statistics"

    @property
    def types(self) -> tuple[type, ...]:
        return (FoundMoments, *statistic_types(), *REPORT_TYPES)

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.schema.numbers

    def of(self, source: Source, progress: Progress | None = None) -> FoundMoments:
        rows = TargetRows(self.schema, source, whole=False)
        model = LinearModel.of_rows(self.schema, self.settings, (reported(pair, pair[0], progress) for pair in rows))
        return FoundMoments(() if model is None else (model.statistics, *model.folds), rows.report)

    def merged(self, one: FoundMoments, other: FoundMoments) -> FoundMoments:
        both = zip(one.moments, other.moments, strict=True) if one.moments and other.moments else ()
        moments = tuple(mine.merge(theirs) for mine, theirs in both) or one.moments or other.moments
        return FoundMoments(moments, one.report.merge(other.report))


def _moments(source: Source | SpreadSource, work: MomentsPass, progress: Progress | None) -> FoundMoments:
    """The moments of all rows of a source."""
    if isinstance(source, SpreadSource):
        found = source.ask(work, columns_of(work.schema, source))
    else:
        found = work.of(source, progress)
    found.report.check(work.schema, source.description)
    return found


def _number_target(target: str, about_columns: dict[str, Any]) -> dict[str, Any]:
    """Overrides under which a target of numbers is taken as it is; its kind may be given as a number."""
    given = about_columns.get("kinds") or {}
    if not isinstance(given, Mapping):
        return about_columns  # which is refused with the other overrides
    kinds = {target if normal_name(name) == normal_name(target) else name: kind for name, kind in given.items()}
    if kinds.get(target) not in (None, "number", "count"):
        raise ParameterError(
            f"linear regression predicts a number, and {target!r} is set to {kinds[target]}",
            fix="choose model='logistic' (--model logistic)",
        )
    return {**about_columns, "kinds": {**kinds, target: "category"}}


def _refuse_labels(source: Source, schema: Schema) -> None:
    target = schema.target
    if target is not None and (target.labels not in NUMBERS or target.classes is not None):
        raise SchemaError(
            f"the target {target.name!r} holds {'classes' if target.classes else target.labels}, and linear "
            "regression predicts a number",
            fix="predict it with model='logistic' (--model logistic), or choose another target",
        )


def reported(value: T, batch: Batch, progress: Progress | None) -> T:
    """The value, after the rows of its batch were counted."""
    if progress is not None:
        progress(batch.n_rows)
    return value


# -- what a user should know ----------------------------------------------------------------------------------


def warn_unfinished(certificate: Certificate) -> None:
    """Warn that the remaining gradient is above the tolerance."""
    if not certificate.converged:
        warnings.warn(f"the weights are not final: {certificate}", UserWarning, stacklevel=4)


def warn_dependent(model: LinearModel, stacklevel: int = 3) -> None:
    """Warn about columns without a weight of their own."""
    names = model.dependent if len(model.weights) else ()
    if names:
        shown = ", ".join(column if level is None else f"{column}={level}" for column, level in names)
        warnings.warn(
            f"columns that other columns determine have the weight 0: {shown}", UserWarning, stacklevel=stacklevel
        )
