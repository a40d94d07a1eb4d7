"""Where everything stands: each connected part laid out in lines, the parts side by side, with few crossings."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeAlias

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.directed_graph import connected
from bayeswise.render.graph.boxes import Box, box_of
from bayeswise.render.graph.layers import Edge, Lines, layers_of, with_bends
from bayeswise.render.graph.picture import Picture, Width, line_width

GAP = 26.0  # between neighbours on a line
_LEAST_GAP, _MOST_GAP = 46.0, 120.0  # between lines
_PART_GAP = 40.0
_PORT_GAP = 11.0  # between arrows that touch the same node
_WIDE_PORT_GAP = 19.0  # where arrows are wide


Place: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Route:
    """An edge: points through which it goes, each a straight passage (x, from y, to y) between two curves."""

    edge: tuple[str, str]
    passages: tuple[tuple[float, float, float], ...]

    def strokes(self, width: Width | None) -> list[tuple[str, list[Place]]]:
        """The line as M (from here), L (straight to) and C (a curve to, with two handles); it ends inside its arrow."""
        (x, start, end), *others = self.passages
        if width is not None:  # a wide line is straight before it meets its arrow
            to_x, upper, lower = others[-1]
            others[-1] = (to_x, min(upper, lower - 2 * _half_head(width)), lower)
        drawn: list[tuple[str, list[Place]]] = [("M", [(x, start)]), ("L", [(x, end)])]
        for to_x, upper, lower in others:
            half = (upper - end) / 2
            drawn += [("C", [(x, end + half), (to_x, upper - half), (to_x, upper)]), ("L", [(to_x, lower)])]
            x, end = to_x, lower
        return [*drawn[:-1], ("L", [(x, end - _half_head(width))])]

    def head(self, width: Width | None) -> list[Place]:
        """The corners of the arrow, a quarter of which is hollow."""
        x, _, y = self.passages[-1]
        half = _half_head(width)
        return [(x, y), (x - half, y - 2 * half), (x, y - 1.5 * half), (x + half, y - 2 * half)]


@dataclass(frozen=True)
class Layout:
    """Boxes and routes on a sheet of some size."""

    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


def _half_head(width: Width | None) -> float:
    """Half the width of an arrow's head; its line ends in the middle of it."""
    return 2.6 + line_width(width)


def layout_of(picture: Picture) -> Layout:
    """The whole picture: parts that no edge joins are packed into rows of about the same width."""
    places = {node.name: place for place, node in enumerate(picture.nodes)}
    edges = [(places[start], places[end]) for start, end in picture.edges]
    parts = [_part(picture, members, edges) for members in _connected(len(places), edges)]
    area = sum((part.width + _PART_GAP) * (part.height + _PART_GAP) for part in parts)
    widest = max([part.width for part in parts] + [math.sqrt(area * 1.6)], default=0.0)
    boxes: list[Box] = []
    routes: list[Route] = []
    left, top, tallest, right = 0.0, 0.0, 0.0, 0.0
    for part in parts:
        if left > 0.0 and left + part.width > widest:
            left, top, tallest = 0.0, top + tallest + _PART_GAP, 0.0
        boxes += [replace(box, left=box.left + left, top=box.top + top) for box in part.boxes]
        for route in part.routes:
            passages = tuple((x + left, start + top, end + top) for x, start, end in route.passages)
            routes.append(Route(route.edge, passages))
        right, tallest = max(right, left + part.width), max(tallest, part.height)
        left += part.width + _PART_GAP
    return Layout(tuple(boxes), tuple(routes), right, top + tallest)


