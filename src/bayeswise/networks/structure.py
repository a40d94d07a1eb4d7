"""What a belief network is made of: nodes with states, a graph without cycles, and a table for each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NetworkError, ParameterError, listed
from bayeswise.networks.arguments import names_of
from bayeswise.networks.canonical import NoisyMax
from bayeswise.networks.node import Node, checked, place_of_state, table_of
from bayeswise.render.labels import guess, refuse_unknown
from bayeswise.render.numbers import plural
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state


class Tables(Sequence[FloatArray]):
    """The table of each node by position; those of canonical models are expanded on demand."""

    def __init__(self, given: Sequence[FloatArray | NoisyMax]) -> None:
        self.given = tuple(given)
        self._expanded: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, place: Any) -> Any:
        given = self.given[place]
        if not isinstance(given, NoisyMax):
            return given
        if place not in self._expanded:
            self._expanded[place] = given.table()
            self._expanded[place].flags.writeable = False
        return self._expanded[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tables) or len(self) != len(other):
            return False
        return all(_same(mine, theirs) for mine, theirs in zip(self.given, other.given, strict=True))

    __hash__ = None  # type: ignore[assignment]


def _same(mine: FloatArray | NoisyMax, theirs: FloatArray | NoisyMax) -> bool:
    if isinstance(mine, NoisyMax) or isinstance(theirs, NoisyMax):
        return isinstance(mine, NoisyMax) and isinstance(theirs, NoisyMax) and mine == theirs
    return np.array_equal(mine, theirs)


class NamedGraph:
    """Names and the parents of each, by position and checked once.

    >>> NamedGraph({"rain": [], "wet": ["rain"]}.items())
    NamedGraph(2 nodes, 1 edge: rain, wet)
    """

    def __init__(self, parents: Iterable[tuple[str, Sequence[str]]], *, name: str = "network") -> None:
        given = list(parents)
        self.name = name
        self.names: tuple[str, ...] = tuple(node for node, _ in given)
        self._places = {node: place for place, node in enumerate(self.names)}
        if len(self._places) < len(given):
            twice = next(node for place, node in enumerate(self.names) if self._places[node] != place)
            raise NetworkError(f"there are two nodes {twice!r}", fix="rename one of them")
        self._parents: tuple[tuple[int, ...], ...] = tuple(self._parent_places(*each) for each in given)
        self.order: tuple[int, ...] = tuple(graph.ancestral_order(self._parents, self.names))

    def _parent_places(self, node: str, parents: Sequence[str]) -> tuple[int, ...]:
        for parent in parents:
            if parent not in self._places:
                raise NetworkError(
                    f"node {node!r} has the parent {parent!r}, which is not a node", fix=guess(parent, self.names)
                )
        return tuple(self._places[parent] for parent in parents)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._places

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._counts()}: {listed(self.names, 6)})"

    def _counts(self) -> str:
        return f"{plural(len(self), 'node')}, {plural(len(self.edges), 'edge')}"

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(parent, child), in the order of the nodes."""
        names = self.names
        return tuple((names[p], name) for name, above in zip(names, self._parents, strict=True) for p in above)

    def place(self, name: str) -> int:
        """The position of a node, or an error with a suggestion."""
        if not isinstance(name, str):
            raise ParameterError(f"the name of a node is a string; found {name!r:.80}", fix=guess("", self.names))
        refuse_unknown(name, self._places, "the network has no node")
        return self._places[name]

    def parents(self, name: str) -> tuple[str, ...]:
        """The nodes that a node depends on."""
        return tuple(self.names[place] for place in self._parents[self.place(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """The nodes that depend on this one."""
        place = self.place(name)
        return tuple(child for child, above in zip(self.names, self._parents, strict=True) if place in above)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents; given these, the node is independent of all others.

        >>> NamedGraph([("a", []), ("b", ["a"])]).markov_blanket("a")
        ('b',)
        """
        found = graph.markov_blanket(self._parents, self.place(name))
        return tuple(self.names[place] for place in sorted(found))

    def equivalence_class(self) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
        """The CPDAG: edges that all Markov equivalent graphs share, and those that may point either way.

        >>> NamedGraph([("a", []), ("b", ["a"])]).equivalence_class()
        ((), (('a', 'b'),))
        """
        from bayeswise.networks.equivalence import EquivalenceClass

        graphs = EquivalenceClass.of_graph(self._parents)
        shared, either = (
            tuple((self.names[u], self.names[v]) for u, v in edges) for edges in (graphs.directed, graphs.undirected)
        )
        return shared, either

    def d_separated(
        self,
        left: str | Iterable[str],
        right: str | Iterable[str],
        given: Iterable[str] = (),
        *,
        soft: Iterable[str] = (),
    ) -> bool:
        """Whether `given` d-separates the two sides, so that they are independent under any tables.

        `soft` are nodes with soft evidence: they open colliders as observed ones do, and block nothing.
        """
        sides = [[self.place(name) for name in names_of(side)] for side in (left, right, given, soft)]
        return graph.d_separated(self._parents, *sides)

    def d_connected(self, node: str, given: Iterable[str] = (), *, soft: Iterable[str] = ()) -> tuple[str, ...]:
        """The other nodes that are d-connected to a node given `given`."""
        observed, uncertain = ([self.place(name) for name in names_of(names)] for names in (given, soft))
        found = graph.reachable(self._parents, [self.place(node)], observed, uncertain) - {self.place(node)}
        return tuple(name for place, name in enumerate(self.names) if place in found)


class NetworkStructure(NamedGraph):
    """Names, states, parents and tables by position, checked once; a frozen value."""

    def __init__(self, nodes: Iterable[Node] | Mapping[str, Mapping[str, Any]], *, name: str = "network") -> None:
        given = _nodes(nodes)
        super().__init__([(node.name, node.parents) for node in given], name=name)
        self._states: tuple[Vocabulary, ...] = tuple(node.states for node in given)
        notes: list[str] = []
        tables: list[FloatArray | NoisyMax] = []
        for node, places in zip(given, self._parents, strict=True):
            above = [(self.names[place], self._states[place]) for place in places]
            if isinstance(node.table, NoisyMax):
                node.table.check_parents(node.name, [len(states) for _, states in above], len(node.states))
                tables.append(node.table)
                continue
            table, note = checked(node.name, table_of(node.name, node.states, above, node.table), above)
            table = np.ascontiguousarray(table)
            table.flags.writeable = False
            tables.append(table)
            notes += [note] if note else []
        self._tables = Tables(tables)
        self.notes: tuple[str, ...] = tuple(notes)

    # -- properties -------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NetworkStructure):
            return NotImplemented
        same = self.names == other.names and self._parents == other._parents and self._states == other._states
        return same and self._tables == other._tables

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: rows times states minus one."""
        return sum(
            given.n_parameters if isinstance(given, NoisyMax) else len(given) * (given.shape[1] - 1)
            for given in self._tables.given
        )

    def states(self, name: str) -> tuple[Label, ...]:
        """The states of a node."""
        return self._states[self.place(name)].labels

    def table(self, name: str) -> FloatArray:
        """(n_configurations, n_states) P(node | parents); the last parent changes fastest."""
        table: FloatArray = self._tables[self.place(name)]
        return table

    def node(self, name: str) -> Node:
        """The node, from which the network can be built again."""
        place = self.place(name)
        return Node(name, self._states[place], self._tables.given[place], self.parents(name))

    def code(self, name: str, state: Any) -> int:
        """The position of a state, or of the interval that contains a number; an error has a suggestion."""
        states = self._states[self.place(name)]
        place = place_of_state(states, state)
        return place if place >= 0 else find_state(state, states, what=f"node {name!r} has no state")


def _nodes(nodes: Iterable[Node] | Mapping[str, Mapping[str, Any]]) -> list[Node]:
    if isinstance(nodes, Mapping):
        return [_from_mapping(name, parts) for name, parts in nodes.items()]
    if not isinstance(nodes, Iterable):
        raise NetworkError(f"a network is made of nodes; found {nodes!r:.80}", fix="give a list of them")
    given = list(nodes)
    for node in given:
        if not isinstance(node, Node):
            raise NetworkError(f"a network is made of nodes; found {node!r}", fix="write Node(name, states, table)")
    return given


def _from_mapping(name: str, parts: Any) -> Node:
    """A node of {name: {"states": ..., "table": ..., "parents": ...}}."""
    allowed = ("states", "table", "parents")
    if not isinstance(parts, Mapping) or not {"states", "table"} <= set(parts) <= set(allowed):
        raise NetworkError(
            f"node {name!r:.80} is {parts!r:.80}", fix='write {"states": [...], "table": ..., "parents": [...]}'
        )
    return Node(name, parts["states"], parts["table"], parts.get("parents", ()))
