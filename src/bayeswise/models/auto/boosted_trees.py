"""Trees that add to the log-odds of classes, and a member that sees what they add, split by column.

A split moves the expected value of a row from that of its node to that of its branch: the column that is split on gets
the difference. So what a tree adds is a sum over the columns on the path to its leaf.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.logspace import log
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.solving.newton import Certificate
from bayeswise.models.settings.regression import LogisticSettings
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.schema import Schema

RIDGE = 1.0  # added to the curvature of a branch, unless trees say otherwise
_ROWS = 10_000  # at a time
_DEEPEST = 16  # of complete trees


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees as arrays of splits and nodes: from the threshold of split k on comes node 2 k + 2, below it 2 k + 1.

    Complete trees, which older files have, have split k at node k.
    """

    depth: int  # of complete trees; 0 where `node` says which node is split
    state: IntArray  # (n_trees,) the class whose log-odds the tree adds to
    feature: IntArray  # (n_trees, n_splits) the feature that is split on
    threshold: FloatArray  # (n_trees, n_splits) infinite where there is no split
    value: FloatArray  # (n_trees, 2 n_splits + 1) what is added on average by the rows of each node
    start: FloatArray  # (n_states,) log-odds before any tree
    rate: float  # the share of a Newton step that a tree goes
    loss: float = 0.0  # the log-loss of the left-out rows that said how many trees there are
    node: IntArray | None = added_later(None)  # (n_trees, n_splits) which is split, -1 if none; None: complete
    ridge: float = added_later(RIDGE)

    def refuse_impossible(self) -> None:
        """Splits and nodes that do not make trees, or are not finite."""
        complete = self.node is None
        if not (1 <= self.depth <= _DEEPEST if complete else self.depth == 0):
            raise SchemaError(f"complete trees are 1 to {_DEEPEST} splits deep, and others have no depth")
        if self.start.ndim != 1 or len(self.start) < 2 or self.feature.ndim != 2:
            raise SchemaError("trees have splits, and add to the log-odds of two classes or more")
        n_trees, n_splits = len(self.state), (1 << self.depth) - 1 if complete else self.feature.shape[1]
        shapes = self.state.shape, self.feature.shape, self.threshold.shape, self.value.shape, self._node.shape
        of_splits = (n_trees, n_splits)
        if shapes != ((n_trees,), of_splits, of_splits, (n_trees, 2 * n_splits + 1), of_splits):
            raise SchemaError("the nodes of trees do not match each other")
        if not (np.isfinite(self.value).all() and np.isfinite(self.start).all()) or np.isnan(self.threshold).any():
            raise SchemaError("thresholds or values of trees are not numbers")
        if not (np.isfinite(self.ridge) and self.ridge > 0.0):
            raise SchemaError("the ridge of trees is not a number above 0")
        if ((self.state < 0) | (self.state >= len(self.start))).any() or (self.feature < 0).any():
            raise SchemaError("a tree adds to a class or splits on a feature that is not there")
        if not self._is_grown:
            raise SchemaError("a tree splits a node that is not there, or that is already split")

    @property
    def _is_grown(self) -> bool:
        """Whether every split is that of a leaf of the tree of the earlier splits."""
        is_leaf = np.zeros(self.value.shape, dtype=bool)
        trees = np.arange(len(is_leaf))
        is_leaf[:, 0] = True
        for k, node in enumerate(self._node.T):
            exists = node >= 0
            if (node < -1).any() or (node > 2 * k).any() or not is_leaf[trees[exists], node[exists]].all():
                return False
            is_leaf[trees[exists], node[exists]] = False
            is_leaf[:, 2 * k + 1] = is_leaf[:, 2 * k + 2] = exists
        return True

    @cached_property
    def _node(self) -> IntArray:
        """(n_trees, n_splits) the node of each split."""
        n_trees, n_splits = self.feature.shape
        return np.tile(np.arange(n_splits), (n_trees, 1)) if self.node is None else self.node

    @cached_property
    def split(self) -> IntArray:
        """(n_trees, n_nodes) the split of each node, -1 where it is a leaf."""
        found = np.full(self.value.shape, -1)
        trees, splits = np.nonzero(self._node >= 0)
        found[trees, self._node[trees, splits]] = splits
        return found

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
        _kernels.add_by_feature(rows, self.state, self._node, self.feature, self.threshold, self.value, found)
        return found

    def estimated(self, numbers: FloatArray, groups: IntArray, weights: FloatArray) -> Trees:
        """The same splits, what leaves add learned from other rows: tree by tree, as they were grown."""
        truth = np.eye(len(self.start))[groups]
        start = start_of(truth, weights)
        scores = np.tile(start, (len(numbers), 1))
        value, mass = np.zeros((2, *self.value.shape))
        for k, state in enumerate(self.state.tolist()):
            p = np.exp(log_posterior(scores))[:, state]
            leaf = self._leaves(k, numbers)
            slope, curvature = weights * (truth[:, state] - p), weights * p * (1.0 - p)
            value[k], mass[k] = steps_of_leaves(leaf, slope, curvature, value.shape[1], self.rate, self.ridge)
            scores[:, state] += value[k, leaf]
        return replace(self, value=means_of_nodes(value, mass, self._node), start=start)

    def _leaves(self, tree: int, numbers: FloatArray) -> IntArray:
        """(n_rows,) the node at which each row ends."""
        feature, threshold, split = self.feature[tree], self.threshold[tree], self.split[tree]
        at, rows = np.zeros(len(numbers), dtype=np.int64), np.arange(len(numbers))
        while len(rows):
            own = split[at[rows]]
            rows, own = rows[own >= 0], own[own >= 0]
            at[rows] = 2 * own + 1 + (numbers[rows, feature[own]] >= threshold[own])
        return at

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


