"""Actions when no prior can be trusted: the least that can happen at worst, in cost or in regret."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError
from bayeswise.render.numbers import number
from bayeswise.tables.schema.labels import Label


@dataclass(frozen=True)
class Cautious:
    """The best single action at worst, and the best mixture of actions, which is never worse."""

    action: Label
    worst: float  # cost or regret of the action in its worst state
    mixture: dict[Label, float]  # the share of each action
    mixture_worst: float
    least_favourable: dict[Label, float]  # the prior under which nothing is better than the mixture

    def __repr__(self) -> str:
        shares = ", ".join(f"{action} {number(share)}" for action, share in self.mixture.items() if share > 0)
        return f"Cautious({self.action}: {number(self.worst, 6)}; mixed {shares}: {number(self.mixture_worst, 6)})"


def minimax(costs: Any) -> Cautious:
    """min_a max_s cost[a][s]: no belief about the states at all.

    >>> minimax({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 2, "ham": 0}, "ask": 1.5})
    Cautious(ask: 1.5; mixed ask 1: 1.5)
    """
    table = Costs.of(costs)
    return _cautious(table, table.table)


def minimax_regret(costs: Any) -> Cautious:
    """min_a max_s (cost[a][s] - min_b cost[b][s]): at worst, how much more than the best action would have cost.

    >>> minimax_regret({"bin": {"spam": 4, "ham": 9}, "keep": {"spam": 7, "ham": 5}, "ask": 6})
    Cautious(ask: 2; mixed bin 0.2, ask 0.8: 1.6)
    """
    table = Costs.of(costs)
    with np.errstate(over="ignore"):
        regret = table.table - table.table.min(axis=0)  # (n_actions, n_states)
    if not np.isfinite(regret).all():
        raise CostError("the regret exceeds the largest float", fix="write the costs in a larger unit")
    return _cautious(table, regret)


def _cautious(costs: Costs, losses: FloatArray) -> Cautious:
    worst = losses.max(axis=1)  # (n_actions,)
    best = int(np.argmin(worst))
    shares, prior, value = _saddle(losses)
    return Cautious(
        costs.actions[best],
        float(worst[best]),
        dict(zip(costs.actions, shares.tolist(), strict=True)),
        value,
        dict(zip(costs.states, prior.tolist(), strict=True)),
    )


def _saddle(losses: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """The mixture, the least favourable prior and the value of the game, by a linear program.

    The program gets losses from 0 to 1, as its tolerances are made for such numbers.
    """
    from scipy.optimize import linprog

    n_actions, n_states = losses.shape
    low, spread = float(losses.min()), float(losses.max() / 2 - losses.min() / 2)  # half, which cannot overflow
    if spread == 0.0:
        return np.eye(n_actions)[0], np.full(n_states, 1.0 / n_states), low
    unit = (losses / 2 - low / 2) / spread
    answer = linprog(
        c=np.r_[np.zeros(n_actions), 1.0],
        A_ub=np.c_[unit.T, -np.ones(n_states)],
        b_ub=np.zeros(n_states),
        A_eq=[np.r_[np.ones(n_actions), 0.0]],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * n_actions + [(None, None)],
    )
    prior = np.maximum(-answer.ineqlin.marginals, 0.0)
    value = low + 2.0 * (spread * float(answer.x[-1]))
    return np.maximum(answer.x[:-1], 0.0), prior / prior.sum(), value
