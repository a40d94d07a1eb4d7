"""The answers of a model to a stream of rows: chunk by chunk, with counts of missing and unseen values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from bayeswise.cli.options.reading import Watched
from bayeswise.cli.output.table_text import guarded
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, TooFewRowsError, UsageError
from bayeswise.render.labels import probability_names
from bayeswise.render.plain import json_number
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.names import find_name, free_name, normal_name
from bayeswise.tables.source import Chunk, RawColumn

EVIDENCE = "log_evidence"


@dataclass(frozen=True)
class Layout:
    """Which columns come out: those of the table that are kept, the answer, and what belongs to it."""

    kept: tuple[str, ...]
    answer: str
    probabilities: tuple[str, ...] = ()
    evidence: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        extra = () if self.evidence is None else (self.evidence,)
        return (*self.kept, self.answer, *self.probabilities, *extra)

    @classmethod
    def of(
        cls,
        kept: Sequence[str],
        target: str,
        classes: Sequence[Label],
        *,
        proba: bool = False,
        evidence: bool = False,
    ) -> Layout:
        """The answer is named like the target, or `predicted` where the table has that name.

        >>> Layout.of(["wind", "play"], "play", ["no", "yes"], proba=True).names
        ('wind', 'play', 'predicted', 'p_no', 'p_yes')
        """
        taken = {normal_name(name) for name in kept}
        answer = free_name([target, "predicted"], taken)
        columns = tuple(free_name([name], taken) for name in (probability_names(classes) if proba else ()))
        return cls(tuple(kept), answer, columns, free_name([EVIDENCE], taken) if evidence else None)


def kept_columns(keep: str, columns: Sequence[RawColumn], where: str) -> tuple[list[str], list[str]]:
    """The columns to write again, and those that cannot be: lists and bytes are not cells of a text table."""
    opaque = [column.name for column in columns if column.storage in ("nested", "binary")]
    names = [column.name for column in columns]
    if keep == "none":
        return [], []
    if keep != "all":
        listed = {find_name(name, names, where=where) for name in keep.split(",")}
        names = [name for name in names if name in listed]
    return [name for name in names if name not in opaque], [name for name in names if name in opaque]


@dataclass
class Tally:
    """What a sweep counted, by column."""

    rows: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    invalid: dict[str, str] = field(default_factory=dict)

    def count_missing(self, names: Iterable[str], counts: Iterable[int]) -> None:
        for name, count in zip(names, counts, strict=True):
            if count:
                self.missing[name] = self.missing.get(name, 0) + int(count)

    def to_dict(self) -> dict[str, Any]:
        return {
            "n_rows": self.rows,
            "missing": self.missing,
            "unseen": self.unseen,
            "no_numbers": self.invalid,
        }


class Answers:
    """The rows of a table with a model's answers, as columns, chunk by chunk."""

    def __init__(self, model: Any, source: Watched, layout: Layout) -> None:
        self.model = model
        self.source = source
        self.layout = layout
        self.tally = Tally()
        self._encoder = Encoder(model.schema, learning=False, vocabularies=model.vocabularies, batch_rows=None)
        self._invalid_counts: dict[str, int] = {}

    def __iter__(self) -> Iterator[tuple[list[Sequence[Any]], list[bool]]]:
        """The columns of a chunk, and which of them need no guard."""
        for batch in self._encoder.batches(self.source):
            chunk = self.source.chunk
            assert chunk is not None
            self._count(batch, chunk)
            numbers = self._clean_numbers()
            kept = [chunk.cells(name) for name in self.layout.kept]
            safe = [name in numbers for name in self.layout.kept]
            answers = list(self._answers(batch, chunk))
            yield [*kept, *answers], [*safe, False, *[True] * (len(answers) - 1)]
        self._finish()

    def _answers(self, batch: Batch, chunk: Chunk) -> Iterator[Sequence[Any]]:
        scored = self.model.scored(batch)
        best = np.argmax(scored.log_relative, axis=1)
        self._refuse_impossible(scored.log_relative[np.arange(batch.n_rows), best], chunk)
        yield list(map(self.model.classes.__getitem__, best.tolist()))
        if self.layout.probabilities:
            yield from self.model.probability_of(scored).T.tolist()
        if self.layout.evidence is not None:
            yield self.model.log_evidence_of(scored).tolist()

    def _refuse_impossible(self, log_best: FloatArray, chunk: Chunk) -> None:
        impossible = np.isneginf(log_best)
        if impossible.any():
            row = chunk.first_row + int(np.argmax(impossible)) + 1
            raise ImpossibleEvidenceError(
                f"row {row} of {self.source.description} has probability 0 in every class",
                fix="fit the model with --smoothing above 0, or with --unseen ignore",
            )

    # -- counts ------------------------------------------------------------------------------------------
    def _count(self, batch: Batch, chunk: Chunk) -> None:
        schema = self.model.schema
        self.tally.rows += batch.n_rows
        self.tally.count_missing(schema.numbers, np.isnan(batch.values).sum(axis=0))
        self.tally.count_missing(schema.categories, (batch.codes == MISSING).sum(axis=0))
        found = {normal_name(column.name): column.name for column in self.source.columns}
        texts = (chunk.texts(found[normal_name(name)]) for name in schema.texts)
        self.tally.count_missing(schema.texts, (cells.count(None) for cells in texts))

    def _clean_numbers(self) -> set[str]:
        """The columns in which every cell of this chunk was a number or missing by one of the usual words."""
        counts = {name: count.invalid for name, count in self._encoder.report.invalid.items()}
        clean = {name for name, count in counts.items() if count == self._invalid_counts.get(name, 0)}
        self._invalid_counts = counts
        harmless = all(guarded(word) == word for word in self.source.null_words)
        return clean if harmless else set()

    def _finish(self) -> None:
        report = self._encoder.report
        self.tally.unseen = dict(report.unseen)
        self.tally.invalid = {name: str(count) for name, count in report.invalid.items() if count.invalid}


