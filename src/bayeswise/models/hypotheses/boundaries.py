"""Conjunctive concepts and the boundaries of those that no row contradicts: FIND-S and candidate elimination.

A concept demands a level of some columns and takes any of the others ("?"); one more concept covers nothing at all.
Here it is a tuple with a code or ANY for each column, and NOTHING for the last one. A missing cell satisfies "?" only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bayeswise.foundation.errors import TooFewRowsError
from bayeswise.models.hypotheses.hitting import Demand, minimal_demands

ANY = -9
"""Any level; -1 and -2 are cells that are missing or unseen."""

Concept: TypeAlias = tuple[int, ...]
Row: TypeAlias = tuple[int, ...]
NOTHING: Concept = ()

MOST_GENERAL = 100_000
"""How many members the general boundary may have; it can grow exponentially with the columns."""


def covers(concept: Concept, row: Row) -> bool:
    """Whether the row belongs to the concept.

    >>> covers((ANY, 1), (0, 1)), covers((ANY, 1), (0, 0)), covers(NOTHING, (0, 0))
    (True, False, False)
    """
    return concept != NOTHING and all(want in (ANY, cell) for want, cell in zip(concept, row, strict=True))


def find_s(positive: Iterable[Row]) -> Concept:
    """The most specific concept that covers the positive rows: each column keeps the level that all of them share.

    >>> find_s([(0, 1, 2), (0, 1, 0)]) == (0, 1, ANY)
    True
    """
    concept = NOTHING
    for row in positive:
        if concept == NOTHING:
            concept = tuple(cell if cell >= 0 else ANY for cell in row)
        else:
            concept = tuple(have if have == cell else ANY for have, cell in zip(concept, row, strict=True))
    return concept


@dataclass(frozen=True)
class Boundaries:
    """The version space between its most specific and its most general members; both empty if it has collapsed."""

    specific: tuple[Concept, ...]
    general: tuple[Concept, ...]


def candidate_elimination(positive: Iterable[Row], negative: Iterable[Row], n_levels: Sequence[int]) -> Boundaries:
    """The boundaries S and G of the concepts that cover every positive row and no negative one.

    They do not depend on the order of the rows, so the positive ones come first: G then never leaves S.
    """
    negatives = list(dict.fromkeys(negative))
    lowest = find_s(positive)
    if any(covers(lowest, row) for row in negatives):
        return Boundaries((), ())
    general = tuple(sorted(_most_general(negatives, lowest, n_levels)))
    return Boundaries((lowest,), general or (NOTHING,))


def _most_general(negatives: Sequence[Row], lowest: Concept, n_levels: Sequence[int]) -> Iterator[Concept]:
    """Those that rule every negative row out with no demand to spare; above S, whose levels alone may be demanded."""
    demands = [
        Demand(c, level)
        for c in range(len(n_levels))
        for level in (range(n_levels[c]) if lowest == NOTHING else {lowest[c]} - {ANY})
    ]
    ruled_out_by = (
        sum(1 << k for k, demand in enumerate(demands) if row[demand.column] != demand.level) for row in negatives
    )
    for n, choice in enumerate(minimal_demands(demands, ruled_out_by)):
        if n == MOST_GENERAL:
            raise TooFewRowsError(
                f"the general boundary has more than {MOST_GENERAL:,} members",
                fix="give more positive rows, or fewer columns",
            )
        levels = {demand.column: demand.level for demand in choice}
        yield tuple(levels.get(c, ANY) for c in range(len(n_levels)))
