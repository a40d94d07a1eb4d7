"""From a table to a fitted Gaussian Bayes model: look once, decide the schema, sweep once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from bayeswise.engines import of_no_rows
from bayeswise.foundation.errors import KindError, SchemaError, listed
from bayeswise.models.from_table import check_declared, divided, schema_for, swept
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel, request_of
from bayeswise.models.settings.gaussian import GaussianBayesSettings
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema


def learned(
    table: Any,
    target: str,
    *,
    schema: Schema | None = None,
    progress: Callable[[int], None] | None = None,
    **overrides: Any,
) -> tuple[GaussianBayesModel, Report]:
    """What `fit` learns, and its report: invalid values, rows without a target."""
    about_columns, changes = divided(overrides)
    settings = GaussianBayesSettings().changed(**changes)
    source = open_like(table, schema)
    inferred = schema is None
    schema = schema_for(source, target, schema, about_columns, flags_as_numbers=True)
    if inferred:
        schema = of_numbers(schema)
    refuse_other_kinds(schema)
    check_declared(settings.class_prior, schema)
    found, report = swept(source, schema, request_of(schema, settings), progress)
    model = GaussianBayesModel(schema, settings, found)
    model.check_prior()
    model.warn()
    return model, report


def of_batches(batches: Sequence[Batch], schema: Schema, settings: GaussianBayesSettings) -> GaussianBayesModel:
    """The model of encoded rows."""
    refuse_other_kinds(schema)
    return GaussianBayesModel(schema, settings, of_no_rows(schema, request_of(schema, settings))).relearned(batches)


def of_numbers(schema: Schema) -> Schema:
    """The schema without columns of other kinds, with a warning: Gaussian classes are for numbers."""
    others = _of_other_kinds(schema)
    if not others or not schema.numbers:
        return schema
    shown = listed((f"{name!r} ({schema[name].kind})" for name in others), 5)
    warnings.warn(
        f"Gaussian classes are of numbers; left out: {shown}. Fix: choose the model auto or naive-bayes, which "
        "take columns of all kinds",
        UserWarning,
        stacklevel=4,
    )
    return schema.with_forms(_ignored_unless_number)


def _ignored_unless_number(column: Column) -> Column:
    if column.kind in ("number", "count", "ignored"):
        return column
    return Column(column.name, "ignored", reason=f"not a number: {column.kind}")


def _of_other_kinds(schema: Schema) -> list[str]:
    if len(schema.numbers) == len(schema.used):
        return []
    numbers = set(schema.numbers)
    return [name for name in schema.used if name not in numbers]


def refuse_other_kinds(schema: Schema) -> None:
    """Columns of another kind in a schema that the user gave, or no column of numbers."""
    others = _of_other_kinds(schema)
    if others:
        shown = listed((f"{name!r} ({schema[name].kind})" for name in others), 5)
        raise KindError(
            f"Gaussian Bayes takes numbers; other columns are {shown}",
            fix=f"ignore={others[:5]!r} (--ignore COL), or model='naive-bayes', which takes columns of all kinds",
        )
    if not schema.numbers:
        raise SchemaError(
            "the table has no column of numbers to learn from", fix="give kinds={...: 'number'} (--number COL)"
        )
