"""Markov equivalence classes: graphs with the same independences, as one partially directed graph (CPDAG)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from bayeswise.foundation.arrays import BoolArray
from bayeswise.foundation.directed_graph import Parents


class EquivalenceClass:
    """A Markov equivalence class of graphs: their compelled edges, and their reversible ones.

    `edge[u, v]` is an edge u -> v; a reversible edge is set both ways.

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
        self.conflicts: list[tuple[int, int]] = []  # edges that tests orient both ways

    @classmethod
    def of_graph(cls, parents: Parents) -> EquivalenceClass:
        """The class of a graph: its skeleton, its v-structures and the edges that these compel."""
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
        """V-structures where a common neighbour is not in the separating set of two nodes, the surest first.

        `allowed` and `fixed` are (n, n): whether an edge parent -> child is allowed, and whether it is required.
        """
        graphs = cls(adjacent & allowed & ~fixed.T, allowed & ~fixed.T)
        graphs.close()
        surest = sorted(separators.items(), key=lambda each: (-each[1][0], each[0]))
        for (one, other), (_, given) in surest:
            for middle in np.flatnonzero(adjacent[one] & adjacent[other]).tolist():
                if middle not in given:
                    graphs._orient(one, middle)
                    graphs._orient(other, middle)
        graphs.close()
        return graphs

    @property
    def directed(self) -> list[tuple[int, int]]:
        """(parent, child) of the compelled edges."""
        return [(int(u), int(v)) for u, v in np.argwhere(self.edge & ~self.edge.T)]

    @property
    def undirected(self) -> list[tuple[int, int]]:
        """The reversible edges, each once."""
        return [(int(u), int(v)) for u, v in np.argwhere(self.edge & self.edge.T) if u < v]

    def _orient(self, parent: int, child: int) -> None:
        if not self.edge[parent, child]:
            self.conflicts.append((parent, child))
        else:
            self.edge[child, parent] = False

    def close(self) -> None:
        """Apply Meek's rules (1995): no new v-structure, no cycle."""
        changed = True
        while changed:
            changed = False
            for u, v in self.undirected:
                for parent, child in ((u, v), (v, u)):
                    if self.edge[parent, child] and self.edge[child, parent] and self._is_compelled(parent, child):
                        self.edge[child, parent] = False
                        changed = True

    def _is_compelled(self, parent: int, child: int) -> bool:
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
        """A DAG of the class (Dor and Tarsi); where there is none, one close to it."""
        left, graph = self.edge.copy(), self.edge & ~self.edge.T
        nodes = set(range(len(left)))
        while nodes:
            sink = next((node for node in sorted(nodes, reverse=True) if _may_be_sink(left, node, nodes)), None)
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
        """A DAG from edges allowed in one direction only, then the directed ones, then the others.

        An edge that would close a cycle is reversed if that is allowed, and otherwise dropped as a conflict.
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


def _may_be_sink(edge: BoolArray, node: int, nodes: Collection[int]) -> bool:
    """Whether a node can be a sink among the others without a new v-structure."""
    others = [other for other in nodes if other != node]
    if any(edge[node, other] and not edge[other, node] for other in others):
        return False
    adjacent = edge | edge.T
    open_ = [other for other in others if edge[node, other] and edge[other, node]]
    around = [other for other in others if adjacent[node, other]]
    return all(adjacent[one, other] for one in open_ for other in around if one != other)
