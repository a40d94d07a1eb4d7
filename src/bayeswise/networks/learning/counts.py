"""Exact joint counts of every node with its parents: they merge, subtract and become tables under any prior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import KindError, ParameterError
from bayeswise.networks.learning.rows import CodedRows
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.statistics.joint import JointCounts

PRIORS = ("bdeu", "m-estimate", "none")


@dataclass(frozen=True)
class FamilyCounts:
    """For each node the counts of its parents' states and its own; rows with a hole in a family are left out of it.

    >>> seen = FamilyCounts.of({"rain": ["y", "n"], "wet": ["y", "n"]}, {"wet": ["rain"]})
    >>> seen.merge(seen).forget({"rain": ["y", "n"], "wet": ["y", "n"]}) == seen
    True
    >>> seen.network(prior="m-estimate", strength=2).table("wet").round(3).tolist()
    [[0.667, 0.333], [0.333, 0.667]]
    """

    parents: dict[str, tuple[str, ...]]
    families: dict[str, JointCounts]  # axes: the parents in their order, then the node

    @classmethod
    def of(
        cls,
        table: Any,
        parents: Mapping[str, Sequence[str]],
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        weights: Any = None,
    ) -> FamilyCounts:
        """One sweep over a table; columns that `parents` does not name are nodes without parents."""
        return cls.of_rows(CodedRows.of(table, states=states), parents, weights, states)

    @classmethod
    def of_rows(
        cls,
        rows: CodedRows,
        parents: Mapping[str, Sequence[str]],
        weights: Any = None,
        states: Mapping[str, Sequence[Any]] | None = None,
    ) -> FamilyCounts:
        """The counts of rows that are coded already."""
        places = {name: place for place, name in enumerate(rows.names)}
        for name in {*parents, *(parent for above in parents.values() for parent in above)} - set(places):
            raise ParameterError(f"the rows have no column {name!r}", fix=f"name one of {', '.join(rows.names)}")
        weigh = None if weights is None else np.asarray(weights, dtype=np.float64)
        families = {}
        for name in rows.names:
            scope = [places[each] for each in (*parents.get(name, ()), name)]
            levels = [rows.states[k] for k in scope]
            declared = [rows.states[k] if rows.names[k] in (states or {}) else None for k in scope]
            codes = np.ascontiguousarray(rows.codes[:, scope])
            families[name] = JointCounts.of(codes, levels, weights=weigh, declared=declared)
        return cls({name: tuple(parents.get(name, ())) for name in rows.names}, families)

    def merge(self, other: FamilyCounts) -> FamilyCounts:
        """The counts of both sets of rows; states that only one has seen are welcome."""
        self._refuse_other_graph(other)
        return FamilyCounts(self.parents, {n: c.merge(other.families[n]) for n, c in self.families.items()})

    def subtract(self, other: FamilyCounts) -> FamilyCounts:
        """The counts without rows that were merged before."""
        self._refuse_other_graph(other)
        return FamilyCounts(self.parents, {n: c.subtract(other.families[n]) for n, c in self.families.items()})

    def learn(self, table: Any, *, weights: Any = None) -> FamilyCounts:
        """The counts with these rows too."""
        return self.merge(FamilyCounts.of(table, self.parents, weights=weights))

    def forget(self, table: Any, *, weights: Any = None) -> FamilyCounts:
        """The counts as if these rows had never been seen."""
        return self.subtract(FamilyCounts.of(table, self.parents, weights=weights))

    def _refuse_other_graph(self, other: FamilyCounts) -> None:
        if self.parents != other.parents:
            raise KindError("the counts belong to different graphs", fix="count both with the same parents")

    def network(self, *, prior: str = "bdeu", strength: float = 1.0, name: str = "network") -> BeliefNetwork:
        """Tables of posterior means under a Dirichlet prior.

        "bdeu": `strength` imagined rows in all, spread evenly over the cells of each family; "m-estimate": `strength`
        imagined rows for each configuration of the parents; "none": relative frequencies, a configuration that was
        never seen being uniform.
        """
        if prior not in PRIORS or not (math.isfinite(strength) and strength >= 0.0):
            raise ParameterError(
                f"the prior is {prior!r} with strength {strength!r}", fix=f"choose one of {', '.join(PRIORS)}, and >= 0"
            )
        union = self._union_of_states()
        nodes = []
        for node, counts in self.families.items():
            seen = counts._weight_over(tuple(union[each] for each in (*self.parents[node], node))).to_floats()
            nodes.append(Node(node, union[node], _table(seen[0], prior, strength), self.parents[node]))
        return BeliefNetwork(nodes, name=name)

    def _union_of_states(self) -> dict[str, Any]:
        """A row with a hole in one family may show a state that another family never saw."""
        union: dict[str, Any] = {}
        for node, counts in self.families.items():
            for name, levels in zip((*self.parents[node], node), counts.levels, strict=True):
                union[name] = union[name].union(levels) if name in union else levels
        return union


def _table(seen: FloatArray, prior: str, strength: float) -> FloatArray:
    counts = seen.reshape(-1, seen.shape[-1])  # (n_configurations, n_states)
    n_rows, n_states = counts.shape
    imagined = {"bdeu": strength / (n_rows * n_states), "m-estimate": strength / n_states, "none": 0.0}[prior]
    total = counts.sum(axis=1, keepdims=True) + imagined * n_states
    uniform = np.full_like(counts, 1.0 / n_states)
    return np.asarray(np.divide(counts + imagined, total, out=uniform, where=total > 0.0))
