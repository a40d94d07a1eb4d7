"""The risk profile, which is the distribution of the utility, and the scenarios behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.diagrams.attitude import Attitude, sum_nodes
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks import BeliefNetwork
from bayeswise.render.numbers import interval, number
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, Vocabulary

if TYPE_CHECKING:
    from bayeswise.diagrams.plots import RiskDisplay
    from bayeswise.diagrams.solving.solution import Solution


@dataclass(frozen=True, eq=False)
class RiskProfile(Tabular):
    """P(utility = value) of each outcome that can happen, from the worst to the best."""

    values: FloatArray  # (n_outcomes,) ascending
    probability: FloatArray  # (n_outcomes,)

    @property
    def mean(self) -> float:
        """The expected utility."""
        return float(self.probability @ self.values)

    @property
    def stddev(self) -> float:
        """The standard deviation of the utility."""
        return math.sqrt(float(self.probability @ (self.values - self.mean) ** 2))

    @property
    def probability_of_loss(self) -> float:
        """P(utility < 0)."""
        return self.below(0.0)

    def below(self, value: float) -> float:
        """P(utility < value)."""
        return float(self.probability[self.values < value].sum())

    def quantile(self, share: float) -> float:
        """The smallest outcome x with P(utility <= x) of at least this probability."""
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f"the share is {share}", fix="give a probability from 0 to 1")
        reached = np.flatnonzero(np.cumsum(self.probability) >= share - 1e-12)
        return float(self.values[reached[0] if len(reached) else -1])

    def certainty_equivalent(self, attitude: Attitude) -> float:
        """The sure amount with the expected utility of these outcomes under this attitude."""
        return attitude.certainty_equivalent(self.values, self.probability / self.probability.sum())

    def to_columns(self) -> dict[str, list[Any]]:
        """utility, probability, at_most (the probability of that or less)."""
        return {
            "utility": self.values.tolist(),
            "probability": self.probability.tolist(),
            "at_most": np.minimum(np.cumsum(self.probability), 1.0).tolist(),
        }

    def plot(self, ax: Any = None) -> RiskDisplay:
        """Draw it into the axes, or into a new figure."""
        from bayeswise.diagrams.plots import RiskDisplay

        return RiskDisplay(self).plot(ax)

    def __repr__(self) -> str:
        return (
            f"RiskProfile({len(self.values)} outcomes from {interval(self.values[0], self.values[-1], 6)}, "
            f"mean {number(self.mean, 6)}, P(loss) {number(self.probability_of_loss)})"
        )


def risk_profile(solution: Solution) -> RiskProfile:
    """The distribution of the sum of the utilities, which is added to the network as a node."""
    nodes, sums = sum_nodes(solution.diagram, "look at scenarios(nodes=[...])")
    network = BeliefNetwork([*(solution.network.node(name) for name in solution.network), *nodes])
    probability = network.query([nodes[-1].name], solution._findings).cells
    happens = probability > 0.0
    return RiskProfile(sums[happens], probability[happens])


_MOST_SCENARIO_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Scenarios(Tabular):
    """One line for each path of probability above 0; probability x utility adds up to the expected utility."""

    nodes: tuple[str, ...]
    paths: tuple[tuple[Label, ...], ...]
    probability: FloatArray  # (n_paths,)
    utilities: dict[str, FloatArray]  # (n_paths,) of each utility node, its mean where the path leaves it open

    @property
    def utility(self) -> FloatArray:
        """(n_paths,) the total utility of each path."""
        total: FloatArray = np.sum(list(self.utilities.values()), axis=0)
        return total

    @property
    def expected_utility(self) -> float:
        """The sum over all paths."""
        return float(self.probability @ self.utility)

    def __len__(self) -> int:
        return len(self.paths)

    def to_columns(self) -> dict[str, list[Any]]:
        """The states of each path, its probability, each utility, their sum, and its share of the expectation."""
        columns: dict[str, list[Any]] = {name: [path[k] for path in self.paths] for k, name in enumerate(self.nodes)}
        columns["probability"] = self.probability.tolist()
        if len(self.utilities) > 1:
            columns |= {name: values.tolist() for name, values in self.utilities.items()}
        columns["utility"] = self.utility.tolist()
        columns["contribution"] = (self.probability * self.utility).tolist()
        return columns

    def __repr__(self) -> str:
        expected = number(self.expected_utility, 6)
        return f"Scenarios({len(self)} paths over {', '.join(self.nodes)}; expected utility {expected})"


def scenarios(solution: Solution, nodes: Iterable[str] | None = None) -> Scenarios:
    """Paths over decisions, what they know, and the parents of utilities, in the order of observation."""
    diagram = solution.diagram
    selected = _relevant(solution) if nodes is None else list(dict.fromkeys(nodes))
    for name in selected:
        diagram.place(name)
    kept = [name for name in selected if name not in solution.evidence]
    if nodes is not None and not kept:
        raise ParameterError("the scenarios are about no open node", fix="name some that are not known")
    n_cells = math.prod(len(diagram.states(name)) for name in kept)
    if n_cells > _MOST_SCENARIO_CELLS:
        raise TooLargeError(
            f"there are up to {number(n_cells, 3)} scenarios over {len(kept)} nodes",
            fix="name fewer, as in nodes=[...]",
        )
    joint = solution.query(kept).cells if kept else np.ones(1)
    places = np.flatnonzero(joint > 0.0)
    levels = [Vocabulary(diagram.states(name)) for name in kept]
    codes = np.unravel_index(places, [len(states) for states in levels]) if kept else ()
    paths = tuple(zip(*([levels[k][c] for c in code.tolist()] for k, code in enumerate(codes)), strict=True))
    utilities = {name: _given_path(solution, name, kept, places, joint) for name in diagram.utilities}
    return Scenarios(tuple(kept), paths or ((),), joint[places], utilities)


def _relevant(solution: Solution) -> list[str]:
    diagram = solution.diagram
    relevant = set(diagram.decisions)
    for policy in solution.policies.values():
        relevant |= set(policy.knows)
    for name in diagram.utilities:
        relevant |= set(diagram.parents(name))
    return [diagram.names[place] for place in diagram.sequence if diagram.names[place] in relevant]


def _given_path(solution: Solution, utility: str, kept: list[str], places: Any, joint: FloatArray) -> FloatArray:
    """(n_paths,) E[utility | path]."""
    diagram = solution.diagram
    extra = [name for name in diagram.parents(utility) if name not in kept and name not in solution.evidence]
    shape = [len(diagram.states(name)) for name in kept]
    more = [len(diagram.states(name)) for name in extra]
    if math.prod(shape) * math.prod(more) > 16 * _MOST_SCENARIO_CELLS:
        raise TooLargeError(f"the mean of {utility!r} on every path is too large a table", fix="name fewer nodes")
    weights = solution.query([*kept, *extra]).cells if kept or extra else np.ones(1)
    names = [*kept, *extra]
    values = _spread(solution, utility, names).reshape(math.prod(shape), -1)
    weighted = (weights.reshape(values.shape) * values).sum(axis=1)
    found: FloatArray = weighted[places] / joint[places]
    return values[places, 0] if not extra else found


def _spread(solution: Solution, utility: str, names: list[str]) -> FloatArray:
    """The values of a utility with one axis for each of the names; what is known has its state."""
    diagram = solution.diagram
    parents = diagram.parents(utility)
    values = diagram.utility(utility)
    seen = tuple(
        diagram.code(name, solution.evidence[name]) if name in solution.evidence else slice(None) for name in parents
    )
    left = [name for name in parents if name not in solution.evidence]
    part = np.transpose(np.asarray(values[seen]), np.argsort([names.index(name) for name in left]))
    shape = [len(diagram.states(name)) if name in left else 1 for name in names]
    return np.broadcast_to(part.reshape(shape), [len(diagram.states(name)) for name in names])
