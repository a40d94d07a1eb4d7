"""A pool of rows without labels, encoded once; and the model of no rows that answers with its prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias, Unpack

import numpy as np

from bayeswise.engines import summarise
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.threads import each
from bayeswise.models.averaged_naive_bayes.model import averaged
from bayeswise.models.naive_bayes.choices import factors_for
from bayeswise.models.naive_bayes.model import NaiveBayesModel, request_of
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.labels import Label, Vocabulary, label_of, label_type_of
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.overrides import SchemaOverrides
from bayeswise.tables.schema.schema import Schema, Target
from bayeswise.tables.source import open_source

VARIANCE_FLOOR = 0.1
"""A class of a few rows knows little of its spread: no less than this share of the column's variance."""


@dataclass(frozen=True)
class Pool:
    """All rows as one batch, in the codes of its own vocabularies."""

    schema: Schema
    batch: Batch

    @classmethod
    def of(cls, table: Any, target: str, classes: Sequence[Any], **overrides: Unpack[SchemaOverrides]) -> Pool:
        """From any table, its levels declared; a column of the target's name is not looked at."""
        _refuse_unknown(overrides)
        source = open_source(table)
        hidden = [column.name for column in source.columns if column.name == target]
        overrides["ignore"] = [*overrides.get("ignore", ()), *hidden]
        schema = infer_schema(source, None, **overrides)
        bare = replace(schema, columns=tuple(column for column in schema.columns if column.name != target))
        batch = _encoded(bare, source)
        levels = {name: Vocabulary.of(batch.vocabularies[c]) for c, name in enumerate(bare.categories)}
        columns = tuple(
            replace(column, levels=levels[column.name]) if levels.get(column.name) else column
            for column in bare.columns
        )
        return cls(_with_classes(replace(bare, columns=columns), target, classes), _in_codes_of(batch, bare, levels))

    @classmethod
    def seen_by(cls, model: Any, table: Any) -> Pool:
        """From any table, for a model that is fitted: its columns, and levels that it may not know yet."""
        bare = replace(model.schema, target=None, weight=None)
        return cls(model.schema, _encoded(bare, open_like(table, model.schema), getattr(model, "vocabularies", {})))

    def with_classes(self, classes: Sequence[Any]) -> Pool:
        """The same rows for other classes."""
        target = self.schema.target
        return replace(self, schema=_with_classes(self.schema, target.name if target else "", classes))

    def subset(self, rows: IntArray) -> Pool:
        """Some of the rows."""
        return replace(self, batch=self.batch.take(rows))

    @property
    def n_rows(self) -> int:
        return self.batch.n_rows

    @cached_property
    def share_known(self) -> FloatArray | None:
        """(n_rows,) the share of its numbers and categories that each row has; None where no cell is missing."""
        gone = np.column_stack([np.isnan(self.batch.values), self.batch.codes == MISSING])
        return np.asarray(1.0 - gone.mean(axis=1)) if gone.any() else None

    def row(self, index: int, label: Label, classes: Sequence[Label]) -> Batch:
        """One row with its label."""
        return self.rows([index], [label], classes)

    def rows(self, indices: Sequence[int], labels: Sequence[Label], classes: Sequence[Label]) -> Batch:
        """Some rows with their labels."""
        known = Vocabulary(classes)
        if len(indices) == 1:
            some = self.batch.rows(slice(indices[0], indices[0] + 1))
        else:
            some = self.batch.take(np.asarray(indices, dtype=np.int64))
        return replace(some, groups=known.encode(labels), group_labels=known)

    def one_for(self, model: Any, index: int) -> Batch:
        """One row in the codes of the model."""
        return self.subset(np.array([index])).for_model(model)

    def for_model(self, model: Any) -> Batch:
        """The rows in the codes of the model; levels that it has not learned are unseen."""
        return _in_codes_of(self.batch, self.schema, getattr(model, "vocabularies", {}))

    def empty_model(
        self,
        *,
        average: bool = False,
        families: Any = "auto",
        variance_floor: float = VARIANCE_FLOOR,
        class_prior: Mapping[Any, float] | None = None,
    ) -> NaiveBayesModel:
        """The model of no rows: every class is as probable as the others, or as the prior says."""
        factors = factors_for(self.schema, families)
        statistics = summarise([], self.schema, request_of(factors, self.schema, extents=True)).statistics
        settings = NaiveBayesSettings(prior_smoothing=1.0, variance_floor=variance_floor, class_prior=class_prior)
        model = NaiveBayesModel(self.schema, settings, statistics, factors)
        model.check_prior()
        return averaged(model) if average else model


def _refuse_unknown(overrides: Mapping[str, Any]) -> None:
    for name in overrides:
        if name not in SchemaOverrides.__annotations__:
            known = ", ".join(SchemaOverrides.__annotations__)
            raise ParameterError(f"a table has no option {name!r}", fix=f"choose among {known}")


def _with_classes(schema: Schema, target: str, classes: Sequence[Any]) -> Schema:
    known = Vocabulary([label_of(label) for label in classes])
    if len(known) < 2:
        raise ParameterError("a learner needs at least two classes", fix="name all classes")
    return replace(schema, target=Target(target, label_type_of(known), known))


def _encoded(schema: Schema, source: Any, vocabularies: Any = None) -> Batch:
    encoder = Encoder(
        schema,
        learning=True,
        with_target=False,
        batch_rows=None,
        vocabularies=dict(vocabularies or {}),
        check_invalid=False,
    )
    parts = list(encoder.batches(source))
    if not parts or not sum(part.n_rows for part in parts):
        raise ParameterError("the pool has no rows", fix="give rows to choose from")
    if len(parts) > 1 and parts[0].texts:
        raise ParameterError("a pool of texts must be one piece", fix="give the rows as one frame")
    return Batch.concat(parts)


def _in_codes_of(batch: Batch, schema: Schema, known: Mapping[str, Vocabulary]) -> Batch:
    """The batch as it is where the vocabularies are the same ones."""
    levels = [known.get(name, mine) for mine, name in zip(batch.vocabularies, schema.categories, strict=True)]
    words = [known.get(name, mine.vocabulary) for mine, name in zip(batch.texts, schema.texts, strict=True)]
    coded = batch.recode(levels)
    if not words:
        return coded
    return replace(coded, texts=tuple(block.recode(each) for block, each in zip(batch.texts, words, strict=True)))


Work: TypeAlias = Callable[[slice], None]

_ROWS = 32_768  # their posteriors stay in the second-level cache


class Parts:
    """Work for ranges of rows, each done once.

    >>> Parts(100, size=200)(print)
    slice(0, 100, None)
    """

    def __init__(self, n_rows: int, size: int = _ROWS) -> None:
        self._ranges = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]

    def __call__(self, work: Work) -> None:
        """Do the work for all rows."""
        each(work, self._ranges)
