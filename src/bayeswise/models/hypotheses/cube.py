"""All conjunctive concepts at once: a cube with one cell for each, and the rows that each of them covers.

Axis c has one place for each level of column c and a last one for "?". Counting rows into their cells and adding each
axis into its last place gives the number of rows that every concept covers, in |H| x columns additions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.models.hypotheses.boundaries import ANY, NOTHING, Concept
from bayeswise.posteriors.normalise import normalise

MOST_CONCEPTS = 1 << 22

ConceptPrior = Literal["uniform", "specific", "general"]
PRIORS: tuple[ConceptPrior, ...] = ("uniform", "specific", "general")


@dataclass(frozen=True, eq=False)
class ConceptCube:
    """p(concept | rows) for every conjunctive concept, with labels that are wrong at the rate `noise`.

    log p(rows | concept) = right log(1 - noise) + wrong log(noise). The prior is uniform, or gives each concept ten
    times the share of those with one demand fewer ("specific") or more ("general").
    """

    n_levels: tuple[int, ...]
    positive: FloatArray  # (n_levels[0] + 1, ...) positive rows that each concept covers
    negative: FloatArray
    noise: float
    prior: ConceptPrior = "uniform"

    @classmethod
    def of(
        cls,
        codes: IntArray,
        is_positive: BoolArray,
        n_levels: Sequence[int],
        *,
        weights: FloatArray | None = None,
        noise: float = 0.0,
        prior: ConceptPrior = "uniform",
    ) -> ConceptCube:
        """From codes (n_rows, n_columns) and whether each row is positive."""
        n_concepts = count_concepts(n_levels)
        if n_concepts > MOST_CONCEPTS:
            raise ParameterError(
                f"there are {n_concepts:,} concepts, more than the {MOST_CONCEPTS:,} that can be weighed one by one",
                fix="leave out columns; the boundaries S and G need no such list",
            )
        shape = tuple(k + 1 for k in n_levels)
        weight = np.ones(len(codes)) if weights is None else weights
        chosen = np.asarray(is_positive, dtype=bool)
        positive = _covered(codes[chosen], weight[chosen], shape)
        return cls(tuple(n_levels), positive, _covered(codes[~chosen], weight[~chosen], shape), noise, prior)

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", checked_noise(self.noise))
        check_prior(self.prior)

    @cached_property
    def n_wrong(self) -> FloatArray:
        """(n_concepts,) the rows that each concept gets wrong: the cells of the cube, then the concept of nothing."""
        everything = (-1,) * len(self.n_levels)
        cells = self.positive[everything] - self.positive + self.negative
        return np.append(cells.ravel(), self.positive[everything])

    @cached_property
    def log_prior(self) -> FloatArray:
        """(n_concepts,)."""
        demands = np.zeros(self.positive.shape)
        for c, k in enumerate(self.n_levels):
            is_level = np.arange(k + 1) < k
            demands += is_level.reshape([-1 if axis == c else 1 for axis in range(len(self.n_levels))])
        slope = {"uniform": 0.0, "specific": math.log(10.0), "general": -math.log(10.0)}[self.prior]
        log_weight = slope * np.append(demands.ravel(), len(self.n_levels) + 1.0)
        return log_weight - _log_total(log_weight)

    @cached_property
    def log_joint(self) -> FloatArray:
        """(n_concepts,) log p(concept) + log p(labels | concept)."""
        everything = (-1,) * len(self.n_levels)
        total = self.positive[everything] + self.negative[everything]
        if self.noise == 0:
            return np.where(self.n_wrong == 0, self.log_prior, -np.inf)
        right, wrong = (total - self.n_wrong), self.n_wrong
        return np.asarray(self.log_prior + right * math.log1p(-self.noise) + wrong * math.log(self.noise))

    @cached_property
    def probability(self) -> FloatArray:
        """(n_concepts,) the posterior; `ImpossibleEvidenceError` if no concept is left."""
        if not (self.log_joint > -np.inf).any():
            raise ImpossibleEvidenceError(
                "every concept is contradicted by some row", fix="allow for wrong labels with noise=0.05 or so"
            )
        return np.asarray(normalise(self.log_joint[None]).probability[0])

    @property
    def n_consistent(self) -> int:
        """The size of the version space."""
        return int((self.n_wrong == 0).sum())

    def consistent(self) -> list[Concept]:
        """The version space."""
        return [self.concept(int(k)) for k in np.flatnonzero(self.n_wrong == 0)]

    @property
    def map(self) -> Concept:
        """The most probable concept; the first of several, special ones before general ones."""
        return self.concept(int(np.argmax(self.log_joint)))

    def concept(self, cell: int) -> Concept:
        """The concept of a cell."""
        if cell == self.positive.size:
            return NOTHING
        places = np.unravel_index(cell, self.positive.shape)
        return tuple(int(at) if at < k else ANY for at, k in zip(places, self.n_levels, strict=True))

    def p_covered(self, codes: IntArray) -> FloatArray:
        """(n_rows,) the probability that the true concept covers each row: the sum over the concepts that do."""
        return np.asarray(self._p_cells[tuple(np.where(codes >= 0, codes, np.array(self.n_levels)).T)])

    @cached_property
    def _p_cells(self) -> FloatArray:
        """The same for every row that there can be; a missing cell is at the last place, and satisfies "?" only."""
        cells = self.probability[:-1].reshape(self.positive.shape).copy()
        for axis in range(cells.ndim):
            levels, any_level = (np.moveaxis(cells, axis, 0)[part] for part in (slice(None, -1), -1))
            levels += any_level
        return cells

    def p_positive(self, codes: IntArray) -> FloatArray:
        """(n_rows,) the probability of a positive label, which may be wrong itself."""
        inside = np.clip(self.p_covered(codes), 0.0, 1.0)
        return np.asarray(inside * (1.0 - self.noise) + (1.0 - inside) * self.noise)


def checked_noise(noise: Any) -> float:
    """A rate of wrong labels below one half: above it a label would mean its opposite."""
    try:
        share = float(noise)
    except (TypeError, ValueError):
        share = math.nan
    if not 0 <= share < 0.5:
        raise ParameterError(f"noise must be from 0 to below 1/2; found {noise!r}", fix="give 0.05 or so")
    return share


def check_prior(prior: Any) -> None:
    """Refuse a prior that there is not."""
    if prior not in PRIORS:
        raise ParameterError(f"there is no prior {prior!r}", fix=f"choose one of {', '.join(PRIORS)}")


def count_concepts(n_levels: Sequence[int]) -> int:
    """All conjunctions, and the concept of nothing.

    >>> count_concepts([3, 3, 2, 2])
    145
    """
    return math.prod(k + 1 for k in n_levels) + 1


def _covered(codes: IntArray, weight: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    cube = np.zeros(shape)
    places = np.where(codes >= 0, codes, np.array(shape) - 1)
    np.add.at(cube, tuple(places.T), weight)
    for axis in range(len(shape)):
        total = cube.sum(axis=axis)
        cube[(slice(None),) * axis + (-1,)] = total
    return cube


def _log_total(log_weight: FloatArray) -> float:
    top = float(log_weight.max())
    return top + float(log(np.exp(log_weight - top).sum()))
