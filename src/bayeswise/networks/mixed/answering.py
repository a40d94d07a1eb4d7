"""Inference in mixed networks, and sampling: numbers are integrated out first, which leaves a network of states.

Given the discrete parents of its lines, the numbers of a component are jointly normal. The likelihood of its evidence
is a table over these states, and joins the discrete network as the table of an observed node. This is the clique of a
junction tree with a strong root: the states around a component are in one clique.

Where numbers depend on too many states for that, answers are sampled. Only states are drawn; the weight of a row is the
density of the observed numbers given its states, and it contributes the exact mean and variance of the queried number
(Rao-Blackwellised: less variance than drawing numbers too).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooFewRowsError, TooLargeError, listed
from bayeswise.networks.arguments import seed_of
from bayeswise.networks.inference.distribution import Distribution
from bayeswise.networks.inference.engine import Finding
from bayeswise.networks.inference.estimate import Estimate
from bayeswise.networks.inference.sampling import few_rows_note, sample_codes, weighted
from bayeswise.networks.mixed.components import Component, Known, Solved, components, solve
from bayeswise.networks.mixed.node import NormalMixture
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Evidence, Node

if TYPE_CHECKING:
    from bayeswise.networks.mixed.network import MixedNetwork


MOST_CONFIGURATIONS = 1 << 16
_MOST_WORK = 1 << 34  # multiplications


def known_of(network: MixedNetwork, evidence: Evidence | None, do: Evidence | None = None) -> Known:
    """Evidence and interventions, by position."""
    states: dict[int, int] = {}
    numbers: dict[int, float] = {}
    for name, value in {**(evidence or {}), **(do or {})}.items():
        place = network.place(name)
        if place in network.lines:
            numbers[place] = _number(name, value)
        else:
            states[place] = network.discrete.code(name, value)
    both = sorted(set(evidence or {}) & set(do or {}))
    if both:
        raise ParameterError(f"{both[0]!r} is both observed and set", fix="give it once")
    return Known(states, numbers, frozenset(network.place(name) for name in do or {}))


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"node {name!r} is a number; found {value!r:.80}", fix="give a number") from None
    if not math.isfinite(number):
        raise ParameterError(f"node {name!r} is a number; found {number}", fix="give a finite number")
    return number


@dataclass(frozen=True)
class Moments:
    """Some numbers of a network: the weight of each configuration, and their mean and covariance given it."""

    nodes: tuple[str, ...]
    weights: FloatArray  # (n_configurations,)
    means: FloatArray  # (n_configurations, n_nodes)
    covariances: FloatArray  # (n_configurations, n_nodes, n_nodes)
    log_evidence: float

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.weights @ self.means)

    @property
    def covariance(self) -> FloatArray:
        """The mean covariance of a configuration, plus the covariance of the means."""
        off = self.means - self.mean
        within = np.einsum("c,cij->ij", self.weights, self.covariances)
        between: FloatArray = np.einsum("c,ci,cj->ij", self.weights, off, off)
        return np.asarray(within + between)


class MixedQuery:
    """A query: its nodes, what is known, and the discrete network with the likelihood of the observed numbers."""

    def __init__(self, network: MixedNetwork, names: Sequence[str], known: Known) -> None:
        self.network, self.known = network, known
        self.nodes = [network.place(name) for name in names]
        parents = [() if node in known.intervened else above for node, above in enumerate(network._parents)]
        relevant = graph.ancestors_of(parents, [*self.nodes, *known.states, *known.numbers])
        parts = components(network, relevant, known)
        free = {node for node in self.nodes if node in network.lines} - set(known.numbers)
        mine = [part for part in parts if free & set(part.free)]
        self.part = Component.union(mine) if mine else None
        self.solved: Solved | None = None
        self.log_scale = 0.0
        self.evidence: dict[str, Any] = {
            network.names[node]: network.discrete.states(network.names[node])[code]
            for node, code in known.states.items()
        }
        actions = {name: state for name, state in self.evidence.items() if network.place(name) in known.intervened}
        discrete = network.discrete.do(actions) if actions else network.discrete
        nodes = [discrete.node(name) for name in discrete]
        for part in [*(part for part in parts if part not in mine), *([self.part] if self.part else [])]:
            observed = any(node in known.numbers for node in part.lines)
            if not observed and part is not self.part:
                continue
            solved = solve(network, part, configurations_of(network, part), known)
            self.solved = solved if part is self.part else self.solved
            if observed:
                nodes += self._finding(part, solved.log_likelihood, f"(numbers {len(nodes)})")
        self.states = BeliefNetwork(nodes, name=network.name)

    def _finding(self, part: Component, log_likelihood: FloatArray, name: str) -> list[Node]:
        """The likelihood of states given the observed numbers of a component, as an observed node."""
        top = float(log_likelihood.max())
        self.log_scale += top
        if not part.given:
            return []
        share = np.exp(log_likelihood - top)
        self.evidence[name] = "seen"
        above = [self.network.names[node] for node in part.given]
        return [Node(name, ["seen", "not seen"], np.stack([share, 1.0 - share], axis=1), above)]

    # -- answers ------------------------------------------------------------------------------------------------
    def distribution(self) -> Distribution:
        """P(nodes with states | evidence)."""
        answer = self.states.query([self.network.names[node] for node in self.nodes], self.evidence)
        return Distribution(answer.nodes, answer.states, answer.cells, answer.log_evidence + self.log_scale)

    def log_evidence(self) -> float:
        """log of the density of the observed numbers, times the probability of the observed states."""
        return (self.states.log_evidence(self.evidence) if self.evidence else 0.0) + self.log_scale

    def moments(self) -> Moments:
        """The moments of the queried numbers; a known one is its own mean."""
        known, names = self.known, tuple(self.network.names[node] for node in self.nodes)
        weights, log_evidence = self._weights()
        n, d = len(weights), len(names)
        means, covariances = np.empty((n, d)), np.zeros((n, d, d))
        free = [place for place, node in enumerate(self.nodes) if node not in known.numbers]
        for place, node in enumerate(self.nodes):
            if node in known.numbers:
                means[:, place] = known.numbers[node]
        if self.part is not None and self.solved is not None:
            columns = [self.part.free.index(self.nodes[place]) for place in free]
            means[:, free] = self.solved.mean[:, columns]
            covariances[:, np.ix_(free, free)[0], np.ix_(free, free)[1]] = self.solved.covariance(columns)
        kept = weights > 0.0
        return Moments(names, weights[kept], means[kept], covariances[kept], log_evidence)

    def _weights(self) -> tuple[FloatArray, float]:
        if self.part is None or not self.part.given:
            return np.ones(1), self.log_evidence()
        answer = self.states.query([self.network.names[node] for node in self.part.given], self.evidence)
        return answer.cells / answer.cells.sum(), answer.log_evidence + self.log_scale

    def mixture(self) -> NormalMixture:
        """The distribution of one number."""
        moments = self.moments()
        stddevs = np.sqrt(moments.covariances[:, 0, 0])
        return NormalMixture(moments.nodes[0], moments.weights, moments.means[:, 0], stddevs, moments.log_evidence)


def configurations_of(network: MixedNetwork, part: Component) -> CodeArray:
    """(n_configurations, n_given) all configurations of a component's discrete parents, the last changing fastest."""
    sizes = [network.size(node) for node in part.given]
    n_cells, work = math.prod(sizes), len(part.lines) * len(part.free) ** 2
    if n_cells > MOST_CONFIGURATIONS or n_cells * work > _MOST_WORK:
        names = listed((network.names[node] for node in part.given), 6)
        raise TooLargeError(
            f"{len(part.free)} numbers depend together on {n_cells:,} configurations of {names}",
            fix="observe numbers between them, or sample: network.estimate(node, evidence)",
        )
    grid = np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), dtype=np.int32)
    return np.ascontiguousarray(grid.T)


