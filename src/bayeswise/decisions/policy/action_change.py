"""What would have to change for another action to be the best one: the search behind `ActionAccount.least_change`.

Which of several changes is the least is said in `explanations/nearest.py`, the same as for another class.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.warnings import scaled
from bayeswise.explanations import Account, Flip
from bayeswise.explanations.alternatives import Alternatives, known_columns
from bayeswise.explanations.answered import AnsweredAccount
from bayeswise.explanations.nearest import Changes, Nearest, single_changes
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.tables.schema.labels import Label


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """Which columns of a case to change, so that its action is no longer the best."""

    account: Account  # of the states
    costs: Costs  # of this case
    action: Label

    def least(self, alternatives: Alternatives, to: Any = None, *, keep: Collection[str] = ()) -> Flip | None:
        """The least change that makes another action the best one, or the named one; None if none does."""
        known_columns([*alternatives, *keep], self.account)
        offered = {c: tuple(others) for c, others in alternatives.items() if c not in keep}
        requested = None if to is None else self.costs.action(to)
        nearest = Nearest(self.account, offered, partial(self._reached, requested=requested))
        one = nearest.of_one_column()
        if one is not None:
            return self._flip(one, proven=True)
        targets = range(len(self.costs.actions)) if requested is None else [requested]
        plans = [plan for k in targets if (plan := self._climb(offered, k, requested)) is not None]
        if not plans:
            return None
        fewest = nearest.pulled_back(min(plans, key=len))
        return self._flip(fewest, proven=self.account.greedy_is_least and requested is None)

    def by_answers(self, account: AnsweredAccount, to: Any = None, *, keep: Collection[str] = ()) -> Flip | None:
        """The same where columns go together: the model itself evaluates each change."""
        known_columns(keep, account)
        requested = None if to is None else self.costs.action(to)

        def saved(log_posterior: FloatArray) -> FloatArray:
            return self._saved(log_posterior, requested)

        found = account.least_change(saved, keep=keep)
        if found is None:
            return None
        changes, proven = found
        to_action = int(np.argmin(expected_costs(account.changed(changes), self.costs.table)))
        return Flip.of_values(account, changes, self.action, self.costs.actions[to_action], proven=proven)

    def _expected(self, log_joint: FloatArray) -> FloatArray:
        """(n, n_actions) expected costs, scaled."""
        top = log_joint.max(axis=1, keepdims=True)
        share = np.exp(log_joint - np.where(np.isfinite(top), top, 0.0))
        share /= np.maximum(share.sum(axis=1, keepdims=True), np.finfo(float).tiny)  # 0 where every state is impossible
        return np.asarray(share @ scaled(self.costs.table).T)

    def _saved(self, log_joint: FloatArray, requested: int | None) -> FloatArray:
        """(n,) what the requested action saves over all others, or the best other one over the current action."""
        expected = self._expected(log_joint)
        one = self.costs.action(self.action) if requested is None else requested
        less = np.delete(expected, one, axis=1).min(axis=1) - expected[:, one]
        return np.asarray(-less if requested is None else less)

    def _reached(self, log_joint: FloatArray, requested: int | None) -> tuple[BoolArray, FloatArray]:
        """Whether another action (or the requested one) is the best, of equal ones the first, and what it saves."""
        possible = (log_joint > -np.inf).any(axis=1)
        best = np.argmin(self._expected(log_joint), axis=1)
        changed = best != self.costs.action(self.action) if requested is None else best == requested
        return possible & changed, self._saved(log_joint, requested)

    def _action_of(self, changes: Changes) -> int:
        return int(np.argmin(expected_costs(self.account.with_changes(changes), self.costs.table)))

    def _changed(self, changes: Changes, requested: int | None) -> bool:
        log_joint = self.account.with_changes(changes).log_joint
        if np.isneginf(log_joint).all():
            return False
        now = self._action_of(changes)
        return now != self.costs.action(self.action) if requested is None else now == requested

    def _climb(self, offered: Alternatives, target: int, requested: int | None) -> Changes | None:
        """The column that helps the target most, again and again."""
        saved = half_saved(self.costs, self.costs.action(self.action), target)
        changes: Changes = {}
        now = lead(self.account.log_joint, saved)
        while not self._changed(changes, requested):
            options, log_joint = single_changes(self.account, offered, changes)
            leads = [lead(each, saved) for each in log_joint]
            best = int(np.argmin(leads)) if leads else -1
            if best < 0 or not leads[best] < now:
                return None
            now = leads[best]
            changes[options[best].column] = options[best]
        return changes or None

    def _flip(self, changes: Changes, *, proven: bool) -> Flip:
        to = self.costs.actions[self._action_of(changes)]
        return Flip.of(self.account, changes, self.action, to, proven=proven)


def expected_costs(account: Account, table: FloatArray) -> FloatArray:
    """(n_actions,) sum_s p(s | row) cost[a][s]."""
    return np.asarray((table * account.posterior).sum(axis=1))


def half_saved(costs: Costs, action: int, rival: int) -> FloatArray:
    """(n_states,) half of what an action costs less than its rival in each state: no difference is too large."""
    saved: FloatArray = 0.5 * costs.table[rival] - 0.5 * costs.table[action]
    return saved


def lead(log_joint: FloatArray, saved: FloatArray) -> float:
    """log of gain over loss: above 0 where the action is cheaper; infinite where one of them is nothing."""
    live = log_joint > -np.inf
    gain = live & (saved > 0.0)
    loss = live & (saved < 0.0)
    if not loss.any():
        return math.inf
    if not gain.any():
        return -math.inf
    gained, lost = (log_sum_exp(log_joint[these] + np.log(np.abs(saved[these]))) for these in (gain, loss))
    return float(gained - lost)
