"""Cells that are no numbers in number columns: missing up to 1 % of a table's cells, an error above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import row_number
from bayeswise.tables.schema.column_evidence import too_many_strays
from bayeswise.tables.source import Stray

_KEPT = 5


def place_of(stray: Stray) -> str:
    """The cell and where it stands: `'3a' (line 17)`.

    >>> place_of(Stray(row=15, line=17, text="3a"))
    "'3a' (line 17)"
    """
    text = stray.text if len(stray.text) <= 24 else stray.text[:23] + "…"
    return f"{text!r} ({f'row {row_number(stray.row)}' if stray.line is None else f'line {stray.line}'})"


def places_of(strays: Sequence[Stray], count: int) -> str:
    """The first of `count` strays."""
    return ", ".join(map(place_of, strays)) + (", …" if count > len(strays) else "")


@dataclass
class StrayCount:
    """The strays of one column over one sweep; judged at its end, so that the order of rows plays no part."""

    cells: int = 0
    strays: int = 0
    examples: list[Stray] = field(default_factory=list)

    def observe(self, values: FloatArray, strays: Sequence[Stray]) -> None:
        self.cells += int(np.count_nonzero(~np.isnan(values))) + len(strays)
        self.strays += len(strays)
        self.examples.extend(strays[: _KEPT - len(self.examples)])

    @property
    def too_many(self) -> bool:
        return too_many_strays(self.strays, self.cells)

    def __str__(self) -> str:
        return f"{self.strays} of {self.cells} cells are no numbers: {places_of(self.examples, self.strays)}"
