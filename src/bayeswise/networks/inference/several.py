"""The k most probable explanations: the best one, then the best of what each earlier one leaves open (Lawler)."""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.networks.arguments import by_node, soft_by_node, whole_number
from bayeswise.networks.inference.distribution import Explanation
from bayeswise.networks.node import Evidence, Soft

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_MOST = 10_000


def several_most_probable(
    network: BeliefNetwork, n_explanations: int, evidence: Evidence | None, soft: Soft | None
) -> list[Explanation]:
    """All other assignments differ from the best one first in some node: for each node, one search without its state.

    Each search fixes the nodes before it as in the best one and rules out states of one node by soft evidence.
    """
    if whole_number(n_explanations, "n_explanations") > _MOST:
        raise ParameterError(f"n_explanations is {n_explanations!r:.80}", fix=f"choose a number from 1 to {_MOST:,}")
    hints = {node: dict(given) for node, given in soft_by_node(soft).items()}
    search = _Search(network, dict(by_node(evidence)), hints)
    search.add({}, {})
    found: list[Explanation] = []
    while search.open and len(found) < n_explanations:
        found.append(search.take())
    return found


class _Search:
    """Parts of the assignments that have not been answered yet, each with its best one, the most probable first."""

    def __init__(self, network: BeliefNetwork, evidence: dict[str, Any], soft: dict[str, dict[Any, float]]) -> None:
        self.network, self.evidence, self.soft = network, evidence, soft
        self.free = [name for name in network if name not in evidence]
        self.open: list[tuple[float, int, Explanation, dict[str, Any], dict[str, set[Any]]]] = []
        self._count = itertools.count()  # ties go to what was found first
        self.log_evidence = network.engine.log_evidence(evidence, soft or None)

    def add(self, fixed: dict[str, Any], excluded: dict[str, set[Any]]) -> None:
        soft = dict(self.soft)
        for name, states in excluded.items():
            given = self.soft.get(name, {})
            soft[name] = {s: 0.0 if s in states else given.get(s, 1.0) for s in self.network.states(name)}
            if not any(soft[name].values()):
                return
        try:
            best = self.network.most_probable({**self.evidence, **fixed}, soft=soft)
        except ImpossibleEvidenceError:
            return
        heapq.heappush(self.open, (-best.log_joint, next(self._count), best, fixed, excluded))

    def take(self) -> Explanation:
        _, _, best, fixed, excluded = heapq.heappop(self.open)
        before = dict(fixed)
        for name in self.free:
            if name in fixed:
                continue
            self.add(dict(before), {**excluded, name: excluded.get(name, set()) | {best.states[name]}})
            before[name] = best.states[name]
            excluded = {node: states for node, states in excluded.items() if node != name}
        return Explanation(best.states, best.log_joint, min(0.0, best.log_joint - self.log_evidence))
