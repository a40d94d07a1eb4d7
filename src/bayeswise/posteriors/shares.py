"""Posteriors as arrays from outside: numbers, one column for each state, rows that are distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError, row_number
from bayeswise.tables.schema.labels import Label

SUM_TOLERANCE = 1e-5  # posteriors of single precision pass
_BLOCK_ROWS = 1 << 14


def as_shares(values: Any, states: Sequence[Label]) -> FloatArray:
    """(n_rows, n_states) numbers; a single row may be given alone."""
    try:
        found = np.atleast_2d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise ParameterError("a posterior is made of numbers", fix="give one column for each state") from None
    if found.ndim != 2 or found.shape[1] != len(states):
        raise ParameterError(
            f"the posterior has the shape {found.shape}; {len(states)} states are named",
            fix="give one column for each state",
        )
    return found


def check_posterior(probability: FloatArray, states: Sequence[Label]) -> None:
    """Refuse what is not a distribution: a number that is missing, below 0, or a row that does not sum to 1."""
    for start in range(0, len(probability), _BLOCK_ROWS):
        block = probability[start : start + _BLOCK_ROWS]
        total = block[:, 0].copy()
        low = block[:, 0]
        for column in block.T[1:]:
            total += column
            low = np.minimum(low, column)
        # a comparison with NaN is false, so that one test finds all three
        good = (np.abs(total - 1.0) <= SUM_TOLERANCE) & (low >= 0.0)
        if not good.all():
            k = int(np.argmin(good))
            _complain(block[k], total[k], row_number(start + k), states)


def _complain(row: FloatArray, total: float, number: int, states: Sequence[Label]) -> None:
    for state, p in zip(states, row.tolist(), strict=True):
        if not 0.0 <= p <= 1.0 + SUM_TOLERANCE:
            raise ParameterError(
                f"the posterior of state {state!r} in row {number} must be from 0 to 1; found {p}",
                fix="look at what made it",
            )
    raise ParameterError(f"the posterior of row {number} sums to {total:.9g}, not to 1", fix="divide it by its sum")
