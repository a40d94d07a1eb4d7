"""What a file says of a network or an influence diagram, before it becomes one: what all formats are read into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import KindError, NetworkError, SourceError
from bayeswise.networks.node import Node

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


@dataclass(frozen=True)
class DescribedDecision:
    """A decision with its options, and the nodes that are known when it is made."""

    name: str
    options: tuple[Any, ...]
    knows: tuple[str, ...]


@dataclass(frozen=True)
class DescribedUtility:
    """What is gained: `values` has a number for each combination of the parents' states, the last changing fastest."""

    name: str
    parents: tuple[str, ...]
    values: FloatArray


@dataclass
class Description:
    """Chance nodes, decisions and utilities; without the last two it is a network."""

    name: str = "network"
    nodes: list[Node] = field(default_factory=list)
    decisions: list[DescribedDecision] = field(default_factory=list)
    utilities: list[DescribedUtility] = field(default_factory=list)

    @classmethod
    def of_network(cls, network: BeliefNetwork, *, keep_noisy: bool = False) -> Description:
        """What a network says; noisy nodes are expanded into tables, unless a format can keep them."""
        if keep_noisy:
            return cls(network.name, [network.node(name) for name in network])
        nodes = [Node(name, network.states(name), network.table(name), network.parents(name)) for name in network]
        return cls(network.name, nodes)

    @property
    def is_diagram(self) -> bool:
        return bool(self.decisions or self.utilities)

    def states(self) -> Mapping[str, Sequence[Any]]:
        """The states or options of each node that has some."""
        states: dict[str, Sequence[Any]] = {node.name: node.states.labels for node in self.nodes}
        return {**states, **{decision.name: decision.options for decision in self.decisions}}

    def network(self, where: str) -> BeliefNetwork:
        """The belief network that it is."""
        from bayeswise.networks.network import BeliefNetwork

        if self.is_diagram:
            first = [decision.name for decision in self.decisions] + [utility.name for utility in self.utilities]
            raise KindError(
                f"{where} describes an influence diagram: {first[0]!r} is a decision or a utility",
                fix="read it with bw.InfluenceDiagram.read(...), on the command line bayeswise diagram ...",
            )
        if not self.nodes:
            raise SourceError(f"{where} describes no node", fix="give a file that holds a network")
        return BeliefNetwork(self.nodes, name=self.name)

    def refuse_diagram(self, form: str) -> None:
        """For formats that know chance nodes only."""
        if self.is_diagram:
            raise NetworkError(
                f"{form} knows neither decisions nor utilities", fix="write .xdsl, .xmlbif, .net, .dne, .toml or .json"
            )
