"""Complete rows in memory: the design matrix, and which rows of the table it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.regression.features import Features, refuse_holes
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary
from bayeswise.tables.schema import Schema


@dataclass(frozen=True)
class Design:
    """The rows without a hole; with missing="error" there is none in any."""

    features: Features
    matrix: FloatArray  # (n_complete, n_features)
    weights: FloatArray | None  # (n_complete,)
    whole: BoolArray | None  # (n_rows,) which rows are complete; None: all of them

    @classmethod
    def of(cls, schema: Schema, batches: Iterable[Batch], missing: str) -> Design:
        """All rows as one matrix; a matrix of numbers that comes as one batch is not copied."""
        parts = list(batches)
        if not parts:
            raise FitError("X has no rows", fix="give at least one")
        in_order = [refuse_holes(schema, batch, missing) for batch in parts]  # every batch is looked at
        levels = tuple(
            Vocabulary.of([level for batch in parts for level in batch.vocabularies[c]])
            for c in range(len(schema.categories))
        )
        features = Features(schema, levels)
        matrix = _joined([features.matrix(batch) for batch in parts])
        weights = None if parts[0].weights is None else _joined([batch.weights for batch in parts])
        whole = None if all(in_order) and not schema.categories else ~np.isnan(matrix).any(axis=1)
        if whole is None or whole.all():
            return cls(features, matrix, weights, None)
        if not whole.any():
            raise FitError("every row has a missing cell", fix="fill some of them in")
        return cls(features, matrix[whole], None if weights is None else weights[whole], whole)

    def of_rows(self, values: Any) -> Any:
        """What belongs to the complete rows, out of what belongs to all rows."""
        return values if self.whole is None else values[self.whole]


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
