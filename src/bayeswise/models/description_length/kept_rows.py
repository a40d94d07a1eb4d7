"""Some rows of a table, kept while it is swept: all of a small one, an even sample of a large one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from bayeswise.foundation.arrays import IntArray
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

MOST_ROWS = 1 << 13
_SEED = 0x6B65_7074_2072_6F77  # a small one may be the seed that made the table, and choose by its columns


@dataclass
class KeptRows:
    """At most `most` rows: each has a number drawn for it, and the bar is lowered whenever too many lie below it."""

    most: int = MOST_ROWS
    parts: list[tuple[Batch, IntArray]] = field(default_factory=list)
    bar: int = 1 << 32
    _generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(_SEED))

    def watching(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches as they come; their rows are kept on the way."""
        for batch in batches:
            numbers = self._generator.integers(0, 1 << 32, batch.n_rows)
            has_target = np.ones(batch.n_rows, dtype=bool) if batch.groups is None else batch.groups >= 0
            rows = np.flatnonzero(has_target & (numbers < self.bar))
            self.parts.append((batch.take(rows), numbers[rows]))
            self._lower_the_bar()
            yield batch

    def _lower_the_bar(self) -> None:
        while sum(batch.n_rows for batch, _ in self.parts) > self.most:
            self.bar //= 2
            below = [(batch, numbers, np.flatnonzero(numbers < self.bar)) for batch, numbers in self.parts]
            self.parts = [(batch.take(rows), numbers[rows]) for batch, numbers, rows in below]

    def batches(self, schema: Schema, vocabularies: Mapping[str, Vocabulary]) -> Iterator[Batch]:
        """The rows in the codes of a model's vocabularies."""
        known = tuple(vocabularies[name] for name in schema.categories)
        for batch, _ in self.parts:
            if batch.n_rows:
                yield batch.recode(known, unseen=[MISSING] * len(known))
