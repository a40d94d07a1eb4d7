"""Who gets the places: rows assigned to actions at least total cost, where several actions have limits.

A price on each limited action makes rows leave it of their own accord. Prices rise from zero until nobody is turned
away, or nearly so; the last rows are then moved one chain at a time, each chain the cheapest there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray

_ROUNDS = 100  # of raising prices
_MANY_ROWS = 100_000
_ROUNDING = 1e-13  # of the largest cost: a chain that saves less saves nothing


def least_cost_places(cost: FloatArray, limits: Mapping[int, int]) -> IntArray:
    """(n_rows,) the action of each row: min sum_i cost[i, a_i] with at most limits[k] rows in action k.

    >>> least_cost_places(np.array([[0.0, 3.0, 9.0], [0.0, 5.0, 6.0], [0.0, 4.0, 9.0]]), {0: 1, 1: 1}).tolist()
    [1, 2, 0]
    """
    best = np.asarray(np.argmin(cost + rising_prices(cost, limits), axis=1))
    if len(cost):
        _Exchange(cost, best, limits).settle()
    return best


def rising_prices(cost: FloatArray, limits: Mapping[int, int]) -> FloatArray:
    """(n_actions,) prices at which no limited action is wanted by many more rows than it has places.

    One price after the other becomes the least at which its action is not overrun, given the others. Many rows begin
    with the prices of a part of them, which are nearly right.
    """
    price = np.zeros(cost.shape[1])
    if len(cost) > _MANY_ROWS:
        part = cost[:: len(cost) * 10 // _MANY_ROWS]
        price = rising_prices(part, {k: most * len(part) // len(cost) for k, most in limits.items()})
    for _ in range(_ROUNDS):
        before = price.copy()
        for k, most in limits.items():
            if most < len(cost):
                elsewhere = cost + price
                elsewhere[:, k] = np.inf
                saved = elsewhere.min(axis=1) - cost[:, k]
                at = len(cost) - 1 - most  # all but the `most` rows that save more than this
                price[k] = max(0.0, float(np.partition(saved, at)[at]))
        if not np.isfinite(price).all() or np.array_equal(price, before):
            break
    return np.where(np.isfinite(price), price, 0.0)


class Chain(NamedTuple):
    """Actions through which places are handed on, and what that costs."""

    actions: list[int]
    cost: float


class _Exchange:
    """Rows that move along chains of actions until all limits hold and no chain saves anything."""

    def __init__(self, cost: FloatArray, best: IntArray, limits: Mapping[int, int]) -> None:
        self.cost, self.best = cost, best
        n_rows, n_actions = cost.shape
        self.most = np.array([limits.get(k, n_rows) for k in range(n_actions)])
        self.count = np.bincount(best, minlength=n_actions)
        self.tolerance = _ROUNDING * float(np.abs(cost).max())
        self.step = np.full((n_actions, n_actions), np.inf)  # of the cheapest row from one action to another
        for a in range(n_actions):
            self._look_at(a)

    def settle(self) -> None:
        """First the chains that save something, then those that empty what is too full; both keep the rest optimal."""
        everywhere = np.ones(len(self.most), dtype=bool)
        while (chain := self._cheapest(everywhere)).cost < -self.tolerance:
            self._move(chain)
        while (full := self.count > self.most).any():
            self._move(self._cheapest(full))

    def _cheapest(self, start: BoolArray) -> Chain:
        """From one of the actions to one with room."""
        n_actions = len(self.most)
        reach = np.where(start, 0.0, np.inf)
        before = np.full(n_actions, -1)
        for _ in range(n_actions):
            via = reach[:, None] + self.step
            nearest = np.argmin(via, axis=0)
            shorter = via[nearest, np.arange(n_actions)] < reach - self.tolerance
            if not shorter.any():
                break
            before[shorter] = nearest[shorter]
            reach = np.where(shorter, via[nearest, np.arange(n_actions)], reach)
        ends = np.where((self.count < self.most) & (before >= 0), reach, np.inf)
        last = int(np.argmin(ends))
        actions = [last]
        while before[actions[-1]] >= 0 and len(actions) <= n_actions:
            actions.append(int(before[actions[-1]]))
        return Chain(actions[::-1], float(ends[last]))

    def _move(self, chain: Chain) -> None:
        """As many rows as cost the same, and no more than are too many or find room."""
        steps = list(pairwise(chain.actions))
        movers = [self._movers(a, b) for a, b in steps]
        first, last = chain.actions[0], chain.actions[-1]
        too_many = int(self.count[first] - self.most[first])
        room = int(self.most[last] - self.count[last])
        n = min(room, *(len(rows) for rows in movers), *([too_many] if too_many > 0 else []))
        for (_, b), rows in zip(steps, movers, strict=True):
            self.best[rows[-n:]] = b  # of equal rows those that stand first keep their place
        self.count[first] -= n
        self.count[last] += n
        for a in chain.actions:
            self._look_at(a)

    def _movers(self, a: int, b: int) -> IntArray:
        rows = np.flatnonzero(self.best == a)
        cheapest: IntArray = rows[self.cost[rows, b] - self.cost[rows, a] == self.step[a, b]]
        return cheapest

    def _look_at(self, a: int) -> None:
        rows = self.cost[self.best == a]
        self.step[a] = (rows - rows[:, [a]]).min(axis=0) if len(rows) else np.inf
        self.step[a, a] = np.inf
