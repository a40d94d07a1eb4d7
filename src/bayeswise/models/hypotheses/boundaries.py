"""Conjunctive concepts and the boundaries of those that no row contradicts: FIND-S and candidate elimination.

A concept demands a level of some columns and takes any of the others ("?"); one more concept covers nothing at all.
Here it is a tuple with a code or ANY for each column, and NOTHING for the last one. A missing cell satisfies "?" only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bayeswise.foundation.errors import TooFewRowsError

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


@dataclass(frozen=True)
class Demand:
    """A level of a column."""

    column: int
    level: int


def minimal_demands(demands: Sequence[Demand], ruled_out_by: Iterable[int]) -> Iterator[tuple[Demand, ...]]:
    """Every choice, at most one level of each column, that rules all rows out and would not without one of its demands.

    `ruled_out_by` has for each row the demands (bits) that rule it out.

    >>> first, second, third = (Demand(column, 0) for column in range(3))
    >>> [[demand.column for demand in choice] for choice in minimal_demands([first, second, third], [0b101, 0b110])]
    [[0, 1], [2]]
    """
    rows = _hardest(set(ruled_out_by))
    rules_out = [sum(1 << k for k, row in enumerate(rows) if row >> d & 1) for d in range(len(demands))]
    left = [_Choice(demand, out) for demand, out in zip(demands, rules_out, strict=True) if out]
    for choice in _completed((), (), (1 << len(rows)) - 1, tuple(left)):
        yield tuple(each.demand for each in choice)


@dataclass(frozen=True)
class _Choice:
    demand: Demand
    rows: int  # (bits) that it rules out


def _hardest(rows: set[int]) -> list[int]:
    """Without each row that is ruled out by all that rules out another one."""
    kept: list[int] = []
    for row in sorted(rows, key=int.bit_count):
        if not any(other & row == other for other in kept):
            kept.append(row)
    return kept


def _completed(
    chosen: tuple[_Choice, ...], own_rows: tuple[int, ...], open_rows: int, left: tuple[_Choice, ...]
) -> Iterator[tuple[_Choice, ...]]:
    """The choices that begin so; `own_rows` are those that each chosen demand alone rules out."""
    if not open_rows:
        yield chosen
        return
    row = min(_bits(open_rows), key=lambda bit: sum(1 for each in left if each.rows & bit))
    others = tuple(each for each in left if not each.rows & row)
    for new in (each for each in left if each.rows & row):
        still_own = tuple(own & ~new.rows for own in own_rows)
        if all(still_own):
            rest = tuple(each for each in others if each.demand.column != new.demand.column)
            own = (*still_own, open_rows & new.rows)
            yield from _completed((*chosen, new), own, open_rows & ~new.rows, rest)
        others = (*others, new)


def _bits(rows: int) -> Iterator[int]:
    while rows:
        lowest = rows & -rows
        yield lowest
        rows ^= lowest
