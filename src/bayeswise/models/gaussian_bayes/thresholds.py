"""Decision regions of one column: where the weighted densities of Gaussians cross.

Two Gaussians with one variance cross once; with two variances they cross twice, once or never: the log-odds are a
quadratic function of x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.gaussian_bayes.densities import Densities
from bayeswise.posteriors.line_regions import Regions
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.names import find_name


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
    """Real roots of a u^2 + b u + c, ascending, without cancellation; a double root is none: nothing changes there."""
    if a == 0:
        return [] if b == 0 else [-c / b]
    inside = b * b - 4.0 * a * c
    if inside <= 0:
        return []
    half = -0.5 * (b + math.copysign(math.sqrt(inside), b))
    return sorted({half / a, c / half})


def weighted(densities: Densities, log_prior: FloatArray, column: str | None = None) -> tuple[str, list[Weighted]]:
    """The states as weighted Gaussians on the line of one column, the others integrated out."""
    if densities.freedom is not None:
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