def _connected(n_nodes: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """The nodes of each connected part, the largest first."""
    return sorted(connected(range(n_nodes), edges), key=lambda members: (-len(members), members[0]))


def _part(picture: Picture, members: list[int], edges: list[tuple[int, int]]) -> Layout:
    local = {node: k for k, node in enumerate(members)}
    parents: list[list[int]] = [[] for _ in members]
    for start, end in edges:
        if start in local:
            parents[local[end]].append(local[start])
    names = [picture.nodes[node].name for node in members]
    boxes = [box_of(picture.nodes[node]) for node in members]
    lines = with_bends(parents, layers_of(parents, names))
    rows = ordered(lines)
    middle = placed(lines, rows, [box.width for box in boxes], GAP)
    bands = _bands(lines, rows, middle, boxes)
    boxes = [
        replace(
            box,
            left=middle[k] - box.width / 2,
            top=sum(bands[lines.line[k]]) / 2 - box.height / 2,
        )
        for k, box in enumerate(boxes)
    ]
    routes = _routes(lines, middle, boxes, bands, names, _WIDE_PORT_GAP if picture.widths else _PORT_GAP)
    right = max([box.left + box.width for box in boxes] + [middle[k] + GAP / 4 for k in range(len(middle))])
    return Layout(tuple(boxes), tuple(routes), right, bands[-1][1])


def _bands(lines: Lines, rows: list[list[int]], middle: list[float], boxes: list[Box]) -> list[tuple[float, float]]:
    """(upper, lower) edge of each line; lines whose edges lead far to the side stand farther apart."""
    bands: list[tuple[float, float]] = []
    top = 0.0
    for row in rows:
        height = max(boxes[item].height for item in row if item < lines.n_nodes)
        bands.append((top, top + height))
        far = max((abs(middle[item] - middle[each]) for item in row for each in lines.down[item]), default=0.0)
        top += height + min(_MOST_GAP, max(_LEAST_GAP, far * 0.16))
    return bands


def _routes(
    lines: Lines, middle: list[float], boxes: list[Box], bands: list[tuple[float, float]], names: list[str], gap: float
) -> list[Route]:
    leaving: dict[Edge, float] = {}  # where an edge leaves its first node
    arriving: dict[Edge, float] = {}
    for node, box in enumerate(boxes):
        out = [(middle[chain[1]], chain[1], edge) for edge, chain in lines.chains.items() if edge[0] == node]
        into = [(middle[chain[-2]], chain[-2], edge) for edge, chain in lines.chains.items() if edge[1] == node]
        leaving.update(_ports(box, out, boxes, gap))
        arriving.update(_ports(box, into, boxes, gap))
    routes = []
    for edge, chain in lines.chains.items():
        start, end = boxes[edge[0]], boxes[edge[1]]
        x, last = leaving[edge], arriving[edge]
        foot = start.top + start.height - start.edge_at(x)
        passages = [(x, foot, bands[lines.line[edge[0]]][1])]
        passages += [(middle[bend], *bands[lines.line[bend]]) for bend in chain[1:-1]]
        passages.append((last, bands[lines.line[edge[1]]][0], end.top + end.edge_at(last)))
        routes.append(Route((names[edge[0]], names[edge[1]]), tuple(passages)))
    return routes


def _ports(box: Box, ends: list[tuple[float, int, Edge]], boxes: list[Box], gap: float) -> dict[Edge, float]:
    """Where edges touch a node: each as straight as it can be, in the order of where they come from."""
    ends.sort()
    targets = [_port(box, x, boxes[item].reach if item < len(boxes) else 0.0) for x, item, _ in ends]
    gap = min(gap, 2 * box.reach / max(1, len(ends) - 1))
    found = spaced(targets, [1.0] * len(ends), [gap] * (len(ends) - 1))
    if not found:
        return {}
    low, high = box.middle - box.reach, box.middle + box.reach
    shift = max(0.0, low - found[0]) - max(0.0, found[-1] - high)
    return {edge: x + shift for (_, _, edge), x in zip(ends, found, strict=True)}


def _port(box: Box, other: float, other_reach: float) -> float:
    """The place from which an edge can go straight to the other end, else one on its side of the middle."""
    far = other - box.middle
    if abs(far) <= box.reach + other_reach:
        return box.middle + far * (box.reach / (box.reach + other_reach))
    return box.middle + math.copysign(box.reach * 0.55, far)


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
    targets = {
        item: sum(place[each] for each in neighbours[item]) / len(neighbours[item]) if neighbours[item] else None
        for item in row
    }
    movers = iter(sorted((i for i in row if targets[i] is not None), key=lambda i: (targets[i], place[i])))
    row[:] = [item if targets[item] is None else next(movers) for item in row]
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


_ROUNDS = 24
_STRAIGHT = 6.0  # how much more a straight passage of bends matters than a short edge


def spaced(targets: Sequence[float], weights: Sequence[float], distances: Sequence[float]) -> list[float]:
    """The places nearest to the targets (least weighted squares) that keep order and distances.

    Less the distances summed, this is isotonic regression: neighbours in the wrong order share their mean.

    >>> spaced([0.0, 0.0, 9.0], [1.0, 1.0, 1.0], [2.0, 2.0])
    [-1.0, 1.0, 9.0]
    """
    shift, shifts = 0.0, [0.0]
    for distance in distances:
        shift += distance
        shifts.append(shift)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for k, place in enumerate(targets):
        mean, weight, count = place - shifts[k], weights[k], 1
        while pools and pools[-1][0] >= mean:
            other, heavy, many = pools.pop()
            mean = (mean * weight + other * heavy) / (weight + heavy)
            weight, count = weight + heavy, count + many
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + shifts[k] for k, mean in enumerate(means)]


