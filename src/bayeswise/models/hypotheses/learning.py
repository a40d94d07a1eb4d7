"""From a table of categories to the concepts that it allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import IntArray
from bayeswise.foundation.errors import SchemaError
from bayeswise.models.hypotheses.boundaries import ConceptPrior, check_prior, checked_noise
from bayeswise.models.hypotheses.concepts import WILDCARD, ConceptModel
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import examine
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.schema.notes import keep
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source, open_source

_POSITIVE = ("yes", "true", "positive", "pos", "+", "y", "t", "1", "1.0")


def learn_concept(
    table: Any,
    target: str,
    *,
    positive: Any = None,
    noise: float = 0.0,
    prior: ConceptPrior = "uniform",
    **overrides: Any,
) -> ConceptModel:
    """The concepts behind `target == positive`, from any table of categories.

    >>> rows = [{"sky": "sunny", "air": "warm", "enjoy": "yes"}, {"sky": "rainy", "air": "cold", "enjoy": "no"}]
    >>> model = learn_concept(rows, "enjoy")
    >>> model.S, model.G
    ([{'sky': 'sunny', 'air': 'warm'}], [{'sky': '?', 'air': 'warm'}, {'sky': 'sunny', 'air': '?'}])
    """
    source = open_source(table)
    schema = _schema_of(source, target, overrides)
    return concept_of(schema, Encoder(schema, learning=True).batches(source), positive, noise, prior)


def _schema_of(source: Source, target: str, overrides: Mapping[str, Any]) -> Schema:
    """As every model reads the table, except that columns of one value are kept: a concept may demand it."""
    found = examine(source, target, **overrides)
    left_out = {normal_name(name) for name in overrides.get("ignore") or ()}
    alone = [each for each in found.findings if each.column.kind == "ignored" and each.profile.distinct == 1]
    kept = {each.column.name: "category" for each in alone if normal_name(each.column.name) not in left_out}
    kinds = {**kept, **(overrides.get("kinds") or {})}
    return examine(source, target, **{**overrides, "kinds": kinds}).schema if kept else found.schema


def concept_of(
    schema: Schema, batches: Iterator[Batch], positive: Any, noise: Any, prior: ConceptPrior
) -> ConceptModel:
    """The model of some batches; their codes are brought to one order of levels."""
    share = checked_noise(noise)
    check_prior(prior)
    _refuse_numbers(schema)
    parts = list(batches)
    if not parts:
        raise SchemaError("the table has no row with a target", fix="give rows that have one")
    levels = tuple(parts[-1].vocabularies[c] for c in range(len(schema.categories)))
    order = tuple(Vocabulary.of(each) for each in levels)
    _refuse_wildcards(schema.categories, order)
    codes = np.concatenate([part.recode(order).codes for part in parts]).astype(np.int64)
    known = Vocabulary.of(label for part in parts for label in part.group_labels)
    groups = np.concatenate([part.group_labels.positions_in(known)[part.groups] for part in parts])
    weights = None if parts[0].weights is None else np.concatenate([np.asarray(p.weights) for p in parts])
    classes = known.labels
    chosen = classes[find_state(positive, classes)] if positive is not None else _positive_of(classes)
    places = np.concatenate([_places(part) for part in parts])
    return ConceptModel(
        schema, order, classes, chosen, codes, groups == classes.index(chosen), weights, share, prior, places
    )


def _places(batch: Batch) -> IntArray:
    return batch.first_row + (np.arange(batch.n_rows) if batch.kept is None else batch.kept)


def _refuse_numbers(schema: Schema) -> None:
    others = [*schema.numbers, *schema.texts]
    if others:
        raise SchemaError(
            f"a concept is about categories; {', '.join(map(repr, others))} {'is' if len(others) == 1 else 'are'} not",
            fix=f"take {others[0]!r} as a category ({keep(others[0], 'category')}), or ignore it",
        )
    if not schema.categories:
        raise SchemaError("the table has no column of categories beside the target", fix="give at least one")


def _refuse_wildcards(columns: Sequence[str], levels: Sequence[Vocabulary]) -> None:
    for name, each in zip(columns, levels, strict=True):
        if WILDCARD in each:
            raise SchemaError(
                f"column {name!r} has a level {WILDCARD!r}, which means any level in a concept",
                fix="rename the level, or read it as missing (--null '?')",
            )


def _positive_of(classes: Sequence[Label]) -> Label:
    """The class of two that says yes, else the last one."""
    if len(classes) != 2:
        found = ", ".join(map(repr, classes[:6]))
        how_many = "1 class" if len(classes) == 1 else f"{len(classes)} classes"
        raise SchemaError(
            f"a concept is about two classes; the target has {how_many}: {found}",
            fix=f"say which one is the concept, as in positive={classes[-1]!r} (--positive {classes[-1]})",
        )
    said = [label for label in classes if str(label).strip().casefold() in _POSITIVE]
    return said[0] if len(said) == 1 else classes[-1]
