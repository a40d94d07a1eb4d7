"""Rows drawn from a mixed network, and answers from them where numbers depend on too many states for exact ones.

Only states are drawn; each row weighs as much as the observed numbers are probable given its states, and says the exact
mean and variance of the number that is asked about (Rao and Blackwell: less variance than drawing numbers too).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError, TooFewRowsError
from bayeswise.networks.inference.engine import Finding
from bayeswise.networks.inference.estimate import Estimate
from bayeswise.networks.inference.sampling import few_rows_note, sample_codes, weighted
from bayeswise.networks.mixed.answering import known_of
from bayeswise.networks.mixed.mixture import NormalMixture
from bayeswise.networks.mixed.numbers import Component, Known, Solved, components, solve
from bayeswise.networks.node import Evidence

if TYPE_CHECKING:
    from bayeswise.networks.mixed.network import MixedNetwork


def sample(network: MixedNetwork, n_rows: int, seed: int) -> dict[str, Any]:
    """Each node drawn given its parents; the columns are in the order of the network."""
    if seed < 0:
        raise ParameterError(f"the seed is {seed}", fix="choose a whole number from 0 on")
    generator = np.random.default_rng(seed)
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
    asked = {columns[place] for place in relevant if place in columns}
    codes, log_weight = weighted(network.discrete, n_rows, found, np.random.default_rng(seed), nodes=asked)
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
            fix="sample more rows, or ask network.query(...)",
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
    """The configuration of each row, and the component solved once for each that was drawn."""
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    return which.ravel(), solve(network, part, distinct, known)
