"""MIIC: edges by mutual information, removed where contributors explain it; oriented by three-point information.

The gain of a score when x is a parent of y is their mutual information minus its complexity, I'(x; y | u). Starting
with all pairs, the most probable contributor of a pair is added to its set u, until I' <= 0 and the edge is removed, or
no contributor is left (Verny et al. 2017). The sign of I'(x; y; z) = I'(x; y) - I'(x; y | z) orients edges; a
bidirected edge indicates a latent common cause.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.special import expit
from bayeswise.networks.equivalence import EquivalenceClass
from bayeswise.networks.learning.constraints import Constraints, Progress, Search, silent
from bayeswise.networks.learning.search.scores import FamilyScoring


@dataclass(frozen=True)
class ThreePointGraph:
    """The class of graphs that was found, and the bidirected edges (u, v)."""

    found: EquivalenceClass
    common_causes: tuple[tuple[int, int], ...]


def miic(
    scores: FamilyScoring, constraints: Constraints | None = None, *, progress: Progress = silent
) -> ThreePointGraph:
    """Edges whose information no set of contributors explains, oriented by three-point information."""
    rules = constraints or Constraints()
    allowed, fixed = rules.allowed(scores.names), rules.fixed(scores.names)
    information = _Information(scores)
    adjacent, separators = _Skeleton(information, allowed | allowed.T, fixed | fixed.T, rules.most(len(allowed))).found(
        progress
    )
    marks = _Marks(adjacent, allowed, fixed)
    marks.direct(list(_open_triples(information, adjacent, separators)))
    graphs = EquivalenceClass(marks.possible & allowed & ~fixed.T, allowed & ~fixed.T)
    graphs.conflicts += marks.conflicts
    graphs.close()
    return ThreePointGraph(graphs, marks.common_causes)


def miic_graph(scores: FamilyScoring, rules: Constraints, progress: Progress) -> Search:
    """A graph of the class that is found, with notes on edges of unknown direction."""
    graph, names = miic(scores, rules, progress=progress), scores.names
    parents = graph.found.members_parents()
    hidden = [f"{names[u]} <-> {names[v]}" for u, v in graph.common_causes]
    notes = [f"a latent common cause may explain {', '.join(hidden)}"] * bool(hidden)
    return Search(
        parents, scores.total(parents), notes=(*graph.found.notes(names, excluded=graph.common_causes), *notes)
    )


class _Information:
    """I'(x; y | u) in nats of all rows; the mean of both directions, as a score may differ between them."""

    def __init__(self, scores: FamilyScoring) -> None:
        self.scores, self.n = scores, len(scores.names)

    def of_pair(self, x: int, y: int, given: Sequence[int]) -> float:
        """Minus infinity where the tables would be too large."""
        gains = [
            self.scores.family(one, (*given, other)) - self.scores.family(one, given) for one, other in ((x, y), (y, x))
        ]
        return 0.5 * sum(gains) if all(map(math.isfinite, gains)) else -math.inf

    def with_each(self, x: int, y: int, given: Sequence[int], others: Sequence[int]) -> tuple[FloatArray, ...]:
        """(n_others,) I'(x; y | u, z), I'(x; z | u) and I'(y; z | u) for each z."""
        with np.errstate(invalid="ignore"):
            of_x, of_y = (self.scores.additions(k, given, others) for k in (x, y))
            given_each = self.scores.additions(x, (*given, y), others) - of_x
            given_each = 0.5 * (given_each + self.scores.additions(y, (*given, x), others) - of_y)
        return given_each, of_x - self.scores.family(x, given), of_y - self.scores.family(y, given)


Separators = dict[tuple[int, int], tuple[int, ...]]


