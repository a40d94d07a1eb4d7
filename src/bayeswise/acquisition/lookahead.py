"""What a label would save: every answer is tried, and weighed by how probable it is now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.acquisition.beliefs import Beliefs, BeliefsOfFewRows
from bayeswise.acquisition.pool import Pool
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.tables.schema.labels import Label


def least_costs(posterior: FloatArray, costs: FloatArray) -> FloatArray:
    """(n_rows,) the expected cost of the cheapest action; costs are (n_actions, n_states).

    >>> least_costs(np.array([[0.9, 0.1]]), np.array([[0.0, 10.0], [1.0, 0.0]])).tolist()
    [0.9]
    """
    expected = np.empty((len(costs), len(posterior)))
    _kernels.expected_costs(np.ascontiguousarray(posterior), costs, expected, np.empty(len(posterior), dtype=np.int64))
    return np.asarray(expected.min(axis=0))


def expected_savings(
    model: Callable[[], Any],
    classes: tuple[Label, ...],
    pool: Pool,
    beliefs: Beliefs,
    candidates: IntArray,
    costs: FloatArray,
) -> FloatArray:
    """(n_candidates,) by how much the mean expected cost of the pool would fall with the label of each candidate.

    sum over labels of p(label | row) times the cost after learning it; a label is one merge, nothing is fitted again.
    Both sides are the model's own opinion, so that the saving may come out below zero.
    """
    posterior = beliefs.posterior()
    now = float(least_costs(posterior, costs).mean())
    believed = posterior[candidates]
    savings = np.full(len(candidates), now)
    for k, row in enumerate(candidates.tolist()):
        for state, label in enumerate(classes):
            if believed[k, state] > 0:
                with _believing(beliefs, model, pool, row, state, label):
                    after = float(least_costs(beliefs.posterior(), costs).mean())
                savings[k] -= believed[k, state] * after
    return savings


@contextmanager
def _believing(
    beliefs: Beliefs, model: Callable[[], Any], pool: Pool, row: int, state: int, label: Label
) -> Iterator[None]:
    """As if the row had this label."""
    if isinstance(beliefs, BeliefsOfFewRows):
        beliefs.learn((row, state))
        try:
            yield
        finally:
            beliefs.forget(row, state)
        return
    now = model()
    beliefs.follow(now.learn(pool.row(row, label, now.classes), threads=1), state)
    try:
        yield
    finally:
        beliefs.follow(now, state)
