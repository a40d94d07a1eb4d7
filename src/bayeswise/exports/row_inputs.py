"""The inputs of a score: numbers and levels of a row of a table, or of its features for a member of a mixture.

A query cannot raise an error about one row. What a model refuses (an infinite number, an invalid count, a missing or
unseen cell where that is an error) is a condition here, and such a row has no answer.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayeswise.foundation.errors import ExportError
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.render.expression import (
    Expression,
    Levels,
    at_most,
    below,
    cell,
    choose,
    either,
    equal,
    floor,
    in_slot,
    is_missing,
    lookup,
    negated,
    number,
)
from bayeswise.tables.schema.labels import LabelKey, Vocabulary, label_key
from bayeswise.tables.schema.schema import Schema


class Row(Protocol):
    """Cells by the name of their column."""

    def number(self, column: str) -> Expression:
        """A number, or missing."""
        ...

    def slot(self, column: str, known: Vocabulary) -> Expression:
        """The known level, or "missing" or "unseen"."""
        ...


class TableRow:
    """The row of a table, each cell read once; `refused` are the conditions under which a model refuses it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._numbers: dict[str, Expression] = {}
        self._slots: dict[tuple[str, tuple[LabelKey, ...]], Expression] = {}
        self.refused: list[Expression] = []

    def number(self, column: str) -> Expression:
        if column not in self._numbers:
            self._numbers[column] = x = cell(column)
            if column in self.schema.numbers:
                self._refuse_number(column, x)
        return self._numbers[column]

    def _refuse_number(self, column: str, x: Expression) -> None:
        form = self.schema[column]
        if form.missing == "error":
            self.refused.append(is_missing(x))
        if form.kind == "count":
            self.refused.append(choose_known(x, either(below(x, 0.0), negated(equal(x, floor(x))))))

    def slot(self, column: str, known: Vocabulary) -> Expression:
        key = column, tuple(map(label_key, known))
        if key not in self._slots:
            levels = Levels(column, known.labels)
            self._slots[key] = slot = Expression("slot", (), levels)
            form = self.schema[column]
            if form.missing == "error":
                self.refused.append(in_slot(slot, levels.missing))
            if form.unseen == "error":
                self.refused.append(in_slot(slot, levels.unseen))
        return self._slots[key]

    @property
    def unreadable(self) -> Expression | None:
        """Whether some number of the row is infinite, or text."""
        columns = tuple(self._numbers)
        return Expression("unreadable", (), columns) if columns else None

    @property
    def is_refused(self) -> Expression | None:
        """Whether a model would refuse the row; None if it accepts every row."""
        every = [*self.refused, *([self.unreadable] if self.unreadable is not None else [])]
        return either(*every) if every else None


def choose_known(x: Expression, condition: Expression) -> Expression:
    """The condition where the number is not missing, else false."""
    return Expression("and", (negated(is_missing(x)), condition))


def free_text(column: str) -> ExportError:
    """The error for a column of free text."""
    return ExportError(
        f"column {column!r} is free text, which databases split into words differently",
        fix=f"leave it out with ignore=[{column!r}] (--ignore {column}), or count its words in columns",
    )


class NumbersRow:
    """The features of a row for a member of a mixture that takes numbers only: see `AsNumbers`."""

    def __init__(self, inputs: AsNumbers, row: Row, known: dict[str, Vocabulary]) -> None:
        if inputs.words:
            raise free_text(inputs.table.texts[0])
        self.inputs, self.row, self.known = inputs, row, known
        names = [name for name, _ in inputs.features]
        self._features = dict(zip(names, self._all(), strict=True))

    def number(self, column: str) -> Expression:
        return self._features[column]

    def slot(self, column: str, known: Vocabulary) -> Expression:
        raise NotImplementedError  # such a member has no categories

    def _all(self) -> list[Expression]:
        """In the order of `AsNumbers.features`."""
        inputs, table = self.inputs, self.inputs.table
        filled = {name: self._filled(name) for name in table.numbers}
        numbers = list(filled.values())
        for name, cuts in inputs.cuts.items():
            numbers += [_from(filled[name], cut) for cut in cuts]
        indicators = {
            name: [self._indicator(name, level) for level in range(len(levels))]
            for name, levels in zip(table.categories, inputs.levels, strict=True)
        }
        numbers += [each for of_column in indicators.values() for each in of_column]
        numbers += [self._flag(name) for name in inputs.flagged]
        crossed = inputs.crossed
        if crossed is not None:
            basis = dict(indicators)
            for name, cuts in crossed.grid.items():
                scaled = (filled[name] - crossed.centre[name]) / crossed.unit[name]
                basis[name] = [scaled, *(_from(filled[name], cut) for cut in cuts)]
            for one, other in crossed.pairs:
                numbers += [a * b for a in basis[one] for b in basis[other]]
        return numbers

    def _filled(self, name: str) -> Expression:
        x = self.row.number(name)
        if self.inputs.fill is None:
            return x
        fill = float(self.inputs.fill[self.inputs.table.numbers.index(name)])
        return choose(is_missing(x), number(fill), x)

    def _indicator(self, name: str, level: int) -> Expression:
        slot = self.row.slot(name, self.known[name])
        own = self.inputs.levels[self.inputs.table.categories.index(name)]
        entries = np.zeros(len(self.known[name]) + 2)
        at = self.known[name].positions_in(own)
        entries[: len(self.known[name])] = at == level
        return lookup([slot], entries)

    def _flag(self, name: str) -> Expression:
        if name in self.inputs.table.numbers:
            return choose(is_missing(self.row.number(name)), number(1.0), number(0.0))
        slot = self.row.slot(name, self.known[name])
        return choose(in_slot(slot, slot.value.missing), number(1.0), number(0.0))


def _from(x: Expression, cut: float) -> Expression:
    """1 from the cut on, 0 below it and where the number is missing."""
    return choose(at_most(number(cut), x), number(1.0), number(0.0))
