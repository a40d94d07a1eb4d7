"""Answers row by row: all at once where that works, and one by one where a row cannot be answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import decide_rows
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    BayeswiseError,
    ImpossibleEvidenceError,
    SchemaError,
    SourceError,
    listed,
    quoted,
)
from bayeswise.posteriors.prior import shifted
from bayeswise.tables.batch import UNSEEN, Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.null_words import words_of
from bayeswise.tables.sources.memory.records import ListsSource


@dataclass(frozen=True)
class Block:
    """Rows as columns of cells; those of a text file are `textual`, so that null words apply."""

    columns: Mapping[str, Sequence[Any]]
    n_rows: int
    textual: bool = False

    def part(self, begin: int, end: int) -> Block:
        return Block({name: cells[begin:end] for name, cells in self.columns.items()}, end - begin, self.textual)

    def source(self, names: Sequence[str], words: Sequence[str]) -> ListsSource:
        """Columns that are not there are missing."""
        absent = [None] * self.n_rows
        made = ListsSource("the rows", list(names), [self.columns.get(name, absent) for name in names], self.n_rows)
        if self.textual:
            made.textual, made.null_words = True, tuple(words)
        return made


@dataclass(frozen=True)
class Labels:
    """A column of few labels in many rows, by their positions."""

    labels: Sequence[Any]
    positions: IntArray

    def __iter__(self) -> Iterator[Any]:
        return (self.labels[place] for place in self.positions.tolist())


@dataclass
class Answered:
    """Columns of answers, and the rows that have an error instead.

    A column is a list, `Labels`, or an array of numbers.
    """

    n_rows: int
    columns: dict[str, Any] = field(default_factory=dict)
    probability: FloatArray | None = None  # (n_rows, n_states)
    errors: dict[int, BayeswiseError] = field(default_factory=dict)


def encoded(model: Any, block: Block) -> Batch:
    """The rows as the model reads them; a cell that is not a number is an error here, however few they are."""
    if block.n_rows == 0:
        return encoded(model, Block({}, 1)).rows(slice(0, 0))
    encoder = Encoder(
        model.schema, learning=False, vocabularies=model.vocabularies, batch_rows=None, check_invalid=False
    )
    (batch,) = encoder.batches(block.source(model.schema.used, words_of(model.schema)))
    for name, count in encoder.report.invalid.items():
        if count.invalid:
            raise SchemaError(f"column {name!r}: {count}", fix="send a number, or null where it is not known")
    for name, codes, known in zip(model.schema.categories, batch.codes.T, batch.vocabularies, strict=True):
        if model.schema[name].kind == "binary" and (codes == UNSEEN).any():
            cell = block.columns[name][int((codes == UNSEEN).argmax())]
            raise SchemaError(
                f"column {name!r} is binary; found {quoted(cell)}",
                fix=f"send one of {listed(map(str, known))}, or null where it is not known",
            )
    return batch


def by_row(
    block: Block, answer: Callable[[Block], Answered], errors: dict[int, BayeswiseError], begin: int = 0
) -> list[tuple[int, Answered]]:
    """Answers to parts of the rows, with where each begins: a part that fails is cut in halves, down to one row.

    No rows are answered too: by columns without cells.
    """
    try:
        return [(begin, answer(block))]
    except BayeswiseError as error:
        if block.n_rows == 0:
            raise
        if block.n_rows == 1:
            errors[begin] = error
            return []
        half = block.n_rows // 2
        return [
            *by_row(block.part(0, half), answer, errors, begin),
            *by_row(block.part(half, block.n_rows), answer, errors, begin + half),
        ]


def joined(parts: Sequence[tuple[int, Answered]], n_rows: int, errors: dict[int, BayeswiseError]) -> Answered:
    """One answer of all rows; those with an error have None."""
    if len(parts) == 1 and parts[0][1].n_rows == n_rows:
        return parts[0][1]
    whole = Answered(n_rows, errors=errors)
    for begin, part in parts:
        for name, cells in part.columns.items():
            whole.columns.setdefault(name, [None] * n_rows)[begin : begin + part.n_rows] = cells_of(cells)
        if part.probability is not None:
            if whole.probability is None:
                whole.probability = np.full((n_rows, part.probability.shape[1]), np.nan)
            whole.probability[begin : begin + part.n_rows] = part.probability
    return whole


def cells_of(column: Any) -> list[Any]:
    """The cells of a column of answers."""
    found: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return found


def answered(block: Block, answer: Callable[[Block], Answered]) -> Answered:
    """All rows."""
    errors: dict[int, BayeswiseError] = {}
    return joined(by_row(block, answer, errors), block.n_rows, errors)


def predicted(model: Any, batch: Batch) -> Answered:
    """The most probable class and all probabilities; of a regression the number and its spread."""
    if not model.capabilities.classes:
        ahead = model.predictive(batch)
        return Answered(batch.n_rows, {"prediction": np.asarray(ahead.mean), "stddev": np.asarray(ahead.stddev)})
    posterior = posterior_of(model, batch, None)
    return Answered(batch.n_rows, {"prediction": Labels(model.classes, posterior.argmax(axis=1))}, posterior)


def decided(model: Any, batch: Batch, costs: Costs, prior: FloatArray | None, block: Block) -> Answered:
    """The action of least expected cost."""
    posterior = posterior_of(model, batch, prior)
    found = numbers_for(costs, block) if not costs.constant else {}
    decisions = decide_rows(posterior, costs, found)
    columns: dict[str, Any] = {
        "action": Labels(costs.actions, decisions.best),
        "expected_cost": decisions.least_cost,
    }
    if len(costs.actions) > 1:
        columns["runner_up"] = Labels(costs.actions, decisions.second)
    return Answered(batch.n_rows, columns, posterior)


def posterior_of(model: Any, batch: Batch, prior: FloatArray | None) -> FloatArray:
    """(n_rows, n_states) the posterior, under another prior if there is one."""
    scored = model.scored(batch)
    if np.isneginf(scored.log_relative.max(axis=1)).any():
        raise ImpossibleEvidenceError(
            "the row has probability 0 in every class", fix="fit the model with smoothing above 0"
        )
    posterior: FloatArray = model.probability_of(scored)
    return posterior if prior is None else shifted(posterior, np.exp(model.log_prior), prior, model.classes)


def numbers_for(costs: Costs, block: Block) -> dict[str, FloatArray]:
    """The columns that formulas of costs name."""
    if block.n_rows == 0:
        return {name: np.zeros(0) for name in costs.columns}
    absent = [name for name in costs.columns if name not in block.columns]
    if absent:
        raise SourceError(f"the costs need the column {absent[0]!r}", fix=f"send it: {', '.join(costs.columns)}")
    (chunk,) = block.source(costs.columns, ()).chunks(list(costs.columns))
    numbers = {}
    for name in costs.columns:
        numbers[name], invalid = chunk.numbers(name)
        if invalid:
            raise SchemaError(f"column {name!r} has {invalid[0].text!r}, which is not a number", fix="send a number")
    return numbers
