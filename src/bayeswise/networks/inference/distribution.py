"""Answers of a network: a distribution over the states of one or several nodes, and most probable explanations."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.networks.arguments import by_node, soft_by_node
from bayeswise.networks.node import Evidence, Soft
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork
    from bayeswise.networks.plots import DistributionDisplay


class Distribution(Mapping[Any, float]):
    """Probabilities by state, or by tuples of states where there are several nodes.

    >>> answer = Distribution(["rain"], [Vocabulary(["yes", "no"])], np.array([0.3, 0.7]), 0.0)
    >>> answer["yes"], answer.best
    (0.3, 'no')
    >>> answer
    Distribution(rain: yes 0.3, no 0.7)
    """

    def __init__(
        self, nodes: Sequence[str], states: Sequence[Vocabulary], cells: FloatArray, log_evidence: float
    ) -> None:
        self.nodes = tuple(nodes)
        self.states = tuple(states)
        self.cells = cells  # (n_cells,) the last node changes fastest
        self.log_evidence = log_evidence

    @property
    def probability(self) -> FloatArray:
        """The probabilities with one axis for each node."""
        return self.cells.reshape([len(levels) for levels in self.states])

    @property
    def best(self) -> Any:
        """The most probable state; the first one where several are."""
        return self._key(int(np.argmax(self.cells)))

    def __getitem__(self, key: Any) -> float:
        labels = (key,) if len(self.nodes) == 1 else key
        if not isinstance(labels, tuple) or len(labels) != len(self.nodes):
            raise KeyError(key)
        place = 0
        for label, node, levels in zip(labels, self.nodes, self.states, strict=True):
            place = place * len(levels) + find_state(label, levels, what=f"node {node!r} has no state")
        return float(self.cells[place])

    def __iter__(self) -> Iterator[Any]:
        if len(self.nodes) == 1:
            return iter(self.states[0])
        return itertools.product(*self.states)

    def __len__(self) -> int:
        return len(self.cells)

    def items(self) -> ItemsView[Any, float]:
        """Keys with their probabilities."""
        return dict(zip(self, self.cells.tolist(), strict=True)).items()

    def values(self) -> ValuesView[float]:
        """The probabilities in the order of the keys."""
        return dict(enumerate(self.cells.tolist())).values()

    def __contains__(self, key: object) -> bool:
        labels = (key,) if len(self.nodes) == 1 else key
        if not isinstance(labels, tuple) or len(labels) != len(self.nodes):
            return False
        return all(label in levels for label, levels in zip(labels, self.states, strict=True))

    def _key(self, place: int) -> Any:
        labels: list[Label] = []
        for levels in reversed(self.states):
            place, code = divmod(place, len(levels))
            labels.append(levels[code])
        return labels[0] if len(self.nodes) == 1 else tuple(reversed(labels))

    def plot(self, ax: Any = None) -> DistributionDisplay:
        """Draw the probabilities as bars."""
        from bayeswise.networks.plots import DistributionDisplay

        return DistributionDisplay(self).plot(ax)

    def _repr_html_(self) -> str:
        from bayeswise.render.graph.picture import Bar, DrawnNode, Picture
        from bayeswise.render.numbers import percent
        from bayeswise.render.page import fragment, picture

        bars = tuple(Bar(_words(key), p, percent(p)) for key, p in self.items())
        return fragment(picture(Picture.of([DrawnNode(" x ".join(self.nodes), bars)], []).svg()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{_words(self._key(k))} {float(self.cells[k]):.4g}" for k in range(min(8, len(self))))
        more = f" and {len(self) - 8:,} more" if len(self) > 8 else ""  # of up to millions, which are not written
        return f"Distribution({' x '.join(self.nodes)}: {shown}{more})"


def _words(key: Any) -> str:
    return "/".join(map(str, key)) if isinstance(key, tuple) else str(key)


@dataclass(frozen=True)
class Explanation:
    """The most probable states, and the log of their probability jointly with the evidence, and given it."""

    states: dict[str, Label]
    log_joint: float
    log_probability: float

    @property
    def probability(self) -> float:
        """P(states | evidence)."""
        return math.exp(self.log_probability)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={state}" for name, state in self.states.items())
        return f"Explanation({shown}: {self.probability:.4g})"


_MOST = 10_000  # explanations


def several_most_probable(
    network: BeliefNetwork, n_explanations: int, evidence: Evidence | None, soft: Soft | None
) -> list[Explanation]:
    """Lawler: the assignments other than the best are partitioned by the first node in which they differ from it.

    Each part fixes the nodes before that as in the best one, and excludes states of the node by soft evidence.
    """
    if whole_number(n_explanations, "n_explanations") > _MOST:
        raise ParameterError(f"n_explanations is {n_explanations!r:.80}", fix=f"choose a number from 1 to {_MOST:,}")
    likelihoods = {node: dict(given) for node, given in soft_by_node(soft).items()}
    search = _Search(network, dict(by_node(evidence)), likelihoods)
    search.add({}, {})
    explanations: list[Explanation] = []
    while search.open and len(explanations) < n_explanations:
        explanations.append(search.take())
    return explanations


class _Search:
    """The open parts of the assignments, each with its best one, the most probable first."""

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
