"""Rows with a number to be predicted, encoded: the target is read like any other column of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import NonFiniteError
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoder import Encoder
from bayeswise.tables.schema import Column, Schema
from bayeswise.tables.source import Source
from bayeswise.tables.sweep import Report


class TargetRows:
    """Batches of the columns of a schema, each with the numbers of its target; rows without one are left out.

    >>> from bayeswise.tables.schema import Target
    >>> from bayeswise.tables.source import open_source
    >>> schema = Schema((Column("x", "number"),), Target("y", "number"))
    >>> rows = TargetRows(schema, open_source({"x": [1.0, 2.0, 3.0], "y": [5.0, None, 7.0]}))
    >>> [(batch.values.tolist(), target.tolist()) for batch, target in rows], rows.report.without_target
    ([([[1.0], [3.0]], [5.0, 7.0])], 1)
    """

    def __init__(self, schema: Schema, source: Source, *, check_strays: bool = True) -> None:
        assert schema.target is not None
        self.target = schema.target.name
        self.source = source
        beside = Schema((*schema.columns, Column(self.target, "number")), None, schema.weight)
        self._encoder = Encoder(beside, learning=True, check_strays=check_strays)
        self._without_target = 0

    @property
    def report(self) -> Report:
        """What the last sweep met."""
        return replace(self._encoder.report, without_target=self._without_target)

    def __iter__(self) -> Iterator[tuple[Batch, FloatArray]]:
        self._without_target = 0
        for batch in self._encoder.batches(self.source):
            target = np.ascontiguousarray(batch.values[:, -1])
            infinite = np.isinf(target)
            if infinite.any():
                raise NonFiniteError(row=batch.place(int(np.argmax(infinite))), column=self.target)
            known = np.flatnonzero(~np.isnan(target))
            self._without_target += batch.n_rows - len(known)
            if len(known):
                yield picked(replace(batch, values=batch.values[:, :-1]), known), target[known]


def picked(batch: Batch, rows: IntArray) -> Batch:
    """Some rows of a batch of numbers and categories."""
    return replace(
        batch,
        n_rows=len(rows),
        values=np.ascontiguousarray(batch.values[rows]),
        codes=batch.codes[rows],
        weights=None if batch.weights is None else batch.weights[rows],
        **batch.place_of(rows),
    )
