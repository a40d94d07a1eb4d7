"""Maximum likelihood with missing cells, by EM on the scatter of each pattern: rows are never looked at again.

E  A pattern that shows the columns o and misses m is completed by regression: with B = S_mo S_oo^-1 its mean becomes
   mean_m + B (xbar - mean_o), and its scatter B T, B T B' + n (S_mm - B S_om), where T is the scatter that was seen.
M  Weights, means and scatters of the completed patterns add up to those of the class.

The log-likelihood of what was seen never falls. With nothing missing the first step is the closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeswise.families.special import HALF_LOG_TWO_PI
from bayeswise.foundation.arrays import FloatArray, IntArray

MOST_STEPS = 5_000
SMALLEST_STEP = 1e-11
"""EM stops when no mean and no covariance moves by more than this, in units of the columns' stddevs."""
_LEAST_EIGENVALUE = 1e-10  # of a correlation matrix that is inverted


@dataclass(frozen=True)
class PatternMoments:
    """The rows of one pattern, counted in units from the centre of the columns."""

    observed: IntArray  # the columns that are there
    weight: FloatArray  # (n_states,)
    mean: FloatArray  # (n_states, n_observed)
    scatter: FloatArray  # (n_states, n_observed, n_observed)


@dataclass(frozen=True)
class Completion:
    """The moments of the completed classes, in units, and how EM came to them."""

    mean: FloatArray  # (n_states, n_columns)
    scatter: FloatArray  # (n_states, n_columns, n_columns)
    log_likelihood: FloatArray  # (n_steps,) of the cells that were seen, in units, before each step
    converged: bool

    @property
    def n_steps(self) -> int:
        return len(self.log_likelihood)

    def __repr__(self) -> str:
        how = "converged" if self.converged else "stopped"
        return f"Completion({how} after {self.n_steps} steps)"


def complete(patterns: Sequence[PatternMoments], stddev: FloatArray, *, shared: bool) -> Completion:
    """Run EM from the columns' own means and variances."""
    n_states, n_columns = len(patterns[0].weight), len(stddev)
    weight = np.sum([pattern.weight for pattern in patterns], axis=0)  # (n_states,)
    own = np.where(stddev > 0, stddev, 1.0)
    mean = np.zeros((n_states, n_columns))
    covariance = np.broadcast_to(np.diag(own**2), (n_states, n_columns, n_columns)).copy()
    log_likelihood: list[float] = []
    for _ in range(MOST_STEPS):
        new_mean, scatter, log_seen = _step(patterns, weight, mean, covariance)
        log_likelihood.append(log_seen)
        new_covariance = _covariance(scatter, weight, covariance, shared)
        moved = max(
            float(np.abs((new_mean - mean) / own).max(initial=0.0)),
            float(np.abs((new_covariance - covariance) / own / own[:, None]).max(initial=0.0)),
        )
        mean, covariance = new_mean, new_covariance
        if moved <= SMALLEST_STEP:
            break
    return Completion(mean, scatter, np.array(log_likelihood), moved <= SMALLEST_STEP)


def _covariance(scatter: FloatArray, weight: FloatArray, before: FloatArray, shared: bool) -> FloatArray:
    """The M step; a class without rows keeps what it had."""
    if shared:
        return np.broadcast_to(scatter.sum(axis=0) / weight.sum(), scatter.shape).copy()
    safe = np.where(weight > 0, weight, 1.0)[:, None, None]
    return np.where(weight[:, None, None] > 0, scatter / safe, before)


def _step(
    patterns: Sequence[PatternMoments], weight: FloatArray, mean: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """The completed means and scatters, and the log-likelihood of the parameters that completed them."""
    n_states = len(mean)
    new_mean, scatter, log_seen = mean.copy(), np.zeros_like(covariance), 0.0
    for state in range(n_states):
        parts = []
        for pattern in patterns:
            n = float(pattern.weight[state])
            if n > 0:
                part = _completed(pattern, state, mean[state], covariance[state])
                parts.append((n, part.mean, part.scatter))
                log_seen += part.log_likelihood
        if parts:
            new_mean[state] = sum(n * centre for n, centre, _ in parts) / weight[state]
            for n, centre, products in parts:
                gap = centre - new_mean[state]
                scatter[state] += products + n * np.outer(gap, gap)
    return new_mean, scatter, log_seen


@dataclass(frozen=True)
class _Part:
    mean: FloatArray
    scatter: FloatArray
    log_likelihood: float


def _completed(pattern: PatternMoments, state: int, mean: FloatArray, covariance: FloatArray) -> _Part:
    """One pattern of one class, regressed from what is seen to what is missing."""
    o, n = pattern.observed, float(pattern.weight[state])
    m = np.setdiff1d(np.arange(len(mean)), o)
    seen, products = pattern.mean[state], pattern.scatter[state]
    precision, log_determinant = _inverse(covariance[np.ix_(o, o)])
    slope = covariance[np.ix_(m, o)] @ precision  # (n_missing, n_observed)
    gap = seen - mean[o]
    full_mean, full = np.empty(len(mean)), np.empty_like(covariance)
    full_mean[o], full_mean[m] = seen, mean[m] + slope @ gap
    full[np.ix_(o, o)] = products
    across = slope @ products
    full[np.ix_(m, o)], full[np.ix_(o, m)] = across, across.T
    rest = covariance[np.ix_(m, m)] - slope @ covariance[np.ix_(o, m)]
    full[np.ix_(m, m)] = across @ slope.T + n * 0.5 * (rest + rest.T)
    squares = float((precision * products).sum()) + n * float(gap @ precision @ gap)
    return _Part(full_mean, full, -0.5 * (n * (log_determinant + 2 * len(o) * HALF_LOG_TWO_PI) + squares))


def _inverse(covariance: FloatArray) -> tuple[FloatArray, float]:
    """The inverse and the log-determinant; directions without variance are given a little."""
    stddev = np.sqrt(np.diagonal(covariance))
    safe = np.where(stddev > 0, stddev, 1.0)
    values, vectors = np.linalg.eigh(covariance / safe / safe[:, None])
    values = np.maximum(values, _LEAST_EIGENVALUE)
    inverse = (vectors / values) @ vectors.T / safe / safe[:, None]
    return inverse, float(np.log(values).sum() + 2.0 * np.log(safe).sum())
