"""Exact joint counts of every node with its parents: they merge, subtract and become tables under any prior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier
from bayeswise.foundation.errors import FitError, KindError, ParameterError, SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.threads import each
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.statistics.counts.joint_counts import LARGEST_TABLE, JointCounts
from bayeswise.statistics.counts.level_counts import Counts
from bayeswise.tables.schema.labels import Vocabulary

PRIORS = ("bdeu", "m-estimate", "none")


@dataclass(frozen=True)
class FamilyCounts:
    """The counts of each node with its parents; a family leaves out rows where it has missing values.

    >>> seen = FamilyCounts.of({"rain": ["y", "n"], "wet": ["y", "n"]}, {"wet": ["rain"]})
    >>> seen.merge(seen).forget({"rain": ["y", "n"], "wet": ["y", "n"]}) == seen
    True
    >>> seen.network(prior="m-estimate", smoothing=2).table("wet").round(3).tolist()
    [[0.667, 0.333], [0.333, 0.667]]
    """

    parents: dict[str, tuple[str, ...]]
    families: dict[str, JointCounts]  # axes: the parents in their order, then the node
    columns: dict[
        str, Counts
    ]  # each node by itself: a state may occur only in rows where its family has a missing value

    def refuse_impossible(self) -> None:
        if not list(self.parents) == list(self.families) == list(self.columns):
            raise SchemaError("the nodes, their counts and those of their families do not match")
        for node, above in self.parents.items():
            scope = (*above, node)
            known = [self.columns[each] for each in scope if each in self.columns]
            family = self.families[node]
            if len(known) != len(scope) or len(set(scope)) != len(scope) or len(family.levels) != len(scope):
                raise SchemaError(f"the counts of {node!r} are not those of its parents and itself")
            if family.weight.shape[0] != 1 or any(each.weight.shape[0] != 1 for each in known):
                raise SchemaError(f"the counts of {node!r} are those of several groups")
            if not all(level in each.levels for axis, each in zip(family.levels, known, strict=True) for level in axis):
                raise SchemaError(f"the counts of {node!r} have states that its parents or itself never had")

    @classmethod
    def of(
        cls,
        table: Any,
        parents: Mapping[str, Sequence[str]],
        *,
        states: Mapping[str, Sequence[Any]] | None = None,
        weight: str | None = None,
        weights: Any = None,
    ) -> FamilyCounts:
        """One sweep over a table; columns that `parents` does not name are nodes without parents."""
        return cls.of_rows(CodedRows.of(table, states=states, weight=weight, weights=weights), parents, states=states)

    @classmethod
    def of_rows(
        cls,
        rows: CodedRows,
        parents: Mapping[str, Sequence[str]],
        weights: Any = None,
        states: Mapping[str, Sequence[Any]] | None = None,
    ) -> FamilyCounts:
        """The counts of rows that are coded already."""
        rows = rows.weighted(weights)
        places = {name: place for place, name in enumerate(rows.names)}
        for name in {*parents, *(parent for above in parents.values() for parent in above)} - set(places):
            raise ParameterError(f"the rows have no column {name!r}", fix=f"name one of {', '.join(rows.names)}")
        weigh = rows.weights
        stay = rows.declared.union(states or {})
        fixed = [rows.states[k] if name in stay else Vocabulary() for k, name in enumerate(rows.names)]

        def family(name: str) -> JointCounts:
            scope = [places[each] for each in (*parents.get(name, ()), name)]
            return _joint(rows.codes[:, scope], [rows.states[k] for k in scope], [fixed[k] for k in scope], weigh)

        families = dict(zip(rows.names, each(family, rows.names), strict=True))
        columns = Counts.of_columns(rows.codes, list(rows.states), weights=weigh, declared=list(fixed))
        graph = {name: tuple(parents.get(name, ())) for name in rows.names}
        return cls(graph, families, dict(zip(rows.names, columns, strict=True)))

    def merge(self, other: FamilyCounts) -> FamilyCounts:
        """The counts of both sets of rows; states may occur in only one of them."""
        self._refuse_other_graph(other)
        families = {name: counts.merge(other.families[name]) for name, counts in self.families.items()}
        columns = {name: counts.merge(other.columns[name]) for name, counts in self.columns.items()}
        return FamilyCounts(self.parents, families, columns)

    def subtract(self, other: FamilyCounts) -> FamilyCounts:
        """The counts without rows that were merged before."""
        self._refuse_other_graph(other)
        families = {name: counts.subtract(other.families[name]) for name, counts in self.families.items()}
        columns = {name: counts.subtract(other.columns[name]) for name, counts in self.columns.items()}
        return FamilyCounts(self.parents, families, columns)

    def learn(self, table: Any, *, weight: str | None = None, weights: Any = None) -> FamilyCounts:
        """The counts with these rows too."""
        return self.merge(FamilyCounts.of(table, self.parents, weight=weight, weights=weights))

    def forget(self, table: Any, *, weight: str | None = None, weights: Any = None) -> FamilyCounts:
        """The counts as if these rows had never been seen."""
        return self.subtract(FamilyCounts.of(table, self.parents, weight=weight, weights=weights))

    def _refuse_other_graph(self, other: FamilyCounts) -> None:
        if self.parents != other.parents:
            raise KindError("the counts belong to different graphs", fix="count both with the same parents")

    @earlier(strength="smoothing")
    def network(
        self,
        *,
        prior: str = "bdeu",
        smoothing: float = 1.0,
        name: str = "network",
        order: Mapping[str, Vocabulary] | None = None,
    ) -> BeliefNetwork:
        """Tables of posterior means under a Dirichlet prior; `order` has the states of nodes whose order matters.

        "bdeu": `smoothing` pseudo-counts in all, spread evenly over the cells of each family; "m-estimate": `smoothing`
        pseudo-counts for each configuration of the parents; "none": relative frequencies, uniform for a configuration
        that never occurs.
        """
        if prior not in PRIORS or not (math.isfinite(smoothing) and smoothing >= 0.0):
            raise ParameterError(
                f"the prior is {prior!r} with smoothing {smoothing!r}", fix=f"choose {', '.join(PRIORS)}, and >= 0"
            )
        states = {node: _ordered(counts.levels, (order or {}).get(node)) for node, counts in self.columns.items()}
        nodes = []
        for node, counts in self.families.items():
            if not len(states[node]):
                raise FitError(
                    f"column {node!r} has no cell: its states are not known", fix="ignore it, or give states"
                )
            seen = counts._weight_over(tuple(states[each] for each in (*self.parents[node], node))).to_floats()
            nodes.append(Node(node, states[node], _table(seen[0], prior, smoothing), self.parents[node]))
        return BeliefNetwork(nodes, name=name)


def _ordered(levels: Vocabulary, order: Vocabulary | None) -> Vocabulary:
    return levels if order is None else Vocabulary([label for label in order if label in levels])


def _joint(
    codes: CodeArray, levels: list[Vocabulary], declared: list[Vocabulary], weights: FloatArray | None
) -> JointCounts:
    """The joint counts of one family."""
    sizes = np.array([len(vocabulary) for vocabulary in levels], dtype=np.int64)
    if weights is not None or math.prod(sizes.tolist()) > LARGEST_TABLE:
        return JointCounts.of(codes, levels, weights=weights, declared=list(declared))
    table, incomplete = _kernels.joint_counts(codes, sizes)
    counted = ExactArray.from_integers(table).reshape(1, *sizes.tolist())
    return JointCounts.of_table(tuple(levels), counted, ExactArray.from_integers([incomplete]), tuple(declared))


def _table(seen: FloatArray, prior: str, smoothing: float) -> FloatArray:
    counts = seen.reshape(-1, seen.shape[-1])  # (n_configurations, n_states)
    n_rows, n_states = counts.shape
    pseudo_counts = {"bdeu": smoothing / (n_rows * n_states), "m-estimate": smoothing / n_states, "none": 0.0}[prior]
    total = counts.sum(axis=1, keepdims=True) + pseudo_counts * n_states
    uniform = np.full_like(counts, 1.0 / n_states)
    return np.asarray(np.divide(counts + pseudo_counts, total, out=uniform, where=total > 0.0))
