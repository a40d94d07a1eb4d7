"""What a label would save: every answer is tried, and weighed by how probable it is now."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise.acquisition.beliefs import Beliefs
from bayeswise.acquisition.pool import Pool
from bayeswise.foundation.arrays import FloatArray, IntArray


def least_costs(posterior: FloatArray, costs: FloatArray) -> FloatArray:
    """(n_rows,) the expected cost of the cheapest action; costs are (n_actions, n_states).

    >>> least_costs(np.array([[0.9, 0.1]]), np.array([[0.0, 10.0], [1.0, 0.0]])).tolist()
    [0.9]
    """
    return np.asarray((posterior @ costs.T).min(axis=1))


def expected_savings(model: Any, pool: Pool, beliefs: Beliefs, candidates: IntArray, costs: FloatArray) -> FloatArray:
    """(n_candidates,) by how much the mean expected cost of the pool would fall with the label of each candidate.

    sum over labels of p(label | row) times the cost after learning it; a label is one merge, nothing is fitted again.
    Both sides are the model's own opinion, so that the saving may come out below zero.
    """
    posterior = beliefs.posterior()
    now = float(least_costs(posterior, costs).mean())
    believed = posterior[candidates]
    savings = np.full(len(candidates), now)
    for k, row in enumerate(candidates.tolist()):
        for state, label in enumerate(model.classes):
            if believed[k, state] > 0:
                beliefs.follow(model.learn(pool.row(row, label, model.classes), threads=1), state)
                after = float(least_costs(beliefs.posterior(), costs).mean())
                beliefs.follow(model, state)
                savings[k] -= believed[k, state] * after
    return savings
