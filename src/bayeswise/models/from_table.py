"""From any table to what a model learns from: look once, decide the schema, sweep once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, TypeVar

from bayeswise import engines
from bayeswise.engines import Request
from bayeswise.foundation.errors import ParameterError, SchemaError
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.statistics import Grouped, Product
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source

if TYPE_CHECKING:
    from bayeswise.engines import Coded

T = TypeVar("T", bound=Sized)
SCHEMA_WORDS = ("kinds", "levels", "ignore", "missing", "unseen", "weight")
Progress = Callable[[int], None]


def divided(overrides: dict[str, Any], words: Sequence[str] = SCHEMA_WORDS) -> tuple[dict[str, Any], dict[str, Any]]:
    """Overrides of columns, and changes of settings.

    >>> divided({"ignore": ["id"], "smoothing": 2.0})
    ({'ignore': ['id']}, {'smoothing': 2.0})
    """
    about_columns = {name: value for name, value in overrides.items() if name in words}
    return about_columns, {name: value for name, value in overrides.items() if name not in words}


def schema_for(
    source: Source,
    target: str,
    schema: Schema | None,
    about_columns: dict[str, Any],
    *,
    flags_as_numbers: bool | Sequence[str] = False,
) -> Schema:
    """The given schema, or the inferred one, with warnings; columns of 0 and 1 are flags unless `flags_as_numbers`."""
    if schema is None:
        from bayeswise.tables.schema.inference import infer_with_advice  # late: a model that answers has its schema

        schema, advice = infer_with_advice(source, target, **about_columns, flags_as_numbers=flags_as_numbers)
        for each in advice:
            warnings.warn(str(each), UserWarning, stacklevel=5)
        return schema
    if about_columns:
        raise ParameterError("a given schema already says what the columns mean", fix="leave out one of them")
    return schema


def check_declared(class_prior: Mapping[Any, float] | None, schema: Schema) -> None:
    """Refuse a prior of other classes than the declared ones before any row is read."""
    declared = schema.target.classes if schema.target else None
    if class_prior is not None and declared is not None:
        prior_by_state(class_prior, declared)


def encoded_rows(source: Source, schema: Schema, progress: Progress | None = None) -> tuple[list[Batch], Report]:
    """All rows of a source with their target, encoded, and the report of reading."""
    encoder = Encoder(schema, learning=True)
    batches = []
    for batch in encoder.batches(source):
        batches.append(batch)
        if progress is not None:
            progress(batch.n_rows)
    return batches, encoder.report


def reported(rows: T, progress: Progress | None) -> T:
    """What there is for each of some rows, after these were counted."""
    if progress is not None:
        progress(len(rows))
    return rows


def swept(
    source: Source, schema: Schema, request: Request, progress: Progress | None, coded: Coded | None = None
) -> tuple[Grouped[Product], Report]:
    """What a request asks of all rows, and its report."""
    found, report = engines.swept(source, schema, request, progress=progress, coded=coded)
    if report.rows == report.without_target + report.without_weight:
        raise no_rows(source, schema)
    return found, report


def no_rows(source: Source, schema: Schema) -> SchemaError:
    """The error for a table without a row to learn from."""
    what = f"{source.description} has no row with a target in column {schema.target_name!r}"
    return SchemaError(what, fix="give rows that have one")
