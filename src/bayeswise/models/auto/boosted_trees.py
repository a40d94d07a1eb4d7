"""Small trees that add to the log-odds of classes, and a member that sees what they add, split by column.

A question of a tree moves the expected value of a row from that of its node to that of its branch: the column that is
asked about gets the difference. So what a tree adds is a sum over the columns on the way to its leaf.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.logspace import log
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.solving.newton import Certificate
from bayeswise.models.settings.regression import LogisticSettings
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import Column, Schema

RIDGE = 1.0  # added to the curvature of a branch
_ROWS = 10_000  # at a time
_DEEPEST = 16


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees of one depth as arrays of nodes: after node k comes 2 k + 2 from the threshold on, 2 k + 1 below it."""

    depth: int
    state: IntArray  # (n_trees,) the class whose log-odds the tree adds to
    feature: IntArray  # (n_trees, 2^depth - 1) the number that a node asks about
    threshold: FloatArray  # (n_trees, 2^depth - 1) infinite where a node asks nothing
    value: FloatArray  # (n_trees, 2^(depth + 1) - 1) what is added on average by the rows of each node
    start: FloatArray  # (n_states,) log-odds before any tree
    rate: float  # the share of a Newton step that a tree goes
    loss: float = 0.0  # the log-loss of the left-out rows that said how many trees there are

    def refuse_impossible(self) -> None:
        """Nodes that are not those of trees of one depth, or not finite."""
        n_trees, n_nodes = len(self.state), (1 << min(max(self.depth, 0), _DEEPEST)) - 1
        shapes = self.state.shape, self.feature.shape, self.threshold.shape, self.value.shape
        if shapes != ((n_trees,), (n_trees, n_nodes), (n_trees, n_nodes), (n_trees, 2 * n_nodes + 1)):
            raise SchemaError("the nodes of trees do not match each other")
        if not 1 <= self.depth <= _DEEPEST or self.start.ndim != 1 or len(self.start) < 2:
            raise SchemaError(
                f"trees are 1 to {_DEEPEST} questions deep, and add to the log-odds of two classes or more"
            )
        if not (np.isfinite(self.value).all() and np.isfinite(self.start).all()) or np.isnan(self.threshold).any():
            raise SchemaError("what trees ask or add is not a number")
        if ((self.state < 0) | (self.state >= len(self.start))).any() or (self.feature < 0).any():
            raise SchemaError("a tree adds to a class or asks about a number that is not there")

    def scores(self, numbers: FloatArray) -> FloatArray:
        """(n_rows, n_states) what a row's leaves add up to."""
        found = np.tile(self.start + self.roots, (len(numbers), 1))
        for first in range(0, len(numbers), _ROWS):
            part = slice(first, first + _ROWS)
            found[part] += self.by_feature(numbers[part]).sum(axis=2)
        return found

    def by_feature(self, numbers: FloatArray) -> FloatArray:
        """(n_rows, n_states, n_features) what each number adds; with the values of the roots, all sum to `scores`."""
        found = np.zeros((len(numbers), len(self.start), numbers.shape[1]))
        rows = np.ascontiguousarray(numbers, dtype=np.float64)
        _kernels.add_by_feature(rows, self.state, self.feature, self.threshold, self.value, found)
        return found

    def estimated(self, numbers: FloatArray, groups: IntArray, weights: FloatArray) -> Trees:
        """The same questions, what leaves add learned from other rows: tree by tree, as they were grown."""
        truth = np.eye(len(self.start))[groups]
        start = start_of(truth, weights)
        scores, values = np.tile(start, (len(numbers), 1)), []
        for k, state in enumerate(self.state.tolist()):
            p = np.exp(log_posterior(scores))[:, state]
            leaf = self._leaves(k, numbers)
            curvature = weights * p * (1.0 - p)
            values.append(values_of(leaf, weights * (truth[:, state] - p), curvature, self.depth, self.rate))
            scores[:, state] += values[-1][leaf + (1 << self.depth) - 1]
        return replace(self, value=np.array(values).reshape(self.value.shape), start=start)

    def _leaves(self, tree: int, numbers: FloatArray) -> IntArray:
        """(n_rows,) the leaf of each row, from 0 on."""
        feature, threshold = self.feature[tree], self.threshold[tree]
        node, rows = np.zeros(len(numbers), dtype=np.int64), np.arange(len(numbers))
        for _ in range(self.depth):
            node = 2 * node + 1 + (numbers[rows, feature[node]] >= threshold[node])
        return node - (1 << self.depth) + 1

    @property
    def roots(self) -> FloatArray:
        """(n_states,) what all trees add on average."""
        return summed(self.state, self.value[:, 0], len(self.start))


def summed(place: IntArray, amounts: FloatArray, n_places: int) -> FloatArray:
    """(n_places,) the sums of amounts by place, in the order of the rows."""
    return np.asarray(np.bincount(place, amounts, n_places), dtype=np.float64)


