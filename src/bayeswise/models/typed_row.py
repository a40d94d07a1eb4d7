"""One row as a person types it: cells that are read like those of a text file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.null_words import words_of
from bayeswise.tables.sources.memory.records import ListsSource


def typed_batch(model: Any, cells: Mapping[str, str | None], null_words: Sequence[str] | None = None) -> Batch:
    """The row as the model encodes it; columns that are not named are missing, and so are null words.

    >>> import bayeswise as bw
    >>> rows = [{"age": age, "ill": ill} for age, ill in [(30, "no"), (40, "no"), (60, "yes"), (70, "yes")]]
    >>> typed_batch(bw.fit(rows, target="ill", model="naive-bayes"), {"age": "65.5"}).values
    array([[65.5]])
    """
    schema = model.schema
    typed: list[list[str | None]] = [[cells.get(name)] for name in schema.used]
    source = ListsSource("the row", list(schema.used), typed, 1)
    source.textual = True
    source.null_words = words_of(schema) if null_words is None else tuple(null_words)
    encoder = Encoder(schema, learning=False, vocabularies=model.vocabularies, batch_rows=None)
    (batch,) = encoder.batches(source)
    return batch
