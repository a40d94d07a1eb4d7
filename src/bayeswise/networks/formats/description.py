"""The content of a network or diagram file, common to all formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, NetworkError, SourceError
from bayeswise.networks.formats.tokens import nested
from bayeswise.networks.node import Node

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


@dataclass(frozen=True)
class DescribedDecision:
    """A decision with its options as states, and the nodes that are observed before it as parents."""

    name: str
    states: tuple[Any, ...]
    parents: tuple[str, ...]
    table: ClassVar[None] = None


@dataclass(frozen=True)
class DescribedUtility:
    """A utility: `table` has a number for each configuration of the parents, the last changing fastest."""

    name: str
    parents: tuple[str, ...]
    table: FloatArray
    states: ClassVar[tuple[Any, ...]] = ()


Piece: TypeAlias = Node | DescribedDecision | DescribedUtility


@dataclass
class Description:
    """Chance nodes, decisions and utilities, in the order in which they are written; a network has nodes only."""

    name: str = "network"
    pieces: list[Piece] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        return [piece for piece in self.pieces if isinstance(piece, Node)]

    @property
    def decisions(self) -> list[DescribedDecision]:
        return [piece for piece in self.pieces if isinstance(piece, DescribedDecision)]

    @property
    def utilities(self) -> list[DescribedUtility]:
        return [piece for piece in self.pieces if isinstance(piece, DescribedUtility)]

    @classmethod
    def of_network(cls, network: BeliefNetwork, *, keep_noisy: bool = False) -> Description:
        """The description of a network; noisy nodes are expanded into tables unless `keep_noisy`."""
        if keep_noisy:
            return cls(network.name, [network.node(name) for name in network])
        nodes = (Node(name, network.states(name), network.table(name), network.parents(name)) for name in network)
        return cls(network.name, [*nodes])

    @property
    def is_diagram(self) -> bool:
        return len(self.nodes) < len(self.pieces)

    def states(self) -> Mapping[str, Sequence[Any]]:
        """The states or options of each node that has some."""
        return {piece.name: tuple(piece.states) for piece in self.pieces if not isinstance(piece, DescribedUtility)}

    def network(self, where: str) -> BeliefNetwork:
        """The belief network."""
        from bayeswise.networks.network import BeliefNetwork

        if self.is_diagram:
            first = (self.decisions or self.utilities)[0].name
            raise KindError(
                f"{where} describes an influence diagram: {first!r} is a decision or a utility",
                fix="read it with bw.InfluenceDiagram.read(...), on the command line bayeswise diagram ...",
            )
        if not self.nodes:
            raise SourceError(f"{where} describes no node", fix="give a file that holds a network")
        return BeliefNetwork(self.nodes, name=self.name)

    def refuse_diagram(self, form: str) -> None:
        """Refuse decisions and utilities, for formats with chance nodes only."""
        if self.is_diagram:
            raise NetworkError(
                f"{form} has neither decisions nor utilities", fix="write .xdsl, .xmlbif, .net, .dne, .toml or .json"
            )


def cells_text(piece: Node | DescribedUtility, states: Mapping[str, Sequence[Any]], *, comma: str, between: str) -> str:
    """The numbers of a table in brackets nested by parent, each row of a node in brackets of its own."""
    sizes = [len(states[parent]) for parent in piece.parents]
    if isinstance(piece, Node):
        return nested([f"({comma.join(map(repr, row))})" for row in piece.table.tolist()], sizes, between)
    numbers = [repr(value) for value in piece.table.tolist()]
    return nested(numbers, sizes, comma) if sizes else f"({numbers[0]})"
