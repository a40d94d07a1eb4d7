"""Conjunctive concepts and the boundaries of those that no row contradicts: FIND-S and candidate elimination.

A concept demands a level of some columns and takes any of the others ("?"); one more concept covers nothing at all.
Here it is a tuple with a code or ANY for each column, and NOTHING for the last one. A missing cell satisfies "?" only.

All of them at once are a cube with one cell for each: axis c has one place for each level of column c and a last one
for "?". Counting rows into their cells and adding each axis into its last place gives the number of rows that every
concept covers, in |H| x columns additions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, TooFewRowsError
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.posteriors.normalise import normalise
from bayeswise.render.labels import refuse_unknown

ANY = -9
"""Any level; -1 and -2 are cells that are missing or unseen."""

Concept: TypeAlias = tuple[int, ...]
Row: TypeAlias = tuple[int, ...]
NOTHING: Concept = ()

MOST_GENERAL = 100_000
"""How many members the general boundary may have; it can grow exponentially with the columns."""


def covers(concept: Concept, row: Row) -> bool:
    """Whether the row belongs to the concept.

    >>> covers((ANY, 1), (0, 1)), covers((ANY, 1), (0, 0)), covers(NOTHING, (0, 0))
    (True, False, False)
    """
    return concept != NOTHING and all(want in (ANY, cell) for want, cell in zip(concept, row, strict=True))


def find_s(positive: Iterable[Row]) -> Concept:
    """The most specific concept that covers the positive rows: each column keeps the level that all of them share.

    >>> find_s([(0, 1, 2), (0, 1, 0)]) == (0, 1, ANY)
    True
    """
    concept = NOTHING
    for row in positive:
        if concept == NOTHING:
            concept = tuple(cell if cell >= 0 else ANY for cell in row)
        else:
            concept = tuple(have if have == cell else ANY for have, cell in zip(concept, row, strict=True))
    return concept


@dataclass(frozen=True)
class Boundaries:
    """The version space between its most specific and its most general members; both empty if it has collapsed."""

    specific: tuple[Concept, ...]
    general: tuple[Concept, ...]


def candidate_elimination(positive: Iterable[Row], negative: Iterable[Row], n_levels: Sequence[int]) -> Boundaries:
    """The boundaries S and G of the concepts that cover every positive row and no negative one.

    They do not depend on the order of the rows, so the positive ones come first: G then never leaves S.
    """
    negatives = list(dict.fromkeys(negative))
    lowest = find_s(positive)
    if any(covers(lowest, row) for row in negatives):
        return Boundaries((), ())
    general = tuple(sorted(_most_general(negatives, lowest, n_levels)))
    return Boundaries((lowest,), general or (NOTHING,))


def _most_general(negatives: Sequence[Row], lowest: Concept, n_levels: Sequence[int]) -> Iterator[Concept]:
    """Those that rule every negative row out with no demand to spare; above S, whose levels alone may be demanded."""
    demands = [
        Demand(c, level)
        for c in range(len(n_levels))
        for level in (range(n_levels[c]) if lowest == NOTHING else {lowest[c]} - {ANY})
    ]
    ruled_out_by = (
        sum(1 << k for k, demand in enumerate(demands) if row[demand.column] != demand.level) for row in negatives
    )
    for n, choice in enumerate(minimal_demands(demands, ruled_out_by)):
        if n == MOST_GENERAL:
            raise TooFewRowsError(
                f"the general boundary has more than {MOST_GENERAL:,} members",
                fix="give more positive rows, or fewer columns",
            )
        levels = {demand.column: demand.level for demand in choice}
        yield tuple(levels.get(c, ANY) for c in range(len(n_levels)))


@dataclass(frozen=True)
class Demand:
    """A level of a column."""

    column: int
    level: int


def minimal_demands(demands: Sequence[Demand], ruled_out_by: Iterable[int]) -> Iterator[tuple[Demand, ...]]:
    """Every choice, at most one level of each column, that rules all rows out and would not without one of its demands.

    `ruled_out_by` has for each row the demands (bits) that rule it out.

    >>> first, second, third = (Demand(column, 0) for column in range(3))
    >>> [[demand.column for demand in choice] for choice in minimal_demands([first, second, third], [0b101, 0b110])]
    [[0, 1], [2]]
    """
    rows = _hardest(set(ruled_out_by))
    rules_out = [sum(1 << k for k, row in enumerate(rows) if row >> d & 1) for d in range(len(demands))]
    left = [_Choice(demand, out) for demand, out in zip(demands, rules_out, strict=True) if out]
    for choice in _completed((), (), (1 << len(rows)) - 1, tuple(left)):
        yield tuple(each.demand for each in choice)


@dataclass(frozen=True)
class _Choice:
    demand: Demand
    rows: int  # (bits) that it rules out


def _hardest(rows: set[int]) -> list[int]:
    """Without each row that is ruled out by all that rules out another one."""
    kept: list[int] = []
    for row in sorted(rows, key=int.bit_count):
        if not any(other & row == other for other in kept):
            kept.append(row)
    return kept


def _completed(
    chosen: tuple[_Choice, ...], own_rows: tuple[int, ...], open_rows: int, left: tuple[_Choice, ...]
) -> Iterator[tuple[_Choice, ...]]:
    """The choices that begin so; `own_rows` are those that each chosen demand alone rules out."""
    if not open_rows:
        yield chosen
        return
    row = min(_bits(open_rows), key=lambda bit: sum(1 for each in left if each.rows & bit))
    others = tuple(each for each in left if not each.rows & row)
    for new in (each for each in left if each.rows & row):
        still_own = tuple(own & ~new.rows for own in own_rows)
        if all(still_own):
            rest = tuple(each for each in others if each.demand.column != new.demand.column)
            own = (*still_own, open_rows & new.rows)
            yield from _completed((*chosen, new), own, open_rows & ~new.rows, rest)
        others = (*others, new)


def _bits(rows: int) -> Iterator[int]:
    while rows:
        lowest = rows & -rows
        yield lowest
        rows ^= lowest


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
        return log_weight - float(log_sum_exp(log_weight))

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
    refuse_unknown(prior, PRIORS, "there is no prior")


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
