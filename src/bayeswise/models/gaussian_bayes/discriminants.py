"""The log-odds of two classes as a formula: linear with a shared covariance, quadratic otherwise; and Fisher's view.

shared       w = S^-1 (mean+ - mean-)        w0 = logit p - (mean+' S^-1 mean+ - mean-' S^-1 mean-) / 2
per class    x' A x + b . x + c with A = (S-^-1 - S+^-1) / 2

On the line of one column two Gaussians with one variance cross once; with two variances they cross twice, once or
never. How often the best rule errs, if the model is true, is found

for one column                      exactly: each Gaussian's mass outside of its own regions, by Phi
for two classes, one covariance     with D the distance of the means and t = log p1/p2,
                                    p1 Phi(-D/2 - t/D) + p2 Phi(-D/2 + t/D)
otherwise                           as the mean of 1 - max p(state | row) over rows drawn from the model
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, NonFiniteError, ParameterError
from bayeswise.foundation.special import ndtr
from bayeswise.models.gaussian_bayes.class_moments import ClassMoments
from bayeswise.models.gaussian_bayes.covariance import diagonal_factor, factor_of, refuse_square
from bayeswise.models.gaussian_bayes.densities import Densities
from bayeswise.models.settings.gaussian import GaussianBayesSettings
from bayeswise.posteriors.line_regions import BayesError, Regions
from bayeswise.posteriors.normalise import normalise
from bayeswise.tables.schema.labels import Label, find_state
from bayeswise.tables.schema.names import find_name


@dataclass(frozen=True)
class LinearDiscriminant:
    """log p(state | row) - log p(against | row) = w . x + w0."""

    columns: tuple[str, ...]
    w: FloatArray  # (n_columns,)
    w0: float
    centre: FloatArray  # (2, n_columns) a point near the rows, as high + low
    at_centre: float  # w0 for numbers counted from there: no digits lost at large offsets

    def of_numbers(self, values: Any) -> FloatArray:
        """(n_rows,) log-odds of complete rows, in the order of the columns."""
        away = (np.asarray(values, dtype=np.float64) - self.centre[0]) - self.centre[1]
        return np.asarray(away @ self.w + self.at_centre)


@dataclass(frozen=True)
class QuadraticDiscriminant:
    """log p(state | row) - log p(against | row) = u' A u + b . u + c with u = x - centre."""

    columns: tuple[str, ...]
    matrix: FloatArray  # A, (n_columns, n_columns)
    vector: FloatArray  # b, (n_columns,)
    constant: float  # c
    centre: FloatArray  # (2, n_columns)

    def of_numbers(self, values: Any) -> FloatArray:
        """(n_rows,) log-odds of complete rows, in the order of the columns."""
        u = (np.asarray(values, dtype=np.float64) - self.centre[0]) - self.centre[1]
        return np.asarray(((u @ self.matrix) * u).sum(axis=1) + u @ self.vector + self.constant)

    def at_zero(self) -> tuple[FloatArray, FloatArray, float]:
        """A, b and c for the columns' own numbers, counted from 0."""
        centre = self.centre[0]
        turned = self.matrix @ centre
        return (
            self.matrix,
            self.vector - 2.0 * turned,
            self.constant - float(self.vector @ centre) + float(centre @ turned),
        )


@dataclass(frozen=True)
class Projection:
    """Fisher's linear discriminants: the directions in which the classes are farthest apart."""

    columns: tuple[str, ...]
    directions: FloatArray  # (n_components, n_columns)
    centre: FloatArray  # (2, n_columns)
    separation: FloatArray  # (n_components,) variance between the classes, in units of that within them

    def of_numbers(self, values: Any) -> FloatArray:
        """(n_rows, n_components); a missing cell counts as the mean of its column."""
        cells = np.asarray(values, dtype=np.float64)
        if np.isinf(cells).any():
            raise NonFiniteError("a cell to be projected is infinite", fix="leave it empty, or give a finite number")
        away = (cells - self.centre[0]) - self.centre[1]
        return np.asarray(np.where(np.isnan(away), 0.0, away) @ self.directions.T)


