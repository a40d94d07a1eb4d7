"""Interventions, and adjustment sets that identify their effects from observational data.

Edges are read as causal. do(X = x) cuts X from its parents and sets it to x. A back-door set Z blocks all non-causal
paths between cause and effect: P(y | do(x)) = sum_z P(y | x, z) P(z). A front-door set Z lies on all directed paths:
P(y | do(x)) = sum_z P(z | x) sum_x' P(y | x', z) P(x').
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks.arguments import by_node, names_of
from bayeswise.networks.node import Node
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_MOST_SUBSETS = 200_000


def intervened(network: BeliefNetwork, actions: Mapping[str, Any]) -> BeliefNetwork:
    """The network with the nodes of `actions` cut from their parents and fixed to their states."""
    from bayeswise.networks.network import BeliefNetwork

    chosen = {name: network.code(name, state) for name, state in by_node(actions, "do").items()}
    nodes = [network.node(name) for name in network]
    for place, node in enumerate(nodes):
        if node.name in chosen:
            certain = np.eye(len(node.states))[[chosen[node.name]]]
            nodes[place] = Node(node.name, node.states, certain)
    return BeliefNetwork(nodes, name=network.name)


# -- adjustment sets --------------------------------------------------------------------------------------------


def adjustment_sets(
    network: BeliefNetwork, cause: str, effect: str, observed: Iterable[str] | None = None, *, front: bool = False
) -> list[tuple[str, ...]]:
    """All smallest sets of observed nodes that satisfy the criterion, in the order of the network."""
    x, y = _two(network, cause, effect)
    allowed = _allowed(network, observed) - {x, y}
    descendants = graph.descendants_of(graph.children_of(network._parents), [x])
    if front:
        candidates = sorted(allowed & descendants & graph.ancestors_of(network._parents, [y]))
    else:
        relevant = graph.ancestors_of(network._parents, [x, y])
        candidates = sorted((allowed & relevant) - descendants)
    meets = _meets_front_door if front else _meets_back_door
    for subsets in _by_size(candidates):
        sets = [each for each in subsets if meets(network, x, y, each)]
        if sets:
            return [tuple(network.names[place] for place in each) for each in sets]
    return []


def _by_size(candidates: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    n_tried = 0
    for size in range(len(candidates) + 1):
        subsets = list(itertools.islice(itertools.combinations(candidates, size), _MOST_SUBSETS + 1))
        n_tried += len(subsets)
        if n_tried > _MOST_SUBSETS:
            raise TooLargeError(
                f"more than {_MOST_SUBSETS:,} sets of {len(candidates)} nodes would have to be tried",
                fix="name fewer nodes in observed=[...]",
            )
        yield subsets


def _meets_back_door(network: BeliefNetwork, x: int, y: int, given: Collection[int]) -> bool:
    """The set has no descendant of x (the caller checks that) and blocks every path into x."""
    without_outgoing = [[parent for parent in above if parent != x] for above in network._parents]
    return graph.d_separated(without_outgoing, [x], [y], given)


def _meets_front_door(network: BeliefNetwork, x: int, y: int, through: Collection[int]) -> bool:
    """The set intercepts all directed paths, is not confounded with x, and x blocks its confounding with y."""
    cut = [[parent for parent in above if parent not in through] for above in network._parents]
    if not through or x in graph.ancestors_of(cut, [y]):
        return False
    without_outgoing = [[parent for parent in above if parent != x] for above in network._parents]
    if not graph.d_separated(without_outgoing, [x], through, []):
        return False
    return all(graph.d_separated(cut, [z], [y], [x, *(other for other in through if other != z)]) for z in through)


def _two(network: BeliefNetwork, cause: str, effect: str) -> tuple[int, int]:
    x, y = network.place(cause), network.place(effect)
    if x == y:
        raise ParameterError(f"{cause!r} is both cause and effect", fix="name two nodes")
    return x, y


def _allowed(network: BeliefNetwork, observed: Iterable[str] | None) -> set[int]:
    return set(range(len(network))) if observed is None else {network.place(name) for name in names_of(observed)}


# -- effects ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CausalEffect:
    """P(effect | do(cause = x)) and P(effect | cause = x) for each state x of the cause.

    `adjusted_by` is a smallest back-door set of observed nodes, else `through` a front-door set; both None if neither
    criterion identifies the effect from them. What is not a cause (`is_cause` is False) has no effect.
    """

    cause: str
    effect: str
    done: dict[Label, dict[Label, float]]
    seen: dict[Label, dict[Label, float]]
    adjusted_by: tuple[str, ...] | None
    through: tuple[str, ...] | None
    is_cause: bool = True  # whether a directed path leads from the cause to the effect

    def difference(self, state: Label, first: Label, second: Label) -> float:
        """P(effect = state | do(cause = first)) - P(effect = state | do(cause = second))."""
        return self.done[first][state] - self.done[second][state]

    def __str__(self) -> str:
        lines = [f"effect of {self.cause} on {self.effect}"]
        for x, done in self.done.items():
            shown = ", ".join(f"{state} {p:.4f} (seen {self.seen[x][state]:.4f})" for state, p in done.items())
            lines.append(f"  do({self.cause} = {x}): {shown}")
        if not self.is_cause:
            lines.append(
                f"  {self.cause} is not a cause of {self.effect}: no directed path leads there, the effect is 0"
            )
        elif self.adjusted_by is not None:
            lines.append(f"  adjust for {', '.join(self.adjusted_by) or 'nothing'}")
        elif self.through is not None:
            lines.append(f"  by the front door through {', '.join(self.through)}")
        else:
            lines.append("  neither a back-door nor a front-door set of observed nodes identifies it from observations")
        return "\n".join(lines)


def causal_effect(
    network: BeliefNetwork, cause: str, effect: str, observed: Iterable[str] | None = None
) -> CausalEffect:
    """The effect in the mutilated graph, and observed nodes that identify it from data."""
    x, y = _two(network, cause, effect)
    measured = None if observed is None else names_of(observed)
    done, seen = {}, {}
    for state in network.states(cause):
        done[state] = dict(network.do({cause: state}).query(effect))
        possible = network.query(cause)[state] > 0.0
        seen[state] = dict(network.query(effect, {cause: state})) if possible else dict.fromkeys(done[state], np.nan)
    back = adjustment_sets(network, cause, effect, measured)
    front = [] if back else adjustment_sets(network, cause, effect, measured, front=True)
    is_cause = x in graph.ancestors_of(network._parents, [y])
    return CausalEffect(cause, effect, done, seen, back[0] if back else None, front[0] if front else None, is_cause)
