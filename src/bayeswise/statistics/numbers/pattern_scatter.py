"""Scatter of rows with missing values: one exact scatter for each pattern, over the cells that are there.

This is all that maximum likelihood needs of an incomplete table: EM runs on it and never sees a row again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotMergedError, NotStreamableError, SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.numbers.scatter import Scatter
from bayeswise.statistics.protocol import refuse_amounts
from bayeswise.store.fields import stored_field

MOST_SUMS = 1 << 26
"""How many exact sums all patterns together may hold: about 2 GB."""


@dataclass(frozen=True)
class PatternScatter:
    """The scatter of complete rows, and of incomplete ones by pattern; "1.1": the second cell is missing.

    >>> table = np.array([[0.0, 1.0], [2.0, 3.0], [5.0, np.nan]])
    >>> PatternScatter.of(table).incomplete
    {'1.': Scatter(1 rows, 1 groups, 1 columns)}
    """

    complete: Scatter
    # sorted; a pattern vanishes with its last row
    incomplete: Mapping[str, Scatter] = field(default_factory=dict, metadata=stored_field({}, "holes"))

    def __post_init__(self) -> None:
        n_groups, n_columns = self.complete.total.shape
        if list(self.incomplete) != sorted(self.incomplete):
            raise SchemaError("the patterns of missing cells are not in order")
        for pattern, scatter in self.incomplete.items():
            shape = (n_groups, pattern.count("1"))
            if len(pattern) != n_columns or scatter.total.shape != shape or set(pattern) - {"1", "."}:
                raise SchemaError(f"the pattern {pattern!r} of missing cells does not match its sums")

    def refuse_impossible(self) -> None:
        scatters = [self.complete, *self.incomplete.values()]
        empty = [name for name, scatter in self.incomplete.items() if scatter.weight.is_zero().all()]
        if not all(scatter.incomplete.is_zero().all() for scatter in scatters) or empty:
            raise SchemaError("the rows of a pattern of missing cells lack other cells, or there are none")
        refuse_amounts([self.weight_of_rows.sum()], "a count of rows")

    @classmethod
    def of(
        cls, values: FloatArray, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> PatternScatter:
        """The scatter of some rows; a negative group is left out, a weight of k counts as k rows."""
        scatter = Scatter.of(values, groups, n_groups, weights)
        complete = Scatter(scatter.weight, scatter.total, scatter.cross, scatter.incomplete - scatter.incomplete)
        if scatter.incomplete.is_zero().all():
            return cls(complete)
        missing = np.isnan(values)
        rows = np.flatnonzero(missing.any(axis=1) & _present(len(values), groups, weights))
        packed, which = np.unique(np.packbits(missing[rows], axis=1), axis=0, return_inverse=True)
        patterns = np.unpackbits(packed, axis=1, count=values.shape[1]).astype(bool)  # (n_patterns, n_columns)
        _refuse_too_many(patterns, n_groups)
        order = np.argsort(which.ravel(), kind="stable")
        parts = np.split(rows[order], np.cumsum(np.bincount(which.ravel()))[:-1])
        incomplete = {
            pattern_of(~absent): Scatter.of(
                np.ascontiguousarray(values[part][:, ~absent]),
                None if groups is None else np.ascontiguousarray(groups[part]),
                n_groups,
                None if weights is None else np.ascontiguousarray(weights[part]),
            )
            for absent, part in zip(patterns, parts, strict=True)
        }
        return cls._canonical(complete, incomplete)

    @classmethod
    def _canonical(cls, complete: Scatter, incomplete: Mapping[str, Scatter]) -> PatternScatter:
        kept = {name: incomplete[name] for name in sorted(incomplete) if not incomplete[name].weight.is_zero().all()}
        return cls(complete, kept)

    # -- the group --------------------------------------------------------------------------------------------
    @property
    def weight_of_rows(self) -> ExactArray:
        weight = self.complete.weight
        for scatter in self.incomplete.values():
            weight = weight + scatter.weight
        return weight

    @property
    def n_columns(self) -> int:
        return self.complete.n_columns

    def zero(self) -> PatternScatter:
        return PatternScatter(self.complete.zero())

    def merge(self, other: PatternScatter) -> PatternScatter:
        return self._with(other, Scatter.merge)

    def subtract(self, other: PatternScatter) -> PatternScatter:
        return self._with(other, _without)

    def regroup(self, positions: IntArray, n_groups: int) -> PatternScatter:
        return self._each(lambda scatter: scatter.regroup(positions, n_groups))

    def take(self, groups: IntArray) -> PatternScatter:
        return self._each(lambda scatter: scatter.take(groups))

    def pooled(self) -> PatternScatter:
        return self._each(lambda scatter: scatter.pooled())

    def _each(self, change: Callable[[Scatter], Scatter]) -> PatternScatter:
        return self._canonical(change(self.complete), {name: change(part) for name, part in self.incomplete.items()})

    def _with(self, other: PatternScatter, combine: Callable[[Scatter, Scatter], Scatter]) -> PatternScatter:
        names = {*self.incomplete, *other.incomplete}
        incomplete = {name: combine(self._pattern(name), other._pattern(name)) for name in names}
        return self._canonical(combine(self.complete, other.complete), incomplete)

    def _pattern(self, name: str) -> Scatter:
        n_groups = self.complete.weight.shape[0]
        return self.incomplete[name] if name in self.incomplete else Scatter.empty(name.count("1"), n_groups)

    # -- derived values ---------------------------------------------------------------------------------------
    def by_pattern(self) -> list[tuple[IntArray, Scatter]]:
        """The observed columns and the scatter of each pattern, complete rows first."""
        parts = [(np.arange(self.n_columns), self.complete)]
        return parts + [(observed(name), scatter) for name, scatter in self.incomplete.items()]

    def cells(self) -> tuple[ExactArray, ExactArray, ExactArray]:
        """n, sum x and sum x^2 of the cells that are there, (n_groups, n_columns) each: moments column by column."""
        shape = self.complete.total.shape
        weight, total, squares = (ExactArray.zeros(shape) for _ in range(3))
        for columns, scatter in self.by_pattern():
            ones = ExactArray.zeros((shape[0], len(columns))) + scatter.weight[:, None]
            diagonal = np.arange(len(columns))
            weight = weight + ones.scatter_to(columns, shape[1], axis=1)
            total = total + scatter.total.scatter_to(columns, shape[1], axis=1)
            own = scatter.cross[:, diagonal * (diagonal + 3) // 2]
            squares = squares + own.scatter_to(columns, shape[1], axis=1)
        return weight, total, squares

    def __repr__(self) -> str:
        n_groups, n_columns = self.complete.total.shape
        rows = f"{self.weight_of_rows.sum().to_floats():g} rows, {n_groups} groups, {n_columns} columns"
        return f"PatternScatter({rows}, {len(self.incomplete)} patterns of missing cells)"


def pattern_of(present: BoolArray) -> str:
    """The name of a pattern.

    >>> pattern_of(np.array([True, False, True]))
    '1.1'
    """
    return "".join("1" if cell else "." for cell in present)


def observed(pattern: str) -> IntArray:
    """The columns whose cells are there.

    >>> observed("1.1").tolist()
    [0, 2]
    """
    return np.array([column for column, cell in enumerate(pattern) if cell == "1"], dtype=np.int64)


def _present(n_rows: int, groups: CodeArray | None, weights: FloatArray | None) -> BoolArray:
    present = np.ones(n_rows, dtype=bool)
    if groups is not None:
        present &= groups >= 0
    if weights is not None:
        present &= weights != 0
    return present


def _without(left: Scatter, right: Scatter) -> Scatter:
    rest: Scatter = left.subtract(right)
    empty: Any = rest.weight.is_zero()
    for part in (rest.total, rest.cross):
        if not part[empty].is_zero().all():
            raise NotMergedError(
                "the rows to subtract were never merged: sums would be left without rows",
                fix="forget only rows that this model has learned",
            )
    return rest


def _refuse_too_many(patterns: BoolArray, n_groups: int) -> None:
    width = (~patterns).sum(axis=1)
    sums = n_groups * int((width * (width + 3) // 2 + 1).sum())
    if sums > MOST_SUMS:
        raise NotStreamableError(
            f"the missing cells form {len(patterns):,} different patterns, whose covariances need {sums:,} sums",
            fix="leave out the columns with the most missing values, or use NaiveBayes, which needs no patterns",
        )
