"""In which order nodes stand on their lines: sweeps of medians and swaps of neighbours, the best order kept."""

from __future__ import annotations

from bisect import bisect_right, insort
from random import Random

from bayeswise.render.graph.layers import Lines

_SWEEPS = 16
_STARTS = 8
_WORK = 40_000  # edges looked at, about; larger pictures get fewer starts


def ordered(lines: Lines) -> list[list[int]]:
    """The items of each line from left to right, with few crossings.

    >>> from bayeswise.render.graph.layers import with_bends
    >>> ordered(with_bends([[], [], [1], [0]], [0, 0, 1, 1]))
    [[0, 1], [3, 2]]
    """
    n_edges = sum(map(len, lines.down)) + 1
    n_starts = max(1, min(_STARTS, _WORK // (n_edges * _SWEEPS)))
    random = Random(0)
    best: list[list[int]] = lines.rows
    fewest = crossings(lines, best)
    for start in range(n_starts):
        rows = lines.rows
        for row in rows if start else ():
            random.shuffle(row)
        rows, found = _swept(lines, rows, fewest)
        if found < fewest:
            best, fewest = rows, found
        if fewest == 0:
            break
    return best


def _swept(lines: Lines, rows: list[list[int]], fewest: int) -> tuple[list[list[int]], int]:
    best, least = [list(row) for row in rows], crossings(lines, rows)
    place = {item: k for row in rows for k, item in enumerate(row)}
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        neighbours = lines.up if downward else lines.down
        for row in rows if downward else reversed(rows):
            _by_barycentre(row, neighbours, place)
        _swap_neighbours(lines, rows, place)
        found = crossings(lines, rows)
        if found < least:
            best, least = [list(row) for row in rows], found
        if least == 0:
            break
    return best, least


def _by_barycentre(row: list[int], neighbours: list[list[int]], place: dict[int, int]) -> None:
    """Items go to the mean place of their neighbours; those without any keep theirs."""
    wanted = {
        item: sum(place[each] for each in neighbours[item]) / len(neighbours[item]) if neighbours[item] else None
        for item in row
    }
    movers = iter(sorted((i for i in row if wanted[i] is not None), key=lambda i: (wanted[i], place[i])))
    row[:] = [item if wanted[item] is None else next(movers) for item in row]
    for k, item in enumerate(row):
        place[item] = k


def _swap_neighbours(lines: Lines, rows: list[list[int]], place: dict[int, int]) -> None:
    improved = True
    while improved:
        improved = False
        for row in rows:
            for k in range(len(row) - 1):
                left, right = row[k], row[k + 1]
                before = sum(_crossed(side[left], side[right], place) for side in (lines.up, lines.down))
                after = sum(_crossed(side[right], side[left], place) for side in (lines.up, lines.down))
                if after < before:
                    row[k], row[k + 1] = right, left
                    place[left], place[right] = k + 1, k
                    improved = True


def _crossed(left: list[int], right: list[int], place: dict[int, int]) -> int:
    """How many pairs of edges cross if `left` belongs to the item on the left."""
    if not left or not right:
        return 0
    ends = sorted(place[item] for item in right)
    return sum(bisect_right(ends, place[item] - 1) for item in left)


def crossings(lines: Lines, rows: list[list[int]]) -> int:
    """How often edges cross."""
    place = {item: k for row in rows for k, item in enumerate(row)}
    total = 0
    for row in rows:
        seen: list[int] = []
        for item in row:
            ends = sorted(place[each] for each in lines.down[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
