"""Value of information: observing a chance node before a decision. Value of control: setting it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks import Node
from bayeswise.render.labels import refuse_unknown
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.solving.solution import Solution

_ROUNDING = 1e-13  # less is rounding error, and would recommend useless tests


@dataclass(frozen=True)
class InformationValue:
    """value = maximum utility with the nodes observed before the decision - maximum utility without; never below 0."""

    nodes: tuple[str, ...]
    decision: str
    value: float
    price: float
    utility: float  # with the information, before its price

    @property
    def net(self) -> float:
        """The value minus the price."""
        return self.value - self.price

    def __str__(self) -> str:
        return f"{', '.join(self.nodes) or 'nothing more'} before {self.decision}: worth {number(self.value, 6)}" + (
            f" at a price of {self.price:g}" if self.price else ""
        )


@dataclass(frozen=True)
class InformationValues(Tabular):
    """The value of each node before each decision, the greatest net value first."""

    values: tuple[InformationValue, ...]

    def to_columns(self) -> dict[str, list[Any]]:
        """node, decision, value, price, net."""
        return {
            "node": [", ".join(each.nodes) for each in self.values],
            "decision": [each.decision for each in self.values],
            "value": [each.value for each in self.values],
            "price": [each.price for each in self.values],
            "net": [each.net for each in self.values],
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self.values)) or "nothing more can be known in time"


def value_of_information(
    diagram: InfluenceDiagram,
    nodes: str | Iterable[str],
    decision: str,
    *,
    price: float = 0.0,
    evidence: Mapping[str, Any] | None = None,
) -> InformationValue:
    """The value of observing chance nodes before a decision; never below 0 before its price.

    The diagram is solved with the information arcs and without them; later decisions know the nodes as well.
    """
    names = (nodes,) if isinstance(nodes, str) else tuple(nodes)
    now = diagram.solve(evidence, exact=True)
    return _value(diagram, names, decision, _price(price, names), evidence, now)


def information_values(
    diagram: InfluenceDiagram,
    decision: str | None = None,
    *,
    prices: Mapping[str, float] | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> InformationValues:
    """The value of each chance node that is not known and not affected by the decision, the greatest first."""
    for name in prices or {}:
        diagram.place(name)
    now = diagram.solve(evidence, exact=True)
    found = [
        _value(diagram, (node,), each, _price((prices or {}).get(node, 0.0), (node,)), evidence, now)
        for each in ([decision] if decision else _open(diagram, evidence))
        for node in _knowable(diagram, each)
        if node not in (evidence or {})
    ]
    return InformationValues(tuple(sorted(found, key=lambda each: -each.net)))


def perfect_information(
    diagram: InfluenceDiagram, decision: str | None = None, evidence: Mapping[str, Any] | None = None
) -> InformationValue:
    """The value of perfect information: of all chance nodes that a decision does not affect; by default the first.

    No test can be worth more.
    """
    target = decision or next(iter(_open(diagram, evidence)), None)
    if target is None:
        raise ParameterError("no decision is open", fix="leave one out of the evidence")
    nodes = tuple(node for node in _knowable(diagram, target) if node not in (evidence or {}))
    return _value(diagram, nodes, target, 0.0, evidence, diagram.solve(evidence, exact=True))


def value_of_control(
    diagram: InfluenceDiagram, node: str, evidence: Mapping[str, Any] | None = None
) -> dict[Label, float]:
    """The value of control: of setting a chance node to each of its states before any decision.

    It is cut from its parents: maximum utility with the node set, minus maximum utility without.
    """
    refuse_unknown(node, diagram.chances, "the diagram has no chance node")
    places = {diagram.place(name) for name in evidence or {}}
    for place in places:
        if diagram.place(node) in graph.ancestors_of(diagram.network._parents, [place]):
            raise ParameterError(
                f"the evidence on {diagram.names[place]!r} is a consequence of {node!r}, which is to be set",
                fix="remove that evidence",
            )
    now = diagram.solve(evidence, exact=True)
    states = diagram.states(node)
    values: dict[Label, float] = {}
    for state, row in zip(states, np.eye(len(states)), strict=True):
        values[state] = _gained(diagram.changed([Node(node, states, row)]).solve(evidence, exact=True), now)
    return values


# -- the parts ------------------------------------------------------------------------------------------------


def _value(
    diagram: InfluenceDiagram,
    nodes: Sequence[str],
    decision: str,
    price: float,
    evidence: Mapping[str, Any] | None,
    now: Solution,
) -> InformationValue:
    place = diagram.decision_place(decision)
    if decision in (evidence or {}):
        raise ParameterError(f"the decision {decision!r} is made already", fix="leave it out of the evidence")
    for node in nodes:
        _refuse_consequence(diagram, node, place)
    informed = diagram.changed([diagram.decision(decision).knowing(nodes)])
    then = informed.solve(evidence, exact=True)
    return InformationValue(tuple(nodes), decision, max(0.0, _gained(then, now)), price, then.utility)


def _refuse_consequence(diagram: InfluenceDiagram, node: str, decision: int) -> None:
    refuse_unknown(node, diagram.chances, "the diagram has no chance node")
    path = _path(_arcs(diagram), decision, diagram.place(node))
    if path:
        shown = " -> ".join(diagram.names[place] for place in path)
        raise ParameterError(
            f"{node!r} cannot be known before {diagram.names[decision]!r}, which it depends on: {shown}",
            fix="choose a node that the decision does not change",
        )


def _arcs(diagram: InfluenceDiagram) -> list[list[int]]:
    """The parents of every node, information arcs included."""
    return [[diagram.place(parent) for parent in diagram.parents(name)] for name in diagram.names]


def _path(parents: graph.Parents, start: int, end: int) -> list[int]:
    """A directed path, shortest first; empty if there is none."""
    below = graph.children_of(parents)
    paths = [[start]]
    seen = {start}
    for path in paths:
        if path[-1] == end:
            return path
        for child in below[path[-1]]:
            if child not in seen:
                seen.add(child)
                paths.append([*path, child])
    return []


def _knowable(diagram: InfluenceDiagram, decision: str) -> list[str]:
    place = diagram.decision_place(decision)
    known = set(diagram.known(decision))
    arcs = _arcs(diagram)
    return [name for name in diagram.chances if name not in known and not _path(arcs, place, diagram.place(name))]


def _open(diagram: InfluenceDiagram, evidence: Mapping[str, Any] | None) -> list[str]:
    return [name for name in diagram.decisions if name not in (evidence or {})]


def _gained(then: Solution, now: Solution) -> float:
    """The difference of two utilities, 0 where it is within the rounding error of the sums."""
    difference = then.utility - now.utility
    if difference == 0.0:
        return 0.0
    if abs(difference) <= _ROUNDING * now.diagram.largest_utility:
        return difference if abs(difference) > _ROUNDING * (then.mean_size + now.mean_size) else 0.0
    return difference


def _price(price: float, nodes: Sequence[str]) -> float:
    if not (price >= 0.0 and math.isfinite(price)):
        raise ParameterError(f"the price of {', '.join(nodes)} is {price}", fix="give a number from 0 on")
    return float(price)
