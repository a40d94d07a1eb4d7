"""The numbers of a network given its states: rows of a least-squares problem, solved for many configurations at once.

A node x = a + sum w p + noise is a row (x - sum w p - a) / stddev. Observed numbers move to the right-hand side b; with
A = Q R for the others, the posterior is normal with mean R^-1 Q'b and covariance R^-1 R^-T, and

    log p(observed) = - |b - A mean|^2 / 2 - log |det R| - sum log stddev - (n_rows - n_free) / 2 log 2 pi

No precision matrix is formed, so that large numbers with small deviations lose no digits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NetworkError, listed

if TYPE_CHECKING:
    from bayeswise.networks.mixed.network import MixedNetwork

_BLOCK = 1 << 22  # cells of the matrices that are factored at once


@dataclass(frozen=True)
class Known:
    """Evidence by position: states and numbers, observed or set, and the nodes that were set by an intervention."""

    states: Mapping[int, int]
    numbers: Mapping[int, float]
    intervened: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Component:
    """Numbers that are connected once known ones are removed, and all lines that they are in."""

    free: tuple[int, ...]  # numbers that are not known
    lines: tuple[int, ...]  # nodes
    given: tuple[int, ...]  # nodes with states, not known, that the lines depend on

    @classmethod
    def union(cls, parts: Sequence[Component]) -> Component:
        """Several as one."""
        return cls(*(tuple(sorted({each for part in parts for each in getattr(part, name)})) for name in _FIELDS))


_FIELDS = tuple(field.name for field in fields(Component))


def components(network: MixedNetwork, relevant: Collection[int], known: Known) -> list[Component]:
    """The connected components of the lines of relevant nodes, once known numbers are removed."""
    lines = [
        node for node in network.order if node in relevant and node in network.lines and node not in known.intervened
    ]
    leader = {node: node for node in lines}

    def first(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    scopes = {
        node: [each for each in (node, *network.numbers_above(node)) if each not in known.numbers] for node in lines
    }
    for scope in scopes.values():
        for each in scope:
            leader[first(each)] = first(scope[0])
    parts: dict[int, list[int]] = {}
    for node, scope in scopes.items():
        parts.setdefault(first(scope[0]) if scope else -1 - node, []).append(node)
    return [_component(network, scopes, members, known) for members in parts.values()]


def _component(
    network: MixedNetwork, scopes: Mapping[int, Sequence[int]], members: Sequence[int], known: Known
) -> Component:
    free = {each for node in members for each in scopes[node]}
    given = {each for node in members for each in network.states_above(node) if each not in known.states}
    return Component(tuple(sorted(free)), tuple(members), tuple(sorted(given)))


@dataclass(frozen=True)
class Solved:
    """The free numbers of a component given the evidence and each of some configurations of states."""

    log_likelihood: FloatArray  # (n_configurations,)
    mean: FloatArray  # (n_configurations, n_free)
    root: FloatArray  # (n_configurations, n_free, n_free) R, upper triangular

    def covariance(self, places: Sequence[int]) -> FloatArray:
        """(n_configurations, n_places, n_places) of some of the free numbers."""
        unit = np.zeros((self.root.shape[1], len(places)))
        unit[list(places), range(len(places))] = 1.0
        half = np.linalg.solve(np.swapaxes(self.root, 1, 2), np.broadcast_to(unit, (len(self.root), *unit.shape)))
        with np.errstate(over="ignore"):
            covariance: FloatArray = np.swapaxes(half, 1, 2) @ half
        if not np.isfinite(covariance).all():
            raise NetworkError("a variance is too large for doubles", fix="choose other units")
        return covariance


def solve(network: MixedNetwork, part: Component, configurations: CodeArray, known: Known) -> Solved:
    """The component under each configuration, (n_configurations, n_given) codes of `part.given`."""
    n_lines, n_free = len(part.lines), len(part.free)
    block = max(1, _BLOCK // max(1, n_lines * (n_free + 1)))
    starts = range(0, len(configurations), block)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        solved = [_solved(network, part, configurations[start : start + block], known) for start in starts]
    return Solved(*(np.concatenate([getattr(each, name) for each in solved]) for name in Solved.__annotations__))


def _solved(network: MixedNetwork, part: Component, configurations: CodeArray, known: Known) -> Solved:
    n, m, k = len(configurations), len(part.lines), len(part.free)
    left, right, log_stddev = np.zeros((n, m, k)), np.empty((n, m)), np.empty((n, m))
    column = {node: place for place, node in enumerate(part.free)}
    for row, (node, which) in enumerate(_chosen_lines(network, part, configurations, known)):
        line = network.lines[node]
        stddev = line.stddev[which]
        constant = line.intercept[which].copy()
        for parent, weight in zip(network.numbers_above(node), line.weights[which].T, strict=True):
            if parent in known.numbers:
                constant += weight * known.numbers[parent]
            else:
                left[:, row, column[parent]] = -weight / stddev
        if node in known.numbers:
            constant -= known.numbers[node]
        else:
            left[:, row, column[node]] = 1.0 / stddev
        right[:, row] = constant / stddev
        log_stddev[:, row] = np.log(stddev)
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise _too_far_apart(network, part)
    q, root = np.linalg.qr(left)
    try:
        mean = np.linalg.solve(root, np.swapaxes(q, 1, 2) @ right[:, :, None])
    except np.linalg.LinAlgError:
        raise _too_far_apart(network, part) from None
    off = right - (left @ mean)[:, :, 0]
    log_det = np.log(np.abs(np.diagonal(root, axis1=1, axis2=2))).sum(axis=1)
    log_likelihood = -0.5 * (off**2).sum(axis=1) - log_det - log_stddev.sum(axis=1)
    if not (np.isfinite(log_likelihood).all() and np.isfinite(mean).all()):
        raise _too_far_apart(network, part)
    return Solved(log_likelihood - 0.5 * (m - k) * math.log(2.0 * math.pi), mean[:, :, 0], root)


def _too_far_apart(network: MixedNetwork, part: Component) -> NetworkError:
    names = listed((network.names[node] for node in part.lines), 4)
    return NetworkError(
        f"the numbers of {names} are too large, too small or too far apart for doubles", fix="choose other units"
    )


def _chosen_lines(
    network: MixedNetwork, part: Component, configurations: CodeArray, known: Known
) -> Iterator[tuple[int, IntArray]]:
    """Each node with the position of its line in every configuration; lines of little noise first, for accuracy."""
    of_given = dict(zip(part.given, configurations.T, strict=True))
    for node in sorted(part.lines, key=lambda each: float(network.lines[each].stddev.min())):
        which = np.zeros(len(configurations), dtype=np.int64)
        for parent in network.states_above(node):
            codes = known.states[parent] if parent in known.states else of_given[parent]
            which = which * network.size(parent) + codes
        yield node, which