def linear_discriminant(densities: Densities, log_prior: FloatArray, one: int, other: int) -> LinearDiscriminant:
    """w and w0 of one state against another, for a shared covariance."""
    own = densities.in_own_units()
    _, constants = own.linear
    gap = (own.mean[one] - own.mean[other]) + (own.mean_low[one] - own.mean_low[other])
    w = own.spreads[0].precision_times(gap)
    at_centre = float(log_prior[one] - log_prior[other] + constants[0, one] - constants[0, other])
    return LinearDiscriminant(own.names, w, math.fsum([at_centre, *(-w * own.centre[0])]), own.centre, at_centre)


def quadratic_discriminant(densities: Densities, log_prior: FloatArray, one: int, other: int) -> QuadraticDiscriminant:
    """The quadratic form of one state against another."""
    own = densities.in_own_units()
    refuse_square(own.n_columns)
    identity = np.eye(own.n_columns)
    precision = [own.spreads[state].precision_times(identity) for state in (one, other)]
    away = [(own.mean[s] - own.centre[0]) + (own.mean_low[s] - own.centre[1]) for s in (one, other)]
    leaning = [p @ a for p, a in zip(precision, away, strict=True)]
    constant = [
        log_prior[state] + own.log_peak[state] - 0.5 * float(a @ b)
        for state, a, b in zip((one, other), away, leaning, strict=True)
    ]
    matrix = 0.5 * (precision[1] - precision[0])
    return QuadraticDiscriminant(
        own.names, 0.5 * (matrix + matrix.T), leaning[0] - leaning[1], float(constant[0] - constant[1]), own.centre
    )


def fisher_projection(
    moments: ClassMoments, settings: GaussianBayesSettings, names: tuple[str, ...], n_components: int | None
) -> Projection:
    """Directions that maximise variance between classes over variance within: at most one fewer than classes."""
    n_classes = int((moments.weight > 0).sum())
    most = min(n_classes - 1, len(names))
    chosen = most if n_components is None else n_components
    if not 0 <= chosen <= most:
        classes = "one class has no direction" if n_classes == 1 else f"{n_classes} classes have {most} directions"
        what = f"{classes} of {len(names)} columns between them; n_components is {n_components}"
        raise ParameterError(what, fix="choose fewer, or leave the number out")
    n, columns = moments.weight, moments.columns
    within, floor = moments.scatter.sum(axis=0) / n.sum(), settings.variance_floor
    if within.ndim == 1:
        spread = diagonal_factor(within, columns, variance_floor=floor)
    else:
        spread = factor_of(within, columns, shrinkage=0.0, variance_floor=floor, exact=False)
    away = columns.in_units(moments.mean, moments.mean_low) / spread.stddev  # (n_states, n_columns)
    away = (away - (n @ away) / n.sum()) * np.sqrt(n / n.sum())[:, None]
    _, lengths, axes = np.linalg.svd(spread.whitened(away), full_matrices=False)
    directions = spread.turned_back(axes[:chosen]) / spread.stddev  # (n_components, n_columns) in units
    largest = directions[np.arange(chosen), np.argmax(np.abs(directions), axis=1)]
    directions = directions * np.sign(largest)[:, None] / columns.unit
    return Projection(names, directions, np.stack([columns.centre, columns.centre_low]), lengths[:chosen] ** 2)


# -- regions of one column, and the error of the best rule ----------------------------------------------------


@dataclass(frozen=True)
class Weighted:
    """p(state) Normal(x; mean, stddev) on one line."""

    log_prior: float
    mean: float
    stddev: float

    def log_joint(self, x: float) -> float:
        if math.isinf(x):
            return -math.inf
        return self.log_prior - math.log(self.stddev) - 0.5 * ((x - self.mean) / self.stddev) ** 2


