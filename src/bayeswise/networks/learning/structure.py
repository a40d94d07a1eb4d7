"""Graphs from rows: hill climbing by a score, K2 along an order, Chow-Liu trees; constraints are never broken."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.graph import ancestral_order
from bayeswise.networks.learning.scores import Scores
from bayeswise.posteriors.states import guess

_GAIN = 1e-9  # a change must be worth more than rounding
_THREADS = 2

Edges = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Constraints:
    """Edges (parent, child) that must or must not be there; no edge points from a tier to an earlier one."""

    required: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    max_parents: int | None = None

    def allowed(self, names: Sequence[str]) -> BoolArray:
        """(n, n) whether the edge parent -> child may be there."""
        places = {name: place for place, name in enumerate(names)}
        for name in (name for group in (*self.required, *self.forbidden, *self.tiers) for name in group):
            if name not in places:
                raise ParameterError(f"a constraint names {name!r}, which is no column", fix=guess(name, list(names)))
        may = ~np.eye(len(names), dtype=bool)
        for parent, child in self.forbidden:
            may[places[parent], places[child]] = False
        tier = {name: k for k, group in enumerate(self.tiers) for name in group}
        for parent in tier:
            for child in tier:
                if tier[parent] > tier[child]:
                    may[places[parent], places[child]] = False
        for parent, child in self.required:
            if not may[places[parent], places[child]]:
                raise ParameterError(
                    f"the edge {parent} -> {child} is required and not allowed", fix="drop one of both"
                )
        return may

    def start(self, names: Sequence[str]) -> list[set[int]]:
        """The parents of each node by required edges alone."""
        places = {name: place for place, name in enumerate(names)}
        parents: list[set[int]] = [set() for _ in names]
        for parent, child in self.required:
            parents[places[child]].add(places[parent])
        ancestral_order([sorted(above) for above in parents], names)
        return parents


def climb(scores: Scores, constraints: Constraints | None = None, *, tabu: int = 10) -> list[tuple[int, ...]]:
    """Add, take away or turn round the edge that gains most; the parents of each node in the best graph that was met.

    Where no change gains, up to `tabu` changes that lose least are tried, none of which undoes one of the last `tabu`;
    they may lead out of a local optimum. Ctrl-C gives the best so far.
    """
    climber = _Climber(scores, constraints or Constraints())
    best, parents = 0.0, climber.copy()
    now, idle, last = 0.0, 0, deque[frozenset[int]](maxlen=tabu)
    try:
        while idle <= tabu:
            gain, pair = climber.step(last if idle else (), losing=tabu > 0)
            if pair is None:
                break
            last.append(pair)
            now += gain
            idle += 1
            if now > best + _GAIN:
                best, parents, idle = now, climber.copy(), 0
    except KeyboardInterrupt:
        pass
    return parents


class _Climber:
    """`gain[u, v]` is what toggling the edge u -> v adds to the score of v; only column v changes with v."""

    def __init__(self, scores: Scores, rules: Constraints) -> None:
        self.scores, self.n = scores, len(scores.names)
        self.may = rules.allowed(scores.names)
        self.parents = rules.start(scores.names)
        self.fixed = [set(above) for above in self.parents]
        self.most = self.n if rules.max_parents is None else rules.max_parents
        self.gain = np.full((self.n, self.n), -math.inf)
        for node in range(self.n):
            self.refresh(node)

    def refresh(self, node: int) -> None:
        above = self.parents[node]
        now = self.scores.family(node, above)
        for other in range(self.n):
            adds = other not in above
            if other == node or (adds and (not self.may[other, node] or len(above) >= self.most)):
                self.gain[other, node] = -math.inf
                continue
            self.gain[other, node] = self.scores.family(node, above ^ {other}) - now

    def copy(self) -> list[tuple[int, ...]]:
        return [tuple(sorted(above)) for above in self.parents]

    def step(self, tabu: Collection[frozenset[int]], *, losing: bool) -> tuple[float, frozenset[int] | None]:
        """Make the best change that is allowed: what it gains, and the two nodes, None if there is no such change."""
        for gain, kind, parent, child in self.candidates():
            if gain <= _GAIN and not losing:
                break
            if frozenset((parent, child)) in tabu:
                continue
            if kind != "remove" and self.leads_to(child, parent, turned=kind == "turn"):
                continue
            self.apply(kind, parent, child)
            return gain, frozenset((parent, child))
        return 0.0, None

    def candidates(self) -> list[tuple[float, str, int, int]]:
        """All changes, best first; a turn is named by the edge it makes."""
        found: list[tuple[float, str, int, int]] = []
        for child in range(self.n):
            for parent in range(self.n):
                gain = float(self.gain[parent, child])
                if parent == child or gain == -math.inf:
                    continue
                if parent in self.parents[child]:
                    if parent not in self.fixed[child]:
                        found.append((gain, "remove", parent, child))
                elif child in self.parents[parent]:
                    if self.fits(parent, child) and child not in self.fixed[parent]:
                        found.append((gain + float(self.gain[child, parent]), "turn", parent, child))
                elif self.fits(parent, child):
                    found.append((gain, "add", parent, child))
        return sorted(found, key=lambda change: (-change[0], change[2], change[3]))

    def fits(self, parent: int, child: int) -> bool:
        return bool(self.may[parent, child]) and len(self.parents[child]) < self.most

    def leads_to(self, start: int, goal: int, turned: bool) -> bool:
        """Whether a path of edges goes from start to goal; a turn does not count the edge that it turns."""
        waiting, seen = [goal], {goal}
        while waiting:
            node = waiting.pop()
            for above in self.parents[node]:
                if turned and node == goal and above == start:
                    continue
                if above == start:
                    return True
                if above not in seen:
                    seen.add(above)
                    waiting.append(above)
        return False

    def apply(self, kind: str, parent: int, child: int) -> None:
        self.parents[child] ^= {parent}
        if kind == "turn":
            self.parents[parent] ^= {child}
            self.refresh(parent)
        self.refresh(child)


def k2(scores: Scores, order: Sequence[str], *, max_parents: int | None = None) -> list[tuple[int, ...]]:
    """Cooper and Herskovits: along an order, each node takes the earlier node that helps most, until none does."""
    places = {name: place for place, name in enumerate(scores.names)}
    if sorted(order) != sorted(places):
        raise ParameterError("the order does not name every column once", fix=f"order all of {', '.join(places)}")
    most = len(places) if max_parents is None else max_parents
    parents: list[tuple[int, ...]] = [()] * len(places)
    for rank, name in enumerate(order):
        node, above = places[name], list[int]()
        best = scores.family(node, above)
        while len(above) < most:
            earlier = [places[each] for each in order[:rank] if places[each] not in above]
            trials = [(scores.family(node, [*above, k]), -k) for k in earlier]
            if not trials or max(trials)[0] <= best + _GAIN:
                break
            best, chosen = max(trials)
            above.append(-chosen)
        parents[node] = tuple(sorted(above))
    return parents


def chow_liu(scores: Scores, root: str | None = None) -> list[tuple[int, ...]]:
    """The tree of greatest likelihood: a spanning tree over mutual information, edges pointing away from the root."""
    n = len(scores.names)
    if root is not None and root not in scores.names:
        raise ParameterError(f"there is no column {root!r}", fix=guess(root, list(scores.names)))
    information = mutual_information(scores)
    parents: list[tuple[int, ...]] = [()] * n
    start = 0 if root is None else scores.names.index(root)
    inside, best, link = {start}, information[start].copy(), np.full(n, start)
    for _ in range(n - 1):
        node = max((k for k in range(n) if k not in inside), key=lambda k: (best[k], -k))
        parents[node] = (int(link[node]),)
        inside.add(node)
        closer = information[node] > best
        best, link = np.where(closer, information[node], best), np.where(closer, node, link)
    return parents


def mutual_information(scores: Scores) -> FloatArray:
    """(n, n) in nats, of every pair of columns."""
    n = len(scores.names)
    pairs = list(combinations(range(n), 2))
    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(lambda pair: _information(scores.counts(pair[1], (pair[0],))), pairs))
    information = np.zeros((n, n))
    for (one, other), value in zip(pairs, found, strict=True):
        information[one, other] = information[other, one] = value
    return information


def _information(counts: FloatArray) -> float:
    joint = counts / max(counts.sum(), 1.0)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    seen = joint > 0.0
    return float(np.sum(joint[seen] * np.log(joint[seen] / apart[seen])))
