"""Moments of number columns, and beside them the cross products of their pairs as long as rows are few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.moments import Moments
from bayeswise.statistics.protocol import Additive
from bayeswise.statistics.scatter import Scatter

LARGEST_SCATTER = 1 << 24


@dataclass(frozen=True)
class PairSums(Additive):
    """Moments, and the scatter of all pairs of columns up to `most_rows` rows (None: of any number).

    Beyond that the pairs are let go, and only the moments are kept: the same for any order of rows. Forgetting rows
    does not bring the pairs back.

    >>> PairSums.of(np.array([[0.0, 0.0], [2.0, 4.0]]), most_rows=2)
    PairSums(2 rows, 1 groups, 2 columns, pairs kept)
    >>> PairSums.of(np.array([[0.0, 0.0], [2.0, 4.0]]), most_rows=1)
    PairSums(2 rows, 1 groups, 2 columns, pairs let go)
    """

    moments: Moments
    scatter: Scatter  # of no columns once the pairs are let go
    most_rows: int | None = None

    sums = ("moments", "scatter")

    def __post_init__(self) -> None:
        if self.scatter.weight.shape != self.moments.rows.shape or self.scatter.n_columns not in (0, self.n_columns):
            raise SchemaError("moments and cross products do not match in number")

    def refuse_impossible(self) -> None:
        if self.keeps_pairs and self.scatter.weight_of_rows != self.moments.rows:
            raise SchemaError("moments and cross products are of other rows")

    @classmethod
    def of(
        cls,
        values: FloatArray,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        most_rows: int | None = None,
    ) -> PairSums:
        """The sums of some rows; a negative group is left out, a weight of k counts as k rows."""
        moments = Moments.of(values, groups, n_groups, weights)
        if _are_too_many(moments, most_rows):
            return cls(moments, Scatter.empty(0, n_groups), most_rows)
        return cls(moments, Scatter.of(values, groups, n_groups, weights), most_rows)

    @property
    def keeps_pairs(self) -> bool:
        """Whether there are cross products."""
        return self.scatter.n_columns > 0

    @property
    def n_columns(self) -> int:
        return self.moments.weight.shape[1]

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.moments.rows

    def zero(self) -> PairSums:
        nothing = self.moments.zero()
        return PairSums(nothing, Scatter.empty(self.n_columns, nothing.n_groups), self.most_rows)

    def merge(self, other: PairSums) -> PairSums:
        moments = self.moments.merge(other.moments)
        if not (self.keeps_pairs and other.keeps_pairs) or _are_too_many(moments, self.most_rows):
            return PairSums(moments, Scatter.empty(0, moments.n_groups), self.most_rows)
        return PairSums(moments, self.scatter.merge(other.scatter), self.most_rows)

    def subtract(self, other: PairSums) -> PairSums:
        moments = self.moments.subtract(other.moments)
        if not self.keeps_pairs:
            return PairSums(moments, Scatter.empty(0, moments.n_groups), self.most_rows)
        return PairSums(moments, self.scatter.subtract(other.scatter), self.most_rows)

    def columns(self, positions: IntArray) -> PairSums:
        """The chosen columns, in the chosen order."""
        scatter = self.scatter.columns(positions) if self.keeps_pairs else self.scatter
        return PairSums(self.moments.columns(positions), scatter, self.most_rows)

    def __repr__(self) -> str:
        pairs = "kept" if self.keeps_pairs else "let go"
        return f"PairSums{repr(self.moments).removeprefix('Moments')[:-1]}, pairs {pairs})"


def most_rows_for(n_columns: int) -> int:
    """The rows up to which the pairs of so many columns take next to no time.

    >>> most_rows_for(4), most_rows_for(64), most_rows_for(1000)
    (32768, 16384, 0)
    """
    return 0 if n_columns > 128 else min(1 << 15, (1 << 26) // max(n_columns, 1) ** 2)


def _are_too_many(moments: Moments, most_rows: int | None) -> bool:
    n_groups, n_columns = moments.weight.shape
    if n_groups * n_columns**2 > LARGEST_SCATTER:
        return True
    return most_rows is not None and bool(np.asarray(moments.rows.sum().to_floats()) > most_rows)
