"""Maximum likelihood with missing cells, by EM on the scatter of each pattern: rows are never looked at again.

E  A pattern that shows the columns o and misses m is completed by regression: with B = S_mo S_oo^-1 its mean becomes
   mean_m + B (xbar - mean_o), and its scatter B T, B T B' + n (S_mm - B S_om), where T is the scatter that was seen.
M  Weights, means and scatters of the completed patterns add up to those of the class.

The log-likelihood of what was seen never falls. With nothing missing the first step is the closed form. Where it has no
maximum (a class in which some direction never varies) variances stop at LEAST_VARIANCE of the columns' own: raising the
eigenvalues of the covariance to it is the M step under that constraint, so that even then nothing falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeswise.families.arithmetic.special import HALF_LOG_TWO_PI
from bayeswise.foundation.arrays import FloatArray, IntArray

MOST_STEPS = 1_000
SMALLEST_STEP = 1e-13
"""EM stops when no mean and no covariance moves by more than this, in units of the columns' stddevs."""
SMALL_STEP = 1e-10
"""... or by more than this, if the steps no longer get smaller: what is left is rounding."""
ROUNDING = 1e-12
"""The share of a log-likelihood that is rounding error of its sum."""
LEAST_VARIANCE = 1e-10
"""The least share of the columns' variances that a class can have in any direction."""
_STACK_CELLS = 1 << 22  # of the matrices that are completed together


@dataclass(frozen=True)
class PatternMoments:
    """The rows of patterns that show equally many columns, counted in units from the centre of the columns."""

    observed: IntArray  # (n_patterns, n_observed) the columns that are there
    weight: FloatArray  # (n_patterns, n_states)
    mean: FloatArray  # (n_patterns, n_states, n_observed)
    scatter: FloatArray  # (n_patterns, n_states, n_observed, n_observed)


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


def complete(
    patterns: Sequence[PatternMoments],
    stddev: FloatArray,
    *,
    shared: bool,
    start: tuple[FloatArray, FloatArray] | None = None,
) -> Completion:
    """Run EM from the columns' own means and variances, or from means and covariances that are near the end."""
    n_states, n_columns = patterns[0].weight.shape[1], len(stddev)
    weight = np.sum([pattern.weight.sum(axis=0) for pattern in patterns], axis=0)  # (n_states,)
    stacks = _stacked(patterns, n_columns)
    own = np.where(stddev > 0, stddev, 1.0)
    mean = np.zeros((n_states, n_columns))
    covariance = np.broadcast_to(np.diag(own**2), (n_states, n_columns, n_columns)).copy()
    if start is not None:
        mean, covariance = start[0].copy(), _raised(start[1].copy(), own)
    log_likelihood: list[float] = []
    kept_mean, kept_scatter = mean, covariance
    converged, last = False, np.inf
    for _ in range(MOST_STEPS):
        new_mean, scatter, log_seen = _step(stacks, weight, mean, covariance)
        if log_likelihood and log_seen < log_likelihood[-1] - ROUNDING * (1.0 + abs(log_seen)):
            converged = True  # near a singular covariance only rounding is left: the step before was the last one up
            break
        log_likelihood.append(log_seen)
        kept_mean, kept_scatter = new_mean, scatter
        new_covariance = _raised(_covariance(scatter, weight, covariance, shared), own)
        moved = max(
            float(np.abs((new_mean - mean) / own).max(initial=0.0)),
            float(np.abs((new_covariance - covariance) / own / own[:, None]).max(initial=0.0)),
        )
        mean, covariance = new_mean, new_covariance
        if moved <= SMALLEST_STEP or last <= moved <= SMALL_STEP:
            converged = True
            break
        last = moved
    return Completion(kept_mean, kept_scatter, np.array(log_likelihood), converged)


def _covariance(scatter: FloatArray, weight: FloatArray, before: FloatArray, shared: bool) -> FloatArray:
    """The M step; a class without rows keeps what it had."""
    if shared:
        return np.repeat(scatter.sum(axis=0)[None] / weight.sum(), len(weight), axis=0)
    safe = np.where(weight > 0, weight, 1.0)[:, None, None]
    return np.where(weight[:, None, None] > 0, scatter / safe, before)


def _raised(covariance: FloatArray, stddev: FloatArray) -> FloatArray:
    """No direction below LEAST_VARIANCE, in units of the columns' stddevs; what is above stays as it is."""
    scaled = covariance / stddev[:, None] / stddev
    values, vectors = np.linalg.eigh(scaled)
    low = values[:, 0] < LEAST_VARIANCE  # (n_states,)
    if not low.any():
        return covariance
    lifted = (vectors[low] * np.maximum(values[low], LEAST_VARIANCE)[:, None, :]) @ np.swapaxes(vectors[low], 1, 2)
    covariance[low] = 0.5 * (lifted + np.swapaxes(lifted, 1, 2)) * stddev[:, None] * stddev
    return covariance


