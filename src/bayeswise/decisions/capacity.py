"""Decisions under limits: at most so many rows may take an action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswise.decisions.decide import Decisions
from bayeswise.decisions.places import least_cost_places
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.labels import Label


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
    number = isinstance(most, int | float | np.integer | np.floating) and not isinstance(most, bool)
    if not number or not most >= 0 or (isinstance(most, float) and most > 1.0):
        raise ParameterError(
            f"at most {most!r} rows may take {action!r}", fix="give a number of rows (5), or a share of them (0.05)"
        )
    return int(most) if isinstance(most, int | np.integer) else int(np.floor(most * n_rows + 1e-9))


def _by_threshold(decisions: Decisions, limited: int, most: int) -> tuple[IntArray, dict[int, float]]:
    wanted = np.flatnonzero(decisions.best == limited)
    if len(wanted) <= most:
        return decisions.best, {limited: 0.0}
    others = decisions.expected_cost.copy()
    others[:, limited] = np.inf
    second = np.argmin(others, axis=1)
    saved = (others[np.arange(len(others)), second] - decisions.expected_cost[:, limited])[wanted]
    order = np.argsort(-saved, kind="stable")
    best = decisions.best.copy()
    gone = wanted[order[most:]]
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
