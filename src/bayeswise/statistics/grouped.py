"""A statistic whose groups have labels: the classes of a target, in the declared order or else by value."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import Any, Generic, TypeVar

import numpy as np

from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.tables.schema.labels import Vocabulary

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
        declared = self.declared if self.declared == other.declared else self.declared.union(other.declared)
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
