"""Graphs with the same independences, as one graph in which some edges have no direction (CPDAG)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from bayeswise.foundation.arrays import BoolArray
from bayeswise.foundation.directed_graph import Parents


class EquivalenceClass:
    """All graphs with the same independences: edges that every one of them has, and edges of either direction.

    `edge[u, v]` is an edge u -> v; one of either direction is there both ways.

    >>> EquivalenceClass.of_graph([(), (), (0, 1), (2,)]).edge.astype(int).tolist()
    [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    >>> EquivalenceClass.of_graph([(), (0,)]).undirected
    [(0, 1)]
    """

    def __init__(self, edge: BoolArray, allowed: BoolArray | None = None) -> None:
        self.edge = edge
        self._allowed = (
            np.ones_like(edge) if allowed is None else allowed
        )  # (n, n) whether an edge parent -> child is allowed
        self.conflicts: list[tuple[int, int]] = []  # edges that tests direct both ways

    @classmethod
    def of_graph(cls, parents: Parents) -> EquivalenceClass:
        """The class of a graph: what its colliders force, and nothing else."""
        n = len(parents)
        graph = np.zeros((n, n), dtype=bool)
        for child, above in enumerate(parents):
            graph[list(above), child] = True
        adjacent = graph | graph.T
        graphs = cls(adjacent.copy())
        for child in range(n):
            for one, other in combinations(np.flatnonzero(graph[:, child]).tolist(), 2):
                if not adjacent[one, other]:
                    graphs.edge[child, one] = graphs.edge[child, other] = False
        graphs.close()
        return graphs

    @classmethod
    def of_skeleton(
        cls,
        adjacent: BoolArray,
        separators: Mapping[tuple[int, int], tuple[float, tuple[int, ...]]],
        allowed: BoolArray,
        fixed: BoolArray,
    ) -> EquivalenceClass:
        """Colliders where the set that separates two nodes leaves out what is between them, the surest first.

        `allowed` and `fixed` are (n, n): whether an edge parent -> child may be there, and whether it must.
        """
        graphs = cls(adjacent & allowed & ~fixed.T, allowed & ~fixed.T)
        graphs.close()
        surest = sorted(separators.items(), key=lambda each: (-each[1][0], each[0]))
        for (one, other), (_, given) in surest:
            for middle in np.flatnonzero(adjacent[one] & adjacent[other]).tolist():
                if middle not in given:
                    graphs._point(one, middle)
                    graphs._point(other, middle)
        graphs.close()
        return graphs

    @property
    def directed(self) -> list[tuple[int, int]]:
        """(parent, child) of the edges that every graph of the class has."""
        return [(int(u), int(v)) for u, v in np.argwhere(self.edge & ~self.edge.T)]

    @property
    def undirected(self) -> list[tuple[int, int]]:
        """The edges of either direction, each once."""
        return [(int(u), int(v)) for u, v in np.argwhere(self.edge & self.edge.T) if u < v]

    def _point(self, parent: int, child: int) -> None:
        if not self.edge[parent, child]:
            self.conflicts.append((parent, child))
        else:
            self.edge[child, parent] = False

    def close(self) -> None:
        """Direct what follows (Meek 1995): no new collider, no cycle."""
        changed = True
        while changed:
            changed = False
            for u, v in self.undirected:
                for parent, child in ((u, v), (v, u)):
                    if self.edge[parent, child] and self.edge[child, parent] and self._follows(parent, child):
                        self.edge[child, parent] = False
                        changed = True

    def _follows(self, parent: int, child: int) -> bool:
        edge = self.edge
        adjacent, directed, open_ = edge | edge.T, edge & ~edge.T, edge & edge.T
        if (directed[:, parent] & ~adjacent[:, child]).any():  # else a new collider at the parent
            return True
        if (directed[parent] & directed[:, child]).any():  # else a cycle
            return True
        ways = np.flatnonzero(open_[parent] & directed[:, child]).tolist()
        if any(not adjacent[one, other] for one, other in combinations(ways, 2)):
            return True
        return any(  # parent - one -> other -> child, one and child not adjacent
            directed[one, other] and directed[other, child] and not adjacent[one, child] and adjacent[parent, other]
            for one in np.flatnonzero(open_[parent]).tolist()
            for other in np.flatnonzero(directed[one]).tolist()
        )

    def member(self) -> BoolArray:
        """A graph of the class without cycles (Dor and Tarsi); where there is none, one that is near."""
        left, graph = self.edge.copy(), self.edge & ~self.edge.T
        nodes = set(range(len(left)))
        while nodes:
            sink = next((node for node in sorted(nodes, reverse=True) if _may_be_last(left, node, nodes)), None)
            if sink is None:
                return self._near_member()
            above = [node for node in nodes if left[node, sink]]
            graph[above, sink] = True
            left[sink, :] = left[:, sink] = False
            nodes.remove(sink)
        return graph

    def members_parents(self) -> list[tuple[int, ...]]:
        """The parents of each node in one graph of the class."""
        return [tuple(np.flatnonzero(column).tolist()) for column in self.member().T]

    def notes(self, names: Sequence[str], excluded: Collection[tuple[int, int]] = ()) -> tuple[str, ...]:
        """Edges whose direction the data do not determine, and edges that tests contradict each other about."""
        open_ = [f"{names[u]} - {names[v]}" for u, v in self.undirected if (u, v) not in excluded]
        against = [f"{names[u]} -> {names[v]}" for u, v in self.conflicts]
        edges = {"the data do not determine the direction of": open_, "tests contradict each other about": against}
        return tuple(f"{what} {', '.join(dict.fromkeys(about))}" for what, about in edges.items() if about)

    def _near_member(self) -> BoolArray:
        """Edges that may point one way only first, then the directed ones, then the others, none closing a cycle.

        One that would is reversed where that is allowed, and else left out, as a conflict.
        """
        n = len(self.edge)
        graph, ancestors = np.zeros((n, n), dtype=bool), np.eye(n, dtype=bool)
        forced = [(u, v) for u, v in self.directed if not self._allowed[v, u]]
        for parent, child in dict.fromkeys((*forced, *self.directed, *self.undirected)):
            if ancestors[parent, child]:  # [node, ancestor or itself]
                if not self._allowed[child, parent]:
                    self.conflicts.append((parent, child))
                    continue
                parent, child = child, parent
            graph[parent, child] = True
            ancestors[ancestors[:, child]] |= ancestors[parent]
        return graph


def _may_be_last(edge: BoolArray, node: int, nodes: Collection[int]) -> bool:
    """Whether a node can have no child among the others without a new collider."""
    others = [other for other in nodes if other != node]
    if any(edge[node, other] and not edge[other, node] for other in others):
        return False
    adjacent = edge | edge.T
    open_ = [other for other in others if edge[node, other] and edge[other, node]]
    around = [other for other in others if adjacent[node, other]]
    return all(adjacent[one, other] for one in open_ for other in around if one != other)
