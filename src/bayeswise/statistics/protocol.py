"""The contract of a statistic: a frozen value, an exact abelian group, grouped along its first axis; class counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotMergedError, SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.store.document import pack
from bayeswise.tables.schema.labels import Vocabulary


class SufficientStatistics(Protocol):
    """`merge` is associative and commutative and `subtract` undoes it, all to the last bit."""

    @property
    def weight_of_rows(self) -> ExactArray:
        """(n_groups,) the weight of all rows seen, missing cells or not."""

    def zero(self) -> Self:
        """The same statistic of no rows."""

    def merge(self, other: Self) -> Self:
        """The statistic of both sets of rows."""

    def subtract(self, other: Self) -> Self:
        """The statistic without the other's rows; `NotMergedError` if they cannot have been in it."""

    def regroup(self, positions: IntArray, n_groups: int) -> Self:
        """Group g becomes group positions[g] of n_groups; groups that nothing moves to are zero."""

    def take(self, groups: IntArray) -> Self:
        """The chosen groups, in the chosen order."""

    def pooled(self) -> Self:
        """All groups as one."""


class Additive:
    """A frozen dataclass whose sums (exact arrays, or statistics) merge one by one; its other fields stay.

    Where levels vanish with their last row, `_canonical` leaves out those of which nothing is left.
    """

    sums: ClassVar[tuple[str, ...]]  # the names of the fields that add up; their first axis is that of groups

    def zero(self) -> Self:
        return self._each(lambda exact: ExactArray.zeros(exact.shape), lambda part: part.zero())._canonical()

    def merge(self, other: Self) -> Self:
        return self._with(other, lambda mine, theirs: mine + theirs, lambda mine, theirs: mine.merge(theirs))

    def subtract(self, other: Self) -> Self:
        left = self._with(other, lambda mine, theirs: mine - theirs, lambda mine, theirs: mine.subtract(theirs))
        left._refuse_unmerged()
        return left

    def regroup(self, positions: IntArray, n_groups: int) -> Self:
        return self._each(
            lambda exact: exact.scatter_to(positions, n_groups), lambda part: part.regroup(positions, n_groups)
        )

    def take(self, groups: IntArray) -> Self:
        return self._each(lambda exact: exact[groups], lambda part: part.take(groups))._canonical()

    def pooled(self) -> Self:
        return self._each(lambda exact: exact.sum(axis=0).reshape(1, *exact.shape[1:]), lambda part: part.pooled())

    def _canonical(self) -> Self:
        return self

    def _refuse_unmerged(self) -> None:
        """`NotMergedError` for what is left when rows are subtracted that were never merged."""

    def _each(self, of_exact: Callable[[ExactArray], ExactArray], of_part: Callable[[Any], Any]) -> Self:
        mine = {name: getattr(self, name) for name in self.sums}
        changed = {k: of_exact(v) if isinstance(v, ExactArray) else of_part(v) for k, v in mine.items()}
        return replace(self, **changed)  # type: ignore[type-var]

    def _with(
        self,
        other: Self,
        of_exact: Callable[[ExactArray, ExactArray], ExactArray],
        of_part: Callable[[Any, Any], Any],
    ) -> Self:
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.sums}
        changed = {k: (of_exact if isinstance(v[0], ExactArray) else of_part)(*v) for k, v in pairs.items()}
        return replace(self, **changed)  # type: ignore[type-var]


def fingerprint(statistic: Any) -> str:
    """The SHA-256 of the canonical bytes: equal exactly for equal statistics."""
    return pack(statistic).digest()


def refuse_amounts(exacts: Iterable[ExactArray], what: str) -> None:
    """An amount that no rows can have: below zero, or beyond the range of floats."""
    for exact in exacts:
        if exact.is_negative().any() or not np.isfinite(exact.to_floats()).all():
            raise SchemaError(f"{what} must be finite and not below zero")


def refuse_levels(levels: Vocabulary, declared: Vocabulary) -> None:
    """Levels that are not in canonical order, or lack one that was declared."""
    if not levels.is_canonical or not all(level in levels for level in declared):
        raise SchemaError("levels must stand in canonical order, the declared ones among them")


def united(one: Sequence[Vocabulary], other: Sequence[Vocabulary]) -> tuple[Vocabulary, ...]:
    """The levels of two tables of the same columns, column by column."""
    return tuple(mine.union(theirs) for mine, theirs in zip(one, other, strict=True))


def united_declared(one: Sequence[Vocabulary], other: Sequence[Vocabulary]) -> tuple[Vocabulary, ...]:
    """The declared levels of two tables of the same columns, column by column."""
    return tuple(mine.declared_with(theirs) for mine, theirs in zip(one, other, strict=True))


def refuse_negative(exacts: Iterable[ExactArray], what: str) -> None:
    """A weight or a sum of squares below zero means that rows are subtracted which were never merged."""
    if any(exact.is_negative().any() for exact in exacts):
        raise NotMergedError(
            f"the rows to subtract were never merged: {what} would fall below zero",
            fix="forget only rows that this model has learned, with the same weights",
        )


def refuse_negative_spread(negative: bool) -> None:
    """Sums whose variance is below zero are what is left of rows that were never merged."""
    if negative:
        raise NotMergedError(
            "the rows to subtract were never merged: a variance would fall below zero",
            fix="forget only rows that this model has learned",
        )


FEW_GROUPS = 8  # which are counted one by one, faster than all at once


@dataclass(frozen=True)
class Weights(Additive):
    """The sum of the weights of all rows, exactly.

    >>> Weights.of(4, groups=np.array([0, 1, 1, 1], dtype=np.int32), n_groups=2)
    Weights(1, 3)
    """

    weight: ExactArray  # (n_groups,)

    sums = ("weight",)

    def __post_init__(self) -> None:
        if len(self.weight.shape) != 1:
            raise SchemaError("there must be one count of rows for each group")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.weight, self.weight.sum()], "a count of rows")

    @classmethod
    def of(
        cls, n_rows: int, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> Weights:
        """Rows counted by group; a negative group is left out, a weight of k counts as k rows."""
        if weights is not None:
            return cls(ExactArray.from_limbs(*_kernels.moments(weights[:, None], groups, n_groups)[1])[:, 0])
        if groups is None:
            return cls(ExactArray.from_integers([n_rows]))
        if n_groups <= FEW_GROUPS:
            return cls(ExactArray.from_integers([np.count_nonzero(groups == group) for group in range(n_groups)]))
        return cls(ExactArray.from_integers(np.bincount(groups[groups >= 0], minlength=n_groups)))

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.weight

    def _refuse_unmerged(self) -> None:
        refuse_negative([self.weight], "a count of rows")

    def __repr__(self) -> str:
        return f"Weights({', '.join(f'{weight:g}' for weight in self.weight.to_floats())})"
