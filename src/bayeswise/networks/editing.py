"""Edits of a network: nodes, states and edges added, removed and renamed; tables are carried over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks.arguments import by_node
from bayeswise.networks.node import Node

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


class NetworkEdits:
    """Each edit returns a new network: `network.edit.rename_node("a", "b").edit.remove_edge("b", "c")`."""

    def __init__(self, network: BeliefNetwork) -> None:
        self.network = network

    # -- nodes --------------------------------------------------------------------------------------------------
    def add_node(self, node: Node) -> BeliefNetwork:
        """Add a node; its parents must exist."""
        return self._made([*self._nodes(), node])

    def remove_node(self, name: str) -> BeliefNetwork:
        """Remove a node; the tables of its children are averaged over it, given their other parents."""
        network = self.network
        network.place(name)
        for child in network.children(name):
            network = network.edit.remove_edge(name, child)
        return network.edit._made(node for node in network.edit._nodes() if node.name != name)

    def rename_node(self, name: str, new: str) -> BeliefNetwork:
        """Rename a node."""
        self.network.place(name)
        if new in self.network and new != name:
            raise NetworkError(f"there is a node {new!r} already", fix="choose another name")

        def renamed(each: str) -> str:
            return new if each == name else each

        return self._made(
            Node(renamed(node.name), node.states, node.table, map(renamed, node.parents)) for node in self._nodes()
        )

    # -- states -------------------------------------------------------------------------------------------------
    def rename_states(self, name: str, states: Mapping[Any, Any]) -> BeliefNetwork:
        """Rename some states of a node."""
        given = by_node(states, "renaming states", of_each="new name")
        for old in given:
            self.network.code(name, old)
        return self._made(self._relabelled(node, given) if node.name == name else node for node in self._nodes())

    @staticmethod
    def _relabelled(node: Node, states: Mapping[Any, Any]) -> Node:
        return Node(node.name, [states.get(state, state) for state in node.states], node.table, node.parents)

    def add_state(self, name: str, state: Any) -> BeliefNetwork:
        """Add a state of probability 0; given it, the children are uniform."""
        labels = (*self.network.states(name), state)

        def wider(node: Node) -> Node:
            return Node(name, labels, np.pad(node.table, ((0, 0), (0, 1))), node.parents)

        def with_row(table: FloatArray, axis: int) -> FloatArray:
            shape = list(table.shape)
            shape[axis] = 1
            return np.concatenate([table, np.full(shape, 1.0 / table.shape[-1])], axis=axis)

        return self._reshaped(name, wider, with_row)

    def remove_state(self, name: str, state: Any) -> BeliefNetwork:
        """Remove a state; its probability goes to the others in proportion."""
        gone = self.network.code(name, state)
        labels = [label for place, label in enumerate(self.network.states(name)) if place != gone]
        if not labels:
            raise NetworkError(f"{name!r} has only one state", fix="remove the node")

        def narrower(node: Node) -> Node:
            kept = np.delete(node.table, gone, axis=1)
            total = kept.sum(axis=1, keepdims=True)
            shared = np.divide(kept, total, out=np.full_like(kept, 1.0 / len(labels)), where=total > 0.0)
            return Node(name, labels, shared, node.parents)

        return self._reshaped(name, narrower, lambda table, axis: np.delete(table, gone, axis=axis))

    def _reshaped(
        self, name: str, itself: Callable[[Node], Node], as_parent: Callable[[FloatArray, int], FloatArray]
    ) -> BeliefNetwork:
        """Change the node, and its axis in the tables of its children."""
        nodes = []
        for node in self._nodes():
            if node.name == name:
                nodes.append(itself(self._expanded(node)))
            elif name in node.parents:
                table = as_parent(self._axes(node), node.parents.index(name))
                nodes.append(Node(node.name, node.states, table.reshape(-1, len(node.states)), node.parents))
            else:
                nodes.append(node)
        return self._made(nodes)

    # -- edges --------------------------------------------------------------------------------------------------
    def add_edge(self, parent: str, child: str) -> BeliefNetwork:
        """Add an edge; the child's table is the same for every state of its new parent."""
        n_states = len(self.network.states(parent))
        if parent in self.network.parents(child):
            raise ParameterError(f"there is an edge {parent} -> {child} already", fix="leave it out")

        def repeated(node: Node) -> Node:
            return Node(child, node.states, np.repeat(node.table, n_states, axis=0), (*node.parents, parent))

        return self._changed(child, repeated)

    def remove_edge(self, parent: str, child: str) -> BeliefNetwork:
        """Remove an edge; the child's table is averaged over P(parent | the child's other parents)."""
        if parent not in self.network.parents(child):
            raise ParameterError(f"there is no edge {parent} -> {child}", fix="name an edge of network.edges")
        return self._changed(child, lambda node: self._averaged(node, parent))

    def _averaged(self, node: Node, parent: str) -> Node:
        others = [name for name in node.parents if name != parent]
        table = np.moveaxis(self._axes(node), node.parents.index(parent), -2)  # (others ..., parent, state)
        sizes = [len(self.network.states(name)) for name in (*others, parent)]
        joint = self.network.query([*others, parent]).cells.reshape(sizes)
        total = joint.sum(axis=-1, keepdims=True)
        weight = np.divide(joint, total, out=np.full_like(joint, 1.0 / sizes[-1]), where=total > 0.0)
        averaged = np.einsum("...p,...ps->...s", weight, table)
        return Node(node.name, node.states, averaged.reshape(-1, len(node.states)), others)

    # -- parts --------------------------------------------------------------------------------------------------
    def _nodes(self) -> list[Node]:
        return [self.network.node(name) for name in self.network]

    def _expanded(self, node: Node) -> Node:
        """The node with its table as an array, expanded if it is noisy."""
        return Node(node.name, node.states, self.network.table(node.name), node.parents)

    def _axes(self, node: Node) -> FloatArray:
        """(states of each parent ..., states) the table of a node."""
        sizes = [len(self.network.states(parent)) for parent in node.parents]
        table = self.network.table(node.name)
        return table.reshape([*sizes, table.shape[1]])

    def _changed(self, name: str, change: Callable[[Node], Node]) -> BeliefNetwork:
        self.network.place(name)
        return self._made(change(self._expanded(node)) if node.name == name else node for node in self._nodes())

    def _made(self, nodes: Iterable[Node]) -> BeliefNetwork:
        from bayeswise.networks.network import BeliefNetwork

        return BeliefNetwork(nodes, name=self.network.name)
