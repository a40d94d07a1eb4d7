"""A decision tree that is as large as its description is worth: grown by scikit-learn, pruned by bits.

A node costs one bit (split or leaf); a split log2(columns) bits for its column and log2(thresholds) for its place; a
leaf log2(k) bits for its class, and each row that it gets wrong log2(m) + log2(k) bits: which of the m rows it is, and
which of the k classes it has. That is dear where classes overlap, as exceptions are a poor code of noise; with
code="nml" a leaf costs what normalised maximum likelihood takes for its classes. Costs add up over nodes, so that going
up from the leaves once finds the best pruning.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.description_length.multinomial import nml_bits


class DescriptionLengthTree(ClassifierMixin, BaseEstimator):
    """The pruning of a full tree with the fewest bits for the tree and its exceptions.

    code   "exceptions", as a list of the rows that are wrong, or "nml"

    `bits_` is what the pruned tree costs, `n_leaves_` how many leaves are left.

    >>> X = np.arange(40.0)[:, None]
    >>> tree = DescriptionLengthTree().fit(X, (X[:, 0] > 20).astype(int))
    >>> tree.n_leaves_, round(tree.bits_, 1)
    (2, 10.3)
    """

    def __init__(self, max_depth: int | None = None, code: str = "exceptions", random_state: int | None = 0) -> None:
        self.max_depth = max_depth
        self.code = code
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the full tree and cut what does not pay for itself."""
        if self.code not in ("exceptions", "nml"):
            raise ParameterError(f"there is no code {self.code!r} of a leaf", fix='choose "exceptions" or "nml"')
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.tree_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=self.random_state).fit(X, y)
        self.classes_ = self.tree_.classes_
        self.is_leaf_, self.bits_ = self._pruned(X)
        self.n_leaves_ = self._leaves_below(0)
        return self

    def _pruned(self, X: FloatArray) -> tuple[Any, float]:
        tree = self.tree_.tree_
        counts = np.rint(tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None])
        bits = 1.0 + self._leaf_bits(counts)  # (n_nodes,) each as a leaf
        is_leaf = np.ones(tree.node_count, dtype=bool)
        thresholds = np.array([max(len(np.unique(column)) - 1, 1) for column in X.T])
        for node in range(tree.node_count - 1, -1, -1):  # children come after their parent
            left, right = tree.children_left[node], tree.children_right[node]
            if left < 0:
                continue
            split = 1.0 + np.log2(X.shape[1]) + np.log2(thresholds[tree.feature[node]])
            if split + bits[left] + bits[right] < bits[node]:
                bits[node] = split + bits[left] + bits[right]
                is_leaf[node] = False
        return is_leaf, float(bits[0])

    def _leaf_bits(self, counts: FloatArray) -> FloatArray:
        if self.code == "nml":
            return np.array([sum(nml_bits(row)) for row in counts])
        m, k = counts[0].sum(), counts.shape[1]
        wrong = counts.sum(axis=1) - counts.max(axis=1)
        return np.asarray(np.log2(k) + wrong * (np.log2(m) + np.log2(k)))

    def _leaves_below(self, node: int) -> int:
        pending, leaves = [node], 0
        while pending:
            at = pending.pop()
            leaves += int(self.is_leaf_[at])
            if not self.is_leaf_[at]:
                pending += [self.tree_.tree_.children_left[at], self.tree_.tree_.children_right[at]]
        return leaves

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_rows, n_classes) the shares of the classes in the leaf of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
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
