"""Forward sampling, likelihood weighting, and evidence pre-propagation importance sampling (Yuan and Druzdzel).

A row is drawn node by node, consistent with the evidence, and has the weight w = P(row, evidence) / P(row is drawn).
Estimates are Rao-Blackwellised: each row contributes P(node | its Markov blanket) instead of a count, which has no more
variance and is not 0 for a possible state that was never drawn. The adapted proposal multiplies each table by the
messages of loopy propagation from below, and keeps a small probability for every possible state.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import TooFewRowsError
from bayeswise.foundation.logspace import log
from bayeswise.networks.arguments import seed_of
from bayeswise.networks.inference.engine import Finding
from bayeswise.networks.inference.estimate import Estimate
from bayeswise.networks.inference.propagation import Messages, factors_of
from bayeswise.networks.node import Evidence, Soft
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork


_MANY_STATES = 32


def sample(network: BeliefNetwork, n_rows: int, seed: int | np.random.Generator) -> dict[str, list[Label]]:
    """Each node drawn given its parents; the columns are in the order of the network.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> BeliefNetwork([Node("sure", ["yes", "no"], [1.0, 0.0])]).sample(2)
    {'sure': ['yes', 'yes']}
    """
    generator = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed_of(seed))
    codes = sample_codes(network, n_rows, generator)
    columns = {}
    for node, name in enumerate(network.names):
        labels = network._states[node].labels
        columns[name] = [labels[code] for code in codes[:, node].tolist()]
    return columns


def sample_codes(network: BeliefNetwork, n_rows: int, generator: np.random.Generator) -> CodeArray:
    """(n_rows, n_nodes) the states by position."""
    codes, _ = weighted(network, whole_number(n_rows, "n_rows", 0), Finding({}, {}, 0.0), generator)
    return codes


def weighted(
    network: BeliefNetwork,
    n_rows: int,
    finding: Finding,
    generator: np.random.Generator,
    *,
    nodes: Container[int] | None = None,
    proposal: Mapping[int, FloatArray] | None = None,
) -> tuple[CodeArray, FloatArray]:
    """Rows consistent with the evidence, and the logs of their weights P(row, evidence) / P(row is drawn).

    Nodes outside `nodes` are left at state 0. A node in `proposal` is drawn from that table instead of its own.
    """
    codes = np.zeros((n_rows, len(network)), dtype=np.int32)
    log_weight = np.zeros(n_rows)
    for node in network.order:
        if nodes is not None and node not in nodes:
            continue
        row = table_rows(network, node, codes)
        table = network._tables[node]
        if node in finding.states:
            codes[:, node] = finding.states[node]
            log_weight += log(table[:, finding.states[node]])[row]
            continue
        drawn_from = table if proposal is None else proposal.get(node, table)
        codes[:, node] = _drawn(drawn_from, row, generator.random(n_rows))
        if drawn_from is not table:
            log_weight += log(table[row, codes[:, node]]) - log(drawn_from[row, codes[:, node]])
        if node in finding.likelihoods:
            log_weight += log(finding.likelihoods[node])[codes[:, node]]
    return codes, log_weight


def table_rows(network: BeliefNetwork, node: int, codes: CodeArray) -> Any:
    """(n_rows,) the row of a node's table for the states of its parents."""
    row = np.zeros(len(codes), dtype=np.int64)
    for parent in network._parents[node]:
        row = row * len(network._states[parent]) + codes[:, parent]
    return row


def _drawn(table: FloatArray, row: Any, uniform: FloatArray) -> CodeArray:
    """Inverse transform sampling: the first state whose cumulative probability exceeds a uniform number."""
    if len(table) > len(row):  # most rows of the table are not used
        used, row = np.unique(row, return_inverse=True)
        table = table[used]
    cumulative = np.cumsum(table, axis=1)
    cumulative /= cumulative[:, -1:]
    if table.shape[1] > _MANY_STATES:
        return _drawn_of_many(cumulative, row, uniform)
    state = np.zeros(len(row), dtype=np.int32)
    for column in cumulative.T[:-1]:
        state += uniform >= column[row]
    return state


def _drawn_of_many(cumulative: FloatArray, row: Any, uniform: FloatArray) -> CodeArray:
    """The same by bisection, for all that share a row of the table at once."""
    state = np.empty(len(row), dtype=np.int32)
    order = np.argsort(row, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(row[order])) + 1):
        if len(part):
            state[part] = np.searchsorted(cumulative[row[part[0]], :-1], uniform[part], side="right")
    return state


_BLOCK_ROWS = 20_000
_SWEEPS = 20  # a proposal need not be exact
_FEW_ROWS = 100.0  # effective rows below which an estimate carries a note


