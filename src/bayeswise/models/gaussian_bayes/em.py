"""Maximum likelihood with missing cells, by EM on the scatter of each pattern: rows are never looked at again.

E  A pattern that shows the columns o and misses m is completed by regression: with B = S_mo S_oo^-1 its mean becomes
   mean_m + B (xbar - mean_o), and its scatter B T, B T B' + n (S_mm - B S_om), where T is the scatter that was seen.
M  Weights, means and scatters of the completed patterns add up to those of the class.

The log-likelihood of what was seen never falls, and where steps shrink slowly their end is extrapolated. With nothing
missing, or only whole rows, the first step is the closed form. Where the likelihood has no maximum (a class in which
some direction never varies) variances stop at LEAST_VARIANCE of the columns' own: raising the eigenvalues of the
covariance to it is the M step under that constraint, so that even then nothing falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray

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
    ended: BoolArray  # (n_states,) the classes that EM came to an end with

    @property
    def converged(self) -> bool:
        return bool(self.ended.all())

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
    """Run EM from the columns' own means and variances, or from means and covariances that are near the end.

    A row without a single cell says nothing about its class and takes no part: it is completed at the end. Classes with
    covariances of their own say nothing about each other: each ends where its own steps do.
    """
    n_states, n_columns = patterns[0].weight.shape[1], len(stddev)
    stacks = _stacked(patterns, n_columns)
    weight = _by_state([stack.weight for stack in stacks], stacks, np.zeros(n_states))
    own = np.where(stddev > 0, stddev, 1.0)
    mean = np.zeros((n_states, n_columns))
    covariance = np.broadcast_to(np.diag(own**2), (n_states, n_columns, n_columns)).copy()
    if start is not None:
        mean, covariance = start[0].copy(), _raised(start[1].copy(), own)
    kept_mean, kept_scatter = mean.copy(), weight[:, None, None] * covariance
    going = weight > 0
    log_seen, last = np.where(going, -np.inf, 0.0), np.full(n_states, np.inf)  # of each class, (n_states,)
    log_likelihood: list[float] = []
    leaps = _Leaps(own, shared, going)
    for _ in range(MOST_STEPS):
        if not going.any():
            break
        active = [some for stack in stacks if len((some := stack.of_states(going)).state)]
        new_mean, new_scatter, new_log_seen = _step(active, weight, mean, covariance)
        fell = going & _fell(new_log_seen, log_seen, shared=shared)
        too_far = leaps.taken_back(fell, mean, covariance)
        going &= ~fell | too_far  # near a singular covariance only rounding is left: the last step was the last one up
        risen = going & ~too_far
        if not risen.any():
            continue
        log_seen = np.where(risen, new_log_seen, log_seen)
        log_likelihood.append(float(log_seen.sum()))
        kept_mean[risen], kept_scatter[risen] = new_mean[risen], new_scatter[risen]
        new_covariance = covariance.copy()
        new_covariance[risen] = _raised(_covariance(new_scatter, weight, covariance, shared)[risen], own)
        moved = np.maximum(
            np.abs((new_mean - mean) / own).max(axis=1, initial=0.0),
            np.abs((new_covariance - covariance) / own / own[:, None]).max(axis=(1, 2), initial=0.0),
        )  # (n_states,)
        if shared:
            moved[:] = moved[risen].max()
        mean[risen], covariance[risen] = new_mean[risen], new_covariance[risen]
        ended = (moved <= SMALLEST_STEP) | ((last <= moved) & (moved <= SMALL_STEP))
        going &= ~(risen & ended)
        last = np.where(risen, moved, last)
        leaps.take(risen & going, mean, covariance)
    unseen = np.sum([pattern.weight.sum(axis=0) for pattern in patterns], axis=0) - weight  # (n_states,)
    kept_scatter += np.maximum(unseen, 0.0)[:, None, None] * _covariance(kept_scatter, weight, covariance, shared)
    return Completion(kept_mean, kept_scatter, np.array(log_likelihood), ~going)


class _Leaps:
    """Extrapolates from two steps to where EM is going, and goes back if the likelihood fell.

    With r and r + v the last two steps, the point before them plus 2 a r + a^2 v, a = |r| / |v|, is where steps that
    shrink by a constant factor would end (SQUAREM, Varadhan and Roland 2008). A plain step follows each leap.
    """

    def __init__(self, stddev: FloatArray, shared: bool, going: BoolArray) -> None:
        self._stddev, self._shared = stddev, shared
        self._steps: list[FloatArray] = []  # the last three points, each (n_states, n_parameters)
        self._since = np.zeros(len(going), dtype=int)  # plain steps since the last leap, by class
        self._leapt = np.zeros(len(going), dtype=bool)

    def take(self, chosen: BoolArray, mean: FloatArray, covariance: FloatArray) -> None:
        """Note where the chosen classes are, and leap with those of them that have taken three plain steps."""
        now = self._packed(mean, covariance)
        self._steps = [*self._steps[-2:], now]
        self._leapt &= ~chosen
        self._since += chosen
        due = chosen & (self._since > 2)
        if not due.any() or len(self._steps) < 3:
            return
        step = self._steps[1] - self._steps[0]
        change = now - 2.0 * self._steps[1] + self._steps[0]
        lengths = self._length(step, due), self._length(change, due)
        due &= (lengths[1] > 0) & (lengths[0] > lengths[1])
        a = (lengths[0] / np.where(lengths[1] > 0, lengths[1], 1.0))[:, None]
        far = self._steps[0] + 2.0 * a * step + a**2 * change
        far_mean, far_covariance = self._unpacked(far)
        due &= self._possible(far_covariance, due)
        mean[due], covariance[due] = far_mean[due], far_covariance[due]
        self._before, self._leapt = now, due
        self._since[due] = 0

    def taken_back(self, fell: BoolArray, mean: FloatArray, covariance: FloatArray) -> BoolArray:
        """The classes for which the last leap went too far; they are where they were before it."""
        back = self._leapt & fell
        if back.any():
            mean[back], covariance[back] = (part[back] for part in self._unpacked(self._before))
            self._leapt &= ~back
            self._since[back] = 0
        return back

    def _length(self, vectors: FloatArray, due: BoolArray) -> FloatArray:
        lengths = np.sqrt((vectors**2).sum(axis=1))
        return np.full(len(lengths), np.sqrt((lengths[due] ** 2).sum())) if self._shared else lengths

    def _possible(self, covariance: FloatArray, due: BoolArray) -> BoolArray:
        """Whether a covariance is well inside of those that are allowed; of all classes or of none if it is shared."""
        possible = due.copy()
        scaled = covariance[due] / self._stddev[:, None] / self._stddev
        possible[due] = np.linalg.eigvalsh(scaled)[:, 0] > 2.0 * LEAST_VARIANCE
        return possible & possible[due].all() if self._shared else possible

    def _packed(self, mean: FloatArray, covariance: FloatArray) -> FloatArray:
        """(n_states, n_parameters) in units of the columns' stddevs."""
        scaled = covariance / self._stddev[:, None] / self._stddev
        return np.hstack([mean / self._stddev, scaled.reshape(len(mean), -1)])

    def _unpacked(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = len(self._stddev)
        covariance = point[:, d:].reshape(-1, d, d) * self._stddev[:, None] * self._stddev
        return point[:, :d] * self._stddev, covariance


def _fell(log_seen: FloatArray, before: FloatArray, *, shared: bool) -> BoolArray:
    """Whether the log-likelihood of each class, or of all together, is less than before by more than rounding."""
    if shared:
        log_seen, before = np.broadcast_to(log_seen.sum(), before.shape), np.broadcast_to(before.sum(), before.shape)
    return np.asarray(log_seen < before - ROUNDING * (1.0 + np.abs(log_seen)))


def _covariance(scatter: FloatArray, weight: FloatArray, before: FloatArray, shared: bool) -> FloatArray:
    """The M step; a class without cells keeps what it had."""
    if shared and weight.any():
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


@dataclass(frozen=True)
class _Stack:
    """Patterns of one class each that show equally many columns, so that NumPy takes them together."""

    observed: IntArray  # (n, n_observed)
    state: IntArray  # (n,) the class of each
    weight: FloatArray  # (n,)
    mean: FloatArray  # (n, n_observed)
    scatter: FloatArray  # (n, n_observed, n_observed)

    def of_states(self, chosen: BoolArray) -> _Stack:
        some = chosen[self.state]
        return self if some.all() else _Stack(*(part[some] for part in self.parts))

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.observed, self.state, self.weight, self.mean, self.scatter

    def missing(self, n_columns: int) -> IntArray:
        """(n, n_missing) the columns that are not observed, ascending."""
        missing = np.ones((len(self.observed), n_columns), dtype=bool)
        missing[np.arange(len(self.observed))[:, None], self.observed] = False
        return np.nonzero(missing)[1].reshape(len(self.observed), -1)


@dataclass(frozen=True)
class _Completed:
    mean: FloatArray  # (n, n_columns)
    scatter: FloatArray  # (n, n_columns, n_columns)
    log_likelihood: FloatArray  # (n,)


def _step(
    stacks: Sequence[_Stack], weight: FloatArray, mean: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The completed means and scatters, and the log-likelihood by class of the parameters that completed them."""
    parts = [_completed(stack, mean[stack.state], covariance[stack.state]) for stack in stacks]
    totals = [stack.weight[:, None] * part.mean for stack, part in zip(stacks, parts, strict=True)]
    new_mean = _by_state(totals, stacks, np.zeros_like(mean)) / np.where(weight > 0, weight, 1.0)[:, None]
    scatters = []
    for stack, part in zip(stacks, parts, strict=True):
        away = part.mean - new_mean[stack.state]  # (n, n_columns)
        scatters.append(part.scatter + stack.weight[:, None, None] * away[:, :, None] * away[:, None, :])
    scatter = _by_state(scatters, stacks, np.zeros_like(covariance))
    return new_mean, scatter, _by_state([part.log_likelihood for part in parts], stacks, np.zeros_like(weight))


def _by_state(parts: Sequence[FloatArray], stacks: Sequence[_Stack], total: FloatArray) -> FloatArray:
    """The sums of the parts of each class."""
    for part, stack in zip(parts, stacks, strict=True):
        np.add.at(total, stack.state, part)
    return total


def _completed(stack: _Stack, mean: FloatArray, covariance: FloatArray) -> _Completed:
    """Each pattern regressed from what is seen to what is missing; mean (n, n_columns) and covariance of its class."""
    o, n, products = stack.observed, stack.weight, stack.scatter
    m = stack.missing(mean.shape[1])
    each = np.arange(len(o))[:, None]
    oo, mo, mm, om = (_block(each, *pair) for pair in ((o, o), (m, o), (m, m), (o, m)))
    precision, log_determinant = _inverse(covariance[oo])
    slope = covariance[mo] @ precision  # (n, n_missing, n_observed)
    away = stack.mean - mean[each, o]
    full_mean = np.empty_like(mean)
    full_mean[each, o] = stack.mean
    full_mean[each, m] = mean[each, m] + (slope @ away[:, :, None])[:, :, 0]
    full, across = np.empty_like(covariance), slope @ products
    full[oo], full[mo], full[om] = products, across, np.swapaxes(across, 1, 2)
    rest = covariance[mm] - slope @ np.swapaxes(covariance[mo], 1, 2)
    full[mm] = across @ np.swapaxes(slope, 1, 2) + n[:, None, None] * 0.5 * (rest + np.swapaxes(rest, 1, 2))
    squares = (precision * products).sum(axis=(1, 2)) + n * ((precision @ away[:, :, None])[:, :, 0] * away).sum(axis=1)
    log_seen = -0.5 * (n * (log_determinant + 2 * o.shape[1] * HALF_LOG_TWO_PI) + squares)
    return _Completed(full_mean, full, log_seen)


def _block(each: IntArray, rows: IntArray, columns: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The index of a block of each matrix of a stack."""
    return each[:, :, None], rows[:, :, None], columns[:, None, :]


def _inverse(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Inverses and log-determinants of a stack."""
    stddev = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    values, vectors = np.linalg.eigh(covariance / stddev[:, :, None] / stddev[:, None, :])
    values = np.maximum(values, np.finfo(np.float64).eps)
    inverse = (vectors / values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    log_determinant = np.log(values).sum(axis=1) + 2.0 * np.log(stddev).sum(axis=1)
    return inverse / stddev[:, :, None] / stddev[:, None, :], log_determinant


def _stacked(patterns: Sequence[PatternMoments], n_columns: int) -> list[_Stack]:
    """The classes of the patterns that show at least one column, by how many they show."""
    by_width: dict[int, list[_Stack]] = {}
    for pattern in patterns:
        if pattern.observed.shape[1] and pattern.weight.any():
            at, state = each = np.nonzero(pattern.weight > 0)
            own = _Stack(pattern.observed[at], state, pattern.weight[each], pattern.mean[each], pattern.scatter[each])
            by_width.setdefault(pattern.observed.shape[1], []).append(own)
    most = max(1, _STACK_CELLS // max(1, n_columns**2 * patterns[0].weight.shape[1]))
    parts = [group[k : k + most] for group in by_width.values() for k in range(0, len(group), most)]
    return [_Stack(*map(np.concatenate, zip(*(each.parts for each in part), strict=True))) for part in parts]
