"""Which of many straight lines is lowest where: the whole policy of two states, without rounding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from typing import TypeAlias

from bayeswise.foundation.dataclass import dataclass

Ends: TypeAlias = tuple[Fraction, Fraction]  # the cost at p = 1 and at p = 0


@dataclass(frozen=True)
class Stretch:
    """Where one line is lowest; a single point if `low` is `high`, else the open interval between them."""

    low: Fraction
    high: Fraction
    line: int


def lower_envelope(lines: Sequence[Ends]) -> list[Stretch]:
    """The lowest line from p = 0 to p = 1, points and open intervals in turn; of equal lines the first one.

    Lines sorted by slope are taken one by one, and those that rise above the new envelope are dropped, which makes it
    K log K for K lines.

    >>> found = lower_envelope([(Fraction(0), Fraction(10)), (Fraction(1), Fraction(0))])
    >>> [(float(each.low), float(each.high), each.line) for each in found if each.low < each.high]
    [(0.0, 0.9090909090909091, 1), (0.9090909090909091, 1.0, 0)]
    """
    hull, breaks = _hull(lines)
    first = min(range(len(lines)), key=lambda k: (lines[k][1], k))
    last = min(range(len(lines)), key=lambda k: (lines[k][0], k))
    corners = [(Fraction(0), first), *_inside(hull, breaks), (Fraction(1), last)]
    found = [Stretch(Fraction(0), Fraction(0), first)]
    at = 0
    for (low, _), (high, winner) in pairwise(corners):
        while at < len(breaks) and breaks[at] <= low:
            at += 1
        found += [Stretch(low, high, hull[at]), Stretch(high, high, winner)]
    return found


def _hull(lines: Sequence[Ends]) -> tuple[list[int], list[Fraction]]:
    """The lines that are lowest somewhere on the whole axis, if only in a point, and where each meets the next."""
    order = sorted(range(len(lines)), key=lambda k: (lines[k][1] - lines[k][0], lines[k][1], k))  # the steepest first
    hull: list[int] = []
    breaks: list[Fraction] = []
    for _, parallels in groupby(order, key=lambda k: lines[k][1] - lines[k][0]):
        line = next(parallels)  # the lowest
        while hull:
            meet = _meeting(lines[hull[-1]], lines[line])
            if not breaks or meet >= breaks[-1]:
                breaks.append(meet)
                break
            hull.pop()
            breaks.pop()
        hull.append(line)
    return hull, breaks


def _meeting(one: Ends, other: Ends) -> Fraction:
    return (other[1] - one[1]) / ((one[0] - one[1]) - (other[0] - other[1]))


def _inside(hull: Sequence[int], breaks: Sequence[Fraction]) -> Iterator[tuple[Fraction, int]]:
    """Each meeting place between 0 and 1, and the first of the lines that meet there."""
    for place, positions in groupby(range(len(breaks)), key=lambda k: breaks[k]):
        meeting = list(positions)
        if 0 < place < 1:
            yield place, min(hull[meeting[0] : meeting[-1] + 2])