def crossings(one: Weighted, other: Weighted) -> list[float]:
    """Where two weighted densities are equal, ascending: none, one or two numbers.

    >>> half = math.log(0.5)
    >>> crossings(Weighted(half, 0.0, 1.0), Weighted(half, 2.0, 1.0))
    [1.0]
    >>> [round(x, 6) for x in crossings(Weighted(half, 0.0, 1.0), Weighted(half, 0.0, 2.0))]
    [-1.359556, 1.359556]
    """
    if one.stddev > other.stddev:
        one, other = other, one
    # u = (x - mean) / stddev of the narrow one: a u^2 + b u + c = 0 are the log-odds, with a <= 0
    gap, ratio = (other.mean - one.mean) / one.stddev, other.stddev / one.stddev
    a = 0.5 * (1.0 / ratio - 1.0) * (1.0 / ratio + 1.0)
    b = -gap / ratio / ratio
    c = 0.5 * (gap / ratio) ** 2 + math.log(ratio) + one.log_prior - other.log_prior
    return [one.mean + one.stddev * u for u in _roots(a, b, c)]


def _roots(a: float, b: float, c: float) -> list[float]:
    """Real roots of a u^2 + b u + c, ascending, without cancellation; no double root: nothing changes there."""
    if a == 0:
        return [] if b == 0 else [-c / b]
    inside = b * b - 4.0 * a * c
    if inside <= 0:
        return []
    half = -0.5 * (b + math.copysign(math.sqrt(inside), b))
    return sorted({half / a, c / half})


def weighted(densities: Densities, log_prior: FloatArray, column: str | None = None) -> tuple[str, list[Weighted]]:
    """The states as weighted Gaussians on the line of one column, the others integrated out."""
    if densities.df is not None:
        raise FitError("thresholds are found for Gaussian densities", fix='changed(predictive="plug-in")')
    if column is None:
        if densities.n_columns != 1:
            raise FitError(f"the model has {densities.n_columns} columns, not one", fix="name one of them")
        column = densities.names[0]
    name = find_name(column, densities.names, where="the model")
    own = densities.in_own_units()
    at = own.names.index(name)
    mean = own.mean[:, at] + own.mean_low[:, at]
    return name, [
        Weighted(float(p), float(m), float(s.stddev[at])) for p, m, s in zip(log_prior, mean, own.spreads, strict=True)
    ]


def regions(
    densities: Densities, log_prior: FloatArray, classes: Sequence[Label], column: str | None = None
) -> Regions:
    """Cut the line of one column where the most probable state changes."""
    name, lines = weighted(densities, log_prior, column)
    possible = [state for state, line in enumerate(lines) if line.log_prior > -math.inf]
    cuts = sorted({x for k, i in enumerate(possible) for j in possible[k + 1 :] for x in crossings(lines[i], lines[j])})
    best = [max(possible, key=lambda state: lines[state].log_joint(x)) for x in _between(cuts)]
    changes = [k for k in range(len(cuts)) if best[k] != best[k + 1]]
    states = [best[0], *(best[k + 1] for k in changes)]
    return Regions(name, np.array([cuts[k] for k in changes]), tuple(classes[state] for state in states))


def _between(cuts: list[float]) -> list[float]:
    """A point below all cuts, one between each two, and one above all."""
    if not cuts:
        return [0.0]
    reach = 1.0 + max(abs(cuts[0]), abs(cuts[-1])) + (cuts[-1] - cuts[0])
    middles = [0.5 * low + 0.5 * high for low, high in pairwise(cuts)]
    return [cuts[0] - reach, *middles, cuts[-1] + reach]


# -- the error of the best rule -------------------------------------------------------------------------------


def bayes_error(
    densities: Densities, log_prior: FloatArray, classes: Sequence[Label], *, draws: int = 200_000, seed: int = 0
) -> BayesError:
    """The error of the rule that takes the most probable state."""
    if densities.n_columns == 1 and densities.df is None:
        return _by_thresholds(densities, log_prior, classes)
    if densities.is_linear and len(classes) == 2:
        return _by_phi(densities, log_prior)
    return _by_sampling(densities, log_prior, draws, seed)


