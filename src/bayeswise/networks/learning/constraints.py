"""Constraints of a structure search: required and forbidden edges, tiers, and a limit on parents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from bayeswise.foundation.arrays import BoolArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.directed_graph import ancestral_order
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.labels import guess

Edges = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Constraints:
    """Edges (parent, child) that are required or forbidden; no edge points from a tier to an earlier one.

    >>> rules = Constraints(required=(("rain", "wet"),), tiers=(("month",), ("rain", "wet")))
    >>> rules.allowed(["month", "rain", "wet"]).astype(int).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 1, 0]]
    """

    required: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    max_parents: int | None = None

    @classmethod
    def of(
        cls, required: Edges, forbidden: Edges, tiers: Sequence[Sequence[str]], max_parents: int | None
    ) -> Constraints:
        """Constraints from the arguments of `learn`."""
        return cls(tuple(required), tuple(forbidden), tuple(map(tuple, tiers)), max_parents)

    def without(self, edges: Edges) -> Constraints:
        """The same, with more edges forbidden."""
        return replace(self, forbidden=(*self.forbidden, *edges))

    def allowed(self, names: Sequence[str]) -> BoolArray:
        """(n, n) whether the edge parent -> child is allowed."""
        places = {name: place for place, name in enumerate(names)}
        for name in (name for group in (*self.required, *self.forbidden, *self.tiers) for name in group):
            if name not in places:
                raise ParameterError(
                    f"a constraint names {name!r}, which is not a column", fix=guess(name, list(names))
                )
        permitted = ~np.eye(len(names), dtype=bool)
        for parent, child in self.forbidden:
            permitted[places[parent], places[child]] = False
        tier: dict[str, int] = {}
        for k, group in enumerate(self.tiers):
            for name in group:
                if tier.setdefault(name, k) != k:
                    raise ParameterError(
                        f"{name!r} is in tiers {tier[name] + 1} and {k + 1}", fix="name each column in one tier"
                    )
        for parent in tier:
            for child in tier:
                if tier[parent] > tier[child]:
                    permitted[places[parent], places[child]] = False
        for parent, child in self.required:
            if not permitted[places[parent], places[child]]:
                later = tier.get(parent, -1) > tier.get(child, len(self.tiers))
                why = f"{parent!r} is in a later tier than {child!r}" if later else "it is forbidden"
                raise ParameterError(
                    f"the edge {parent} -> {child} is required and not allowed: {why}", fix="drop one of them"
                )
        return permitted

    def start(self, names: Sequence[str]) -> list[set[int]]:
        """The parents of each node by required edges alone."""
        places = {name: place for place, name in enumerate(names)}
        parents: list[set[int]] = [set() for _ in names]
        for parent, child in self.required:
            parents[places[child]].add(places[parent])
        ancestral_order([sorted(above) for above in parents], names)
        for name, above in zip(names, parents, strict=True):
            if len(above) > self.most(len(names)):
                raise ParameterError(
                    f"{name} has {len(above)} required parents and may have {self.max_parents}",
                    fix="allow more parents, or require fewer",
                )
        return parents

    def fixed(self, names: Sequence[str]) -> BoolArray:
        """(n, n) whether the edge parent -> child is required."""
        required = np.zeros((len(names), len(names)), dtype=bool)
        for child, above in enumerate(self.start(names)):
            for parent in above:
                required[parent, child] = True
        return required

    def most(self, n_nodes: int) -> int:
        """The most parents that a node may have."""
        if self.max_parents is not None and self.max_parents < 0:
            raise ParameterError(f"max_parents is {self.max_parents}", fix="give a number from 0 on")
        return n_nodes if self.max_parents is None else self.max_parents


Progress = Callable[[str, int, int | None], None]
"""Called with what is done, how much of it is done, and how much there is if that is known."""

Parents = list[tuple[int, ...]]


@dataclass(frozen=True)
class Search:
    """A graph that was found: the parents of each node, its score, whether Ctrl-C ended the search, and notes."""

    parents: Parents
    score: float
    interrupted: bool = False
    notes: tuple[str, ...] = ()

    def by_name(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The parents of each node, all by their names."""
        return {name: [names[k] for k in above] for name, above in zip(names, self.parents, strict=True)}


def silent(what: str, done: int, total: int | None) -> None:
    """Report nothing."""
