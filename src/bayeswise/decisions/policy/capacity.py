"""Decisions under limits: at most N rows may take an action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayeswise.decisions.decide import Decisions
from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.schema.labels import Label


@dataclass(frozen=True)
class Limited:
    """The decisions that cost least within the limits, and the price of one more place for each limited action."""

    decisions: Decisions
    price: dict[Label, float]  # what a row must save by the action before it gets a place
    n_moved: int  # rows that would have acted differently without limits


def within_capacity(decisions: Decisions, at_most: Mapping[Any, float]) -> Limited:
    """Choose at least total expected cost with at most N rows (an integer) or a share of rows (a float) in an action.

    One limit is solved by its dual: the N rows that save most by the action, in the order of the table where they
    save the same. Several limits are a transport problem: each has its price, and the last few rows move in chains.

    >>> from bayeswise.decisions import decide
    >>> spam = np.array([0.6, 0.7, 0.8, 0.9])
    >>> mail = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}
    >>> answer = within_capacity(decide({"spam": spam, "ham": 1 - spam}, mail), {"ask": 2})
    >>> answer.decisions.action.tolist(), {action: round(price, 6) for action, price in answer.price.items()}
    (['keep', 'keep', 'ask', 'ask'], {'ask': 0.2})
    """
    limits = {decisions.costs.action(action): _count(action, most, len(decisions)) for action, most in at_most.items()}
    if len(limits) >= len(decisions.actions) and sum(limits.values()) < len(decisions):
        raise ParameterError(
            f"{sum(limits.values())} places for {len(decisions)} rows", fix="leave one action without a limit"
        )
    if not len(decisions):
        return Limited(decisions, {decisions.actions[k]: 0.0 for k in limits}, 0)
    if len(limits) == 1:
        ((limited, most),) = limits.items()
        best, prices = _by_threshold(decisions, limited, most)
    else:
        best = least_cost_places(decisions.expected_cost, limits)
        prices = _prices(decisions.expected_cost, best, limits)
    named = {decisions.actions[k]: price for k, price in prices.items()}
    return Limited(replace(decisions, best=best), named, int(np.count_nonzero(best != decisions.best)))


def _count(action: Any, most: float, n_rows: int) -> int:
    if not is_number(most) or not most >= 0 or (isinstance(most, float) and most > 1.0):
        raise ParameterError(
            f"at most {most!r} rows may take {action!r}", fix="give a number of rows (5), or a share of them (0.05)"
        )
    return int(most) if isinstance(most, int | np.integer) else int(np.floor(most * n_rows + 1e-9))


def _by_threshold(decisions: Decisions, limited: int, most: int) -> tuple[IntArray, dict[int, float]]:
    rows = np.flatnonzero(decisions.best == limited)
    if len(rows) <= most:
        return decisions.best, {limited: 0.0}
    others = decisions.expected_cost.copy()
    others[:, limited] = np.inf
    second = np.argmin(others, axis=1)
    saved = (others[np.arange(len(others)), second] - decisions.expected_cost[:, limited])[rows]
    order = np.argsort(-saved, kind="stable")
    best = decisions.best.copy()
    gone = rows[order[most:]]
    best[gone] = second[gone]
    return best, {limited: float(saved[order[most]])}


def _prices(cost: FloatArray, best: IntArray, limits: Mapping[int, int]) -> dict[int, float]:
    """What one more place saves: the cheapest chain of rows, each moving into the place that the next one leaves."""
    n_actions = cost.shape[1]
    step = np.full((n_actions, n_actions), np.inf)  # of the cheapest row from one action to another
    for a in range(n_actions):
        rows = cost[best == a]
        if len(rows):
            step[a] = (rows - rows[:, [a]]).min(axis=0)
    chain = np.zeros(n_actions)
    for _ in range(n_actions):
        chain = np.minimum(chain, (chain[:, None] + step).min(axis=0))
    full = {k: int(np.count_nonzero(best == k)) >= most for k, most in limits.items()}
    return {k: float(-chain[k]) if full[k] else 0.0 for k in limits}


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
    """(n_actions,) prices at which no limited action is best for many more rows than it has places.

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
