"""Odds: how much more probable one state is than another, or than all others; without leaving log space."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, row_number
from bayeswise.foundation.logspace import log_sum_exp


def log_odds(log_joint: ArrayLike, state: int, against: int | None = None) -> FloatArray:
    """log p(state | row) - log p(against | row), (n_rows,); `against` None is all other states together.

    A state is the position of its column. The sign is the decision between the two.

    >>> log_odds([[-1.0, -3.0]], state=0).tolist()
    [2.0]
    >>> log_odds(np.log([[0.5, 0.25, 0.25]]), state=1, against=0).round(4).tolist()
    [-0.6931]
    """
    joint = np.asarray(log_joint, dtype=np.float64)  # (n_rows, n_states)
    n_states = joint.shape[-1]
    if n_states < 2 or state == against:
        raise ParameterError(
            f"odds compare two different states; found state {state} against {against} of {n_states}",
            fix="name another state",
        )
    log_for = joint[..., state]
    others = np.delete(joint, state, axis=-1) if against is None else joint[..., [against]]
    log_top = others.max(axis=-1)
    _check_possible(log_for, log_top)
    # Subtracting the largest rival first keeps the digits that a large common exponent would push out.
    log_shift = np.where(np.isfinite(log_top), log_top, 0.0)
    return np.asarray((log_for - log_shift) - log_sum_exp(others - log_shift[..., None]))


def probability_of(log_odds: ArrayLike) -> FloatArray:
    """p = 1 / (1 + exp(-log_odds)), exact in both tails.

    >>> probability_of([0.0, np.log(3.0), -np.inf]).round(12).tolist()
    [0.5, 0.75, 0.0]
    """
    size = np.asarray(log_odds, dtype=np.float64)
    small = np.exp(-np.abs(size))
    return np.asarray(np.where(size >= 0.0, 1.0, small) / (1.0 + small))


def odds_of(log_odds: float) -> float:
    """exp(log_odds), infinite beyond the range of a float.

    >>> odds_of(0.0), odds_of(1e4)
    (1.0, inf)
    """
    return math.exp(log_odds) if log_odds < 709.0 else math.inf


def _check_possible(log_for: FloatArray, log_against: FloatArray) -> None:
    impossible = np.isneginf(np.maximum(log_for, log_against))
    if impossible.any():
        row = row_number(int(np.argmax(impossible)))
        raise ImpossibleEvidenceError(
            f"row {row} has probability 0 in all states compared: their odds are 0/0",
            fix="use smoothing above 0, or compare other states",
        )
