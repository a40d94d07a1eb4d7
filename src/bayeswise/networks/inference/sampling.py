"""Rows drawn from a network, by itself or so that they agree with evidence and carry a weight."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.networks.inference.engine import Finding
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
    if isinstance(seed, int) and seed < 0:
        raise ParameterError(f"the seed is {seed}", fix="choose a whole number from 0 on")
    codes = sample_codes(network, n_rows, np.random.default_rng(seed))
    columns = {}
    for node, name in enumerate(network.names):
        labels = network._states[node].labels
        columns[name] = [labels[code] for code in codes[:, node].tolist()]
    return columns


def sample_codes(network: BeliefNetwork, n_rows: int, generator: np.random.Generator) -> CodeArray:
    """(n_rows, n_nodes) the states by position."""
    if n_rows < 0:
        raise ParameterError(f"n_rows is {n_rows}", fix="choose a number from 0 on")
    codes, _ = weighted(network, n_rows, Finding({}, {}, 0.0), generator)
    return codes


def weighted(
    network: BeliefNetwork,
    n_rows: int,
    found: Finding,
    generator: np.random.Generator,
    *,
    nodes: Container[int] | None = None,
    proposal: Mapping[int, FloatArray] | None = None,
) -> tuple[CodeArray, FloatArray]:
    """Rows that agree with the evidence, and the logarithms of their weights P(row, evidence) / P(row is drawn).

    Nodes outside `nodes` are left at state 0. A node in `proposal` is drawn from that table instead of its own.
    """
    codes = np.zeros((n_rows, len(network)), dtype=np.int32)
    log_weight = np.zeros(n_rows)
    for node in network.order:
        if nodes is not None and node not in nodes:
            continue
        row = table_rows(network, node, codes)
        table = network._tables[node]
        if node in found.states:
            codes[:, node] = found.states[node]
            log_weight += log(table[:, found.states[node]])[row]
            continue
        drawn_from = table if proposal is None else proposal.get(node, table)
        codes[:, node] = _drawn(drawn_from, row, generator.random(n_rows))
        if drawn_from is not table:
            log_weight += log(table[row, codes[:, node]]) - log(drawn_from[row, codes[:, node]])
        if node in found.likelihoods:
            log_weight += log(found.likelihoods[node])[codes[:, node]]
    return codes, log_weight


def table_rows(network: BeliefNetwork, node: int, codes: CodeArray) -> Any:
    """(n_rows,) the row of a node's table that the states of its parents choose."""
    row = np.zeros(len(codes), dtype=np.int64)
    for parent in network._parents[node]:
        row = row * len(network._states[parent]) + codes[:, parent]
    return row


def _drawn(table: FloatArray, row: Any, uniform: FloatArray) -> CodeArray:
    """The first state whose cumulated probability exceeds a uniform number; states of probability 0 never are."""
    if len(table) > len(row):  # most rows of the table are not asked for
        asked, row = np.unique(row, return_inverse=True)
        table = table[asked]
    cumulated = np.cumsum(table, axis=1)
    cumulated /= cumulated[:, -1:]
    if table.shape[1] > _MANY_STATES:
        return _drawn_of_many(cumulated, row, uniform)
    state = np.zeros(len(row), dtype=np.int32)
    for column in cumulated.T[:-1]:
        state += uniform >= column[row]
    return state


def _drawn_of_many(cumulated: FloatArray, row: Any, uniform: FloatArray) -> CodeArray:
    """The same by bisection, for all that share a row of the table at once."""
    state = np.empty(len(row), dtype=np.int32)
    order = np.argsort(row, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(row[order])) + 1):
        if len(part):
            state[part] = np.searchsorted(cumulated[row[part[0]], :-1], uniform[part], side="right")
    return state
