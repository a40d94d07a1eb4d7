"""What a belief network is made of: nodes with states, a graph without cycles, and a table for each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NetworkError
from bayeswise.networks.canonical import NoisyMax
from bayeswise.networks.named_graph import NamedGraph
from bayeswise.networks.node import Node, checked, place_of_state, table_of
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state


class Tables(Sequence[FloatArray]):
    """The table of each node by position; those of canonical models are expanded when they are asked for."""

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

    # -- what it is -------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NetworkStructure):
            return NotImplemented
        same = self.names == other.names and self._parents == other._parents and self._states == other._states
        return same and self._tables == other._tables

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_parameters(self) -> int:
        """How many numbers are free: rows times states minus one."""
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
        """The node as it can be written down again."""
        place = self.place(name)
        return Node(name, self._states[place], self._tables.given[place], self.parents(name))

    def code(self, name: str, state: Any) -> int:
        """The position of a state, or of the interval that holds a number; or an error that guesses what was meant."""
        states = self._states[self.place(name)]
        place = place_of_state(states, state)
        return place if place >= 0 else find_state(state, states, what=f"node {name!r} has no state")


def _nodes(nodes: Iterable[Node] | Mapping[str, Mapping[str, Any]]) -> list[Node]:
    if isinstance(nodes, Mapping):
        return [_written(name, parts) for name, parts in nodes.items()]
    if not isinstance(nodes, Iterable):
        raise NetworkError(f"a network is made of nodes; found {nodes!r:.80}", fix="give a list of them")
    given = list(nodes)
    for node in given:
        if not isinstance(node, Node):
            raise NetworkError(f"a network is made of nodes; found {node!r}", fix="write Node(name, states, table)")
    return given


def _written(name: str, parts: Any) -> Node:
    """A node of a mapping {name: {"states": ..., "table": ..., "parents": ...}}."""
    allowed = ("states", "table", "parents")
    if not isinstance(parts, Mapping) or not {"states", "table"} <= set(parts) <= set(allowed):
        raise NetworkError(
            f"node {name!r:.80} is {parts!r:.80}", fix='write {"states": [...], "table": ..., "parents": [...]}'
        )
    return Node(name, parts["states"], parts["table"], parts.get("parents", ()))