def start_of(truth: FloatArray, weights: FloatArray) -> FloatArray:
    """(n_states,) the logarithms of the shares of the classes; of two, those against the first."""
    count = (truth * weights[:, None]).sum(axis=0) + 0.5
    start = log(count / count.sum())
    return np.asarray(start - start[0] if len(start) == 2 else start)


def values_of(leaf: IntArray, slope: FloatArray, curvature: FloatArray, depth: int, rate: float) -> FloatArray:
    """(n_nodes,) a share of the Newton step of each leaf, and the means of those below each other node."""
    mass = summed(leaf, curvature, 1 << depth)
    return _means_of_nodes(rate * summed(leaf, slope, 1 << depth) / (mass + RIDGE), mass)


def _means_of_nodes(leaves: FloatArray, mass: FloatArray) -> FloatArray:
    """(2 n_leaves - 1,) of each node the mean of its leaves by mass, the root first.

    >>> _means_of_nodes(np.array([1.0, 4.0]), np.array([2.0, 1.0])).tolist()
    [2.0, 1.0, 4.0]
    """
    levels = [leaves]
    while len(leaves) > 1:
        both = mass.reshape(-1, 2).sum(axis=1)
        sums = (leaves * mass).reshape(-1, 2).sum(axis=1)
        leaves = np.where(both > 0.0, sums / np.where(both > 0.0, both, 1.0), leaves.reshape(-1, 2).mean(axis=1))
        mass = both
        levels.append(leaves)
    return np.concatenate(levels[::-1])


@dataclass(frozen=True, eq=False)
class AsTrees:
    """What trees over all columns add to the log-odds of each class: a number for each column and class."""

    base: AsNumbers  # every column as numbers, which the trees ask about
    trees: Trees
    keeps_categories: ClassVar[bool] = False

    def refuse_impossible(self) -> None:
        """Trees that ask about a number that is not there."""
        if (self.trees.feature >= len(self.base.features)).any():
            raise SchemaError("a tree asks about a number that is not there")

    @cached_property
    def features(self) -> tuple[tuple[str, tuple[str, ...], int], ...]:
        """(name, columns of the table, class) of each number; every name once."""
        return tuple((f"{name} ({state})", (name,), state) for state in self._states for name in self._columns)

    @property
    def _states(self) -> list[int]:
        return [1] if len(self.trees.start) == 2 else list(range(len(self.trees.start)))

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        """The columns that trees ask about, or the first one if there are none."""
        names = [columns[0] for _, columns in self.base.features]
        asked = np.unique(self.trees.feature[np.isfinite(self.trees.threshold)]).tolist()
        used = {names[place] for place in asked} or set(names[:1])
        return tuple(name for name in dict.fromkeys(names) if name in used)

    @cached_property
    def schema(self) -> Schema:
        """The columns that the member sees: numbers only."""
        columns = tuple(Column(name, "number") for name, _, _ in self.features)
        return Schema(columns, self.base.table.target, self.base.table.weight)

    def columns_of(self, name: str) -> tuple[str, ...]:
        """The column of the table that a number of the member belongs to."""
        return next(columns for own, columns, _ in self.features if own == name)

    def batch(self, batch: Batch) -> Batch:
        """The rows as the member sees them."""
        rows = self.base.batch(batch)
        column = {name: place for place, name in enumerate(self._columns)}
        names = [columns[0] for _, columns in self.base.features]
        asked = [place for place, name in enumerate(names) if name in column]
        owner = np.zeros((len(asked), len(column)))
        owner[np.arange(len(asked)), [column[names[place]] for place in asked]] = 1.0
        numbers = np.empty((batch.n_rows, len(self.features)))
        for first in range(0, batch.n_rows, _ROWS):
            part = slice(first, min(first + _ROWS, batch.n_rows))
            found = self.trees.by_feature(rows.values[part])[:, self._states][:, :, asked]
            numbers[part] = np.einsum("rsf,fc->rsc", found, owner).reshape(len(found), -1)
        return replace(rows, values=numbers)

    def estimated(self, batch: Batch) -> AsTrees:
        """The same questions, everything else learned from other rows."""
        weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
        numbers = self.base.batch(batch).values
        return replace(self, trees=self.trees.estimated(numbers, np.asarray(batch.groups), weights))

    def regression(self, batch: Batch) -> LogisticModel:
        """What the trees say as a regression: every number that they add has a weight of 1."""
        weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
        labels = batch.group_labels
        seen = self.batch(batch).values
        centre = (weights[:, None] * seen).sum(axis=0) / weights.sum()
        slopes = np.zeros((len(labels), len(self.features)))
        slopes[[state for _, _, state in self.features], np.arange(len(self.features))] = 1.0
        return LogisticModel(
            self.schema,
            LogisticSettings(),
            (),
            labels,
            slopes,
            self.trees.start + self.trees.roots + slopes @ centre,
            centre,
            np.ones(len(centre)),
            1.0,
            Certificate(0.0, len(self.trees.state), False, LogisticSettings().tol),
            False,
            np.empty((0, 0)),
            None,
            summed(np.asarray(batch.groups).astype(np.int64), weights, len(labels)),
        )
