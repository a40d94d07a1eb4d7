"""Rows drawn from a network, and answers by likelihood weighting with standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import ParameterError, TooFewRowsError
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.networks.inference.engine import Finding
from bayeswise.networks.inference.estimate import Estimate
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_BLOCK_ROWS = 20_000
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
    network: BeliefNetwork, n_rows: int, found: Finding, generator: np.random.Generator
) -> tuple[CodeArray, FloatArray]:
    """Rows that agree with the evidence, and the logarithm of the probability that they would by themselves."""
    codes = np.zeros((n_rows, len(network)), dtype=np.int32)
    log_weight = np.zeros(n_rows)
    for node in network.order:
        row = np.zeros(n_rows, dtype=np.int64)
        for parent in network._parents[node]:
            row = row * len(network._states[parent]) + codes[:, parent]
        table = network._tables[node]
        if node in found.states:
            codes[:, node] = found.states[node]
            log_weight += log(table[:, found.states[node]])[row]
            continue
        codes[:, node] = _drawn(table, row, generator.random(n_rows))
        if node in found.likelihoods:
            log_weight += log(found.likelihoods[node])[codes[:, node]]
    return codes, log_weight


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


def estimate(
    network: BeliefNetwork,
    node: str,
    evidence: Mapping[str, Any] | None,
    soft: Mapping[str, Mapping[Any, float]] | None,
    n_rows: int,
    seed: int,
) -> Estimate:
    """p = sum w 1[state] / sum w over rows whose weight w is the probability of the evidence given the rest.

    The standard error is that of a ratio: sqrt(sum w^2 (1[state] - p)^2) / sum w.
    """
    if n_rows < 1:
        raise ParameterError(f"n_rows is {n_rows}", fix="choose a number from 1 on")
    target = network.place(node)
    found = network.engine.finding(evidence, soft)
    parts = list(_blocks(network, found, n_rows, seed, target))
    states = np.concatenate([part for part, _ in parts])
    log_weight = np.concatenate([part for _, part in parts])
    log_total = float(log_sum_exp(log_weight))
    if log_total == -math.inf:
        raise TooFewRowsError(
            f"none of {n_rows} sampled rows agrees with the evidence, which is impossible or very rare",
            fix="sample more rows, or ask network.query(...)",
        )
    weight = np.exp(log_weight - log_total)  # sums to one
    labels = network._states[target].labels
    p = np.bincount(states, weights=weight, minlength=len(labels))
    squares = np.bincount(states, weights=weight**2, minlength=len(labels))
    error = np.sqrt(squares * (1.0 - p) ** 2 + (squares.sum() - squares) * p**2)
    return Estimate(
        node,
        dict(zip(labels, p.tolist(), strict=True)),
        dict(zip(labels, error.tolist(), strict=True)),
        log_total - math.log(n_rows) + found.log_scale,
        1.0 / float(squares.sum()),
    )


def _blocks(
    network: BeliefNetwork, found: Finding, n_rows: int, seed: int, target: int
) -> Iterator[tuple[CodeArray, FloatArray]]:
    generator = np.random.default_rng(seed)
    for start in range(0, n_rows, _BLOCK_ROWS):
        codes, log_weight = weighted(network, min(_BLOCK_ROWS, n_rows - start), found, generator)
        yield codes[:, target].copy(), log_weight
