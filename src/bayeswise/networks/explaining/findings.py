"""How findings go together, and how far edges carry: conflict of evidence and strength of influence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.arguments import by_node
from bayeswise.networks.node import Evidence
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_ROUNDING = 1e-9  # bits, of findings that are independent


@dataclass(frozen=True)
class Conflict:
    """`bits` is log2 prod P(finding) / P(all): above 0 the findings disagree (Jensen). `without` leaves one out each.

    A conflict may be a rare case and no error: `explained_by` lists states that would bring it to 0 or below, with the
    bits that remain, the most probable state first.
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
    """With h found too the conflict is bits + log2 P(h) / P(h | findings): a state that the findings make likely."""
    if bits <= 0.0:
        return []
    prior = network.marginals()
    found = []
    for name in network:
        if name in findings:
            continue
        for state, p in marginals[name].items():
            if p > 0.0 and prior[name][state] > 0.0:
                left = bits + math.log2(prior[name][state] / p)
                if left <= 0.0:
                    found.append((p, name, state, left))
    found.sort(key=lambda each: -each[0])
    return [(name, state, left) for _, name, state, left in found]


def influences(network: BeliefNetwork) -> dict[tuple[str, str], float]:
    """The mean Hellinger distance between the child's distributions under two states of the parent, all else equal."""
    found: dict[tuple[str, str], float] = {}
    for child in network:
        parents, table = network.parents(child), np.sqrt(network.table(child))
        shape = [*(len(network.states(parent)) for parent in parents), table.shape[1]]
        for axis, parent in enumerate(parents):
            rows = np.moveaxis(table.reshape(shape), axis, 0).reshape(shape[axis], -1, shape[-1])
            first, second = np.triu_indices(shape[axis], 1)
            distance = np.sqrt(np.maximum(0.0, 1.0 - (rows[first] * rows[second]).sum(axis=-1)))
            found[parent, child] = float(distance.mean()) if distance.size else 0.0
    return found
