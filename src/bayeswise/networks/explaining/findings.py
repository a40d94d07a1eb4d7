"""Conflict of findings, active paths from a finding to the query, and the strength of influence of edges."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.arguments import by_node
from bayeswise.networks.explaining.account import divergence
from bayeswise.networks.node import Evidence, Soft
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


_ROUNDING = 1e-9  # bits, of findings that are independent


@dataclass(frozen=True)
class Conflict:
    """`bits` is log2 prod P(finding) / P(all): above 0 the findings disagree (Jensen). `without` leaves each out once.

    A conflict may be a rare case and not an error: `explained_by` lists states that would bring it to 0 or below, with
    the bits that remain, the most probable state first.
    """

    findings: dict[str, Label]
    bits: float
    without: dict[str, float]
    explained_by: list[tuple[str, Label, float]]

    def __str__(self) -> str:
        if abs(self.bits) < _ROUNDING:
            return "conflict 0 bits: the findings are independent"
        verdict = "the findings disagree" if self.bits > 0.0 else "the findings support each other"
        lines = [f"conflict {self.bits:+.3f} bits: {verdict}"]
        if self.bits > 0.0:
            lines += [f"  without {name}: {bits:+.3f}" for name, bits in self.without.items()]
            lines += [f"  explained by {name} = {state}: {bits:+.3f}" for name, state, bits in self.explained_by[:5]]
        return "\n".join(lines)


def conflict_of(network: BeliefNetwork, evidence: Evidence) -> Conflict:
    """The conflict of all findings, of all but one, and the states that explain it."""
    findings = {name: network.states(name)[network.code(name, state)] for name, state in by_node(evidence).items()}
    if not findings:
        raise ParameterError("there are no findings", fix="give two or more")
    single = {name: network.log_evidence({name: state}) / math.log(2) for name, state in findings.items()}
    marginals = network.marginals(findings)
    joint = network.log_evidence(findings) / math.log(2)
    bits = math.fsum(single.values()) - joint
    without = {}
    for left in findings:
        others = {name: state for name, state in findings.items() if name != left}
        log_others = network.log_evidence(others) / math.log(2) if others else 0.0
        without[left] = math.fsum(single[name] for name in others) - log_others
    by_bits = dict(sorted(without.items(), key=lambda pair: pair[1]))
    return Conflict(findings, bits, by_bits, _explanations(network, findings, bits, marginals))


def _explanations(
    network: BeliefNetwork, findings: Mapping[str, Label], bits: float, marginals: Mapping[str, Any]
) -> list[tuple[str, Label, float]]:
    """With h as a further finding the conflict is bits + log2 P(h) / P(h | findings)."""
    if bits <= 0.0:
        return []
    prior = network.marginals()
    explanations = []
    for name in network:
        if name in findings:
            continue
        for state, p in marginals[name].items():
            if p > 0.0 and prior[name][state] > 0.0:
                left = bits + math.log2(prior[name][state] / p)
                if left <= 0.0:
                    explanations.append((p, name, state, left))
    explanations.sort(key=lambda each: -each[0])
    return [(name, state, left) for _, name, state, left in explanations]


def influences(network: BeliefNetwork) -> dict[tuple[str, str], float]:
    """The mean Hellinger distance between the child's distributions under two states of the parent, all else equal."""
    by_edge: dict[tuple[str, str], float] = {}
    for child in network:
        parents, table = network.parents(child), np.sqrt(network.table(child))
        shape = [*(len(network.states(parent)) for parent in parents), table.shape[1]]
        for axis, parent in enumerate(parents):
            rows = np.moveaxis(table.reshape(shape), axis, 0).reshape(shape[axis], -1, shape[-1])
            first, second = np.triu_indices(shape[axis], 1)
            distance = np.sqrt(np.maximum(0.0, 1.0 - (rows[first] * rows[second]).sum(axis=-1)))
            by_edge[parent, child] = float(distance.mean()) if distance.size else 0.0
    return by_edge


_LEAST = 1e-9  # bits; below it a belief has not changed
_MOST_STEPS = 50_000


@dataclass(frozen=True)
class FindingPath:
    """An active path from a finding to the queried node, given the other findings.

    `bits` is the smallest change that the finding makes to a node on it, KL(P(x | all) || P(x | the others)): the
    bottleneck, by the data processing inequality a bound where the path is the only one. Colliders are not counted:
    they are active because they or a descendant are observed, whether or not their belief changes.
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
    paths: list[FindingPath] = []
    for name in (*hard, *soft):
        others = {each: state for each, state in hard.items() if each != name}
        other_soft = {each: likelihood for each, likelihood in soft.items() if each != name}
        before = network.marginals(others, soft=other_soft)
        changes = {place: _bits(after, before, each) for place, each in enumerate(network.names) if each not in hard}
        places = [network.place(each) for each in (name, node)]
        given, uncertain = ({network.place(each) for each in known} for known in (others, other_soft))
        active = _active_paths(network, places[0], places[1], given, uncertain, changes)
        paths += [
            FindingPath(name, tuple(network.names[place] for place in path), bits)
            for bits, path in itertools.islice(active, most)
        ]
    return tuple(sorted(paths, key=lambda path: (-path.bits, len(path.nodes)))[:most])


def _bits(after: Mapping[str, Any], before: Mapping[str, Any], name: str) -> float:
    return divergence(after[name].cells, before[name].cells)


def _active_paths(
    network: BeliefNetwork,
    start: int,
    end: int,
    given: Collection[int],
    uncertain: Collection[int],
    changes: dict[int, float],
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """The active paths, widest first: a path never widens as it is extended, so the widest is extended first."""
    parents = network._parents
    below = graph.children_of(parents)
    opened = graph.ancestors_of(parents, {*given, *uncertain})
    waiting: list[tuple[float, int, tuple[int, ...], bool]] = [(-changes.get(end, 0.0), 1, (start,), True)]
    for _ in range(_MOST_STEPS):
        if not waiting or -waiting[0][0] < _LEAST:
            return
        width, length, path, from_child = heapq.heappop(waiting)
        here = path[-1]
        if here == end:
            yield -width, path
            continue
        passed = min(-width, changes.get(here, 0.0)) if here != start else -width  # if it is not a collider
        steps = [] if here in given else [(child, False, passed) for child in below[here]]
        if from_child and here not in given:
            steps += [(parent, True, passed) for parent in parents[here]]
        elif not from_child and here in opened:
            steps += [(parent, True, -width) for parent in parents[here]]
        for step, up, width_there in steps:
            if step not in path:
                heapq.heappush(waiting, (-width_there, length + 1, (*path, step), up))
