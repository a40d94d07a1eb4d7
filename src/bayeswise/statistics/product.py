"""Several statistics of the same rows side by side, and a statistic whose groups have labels: classes of a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import compress
from typing import Any, Generic, TypeVar

import numpy as np

from bayeswise.foundation.arrays import IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.protocol import fingerprint
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True)
class Product:
    """Named statistics that merge, subtract and regroup together; the first one weighs the rows."""

    parts: Mapping[str, Any]

    def refuse_impossible(self) -> None:
        shapes = {part.weight_of_rows.shape for part in self.parts.values()}
        if len(shapes) != 1:
            raise SchemaError("the statistics of the same rows are none, or differ in their number of groups")

    def __getitem__(self, name: str) -> Any:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    @property
    def weight_of_rows(self) -> ExactArray:
        first: ExactArray = next(iter(self.parts.values())).weight_of_rows
        return first

    def zero(self) -> Product:
        return self._each(lambda part: part.zero())

    def merge(self, other: Product) -> Product:
        self._refuse_other_parts(other)
        return Product({name: part.merge(other.parts[name]) for name, part in self.parts.items()})

    def subtract(self, other: Product) -> Product:
        self._refuse_other_parts(other)
        return Product({name: part.subtract(other.parts[name]) for name, part in self.parts.items()})

    def regroup(self, positions: IntArray, n_groups: int) -> Product:
        return self._each(lambda part: part.regroup(positions, n_groups))

    def take(self, groups: IntArray) -> Product:
        return self._each(lambda part: part.take(groups))

    def pooled(self) -> Product:
        return self._each(lambda part: part.pooled())

    def same_columns(self, other: Product) -> bool:
        """Whether two statistics of no rows are about the same columns; pairs that were seen are not compared again."""
        if list(self.parts) != list(other.parts):
            return False
        pairs = zip(self.parts.values(), other.parts.values(), strict=True)
        different = {(id(mine), id(theirs)): (mine, theirs) for mine, theirs in pairs}
        return all(_same_columns(mine, theirs) for mine, theirs in different.values())

    def _each(self, change: Callable[[Any], Any]) -> Product:
        """Each part changed: once if it stands under many names, as that of thousands of columns without rows does."""
        different = {id(part): part for part in self.parts.values()}
        changed = {key: change(part) for key, part in different.items()}
        return Product({name: changed[id(part)] for name, part in self.parts.items()})

    def _refuse_other_parts(self, other: Product) -> None:
        if list(self.parts) != list(other.parts):
            raise KindError(
                f"the statistics hold different parts: {', '.join(self.parts)} against {', '.join(other.parts)}",
                fix="summarise both tables by the same schema and request",
            )

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {part!r}" for name, part in self.parts.items())
        return f"Product({inside})"


def _same_columns(one: Any, other: Any) -> bool:
    if isinstance(one, Product) and isinstance(other, Product):
        return one.same_columns(other)
    return fingerprint(one.merge(one)) == fingerprint(other.merge(other))  # merging puts declared levels in order


S = TypeVar("S", bound=Any)


@dataclass(frozen=True)
class Grouped(Generic[S]):
    """One statistic with a labelled first axis; a group vanishes with its last row unless it was declared."""

    labels: Vocabulary  # the declared ones first, in their order; the others by value
    part: S
    declared: Vocabulary = field(default_factory=Vocabulary)

    def __post_init__(self) -> None:
        if self.part.weight_of_rows.shape != (len(self.labels),):
            raise SchemaError("groups and labels do not match in number")

    def refuse_impossible(self) -> None:
        ordered = self.labels.is_canonical or Vocabulary.in_order(self.labels, self.declared) == self.labels
        if not ordered or not all(label in self.labels for label in self.declared):
            raise SchemaError("labels must stand in canonical or declared order, the declared ones among them")
        seen = ~self.weight_of_rows.is_zero()
        if not all(kept or label in self.declared for label, kept in zip(self.labels, seen, strict=True)):
            raise SchemaError("a group has no rows, and was not declared")

    @classmethod
    def of(cls, labels: Vocabulary, part: S, declared: Vocabulary | None = None) -> Grouped[S]:
        """From groups in any order: ordered, and without those that no row is in."""
        fixed = declared or Vocabulary()
        seen = ~part.weight_of_rows.is_zero()
        canonical = Vocabulary.in_order((*compress(labels, seen), *fixed), fixed)
        positions = labels.positions_in(canonical)
        kept = np.flatnonzero(positions >= 0)
        chosen = part if len(kept) == len(labels) else part.take(kept)
        if len(canonical) == len(labels) and np.array_equal(positions, np.arange(len(labels))):
            return cls(canonical, chosen, fixed)
        return cls(canonical, chosen.regroup(positions[kept], len(canonical)), fixed)

    @property
    def weight_of_rows(self) -> ExactArray:
        weight: ExactArray = self.part.weight_of_rows
        return weight

    def zero(self) -> Grouped[S]:
        return Grouped.of(self.labels, self.part.zero(), self.declared)

    def merge(self, other: Grouped[S]) -> Grouped[S]:
        declared = self.declared.declared_with(other.declared)
        labels = self._and(other, declared)
        return Grouped(labels, self._over(labels).merge(other._over(labels)), declared)

    def subtract(self, other: Grouped[S]) -> Grouped[S]:
        labels = self._and(other, self.declared)
        return Grouped.of(labels, self._over(labels).subtract(other._over(labels)), self.declared)

    def pooled(self) -> S:
        """The statistic of all groups as one."""
        pooled: S = self.part.pooled()
        return pooled

    def __getitem__(self, label: object) -> S:
        code = self.labels.code(label)
        if code < 0:
            raise KeyError(label)
        only: S = self.part.take(np.array([code]))
        return only

    def _and(self, other: Grouped[S], declared: Vocabulary) -> Vocabulary:
        """The labels of both."""
        if self.labels == other.labels and self.declared == other.declared:
            return self.labels
        return Vocabulary.in_order((*self.labels, *other.labels), declared)

    def _over(self, labels: Vocabulary) -> S:
        if labels == self.labels:
            return self.part
        wider: S = self.part.regroup(self.labels.positions_in(labels), len(labels))
        return wider

    def __repr__(self) -> str:
        weights = self.weight_of_rows.to_floats()
        groups = ", ".join(f"{label!r}: {weight:g}" for label, weight in zip(self.labels, weights, strict=True))
        return f"Grouped({{{groups}}}, {self.part!r})"