def error_at(
    densities: Densities, log_prior: FloatArray, classes: Sequence[Label], boundary: float, below: object = None
) -> BayesError:
    """The error of the rule that cuts one column at `boundary` and takes the state `below` under it.

    Without `below` it is the state with the lower mean. The limits of the two integrals depend on that side.
    """
    if len(classes) != 2:
        raise FitError(f"a boundary separates two classes; there are {len(classes)}", fix="leave the boundary out")
    _, lines = weighted(densities, log_prior)
    low = min((0, 1), key=lambda state: lines[state].mean) if below is None else find_state(below, classes)
    high = 1 - low
    by_state = [0.0, 0.0]
    by_state[low] = _mass(lines[low], boundary, np.inf)
    by_state[high] = _mass(lines[high], -np.inf, boundary)
    best = _by_thresholds(densities, log_prior, classes)
    return BayesError(sum(by_state), best.error, 0.0, "thresholds", (by_state[0], by_state[1]))


def _mass(line: Weighted, low: float, high: float) -> float:
    """p(state) P(low < x < high | state), without cancellation in either tail."""
    a, b = (low - line.mean) / line.stddev, (high - line.mean) / line.stddev
    mass = ndtr(-a) - ndtr(-b) if a > 0 else ndtr(b) - ndtr(a)
    return float(np.exp(line.log_prior) * mass)


def _by_thresholds(densities: Densities, log_prior: FloatArray, classes: Sequence[Label]) -> BayesError:
    found = regions(densities, log_prior, classes)
    _, lines = weighted(densities, log_prior)
    edges = [-np.inf, *found.thresholds.tolist(), np.inf]
    lost = [0.0] * len(classes)
    for low, high, winner in zip(edges[:-1], edges[1:], found.states, strict=True):
        for state, line in enumerate(lines):
            if classes[state] is not winner and classes[state] != winner:
                lost[state] += _mass(line, low, high)
    return BayesError(sum(lost), sum(lost), 0.0, "thresholds", tuple(lost))


def _by_phi(densities: Densities, log_prior: FloatArray) -> BayesError:
    gap = (densities.mean[1] - densities.mean[0]) + (densities.mean_low[1] - densities.mean_low[0])
    spread = densities.spreads[0]
    distance = float(np.linalg.norm(spread.whitened(gap / spread.stddev)))
    prior = np.exp(log_prior)
    if not prior.all() or distance == 0:
        lost = np.where(np.arange(2) == np.argmax(prior), 0.0, prior)
    else:
        lean = float(log_prior[0] - log_prior[1]) / distance
        lost = prior * ndtr([-0.5 * distance - lean, -0.5 * distance + lean])
    error = float(lost.sum())
    return BayesError(error, error, 0.0, "phi", tuple(lost.tolist()))


def _by_sampling(densities: Densities, log_prior: FloatArray, draws: int, seed: int) -> BayesError:
    """Rows drawn state by state in proportion to the prior; uncertainty is averaged, errors are not counted."""
    if draws < 2:
        raise ParameterError(f"draws is {draws}", fix="draw at least 2 rows")
    prior = np.exp(log_prior)
    counts = np.maximum(2, np.round(draws * prior)).astype(np.int64) * (prior > 0)
    states = np.repeat(np.arange(len(prior)), counts)
    rows = densities.sample(states, np.random.default_rng(seed))
    posterior = normalise(densities.relative(rows) + log_prior).probability
    stability = 1.0 - posterior.max(axis=1)
    taken = np.argmax(posterior, axis=1)
    error, variance, lost = 0.0, 0.0, [0.0] * len(prior)
    for state in np.flatnonzero(prior > 0).tolist():
        own = states == state
        error += prior[state] * float(stability[own].mean())
        variance += prior[state] ** 2 * float(stability[own].var(ddof=1)) / float(counts[state])
        lost[state] = float(prior[state] * (taken[own] != state).mean())
    return BayesError(error, error, float(np.sqrt(variance)), "sampling", tuple(lost))
