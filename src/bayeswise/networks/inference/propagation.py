"""Loopy belief propagation: messages between factors and nodes until they converge; exact in polytrees.

Where the graph has loops the beliefs are an approximation without an error bar: a check on sampling, and the basis of
the proposal in importance sampling.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError
from bayeswise.foundation.logspace import log
from bayeswise.networks.inference.engine import Finding
from bayeswise.networks.inference.estimate import Estimate
from bayeswise.networks.node import Evidence, Soft

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

MOST_SWEEPS = 200
TOLERANCE = 1e-9
_UNDAMPED_SWEEPS = 20  # then messages are damped by a half, against oscillation


@dataclass(frozen=True)
class Factor:
    """A table reduced by the evidence, or a likelihood: one axis for each free node."""

    cells: FloatArray
    nodes: tuple[int, ...]
    owner: int  # the node whose table it is; -1 for a likelihood


def factors_of(network: BeliefNetwork, finding: Finding, nodes: Iterable[int] | None = None) -> list[Factor]:
    """The tables of `nodes` (of all by default) and the likelihoods, without those that have no free node."""
    factors = []
    for node in range(len(network)) if nodes is None else nodes:
        scope = [*network._parents[node], node]
        cells = network._tables[node].reshape([len(network._states[each]) for each in scope])
        cut = cells[tuple(finding.states.get(each, slice(None)) for each in scope)]
        free = tuple(each for each in scope if each not in finding.states)
        factors.append(Factor(np.array(cut, order="C"), free, node))
    factors += [Factor(likelihood, (node,), -1) for node, likelihood in finding.likelihoods.items()]
    return [factor for factor in factors if factor.nodes]


class Messages:
    """The message of each factor to each of its nodes, as a vector over the node's states whose largest entry is 1."""

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = factors
        self.change = math.inf
        self._sent = [[np.ones(size) for size in factor.cells.shape] for factor in factors]  # by factor and axis
        self._table_of = {factor.owner: place for place, factor in enumerate(factors) if factor.owner >= 0}
        self._log_product: dict[int, FloatArray] = {}
        self._n_zeros: dict[int, FloatArray] = {}
        for factor in factors:
            for node, size in zip(factor.nodes, factor.cells.shape, strict=True):
                self._log_product.setdefault(node, np.zeros(size))
                self._n_zeros.setdefault(node, np.zeros(size))

    def propagate(self, most_sweeps: int = MOST_SWEEPS, tolerance: float = TOLERANCE) -> None:
        """Sweeps over all factors, up and down, until no message changes by more than the tolerance."""
        places = range(len(self.factors))
        for sweep in range(most_sweeps):
            self.change = 0.0
            kept = 0.5 if sweep >= _UNDAMPED_SWEEPS else 0.0
            for place in reversed(places) if sweep % 2 == 0 else places:
                self._send(place, kept)
            if self.change < tolerance:
                return

    def belief(self, node: int) -> FloatArray:
        """The product of all messages to a node, normalised."""
        return _normalised(self._log_product[node], self._n_zeros[node] > 0.5)

    def from_below(self, node: int) -> FloatArray:
        """The product of the messages from children and likelihoods to a node, without its own table."""
        place = self._table_of[node]
        return self._without(place, self.factors[place].nodes.index(node))

    def _without(self, place: int, axis: int) -> FloatArray:
        """The product of the messages to a node except the one from a factor."""
        node = self.factors[place].nodes[axis]
        log_product, n_zeros = self._log_product[node].copy(), self._n_zeros[node].copy()
        self._take_out(log_product, n_zeros, self._sent[place][axis])
        return _normalised(log_product, n_zeros > 0.5)

    def _send(self, place: int, kept: float) -> None:
        factor, sent = self.factors[place], self._sent[place]
        incoming = [self._without(place, axis) for axis in range(len(factor.nodes))]
        for axis, node in enumerate(factor.nodes):
            message = factor.cells
            for other in range(len(incoming) - 1, -1, -1):  # each product takes one axis away, the last first
                if other != axis:
                    message = np.tensordot(message, incoming[other], axes=(other, 0))
            top = message.max()
            if not top > 0.0:
                raise _impossible()
            message = (1.0 - kept) * (message / top) + kept * sent[axis]
            message /= message.max()
            self.change = max(self.change, float(np.abs(message - sent[axis]).max()))
            self._take_out(self._log_product[node], self._n_zeros[node], sent[axis])
            self._log_product[node] += np.where(message > 0.0, log(message), 0.0)
            self._n_zeros[node] += message == 0.0
            sent[axis] = message

    @staticmethod
    def _take_out(log_product: FloatArray, n_zeros: FloatArray, message: FloatArray) -> None:
        log_product -= np.where(message > 0.0, log(message), 0.0)
        n_zeros -= message == 0.0


def _impossible() -> ImpossibleEvidenceError:
    return ImpossibleEvidenceError(
        "the evidence is impossible: together its findings have probability 0",
        fix="remove one of them, or give the tables a small probability for it",
    )


def _normalised(log_product: FloatArray, impossible: BoolArray) -> FloatArray:
    if impossible.all():
        raise _impossible()
    log_product = np.where(impossible, -np.inf, log_product)
    belief: FloatArray = np.exp(log_product - log_product.max())
    belief /= belief.sum()
    return belief


def propagate(network: BeliefNetwork, node: str, evidence: Evidence | None, soft: Soft | None) -> Estimate:
    """P(node | evidence) by message passing; exact in a polytree."""
    target = network.place(node)
    finding = network.engine.finding(evidence, soft)
    labels = network._states[target].labels
    if target in finding.states:
        belief = np.eye(len(labels))[finding.states[target]]
        return Estimate.of(node, labels, belief, np.zeros(len(labels)), method="loopy")
    relevant = finding.relevant(network._parents, [target])
    factors = factors_of(network, finding, sorted(relevant, key=network.order.index))
    messages = Messages(factors)
    messages.propagate()
    converged = messages.change < TOLERANCE
    error = np.zeros(len(labels)) if converged and _is_forest(factors) else np.full(len(labels), math.nan)
    notes = () if converged else (f"the messages still change by {messages.change:.2g} after {MOST_SWEEPS} sweeps",)
    return Estimate.of(node, labels, messages.belief(target), error, method="loopy", notes=notes)


def _is_forest(factors: Sequence[Factor]) -> bool:
    """Whether the factor graph has no cycle, so that messages are exact."""
    nodes = {node for factor in factors for node in factor.nodes}
    links = [(factor.nodes[0], other) for factor in factors for other in factor.nodes[1:]]
    return len(links) == len(nodes) - len(graph.connected(nodes, links))
