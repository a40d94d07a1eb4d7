"""From a table to a fitted naive Bayes model: look once, decide the schema, sweep once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bayeswise.engines import of_no_rows
from bayeswise.models.from_table import check_declared, divided, schema_for, swept
from bayeswise.models.naive_bayes.choices import (
    Selection,
    check_flags,
    factors_for,
    flags_as_numbers,
    select_families,
)
from bayeswise.models.naive_bayes.factors import Factor
from bayeswise.models.naive_bayes.model import NaiveBayesModel, request_of
from bayeswise.models.settings.naive_bayes import Families, NaiveBayesSettings, settings_of
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.profile import profile
from bayeswise.tables.schema.schema import Schema


def learned(
    table: Any,
    target: str,
    *,
    families: Families = "auto",
    convention: str | None = None,
    schema: Schema | None = None,
    progress: Callable[[int], None] | None = None,
    asking: Callable[[tuple[Factor, ...]], tuple[Factor, ...]] | None = None,
    **overrides: Any,
) -> tuple[NaiveBayesModel, Report]:
    """What `fit` learns, and its report: invalid values, rows without a target.

    `asking` changes the factors before the sweep: what a model built on this one needs of rows besides.
    """
    about_columns, changes = divided(overrides)
    settings = settings_of(convention, changes)
    source = open_like(table, schema)
    schema = schema_for(source, target, schema, about_columns, flags_as_numbers=flags_as_numbers(families))
    check_declared(settings.class_prior, schema)
    if isinstance(families, str) and families == "select":
        families = select(source, schema)
    selected = isinstance(families, Selection)
    factors = factors_for(schema, families)
    factors = factors if asking is None else asking(factors)
    found, report = swept(source, schema, request_of(factors, schema, extents=True), progress)
    model = NaiveBayesModel(schema, settings, found, factors, selected)
    model.check_prior()
    check_flags(schema, families, found.part)
    return model, report


def of_batches(
    batches: Sequence[Batch], schema: Schema, settings: NaiveBayesSettings, *, families: str = "auto"
) -> NaiveBayesModel:
    """The model of encoded rows; families "auto" by kind, or "select" by evidence."""
    factors = factors_for(schema, "auto")
    nothing = of_no_rows(schema, request_of(factors, schema))
    return NaiveBayesModel(schema, settings, nothing, factors, families == "select").relearned(batches)


def select(table: Any, schema: Schema) -> Selection:
    """The family of each number column with the largest evidence, and why.

    >>> from bayeswise.tables.schema.inference import infer_schema
    >>> from bayeswise.tables.source import open_source
    >>> rows = [{"visits": k % 4, "y": "ab"[k % 2]} for k in range(12)]
    >>> select(rows, infer_schema(open_source(rows), "y", kinds={"visits": "number"}))
    visits: poisson: the rows are e^1.4 times as probable as under normal
    """
    from bayeswise.families.protocol import Extent

    source = open_like(table, schema)
    found = profile(source, list(schema.numbers)) if schema.numbers else {}
    extents = {name: Extent(column.minimum, column.decimals == 0, column.maximum) for name, column in found.items()}
    return select_families(Encoder(schema, learning=True).batches(source), schema, extents)
