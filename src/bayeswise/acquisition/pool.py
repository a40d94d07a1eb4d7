"""A pool of rows without labels, encoded once; and the model of no rows that answers with its prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswise.engines import summarise
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel, averaged
from bayeswise.models.naive_bayes.choices import factors_for
from bayeswise.models.naive_bayes.model import NaiveBayesModel, request_of
from bayeswise.models.naive_bayes.settings import NaiveBayesSettings
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoder import Encoder
from bayeswise.tables.inference import infer_schema
from bayeswise.tables.label_types import label_type_of
from bayeswise.tables.labels import Label, Vocabulary, label_of
from bayeswise.tables.schema import LABELLED, Schema, Target
from bayeswise.tables.source import open_source
from bayeswise.tables.sweep import rows_of


@dataclass(frozen=True)
class Pool:
    """All rows as one batch; the levels of its categories are declared, so that codes never move."""

    schema: Schema
    classes: Vocabulary
    batch: Batch

    @classmethod
    def of(cls, table: Any, target: str, classes: Sequence[Any], **wishes: Any) -> Pool:
        """From any table; a column of the target's name is not looked at."""
        source = open_source(table)
        hidden = [column.name for column in source.columns if column.name == target]
        found = infer_schema(source, None, **{**wishes, "ignore": [*wishes.get("ignore", ()), *hidden]})
        bare = Schema(tuple(column for column in found.columns if column.name != target))
        first = list(Encoder(bare, learning=True, with_target=False, batch_rows=None).batches(source))
        if not first:
            raise ParameterError("the pool has no rows", fix="give rows to choose from")
        levels = {name: Vocabulary.of(first[-1].vocabularies[c]) for c, name in enumerate(bare.categories)}
        columns = tuple(
            replace(column, levels=levels[column.name]) if column.kind in LABELLED else column
            for column in bare.columns
        )
        known = Vocabulary([label_of(label) for label in classes])
        if len(known) < 2:
            raise ParameterError("a learner tells at least two classes apart", fix="name all classes")
        schema = Schema(columns, Target(target, label_type_of(known), known))
        encoder = Encoder(Schema(columns), learning=False, vocabularies=levels, batch_rows=None)
        return cls(schema, known, _joined(list(encoder.batches(source))))

    def row(self, index: int, label: Label) -> Batch:
        """One row with its label."""
        one = rows_of(self.batch, slice(index, index + 1))
        code = self.classes.code(label)
        return replace(one, groups=np.array([code], dtype=np.int32), group_labels=self.classes)

    def empty_model(self, *, average: bool = False, families: Any = "auto") -> NaiveBayesModel:
        """The model of no rows: every class is as probable as the others."""
        factors = factors_for(self.schema, families)
        statistics = summarise([], self.schema, request_of(factors, self.schema)).statistics
        model = NaiveBayesModel(self.schema, NaiveBayesSettings(prior_smoothing=1.0), statistics, factors)
        found: NaiveBayesModel | AveragedNaiveBayesModel = averaged(model) if average else model
        return found


def _joined(parts: list[Batch]) -> Batch:
    if len(parts) == 1:
        return parts[0]
    if parts[0].texts:
        raise ParameterError("a pool of texts must be one piece", fix="give the rows as one frame")
    return replace(
        parts[0],
        n_rows=sum(part.n_rows for part in parts),
        values=np.concatenate([part.values for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
    )