def placed(lines: Lines, rows: list[list[int]], widths: Sequence[float], gap: float) -> list[float]:
    """The middle of each item, from left to right; `widths` are those of nodes, a bend has none."""
    n_nodes = lines.n_nodes
    middle = [0.0] * len(lines.line)
    distances = []
    for row in rows:
        sizes = [widths[item] if item < n_nodes else gap / 2 for item in row]
        distances.append([(a + b) / 2 + gap for a, b in itertools.pairwise(sizes)])
        at = -sum(distances[-1]) / 2
        for item, step in zip(row, [*distances[-1], 0.0], strict=True):
            middle[item] = at
            at += step
    for sweep in range(_ROUNDS):
        both = sweep >= _ROUNDS // 2
        downward = sweep % 2 == 0
        for k in range(len(rows)) if downward else range(len(rows) - 1, -1, -1):
            _settle(lines, rows[k], distances[k], middle, (True, both) if downward else (both, True))
    _straighten(lines, rows, distances, middle)
    left = min((middle[i] - (widths[i] / 2 if i < n_nodes else 0.0) for i in range(len(middle))), default=0.0)
    return [each - left for each in middle]


def _settle(
    lines: Lines, row: list[int], distances: list[float], middle: list[float], sides: tuple[bool, bool]
) -> None:
    """Move the items of a line to the weighted mean of their neighbours above and below."""
    targets, weights = [], []
    for item in row:
        total, weight = 0.0, 0.0
        for side, neighbours in zip(sides, (lines.up[item], lines.down[item]), strict=True):
            for each in neighbours if side else ():
                heavy = _STRAIGHT if item >= lines.n_nodes and each >= lines.n_nodes else 1.0
                total, weight = total + heavy * middle[each], weight + heavy
        targets.append(total / weight if weight else middle[item])
        weights.append(weight or 0.1)
    for item, place in zip(row, spaced(targets, weights, distances), strict=True):
        middle[item] = place


def _straighten(lines: Lines, rows: list[list[int]], distances: list[list[float]], middle: list[float]) -> None:
    """Let long edges go straight down as far as the neighbours of their bends leave room."""
    place = {item: (row, k) for row, items in enumerate(rows) for k, item in enumerate(items)}

    def room(item: int) -> tuple[float, float]:
        row, k = place[item]
        items, steps = rows[row], distances[row]
        low = middle[items[k - 1]] + steps[k - 1] if k else -math.inf
        high = middle[items[k + 1]] - steps[k] if k + 1 < len(items) else math.inf
        return low, high

    for chain in sorted(lines.chains.values(), key=len, reverse=True):
        bends = chain[1:-1]
        while bends:
            low, high, n_together = -math.inf, math.inf, 0
            for bend in bends:
                lowest, highest = room(bend)
                if max(low, lowest) > min(high, highest):
                    break
                low, high, n_together = max(low, lowest), min(high, highest), n_together + 1
            ends = (middle[chain[0]], middle[chain[-1]])
            at = min((min(high, max(low, x)) for x in ends), key=lambda x: sum(abs(x - end) for end in ends))
            for bend in bends[: max(1, n_together)]:
                middle[bend] = at if n_together else middle[bend]
            bends = bends[max(1, n_together) :]
