"""From the labels in cells to the states of a column: of one type, not too many, numbers cut into intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import SchemaError
from bayeswise.networks.node import cuts_of, intervals, is_padded, place_of_state
from bayeswise.render.numbers import reads_as_number
from bayeswise.tables.schema.labels import Label, Vocabulary, as_label
from bayeswise.tables.schema.notes import keep, leave_out

MOST_LEVELS = 65_535
MOST_LABELS = 20
"""Up to this many distinct numbers are names of states; more are cut into intervals."""
MOST_NUMBERS = 255
"""More distinct numbers are a measurement, and not names of states."""


def cut_cells(
    values: FloatArray,
    codes: CodeArray,
    weights: FloatArray | None,
    cuts: Sequence[float] | None,
    given: Sequence[Any] = (),
) -> tuple[tuple[float, ...], list[str], CodeArray]:
    """The cuts of a column of numbers, its intervals in their order, and the cells as codes of these.

    `values` are the labels as numbers; cells whose label is not a number are missing.
    """
    each = np.append(values, np.nan)[codes]
    there = ~np.isnan(each)
    ascending, named = intervals_of(each[there], None if weights is None else weights[there], cuts, given)
    return ascending, named, np.append(places_between(ascending, values), -1).astype(np.int32)[codes]


def places_between(cuts: Sequence[float], values: FloatArray) -> CodeArray:
    """(n_values,) the interval between cuts that each number is in; -1 for NaN.

    >>> places_between([2.5], np.array([1.0, 2.5, np.nan])).tolist()
    [0, 1, -1]
    """
    places = np.searchsorted(np.array(cuts), values, side="right").astype(np.int32)
    return np.where(np.isnan(values), np.int32(-1), places)


def intervals_of(
    values: FloatArray, weights: FloatArray | None, cuts: Sequence[float] | None, given: Sequence[Any] = ()
) -> tuple[tuple[float, ...], list[str]]:
    """The given cuts, else the quintiles of values, and the intervals between them, with their `given` names."""
    if cuts is None:
        halfway = quintiles(values, weights)
        cuts = cuts_of(intervals(halfway)) or ()  # as in the names of the intervals, which place cells of later rows
    ascending = tuple(sorted({float(cut) for cut in cuts}))
    return ascending, list(given) if given and cuts_of(given) == ascending else intervals(ascending, exact=True)


def quintiles(values: FloatArray, weights: FloatArray | None = None) -> list[float]:
    """Cuts that leave about a fifth of the weight in each interval, each halfway between two values.

    >>> quintiles(np.arange(10.0))
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


def refuse_too_many(name: str, levels: Sequence[Label]) -> None:
    """Refuse a column of more values than there are codes."""
    if len(levels) > MOST_LEVELS:
        raise SchemaError(
            f"column {name!r} has more than {MOST_LEVELS:,} different values",
            fix=f"put values together, or ignore it: ignore=[{name!r}] (--ignore {name})",
        )


def refuse_numbers(name: str, levels: Sequence[Label]) -> None:
    """Refuse a column of more than `MOST_NUMBERS` numbers, a measurement; with leading zeros they are names."""
    if len(levels) <= MOST_NUMBERS or not all(reads_as_number(level) and not is_padded(str(level)) for level in levels):
        return
    raise SchemaError(
        f"column {name!r} has more than {MOST_NUMBERS} different numbers, too many for states",
        fix=f"cut it into a few states, cuts={{{name!r}: [...]}} or --cuts {name}=...; leave it out, "
        f"{leave_out(name)}; or if they are names, {keep(name, 'category')}",
    )


def vocabulary_of(given: list[Any], seen: Sequence[Any]) -> Vocabulary:
    """The given states, then further ones that occur."""
    first = Vocabulary(given)
    return Vocabulary([*first, *(label for label in _of_one_type(seen) if first.code_of_equal(label) < 0)])


def typed_levels(levels: Sequence[Label], given: Sequence[Any]) -> Sequence[Label]:
    """The cells of a text file typed as in a dataframe: a column of numbers, of booleans, or of text.

    Cells that are among the `given` states become these.

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
    """The distinct labels, numbers of one type: pandas makes floats of integers where a cell is missing.

    >>> _of_one_type([0.0, 1.0]), _of_one_type([1, 2.5]), _of_one_type([True, 1.0, "1"])
    (Vocabulary(0, 1), Vocabulary(1.0, 2.5), Vocabulary(True, 1, '1'))
    """
    numbers = [label for label in labels if type(label) in (int, float)]
    if not any(type(label) is float for label in numbers) or any(abs(label) >= 2**53 for label in numbers):
        return Vocabulary.of(labels)
    kind = int if all(label == int(label) for label in numbers) else float
    return Vocabulary.of([kind(label) if type(label) in (int, float) else label for label in labels])
