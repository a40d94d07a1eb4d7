"""Members pooled in log space: their evidence beyond the class frequencies adds up, as far as left-out rows confirm it.

    log p(s) = b(s) + power sum_k w_k (log q_k(s) - b(s)) + constant

with b the log frequency of a class, and q_k = (1 - least) p_k + least / n_states. A weighted mean of posteriors
(stacking.py) is never more confident than its most confident member. Members that have different reasons for the same
answer should be more confident together, and the power says by how much. The share `least` of the uniform distribution,
which class frequencies have too, keeps a single member from a veto.

With v_k = power w_k and t_rs the weight of state s in row r (`smoothed`: the row's own for its true class, and a tiny
one for the others), the weights maximise

    f(v) = sum_rs t_rs log p_r(s) - PULL K sum_k (v_k - 1 / K)^2 - PULL_OF_POWER (sum_k v_k - 1)^2,      v_k >= 0

The second term draws the K weights towards equal ones, the third the power towards 1. f is concave. The certificate: no
other weights are better by more than sum_k max(g_k d - PULL K d^2) over d >= -v_k, where g is the slope of f.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.posteriors.normalise import log_posterior

PULL = 0.3  # nats for each member whose weight is 1 / sqrt(K) away from 1 / K
PULL_OF_POWER = 3.0  # nats of a power of 2, which left-out rows without a mistake would always ask for
_STEPS = 100
_ENOUGH = 1e-10  # the certificate for each row, in nats


@dataclass(frozen=True)
class LogLinear:
    """How members are pooled in log space, but for their weights."""

    power: float  # 1: as sure as the members are on average
    least: float  # of the uniform distribution in what a member says

    def refuse_impossible(self) -> None:
        """A pool that would not give posteriors."""
        if not (np.isfinite(self.power) and self.power > 0.0 and 0.0 < self.least < 1.0):
            raise SchemaError("the power of a pool is above 0, and its least share is between 0 and 1")

    def log_shares(self, log_probability: FloatArray) -> FloatArray:
        """(..., n_states) log q of log p."""
        return with_least(log_probability, self.least)

    def log_pool(self, log_members: FloatArray, weights: FloatArray, log_classes: FloatArray) -> FloatArray:
        """(n_rows, n_states) of (n_members, n_rows, n_states) log posteriors and (n_states,) log shares of classes."""
        base = self.log_shares(log_classes)
        evidence = (self.log_shares(part) - base for part in log_members)
        return log_pool(base, evidence, self.power * weights, log_members.shape[1])


def log_pool(base: FloatArray, evidence: Iterable[FloatArray], weights: FloatArray, n_rows: int) -> FloatArray:
    """(n_rows, n_states) log p of (n_states,) b and, for each member, (n_rows, n_states) log q - b and power w."""
    mixed = np.tile(base, (n_rows, 1))
    for own, weight in zip(evidence, weights.tolist(), strict=True):
        mixed += weight * own
    return log_posterior(mixed)


def with_least(log_probability: FloatArray, least: float) -> FloatArray:
    """(..., n_states) the logarithm of p mixed with a share of the uniform distribution.

    >>> np.exp(with_least(np.log([0.75, 0.25]), 0.5)).tolist()
    [0.625, 0.375]
    """
    even = np.log(least / log_probability.shape[-1])
    return np.asarray(np.logaddexp(log_probability + np.log1p(-least), even))


def least_share(row_weights: FloatArray) -> float:
    """1 / n^2: a row that a member thinks impossible costs about 2 log n times its weight.

    >>> least_share(np.ones(10))
    0.01
    """
    return float(1.0 / max(float(row_weights.sum()), 2.0) ** 2)


def smoothed(truth: IntArray, row_weights: FloatArray, frequencies: FloatArray, mistakes: float) -> FloatArray:
    """(n_rows, n_states) the weight of each state: the row's own for its true class, and mistakes to come for others.

    `mistakes` of them are spread over all rows, and in a row over its other classes by their frequency.

    >>> smoothed(np.array([0, 1]), np.ones(2), np.array([0.5, 0.3, 0.2]), mistakes=0.1).round(3).tolist()
    [[1.0, 0.03, 0.02], [0.036, 1.0, 0.014]]
    """
    is_own = np.arange(len(frequencies)) == truth[:, None]
    others = np.where(is_own, 0.0, frequencies)
    others /= np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
    share = mistakes / max(float(row_weights.sum()), 1e-300)
    return np.asarray(row_weights[:, None] * np.where(is_own, 1.0, share * others))


def pooled(evidence: FloatArray, base: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """(n_members,) power times weights for (n_members, n_rows, n_states) log q - b of rows left out; the certificate.

    `target` has the (n_rows, n_states) weights of states.

    >>> different_reasons = np.log(np.array([[[0.8, 0.2]] * 100, [[0.7, 0.3]] * 100]))
    >>> weights, _ = pooled(different_reasons, np.zeros(2), np.array([[1.0, 0.0]] * 92 + [[0.0, 1.0]] * 8))
    >>> p = np.exp(weights @ different_reasons[:, 0])
    >>> (p / p.sum()).round(1).tolist()  # more confident than each, as 92 of 100 rows confirm
    [0.9, 0.1]
    """
    problem = _Problem.of(evidence, base, target)
    at = np.full(len(evidence), 1.0 / len(evidence))
    total = max(float(target.sum()), 1.0)
    log_p = problem.log_pool(at)
    for _ in range(_STEPS):
        slope, curvature = problem.slope_and_curvature(at, log_p)
        if problem.gap(at, slope) <= _ENOUGH * total:
            break
        after = problem.step(at, log_p, slope, curvature)
        if after is None:
            break
        at, log_p = after
    slope, _ = problem.slope_and_curvature(at, log_p)
    return at, problem.gap(at, slope) / total


@dataclass(frozen=True, eq=False)
class _Problem:
    evidence: FloatArray  # (n_members, n_rows, n_states)
    base: FloatArray  # (n_states,)
    target: FloatArray  # (n_rows, n_states)
    mass: FloatArray  # (n_rows,) the sums of these
    gain: FloatArray  # (n_members,) the evidence for what is to be predicted
    stiffness: float  # the quadratic term for each member

    @classmethod
    def of(cls, evidence: FloatArray, base: FloatArray, target: FloatArray) -> _Problem:
        gain = np.array([float((each * target).sum()) for each in evidence])
        return cls(evidence, base, target, target.sum(axis=1), gain, PULL * len(evidence))

    def log_pool(self, at: FloatArray) -> FloatArray:
        """(n_rows, n_states)"""
        return log_pool(self.base, self.evidence, at, self.evidence.shape[1])

    def value(self, at: FloatArray, log_p: FloatArray) -> float:
        pulled = self.stiffness * ((at - 1.0 / len(at)) ** 2).sum() + PULL_OF_POWER * (at.sum() - 1.0) ** 2
        return float((self.target * log_p).sum() - pulled)

    def slope_and_curvature(self, at: FloatArray, log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n_members,) and (n_members, n_members)"""
        p = np.exp(log_p)
        mean = (self.evidence * p).sum(axis=2)  # (n_members, n_rows)
        pulled = 2.0 * self.stiffness * (at - 1.0 / len(at)) + 2.0 * PULL_OF_POWER * (at.sum() - 1.0)
        away = (self.evidence - mean[:, :, None]) * np.sqrt(self.mass[:, None] * p)
        away = away.reshape(len(at), -1)
        curvature = away @ away.T + 2.0 * self.stiffness * np.eye(len(at)) + 2.0 * PULL_OF_POWER
        return np.asarray(self.gain - (mean * self.mass).sum(axis=1) - pulled), curvature

    def gap(self, at: FloatArray, slope: FloatArray) -> float:
        """By how much any other weights could be better: f lies below its tangent, less one of its quadratic terms."""
        away = np.maximum(slope / (2.0 * self.stiffness), -at)
        return float((slope * away - self.stiffness * away**2).sum())

    def step(
        self, at: FloatArray, log_p: FloatArray, slope: FloatArray, curvature: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """A Newton step of the weights not held at 0, shortened until f grows; None where it no longer does."""
        free = (at > 0.0) | (slope > 0.0)
        step = np.zeros(len(at))
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        before, size = self.value(at, log_p), 1.0
        while size > 1e-9:
            there = np.maximum(at + size * step, 0.0)
            log_there = self.log_pool(there)
            promised = 1e-4 * float((slope * (there - at)).sum())
            if self.value(there, log_there) >= before + promised - 1e-14 * abs(before):
                return None if np.array_equal(there, at) else (there, log_there)
            size *= 0.5
        return None
