"""Maximum likelihood with missing cells, by EM on the scatter of each pattern: rows are never looked at again.

E  A pattern that shows the columns o and misses m is completed by regression: with B = S_mo S_oo^-1 its mean becomes
   mean_m + B (xbar - mean_o), and its scatter B T, B T B' + n (S_mm - B S_om), where T is the scatter that was seen.
M  Weights, means and scatters of the completed patterns add up to those of the class.

The log-likelihood of what was seen never falls, and where steps shrink slowly their end is extrapolated. With nothing
missing, or only whole rows, the first step is the closed form. Where the likelihood has no maximum (a class in which
some direction never varies) variances stop at LEAST_VARIANCE of the columns' own: raising the eigenvalues of the
covariance to it is the M step under that constraint, so that even then nothing falls.

Tables that differ in a row, as those of leave-one-out, are completed together: one step of NumPy is a step of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass

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


@dataclass(frozen=True)
class Incomplete:
    """A table with missing cells: its patterns, the stddevs of its columns, and means and covariances to start from."""

    patterns: Sequence[PatternMoments]
    stddev: FloatArray  # (n_columns,) in units
    start: tuple[FloatArray, FloatArray] | None = None  # near the end; else the columns' own means and variances

    @property
    def n_states(self) -> int:
        return int(self.patterns[0].weight.shape[1])


def complete(tables: Sequence[Incomplete], *, shared: bool) -> list[Completion]:
    """Run EM on tables of the same columns, all together; each ends as it does alone.

    A row without a single cell says nothing about its class and takes no part: it is completed at the end. Classes with
    covariances of their own say nothing about each other: each ends where its own steps do.
    """
    table = np.repeat(np.arange(len(tables)), [each.n_states for each in tables])  # (n_states,) the table of each class
    firsts = np.searchsorted(table, np.arange(len(tables)))
    pools = _Pools(table if shared else np.arange(len(table)))
    stacks = _stacked(tables, firsts)
    weight = _by_state([stack.weight for stack in stacks], stacks, np.zeros(len(table)))
    own = np.stack([np.where(each.stddev > 0, each.stddev, 1.0) for each in tables])[table]  # (n_states, n_columns)
    mean, covariance = (np.concatenate(parts) for parts in zip(*map(_start, tables), strict=True))
    kept_mean, kept_scatter = mean.copy(), weight[:, None, None] * covariance
    going = weight > 0
    log_seen, last = np.where(going, -np.inf, 0.0), np.full(len(table), np.inf)  # of each class, (n_states,)
    log_likelihood: list[tuple[BoolArray, FloatArray]] = []  # which classes took a step, and what all of them had
    leaps = _Leaps(own, pools)
    active, were_going = stacks, np.ones_like(going)
    for _ in range(MOST_STEPS):
        if not going.any():
            break
        if (going != were_going).any():
            active = [some for stack in stacks if len((some := stack.of_states(going)).state)]
            were_going = going.copy()
        new_mean, new_scatter, new_log_seen = _step(active, weight, mean, covariance)
        fell = going & _fell(pools.total(new_log_seen), pools.total(log_seen))
        too_far = leaps.taken_back(fell, mean, covariance)
        going &= ~fell | too_far  # near a singular covariance only rounding is left: the last step was the last one up
        risen = going & ~too_far
        if not risen.any():
            continue
        log_seen = np.where(risen, new_log_seen, log_seen)
        log_likelihood.append((risen, log_seen))
        kept_mean[risen], kept_scatter[risen] = new_mean[risen], new_scatter[risen]
        new_covariance = covariance.copy()
        new_covariance[risen] = _raised(_covariance(new_scatter, weight, covariance, pools)[risen], own[risen])
        moved = np.maximum(
            np.abs((new_mean - mean) / own).max(axis=1, initial=0.0),
            np.abs((new_covariance - covariance) / own[:, None, :] / own[:, :, None]).max(axis=(1, 2), initial=0.0),
        )  # (n_states,)
        moved = pools.largest(np.where(risen, moved, 0.0))
        mean[risen], covariance[risen] = new_mean[risen], new_covariance[risen]
        ended = (moved <= SMALLEST_STEP) | ((last <= moved) & (moved <= SMALL_STEP))
        going &= ~(risen & ended)
        last = np.where(risen, moved, last)
        leaps.take(risen & going, mean, covariance)
    unseen = np.concatenate([_weight_of_rows(each) for each in tables]) - weight  # (n_states,)
    kept_scatter += np.maximum(unseen, 0.0)[:, None, None] * _covariance(kept_scatter, weight, covariance, pools)
    found = []
    for first, each in zip(firsts.tolist(), tables, strict=True):
        of = slice(first, first + each.n_states)
        steps = [float(logs[of].sum()) for risen, logs in log_likelihood if risen[of].any()]
        found.append(Completion(kept_mean[of], kept_scatter[of], np.array(steps), ~going[of]))
    return found


def _start(table: Incomplete) -> tuple[FloatArray, FloatArray]:
    """(n_states, n_columns) means and (n_states, n_columns, n_columns) covariances."""
    own, n_columns = np.where(table.stddev > 0, table.stddev, 1.0), len(table.stddev)
    if table.start is not None:
        mean, covariance = table.start
        return mean, _raised(covariance.copy(), np.broadcast_to(own, mean.shape))
    return np.zeros((table.n_states, n_columns)), np.repeat(np.diag(own**2)[None], table.n_states, axis=0)


def _weight_of_rows(table: Incomplete) -> FloatArray:
    return np.asarray(np.sum([pattern.weight.sum(axis=0) for pattern in table.patterns], axis=0))


class _Pools:
    """Classes that share a covariance, of which all take a step or none: those of a pool stand side by side."""

    def __init__(self, pool: IntArray) -> None:
        self._pool, self._firsts = pool, np.searchsorted(pool, np.arange(pool[-1] + 1))

    def total(self, parts: FloatArray) -> FloatArray:
        """The sum over the pool of each class, (n_states, ...) as the parts."""
        if len(self._firsts) == len(self._pool):
            return parts
        return np.asarray(np.add.reduceat(parts, self._firsts, axis=0)[self._pool])

    def largest(self, parts: FloatArray) -> FloatArray:
        """(n_states,) the largest of the pool of each class."""
        return np.asarray(np.maximum.reduceat(parts, self._firsts)[self._pool])


class _Leaps:
    """Extrapolates from two steps to where EM is going, and goes back if the likelihood fell.

    With r and r + v the last two steps, the point before them plus 2 a r + a^2 v, a = |r| / |v|, is where steps that
    shrink by a constant factor would end (SQUAREM, Varadhan and Roland 2008). A plain step follows each leap.
    """

    def __init__(self, stddev: FloatArray, pools: _Pools) -> None:
        self._stddev, self._pools = stddev, pools  # (n_states, n_columns)
        self._steps: list[FloatArray] = []  # the last three points, each (n_states, n_parameters)
        self._since = np.zeros(len(stddev), dtype=int)  # plain steps since the last leap, by class
        self._leapt = np.zeros(len(stddev), dtype=bool)

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
        return np.sqrt(self._pools.total(np.where(due, (vectors**2).sum(axis=1), 0.0)))

    def _possible(self, covariance: FloatArray, due: BoolArray) -> BoolArray:
        """Whether a covariance is well inside of those that are allowed; of all classes of a pool or of none."""
        least, stddev = np.full(len(due), np.inf), self._stddev[due]
        scaled = covariance[due] / stddev[:, :, None] / stddev[:, None, :]
        least[due] = np.linalg.eigvalsh(scaled)[:, 0]
        impossible = (least <= 2.0 * LEAST_VARIANCE).astype(np.float64)
        return np.asarray(self._pools.largest(impossible) == 0.0)

    def _packed(self, mean: FloatArray, covariance: FloatArray) -> FloatArray:
        """(n_states, n_parameters) in units of the columns' stddevs."""
        scaled = covariance / self._stddev[:, :, None] / self._stddev[:, None, :]
        return np.hstack([mean / self._stddev, scaled.reshape(len(mean), -1)])

    def _unpacked(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = self._stddev.shape[1]
        covariance = point[:, d:].reshape(-1, d, d) * self._stddev[:, :, None] * self._stddev[:, None, :]
        return point[:, :d] * self._stddev, covariance


def _fell(log_seen: FloatArray, before: FloatArray) -> BoolArray:
    """Whether a log-likelihood is less than before by more than rounding."""
    return np.asarray(log_seen < before - ROUNDING * (1.0 + np.abs(log_seen)))


def _covariance(scatter: FloatArray, weight: FloatArray, before: FloatArray, pools: _Pools) -> FloatArray:
    """The M step; a class without cells keeps what it had."""
    n = pools.total(weight)[:, None, None]
    return np.where(n > 0, pools.total(scatter) / np.where(n > 0, n, 1.0), before)


def _raised(covariance: FloatArray, stddev: FloatArray) -> FloatArray:
    """No direction below LEAST_VARIANCE, in units of the columns' stddevs; what is above stays as it is."""
    scaled = covariance / stddev[:, :, None] / stddev[:, None, :]
    values, vectors = np.linalg.eigh(scaled)
    low = values[:, 0] < LEAST_VARIANCE  # (n_states,)
    if not low.any():
        return covariance
    lifted = (vectors[low] * np.maximum(values[low], LEAST_VARIANCE)[:, None, :]) @ np.swapaxes(vectors[low], 1, 2)
    covariance[low] = 0.5 * (lifted + np.swapaxes(lifted, 1, 2)) * stddev[low][:, :, None] * stddev[low][:, None, :]
    return covariance


@dataclass(frozen=True)
class _Stack:
    """Patterns of one class each that show equally many columns, by class, so that NumPy takes them together."""

    observed: IntArray  # (n, n_observed)
    state: IntArray  # (n,) the class of each
    weight: FloatArray  # (n,)
    mean: FloatArray  # (n, n_observed)
    scatter: FloatArray  # (n, n_observed, n_observed)

    def of_states(self, chosen: BoolArray) -> _Stack:
        some = chosen[self.state]
        return self if some.all() else self.at(some)

    def at(self, chosen: BoolArray | IntArray | slice) -> _Stack:
        return _Stack(*(part[chosen] for part in self.parts))

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
    """The sums of the parts of each class, in an order in which other classes do not matter."""
    for part, stack in zip(parts, stacks, strict=True):
        starts = np.flatnonzero(np.r_[True, stack.state[1:] != stack.state[:-1]])
        total[stack.state[starts]] += np.add.reduceat(part, starts, axis=0)
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


def _stacked(tables: Sequence[Incomplete], firsts: IntArray) -> list[_Stack]:
    """The classes of the patterns that show at least one column, by how many they show."""
    by_width: dict[int, list[_Stack]] = {}
    for first, table in zip(firsts.tolist(), tables, strict=True):
        for pattern in table.patterns:
            if pattern.observed.shape[1] and pattern.weight.any():
                at, state = each = np.nonzero(pattern.weight > 0)
                sums = pattern.weight[each], pattern.mean[each], pattern.scatter[each]
                by_width.setdefault(pattern.observed.shape[1], []).append(
                    _Stack(pattern.observed[at], first + state, *sums)
                )
    most = max(1, _STACK_CELLS // max(1, len(tables[0].stddev) ** 2))
    return [part for width in sorted(by_width) for part in _in_parts(by_width[width], most)]


def _in_parts(stacks: Sequence[_Stack], most: int) -> Iterator[_Stack]:
    """One stack of all, or several of at most `most` patterns of each class and twice as many together."""
    together = _Stack(*map(np.concatenate, zip(*(each.parts for each in stacks), strict=True)))
    together = together.at(np.argsort(together.state, kind="stable"))
    place = np.arange(len(together.state)) - np.searchsorted(together.state, together.state)  # within the class
    first = np.maximum.accumulate(np.where(place % most == 0, np.arange(len(place)), 0)) // most
    starts = np.flatnonzero(np.r_[True, first[1:] != first[:-1]]).tolist()
    yield from (together.at(slice(a, b)) for a, b in zip(starts, [*starts[1:], len(place)], strict=True))
