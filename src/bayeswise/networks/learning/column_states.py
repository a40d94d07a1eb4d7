"""From the labels in cells to the states of a column: of one type, not too many, numbers cut into intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.networks.node import cuts_of, intervals, is_padded, place_of_state
from bayeswise.tables.schema.labels import Label, Vocabulary, as_label

MOST_LEVELS = 65_535
MOST_LABELS = 20
"""Up to this many different numbers are names of states; more are cut into intervals."""
MOST_NUMBERS = 255
"""More different numbers are a measurement, and not names of states."""


@dataclass(frozen=True)
class Cutting:
    """Which columns of numbers are cut into intervals, and where."""

    cuts: Mapping[str, Sequence[float]]
    beyond: int | None  # a column of more different numbers is cut
    numbers: Collection[str]
    labels: Collection[str]
    textual: bool

    def of(self, name: str, levels: Sequence[Label], given: Sequence[Any]) -> tuple[bool, Sequence[float] | None]:
        """Whether a column with these labels is cut, and its given cuts."""
        cuts = self.cuts.get(name)
        if cuts is None and all(map(is_number, levels)):
            cuts = cuts_of(given)
        many = name in self.numbers or (
            self.beyond is not None
            and len(levels) > self.beyond
            and name not in self.labels
            and not _are_labels(levels, self.textual)
        )
        return cuts is not None or (not given and many and all(map(is_number, levels))), cuts


def cut_cells(
    name: str, levels: Sequence[Label], codes: CodeArray, weights: FloatArray | None, cuts: Sequence[float] | None
) -> tuple[tuple[float, ...], list[str], CodeArray]:
    """The cuts of a column of numbers, its intervals in their order, and the cells as codes of these."""
    values = numbers_in(name, levels)
    there = codes >= 0
    seen = (values, None) if cuts is not None else (values[codes[there]], None if weights is None else weights[there])
    ascending, named = intervals_of(*seen, cuts)
    place = np.append(np.searchsorted(np.array(ascending), values, side="right"), -1).astype(np.int32)
    return ascending, named, place[codes]


def numbers_in(name: str, levels: Sequence[Label]) -> FloatArray:
    if not all(map(is_number, levels)):
        odd = next(level for level in levels if not is_number(level))
        raise SchemaError(f"column {name!r} is cut, and {odd!r} is not a number", fix="cut columns of numbers only")
    return np.array([float(level) for level in levels], dtype=np.float64)


def intervals_of(
    values: FloatArray, weights: FloatArray | None, cuts: Sequence[float] | None
) -> tuple[tuple[float, ...], list[str]]:
    """The given cuts, else the fifths of values, and the intervals between them."""
    if cuts is None:
        halfway = fifths(values, weights)
        cuts = cuts_of(intervals(halfway)) or ()  # as they are written: cells of later rows are put in by these words
    ascending = tuple(sorted({float(cut) for cut in cuts}))
    return ascending, intervals(ascending, exact=True)


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


def refuse_too_many(name: str, levels: Sequence[Label]) -> None:
    """A column of more values than a code can count."""
    if len(levels) > MOST_LEVELS:
        raise SchemaError(
            f"column {name!r} has more than {MOST_LEVELS:,} different values",
            fix=f"put values together, or ignore it: ignore=[{name!r}] (--ignore {name})",
        )


def refuse_numbers(name: str, levels: Sequence[Label]) -> None:
    """Refuse a column of more than `MOST_NUMBERS` numbers: it is a measurement."""
    if len(levels) > MOST_NUMBERS and all(map(is_number, levels)):
        raise SchemaError(
            f"column {name!r} has more than {MOST_NUMBERS} different numbers, too many for states",
            fix=f"cut it into a few states, cuts={{{name!r}: [...]}} (--cuts {name}=...), or ignore it: "
            f"ignore=[{name!r}] (--ignore {name}); "
            f"if they are names, give them: states={{{name!r}: [...]}}",
        )


def vocabulary_of(given: list[Any], seen: Sequence[Any]) -> Vocabulary:
    """The states that were given, then those that cells show."""
    first = Vocabulary(given)
    return Vocabulary([*first, *(label for label in _of_one_type(seen) if first.code_of_equal(label) < 0)])


def typed_levels(levels: Sequence[Label], given: Sequence[Any]) -> Sequence[Label]:
    """The cells of a text file as a dataframe of the same table has them: a column of numbers, of flags, or of text.

    Cells that are among the states that were `given` stay these.

    >>> typed_levels(["10", "9"], []), typed_levels(["09", "10"], []), typed_levels(["a", "9"], [9])
    ([10, 9], ['09', '10'], ['a', 9])
    """
    if given:
        known = Vocabulary(given)
        places = [place_of_state(known, level) for level in levels]
        return [level if place < 0 else known[place] for level, place in zip(levels, places, strict=True)]
    texts = [str(level) for level in levels]
    if not texts or any(is_padded(text) for text in texts):
        return levels
    for kind in ("boolean", "integer", "number"):
        typed = [as_label(text, kind, textual=True) for text in texts]
        if None not in typed:
            return [label for label in typed if label is not None]
    return levels


def _of_one_type(labels: Sequence[Any]) -> Vocabulary:
    """The different labels, numbers of one type: pandas makes floats of integers where a cell is missing.

    >>> _of_one_type([0.0, 1.0]), _of_one_type([1, 2.5]), _of_one_type([True, 1.0, "1"])
    (Vocabulary(0, 1), Vocabulary(1.0, 2.5), Vocabulary(True, 1, '1'))
    """
    numbers = [label for label in labels if type(label) in (int, float)]
    if not any(type(label) is float for label in numbers) or any(abs(label) >= 2**53 for label in numbers):
        return Vocabulary.of(labels)
    kind = int if all(label == int(label) for label in numbers) else float
    return Vocabulary.of([kind(label) if type(label) in (int, float) else label for label in labels])
