"""Where the best action changes along one number: regions out to both ends of the floats, and their masses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log
from bayeswise.tables.schema.labels import Label

_QUANTILES = 400  # of each state, between which at most one change of action is looked for at a time
_TAIL = 1100  # doublings of the distance beyond the outermost quantile: past the largest float
_HALVINGS = 2100  # more than any two floats need
_ROUNDINGS = 8 * np.finfo(np.float64).eps  # by which a computed log density may be off, relative to its size
_UNKNOWN = 1e-6  # a rounding of the log density that is too large for a near tie to be called a tie
_UNDERFLOW = -708.0  # the logarithm of a density below the normal floats


Method = Literal["thresholds", "phi", "sampling", "sums"]


@dataclass(frozen=True)
class Regions:
    """The line, cut by thresholds: states[0] below the first, states[1] up to the second, and so on."""

    column: str
    thresholds: FloatArray  # (n_regions - 1,) ascending
    states: tuple[Label, ...]  # (n_regions,)

    def __repr__(self) -> str:
        words = [repr(self.states[0])]
        for threshold, state in zip(self.thresholds, self.states[1:], strict=True):
            words += [f"{threshold:.6g}", repr(state)]
        return f"Regions({self.column}: {' | '.join(words)})"


@dataclass(frozen=True)
class BayesError:
    """The error of a rule; irreducible is what the best rule would still have."""

    error: float
    irreducible: float
    standard_error: float  # 0 where the error is exact
    method: Method
    by_state: tuple[float, ...]  # the share of all rows that are of a state and taken for another

    @property
    def reducible(self) -> float:
        """What a better rule would save."""
        return self.error - self.irreducible

    def __repr__(self) -> str:
        bar = f" +- {self.standard_error:.2g}" if self.standard_error else ""
        saved = f", {self.reducible:.6g} of it reducible" if self.reducible else ""
        return f"BayesError({self.error:.6g}{bar}{saved}, by {self.method})"


def regions(table: FloatArray, prior: FloatArray, likelihoods: Sequence[Any]) -> tuple[list[float], list[int]]:
    """Rising edges and the best action (a row of the table) of each region between them.

    Ties go to the first action. Where no state has any density the region before goes on.
    """
    size = float(np.abs(table).max(initial=0.0))
    line = _Line(table / size if size > 0.0 else table, log(prior), tuple(map(_LogDensity.of, likelihoods)))
    grid = line.grid()
    found, known = line.best(grid)
    if not known.any():
        return [], [int(np.argmin(table @ prior))]
    grid, found = grid[known], found[known]
    edges: list[float] = []
    actions = [int(found[0])]
    for k in np.flatnonzero(np.diff(found)).tolist():
        low, high, last = float(grid[k]), float(grid[k + 1]), int(found[k + 1])
        while actions[-1] != last and low < high:  # a third action may show up in between
            before, after = _first_change(line, low, high, actions[-1])
            action = int(line.best(np.array([after]))[0][0])
            edges.append(line.exact_edge(actions[-1], action, low, high, before))
            actions.append(action)
            low = after
    return edges, actions


@dataclass(frozen=True)
class _LogDensity:
    """log p(x | state), and where it can be trusted."""

    log_density: Callable[[FloatArray], Any]
    support: tuple[float, float]
    ppf: Callable[[FloatArray], Any]
    normal: tuple[float, float] | None  # mean and stddev
    log_of_density: bool  # it is a logarithm of a float density, which underflows

    @classmethod
    def of(cls, given: Any) -> _LogDensity:
        ends = np.asarray(given.ppf(np.array([0.0, 1.0])), dtype=np.float64)
        name = getattr(getattr(given, "dist", None), "name", "")  # a frozen one of scipy.stats
        normal = (float(given.mean()), float(given.std())) if name == "norm" else None
        if name == "laplace":  # scipy takes the logarithm of a density that underflows
            place, scale = float(given.mean()), float(given.std()) / math.sqrt(2.0)
            exact = lambda x: -np.abs(x - place) / scale - math.log(2.0 * scale)  # noqa: E731
            return cls(exact, (float(ends[0]), float(ends[1])), given.ppf, None, False)
        return cls(given.logpdf, (float(ends[0]), float(ends[1])), given.ppf, normal, _underflows(given))

    def __call__(self, x: FloatArray) -> tuple[FloatArray, Any]:
        """log p and whether it is known: 0 density outside of the support is, 0 by underflow inside is not."""
        with np.errstate(all="ignore"):
            values = np.asarray(self.log_density(x), dtype=np.float64)
        inside = (x >= self.support[0]) & (x <= self.support[1])
        lost = ~(values > (_UNDERFLOW if self.log_of_density else -np.inf)) | (values == np.inf)
        return np.where(inside & np.isfinite(values), values, -np.inf), ~(inside & lost)


def _underflows(given: Any) -> bool:
    """Whether far out nothing is finite below the logarithm of the least float."""
    start, end = (float(given.ppf(q)) for q in (0.25, 0.75))
    far = np.ldexp(max(end - start, 1e-300), np.arange(1, 400))
    with np.errstate(all="ignore"):
        values = np.asarray(given.logpdf(np.concatenate([start - far, end + far])), dtype=np.float64)
    return bool((values == -np.inf).any() and not (np.isfinite(values) & (values < -746.0)).any())


@dataclass(frozen=True)
class _Line:
    table: FloatArray  # (n_actions, n_states), at most 1 in size
    log_prior: FloatArray  # (n_states,)
    densities: tuple[_LogDensity, ...]

    def best(self, x: FloatArray) -> tuple[Any, Any]:
        """(n,) the best action at each x, and (n,) whether rounding and underflow leave it certain."""
        answers = [density(x) for density in self.densities]
        log_joint = np.stack([values for values, _ in answers], axis=-1) + self.log_prior  # (n, n_states)
        lost = np.stack([~known for _, known in answers], axis=-1) & np.isfinite(self.log_prior)
        roundings = _ROUNDINGS * np.where(np.isfinite(log_joint), 1.0 + np.abs(log_joint), 0.0)
        best = np.zeros(len(x), dtype=np.intp)
        known = np.isfinite(log_joint).any(axis=-1) & ~lost.any(axis=-1)
        for action in range(1, len(self.table)):
            more = self.table[action] - self.table[best]  # (n, n_states) what it costs more than the best so far
            # weights are relative to the likeliest state in which the two differ: what is equal in both cannot hide it
            differing = np.where(more != 0.0, log_joint, -np.inf)
            top = differing.max(axis=-1, keepdims=True)
            weights = np.exp(differing - np.where(np.isfinite(top), top, 0.0))
            terms = weights * more
            uncertain = np.sum(np.abs(terms) * np.expm1(np.minimum(roundings, 1.0)), axis=-1)
            total = terms.sum(axis=-1)
            worst = np.where(weights > 0.0, roundings, 0.0).max(axis=-1)
            known &= (np.abs(total) > uncertain) | (worst < _UNKNOWN)
            best = np.where(total < -uncertain, action, best)
        return best, known

    def grid(self) -> FloatArray:
        """Quantiles of every state, both tails to the largest floats, ends of supports, and where normals cross."""
        inner = np.linspace(0.0, 1.0, _QUANTILES + 1)[1:-1]
        rare = 10.0 ** -np.arange(3.0, 13.0)
        levels = np.concatenate([rare, inner, 1.0 - rare])
        quantiles = np.concatenate([np.asarray(each.ppf(levels), dtype=np.float64) for each in self.densities])
        quantiles = quantiles[np.isfinite(quantiles)]
        ends = np.array([end for each in self.densities for end in each.support if np.isfinite(end)])
        seen = np.concatenate([quantiles, ends])
        if not len(seen):
            return np.zeros(1)
        first, last = float(seen.min()), float(seen.max())
        with np.errstate(over="ignore"):
            steps = np.ldexp(max(last - first, 1e-300), np.arange(-8, _TAIL))
            tails = np.concatenate([first - steps, last + steps])
        crossings = np.unique([x for pair in combinations(range(len(self.table)), 2) for x in self.crossings(*pair)])
        between = [0.5 * low + 0.5 * high for low, high in pairwise(crossings.tolist())]
        beside = np.concatenate([np.nextafter(ends, -np.inf), np.nextafter(ends, np.inf)])
        found = np.unique(np.concatenate([seen, tails, beside, crossings, between]))
        return np.asarray(found[np.isfinite(found)], dtype=np.float64)

    def crossings(self, one: int, other: int) -> list[float]:
        """Where two actions cost the same, if that depends on two normal states: the roots of a quadratic in x."""
        more = self.table[one] - self.table[other]
        states = [s for s in np.flatnonzero(more).tolist() if np.isfinite(self.log_prior[s])]
        if len(states) != 2 or more[states[0]] * more[states[1]] > 0.0:
            return []
        a, b = states
        first, second = self.densities[a].normal, self.densities[b].normal
        if first is None or second is None:
            return []
        log_stakes = math.log(abs(more[a])) - math.log(abs(more[b])) + float(self.log_prior[a] - self.log_prior[b])
        return _normals_cross(first, second, log_stakes)

    def exact_edge(self, one: int, other: int, low: float, high: float, found: float) -> float:
        """The crossing in closed form between low and high, if there is one, else the one found."""
        inside = [x for x in self.crossings(one, other) if low <= x <= high]
        return min(inside, key=lambda x: abs(x - found)) if inside else found


def _normals_cross(first: tuple[float, float], second: tuple[float, float], log_stakes: float) -> list[float]:
    """The x with log N(x; first) - log N(x; second) + log_stakes = 0, rising.

    >>> [round(x, 3) for x in _normals_cross((15.0, 3.0), (25.0, 4.0), math.log(3.0))]
    [-16.59, 20.876]
    """
    (m, s), (n, t) = first, second
    unit, d = s, (n - m) / s  # in units of the first: N(0, 1) against N(d, r)
    r = t / s
    # -z^2 / 2 + (z - d)^2 / (2 r^2) + log r + log_stakes = 0, times 2 r^2
    square, linear = (1.0 - r) * (1.0 + r), -2.0 * d
    constant = d * d + 2.0 * r * r * (math.log(r) + log_stakes)
    if square == 0.0:
        return [m + unit * (-constant / linear)] if linear else []
    inside = linear * linear - 4.0 * square * constant
    if not inside >= 0.0 or not math.isfinite(inside):
        return []
    half = -0.5 * (linear + math.copysign(math.sqrt(inside), linear))  # without cancellation
    roots = [half / square, constant / half] if half else [0.0]
    return sorted(x for z in roots if math.isfinite(x := m + unit * z))


def _first_change(line: _Line, low: float, high: float, action: int) -> tuple[float, float]:
    """Neighbouring floats on both sides of the end of the region of `action`; no density belongs to it."""
    for _ in range(_HALVINGS):
        middle = 0.5 * low + 0.5 * high
        if middle in (low, high):
            break
        best, known = line.best(np.array([middle]))
        if best[0] == action or not known[0]:
            low = middle
        else:
            high = middle
    return low, high
