"""How probably a decision is the best one, when the posterior is not known exactly: samples of it instead of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import columns_for, decide_rows
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.normalise import check_posterior
from bayeswise.render.numbers import number


@dataclass(frozen=True, eq=False)
class DecisionStability:
    """For each row: the action under the mean posterior, how probably it is truly best, and what it loses if not."""

    best: IntArray  # (n_rows,)
    probability_best: FloatArray  # (n_rows, n_actions) the share of samples in which each action is the best
    expected_regret: FloatArray  # (n_rows,) mean over samples of cost(chosen) - cost(best there)

    @property
    def confidence(self) -> FloatArray:
        """(n_rows,) the probability that the chosen action is truly best."""
        return self.probability_best[np.arange(len(self.best)), self.best]

    def __repr__(self) -> str:
        if not len(self.best):
            return "DecisionStability(no row)"
        right, regret = self.confidence.mean(), self.expected_regret.mean()
        return (
            f"DecisionStability({len(self.best):,} rows, right with {number(right)}, expected regret {number(regret)})"
        )


def stability_of(samples: Any, costs: Any, *, states: Sequence[Any], rows: Any = None) -> DecisionStability:
    """Posteriors drawn from what is believed about the parameters, (n_samples, n_rows, n_states).

    The expected regret is what knowing the parameters exactly would save: the value of more training rows, at most.

    >>> draws = np.array([[[0.9, 0.1]], [[0.6, 0.4]], [[0.2, 0.8]]])
    >>> answer = stability_of(draws, {"act": {"y": 0, "n": 5}, "wait": {"y": 2, "n": 0}}, states=["y", "n"])
    >>> answer.best.tolist(), answer.confidence.round(4).tolist(), answer.expected_regret.round(4).tolist()
    ([1], [0.6667], [0.4333])
    """
    try:
        draws = np.asarray(samples, dtype=np.float64)
    except (TypeError, ValueError):
        draws = np.zeros(0)
    if draws.ndim != 3 or draws.shape[2] != len(states) or not len(draws):
        raise ParameterError(
            f"samples of posteriors have the shape (n_samples, n_rows, {len(states)}); found {draws.shape}",
            fix="draw the parameters, and give the posterior of every row for each draw",
        )
    table = Costs.of(costs, states)
    columns = columns_for(table, rows, draws.shape[1])
    for draw in draws:
        check_posterior(draw, table.states)
    best = decide_rows(draws.mean(axis=0), table, columns).best
    wins = np.zeros((draws.shape[1], len(table.actions)))
    regret = np.zeros(draws.shape[1])
    at = np.arange(draws.shape[1])
    for draw in draws:
        answer = decide_rows(draw, table, columns)
        wins[at, answer.best] += 1.0
        regret += answer.expected_cost[at, best] - answer.least_cost
    return DecisionStability(best, wins / len(draws), regret / len(draws))


def joined(parts: Sequence[DecisionStability], n_actions: int) -> DecisionStability:
    """The stability of several stretches of rows as one."""
    if not parts:
        return DecisionStability(np.zeros(0, dtype=np.int64), np.zeros((0, n_actions)), np.zeros(0))
    return DecisionStability(
        np.concatenate([part.best for part in parts]),
        np.concatenate([part.probability_best for part in parts]),
        np.concatenate([part.expected_regret for part in parts]),
    )
