"""From chunks of a source to batches of the schema: the border behind which every cell is a number or a code.

What a cell becomes depends on the schema alone, never on the rows around it. While learning, rows without a target and
rows of weight 0 are absent: they define no class and no level. While predicting, every row stays, in its order.
Columns are found by name (those of an unnamed array by position); columns that the schema does not use are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray, has_finite_sum
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    KindError,
    MissingCellError,
    NonFiniteError,
    ParameterError,
    SchemaError,
    row_number,
)
from bayeswise.foundation.threads import Shared
from bayeswise.tables.batch import MISSING, Batch, TextBlock
from bayeswise.tables.encoding.coders import Coders
from bayeswise.tables.encoding.plan import plan_for
from bayeswise.tables.encoding.row_weights import as_weights, checked_weights, refuse_all_zero
from bayeswise.tables.schema.column_evidence import InvalidCount
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.notes import keep
from bayeswise.tables.schema.null_words import remembered, words_among
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Chunk, Source

BATCH_ROWS = 100_000


class Encoder:
    """Turns sources into batches of one schema.

    `vocabularies` are the levels, words and classes that are known, by name of column. While learning they grow,
    unless the schema declares them; while predicting a label beyond them is `UNSEEN`. `with_target` adds the
    target and the weights (always while learning). `check_invalid=False` takes any number of invalid values, as
    forgetting must. `whole=False` says that sources are parts of a table: the caller checks, from the
    reports of all parts, what depends on the whole table. `by_rows=False` leaves numbers in the order in which they
    lie in the table: exact statistics are the same.
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
        whole: bool = True,
        by_rows: bool = True,
    ) -> None:
        if batch_rows is not None and batch_rows < 1:
            raise ParameterError(f"batch_rows is {batch_rows}", fix="give a number of at least 1, or None")
        self.schema = schema
        self.learning = learning
        self.with_target = learning if with_target is None else with_target
        self.batch_rows = batch_rows
        self.check_invalid = check_invalid
        self.whole = whole
        self.by_rows = by_rows
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
        sweep = Sweep(self.schema, self.coders, source, targets, weights, self.with_target, self.by_rows)
        self.report = sweep.report
        for chunk in source.chunks(sweep.plan.columns(source)):
            yield from in_parts(sweep.encode(chunk), self.batch_rows)
        sweep.finish()
        if self.whole:
            sweep.report.check(self.schema, source.description, invalid=self.check_invalid, learning=self.learning)


ROWS_WORTH_A_THREAD = 4_000
RawLabels: TypeAlias = tuple[CodeArray, Sequence[Label]]  # codes of levels as the source numbers them, the levels


@dataclass
class Report:
    """What a sweep found; the heaviest weight is None where all rows count once."""

    rows: int = 0
    without_target: int = 0
    without_weight: int = 0
    invalid: dict[str, InvalidCount] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    heaviest: float | None = None
    in_column: bool = True  # whether the weights are a column

    def check(self, schema: Schema, description: str, *, invalid: bool = True, learning: bool = True) -> None:
        """Check what depends on the whole table."""
        for name, count in self.invalid.items():
            if invalid and count.too_many:
                error = SchemaError if learning else KindError
                found = f"{description} has {count.shown}" if count.cells == 1 else f"in {description} {count}"
                raise error(
                    f"column {name!r} is a number, but {found}",
                    fix=f"correct these cells, or fit again with {keep(name, 'category')}",
                )
        if learning and self.heaviest is not None:
            refuse_all_zero(self.heaviest, self.rows, _where_weights(schema.weight if self.in_column else None))

    def merge(self, other: Report) -> Report:
        """What sweeps over two parts of a table found."""
        heaviest = [each for each in (self.heaviest, other.heaviest) if each is not None]
        none = InvalidCount()
        return Report(
            self.rows + other.rows,
            self.without_target + other.without_target,
            self.without_weight + other.without_weight,
            {
                name: self.invalid.get(name, none).merge(other.invalid.get(name, none))
                for name in {**self.invalid, **other.invalid}
            },
            {name: self.unseen.get(name, 0) + other.unseen.get(name, 0) for name in {**self.unseen, **other.unseen}},
            max(heaviest, default=None),
            self.in_column and other.in_column,
        )


def _where_weights(column: str | None) -> str:
    return "the weights" if column is None else f"column {column!r}"


