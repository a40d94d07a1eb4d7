"""A full tree of yes-no questions: in every node the question after which the classes take the fewest bits.

All nodes of one depth are split together. Of questions that are equally good the first is taken, in the order of the
columns and then of their numbers or levels, so that the tree does not depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray

_DIGITS = 12  # of an entropy: beyond them questions are equally good


@dataclass(frozen=True, eq=False)
class Answers:
    """One column of all rows: the rank of each number, or the place of each level.

    A question about numbers is "up to this rank?", one about levels "this level?". A place of -1 is asked for by none.
    """

    places: IntArray  # (n_rows,)
    ordered: bool
    asked: BoolArray  # (n_places,) for which of them there is a question

    @cached_property
    def order(self) -> IntArray:
        """(n_rows,) the rows by their places."""
        return np.argsort(self.places, kind="stable")

    def says_yes(self, rows: IntArray, place: IntArray) -> BoolArray:
        """(n,) the answer of each of these rows to the question about a place."""
        found = self.places[rows]
        return np.asarray(found <= place if self.ordered else found == place)


@dataclass(frozen=True, eq=False)
class FullTree:
    """The nodes of a tree, each before those below it; under the names that scikit-learn gives them."""

    feature: IntArray  # (n_nodes,) the column that is asked about; -1: a leaf
    threshold: IntArray  # (n_nodes,) the place that is asked for
    children_left: IntArray  # (n_nodes,) after the answer yes; -1: a leaf
    children_right: IntArray  # (n_nodes,) after the answer no
    counts: FloatArray  # (n_nodes, n_classes)


def full_tree(
    columns: Sequence[Answers],
    groups: IntArray,
    n_classes: int,
    weights: FloatArray,
    worth_splitting: Callable[[FloatArray], BoolArray],
    max_depth: int | None,
) -> FullTree:
    """Split until no question separates rows, or none is worth it: a function of the counts (n_nodes, n_classes).

    >>> column = Answers(np.array([0, 1, 2, 3]), True, np.ones(4, dtype=bool))
    >>> tree = full_tree([column], np.array([0, 0, 1, 1]), 2, np.ones(4), lambda counts: (counts > 0).all(axis=1), None)
    >>> tree.feature.tolist(), tree.threshold.tolist(), tree.counts.tolist()
    ([0, -1, -1], [1, -1, -1], [[2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    """
    node = np.zeros(len(groups), dtype=np.int64)  # of each row
    counts = [_counted(node, 1, groups, n_classes, weights)]
    asked = {"feature": [-1], "threshold": [-1], "yes": [-1], "no": [-1]}
    level = np.array([0])
    for _ in range(len(groups) if max_depth is None else max_depth):
        level = level[worth_splitting(counts[-1])]
        here = np.full(len(asked["feature"]), -1)
        here[level] = np.arange(len(level))
        rows = np.flatnonzero(here[node] >= 0)
        if not len(rows):
            break
        feature, place = _best_questions(columns, here[node], rows, len(level), groups, n_classes, weights)
        split = np.flatnonzero(feature >= 0)
        if not len(split):
            break
        first = len(asked["feature"])
        for k, local in enumerate(split.tolist()):
            at = int(level[local])
            asked["feature"][at], asked["threshold"][at] = int(feature[local]), int(place[local])
            asked["yes"][at], asked["no"][at] = first + 2 * k, first + 2 * k + 1
        for words in asked.values():
            words += [-1] * (2 * len(split))
        rows = rows[feature[here[node[rows]]] >= 0]
        local = here[node[rows]]
        child = np.full(len(level), -1)
        child[split] = first + 2 * np.arange(len(split))
        for c in np.unique(feature[split]).tolist():
            some = feature[local] == c
            yes = columns[c].says_yes(rows[some], place[local[some]])
            node[rows[some]] = child[local[some]] + ~yes
        level = np.arange(first, first + 2 * len(split))
        counts.append(_counted(node[rows] - first, len(level), groups[rows], n_classes, weights[rows]))
    arrays = {name: np.array(found, dtype=np.int64) for name, found in asked.items()}
    return FullTree(arrays["feature"], arrays["threshold"], arrays["yes"], arrays["no"], np.concatenate(counts))


def _counted(node: IntArray, n_nodes: int, groups: IntArray, n_classes: int, weights: FloatArray) -> FloatArray:
    """(n_nodes, n_classes) the weight of the rows of each class."""
    found = np.bincount(node * n_classes + groups, weights, minlength=n_nodes * n_classes)
    return np.asarray(found, dtype=np.float64).reshape(n_nodes, n_classes)


def _best_questions(
    columns: Sequence[Answers],
    node: IntArray,
    rows: IntArray,
    n_nodes: int,
    groups: IntArray,
    n_classes: int,
    weights: FloatArray,
) -> tuple[IntArray, IntArray]:
    """(n_nodes,) the column and the place that each node asks about; -1 where no question separates its rows."""
    feature, place = np.full(n_nodes, -1), np.full(n_nodes, -1)
    best = np.full(n_nodes, -np.inf)
    total = _counted(node[rows], n_nodes, groups[rows], n_classes, weights[rows])
    mass = total.sum(axis=1)
    inside = np.zeros(len(node), dtype=bool)
    inside[rows] = True
    for c, column in enumerate(columns):
        order = column.order[inside[column.order]]
        order = order[np.argsort(node[order], kind="stable")]
        of_row, at = node[order], column.places[order]
        new = np.append(True, (of_row[1:] != of_row[:-1]) | (at[1:] != at[:-1]))
        run = np.cumsum(new) - 1  # rows of one node and one place
        owner, asked_for = of_row[new], at[new]
        yes = _counted(run, len(owner), groups[order], n_classes, weights[order])
        if column.ordered:
            yes = _within(yes, owner, n_nodes)
        no = np.maximum(total[owner] - yes, 0.0)  # weights that are not whole are rounded
        last = np.append(owner[1:] != owner[:-1], True)
        alone = np.bincount(owner, minlength=n_nodes)[owner] == 1
        possible = ~last if column.ordered else (asked_for >= 0) & column.asked[asked_for] & ~alone
        score = np.where(possible, np.round((_purity(yes) + _purity(no)) / mass[owner], _DIGITS), -np.inf)
        found = np.full(n_nodes, -np.inf)
        np.maximum.at(found, owner, score)
        better = (found > best)[owner] & (score == found[owner])
        nodes, first = np.unique(owner[better], return_index=True)
        best[nodes], feature[nodes] = found[nodes], c
        place[nodes] = asked_for[np.flatnonzero(better)[first]]
    return feature, place


def _within(counts: FloatArray, owner: IntArray, n_nodes: int) -> FloatArray:
    """(n_runs, n_classes) sums of the runs up to each one, those of its own node alone."""
    sums = np.cumsum(counts, axis=0)
    first = np.searchsorted(owner, np.arange(n_nodes))
    before = np.vstack([np.zeros((1, counts.shape[1])), sums])[first]
    return np.maximum(sums - before[owner], 0.0)


def _purity(counts: FloatArray) -> FloatArray:
    """(n,) minus the entropy of all rows under the shares of their classes."""
    return np.asarray(xlogy(counts, counts).sum(axis=1) - xlogy(counts.sum(axis=1), counts.sum(axis=1)))
