"""From chunks of a source to batches of the schema: the border behind which every cell is a number or a code.

What a cell becomes depends on the schema alone, never on the rows around it. While learning, rows without a target and
rows of weight 0 are absent: they define no class and no level. While predicting, every row stays, in its order.
Columns are found by name (those of an unnamed array by position); columns that the schema does not use are not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from numpy.typing import ArrayLike

from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.coders import Coders
from bayeswise.tables.encoding.sweep import Report, Sweep, in_parts
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source

BATCH_ROWS = 100_000


class Encoder:
    """Turns sources into batches of one schema.

    `vocabularies` are the levels, words and classes that are known, by name of column. While learning they grow,
    unless the schema declares them; while predicting a label beyond them is `UNSEEN`. `with_target` asks for the
    target and the weights (always while learning). `check_invalid=False` takes any number of invalid values, as
    forgetting must.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        learning: bool = True,
        vocabularies: Mapping[str, Vocabulary] | None = None,
        with_target: bool | None = None,
        batch_rows: int | None = BATCH_ROWS,
        check_invalid: bool = True,
    ) -> None:
        if batch_rows is not None and batch_rows < 1:
            raise ParameterError(f"batch_rows is {batch_rows}", fix="choose a number from 1 on, or None")
        self.schema = schema
        self.learning = learning
        self.with_target = learning if with_target is None else with_target
        self.batch_rows = batch_rows
        self.check_invalid = check_invalid
        self.report = Report()
        self.coders = Coders.of(schema, learning, vocabularies or {}, self.with_target)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The levels, words and classes known by now, by name of column."""
        return self.coders.vocabularies

    def batches(
        self, source: Source, *, targets: Source | None = None, weights: ArrayLike | None = None
    ) -> Iterator[Batch]:
        """One sweep over the source, in batches of at most `batch_rows` rows.

        `targets` is a source of one column that stands for the target column, `weights` an array that stands for the
        weight column, where these are not in the table.
        """
        sweep = Sweep(self.schema, self.coders, source, targets, weights, self.with_target)
        self.report = sweep.report
        with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1)) as pool:
            for chunk in source.chunks(sweep.plan.columns(source)):
                yield from in_parts(sweep.encode(chunk, pool), self.batch_rows)
        sweep.finish(self.check_invalid)
