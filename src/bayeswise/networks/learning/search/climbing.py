"""Hill climbing: one edge at a time, past local optima by forbidding what was just done, and by random restarts."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.constraints import Constraints, Parents, Progress, Search, silent
from bayeswise.networks.learning.search.scores import MOST_CELLS, FamilyScoring

_ROUNDING = 1e-13  # of a sum of scores, relative to it: a change must be worth more
_SHAKEN = (0.2, 0.8)  # the share of edges that a restart changes lies in between
_TURNED = 0.7  # the share of these that is reversed; the others are removed


def climb(scores: FamilyScoring, constraints: Constraints | None = None, *, tabu: int = 10) -> Parents:
    """The parents of each node in the best graph that hill climbing meets."""
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
    """Add, take away or reverse the edge that gains most, until none does; the best graph that was met.

    Where no change gains, up to `tabu` changes that lose least are tried, none of which undoes one of the last `tabu`;
    they may lead out of a local optimum. Each restart turns or drops edges of the best graph at random and climbs
    again; None restarts until a number of climbs in a row, `patience`, found nothing better. The same seed gives the
    same graph. Ctrl-C gives the best so far.
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
                climber.shake(best.parents, np.random.default_rng([seed, round_]))
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
    idle, last = 0, deque[frozenset[int]](maxlen=tabu)
    climber.refresh_all(progress)
    while idle <= tabu:
        pair = climber.step(last if idle else (), losing=tabu > 0)
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
    """`gain[u, v]` is what toggling the edge u -> v adds to the score of v; only column v changes with v."""

    def __init__(self, scores: FamilyScoring, rules: Constraints) -> None:
        self.scores, self.n = scores, len(scores.names)
        self.allowed = rules.allowed(scores.names)
        self.most = rules.most(self.n)
        self.fixed = rules.fixed(scores.names)
        self.turnable = ~self.fixed & self.allowed.T
        self.edge = np.zeros((self.n, self.n), dtype=bool)  # [parent, child]
        self.ancestors = np.eye(self.n, dtype=bool)  # [node, ancestor or itself]
        self.above: list[set[int]] = [set() for _ in range(self.n)]
        for parent, child in np.argwhere(self.fixed.T)[:, ::-1].tolist():
            self.put(parent, child)
        self.now = np.array([scores.family(node, self.above[node]) for node in range(self.n)])
        if (self.now == -math.inf).any():
            raise ParameterError(
                f"{scores.names[int(np.argmin(self.now))]} has required parents with more than {MOST_CELLS:,} cells, "
                "or too few rows for them",
                fix="require fewer of them",
            )
        self.gain = np.full((self.n, self.n), -math.inf)
        self.fresh = np.zeros(self.n, dtype=bool)
        self.n_changes = 0
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
        self.edge[parent, child] = True
        self.above[child].add(parent)
        self.ancestors[self.ancestors[:, child]] |= self.ancestors[parent]

    def drop(self, parent: int, child: int) -> None:
        self.edge[parent, child] = False
        self.above[child].remove(parent)
        below = np.flatnonzero(self.ancestors[:, child])
        for node in below[np.argsort(self.ancestors[below].sum(axis=1), kind="stable")].tolist():  # ancestors first
            self.ancestors[node] = False
            self.ancestors[node, node] = True
            for other in self.above[node]:
                self.ancestors[node] |= self.ancestors[other]

    # -- what each change is worth ------------------------------------------------------------------------------
    def refresh_all(self, progress: Progress) -> None:
        for node in np.flatnonzero(~self.fresh).tolist():
            self.refresh(node)
            progress("columns scored", node + 1, self.n)

    def refresh(self, node: int) -> None:
        above = sorted(self.above[node])
        self.now[node] = now = self.scores.family(node, above)
        gain = self.gain[:, node]
        gain.fill(-math.inf)
        if len(above) < self.most:
            candidates = (self.allowed[:, node] & ~self.edge[:, node]).nonzero()[0]
            if len(candidates):
                gain[candidates] = self.scores.additions(node, above, candidates.tolist()) - now
        for other in above:
            gain[other] = self.scores.family(node, [each for each in above if each != other]) - now
        self.fresh[node] = True

    def changes(self) -> tuple[FloatArray, FloatArray]:
        """(n, n) what it gains to add an edge or take it away, and to reverse it; minus infinity if not allowed."""
        toggle = self.gain.copy()
        closing = self.ancestors  # u -> v closes a cycle if v leads to u
        toggle[self.edge & self.fixed | self.edge.T | closing] = -math.inf
        turn = np.full_like(toggle, -math.inf)
        parents, children = (self.edge & self.turnable).nonzero()
        turn[parents, children] = self.gain[parents, children] + self.gain[children, parents]
        return toggle, turn

    # -- steps --------------------------------------------------------------------------------------------------
    def step(self, tabu: Collection[frozenset[int]], *, losing: bool) -> frozenset[int] | None:
        """Make the best change that is allowed: the two nodes, None if there is no such change."""
        toggle, turn = self.changes()
        rounding = self.rounding
        for pair in tabu:
            one, other = pair
            for table in (toggle, turn):
                table[one, other] = table[other, one] = -math.inf
        best_toggle = float(toggle.max(initial=-math.inf))
        while True:
            best = max(best_toggle, float(turn.max(initial=-math.inf)))
            if best == -math.inf or (best <= rounding and not losing):
                return None
            # Equal gains differ by rounding: the first in the order of columns is taken.
            near = best - rounding
            turned = best_toggle < near
            parent, child = divmod(int(np.argmax((turn if turned else toggle) >= near)), self.n)
            if turned and self.leads_around(parent, child):
                turn[parent, child] = -math.inf
                continue
            self.apply(parent, child, turned)
            return frozenset((parent, child))

    def leads_around(self, parent: int, child: int) -> bool:
        """Whether a path other than the edge itself leads from parent to child."""
        return any(self.ancestors[other, parent] for other in self.above[child] if other != parent)

    def apply(self, parent: int, child: int, turned: bool) -> None:
        self.n_changes += 1
        if self.edge[parent, child]:
            self.drop(parent, child)
        else:
            self.put(parent, child)
        if turned:
            self.put(child, parent)
            self.refresh(parent)
        self.refresh(child)

    def shake(self, start: list[set[int]], generator: np.random.Generator) -> None:
        """A graph with a random share of its edges reversed or taken away."""
        self.edge[:], self.ancestors[:] = False, np.eye(self.n, dtype=bool)
        self.above = [set() for _ in range(self.n)]
        for child, above in enumerate(start):
            for parent in above:
                self.put(parent, child)
        self.fresh[:] = False
        parents, children = np.nonzero(self.edge & ~self.fixed)
        for place in np.flatnonzero(generator.random(len(parents)) < generator.uniform(*_SHAKEN)).tolist():
            parent, child = int(parents[place]), int(children[place])
            self.drop(parent, child)
            if generator.random() < _TURNED and self.fits(child, parent):
                self.put(child, parent)
        self.now = np.array([self.scores.family(node, self.above[node]) for node in range(self.n)])
        self.best = self.state()

    def fits(self, parent: int, child: int) -> bool:
        """Whether an edge may be added."""
        above = self.above[child]
        if not self.allowed[parent, child] or len(above) >= self.most or self.ancestors[parent, child]:
            return False
        return self.scores.family(child, (*above, parent)) > -math.inf


_GAIN = 1e-9  # a parent must be worth more than rounding


def k2(
    scores: FamilyScoring,
    order: Sequence[str],
    constraints: Constraints | None = None,
    *,
    max_parents: int | None = None,
) -> Parents:
    """Cooper and Herskovits: along an order, each node takes the earlier node that helps most, until none does."""
    rules = constraints or Constraints(max_parents=max_parents)
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
