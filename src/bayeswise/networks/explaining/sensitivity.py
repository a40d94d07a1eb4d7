"""A posterior as a function of one table entry: P(query | evidence) = (a t + b) / (c t + d).

The other entries of the row covary in proportion. P(query, evidence) is linear in every row of a table, so its values
for deterministic rows give the whole function exactly, without finite differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks.arguments import names_of
from bayeswise.networks.node import Evidence, Soft, configuration
from bayeswise.tables.schema.labels import Label, find_state

if TYPE_CHECKING:
    from bayeswise.networks.inference.engine import Finding
    from bayeswise.networks.network import BeliefNetwork

_MOST_WORK = 5e9  # cells visited


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """P(query | evidence) as a function of t = P(node = state | given); `value` is the current t."""

    query: str
    states: tuple[Label, ...]  # of the query
    node: str
    state: Label
    given: dict[str, Label]
    value: float
    at_zero: FloatArray  # (n_states,) P(query, evidence) where t = 0, up to a factor
    at_one: FloatArray  # (n_states,) the same where t = 1

    def coefficients(self, state: Any) -> tuple[float, float, float, float]:
        """a, b, c, d of (a t + b) / (c t + d)."""
        k = self._place(state)
        zero, one = float(self.at_zero.sum()), float(self.at_one.sum())
        return float(self.at_one[k] - self.at_zero[k]), float(self.at_zero[k]), one - zero, zero

    def probability(self, state: Any, t: float | None = None) -> float:
        """P(query = state | evidence) if the entry were t; NaN where the evidence would be impossible."""
        k, t = self._place(state), self.value if t is None else t
        joint = (1.0 - t) * self.at_zero + t * self.at_one
        total = float(joint.sum())
        return float(joint[k]) / total if total > 0.0 else math.nan

    def derivative(self, state: Any, t: float | None = None) -> float:
        """dP/dt = (a d - b c) / (c t + d)^2: the change of the posterior per small change of the entry."""
        k, t = self._place(state), self.value if t is None else t
        zero, one = float(self.at_zero.sum()), float(self.at_one.sum())
        total = (1.0 - t) * zero + t * one
        return (float(self.at_one[k]) * zero - float(self.at_zero[k]) * one) / total**2 if total > 0.0 else math.nan

    @property
    def impact(self) -> float:
        """The largest absolute derivative over the states."""
        return max(abs(self.derivative(state)) for state in self.states)

    @property
    def best(self) -> Label:
        """The most probable state of the query at the current value."""
        return self.states[int(np.argmax((1.0 - self.value) * self.at_zero + self.value * self.at_one))]

    def stable_range(self) -> tuple[float, float]:
        """The values of the entry for which the most probable state stays the same."""
        best = self._place(self.best)
        ahead = [(self.at_zero[best] - self.at_zero[k], self.at_one[best] - self.at_one[k]) for k in self._others(best)]
        return self._within(ahead)

    def range_for(self, state: Any, low: float = 0.0, high: float = 1.0) -> tuple[float, float] | None:
        """The values of the entry for which P(query = state | evidence) is between two numbers; None if none are."""
        k = self._place(state)
        zero, one = float(self.at_zero.sum()), float(self.at_one.sum())
        bounds = [
            (self.at_zero[k] - low * zero, self.at_one[k] - low * one),
            (high * zero - self.at_zero[k], high * one - self.at_one[k]),
        ]
        start, end = self._within(bounds)
        return (start, end) if start <= end else None

    def _within(self, lines: Iterable[tuple[float, float]]) -> tuple[float, float]:
        """Where (1 - t) zero + t one >= 0 for all of them."""
        start, end = 0.0, 1.0
        for zero, one in lines:
            if zero < 0.0 and one < 0.0:
                return 1.0, 0.0
            if zero < 0.0:
                start = max(start, float(zero / (zero - one)))
            elif one < 0.0:
                end = min(end, float(zero / (zero - one)))
        return start, end

    def _others(self, best: int) -> Iterator[int]:
        return (k for k in range(len(self.states)) if k != best)

    def _place(self, state: Any) -> int:
        return find_state(state, self.states, what=f"node {self.query!r} has no state")

    @property
    def entry(self) -> str:
        """The entry as text."""
        given = ", ".join(f"{name} = {state}" for name, state in self.given.items())
        return f"P({self.node} = {self.state}{f' | {given}' if given else ''})"

    def __repr__(self) -> str:
        low, high = self.stable_range()
        return (
            f"Sensitivity({self.entry} = {self.value:.4g}; d P({self.query} = {self.best}) = "
            f"{self.derivative(self.best):.4g}; {self.best} stays best from {low:.4g} to {high:.4g})"
        )


def sensitivities(
    network: BeliefNetwork,
    query: str,
    evidence: Evidence | None = None,
    soft: Soft | None = None,
    tables: Iterable[str] | None = None,
) -> list[Sensitivity]:
    """One function for each entry of the tables (all by default), the largest impact first.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> wet = Node("wet", ["yes", "no"], {"yes": 0.9, "no": 0.2}, parents=["rain"])
    >>> found = sensitivities(BeliefNetwork([Node("rain", ["yes", "no"], 0.5), wet]), "rain", {"wet": "yes"})
    >>> found[0]
    Sensitivity(P(wet = yes | rain = no) = 0.2; d P(rain = yes) = -0.7438; yes stays best from 0 to 0.9)
    """
    target = network.place(query)
    engine = network.engine
    finding = engine.finding(evidence, soft)
    if target in finding.states:
        raise ParameterError(f"node {query!r} is observed: no table matters to it", fix="choose another node")
    network.query(query, evidence, soft=soft)  # impossible evidence is named here
    places = range(len(network)) if tables is None else [network.place(name) for name in names_of(tables)]
    return sorted(_functions(network, target, finding, places), key=lambda each: -round(each.impact, 12))


def _functions(network: BeliefNetwork, target: int, finding: Finding, places: Iterable[int]) -> Iterator[Sensitivity]:
    engine = network.engine
    relevant = finding.relevant(network._parents, [target])
    own = [np.array(table) for table in network._tables]  # written to below; the tree reads them at each run
    tree = engine.tree_of(own, [target], finding)
    work = tree.n_cells * sum(own[place].size for place in places if place in relevant)
    if work > _MOST_WORK:
        raise TooLargeError(
            f"the functions of {sum(own[place].size for place in places)} entries would take too long",
            fix="choose fewer tables: sensitivity(..., tables=[...])",
        )
    codes, pairs = finding.codes(len(network)), finding.pairs()

    def run() -> tuple[FloatArray, float]:
        """P(query | evidence) and log P(evidence) with the tables as they are now."""
        cells, log_evidence = tree.posterior(codes, pairs)
        return (cells if len(cells) else np.zeros(len(network._states[target]))), log_evidence

    for place in places:
        table = own[place]
        above = network._parents[place]
        for row, entries in enumerate(network._tables[place]):
            given = configuration([network._states[parent] for parent in above], row)
            codes_given = [network._states[p].code_of_equal(state) for p, state in zip(above, given, strict=True)]
            seen = all(finding.states.get(p, code) == code for p, code in zip(above, codes_given, strict=True))
            if place in relevant and seen and len(entries) > 1:
                by_state = _of_deterministic_rows(table, row, run)
            else:
                by_state = np.tile(run()[0], (len(entries), 1))
            named = {network.names[p]: state for p, state in zip(above, given, strict=True)}
            for k, value in enumerate(entries.tolist()):
                yield Sensitivity(
                    network.names[target],
                    network._states[target].labels,
                    network.names[place],
                    network._states[place][k],
                    named,
                    value,
                    _others_in_proportion(entries, k) @ by_state,
                    by_state[k],
                )


def _of_deterministic_rows(table: FloatArray, row: int, run: Callable[[], tuple[FloatArray, float]]) -> FloatArray:
    """(n_states of the node, n_states of the query) P(query, evidence) with the row deterministic in each state,
    divided by the largest P(evidence) among them."""
    before = table[row].copy()
    rows = []
    for k in range(len(before)):
        table[row] = 0.0
        table[row, k] = 1.0
        rows.append(run())
    table[row] = before
    log_top = max(log_evidence for _, log_evidence in rows)
    return np.array([cells * math.exp(log_evidence - log_top) for cells, log_evidence in rows])


def _others_in_proportion(entries: FloatArray, k: int) -> FloatArray:
    """The row with 0 for one state; the others keep their proportions, or are equal where all of them were 0."""
    others = np.array(entries)
    others[k] = 0.0
    total = others.sum()
    if total > 0.0:
        return np.asarray(others / total)
    if len(others) == 1:
        return np.ones(1)
    others[:] = 1.0 / (len(others) - 1)
    others[k] = 0.0
    return others