class Sweep:
    """Chunks of one source, in their order, to batches."""

    def __init__(
        self,
        schema: Schema,
        coders: Coders,
        source: Source,
        targets: Source | None,
        weights: ArrayLike | None,
        with_target: bool,
        by_rows: bool = True,
    ) -> None:
        self.schema = schema
        self.coders = coders
        self.source = source
        self.by_rows = by_rows
        self.report = Report(in_column=weights is None)
        self.targets = None if targets is None or coders.classes is None else _all_labels(targets)
        self.weights = None if weights is None else as_weights(weights)
        self.weight = schema.weight if with_target and weights is None else None
        target = coders.classes.name if coders.classes is not None and self.targets is None else None
        apart = [name for name in (target, self.weight) if name is not None]
        self.plan = plan_for(schema, source, apart, {name: coder.vocabulary for name, coder in coders.levels.items()})
        for coder in coders.levels.values():
            coder.start(textual=source.textual)
        self.kept_words = self._words_that_are_levels() if source.textual else {}
        if coders.classes is not None:
            coders.classes.start(textual=(targets or source).textual)

    def encode(self, chunk: Chunk) -> Batch:
        """The rows of a chunk that count, as one batch; other threads read labels while this one reads numbers."""
        columns = [(self.plan[name], self.kept_words.get(name, ())) for name in self.schema.categories]
        labels = Shared(
            lambda column: chunk.labels(*column),
            columns,
            helpers=len(columns) if chunk.n_rows >= ROWS_WORTH_A_THREAD else 0,
        )
        weights = self._weights_of(chunk)
        groups, classes = self._groups_of(chunk)
        kept = self._kept(groups, weights)
        n_rows = chunk.n_rows if kept is None else int(np.count_nonzero(kept))
        self.report.rows += chunk.n_rows
        return Batch(
            n_rows,
            values=_picked(self._values_of(chunk, kept), kept),
            codes=self._codes_of(labels, chunk, kept, n_rows),
            vocabularies=tuple(self.coders.levels[name].vocabulary for name in self.schema.categories),
            texts=tuple(self._words_of(name, chunk, kept) for name in self.schema.texts),
            groups=None if self.coders.classes is None else self.coders.classes.encode(_picked(groups, kept), classes),
            group_labels=Vocabulary() if self.coders.classes is None else self.coders.classes.vocabulary,
            weights=None if weights is None else _picked(weights, kept),
            first_row=chunk.first_row,
            kept=None if kept is None else np.flatnonzero(kept),
        )

    def finish(self) -> None:
        """Report what is known when all rows have passed."""
        self.report.unseen = {name: coder.n_unseen for name, coder in self.coders.levels.items() if coder.n_unseen}
        n_targets = None if self.targets is None else len(self.targets[0])
        n_weights = None if self.weights is None else len(self.weights)
        for what, given in (("targets", n_targets), ("weights", n_weights)):
            if given is not None and given != self.report.rows:
                raise ParameterError(f"there are {given} {what} for {self.report.rows} rows", fix="give one per row")

    def _words_that_are_levels(self) -> dict[str, tuple[str, ...]]:
        """The null words that are declared as levels, by column, or that the model knows if it has no words of its own
        for missing cells."""
        words = self.source.null_words
        as_in_model = remembered(words) == self.schema.null_words
        coders = {**self.coders.levels, **({} if self.coders.classes is None else {"": self.coders.classes})}
        known = {coder.name: coder.vocabulary if as_in_model else coder.declared for coder in coders.values()}
        return {name: kept for name, levels in known.items() if (kept := words_among(levels, words))}

    # -- which rows count -------------------------------------------------------------------------------------
    def _weights_of(self, chunk: Chunk) -> FloatArray | None:
        if self.weights is not None:
            weights = _rows_of(self.weights, chunk, "weights")
        elif self.weight is not None:
            weights = chunk.numbers(self.plan[self.weight])[0]
        else:
            return None
        self.report.heaviest = max(self.report.heaviest or 0.0, float(weights.max(initial=0.0)))
        return checked_weights(weights, chunk.first_row, _where_weights(self.weight))

    def _groups_of(self, chunk: Chunk) -> RawLabels:
        if self.coders.classes is None:
            return np.empty(0, dtype=np.int32), ()
        if self.targets is not None:
            codes, classes = self.targets
            return _rows_of(codes, chunk, "targets"), classes
        name = self.coders.classes.name
        return chunk.labels(self.plan[name], self.kept_words.get(name, ()))

    def _kept(self, groups: CodeArray, weights: FloatArray | None) -> BoolArray | None:
        """Rows that count while learning; None if all of them do."""
        kept = None
        if weights is not None:
            kept = weights > 0
            self.report.without_weight += len(kept) - int(np.count_nonzero(kept))
        if self.coders.classes is not None and groups.min(initial=0) == MISSING:
            with_target = groups != MISSING
            without = ~with_target if kept is None else kept & ~with_target
            self.report.without_target += int(np.count_nonzero(without))
            kept = with_target if kept is None else kept & with_target
        return None if kept is None or kept.all() or not self.coders.learning else kept

    # -- what is in their cells -------------------------------------------------------------------------------
    def _values_of(self, chunk: Chunk, kept: BoolArray | None) -> FloatArray:
        if not self.schema.numbers:
            return np.empty((chunk.n_rows, 0))
        read = chunk.matrix if self.by_rows else chunk.block
        values, invalid = read([self.plan[name] for name in self.schema.numbers])
        if not self.coders.learning:  # a statistic refuses them while learning
            refuse_infinite(values, self.schema.numbers, chunk.first_row)
        some_may_be_invalid = any(self.plan.may_be_invalid(name) for _, name in self._checked_numbers)
        n_numbers = _present(values).tolist() if some_may_be_invalid else []
        for k, name in self._checked_numbers:
            column = self.schema[name]
            if self.plan.may_be_invalid(name):
                count = self.report.invalid.setdefault(name, InvalidCount())
                count.observe(n_numbers[k], invalid[self.plan[name]])
            if column.missing == "error":
                _refuse_missing(column, np.isnan(values[:, k]), chunk, kept)
            if column.kind == "count":
                _refuse_no_count(column, values[:, k], chunk)
        return values

    @cached_property
    def _checked_numbers(self) -> list[tuple[int, str]]:
        """Where numbers need a check of their own: invalid values, missing cells that are errors, counts."""
        some = any(form.missing == "error" or form.kind == "count" for form in self.schema.forms)
        if not some and not self.plan.invalid_names:
            return []
        return [(k, name) for k, name in enumerate(self.schema.numbers) if some or self.plan.may_be_invalid(name)]

    def _codes_of(self, labels: Iterable[RawLabels], chunk: Chunk, kept: BoolArray | None, n_rows: int) -> CodeArray:
        codes = np.empty((len(self.schema.categories), n_rows), dtype=np.int32)
        for k, (name, (raw_codes, levels)) in enumerate(zip(self.schema.categories, labels, strict=True)):
            if self.schema[name].missing == "error":
                _refuse_missing(self.schema[name], raw_codes == MISSING, chunk, kept)
            codes[k] = self.coders.levels[name].encode(_picked(raw_codes, kept), levels)
        return codes.T

    def _words_of(self, name: str, chunk: Chunk, kept: BoolArray | None) -> TextBlock:
        texts = chunk.texts(self.plan[name])
        return self.coders.words[name].encode(texts if kept is None else list(compress(texts, kept)))


