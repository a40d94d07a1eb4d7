"""From a table to a fitted regression of a number."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from bayeswise.engines.passes import REPORT_TYPES, columns_of, statistic_types
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotStreamableError, ParameterError, SchemaError
from bayeswise.models.from_table import Progress, divided, no_rows, reported, schema_for
from bayeswise.models.regression import glm
from bayeswise.models.regression.features import usable
from bayeswise.models.regression.glm import IteratedModel, refuse_outside
from bayeswise.models.regression.in_passes import iterated_elsewhere
from bayeswise.models.regression.learning import COLUMN_WORDS, warn_unfinished
from bayeswise.models.regression.linear import LinearModel
from bayeswise.models.regression.row_blocks import Design, Rows, TargetRows
from bayeswise.models.regression.solving.exact_sums import RowsHere
from bayeswise.models.regression.solving.wide import WideModel, fit_wide, may_use_rows, uses_rows
from bayeswise.models.settings.regression import LinearSettings
from bayeswise.statistics.numbers.moments import Moments
from bayeswise.statistics.numbers.regression_moments import RegressionMoments
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.partitions import Pass, SpreadSource
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source

NUMBERS = ("integer", "number")


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
        parts = [(batch, reported(numbers, progress)) for batch, numbers in rows]
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
    whole = Rows.of(design.matrix, design.weights, design.features, settings)
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
        counted = ((batch, reported(numbers, progress)) for batch, numbers in rows)
        model = LinearModel.of_rows(self.schema, self.settings, counted)
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


def warn_dependent(model: LinearModel, stacklevel: int = 3) -> None:
    """Warn about columns without a weight of their own."""
    names = model.dependent if len(model.weights) else ()
    if names:
        shown = ", ".join(column if level is None else f"{column}={level}" for column, level in names)
        warnings.warn(
            f"columns that other columns determine have the weight 0: {shown}", UserWarning, stacklevel=stacklevel
        )
