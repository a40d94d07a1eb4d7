"""The concepts behind a target: their boundaries, the rows in conflict, how far each is believed, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError, TooFewRowsError, listed
from bayeswise.models.hypotheses.boundaries import (
    ANY,
    MOST_CONCEPTS,
    NOTHING,
    Boundaries,
    Concept,
    ConceptCube,
    ConceptPrior,
    Row,
    candidate_elimination,
    check_prior,
    checked_noise,
    count_concepts,
    covers,
    find_s,
)
from bayeswise.render.labels import refuse_unknown
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.columns import Kind
from bayeswise.tables.schema.inference import examine
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.schema.notes import keep
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.overrides import SchemaOverrides, spelling_overrides
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source, open_source

WILDCARD = "?"
By = Literal["average", "map", "find-s", "gibbs"]
WAYS: tuple[By, ...] = ("average", "map", "find-s", "gibbs")


@dataclass(frozen=True)
class Conflict:
    """A negative row inside of the most specific concept that covers all positive ones, and the like positive rows."""

    negative: int
    same_cells: tuple[int, ...]  # positive rows with the very same cells


@dataclass(frozen=True, eq=False, repr=False)
class ConceptModel:
    """The conjunctive concepts that a table allows.

    Rows are numbered from 0; rows without a target do not count, and `places` are the rows of the others in the table.
    """

    schema: Schema
    levels: tuple[Vocabulary, ...]  # one for each column
    classes: tuple[Label, ...]
    positive: Label
    codes: IntArray  # (n_rows, n_columns)
    is_positive: BoolArray  # (n_rows,)
    weights: FloatArray | None
    noise: float = 0.0
    prior: ConceptPrior = "uniform"
    places: IntArray | None = None  # (n_rows,) in the table; None: one after the other

    @property
    def columns(self) -> tuple[str, ...]:
        return self.schema.categories

    @cached_property
    def boundaries(self) -> Boundaries:
        """S and G, by candidate elimination."""
        rows = self._rows()
        chosen = self.is_positive.tolist()
        inside = [row for row, yes in zip(rows, chosen, strict=True) if yes]
        outside = [row for row, yes in zip(rows, chosen, strict=True) if not yes]
        return candidate_elimination(inside, outside, self._n_levels)

    @cached_property
    def collapsed(self) -> bool:
        """Whether no concept agrees with every row: then the most specific one that covers the class covers others."""
        rows = zip(self._rows(), self.is_positive.tolist(), strict=True)
        return any(covers(self.most_specific, row) for row, yes in rows if not yes)

    @property
    def S(self) -> list[dict[str, Any]]:
        """The most specific concept, as {column: level or "?"}; none if the space has collapsed."""
        return [] if self.collapsed else [self.named(self.most_specific)]

    @property
    def G(self) -> list[dict[str, Any]]:
        """The most general concepts; `TooFewRowsError` if they are too many to be listed."""
        return [self.named(concept) for concept in self.boundaries.general]

    @cached_property
    def most_specific(self) -> Concept:
        """The most specific concept that covers the positive rows, whatever the negative ones say."""
        return find_s(row for row, yes in zip(self._rows(), self.is_positive.tolist(), strict=True) if yes)

    @property
    def conflicts(self) -> list[Conflict]:
        """The rows that no concept can keep apart; empty unless the version space has collapsed."""
        if not self.collapsed:
            return []
        rows = self._rows()
        alike: dict[Row, list[int]] = {}
        for k in np.flatnonzero(self.is_positive).tolist():
            alike.setdefault(rows[k], []).append(k)
        wrong = [k for k in np.flatnonzero(~self.is_positive).tolist() if covers(self.most_specific, rows[k])]
        return [Conflict(k, tuple(alike.get(rows[k], ()))) for k in wrong]

    @property
    def n_concepts(self) -> int:
        """How many concepts there are."""
        return count_concepts(self._n_levels)

    @property
    def can_enumerate(self) -> bool:
        """Whether so few that each can be weighed."""
        return self.n_concepts <= MOST_CONCEPTS

    @cached_property
    def cube(self) -> ConceptCube:
        """The belief in every concept."""
        return ConceptCube.of(
            self.codes, self.is_positive, self._n_levels, weights=self.weights, noise=self.noise, prior=self.prior
        )

    @property
    def map(self) -> dict[str, Any]:
        """The most probable concept."""
        return self.named(self.cube.map)

    def predict_proba(self, table: Any, by: By = "average", seed: int = 0) -> FloatArray:
        """(n_rows, n_classes) by all concepts, the most probable one, FIND-S, or one drawn at random.

        On average over the prior nothing errs less often than "average", and "gibbs" at most twice as often.
        """
        parts = [self._p_positive(batch.codes.astype(np.int64), by, seed) for batch in self.batches(table)]
        inside = np.concatenate(parts) if parts else np.zeros(0)
        others = [label for label in self.classes if label != self.positive]
        answer = np.empty((len(inside), len(self.classes)))
        for k, label in enumerate(self.classes):
            answer[:, k] = inside if label == self.positive else (1.0 - inside) / len(others)
        return answer

    def predict(self, table: Any, by: By = "average", seed: int = 0) -> list[Label]:
        """The most probable class of each row."""
        return [self.classes[int(k)] for k in np.argmax(self.predict_proba(table, by, seed), axis=1)]

    def _p_positive(self, codes: IntArray, by: By, seed: int) -> FloatArray:
        check_way(by)
        if by == "average":
            return self.cube.p_positive(codes)
        if by == "gibbs":
            drawn = np.random.default_rng(seed).choice(len(self.cube.probability), p=self.cube.probability)
            concept = self.cube.concept(int(drawn))
        else:
            concept = self.cube.map if by == "map" else self.most_specific
        inside = np.array([covers(concept, tuple(row)) for row in codes.tolist()], dtype=np.float64)
        return np.asarray(inside * (1.0 - self.noise) + (1.0 - inside) * self.noise)

    def named(self, concept: Concept) -> dict[str, Any]:
        """The concept by column; the one that covers nothing demands None of every column."""
        if concept == NOTHING:
            return dict.fromkeys(self.columns)
        pairs = zip(self.columns, self.levels, concept, strict=True)
        return {name: WILDCARD if code == ANY else levels[code] for name, levels, code in pairs}

    def place(self, row: int) -> int:
        """The place of a learned row in the table."""
        return row if self.places is None else int(self.places[row])

    def cells(self, row: int) -> dict[str, Any]:
        """What a learned row shows, None for missing cells."""
        pairs = zip(self.columns, self.levels, self.codes[row].tolist(), strict=True)
        return {name: levels[code] if code >= 0 else None for name, levels, code in pairs}

    def batches(self, table: Any) -> Iterator[Batch]:
        """A table, encoded with the levels that were learned; a batch passes as it is."""
        if isinstance(table, Batch):
            return iter([table])
        known = dict(zip(self.columns, self.levels, strict=True))
        return Encoder(self.schema, learning=False, vocabularies=known).batches(open_like(table, self.schema))

    @property
    def _n_levels(self) -> tuple[int, ...]:
        return tuple(len(levels) for levels in self.levels)

    def __repr__(self) -> str:
        of = "" if self.schema.target is None else f"{self.schema.target.name} = "
        return f"ConceptModel({of}{self.positive}; {len(self.codes):,} rows of {', '.join(self.columns)})"

    def _rows(self) -> list[Row]:
        return [tuple(row) for row in self.codes.tolist()]


def check_way(by: Any) -> None:
    """Refuse an unknown way of answering."""
    refuse_unknown(by, WAYS, "by is")


def as_plain(model: ConceptModel) -> Mapping[str, Any]:
    """What was found, as plain data: rows by their positions in the table, from 0 on; G is None if it is too long."""
    soft = model.can_enumerate and (model.noise > 0 or not model.collapsed)
    try:
        general: list[dict[str, Any]] | None = model.G
    except TooFewRowsError:
        general = None
    return {
        "positive": model.positive,
        "rows": len(model.codes),
        "S": model.S,
        "G": general,
        "collapsed": model.collapsed,
        "conflicts": [
            {
                "row": model.place(c.negative),
                "cells": model.cells(c.negative),
                "same_cells": [model.place(row) for row in c.same_cells],
            }
            for c in model.conflicts
        ],
        "find_s": model.named(model.most_specific),
        "concepts": model.n_concepts,
        "consistent": model.cube.n_consistent if model.can_enumerate else None,
        "noise": model.noise,
        "prior": model.prior,
        "map": model.map if soft else None,
        "p_map": float(model.cube.probability.max()) if soft else None,
    }


_POSITIVE = ("yes", "true", "positive", "pos", "+", "y", "t", "1", "1.0")


@spelling_overrides
def learn_concept(
    table: Any,
    target: str,
    *,
    positive: Any = None,
    noise: float = 0.0,
    prior: ConceptPrior = "uniform",
    **overrides: Unpack[SchemaOverrides],
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


def _schema_of(source: Source, target: str, overrides: SchemaOverrides) -> Schema:
    """As every model reads the table, except that columns of one value are kept: a concept may demand it."""
    found = examine(source, target, **overrides)
    left_out = {normal_name(name) for name in overrides.get("ignore") or ()}
    alone = [each.column for each in found.findings if each.column.kind == "ignored" and each.profile.distinct == 1]
    kept: dict[str, Kind] = {each.name: "category" for each in alone if normal_name(each.name) not in left_out}
    changed: SchemaOverrides = {**overrides, "kinds": {**kept, **(overrides.get("kinds") or {})}}
    return examine(source, target, **changed).schema if kept else found.schema


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
    groups = np.concatenate([part.groups_in(known) for part in parts])
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
        found = listed(map(repr, classes), 6)
        how_many = "1 class" if len(classes) == 1 else f"{len(classes)} classes"
        raise SchemaError(
            f"a concept is about two classes; the target has {how_many}: {found}",
            fix=f"name the concept, as in positive={classes[-1]!r} (--positive {classes[-1]})",
        )
    said = [label for label in classes if str(label).strip().casefold() in _POSITIVE]
    return said[0] if len(said) == 1 else classes[-1]