def in_parts(batch: Batch, most_rows: int | None) -> Iterator[Batch]:
    """Views of at most `most_rows` rows."""
    step = batch.n_rows if most_rows is None else most_rows
    for start in range(0, batch.n_rows, max(step, 1)):
        yield batch if batch.n_rows <= step else batch.rows(slice(start, min(start + step, batch.n_rows)))


def _present(values: FloatArray) -> IntArray:
    """(n_columns,) how many cells are not missing."""
    low, high = np.zeros((2, values.shape[1]))
    present = np.zeros(values.shape[1], dtype=np.int64)
    _kernels.widen_extremes(values, low, high, present)
    return present


def _picked(array: Any, kept: BoolArray | None) -> Any:
    return array if kept is None else array[kept]


def _rows_of(array: Any, chunk: Chunk, what: str) -> Any:
    rows = array[chunk.first_row : chunk.first_row + chunk.n_rows]
    if len(rows) < chunk.n_rows:
        raise ParameterError(f"there are {len(array)} {what} for more rows", fix="give one for each row")
    return rows


def _all_labels(targets: Source) -> RawLabels:
    if len(targets.columns) != 1:
        raise ParameterError(f"the targets have {len(targets.columns)} columns", fix="give one column")
    name = targets.columns[0].name
    parts: list[CodeArray] = []
    levels: Sequence[Label] = ()
    for chunk in targets.chunks([name]):
        codes, levels = chunk.labels(name)
        parts.append(codes)
    return (np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)), levels


def refuse_infinite(values: FloatArray, names: Sequence[str], first_row: int = 0) -> None:
    """Numbers to be predicted, (n_rows, n_columns), are finite or missing; one sum says so where nothing is missing.

    >>> refuse_infinite(np.array([[1.0, np.inf]]), ["age", "height"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.NonFiniteError: column 'height' has an infinite value in row 1. Fix: ...
    """
    if has_finite_sum(values):
        return
    infinite = np.isinf(values)
    if infinite.any():
        row, column = (int(place) for place in np.argwhere(infinite)[0])
        raise NonFiniteError(row=first_row + row, column=names[column])


def refuse_missing_numbers(schema: Schema, values: FloatArray, present: BoolArray | None) -> None:
    """All number columns of a schema as one matrix: no missing cell where the policy is "error"; absent rows may."""
    strict = schema.strict_numbers
    if not strict:
        return
    missing = np.isnan(values[:, strict])
    if present is not None:
        missing &= present[:, None]
    if missing.any():
        row, k = (int(place) for place in np.argwhere(missing)[0])
        raise _missing(schema.numbers[strict[k]], row, "missing (NaN)")


def _missing(name: str, row: int, what: str = "missing") -> MissingCellError:
    return MissingCellError(
        f"column {name!r} is {what} in row {row_number(row)}",
        fix=f"fill the cell in, or choose missing='ignore' for {name!r}",
    )


def _refuse_missing(column: Column, missing: BoolArray, chunk: Chunk, kept: BoolArray | None) -> None:
    absent = missing if kept is None else missing & kept
    if absent.any():
        raise _missing(column.name, chunk.first_row + int(np.argmax(absent)))


def _refuse_no_count(column: Column, values: FloatArray, chunk: Chunk) -> None:
    wrong = (values < 0) | (values != np.floor(values)) & ~np.isnan(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise KindError(
            f"column {column.name!r} is a count, but row {row_number(chunk.first_row + row)} holds {values[row]:g}",
            fix=f"correct the cell, or fit again with {keep(column.name, 'number')}",
        )
