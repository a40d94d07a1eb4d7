"""X'X, X'y and y'y of a regression, exactly: the scatter of numbers, indicators of levels, and the target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.errors import KindError, SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.numbers.scatter import Scatter, packed_position
from bayeswise.statistics.protocol import refuse_amounts, refuse_levels, united
from bayeswise.tables.schema.labels import Vocabulary

BLOCK_ROWS = 16_384
MISSING_LEVEL = "missing"


@dataclass(frozen=True)
class RegressionMoments:
    """The scatter of z = (numbers, one indicator for every level of each category, target) over complete rows.

    Every level has its indicator, so no level needs to be the reference yet; levels stand in canonical order and vanish
    with their last row unless they were declared. Where missing cells are marked, the levels of the categories are
    followed by those of one more for each number and category, which has the level "missing" or none: a missing cell
    is 0 there, and 1 here.

    >>> moments = RegressionMoments.of(np.array([[0.0], [1.0], [2.0]]), target=np.array([1.0, 3.0, 5.0]))
    >>> moments
    RegressionMoments(3 rows, 1 numbers, 0 levels)
    """

    levels: tuple[Vocabulary, ...]
    scatter: Scatter  # one group
    declared: tuple[Vocabulary, ...]

    def __post_init__(self) -> None:
        if len(self.levels) != len(self.declared) or self.n_numbers < 0 or len(self.scatter.weight.shape) != 1:
            raise SchemaError("moments, levels and declared levels of a regression do not match in number")

    def refuse_impossible(self) -> None:
        if self.scatter.weight.shape != (1,):
            raise SchemaError("the moments of a regression have one group")
        first = self.n_numbers
        for levels, declared in zip(self.levels, self.declared, strict=True):
            refuse_levels(levels, declared)
            places = np.arange(first, first + len(levels))
            counts = self.scatter.total[:, places]
            refuse_amounts([counts, self.scatter.weight - counts.sum(axis=1)], "the count of a level")
            first += len(levels)

    @classmethod
    def of(
        cls,
        values: FloatArray,
        codes: CodeArray | None = None,
        vocabularies: Sequence[Vocabulary] = (),
        *,
        target: FloatArray,
        weights: FloatArray | None = None,
        declared: Sequence[Vocabulary | None] | None = None,
        marks_missing: bool = False,
    ) -> RegressionMoments:
        """The moments of some rows; a weight of k counts as k rows.

        A row with a missing cell is counted as incomplete, unless missing cells are marked.
        """
        fixed = tuple(each or Vocabulary() for each in (declared or [None] * len(vocabularies)))
        levels = tuple(Vocabulary.of([*known, *stay]) for known, stay in zip(vocabularies, fixed, strict=True))
        moved = [known.positions_in(to) for known, to in zip(vocabularies, levels, strict=True)]
        n_filled = values.shape[1] + sum(map(len, levels))
        marks = np.empty((len(target), 0), dtype=np.bool_)
        if marks_missing:
            missing = np.isnan(values)
            missing = missing if codes is None else np.concatenate([missing, codes < 0], axis=1)
            met = np.asarray(missing.any(axis=0))
            marks, values = missing[:, met], np.where(np.isnan(values), 0.0, values) if missing.any() else values
            levels += tuple(Vocabulary([MISSING_LEVEL] if each else []) for each in met.tolist())
            fixed += (Vocabulary(),) * len(met)
        columns = n_filled + marks.shape[1] + 1
        scatter = Scatter.empty(columns)
        for first in range(0, len(target), BLOCK_ROWS):
            rows = slice(first, first + BLOCK_ROWS)
            block = np.zeros((len(target[rows]), columns))
            block[:, : values.shape[1]] = values[rows]
            block[:, -1] = target[rows]
            if codes is not None:
                sizes = [len(each) for each in levels[: len(moved)]]
                fill_indicators(block[:, values.shape[1] : n_filled], codes[rows], moved, sizes)
            if marks_missing:
                block[:, n_filled:-1] = marks[rows]
            elif codes is not None:
                block[(codes[rows] < 0).any(axis=1), -1] = np.nan  # a category without a level has no indicator
            scatter = scatter.merge(Scatter.of(block, weights=None if weights is None else weights[rows]))
        return cls(levels, scatter, fixed)._without_vanished()

    @property
    def n_numbers(self) -> int:
        return self.scatter.n_columns - 1 - sum(map(len, self.levels))

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.scatter.weight_of_rows

    # -- the group --------------------------------------------------------------------------------------------
    def zero(self) -> RegressionMoments:
        return RegressionMoments(self.levels, self.scatter.zero(), self.declared)._without_vanished()

    def merge(self, other: RegressionMoments) -> RegressionMoments:
        levels = self._united(other)
        return RegressionMoments(levels, self._over(levels).merge(other._over(levels)), self.declared)

    def subtract(self, other: RegressionMoments) -> RegressionMoments:
        levels = self._united(other)
        left = self._over(levels).subtract(other._over(levels))
        return RegressionMoments(levels, left, self.declared)._without_vanished()

    def _united(self, other: RegressionMoments) -> tuple[Vocabulary, ...]:
        if self.n_numbers != other.n_numbers or len(self.levels) != len(other.levels):
            raise KindError(f"the moments are of different columns: {self!r} against {other!r}")
        return united(self.levels, other.levels)

    def over_levels(self, levels: tuple[Vocabulary, ...]) -> RegressionMoments:
        """The same moments with places for these levels, which include all that were seen."""
        return RegressionMoments(levels, self._over(levels), self.declared)

    def _over(self, levels: tuple[Vocabulary, ...]) -> Scatter:
        """The same scatter with places for more levels, at which nothing was seen."""
        if levels == self.levels:
            return self.scatter
        positions = list(range(self.n_numbers))
        first = self.n_numbers
        for mine, all_levels in zip(self.levels, levels, strict=True):
            positions += (first + mine.positions_in(all_levels)).tolist()
            first += len(all_levels)
        return _spread_out(self.scatter, np.array([*positions, first]), first + 1)

    def _without_vanished(self) -> RegressionMoments:
        seen = ~self.scatter.total.is_zero()[0]  # an indicator's total is its count
        kept = [np.ones(self.n_numbers, dtype=np.bool_)]
        first = self.n_numbers
        for levels, declared in zip(self.levels, self.declared, strict=True):
            stays = np.array([level in declared for level in levels], dtype=np.bool_)
            kept.append(stays | seen[first : first + len(levels)])
            first += len(levels)
        if all(each.all() for each in kept):
            return self
        chosen = np.flatnonzero(np.concatenate([*kept, [True]]))
        left = tuple(Vocabulary(compress(levels, keep)) for levels, keep in zip(self.levels, kept[1:], strict=True))
        return RegressionMoments(left, self.scatter.columns(chosen), self.declared)

    # -- derived quantities, rounded once ---------------------------------------------------------------------
    def n_rows(self) -> float:
        """The weight of the complete rows."""
        return float(self.scatter.weight.to_floats()[0])

    def mean(self) -> FloatArray:
        """(n_columns + 1,) the means, the target's last."""
        return np.asarray(self.scatter.mean()[0])

    def products(self, positions: IntArray, *, centred: bool) -> Dyadic:
        """(n, n) the weight times the sum of (z_i - mean_i)(z_j - mean_j), or the sum of z_i z_j; exact."""
        rows, columns = np.meshgrid(positions, positions, indexing="ij")
        packed = np.vectorize(packed_position, otypes=[int])(rows, columns) if len(positions) else rows
        cross = Dyadic.of(self.scatter.cross)[0][packed]
        if not centred:
            return cross
        total = Dyadic.of(self.scatter.total)[0][positions]
        return Dyadic.of(self.scatter.weight)[0] * cross - total[:, None] * total[None, :]

    def __repr__(self) -> str:
        n_levels = sum(map(len, self.levels))
        return f"RegressionMoments({self.n_rows():g} rows, {self.n_numbers} numbers, {n_levels} levels)"


def fill_indicators(block: FloatArray, codes: CodeArray, moved: Sequence[IntArray], sizes: Sequence[int]) -> None:
    """Write 1 where a row has the level."""
    first = 0
    for c, (positions, size) in enumerate(zip(moved, sizes, strict=True)):
        rows = np.flatnonzero(codes[:, c] >= 0)
        block[rows, first + positions[codes[rows, c]]] = 1.0
        first += size


def _spread_out(scatter: Scatter, positions: IntArray, n_columns: int) -> Scatter:
    packed = [packed_position(int(i), int(j)) for a, i in enumerate(positions) for j in positions[: a + 1]]
    return Scatter(
        scatter.weight,
        scatter.total.scatter_to(positions, n_columns, axis=1),
        scatter.cross.scatter_to(packed, n_columns * (n_columns + 1) // 2, axis=1),
        scatter.incomplete,
    )
