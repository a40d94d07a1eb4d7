"""What a diagram is made of, checked before it is put together; and how a network and costs become one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from bayeswise.decisions import Costs
from bayeswise.diagrams.nodes import Decision, Utility
from bayeswise.foundation.errors import CostError, NetworkError
from bayeswise.networks import BeliefNetwork, Node

Piece: TypeAlias = Node | Decision | Utility

MOST_NODES = 10_000


def checked_pieces(nodes: Iterable[Piece]) -> list[Piece]:
    """Nodes of the three kinds with different names, one of them a utility."""
    given = list(nodes)
    if len(given) > MOST_NODES:
        raise NetworkError(f"the diagram has {len(given)} nodes; {MOST_NODES} are allowed", fix="give fewer")
    names: set[str] = set()
    for piece in given:
        if not isinstance(piece, Node | Decision | Utility):
            raise NetworkError(
                f"a diagram is made of chance nodes, decisions and utilities; found {piece!r:.80}",
                fix="write Chance(...), Decision(...), Utility(...) or Cost(...)",
            )
        if piece.name in names:
            raise NetworkError(f"there are two nodes {piece.name!r}", fix="rename one of them")
        names.add(piece.name)
    if not any(isinstance(piece, Utility) for piece in given):
        raise NetworkError("the diagram has no utility, so that every policy is as good", fix="add Utility(...)")
    return given


def pieces_of_network(
    network: BeliefNetwork,
    decisions: Iterable[Decision],
    costs: Any,
    about: str | None,
    utilities: Iterable[Utility],
    nodes: Iterable[Node],
) -> list[Piece]:
    """The nodes of the network, those that take their place or are added, decisions and utilities."""
    replaced = {node.name: node for node in nodes}
    pieces: list[Piece] = [replaced.pop(node, network.node(node)) for node in network]
    chosen = list(decisions)
    pieces += [*replaced.values(), *chosen, *utilities]
    if costs is not None:
        pieces.append(utility_of_costs(costs, about, chosen))
    return pieces


def utility_of_costs(costs: Any, about: str | None, decisions: Sequence[Decision]) -> Utility:
    """The utility of the decision whose options are the actions of the costs, and of the node they are about."""
    if about is None:
        raise CostError("the costs do not say which node they are about", fix="add about='NODE'")
    table = costs if isinstance(costs, Costs) else Costs(costs)
    actions = {str(action) for action in table.actions}
    fitting = [decision for decision in decisions if {str(option) for option in decision.options} == actions]
    if len(fitting) != 1:
        raise CostError(
            f"{len(fitting)} decisions have the actions of the costs, {', '.join(map(str, table.actions[:8]))}",
            fix="give a decision with these options, or write utilities=[Utility(name, costs, [DECISION, NODE])]",
        )
    return Utility("cost", table, [fitting[0].name, about])
