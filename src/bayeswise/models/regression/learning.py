"""From a table to a fitted regression of classes, and what regressions of a number share with it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.models.from_table import SCHEMA_WORDS, Progress, divided, encoded_rows, no_rows, schema_for
from bayeswise.models.regression.features import Features, usable
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.row_blocks import Design, Rows, are_whole, whole_columns
from bayeswise.models.regression.solving.logistic_fit import (
    LogisticFit,
    fit_by_sums,
    fit_logistic,
    uses_sums,
)
from bayeswise.models.regression.solving.newton import Certificate
from bayeswise.models.settings.regression import LogisticSettings
from bayeswise.statistics.protocol import Weights
from bayeswise.tables.batch import Batch, shown_classes, shown_levels
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.partitions import SpreadSource
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.profile import by_column
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source

COLUMN_WORDS = tuple(word for word in SCHEMA_WORDS if word != "missing")  # the regression's own has other values


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

    from bayeswise.models.regression.in_passes import logistic_elsewhere

    if isinstance(source, SpreadSource):
        found = logistic_elsewhere(source, schema, settings)
        if found is not None:
            warn_unfinished(found[0].certificate)
            return found
    batches, report = encoded_rows(source, schema, progress)
    if not batches:
        raise no_rows(source, schema)
    model = logistic_of_batches(batches, schema, settings)
    warn_unfinished(model.certificate)
    return model, report


def logistic_of_batches(
    batches: Sequence[Batch], schema: Schema, settings: LogisticSettings, *, only_weights: bool = False
) -> LogisticModel:
    """Logistic regression of encoded rows; `only_weights` without what is known about them."""
    classes = shown_classes(batches, schema.declared_classes)
    codes = np.concatenate([batch.groups_in(classes) for batch in batches])
    return fitted_logistic(schema, batches, codes, classes, settings, only_weights=only_weights)


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
    from bayeswise.models.regression.solving.exact_sums import RowsHere

    batches = list(batches)
    design = Design.of(schema, batches, settings.missing)
    codes, classes, weight = _with_rows(design.of_rows(codes), classes, design.weights)
    if len(classes) < 2:
        return LogisticModel.of_one_class(design.features, classes, settings, weight)
    fit: LogisticFit | None = None
    if uses_sums(len(design.matrix), design.matrix.shape[1], len(classes), settings):
        whole = Rows.of(design.matrix, design.weights, design.features, settings)
        rows = RowsHere(whole, codes, "softmax")
        fit = fit_by_sums(rows, len(classes), settings, only_weights=only_weights)
    if fit is None:
        known = design.matrix, codes, len(classes), design.weights
        fit = fit_logistic(design.features, *known, settings, only_weights=only_weights)
    model = LogisticModel.of(design.features, classes, settings, fit, weight)
    numbers = design.matrix[:, : len(schema.numbers)]
    extents = zip(by_column(np.minimum, numbers).tolist(), by_column(np.maximum, numbers).tolist(), strict=True)
    cells = [batch.values for batch in batches] if design.features.marked else [numbers]  # without means in their place
    whole_numbers = whole_columns(schema, np.logical_and.reduce([are_whole(values) for values in cells]))
    return replace(model, extents=tuple((low + 0.0, high + 0.0) for low, high in extents), whole=whole_numbers)


def relearned_logistic(model: LogisticModel, batches: Sequence[Batch]) -> LogisticModel:
    """The regression of encoded rows under the schema and settings of a model; levels are those of these rows."""
    shown = [shown_levels(batches, c, Vocabulary()) for c in range(len(model.schema.categories))]
    rows = [batch.recode(shown) for batch in batches]
    codes = np.concatenate([batch.groups_in(model.labels) for batch in batches])
    found = fitted_logistic(model.schema, rows, codes, model.labels, model.settings)
    warn_unfinished(found.certificate)
    return found


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


def warn_unfinished(certificate: Certificate) -> None:
    """Warn that the remaining gradient is above the tolerance."""
    if not certificate.converged:
        warnings.warn(f"the weights are not final: {certificate}", UserWarning, stacklevel=4)
