"""Where items stand on their lines: near their neighbours, in their order, without touching."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from bayeswise.render.graph.layers import Lines

_ROUNDS = 24
_STRAIGHT = 6.0  # how much more a straight passage of bends matters than a short edge


def spread(wanted: Sequence[float], weights: Sequence[float], distances: Sequence[float]) -> list[float]:
    """The places nearest to the wanted ones (least weighted squares) that keep order and distances.

    Less the distances summed, this is isotonic regression: neighbours in the wrong order share their mean.

    >>> spread([0.0, 0.0, 9.0], [1.0, 1.0, 1.0], [2.0, 2.0])
    [-1.0, 1.0, 9.0]
    """
    shift, shifts = 0.0, [0.0]
    for distance in distances:
        shift += distance
        shifts.append(shift)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for k, place in enumerate(wanted):
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
    wanted, weights = [], []
    for item in row:
        total, weight = 0.0, 0.0
        for side, neighbours in zip(sides, (lines.up[item], lines.down[item]), strict=True):
            for each in neighbours if side else ():
                heavy = _STRAIGHT if item >= lines.n_nodes and each >= lines.n_nodes else 1.0
                total, weight = total + heavy * middle[each], weight + heavy
        wanted.append(total / weight if weight else middle[item])
        weights.append(weight or 0.1)
    for item, place in zip(row, spread(wanted, weights, distances), strict=True):
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
