"""Hill climbing: one edge at a time, past local optima by forbidding what was just done, and by random restarts."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.constraints import Constraints
from bayeswise.networks.learning.scores import Scores
from bayeswise.networks.learning.watching import Parents, Progress, Search, silent

_ROUNDING = 1e-13  # of a sum of scores, relative to it: a change must be worth more
_SHAKES = 5  # a restart makes at least so many random changes


def climb(scores: Scores, constraints: Constraints | None = None, *, tabu: int = 10) -> Parents:
    """The parents of each node in the best graph that hill climbing meets."""
    return hill_climbing(scores, constraints, tabu=tabu).parents


def hill_climbing(
    scores: Scores,
    constraints: Constraints | None = None,
    *,
    tabu: int = 10,
    restarts: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Search:
    """Add, take away or turn round the edge that gains most, until none does; the best graph that was met.

    Where no change gains, up to `tabu` changes that lose least are tried, none of which undoes one of the last `tabu`;
    they may lead out of a local optimum. Each restart changes the best graph at random and climbs again; the same seed
    gives the same graph. Ctrl-C gives the best so far.
    """
    if tabu < 0 or restarts < 0:
        raise ParameterError(f"tabu is {tabu} and restarts is {restarts}", fix="give numbers from 0 on")
    climber = _Climber(scores, constraints or Constraints())
    best, best_score = climber.copy(), climber.score
    try:
        for round_ in range(restarts + 1):
            if round_:
                climber.shake(best, np.random.default_rng([seed, round_]))
            found, score = _climbed(climber, tabu, progress)
            if score > best_score + climber.rounding:
                best, best_score = found, score
    except KeyboardInterrupt:
        if climber.score > best_score:
            best, best_score = climber.copy(), climber.score
        return Search(best, best_score, interrupted=True)
    return Search(best, best_score)


def _climbed(climber: _Climber, tabu: int, progress: Progress) -> tuple[Parents, float]:
    best, best_score, idle = climber.copy(), climber.score, 0
    last = deque[frozenset[int]](maxlen=tabu)
    climber.refresh_all(progress)
    while idle <= tabu:
        pair = climber.step(last if idle else (), losing=tabu > 0)
        if pair is None:
            break
        progress("edges changed", climber.n_changes, None)
        last.append(pair)
        idle += 1
        if climber.score > best_score + climber.rounding:
            best, best_score, idle = climber.copy(), climber.score, 0
    return best, best_score


class _Climber:
    """`gain[u, v]` is what toggling the edge u -> v adds to the score of v; only column v changes with v."""

    def __init__(self, scores: Scores, rules: Constraints) -> None:
        self.scores, self.n = scores, len(scores.names)
        self.may = rules.allowed(scores.names)
        self.most = rules.most(self.n)
        self.fixed = np.zeros((self.n, self.n), dtype=bool)
        self.edge = np.zeros((self.n, self.n), dtype=bool)  # [parent, child]
        for child, above in enumerate(rules.start(scores.names)):
            self.fixed[sorted(above), child] = self.edge[sorted(above), child] = True
        self.now = np.array([scores.family(node, self.above(node)) for node in range(self.n)])
        self.gain = np.full((self.n, self.n), -math.inf)
        self.fresh = np.zeros(self.n, dtype=bool)
        self.n_changes = 0

    @property
    def score(self) -> float:
        return math.fsum(self.now)

    @property
    def rounding(self) -> float:
        return _ROUNDING * (1.0 + float(np.abs(self.now).sum()))

    def above(self, node: int) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.edge[:, node]).tolist())

    def copy(self) -> Parents:
        return [self.above(node) for node in range(self.n)]

    # -- what each change is worth ------------------------------------------------------------------------------
    def refresh_all(self, progress: Progress) -> None:
        for node in np.flatnonzero(~self.fresh).tolist():
            self.refresh(node)
            progress("columns scored", node + 1, self.n)

    def refresh(self, node: int) -> None:
        above = self.above(node)
        self.now[node] = self.scores.family(node, above)
        self.gain[:, node] = -math.inf
        candidates = np.flatnonzero(self.may[:, node] & ~self.edge[:, node])
        if len(candidates) and len(above) < self.most:
            self.gain[candidates, node] = self.scores.additions(node, above, candidates.tolist()) - self.now[node]
        for other in above:
            fewer = [each for each in above if each != other]
            self.gain[other, node] = self.scores.family(node, fewer) - self.now[node]
        self.fresh[node] = True

    def changes(self) -> tuple[FloatArray, FloatArray]:
        """(n, n) what it gains to add an edge or take it away, and to turn it round; minus infinity if not allowed."""
        toggle = np.where(self.edge & self.fixed, -math.inf, self.gain)
        toggle[self.edge.T | (self.led_to() & ~self.edge)] = -math.inf
        turn = np.full((self.n, self.n), -math.inf)
        parents, children = np.nonzero(self.edge & ~self.fixed & self.may.T)
        turn[parents, children] = self.gain[parents, children] + self.gain[children, parents]
        return toggle, turn

    def led_to(self) -> BoolArray:
        """[u, v] whether a path leads from v to u, so that u -> v would close a circle."""
        led = np.eye(self.n, dtype=bool)
        waiting, left = np.flatnonzero(~self.edge.any(axis=0)).tolist(), self.edge.sum(axis=0)
        while waiting:
            node = waiting.pop()
            for child in np.flatnonzero(self.edge[node]).tolist():
                led[child] |= led[node]
                left[child] -= 1
                if left[child] == 0:
                    waiting.append(child)
        return led  # [node, ancestor]

    # -- steps --------------------------------------------------------------------------------------------------
    def step(self, tabu: Collection[frozenset[int]], *, losing: bool) -> frozenset[int] | None:
        """Make the best change that is allowed: the two nodes, None if there is no such change."""
        toggle, turn = self.changes()
        for pair in tabu:
            one, other = pair
            for table in (toggle, turn):
                table[one, other] = table[other, one] = -math.inf
        while True:
            best = max(float(toggle.max(initial=-math.inf)), float(turn.max(initial=-math.inf)))
            if best == -math.inf or (best <= self.rounding and not losing):
                return None
            # Equal gains differ by rounding: the first in the order of columns is taken.
            near = best - self.rounding
            turned = not (toggle >= near).any()
            parent, child = divmod(int(np.argmax((turn if turned else toggle) >= near)), self.n)
            if turned and self.leads_around(parent, child):
                turn[parent, child] = -math.inf
                continue
            self.apply(parent, child, turned)
            return frozenset((parent, child))

    def leads_around(self, parent: int, child: int) -> bool:
        """Whether a path other than the edge itself leads from parent to child."""
        led = self.led_to()
        return any(led[other, parent] for other in self.above(child) if other != parent)

    def apply(self, parent: int, child: int, turned: bool) -> None:
        self.edge[parent, child] ^= True
        self.n_changes += 1
        if turned:
            self.edge[child, parent] = True
            self.refresh(parent)
        self.refresh(child)

    def shake(self, start: Parents, generator: np.random.Generator) -> None:
        """Some random changes to a graph."""
        self.edge[:] = False
        for child, above in enumerate(start):
            self.edge[list(above), child] = True
        self.fresh[:] = False
        for _ in range(_SHAKES + self.n // 4):
            full = self.edge.sum(axis=0) >= self.most
            adds = self.may & ~self.edge & ~self.edge.T & ~self.led_to() & ~full
            parents, children = np.nonzero(adds | (self.edge & ~self.fixed))
            if len(parents):
                pick = int(generator.integers(len(parents)))
                self.edge[parents[pick], children[pick]] ^= True
        self.now = np.array([self.scores.family(node, self.above(node)) for node in range(self.n)])