def _step(
    stacks: Sequence[PatternMoments], weight: FloatArray, mean: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """The completed means and scatters, and the log-likelihood of the parameters that completed them."""
    new_mean, scatter, log_seen = mean.copy(), np.zeros_like(covariance), 0.0
    for state in np.flatnonzero(weight > 0).tolist():
        parts = [_completed(stack, state, mean[state], covariance[state]) for stack in stacks]
        new_mean[state] = sum(part.weight @ part.mean for part in parts) / weight[state]
        for part in parts:
            gap = part.mean - new_mean[state]  # (n_patterns, n_columns)
            scatter[state] += part.scatter.sum(axis=0) + (gap * part.weight[:, None]).T @ gap
            log_seen += part.log_likelihood
    return new_mean, scatter, log_seen


@dataclass(frozen=True)
class _Part:
    weight: FloatArray  # (n_patterns,)
    mean: FloatArray  # (n_patterns, n_columns)
    scatter: FloatArray  # (n_patterns, n_columns, n_columns)
    log_likelihood: float


def _completed(stack: PatternMoments, state: int, mean: FloatArray, covariance: FloatArray) -> _Part:
    """The patterns of one class, regressed from what is seen to what is missing."""
    o, n = stack.observed, stack.weight[:, state]
    m = _others(o, len(mean))  # (n_patterns, n_missing)
    oo, mo, mm = (_pairs(*pair) for pair in ((o, o), (m, o), (m, m)))
    seen, products = stack.mean[:, state], stack.scatter[:, state]
    precision, log_determinant = _inverse(covariance[oo])
    slope = covariance[mo] @ precision  # (n_patterns, n_missing, n_observed)
    gap = seen - mean[o]
    patterns = np.arange(len(o))[:, None]
    full_mean = np.empty((len(o), len(mean)))
    full_mean[patterns, o] = seen
    full_mean[patterns, m] = mean[m] + (slope @ gap[:, :, None])[:, :, 0]
    full, at = np.empty((len(o), *covariance.shape)), patterns[:, :, None]
    across = slope @ products
    full[(at, *oo)] = products
    full[(at, *mo)] = across
    full[(at, *_pairs(o, m))] = np.swapaxes(across, 1, 2)
    rest = covariance[mm] - slope @ np.swapaxes(covariance[mo], 1, 2)
    full[(at, *mm)] = across @ np.swapaxes(slope, 1, 2) + n[:, None, None] * 0.5 * (rest + np.swapaxes(rest, 1, 2))
    squares = (precision * products).sum(axis=(1, 2)) + n * np.einsum("po,poq,pq->p", gap, precision, gap)
    log_seen = -0.5 * (n * (log_determinant + 2 * o.shape[1] * HALF_LOG_TWO_PI) + squares).sum()
    return _Part(n, full_mean, full, float(log_seen))


def _pairs(rows: IntArray, columns: IntArray) -> tuple[IntArray, IntArray]:
    """The index of a block of a matrix for each pattern."""
    return rows[:, :, None], columns[:, None, :]


def _others(observed: IntArray, n_columns: int) -> IntArray:
    """(n_patterns, n_missing) the columns that are not observed, ascending."""
    missing = np.ones((len(observed), n_columns), dtype=bool)
    missing[np.arange(len(observed))[:, None], observed] = False
    return np.nonzero(missing)[1].reshape(len(observed), -1)


def _inverse(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Inverses and log-determinants of a stack."""
    stddev = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    values, vectors = np.linalg.eigh(covariance / stddev[:, :, None] / stddev[:, None, :])
    values = np.maximum(values, np.finfo(np.float64).eps)
    inverse = (vectors / values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    log_determinant = np.log(values).sum(axis=1) + 2.0 * np.log(stddev).sum(axis=1)
    return inverse / stddev[:, :, None] / stddev[:, None, :], log_determinant


def _stacked(patterns: Sequence[PatternMoments], n_columns: int) -> list[PatternMoments]:
    """Patterns that show the same number of columns as one, so that NumPy takes them together."""
    by_width: dict[int, list[PatternMoments]] = {}
    for pattern in patterns:
        by_width.setdefault(pattern.observed.shape[1], []).append(pattern)
    most = max(1, _STACK_CELLS // max(1, n_columns**2))
    parts = [group[k : k + most] for group in by_width.values() for k in range(0, len(group), most)]
    return [
        PatternMoments(
            *(np.concatenate([getattr(p, name) for p in part]) for name in ("observed", "weight", "mean", "scatter"))
        )
        for part in parts
    ]
