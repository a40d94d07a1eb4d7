"""By which paths in the graph a finding moves the belief in a node, the strongest first."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.explaining.account import divergence
from bayeswise.networks.node import Evidence, Soft

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_LEAST = 1e-9  # bits; below it a node is not moved
_MOST_STEPS = 50_000


@dataclass(frozen=True)
class FindingPath:
    """A path that the other findings leave open, from a finding to the node that is asked about.

    `bits` is the least change that the finding makes to a node on it, KL(P(x | all) || P(x | the others)). Where the
    path is the only one, no more than that arrives at its end, since every node on it passes on what it was told. A
    collider is not counted: it joins its parents by being observed, itself or below it, and not by being moved.
    """

    finding: str
    nodes: tuple[str, ...]
    bits: float

    def __str__(self) -> str:
        return f"{' - '.join(self.nodes)}: {self.bits:.4g} bits"


def paths_of(network: BeliefNetwork, node: str, hard: Evidence, soft: Soft, most: int = 12) -> tuple[FindingPath, ...]:
    """The strongest paths from each finding to a node.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> rain, wet = Node("rain", ["y", "n"], 0.2), Node("wet", ["y", "n"], {"y": 0.9, "n": 0.1}, ["rain"])
    >>> slip = Node("slip", ["y", "n"], {"y": 0.5, "n": 0.1}, ["wet"])
    >>> print(*paths_of(BeliefNetwork([rain, wet, slip]), "rain", {"slip": "y"}, {}))
    slip - wet - rain: 0.2308 bits
    """
    if most < 0:
        raise ParameterError(f"{most} paths", fix="give a number from 0 on")
    after = network.marginals(hard, soft=soft)
    found: list[FindingPath] = []
    for name in (*hard, *soft):
        others = {each: state for each, state in hard.items() if each != name}
        hints = {each: likelihood for each, likelihood in soft.items() if each != name}
        before = network.marginals(others, soft=hints)
        moved = {
            place: _bits(after, before, each) for place, each in enumerate(network.names) if each not in hard
        }  # what is observed cannot be moved
        places = [network.place(each) for each in (name, node)]
        given, hinted = ({network.place(each) for each in known} for known in (others, hints))
        trails = _open_trails(network, places[0], places[1], given, hinted, moved)
        found += [
            FindingPath(name, tuple(network.names[place] for place in trail), bits)
            for bits, trail in itertools.islice(trails, most)
        ]
    return tuple(sorted(found, key=lambda path: (-path.bits, len(path.nodes)))[:most])


def _bits(after: Mapping[str, Any], before: Mapping[str, Any], name: str) -> float:
    return divergence(after[name].cells, before[name].cells)


def _open_trails(
    network: BeliefNetwork,
    start: int,
    end: int,
    given: Collection[int],
    hinted: Collection[int],
    moved: dict[int, float],
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """The open trails, the widest first: none becomes wider as it goes on, so the widest is continued first."""
    parents = network._parents
    below = graph.children_of(parents)
    opened = graph.ancestors_of(parents, {*given, *hinted})
    waiting: list[tuple[float, int, tuple[int, ...], bool]] = [(-moved.get(end, 0.0), 1, (start,), True)]
    for _ in range(_MOST_STEPS):
        if not waiting or -waiting[0][0] < _LEAST:
            return
        width, length, trail, from_child = heapq.heappop(waiting)
        here = trail[-1]
        if here == end:
            yield -width, trail
            continue
        passed = min(-width, moved.get(here, 0.0)) if here != start else -width  # if it is not a collider
        steps = [] if here in given else [(child, False, passed) for child in below[here]]
        if from_child and here not in given:
            steps += [(parent, True, passed) for parent in parents[here]]
        elif not from_child and here in opened:
            steps += [(parent, True, -width) for parent in parents[here]]
        for step, up, width_there in steps:
            if step not in trail:
                heapq.heappush(waiting, (-width_there, length + 1, (*trail, step), up))
