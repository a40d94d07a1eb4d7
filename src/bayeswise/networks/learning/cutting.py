"""Columns of numbers as states: which ones are cut into intervals, and where."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import SchemaError
from bayeswise.networks.node import cuts_of, intervals
from bayeswise.tables.schema.labels import Label


@dataclass(frozen=True)
class Cutting:
    """Which columns of numbers are cut into intervals, and where."""

    cuts: Mapping[str, Sequence[float]]
    beyond: int | None  # so many different numbers are cut
    numbers: Collection[str]
    labels: Collection[str]
    textual: bool

    def of(self, name: str, levels: Sequence[Label], given: Sequence[Any]) -> tuple[bool, Sequence[float] | None]:
        """Whether a column with these labels is cut, and the cuts that were asked for."""
        asked = self.cuts.get(name)
        if asked is None and all(map(is_number, levels)):
            asked = cuts_of(given)
        many = name in self.numbers or (
            self.beyond is not None
            and len(levels) > self.beyond
            and name not in self.labels
            and not _are_labels(levels, self.textual)
        )
        return asked is not None or (not given and many and all(map(is_number, levels))), asked


def cut_cells(
    name: str, levels: Sequence[Label], codes: CodeArray, weights: FloatArray | None, asked: Sequence[float] | None
) -> tuple[tuple[float, ...], list[str], CodeArray]:
    """The cuts of a column of numbers, its intervals in their order, and the cells as codes of these."""
    values = numbers_in(name, levels)
    there = codes >= 0
    seen = (values, None) if asked is not None else (values[codes[there]], None if weights is None else weights[there])
    found, named = intervals_of(*seen, asked)
    place = np.append(np.searchsorted(np.array(found), values, side="right"), -1).astype(np.int32)
    return found, named, place[codes]


def numbers_in(name: str, levels: Sequence[Label]) -> FloatArray:
    if not all(map(is_number, levels)):
        odd = next(level for level in levels if not is_number(level))
        raise SchemaError(f"column {name!r} is cut, and {odd!r} is not a number", fix="cut columns of numbers only")
    return np.array([float(level) for level in levels], dtype=np.float64)


def intervals_of(
    values: FloatArray, weights: FloatArray | None, asked: Sequence[float] | None
) -> tuple[tuple[float, ...], list[str]]:
    """The cuts that were asked for, else the fifths of values, and the intervals between them."""
    if asked is None:
        halfway = fifths(values, weights)
        asked = cuts_of(intervals(halfway)) or ()  # as they are written: cells of later rows are put in by these words
    found = tuple(sorted({float(cut) for cut in asked}))
    return found, intervals(found, exact=True)


def fifths(values: FloatArray, weights: FloatArray | None = None) -> list[float]:
    """Cuts that leave about a fifth of the weight in each interval, each halfway between two values.

    >>> fifths(np.arange(10.0))
    [1.5, 3.5, 5.5, 7.5]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    mass = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    cuts: list[float] = []
    for share in (0.2, 0.4, 0.6, 0.8):
        at = int(np.searchsorted(mass, share * mass[-1] * (1.0 - 1e-12))) if len(mass) else 0
        above = ordered[at + 1 :][ordered[at + 1 :] > ordered[at]] if len(mass) else ordered
        if len(above):
            cuts.append(float(ordered[at] + 0.5 * (above[0] - ordered[at])))
    return sorted(set(cuts))


def is_number(label: Label) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


def _are_labels(levels: Sequence[Label], textual: bool) -> bool:
    """Text of a dataframe is a label whatever it looks like; text of a file is one where it has leading zeros."""
    texts = [level for level in levels if isinstance(level, str)]
    return bool(texts) and (not textual or any(text[:1] == "0" and text[1:].isdigit() for text in texts if text != "0"))
