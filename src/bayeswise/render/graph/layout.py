"""Where everything stands: each connected part laid out in lines, the parts side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from bayeswise.render.graph.boxes import Box, box_of
from bayeswise.render.graph.crossings import ordered
from bayeswise.render.graph.layers import Edge, Lines, layers_of, with_bends
from bayeswise.render.graph.picture import Picture
from bayeswise.render.graph.positions import placed, spread

GAP = 26.0  # between neighbours on a line
_LEAST_GAP, _MOST_GAP = 46.0, 120.0  # between lines
_PART_GAP = 40.0
_PORT_GAP = 11.0  # between arrows that touch the same node
_WIDE_PORT_GAP = 19.0  # where arrows are wide


@dataclass(frozen=True)
class Route:
    """An edge: points through which it goes, each a straight passage (x, from y, to y) between two curves."""

    edge: tuple[str, str]
    passages: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Layout:
    """Boxes and routes on a sheet of some size."""

    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


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
        routes += [_moved(route, left, top) for route in part.routes]
        right, tallest = max(right, left + part.width), max(tallest, part.height)
        left += part.width + _PART_GAP
    return Layout(tuple(boxes), tuple(routes), right, top + tallest)


def _moved(route: Route, left: float, top: float) -> Route:
    return Route(route.edge, tuple((x + left, start + top, end + top) for x, start, end in route.passages))


def _connected(n_nodes: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """The nodes of each connected part, the largest first."""
    group = list(range(n_nodes))

    def root(node: int) -> int:
        while group[node] != node:
            group[node] = node = group[group[node]]
        return node

    for start, end in edges:
        group[root(start)] = root(end)
    parts: dict[int, list[int]] = {}
    for node in range(n_nodes):
        parts.setdefault(root(node), []).append(node)
    return sorted(parts.values(), key=lambda members: (-len(members), members[0]))


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
    wanted = [_port(box, x, boxes[item].reach if item < len(boxes) else 0.0) for x, item, _ in ends]
    gap = min(gap, 2 * box.reach / max(1, len(ends) - 1))
    found = spread(wanted, [1.0] * len(ends), [gap] * (len(ends) - 1))
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
