"""On which line each node stands: below all its parents, with edges as short as they can be in all."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.directed_graph import Parents, ancestral_order, children_of

_MOST_WORK = 3_000_000  # edges looked at; beyond it the lines are good enough

Edge = tuple[int, int]


def layers_of(parents: Parents, names: Sequence[str]) -> list[int]:
    """The line of each node of a connected graph, counted from the top; every edge leads down.

    The sum of the lengths of all edges is made least by network simplex: a spanning tree of edges of length one is
    changed as long as taking one of them out lets the two halves come nearer.

    >>> layers_of([[], [0], [], [1, 2]], "abcd")  # c has time until d
    [0, 1, 1, 2]
    """
    edges = [(parent, node) for node, above in enumerate(parents) for parent in above]
    line = [0] * len(parents)
    for node in ancestral_order(parents, names):
        line[node] = max((line[parent] + 1 for parent in parents[node]), default=0)
    if len(edges) >= len(parents):  # a tree is as short as it can be once it is tight
        _shorten(line, edges)
    else:
        _tight_tree(line, edges)
    _balance(line, parents)
    top = min(line, default=0)
    return [each - top for each in line]


def _shorten(line: list[int], edges: list[Edge]) -> None:
    tree = _tight_tree(line, edges)
    work = 0
    while work < _MOST_WORK:
        for place, edge in enumerate(tree):
            below = _side(len(line), tree, edge)
            work += len(edges) + len(line)
            back = [(start, end) for start, end in edges if below[start] and not below[end]]
            forth = sum(below[end] and not below[start] for start, end in edges)
            if len(back) > forth:
                start, end = min(back, key=lambda each: line[each[1]] - line[each[0]])
                slack = line[end] - line[start] - 1
                for node, moves in enumerate(below):
                    line[node] += slack if moves else 0
                tree[place] = (start, end)
                break
        else:
            return


def _side(n_nodes: int, tree: list[Edge], without: Edge) -> list[bool]:
    """Which nodes stay with the lower end of an edge when it is taken out of the tree."""
    near: list[list[int]] = [[] for _ in range(n_nodes)]
    for edge in tree:
        if edge != without:
            near[edge[0]].append(edge[1])
            near[edge[1]].append(edge[0])
    found = [False] * n_nodes
    found[without[1]] = True
    waiting = [without[1]]
    while waiting:
        for node in near[waiting.pop()]:
            if not found[node]:
                found[node] = True
                waiting.append(node)
    return found


def _tight_tree(line: list[int], edges: list[Edge]) -> list[Edge]:
    """A spanning tree of edges of length one; lines are moved until there is one."""
    tree: list[Edge] = []
    inside = {0}
    while len(inside) < len(line):
        border = [edge for edge in edges if (edge[0] in inside) != (edge[1] in inside)]
        start, end = min(border, key=lambda edge: line[edge[1]] - line[edge[0]])
        slack = line[end] - line[start] - 1
        for node in inside:
            line[node] += slack if start in inside else -slack
        tree.append((start, end))
        inside |= {start, end}
    return tree


def _balance(line: list[int], parents: Parents) -> None:
    """Nodes that may stand on several lines at no cost go to the emptiest of them."""
    below = children_of(parents)
    crowd: dict[int, int] = {}
    for each in line:
        crowd[each] = crowd.get(each, 0) + 1
    for node, above in enumerate(parents):
        if not above or len(above) != len(below[node]):
            continue
        room = range(max(line[p] for p in above) + 1, min(line[c] for c in below[node]))
        best = min(room, key=lambda each: (crowd[each] - (each == line[node]), each))
        crowd[line[node]] -= 1
        crowd[best] += 1
        line[node] = best


@dataclass
class Lines:
    """Nodes and bends line by line; an edge over several lines bends once on each line that it passes.

    Items below `n_nodes` are nodes, the others bends. `up` and `down` are neighbours on the next lines.
    """

    n_nodes: int
    line: list[int]
    up: list[list[int]]
    down: list[list[int]]
    chains: dict[Edge, list[int]]  # edge -> from, bends, to

    @property
    def rows(self) -> list[list[int]]:
        rows: list[list[int]] = [[] for _ in range(max(self.line, default=-1) + 1)]
        for item, line in enumerate(self.line):
            rows[line].append(item)
        return rows


def with_bends(parents: Parents, line: list[int]) -> Lines:
    """The graph in which every edge leads to the next line.

    >>> with_bends([[], [0], [0, 1]], [0, 1, 2]).chains[0, 2]
    [0, 3, 2]
    """
    lines = Lines(len(parents), list(line), [], [], {})
    for node, above in enumerate(parents):
        for parent in above:
            bends = range(len(lines.line), len(lines.line) + line[node] - line[parent] - 1)
            lines.line += range(line[parent] + 1, line[node])
            lines.chains[parent, node] = [parent, *bends, node]
    lines.up = [[] for _ in lines.line]
    lines.down = [[] for _ in lines.line]
    for chain in lines.chains.values():
        for upper, lower in itertools.pairwise(chain):
            lines.down[upper].append(lower)
            lines.up[lower].append(upper)
    return lines
