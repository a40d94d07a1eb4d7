"""From counts to tables: (n + imagined) / (all + imagined), for levels seen and one level unseen."""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.logspace import log


def imagined_rows(prior: str, strength: float, n_levels: int, n_configurations: int) -> float:
    """The imagined rows of one cell of a table; the configurations are those of all parents, the class among them.

    >>> [imagined_rows(prior, 2.0, 4, 5) for prior in ("laplace", "m-estimate", "bdeu")]
    [2.0, 0.5, 0.1]
    """
    if prior == "laplace":
        return float(strength)
    return strength / max(n_levels * (n_configurations if prior == "bdeu" else 1), 1)


def log_shares(counts: FloatArray, imagined: float) -> FloatArray:
    """(..., n_levels) log p(level): the posterior mean under a Dirichlet prior, uniform where nothing is known.

    >>> np.exp(log_shares(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.0)).round(12).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    n_levels = counts.shape[-1]
    return log_ratio(counts + imagined, counts.sum(axis=-1, keepdims=True) + imagined * n_levels, n_levels)


def log_unseen(counts: FloatArray, imagined: float) -> FloatArray:
    """(..., 1) log p(a level that no row showed): as if the column had one more level, with its own imagined rows."""
    n_levels = counts.shape[-1] + 1
    total = counts.sum(axis=-1, keepdims=True) + imagined * n_levels
    return log_ratio(np.full(total.shape, imagined), total, n_levels)


def log_ratio(above: FloatArray, below: FloatArray, n_levels: int | IntArray) -> FloatArray:
    """log above - log below; where nothing is known, levels have equal shares."""
    known = below > 0.0
    safe = np.where(known, below, 1.0)
    return np.where(known, log(above) - np.log(safe), -np.log(np.maximum(n_levels, 1)))


def with_unseen(counts: FloatArray, imagined: float) -> FloatArray:
    """(..., n_levels + 1) log p of each level, then of an unseen one."""
    return np.concatenate([log_shares(counts, imagined), log_unseen(counts, imagined)], axis=-1)


def with_unseen_parent(counts: FloatArray, imagined: float) -> FloatArray:
    """(n_states, n_above + 1, n_levels + 1): the last configuration of the parent is a level that no row showed."""
    nothing = np.zeros((counts.shape[0], 1, counts.shape[2]))
    return with_unseen(np.concatenate([counts, nothing], axis=1), imagined)
