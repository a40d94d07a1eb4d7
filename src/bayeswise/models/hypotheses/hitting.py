"""Minimal hitting sets: the smallest choices of demands that rule every negative row out.

Demands are chosen one by one, each for a row that none before it rules out, and a choice is given up as soon as one of
its demands has no row of its own any more: it would not be minimal (Murakami and Uno, 2014). Sets are bits of an
integer, so that a step takes one operation for each demand that was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


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
