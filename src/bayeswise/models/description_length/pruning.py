"""The pruning of a tree of yes-no questions that takes the fewest bits.

A node costs one bit (split or leaf); a split log2(columns) bits for its column and log2(places) for its question: the
thresholds of a number, the levels of a category. A leaf costs log2(k) bits for its class, and each row that it gets
wrong log2(m) + log2(k) bits: which of the m rows it is, and which of the k classes it has. That is expensive where
classes overlap, as exceptions are a poor code of noise; with code="nml" a leaf costs what normalised maximum likelihood
takes for its classes. Costs add up over nodes, so that going up from the leaves once finds the best pruning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.models.description_length.bits import DescriptionLength, Part, nml_bits
from bayeswise.models.description_length.tree import TreeNode
from bayeswise.tables.schema.labels import Label

Question = tuple[str, Label | None]  # a column and a level; None: a number below a threshold


def leaf_bits(counts: FloatArray, n_rows: float, code: str) -> FloatArray:
    """(n_leaves, 2) the bits of each leaf and its class, and of its rows; of all rows of the tree there are n_rows.

    >>> leaf_bits(np.array([[7.0, 1.0]]), 16.0, "exceptions").tolist()
    [[2.0, 5.0]]
    """
    if code == "nml":
        return np.array([(1.0 + regret, data) for regret, data in map(nml_bits, counts)])
    bits_of_class = np.log2(counts.shape[1])
    wrong = counts.sum(axis=1) - counts.max(axis=1)
    rows = wrong * (np.log2(max(n_rows, 1.0)) + bits_of_class)
    return np.column_stack([np.full(len(counts), 1.0 + bits_of_class), rows])


def tree_length(splits: float, model_bits: float, data_bits: float, code: str) -> DescriptionLength:
    """The bits of a tree: of its splits, of its leaves, and of the rows in them."""
    parts = (Part("splits", splits, 0.0), Part("leaves", model_bits, data_bits))
    return DescriptionLength("nml" if code == "nml" else "two-part", parts)


@dataclass(frozen=True, eq=False)
class PrunedTree:
    """A full tree, and which of its nodes are leaves of the cheapest pruning.

    tree       its nodes, as a DecisionTreeClassifier or models/tree/growing.py has them; children come after parents
    counts     (n_nodes, k) the weight of the rows of each class
    questions  what each column of its matrix asks
    n_places   (n_questions,) how many questions there are about the same column
    """

    tree: Any
    counts: FloatArray
    questions: Sequence[Question]
    n_places: IntArray
    code: str

    @cached_property
    def split_bits(self) -> FloatArray:
        """(n_nodes,) what a split costs; nothing where the full tree has none."""
        n_columns = max(1, len(dict.fromkeys(column for column, _ in self.questions)))
        if not len(self.n_places):
            return np.zeros(len(self.counts))
        bits = 1.0 + np.log2(n_columns) + np.log2(self.n_places[np.maximum(self.tree.feature, 0)])
        return np.where(self.tree.children_left >= 0, bits, 0.0)

    @cached_property
    def leaf_bits(self) -> FloatArray:
        """(n_nodes, 2) each node as a leaf: the bits of its class, and of its rows."""
        return leaf_bits(self.counts, float(self.counts[0].sum()), self.code)

    @cached_property
    def is_leaf(self) -> BoolArray:
        """(n_nodes,) whether a node is cheaper as a leaf than with all that is below it."""
        tree, bits = self.tree, self.leaf_bits.sum(axis=1)
        found = np.ones(len(bits), dtype=bool)
        for node in range(len(bits) - 1, -1, -1):  # children come after their parent
            left, right = tree.children_left[node], tree.children_right[node]
            if left >= 0 and self.split_bits[node] + bits[left] + bits[right] < bits[node]:
                bits[node] = self.split_bits[node] + bits[left] + bits[right]
                found[node] = False
        return found

    @cached_property
    def kept(self) -> IntArray:
        """The nodes that are left, each before those below it, the branch of yes before that of no."""
        found, pending = [], [0]
        while pending:
            at = pending.pop()
            found.append(at)
            if not self.is_leaf[at]:
                pending += [self.tree.children_right[at], self.tree.children_left[at]]
        return np.array(found, dtype=np.int64)

    @cached_property
    def bits(self) -> FloatArray:
        """(n_nodes,) what each node costs as it is."""
        return np.where(self.is_leaf, self.leaf_bits.sum(axis=1), self.split_bits)

    @cached_property
    def length(self) -> DescriptionLength:
        """The bits of the splits and of the leaves that are left."""
        leaf = self.is_leaf[self.kept]
        model_bits, data_bits = self.leaf_bits[self.kept[leaf]].sum(axis=0).tolist()
        splits = float(self.split_bits[self.kept[~leaf]].sum())
        return tree_length(splits, model_bits, data_bits, self.code)

    def root(self) -> TreeNode:
        """The tree that is left."""
        made: dict[int, TreeNode] = {}
        tree = self.tree
        for at in self.kept[::-1].tolist():
            counts, bits = tuple(self.counts[at].tolist()), float(self.bits[at])
            if self.is_leaf[at]:
                made[at] = TreeNode(counts, bits)
                continue
            column, level = self.questions[tree.feature[at]]
            below = made[tree.children_left[at]], made[tree.children_right[at]]
            made[at] = TreeNode(counts, bits, column, level, float(tree.threshold[at]), *below)
        return made[0]
