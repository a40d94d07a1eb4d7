"""A decision tree that is as large as its description is worth: grown by scikit-learn, pruned by bits.

A node costs one bit (split or leaf); a split log2(columns) bits for its column and log2(thresholds) for its place, or
log2(levels) for the level of a category that it asks for; a
leaf log2(k) bits for its class, and each row that it gets wrong log2(m) + log2(k) bits: which of the m rows it is, and
which of the k classes it has. That is dear where classes overlap, as exceptions are a poor code of noise; with
code="nml" a leaf costs what normalised maximum likelihood takes for its classes. Costs add up over nodes, so that going
up from the leaves once finds the best pruning.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bayeswise.estimators import features
from bayeswise.estimators.checking import is_frame
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import DataError, ParameterError
from bayeswise.models.description_length.bits import Code, DescriptionLength, Part, nml_bits
from bayeswise.models.description_length.tree import DescribedTree, TreeNode
from bayeswise.tables.schema.labels import Label, Vocabulary, label_of
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.models.description_length.tree_plot import TreeDisplay


@dataclass(eq=False, repr=False)
class DescriptionLengthTree(ClassifierMixin, BaseEstimator):
    """The pruning of a full tree with the fewest bits for the tree and its exceptions.

    max_depth   the greatest depth before pruning; None sets no limit
    code        "exceptions", as a list of the rows that are wrong, or "nml"

    `bits_` is what the pruned tree costs, `n_leaves_` how many leaves are left; `described()` has the bits of each
    node, as text and as a picture. Columns of a frame that hold text are categories, and a split asks for one level.
    `select` sets trees of the same rows side by side.

    >>> X = np.arange(40.0)[:, None]
    >>> tree = DescriptionLengthTree().fit(X, (X[:, 0] > 20).astype(int))
    >>> tree.n_leaves_, tree.description_length()
    (2, DescriptionLength(10.3 bits by two-part; splits: 6.3, leaves: 4.0))
    """

    max_depth: int | None = None
    code: str = "exceptions"
    random_state: int | None = 0

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the full tree and cut what does not pay for itself."""
        if self.code not in ("exceptions", "nml"):
            raise ParameterError(f"there is no code {self.code!r} of a leaf", fix='choose "exceptions" or "nml"')
        X, y = self._questions(X, y, learning=True)
        check_classification_targets(y)
        self.tree_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=self.random_state).fit(X, y)
        self.classes_ = self.tree_.classes_
        splits, leaves = self._split_bits(X), self._leaf_bits()
        self.is_leaf_ = self._pruned(splits, leaves.sum(axis=1))
        self._node_splits, self._node_leaves = splits, leaves.sum(axis=1)
        at = self._kept_nodes()
        self._length = _length_of(self.code, splits[at[~self.is_leaf_[at]]], leaves[at[self.is_leaf_[at]]])
        self.bits_, self.n_leaves_ = self._length.bits, int(self.is_leaf_[at].sum())
        return self

    def description_length(self, code: Code = "two-part") -> DescriptionLength:
        """The bits of the splits and of the leaves; they describe the classes, given the columns."""
        check_is_fitted(self)
        if code != self._length.code:
            raise ParameterError(
                f"a tree with code={self.code!r} has a description by {self._length.code}, not by {code}",
                fix=f'choose code="{self._length.code}"',
            )
        return self._length

    def _split_bits(self, X: FloatArray) -> FloatArray:
        """(n_nodes,) what a split costs; nothing where the full tree has none."""
        tree = self.tree_.tree_
        bits = 1.0 + np.log2(self._n_columns) + np.log2(self._n_places(X)[np.maximum(tree.feature, 0)])
        return np.where(tree.children_left >= 0, bits, 0.0)

    @property
    def _n_columns(self) -> int:
        """The columns that a split may ask about."""
        return len(dict.fromkeys(column for column, _ in self.questions_))

    def _n_places(self, X: FloatArray) -> IntArray:
        """(n_questions,) how many questions its column has: thresholds of a number, levels of a category."""
        levels = Counter(column for column, level in self.questions_ if level is not None)
        each = zip(self.questions_, X.T, strict=True)
        return np.array([levels[name] or max(len(np.unique(column)) - 1, 1) for (name, _), column in each])

    def _questions(self, X: Any, y: Any = None, *, learning: bool = False) -> tuple[Any, Any]:
        """X as numbers, one column for each number and for each level of a category; and y, while it is learned."""
        if learning:
            self._schema = None if y is None else _schema_with_categories(X)  # without y the check below refuses
        if self._schema is not None:
            validate_data(self, X, reset=learning, skip_check_array=True)
            matrix = self._with_levels(self._schema, X, learning)
            return matrix, column_or_1d(y, warn=True) if learning else None
        if not learning:
            return validate_data(self, X, reset=False, dtype=np.float64), None
        X, y = validate_data(self, X, y, dtype=np.float64)
        names = getattr(self, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])])
        self.questions_: list[tuple[str, Label | None]] = [(str(name), None) for name in names]
        return X, y

    def _with_levels(self, schema: Schema, X: Any, learning: bool) -> FloatArray:
        """(n_rows, n_questions) numbers, and 0 where a row has the level that a question asks for, else 1."""
        parts = list(features.batches(schema, X, vocabularies=None if learning else self._levels))
        if learning:
            self._levels: dict[str, Vocabulary] = dict(zip(schema.categories, parts[-1].vocabularies, strict=True))
            self.questions_ = [(name, None) for name in schema.numbers]
            for name, levels in self._levels.items():
                asked = list(levels)[1:] if len(levels) == 2 else list(levels)  # of two levels one question tells all
                self.questions_ += [(name, level) for level in asked]
        numbers = np.concatenate([part.values for part in parts])
        if np.isnan(numbers).any():
            raise DataError("a tree needs a number in every cell", fix="fill in the missing numbers, or leave them out")
        codes = np.concatenate([part.codes for part in parts])
        places = {name: k for k, name in enumerate(schema.categories)}
        asked_for = [
            codes[:, places[name]] != self._levels[name].index(level)
            for name, level in self.questions_
            if level is not None
        ]
        return np.column_stack([numbers, *asked_for]).astype(np.float64)

    def described(self) -> DescribedTree:
        """The tree with the bits of each node."""
        check_is_fitted(self)
        return DescribedTree(self._node(0), tuple(label_of(each) for each in self.classes_))

    def _node(self, at: int) -> TreeNode:
        tree = self.tree_.tree_
        counts = tuple(np.rint(tree.value[at, 0, :] * tree.weighted_n_node_samples[at]).tolist())
        if self.is_leaf_[at]:
            return TreeNode(counts, float(self._node_leaves[at]))
        column, level = self.questions_[tree.feature[at]]
        yes, no = self._node(tree.children_left[at]), self._node(tree.children_right[at])
        threshold = float(tree.threshold[at])
        return TreeNode(counts, float(self._node_splits[at]), column, level, threshold, yes, no)

    def plot(self, ax: Any = None) -> TreeDisplay:
        """Draw the tree, each node with its bits."""
        return self.described().plot(ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _leaf_bits(self) -> FloatArray:
        """(n_nodes, 2) each node as a leaf: the bits of its class, and of its rows."""
        tree = self.tree_.tree_
        counts = np.rint(tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None])
        if self.code == "nml":
            return np.array([(1.0 + regret, data) for regret, data in map(nml_bits, counts)])
        m, k = counts[0].sum(), counts.shape[1]
        wrong = counts.sum(axis=1) - counts.max(axis=1)
        return np.column_stack([np.full(len(counts), 1.0 + np.log2(k)), wrong * (np.log2(m) + np.log2(k))])

    def _pruned(self, splits: FloatArray, leaves: FloatArray) -> BoolArray:
        """(n_nodes,) whether a node is cheaper as a leaf than with all that is below it."""
        tree, bits = self.tree_.tree_, leaves.copy()
        is_leaf = np.ones(tree.node_count, dtype=bool)
        for node in range(tree.node_count - 1, -1, -1):  # children come after their parent
            left, right = tree.children_left[node], tree.children_right[node]
            if left >= 0 and splits[node] + bits[left] + bits[right] < bits[node]:
                bits[node] = splits[node] + bits[left] + bits[right]
                is_leaf[node] = False
        return is_leaf

    def _kept_nodes(self) -> IntArray:
        """The nodes that are left, from the root on."""
        tree, kept, pending = self.tree_.tree_, [], [0]
        while pending:
            at = pending.pop()
            kept.append(at)
            if not self.is_leaf_[at]:
                pending += [tree.children_left[at], tree.children_right[at]]
        return np.array(kept, dtype=np.int64)

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the shares of the classes in the leaf of each row."""
        check_is_fitted(self)
        X, _ = self._questions(X)
        tree = self.tree_.tree_
        at = np.zeros(len(X), dtype=np.int64)
        cells = X.astype(np.float32)  # scikit-learn splits on them
        moving = np.flatnonzero(~self.is_leaf_[at])
        while len(moving):
            node = at[moving]
            goes_left = cells[moving, tree.feature[node]] <= tree.threshold[node]
            at[moving] = np.where(goes_left, tree.children_left[node], tree.children_right[node])
            moving = moving[~self.is_leaf_[at[moving]]]
        shares = tree.value[at, 0, :]
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Any:
        """The commonest class of the leaf."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def _schema_with_categories(X: Any) -> Schema | None:
    """What the columns of a frame mean, if some are categories; anything else is a matrix of numbers."""
    if not is_frame(X):
        return None
    schema = features.schema_of(X, categorical=False, overrides={}, flags_as_numbers=True, booleans_as_numbers=True)
    return schema if schema.categories else None


def _length_of(code: str, splits: FloatArray, leaves: FloatArray) -> DescriptionLength:
    model_bits, data_bits = leaves.sum(axis=0).tolist()
    parts = (Part("splits", float(splits.sum()), 0.0), Part("leaves", model_bits, data_bits))
    return DescriptionLength("nml" if code == "nml" else "two-part", parts)
