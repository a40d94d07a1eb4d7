"""The distribution of the utility: what can happen besides its mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks import BeliefNetwork, Node

if TYPE_CHECKING:
    from bayeswise.diagrams.plots import RiskDisplay
    from bayeswise.diagrams.solving.solution import Solution

_MOST_CELLS = 1 << 24
_SAME = 1e-12  # of the largest utilities: sums closer than this are one outcome


@dataclass(frozen=True, eq=False)
class RiskProfile:
    """P(utility = value) of each outcome that can happen, from the worst to the best."""

    values: FloatArray  # (n_outcomes,) ascending
    probability: FloatArray  # (n_outcomes,)

    @property
    def mean(self) -> float:
        """The expected utility."""
        return float(self.probability @ self.values)

    @property
    def stddev(self) -> float:
        """How far outcomes lie from the mean."""
        return math.sqrt(float(self.probability @ (self.values - self.mean) ** 2))

    @property
    def probability_of_loss(self) -> float:
        """P(utility < 0)."""
        return self.below(0.0)

    def below(self, value: float) -> float:
        """P(utility < value)."""
        return float(self.probability[self.values < value].sum())

    def quantile(self, share: float) -> float:
        """The least outcome that is not exceeded with at least this probability."""
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f"the share is {share}", fix="give a probability from 0 to 1")
        reached = np.flatnonzero(np.cumsum(self.probability) >= share - 1e-12)
        return float(self.values[reached[0] if len(reached) else -1])

    def to_columns(self) -> dict[str, list[Any]]:
        """utility, probability, at_most (the probability of that or less)."""
        return {
            "utility": self.values.tolist(),
            "probability": self.probability.tolist(),
            "at_most": np.minimum(np.cumsum(self.probability), 1.0).tolist(),
        }

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        from bayeswise.render.plain import as_frame

        return as_frame(self.to_columns())

    def plot(self, ax: Any = None) -> RiskDisplay:
        """Draw it into the axes, or into a new figure."""
        from bayeswise.diagrams.plots import RiskDisplay

        return RiskDisplay(self).plot(ax)

    def __repr__(self) -> str:
        return (
            f"RiskProfile({len(self.values)} outcomes from {self.values[0]:.6g} to {self.values[-1]:.6g}, "
            f"mean {self.mean:.6g}, P(loss) {self.probability_of_loss:.4g})"
        )


def risk_profile(solution: Solution) -> RiskProfile:
    """Sums of utilities as further nodes of the network, each given the sum before it and one utility's parents."""
    diagram = solution.diagram
    nodes = [solution.network.node(name) for name in solution.network]
    prefix = "\0" * (1 + max((len(name) for name in diagram.names), default=0))  # no node has this name
    before: list[str] = []
    sums = np.zeros(1)  # the values that the sum so far can have
    for k, name in enumerate(diagram.utilities):
        parents = diagram.parents(name)
        every = (sums[:, None] + diagram.utility(name).ravel()).ravel()  # (n_sums * n_configurations,)
        sums, codes = _distinct(every, _SAME * diagram.largest_utility)
        if len(every) * len(sums) > _MOST_CELLS:
            raise TooLargeError(
                f"the utilities have {len(sums)} different sums, too many to follow",
                fix="look at scenarios(nodes=[...])",
            )
        table = np.zeros((len(every), len(sums)))
        table[np.arange(len(every)), codes] = 1.0
        nodes.append(Node(f"{prefix}{k}", range(len(sums)), table, [*before, *parents]))
        before = [nodes[-1].name]
    found = BeliefNetwork(nodes).query(before, solution._findings).cells
    happens = found > 0.0
    return RiskProfile(sums[happens], found[happens])


def _distinct(values: FloatArray, same: float) -> tuple[FloatArray, Any]:
    """The different values, ascending, and for each value its place among them."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    starts = np.concatenate([[True], np.diff(ascending) > same])
    codes = np.empty(len(values), dtype=np.int64)
    codes[order] = np.cumsum(starts) - 1
    return ascending[starts] + 0.0, codes
