"""Cells that are not numbers in number columns: missing up to 1 % of a table's cells, an error above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import row_number
from bayeswise.tables.schema.column_evidence import too_many_invalid
from bayeswise.tables.source import InvalidValue

_KEPT = 5


def place_of(invalid: InvalidValue) -> str:
    """The cell and where it stands: `'3a' (line 17)`.

    >>> place_of(InvalidValue(row=15, line=17, text="3a"))
    "'3a' (line 17)"
    """
    text = invalid.text if len(invalid.text) <= 24 else invalid.text[:23] + "…"
    return f"{text!r} ({f'row {row_number(invalid.row)}' if invalid.line is None else f'line {invalid.line}'})"


def places_of(invalid: Sequence[InvalidValue], count: int) -> str:
    """The first of `count` invalid values."""
    return ", ".join(map(place_of, invalid)) + (", …" if count > len(invalid) else "")


@dataclass
class InvalidCount:
    """The invalid values of one column over one sweep; checked at its end, so that the order of rows plays no part."""

    cells: int = 0
    invalid: int = 0
    examples: list[InvalidValue] = field(default_factory=list)

    def observe(self, values: FloatArray, invalid: Sequence[InvalidValue]) -> None:
        self.cells += int(np.count_nonzero(~np.isnan(values))) + len(invalid)
        self.invalid += len(invalid)
        self.examples.extend(invalid[: _KEPT - len(self.examples)])

    def merge(self, other: InvalidCount) -> InvalidCount:
        """The invalid values of both sweeps."""
        examples = [*self.examples, *other.examples][:_KEPT]
        return InvalidCount(self.cells + other.cells, self.invalid + other.invalid, examples)

    @property
    def too_many(self) -> bool:
        return too_many_invalid(self.invalid, self.cells)

    def __str__(self) -> str:
        return f"{self.invalid} of {self.cells} cells are not numbers: {places_of(self.examples, self.invalid)}"