class _Skeleton:
    """Pairs with information left, each with its contributors so far."""

    def __init__(self, information: _Information, allowed: BoolArray, must: BoolArray, most: int) -> None:
        self.information, self.must, self.most = information, must, most
        self.adjacent = allowed.copy()
        self.given: Separators = {}
        self.separators: Separators = {}
        for x, y in np.argwhere(np.triu(allowed)).tolist():
            self.given[x, y] = ()
            self.prune(x, y)

    def prune(self, x: int, y: int) -> bool:
        """Remove the edge if no information is left; returns whether it stays."""
        if not self.must[x, y] and self.information.of_pair(x, y, self.given[x, y]) <= 0.0:
            self.adjacent[x, y] = self.adjacent[y, x] = False
            self.separators[x, y] = self.given[x, y]
        return bool(self.adjacent[x, y])

    def found(self, progress: Progress) -> tuple[BoolArray, Separators]:
        waiting = [self.contributor(x, y) for x, y in np.argwhere(np.triu(self.adjacent & ~self.must)).tolist()]
        heapify(waiting)
        n_collected = 0
        while waiting:
            log_odds, (x, y), z = heappop(waiting)
            if log_odds >= 0.0:
                break
            if self.adjacent[z, x] or self.adjacent[z, y]:
                self.given[x, y] = tuple(sorted((*self.given[x, y], z)))
                n_collected += 1
                progress("contributors collected", n_collected, None)
                if not self.prune(x, y):
                    continue
            heappush(waiting, self.contributor(x, y))
        return self.adjacent, self.separators

    def contributor(self, x: int, y: int) -> tuple[float, tuple[int, int], int]:
        """The most probable contributor, after minus the log odds that it is one; 0 odds where there is none.

        It is one if x and y are the weakest pair of the three, and the three are not a v-structure.
        """
        given = self.given[x, y]
        near = self.adjacent[x] | self.adjacent[y]
        others = [z for z in np.flatnonzero(near).tolist() if z not in (x, y, *given)]
        if not others or len(given) >= self.most:
            return (math.inf, (x, y), -1)
        now = self.information.of_pair(x, y, given)
        then, of_x, of_y = self.information.with_each(x, y, given, others)
        log_odds = np.minimum(now - then, -np.logaddexp(now - of_x, now - of_y))
        log_odds[~np.isfinite(then)] = -math.inf
        best = int(np.argmax(log_odds))
        return (-float(log_odds[best]), (x, y), others[best])


Triple = tuple[int, int, int, float]  # x - z - y with x and y not adjacent, and I'(x; y; z | u)


def _open_triples(information: _Information, adjacent: BoolArray, separators: Separators) -> Iterator[Triple]:
    for (x, y), given in separators.items():
        for z in np.flatnonzero(adjacent[x] & adjacent[y]).tolist():
            rest = [k for k in given if k != z]
            yield x, z, y, information.of_pair(x, y, rest) - information.of_pair(x, y, (*rest, z))


_HEAD, _TAIL = 1, -1


class _Marks:
    """`end[u, v]` is the mark at v of the edge of u and v: an arrowhead, a tail, or 0; `sure` is its probability."""

    def __init__(self, adjacent: BoolArray, allowed: BoolArray, fixed: BoolArray) -> None:
        self.adjacent = adjacent
        self.end = np.where(adjacent & ~allowed.T, _HEAD, 0)
        self.end[fixed] = _HEAD
        self.end[fixed.T] = _TAIL
        self.sure = np.where(self.end != 0, 1.0, 0.5)
        self.conflicts: list[tuple[int, int]] = []

    def direct(self, triples: list[Triple]) -> None:
        """Mark edges, the surest first; marks are not changed again."""
        left = [triple for triple in triples if math.isfinite(triple[3]) and triple[3] != 0.0]
        while True:
            implied = [(sure, marks) for triple in left for sure, marks in self.implied(*triple)]
            implied = [each for each in implied if any(self.end[edge] == 0 for edge, _ in each[1])]
            possible = [each for each in implied if not any(self.end[edge] == -mark for edge, mark in each[1])]
            if not possible:
                self.conflicts += [edge for _, marks in implied for edge, mark in marks if self.end[edge] == -mark]
                return
            sure, marks = max(possible, key=lambda each: (each[0], [(-u, -v) for (u, v), _ in each[1]]))
            for edge, mark in marks:
                if self.end[edge] == 0:
                    self.end[edge], self.sure[edge] = mark, sure

    def implied(
        self, x: int, z: int, y: int, shared: float
    ) -> Iterator[tuple[float, list[tuple[tuple[int, int], int]]]]:
        """The marks that three columns imply, and the probability of each."""
        if shared < 0.0:
            known = max((float(self.sure[k, z]) for k in (x, y) if self.end[k, z] == _HEAD), default=0.0)
            free = (1.0 + math.exp(shared)) / (1.0 + 3.0 * math.exp(shared))
            sure = known * (float(expit(-shared)) - 0.5) + 0.5 if known else free
            yield sure, [((x, z), _HEAD), ((y, z), _HEAD)]
            return
        for one, other in ((x, y), (y, x)):
            if self.end[one, z] == _HEAD:
                sure = float(self.sure[one, z]) * (float(expit(shared)) - 0.5) + 0.5
                yield sure, [((other, z), _TAIL), ((z, other), _HEAD)]

    @property
    def common_causes(self) -> tuple[tuple[int, int], ...]:
        both = (self.end == _HEAD) & (self.end.T == _HEAD)
        return tuple((u, v) for u, v in np.argwhere(both).tolist() if u < v)

    @property
    def possible(self) -> BoolArray:
        """(n, n) whether u -> v is possible: no tail at v, and no arrowhead at u unless there is one at both ends."""
        heads = self.end == _HEAD
        return np.asarray(self.adjacent & (self.end != _TAIL) & ~(heads.T & ~heads))
