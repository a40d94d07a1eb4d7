"""Trees, each of what the trees before it leave unexplained: interactions of any columns, found by rows.

The splits of a tree and the values of its leaves are Newton steps of the log-loss (gradient boosting). Trees grow
best-first (the split of the largest gain next): a rule of many columns is a long path in a tree of few leaves. They are
grown without the rows of each fold, all folds side by side, for as many rounds as lower the log-loss of held-out rows;
then as many from all rows. The number of rounds behind a left-out posterior is chosen by the other folds.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError
from bayeswise.models.auto.boosted_trees import (
    RIDGE,
    AsTrees,
    Trees,
    means_of_nodes,
    start_of,
    steps_of_leaves,
)
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import Schema

BINS = 32  # of a number; splits are about their borders
MOST_ROUNDS = 1_000
PATIENCE, WORTH = 20, 0.03  # so many rounds that gain fewer nats on left-out rows, all together, end the search
LEAST_CURVATURE = 0.03  # of a branch: the sum of p (1 - p) of its rows, which is small where classes are nearly known
_A_FIRST_LOOK = 0.2  # of the rows: enough to decide whether all folds are worth growing


@dataclass(frozen=True)
class Growth:
    """How trees grow: the split of the largest gain next, until there are enough leaves."""

    n_leaves: int
    rate: float  # the share of a Newton step that a tree goes
    share_of_features: float = 1.0  # that a tree may split on: with fewer, trees differ more and overfit less together
    least_rows: float = 0.0  # of a leaf, by their weights
    ridge: float = RIDGE

    @property
    def n_splits(self) -> int:
        return self.n_leaves - 1

    def offered(self, n_features: int, tree: int) -> IntArray:
        """The features that a tree may split on: drawn by a hash, so that every machine draws the same.

        >>> growth = Growth(n_leaves=8, rate=0.2, share_of_features=0.5)
        >>> growth.offered(6, tree=0).tolist(), growth.offered(6, tree=1).tolist()
        ([1, 3, 5], [3, 4, 5])
        """
        n_offered = max(1, round(self.share_of_features * n_features))
        place = np.arange(n_features, dtype=np.uint64) + np.uint64((tree + 1) << 32)
        return np.sort(np.argsort(_mixed_bits(place), kind="stable")[:n_offered])


@dataclass(eq=False)
class TreesInFolds:
    """Trees that never saw the rows of one fold, for each fold."""

    schema: Schema
    batch: Batch
    folds: IntArray  # (n_rows,)
    growth: Growth
    _without: list[_WithoutFold] = field(default_factory=list)  # those that have begun to grow

    @property
    def _n_folds(self) -> int:
        return int(self.folds.max()) + 1

    def first_look(self) -> tuple[FloatArray, float]:
        """(n,) the rows of the first folds, a fifth of all, and their mean log-loss under the best number of rounds."""
        n_first = max(1, round(_A_FIRST_LOOK * self._n_folds))
        losses = self._searched(n_first)
        rows = np.concatenate([each.inside for each in self._without])
        mass = sum(each.mass for each in self._without)
        return rows, float(losses.min()) / max(mass, 1e-300)

    def left_out(self) -> FloatArray:
        """(n_rows, n_states) log p(state | row) of trees without the row; how many, its fold has no say in."""
        losses = self._searched(self._n_folds)
        found = np.empty((self.batch.n_rows, len(self.batch.group_labels)))
        for each in self._without:
            others = losses - each.losses[: len(losses)]
            found[each.inside] = each.log_posterior_after(int(np.argmin(others)))
        return found

    def of_all_rows(self) -> AsTrees:
        """Trees of all rows, as many rounds as lower the log-loss of left-out rows."""
        losses = self._searched(self._n_folds)
        base = AsNumbers.of(self.schema, self.batch, every_level=True)
        growing = Growing.of(base, self.batch, self.batch.take(np.empty(0, dtype=np.int64)), self.growth)
        for _ in range(int(np.argmin(losses))):
            growing.round()
        mass = sum(each.mass for each in self._without)
        return AsTrees(base, replace(growing.trees(), loss=float(losses.min()) / max(mass, 1e-300)))

    def _searched(self, n_folds: int) -> FloatArray:
        """(n_rounds + 1,) the log-loss of the rows of the first folds after each round, until it no longer falls."""
        for fold in range(len(self._without), n_folds):
            inside, outside = np.flatnonzero(self.folds == fold), np.flatnonzero(self.folds != fold)
            if len(inside) and len(outside):
                self._without.append(_WithoutFold.of(self, inside, outside))
        losses: list[float] = []
        worth = WORTH * sum(each.mass for each in self._without) / max(float(self.batch.row_weights.sum()), 1e-300)
        while len(losses) <= PATIENCE or (
            len(losses) <= MOST_ROUNDS and min(losses[:-PATIENCE]) - min(losses[-PATIENCE:]) > worth
        ):
            losses.append(sum(each.loss_after(len(losses)) for each in self._without))
        return np.array(losses)


@dataclass(eq=False)
class _WithoutFold:
    """Trees of all rows but those of a fold, and the log-loss of these after each round."""

    inside: IntArray  # the rows of the fold
    truth: IntArray
    weights: FloatArray
    numbers: FloatArray
    growing: Growing
    losses: list[float]

    @classmethod
    def of(cls, trees: TreesInFolds, inside: IntArray, outside: IntArray) -> _WithoutFold:
        learned, left = trees.batch.take(outside), trees.batch.take(inside)
        base = AsNumbers.of(trees.schema, learned, every_level=True)
        growing = Growing.of(base, learned, left, trees.growth)
        truth = np.asarray(left.groups).astype(np.int64)
        found = cls(inside, truth, left.row_weights, base.batch(left).values, growing, [])
        found.losses.append(found._loss())
        return found

    @property
    def mass(self) -> float:
        return float(self.weights.sum())

    def loss_after(self, n_rounds: int) -> float:
        while len(self.losses) <= n_rounds:
            self.growing.round()
            self.losses.append(self._loss())
        return self.losses[n_rounds]

    def log_posterior_after(self, n_rounds: int) -> FloatArray:
        return log_posterior(self.growing.trees(n_rounds).scores(self.numbers))

    def _loss(self) -> float:
        log_own = log_posterior(self.growing.scores_beside)[np.arange(len(self.truth)), self.truth]
        return float(-(self.weights * log_own).sum())


@dataclass(frozen=True, eq=False)
class _Tree:
    """One tree as it has grown: its splits, what its leaves add and their curvature."""

    state: int
    node: IntArray
    feature: IntArray
    threshold: FloatArray
    value: FloatArray
    mass: FloatArray


@dataclass(eq=False)
class Growing:
    """Rows that trees learn from and rows beside them, and the scores that the trees so far give them."""

    codes: np.ndarray  # (n_rows + n_beside, n_features) the bin of each number
    borders: list[FloatArray]
    truth: FloatArray  # (n_rows, n_states) 1 for the class of a row
    weights: FloatArray  # (n_rows,)
    scores: FloatArray  # (n_rows + n_beside, n_states)
    start: FloatArray
    growth: Growth
    grown: list[_Tree] = field(default_factory=list)

    @classmethod
    def of(cls, base: AsNumbers, batch: Batch, beside: Batch, growth: Growth) -> Growing:
        """Before the first tree."""
        if not base.features:
            raise FitError("no column has two values that are not rare", fix="leave trees out")
        numbers, others = base.batch(batch).values, base.batch(beside).values
        groups = np.asarray(batch.groups).astype(np.int64)
        return cls.of_numbers(numbers, groups, len(batch.group_labels), batch.row_weights, others, growth)

    @classmethod
    def of_numbers(
        cls,
        numbers: FloatArray,
        groups: IntArray,
        n_states: int,
        weights: FloatArray,
        beside: FloatArray,
        growth: Growth,
    ) -> Growing:
        """Before the first tree.

        >>> x = np.random.default_rng(0).normal(size=(600, 2))
        >>> growth = Growth(n_leaves=8, rate=0.3)
        >>> growing = Growing.of_numbers(x, (x[:, 0] * x[:, 1] > 0).astype(int), 2, np.ones(600), x[:0], growth)
        >>> for _ in range(30):
        ...     growing.round()
        >>> bool(((growing.trees().scores(x)[:, 1] > 0) == (x[:, 0] * x[:, 1] > 0)).mean() > 0.95)
        True
        """
        borders = [_borders(column) for column in numbers.T]
        both = np.concatenate([numbers, beside])
        codes = [np.searchsorted(known, x, side="right") for known, x in zip(borders, both.T, strict=True)]
        truth = np.eye(n_states)[groups]
        start = start_of(truth, weights)
        scores = np.tile(start, (len(both), 1))
        return cls(np.column_stack(codes).astype(np.uint8), borders, truth, weights, scores, start, growth)

    @property
    def scores_beside(self) -> FloatArray:
        """(n_beside, n_states) of the rows that no tree learns from."""
        return self.scores[len(self.truth) :]

    @property
    def _states(self) -> list[int]:
        """The classes whose log-odds trees add to: of two, the second."""
        n_states = self.truth.shape[1]
        return [1] if n_states == 2 else list(range(n_states))

    def round(self) -> None:
        """The next trees: one of two classes, one for each of more; the scores of the rows follow."""
        share = np.exp(log_posterior(self.scores[: len(self.truth)]))
        for state in self._states:
            p = np.ascontiguousarray(share[:, state])
            tree, leaf = self._tree(state, self.weights * (self.truth[:, state] - p), self.weights * p * (1.0 - p))
            self.scores[:, state] += tree.value[leaf]
            self.grown.append(tree)

    def _tree(self, state: int, slope: FloatArray, curvature: FloatArray) -> tuple[_Tree, IntArray]:
        """The next tree, and (n_rows + n_beside,) the node at which each row ends."""
        growth = self.growth
        node, feature, border = np.empty((3, growth.n_splits), dtype=np.int64)
        leaf = np.empty(len(self.codes), dtype=np.int64)
        _kernels.grow_tree(
            self.codes,
            self._n_bins,
            growth.offered(self.codes.shape[1], len(self.grown)),
            self.weights,
            slope,
            curvature,
            growth.least_rows,
            LEAST_CURVATURE,
            growth.ridge,
            node,
            feature,
            border,
            leaf,
        )
        threshold = np.array(
            [self.borders[j][k - 1] if k else np.inf for j, k in zip(feature.tolist(), border.tolist(), strict=True)]
        )
        n_nodes = 2 * growth.n_splits + 1
        steps = steps_of_leaves(leaf[: len(slope)], slope, curvature, n_nodes, growth.rate, growth.ridge)
        return _Tree(state, node, feature, threshold, *steps), leaf

    @cached_property
    def _n_bins(self) -> IntArray:
        return np.array([len(known) + 1 for known in self.borders])

    def trees(self, n_rounds: int | None = None) -> Trees:
        """Those of so many rounds, or all."""
        grown = self.grown if n_rounds is None else self.grown[: n_rounds * len(self._states)]
        n_splits = self.growth.n_splits
        node = np.array([tree.node for tree in grown], dtype=np.int64).reshape(-1, n_splits)
        value, mass = (
            np.array(each, dtype=np.float64).reshape(-1, 2 * n_splits + 1)
            for each in ([tree.value for tree in grown], [tree.mass for tree in grown])
        )
        return Trees(
            0,
            np.array([tree.state for tree in grown], dtype=np.int64),
            np.array([tree.feature for tree in grown], dtype=np.int64).reshape(-1, n_splits),
            np.array([tree.threshold for tree in grown], dtype=np.float64).reshape(-1, n_splits),
            means_of_nodes(value, mass, node),
            self.start,
            self.growth.rate,
            node=node,
            ridge=self.growth.ridge,
        )


def _borders(x: FloatArray) -> FloatArray:
    """The values above the least, where there are at most BINS; else up to BINS - 1 that divide the rows evenly.

    No rare value is passed over where there are few: quantiles alone do not see a flag of one row in a hundred.

    >>> _borders(np.array([0.0] * 99 + [1.0])).tolist()
    [1.0]
    """
    values = np.unique(x)
    if len(values) <= BINS:
        return np.asarray(values[1:])
    even = np.unique(np.quantile(x, np.arange(1, BINS) / BINS, method="inverted_cdf"))
    even = even[even > values[0]]
    return np.asarray(even if len(even) else values[1:2])


def _mixed_bits(number: np.ndarray) -> np.ndarray:
    """Unsigned integers of 64 bits, each bit a function of all (the finalizer of SplitMix64)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(number ^ (number >> np.uint64(31)))
