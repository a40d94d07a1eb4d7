"""Rows so far out that every state has density 0 in doubles: their squares are compared as fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.models.naive_bayes.factors import Scores
from bayeswise.models.naive_bayes.numbers import NormalScores
from bayeswise.tables.batch import Batch


def far_out(joint: FloatArray, batch: Batch, log_prior: FloatArray, scores: Sequence[Scores]) -> IntArray:
    """Repair rows of the log joint that are minus infinity in every state; the rows that were, up to a constant."""
    normal = next((each for each in scores if isinstance(each, NormalScores)), None)
    if normal is None:
        return np.empty(0, dtype=np.int64)
    lost = np.flatnonzero(joint.max(axis=1, initial=-np.inf) == -np.inf)
    repaired = []
    for row in lost.tolist():
        part = batch.rows(slice(row, row + 1))
        rest = log_prior + sum(
            (each.by_column(part).sum(axis=1)[0] for each in scores if each is not normal), np.zeros_like(log_prior)
        )
        log_ratio = _relative(normal, normal.values(part)[0], rest)
        if log_ratio is not None:
            joint[row] = log_ratio
            repaired.append(row)
    return np.array(repaired, dtype=np.int64)


def _relative(normal: NormalScores, x: FloatArray, rest: FloatArray) -> FloatArray | None:
    """The log joint of one row less its largest quadratic term; None if the states are excluded for other reasons."""
    possible = np.isfinite(rest)
    if not possible.any():
        return None
    seen = [c for c in range(len(x)) if normal.varies[c] and not math.isnan(x[c])]
    quadratic = [_half_squares(normal, x, state, seen) for state in range(len(rest))]
    least = min(quadratic[state] for state in np.flatnonzero(possible))
    peaks = normal.log_peak[:, seen].sum(axis=1)
    ratio = [_float(least - quadratic[state]) for state in range(len(rest))]
    return np.where(possible, rest + peaks + np.array(ratio), -np.inf)


def _half_squares(normal: NormalScores, x: FloatArray, state: int, columns: list[int]) -> Fraction:
    p = normal.parameters
    total = Fraction(0)
    for c in columns:
        z = (Fraction(x[c]) - Fraction(p.mean[state, c])) / Fraction(p.stddev[state, c])
        total += z * z
    return total / 2


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return -math.inf