STDDEV = "stddev"


@dataclass(frozen=True)
class NumberLayout(Layout):
    """The columns that are kept, the mean, stddev, and one column for each quantile."""

    spread: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kept, self.answer, *self.spread)

    @classmethod
    def named(cls, kept: Sequence[str], target: str, quantiles: Sequence[float]) -> NumberLayout:
        """The mean is named like the target, or `predicted` where the table has that name.

        >>> NumberLayout.named(["size"], "price", [0.05, 0.95]).names
        ('size', 'price', 'stddev', 'q_0.05', 'q_0.95')
        """
        taken = {normal_name(name) for name in kept}
        answer = free_name([target, "predicted"], taken)
        names = [STDDEV, *(f"q_{share:g}" for share in quantiles)]
        return cls(tuple(kept), answer, spread=tuple(free_name([name], taken) for name in names))


class NumberAnswers(Answers):
    """The rows of a table with the distribution of the target, as columns, chunk by chunk."""

    def __init__(self, model: Any, source: Watched, layout: NumberLayout, quantiles: Sequence[float]) -> None:
        super().__init__(model, source, layout)
        self.quantiles = list(quantiles)

    def _answers(self, batch: Batch, chunk: Chunk) -> Iterator[Sequence[Any]]:
        yield list(map(json_number, self.model.predict(batch).tolist()))
        try:
            ahead = self.model.predictive(batch)
        except TooFewRowsError:
            if self.quantiles:
                raise
            yield ["inf"] * batch.n_rows  # as many weights as rows: nothing is known about the noise
            return
        yield list(map(json_number, ahead.stddev.tolist()))
        if self.quantiles:
            for column in ahead.quantile(self.quantiles).T.tolist():
                yield list(map(json_number, column))


def quantiles_of(text: str | None) -> list[float]:
    """--quantiles as it was typed.

    >>> quantiles_of(".05,.95"), quantiles_of(None)
    ([0.05, 0.95], [])
    """
    found = []
    for word in (text or "").split(",") if text else []:
        try:
            share = float(word)
        except ValueError:
            share = -1.0
        if not 0 < share < 1:
            raise UsageError(f"--quantiles has {word!r}", fix="write probabilities between 0 and 1, as .05,.5,.95")
        found.append(share)
    return found