def steps_of_leaves(
    leaf: IntArray, slope: FloatArray, curvature: FloatArray, n_nodes: int, rate: float, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """(n_nodes,) a share of the Newton step of each leaf, and its curvature; 0 for other nodes."""
    mass = summed(leaf, curvature, n_nodes)
    return rate * summed(leaf, slope, n_nodes) / (mass + ridge), mass


def means_of_nodes(value: FloatArray, mass: FloatArray, node: IntArray) -> FloatArray:
    """(n_trees, n_nodes) what leaves add, and of each split node the mean of the two nodes after it, by mass.

    >>> means_of_nodes(np.array([[0.0, 1.0, 4.0]]), np.array([[0.0, 2.0, 1.0]]), np.array([[0]])).tolist()
    [[2.0, 1.0, 4.0]]
    """
    value, mass = value.copy(), mass.copy()
    for k in reversed(range(node.shape[1])):
        trees = np.flatnonzero(node[:, k] >= 0)
        at, no, yes = node[trees, k], 2 * k + 1, 2 * k + 2
        both = mass[trees, no] + mass[trees, yes]
        sums = value[trees, no] * mass[trees, no] + value[trees, yes] * mass[trees, yes]
        plain = 0.5 * (value[trees, no] + value[trees, yes])
        value[trees, at] = np.where(both > 0.0, sums / np.where(both > 0.0, both, 1.0), plain)
        mass[trees, at] = both
    return value


@dataclass(frozen=True, eq=False)
class AsTrees:
    """What trees over all columns add to the log-odds of each class: a number for each column and class."""

    base: AsNumbers  # every column as numbers, which the trees split on
    trees: Trees
    keeps_categories: ClassVar[bool] = False

    def refuse_impossible(self) -> None:
        """Trees that split on a feature that is not there."""
        if (self.trees.feature >= len(self.base.features)).any():
            raise SchemaError("a tree splits on a feature that is not there")

    @cached_property
    def features(self) -> tuple[tuple[str, tuple[str, ...], int], ...]:
        """(name, columns of the table, class) of each number; every name once."""
        return tuple((f"{name} ({state})", (name,), state) for state in self._states for name in self._columns)

    @property
    def _states(self) -> list[int]:
        return [1] if len(self.trees.start) == 2 else list(range(len(self.trees.start)))

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        """The columns that trees split on, or the first one if there are none."""
        names = [columns[0] for _, columns in self.base.features]
        features = np.unique(self.trees.feature[np.isfinite(self.trees.threshold)]).tolist()
        used = {names[place] for place in features} or set(names[:1])
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
        used = [place for place, name in enumerate(names) if name in column]
        owner = np.zeros((len(used), len(column)))
        owner[np.arange(len(used)), [column[names[place]] for place in used]] = 1.0
        numbers = np.empty((batch.n_rows, len(self.features)))
        for first in range(0, batch.n_rows, _ROWS):
            part = slice(first, min(first + _ROWS, batch.n_rows))
            found = self.trees.by_feature(rows.values[part])[:, self._states][:, :, used]
            numbers[part] = np.einsum("rsf,fc->rsc", found, owner).reshape(len(found), -1)
        return replace(rows, values=numbers)

    def estimated(self, batch: Batch) -> AsTrees:
        """The same splits, everything else learned from other rows."""
        numbers = self.base.batch(batch).values
        return replace(self, trees=self.trees.estimated(numbers, np.asarray(batch.groups), batch.row_weights))

    def regression(self, batch: Batch) -> LogisticModel:
        """What the trees say as a regression: every number that they add has a weight of 1."""
        weights = batch.row_weights
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
