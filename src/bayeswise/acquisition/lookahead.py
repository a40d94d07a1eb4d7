"""What a label would save: every answer is tried, and weighed by how probable it is now."""

from __future__ import annotations

import numpy as np

from bayeswise.acquisition.pool import Pool
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.tables.batch import Batch


def least_costs(posterior: FloatArray, costs: FloatArray) -> FloatArray:
    """(n_rows,) the expected cost of the cheapest action; costs are (n_actions, n_states)."""
    return np.asarray((posterior @ costs.T).min(axis=1))


def expected_savings(
    model: NaiveBayesModel, pool: Pool, candidates: IntArray, others: Batch, costs: FloatArray
) -> FloatArray:
    """(n_candidates,) by how much the mean expected cost of `others` would fall with the label of each candidate.

    sum over labels of p(label | row) times the cost after learning it; a label is one merge, nothing is fitted again.
    Both sides are the model's own opinion, so that the saving may come out below zero.
    """
    now = float(least_costs(model.posterior(others).probability, costs).mean())
    posterior = model.posterior(pool.batch).probability[candidates]
    savings = np.empty(len(candidates))
    for k, row in enumerate(candidates.tolist()):
        after = 0.0
        for state, label in enumerate(model.classes):
            if posterior[k, state] > 0:
                taught = model.learn(pool.row(row, label))
                after += posterior[k, state] * float(
                    least_costs(taught.posterior(others).probability, costs).mean()
                )
        savings[k] = now - after
    return savings
