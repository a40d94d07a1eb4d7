"""Answers of a network: a distribution over the states of one or several nodes, and a best explanation."""

from __future__ import annotations

import itertools
import math
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

if TYPE_CHECKING:
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
        more = f", ... {len(self) - 8} more" if len(self) > 8 else ""
        return f"Distribution({' x '.join(self.nodes)}: {shown}{more})"


def _words(key: Any) -> str:
    return "/".join(map(str, key)) if isinstance(key, tuple) else str(key)


@dataclass(frozen=True)
class Explanation:
    """The most probable states, and the logarithm of their probability together with the evidence, and given it."""

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
