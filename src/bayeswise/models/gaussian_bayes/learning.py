"""From a table to a fitted Gaussian Bayes model: look once, decide the schema, sweep once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayeswise.engines import summarise
from bayeswise.foundation.errors import KindError, ParameterError, SchemaError
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel, request_of
from bayeswise.models.gaussian_bayes.settings import GaussianBayesSettings
from bayeswise.tables.encoder import Encoder
from bayeswise.tables.inference import infer_schema
from bayeswise.tables.schema import Schema
from bayeswise.tables.source import open_source

_SCHEMA_WORDS = ("kinds", "levels", "ignore", "missing", "unseen", "weight")


def fit(
    table: Any,
    target: str,
    *,
    schema: Schema | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **wishes: Any,
) -> GaussianBayesModel:
    """Learn Gaussian classes from any table whose columns are numbers; empty cells are welcome.

    Wishes about columns: kinds={"zip": "ignored"}, ignore=["id"], weight="n". Wishes about beliefs: covariance,
    divisor, shrinkage, prior, predictive, class_prior.

    >>> rows = [{"height": h, "y": y} for h, y in ((1.6, "a"), (1.8, "a"), (2.0, "b"), (2.2, "b"))]
    >>> fit(rows, target="y", covariance="shared").regions()
    Regions(height: 'a' | 1.9 | 'b')
    """
    about_columns = {name: wishes.pop(name) for name in _SCHEMA_WORDS if name in wishes}
    settings = GaussianBayesSettings().changed(**wishes)
    source = open_source(table)
    if schema is None:
        schema = infer_schema(source, target, **about_columns)
    elif about_columns:
        raise ParameterError("a given schema already says what the columns mean", fix="leave out either of them")
    refuse_other_kinds(schema)
    found = summarise(
        Encoder(schema, learning=True).batches(source), schema, request_of(schema), threads=threads, progress=progress
    )
    if found.n_rows == 0:
        raise SchemaError(
            f"{source.description} has no row with a target in column {target!r}", fix="give rows that have one"
        )
    model = GaussianBayesModel(schema, settings, found.statistics)
    model.warn()
    return model


def refuse_other_kinds(schema: Schema) -> None:
    """Gaussian classes are for numbers; a column of another kind must be left out by the user, not in silence."""
    others = [name for name in schema.used if name not in schema.numbers]
    if others:
        shown = ", ".join(f"{name!r} ({schema[name].kind})" for name in others[:5])
        raise KindError(
            f"Gaussian Bayes takes numbers; other columns are {shown}{', ...' if len(others) > 5 else ''}",
            fix=f"ignore={others[:5]!r}, or NaiveBayes, which takes columns of all kinds",
        )
    if not schema.numbers:
        raise SchemaError("the table has no column of numbers to learn from", fix="say kinds={...: 'number'}")
