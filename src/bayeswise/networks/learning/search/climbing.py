"""Hill climbing: one edge at a time, out of local optima by a tabu list and random restarts."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.constraints import Constraints, Parents, Progress, Search, silent
from bayeswise.networks.learning.search.scores import MOST_CELLS, FamilyScoring

_ROUNDING = 1e-13  # of a sum of scores, relative to it: a change must gain more
_PERTURBED = (0.2, 0.8)  # the range of the share of edges that a restart changes
_REVERSED = 0.7  # the share of these that is reversed; the others are removed


def climb(scores: FamilyScoring, constraints: Constraints | None = None, *, tabu: int = 10) -> Parents:
    """The parents of each node in the best graph that hill climbing finds."""
    return hill_climbing(scores, constraints, tabu=tabu).parents


def hill_climbing(
    scores: FamilyScoring,
    constraints: Constraints | None = None,
    *,
    tabu: int = 10,
    restarts: int | None = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Search:
    """Add, remove or reverse the edge that gains most, until none does; returns the best graph visited.

    Where no change gains, up to `tabu` changes that lose least are made, none of which undoes one of the last `tabu`;
    they may lead out of a local optimum. Each restart reverses or removes random edges of the best graph and climbs
    again; None restarts until a number of climbs in a row, `patience`, found nothing better. The same seed gives the
    same graph. Ctrl-C returns the best so far.
    """
    if tabu < 0 or (restarts is not None and restarts < 0):
        raise ParameterError(f"tabu is {tabu} and restarts is {restarts}", fix="give numbers from 0 on")
    climber = _Climber(scores, constraints or Constraints())
    best, interrupted = climber.state(), False
    rounds_left = patience(climber.n) if restarts is None else restarts
    round_ = 0
    while True:
        try:
            if round_:
                climber.perturb(best.parents, np.random.default_rng([seed, round_]))
            _climb_up(climber, tabu, progress)
        except KeyboardInterrupt:
            interrupted = True
        if climber.best.score > best.score + climber.rounding:
            best = climber.best
            rounds_left = patience(climber.n) + 1 if restarts is None and round_ else rounds_left
        if interrupted or rounds_left == 0:
            break
        round_, rounds_left = round_ + 1, rounds_left - 1
    return Search([tuple(sorted(above)) for above in best.parents], best.score, interrupted)


def patience(n_columns: int) -> int:
    """How many restarts in a row may find nothing better: fewer where each takes longer.

    >>> [patience(n) for n in (0, 37, 100, 1_000, 10_000)]
    [50, 50, 40, 4, 0]
    """
    return min(50, 4_000 // max(n_columns, 1))


def _climb_up(climber: _Climber, tabu: int, progress: Progress) -> None:
    """Changes until none helps; the best graph on the way is kept in the climber."""
    idle, last = 0, deque[tuple[int, int]](maxlen=tabu)
    climber.refresh_all(progress)
    while idle <= tabu:
        pair = climber.step(list(last) if idle else (), losing=tabu > 0)
        if pair is None:
            break
        last.append(pair)
        idle += 1
        if climber.score > climber.best.score + climber.rounding:
            climber.best, idle = climber.state(), 0
        progress("edges changed", climber.n_changes, None)


class _State(NamedTuple):
    parents: list[set[int]]
    score: float


class _Climber:
    """A graph with the score of each node, and in `changes` the gain of each added or removed edge."""

    def __init__(self, scores: FamilyScoring, rules: Constraints) -> None:
        self.scores, self.n = scores, len(scores.names)
        self.allowed = rules.allowed(scores.names)
        self.candidates = [np.flatnonzero(column).tolist() for column in self.allowed.T]  # parents of each node
        self.most = rules.most(self.n)
        self.fixed = rules.fixed(scores.names)
        self.begin([set(np.flatnonzero(column).tolist()) for column in self.fixed.T])
        self.score_all()
        if (self.now == -math.inf).any():
            raise ParameterError(
                f"{scores.names[int(np.argmin(self.now))]} has required parents with more than {MOST_CELLS:,} cells, "
                "or too few rows for them",
                fix="require fewer of them",
            )
        self.n_changes = 0

    def begin(self, parents: list[set[int]]) -> None:
        """Replace all edges by those of a graph."""
        self.changes = _kernels.EdgeChanges(self.allowed, self.fixed)
        self.above: list[set[int]] = [set() for _ in range(self.n)]
        for child, above in enumerate(parents):
            for parent in above:
                self.put(parent, child)

    def score_all(self) -> None:
        """Score the graph as the best so far; the gains of changes are not known yet."""
        self.now = np.array([self.scores.family(node, above) for node, above in enumerate(self.above)])  # (n,)
        self.fresh = [False] * self.n
        self.best = self.state()

    @property
    def score(self) -> float:
        return math.fsum(self.now.tolist())

    @property
    def rounding(self) -> float:
        return _ROUNDING * (1.0 + float(np.abs(self.now).sum()))

    def state(self) -> _State:
        return _State([set(above) for above in self.above], self.score)

    # -- edges --------------------------------------------------------------------------------------------------
    def put(self, parent: int, child: int) -> None:
        self.changes.put(parent, child)
        self.above[child].add(parent)

    def drop(self, parent: int, child: int) -> None:
        self.changes.drop(parent, child)
        self.above[child].remove(parent)

    # -- gains of changes ---------------------------------------------------------------------------------------
    def refresh_all(self, progress: Progress) -> None:
        for node in range(self.n):
            if not self.fresh[node]:
                self.refresh(node)
                progress("columns scored", node + 1, self.n)

    def refresh(self, node: int) -> None:
        above = sorted(self.above[node])
        self.now[node] = now = self.scores.family(node, above)
        new = [other for other in self.candidates[node] if other not in self.above[node]]
        new = new if len(above) < self.most else []
        gains = (self.scores.additions(node, above, new) - now).tolist() if new else []
        gains += [self.scores.family(node, [each for each in above if each != other]) - now for other in above]
        self.changes.set_gains(node, [*new, *above], gains)
        self.fresh[node] = True

    # -- steps --------------------------------------------------------------------------------------------------
    def step(self, tabu: Sequence[tuple[int, int]], *, losing: bool) -> tuple[int, int] | None:
        """Make the best allowed change; returns its two nodes, or None if there is no such change."""
        found = self.changes.best(tabu, self.rounding, losing)
        if found is None:
            return None
        parent, child, turned = found
        self.n_changes += 1
        if parent in self.above[child]:
            self.drop(parent, child)
        else:
            self.put(parent, child)
        if turned:
            self.put(child, parent)
            self.refresh(parent)
        self.refresh(child)
        return parent, child

    def perturb(self, start: list[set[int]], generator: np.random.Generator) -> None:
        """Continue at a graph with a random share of its edges reversed or removed."""
        self.begin(start)
        edges = sorted((parent, child) for child, above in enumerate(start) for parent in above)
        loose = [edge for edge in edges if not self.fixed[edge]]
        for place in np.flatnonzero(generator.random(len(loose)) < generator.uniform(*_PERTURBED)).tolist():
            parent, child = loose[place]
            self.drop(parent, child)
            if generator.random() < _REVERSED and self.fits(child, parent):
                self.put(child, parent)
        self.score_all()

    def fits(self, parent: int, child: int) -> bool:
        """Whether an edge may be added."""
        above = self.above[child]
        if not self.allowed[parent, child] or len(above) >= self.most or self.changes.leads(child, parent):
            return False
        return self.scores.family(child, (*above, parent)) > -math.inf


_GAIN = 1e-9  # a parent must gain more than rounding


def k2(scores: FamilyScoring, order: Sequence[str], constraints: Constraints | None = None) -> Parents:
    """K2 (Cooper and Herskovits): in a given order, each node adds the earlier node that gains most until none does."""
    rules = constraints or Constraints()
    places = {name: place for place, name in enumerate(scores.names)}
    if sorted(order) != sorted(places):
        raise ParameterError("the order does not name every column once", fix=f"order all of {', '.join(places)}")
    allowed, required, most = rules.allowed(scores.names), rules.start(scores.names), rules.most(len(places))
    parents: Parents = [()] * len(places)
    for rank, name in enumerate(order):
        node, earlier = places[name], [places[each] for each in order[:rank]]
        above = set(required[node])
        if not above <= set(earlier):
            late = next(scores.names[k] for k in sorted(above) if k not in earlier)
            raise ParameterError(
                f"the edge {late} -> {name} is required, but {late} comes later", fix="change the order"
            )
        best = scores.family(node, above)
        while len(above) < most:
            left = [k for k in sorted(earlier) if k not in above and allowed[k, node]]
            trials = scores.additions(node, above, left)
            if not left or float(trials.max()) <= best + _GAIN:
                break
            best = float(trials.max())
            above.add(left[int(np.argmax(trials))])
        parents[node] = tuple(sorted(above))
    return parents