def sample(network: MixedNetwork, n_rows: int, seed: int) -> dict[str, Any]:
    """Each node drawn given its parents; the columns are in the order of the network."""
    generator = np.random.default_rng(seed_of(seed))
    codes = sample_codes(network.discrete, n_rows, generator)
    of_states = {network.place(name): codes[:, k] for k, name in enumerate(network.discrete.names)}
    columns: dict[int, FloatArray] = {}
    for node in network.order:
        if node not in network.lines:
            continue
        which = np.zeros(n_rows, dtype=np.int64)
        for parent in network.states_above(node):
            which = which * network.size(parent) + of_states[parent]
        line = network.lines[node]
        columns[node] = line.intercept[which] + line.stddev[which] * generator.standard_normal(n_rows)
        for parent, weight in zip(network.numbers_above(node), line.weights[which].T, strict=True):
            columns[node] += weight * columns[parent]
    labels = {node: network.discrete.states(network.names[node]) for node in of_states}
    return {
        name: columns[node] if node in columns else [labels[node][code] for code in of_states[node].tolist()]
        for node, name in enumerate(network.names)
    }


def estimate(
    network: MixedNetwork, node: str, evidence: Evidence | None, n_rows: int, seed: int
) -> Estimate | NormalMixture:
    """P(node | evidence) from weighted rows of states, with the standard error of a ratio."""
    if n_rows < 1 or seed < 0:
        raise ParameterError(f"n_rows is {n_rows} and the seed {seed}", fix="choose n_rows from 1, a seed from 0 on")
    known, target = known_of(network, evidence), network.place(node)
    relevant = graph.ancestors_of(network._parents, [target, *known.states, *known.numbers])
    columns = {network.place(name): k for k, name in enumerate(network.discrete.names)}
    found = Finding({columns[place]: code for place, code in known.states.items()}, {}, 0.0)
    ancestors = {columns[place] for place in relevant if place in columns}
    codes, log_weight = weighted(network.discrete, n_rows, found, np.random.default_rng(seed), nodes=ancestors)
    mixture: tuple[FloatArray, FloatArray] | None = None
    for part in components(network, relevant, known):
        which, solved = _by_row(network, part, codes[:, [columns[place] for place in part.given]], known)
        if any(line in known.numbers for line in part.lines):
            log_weight = log_weight + solved.log_likelihood[which]
        if target in part.free:
            place = part.free.index(target)
            mixture = solved.mean[which, place], np.sqrt(solved.covariance([place])[which, 0, 0])
    top = float(log_weight.max())
    if not math.isfinite(top):
        raise TooFewRowsError(
            f"none of {n_rows} sampled rows agrees with the evidence, which is impossible or very rare",
            fix="sample more rows, or use network.query(...)",
        )
    weight = np.exp(log_weight - top)
    log_evidence = top + math.log(weight.mean())
    weight /= weight.sum()
    effective = 1.0 / float((weight**2).sum())
    notes = few_rows_note(effective, n_rows)
    if target in columns:
        states = network.discrete.states(node)
        seen = np.eye(len(states))[codes[:, columns[target]]]
        p = weight @ seen
        error = np.hypot(np.sqrt((weight**2) @ (seen - p) ** 2), 1.0 / effective)
        error = np.zeros_like(p) if target in known.states else error
        facts: dict[str, Any] = {"log_evidence": log_evidence, "effective_rows": effective, "notes": notes}
        return Estimate.of(node, states, p, error, method="likelihood-weighting", **facts)
    if mixture is None:
        value = np.array([known.numbers[target]])
        return NormalMixture(node, np.ones(1), value, np.zeros(1), log_evidence, 0.0, effective, notes)
    means, stddevs = mixture
    distinct, back = np.unique(np.column_stack([means, stddevs]), axis=0, return_inverse=True)
    error_of_mean = math.sqrt(float((weight**2) @ (means - weight @ means) ** 2))
    shares = np.asarray(np.bincount(back.ravel(), weights=weight), dtype=np.float64)
    means, stddevs = distinct.T
    return NormalMixture(node, shares, means, stddevs, log_evidence, error_of_mean, effective, notes)


def _by_row(network: MixedNetwork, part: Component, codes: Any, known: Known) -> tuple[Any, Solved]:
    """The configuration of each row, and the component solved once for each distinct one."""
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    return which.ravel(), solve(network, part, distinct, known)