def estimate(
    network: BeliefNetwork,
    node: str,
    evidence: Evidence | None,
    soft: Soft | None,
    n_rows: int,
    seed: int,
    *,
    adapted: bool,
) -> Estimate:
    """p = sum w P(node | blanket) / sum w, with the standard error of a ratio, and at least 1 / effective sample size.

    An event rarer than that may be missing from the sample, so that no smaller error is stated.
    """
    whole_number(n_rows, "n_rows")
    method = "importance" if adapted else "likelihood-weighting"
    target = network.place(node)
    finding = network.engine.finding(evidence, soft)
    relevant = finding.relevant(network._parents, [target])
    proposal = adapted_proposal(network, finding) if adapted else {}
    generator = np.random.default_rng(seed)
    sums = _WeightedSums(len(network._states[target]))
    for start in range(0, n_rows, _BLOCK_ROWS):
        size = min(_BLOCK_ROWS, n_rows - start)
        codes, log_weight = weighted(network, size, finding, generator, nodes=relevant, proposal=proposal)
        agrees = log_weight > -math.inf
        sums.add(_given_blanket(network, target, codes[agrees], finding, relevant), log_weight[agrees])
    if sums.total == 0.0:
        raise TooFewRowsError(
            f"none of {n_rows} sampled rows agrees with the evidence, which is impossible or very rare",
            fix="sample more rows, or use network.query(...)"
            + ("" if adapted else ", or sample by method='importance'"),
        )
    p, error, effective = sums.result()
    return Estimate.of(
        node,
        network._states[target].labels,
        p,
        np.zeros_like(p) if target in finding.states else error,
        method=method,
        log_evidence=sums.log_total() - math.log(n_rows) + finding.log_scale,
        effective_rows=effective,
        notes=few_rows_note(effective, n_rows),
    )


def few_rows_note(effective: float, n_rows: int) -> tuple[str, ...]:
    """A note on an estimate of small effective sample size."""
    if effective >= _FEW_ROWS:
        return ()
    return (f"only {effective:.3g} effective rows of {n_rows}: the error may be larger than stated; take more rows",)


def adapted_proposal(network: BeliefNetwork, finding: Finding) -> dict[int, FloatArray]:
    """Tables for ancestors of the evidence: P(node | parents) times the message from below, bounded away from 0."""
    if not finding.states and not finding.likelihoods:
        return {}
    above = finding.relevant(network._parents, [])
    messages = Messages(factors_of(network, finding, [node for node in network.order if node in above]))
    messages.propagate(_SWEEPS, tolerance=1e-3)
    free = [node for node in above if node not in finding.states]
    return {node: _tilted(network._tables[node], messages.from_below(node)) for node in free}


def _tilted(table: FloatArray, from_below: FloatArray) -> FloatArray:
    """Rows of table x message, normalised; possible states keep a small probability, as messages are approximate."""
    n_states = table.shape[1]
    least = 0.006 if n_states <= 5 else 0.001 if n_states <= 8 else 0.0005
    product = table * from_below
    total = product.sum(axis=1, keepdims=True)
    tilted = np.divide(product, total, out=table.copy(), where=total > 0.0)
    shares: FloatArray = np.where(table > 0.0, np.maximum(tilted, least), 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _given_blanket(
    network: BeliefNetwork, target: int, codes: CodeArray, finding: Finding, relevant: Container[int]
) -> FloatArray:
    """(n_rows, n_states) P(target | all other nodes): the product of the tables that it is in, normalised."""
    n_states = len(network._states[target])
    if target in finding.states:
        return np.broadcast_to(np.eye(n_states)[finding.states[target]], (len(codes), n_states))
    log_p = log(network._tables[target])[table_rows(network, target, codes)]
    if target in finding.likelihoods:
        log_p += log(finding.likelihoods[target])
    for child in graph.children_of(network._parents)[target]:
        if child not in relevant:
            continue  # barren
        above = network._parents[child]
        stride = math.prod(len(network._states[each]) for each in above[above.index(target) + 1 :])
        first = table_rows(network, child, codes) - stride * codes[:, target].astype(np.int64)
        table = log(network._tables[child])
        for state in range(n_states):
            log_p[:, state] += table[first + stride * state, codes[:, child]]
    p: FloatArray = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


class _WeightedSums:
    """Sums over rows of w, w^2, w f, w^2 f and w^2 f^2, where w is taken relative to the largest weight so far."""

    def __init__(self, n_states: int) -> None:
        self.log_top = -math.inf
        self.total = self.squares = 0.0
        self.first = np.zeros(n_states)
        self.square_first, self.square_second = np.zeros(n_states), np.zeros(n_states)

    def add(self, values: FloatArray, log_weight: FloatArray) -> None:
        if not len(log_weight):
            return
        log_top = max(self.log_top, float(log_weight.max()))
        shrink = math.exp(self.log_top - log_top)
        weight = np.exp(log_weight - log_top)
        self.log_top = log_top
        self.total = self.total * shrink + float(weight.sum())
        self.first = self.first * shrink + weight @ values
        weight = weight**2
        self.squares = self.squares * shrink**2 + float(weight.sum())
        self.square_first = self.square_first * shrink**2 + weight @ values
        self.square_second = self.square_second * shrink**2 + weight @ values**2

    def log_total(self) -> float:
        return self.log_top + math.log(self.total)

    def result(self) -> tuple[FloatArray, FloatArray, float]:
        """The means, their standard errors, and the effective sample size."""
        p = self.first / self.total
        effective = self.total**2 / self.squares
        variance = np.maximum(0.0, self.square_second - 2.0 * p * self.square_first + p**2 * self.squares)
        return p, np.hypot(np.sqrt(variance) / self.total, 1.0 / effective), effective
