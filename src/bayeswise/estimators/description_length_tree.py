"""A decision tree that is as large as its description is worth: grown by scikit-learn, pruned by bits.

`models/description_length/tree.py` says what a node costs; `bw.fit(model="tree")` learns such a tree from any table.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.checking import in_memory, is_frame, is_relation, is_text
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import DataError, MissingCellError, NonFiniteError, ParameterError, row_number
from bayeswise.models.description_length.bits import Code, DescriptionLength
from bayeswise.models.description_length.tree import DescribedTree, PrunedTree
from bayeswise.tables.schema.labels import Label, Vocabulary, label_of
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.models.description_length.tree import TreeDisplay


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
        tree = self.tree_.tree_
        counts = np.rint(tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None])
        self._pruned = PrunedTree(tree, counts, self.questions_, self._n_places(X), self.code)
        self.is_leaf_, self._length = self._pruned.is_leaf, self._pruned.length
        self.bits_, self.n_leaves_ = self._length.bits, int(self.is_leaf_[self._pruned.kept].sum())
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

    def _n_places(self, X: FloatArray) -> IntArray:
        """(n_questions,) how many questions its column has: thresholds of a number, levels of a category."""
        levels = Counter(column for column, level in self.questions_ if level is not None)
        each = zip(self.questions_, X.T, strict=True)
        return np.array([levels[name] or max(len(np.unique(column)) - 1, 1) for (name, _), column in each])

    def _questions(self, X: Any, y: Any = None, *, learning: bool = False) -> tuple[Any, Any]:
        """X as numbers, one column for each number and for each level of a category; and y, while it is learned."""
        X = X if issparse(X) else in_memory(X)
        if is_relation(X):
            X = X.to_arrow_table()
        if learning:
            self._schema = None if y is None else _schema_with_categories(X)  # without y the check below refuses
        if self._schema is not None:
            validate_data(self, X, reset=learning, skip_check_array=True)
            matrix = self._with_levels(self._schema, X, learning)
            return matrix, column_or_1d(y, warn=True) if learning else None
        if not learning:
            return self._finite(validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)), None
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
        self._finite(X)
        names = getattr(self, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])])
        self.questions_: list[tuple[str, Label | None]] = [(str(name), None) for name in names]
        return X, y

    def _finite(self, X: FloatArray) -> FloatArray:
        """A matrix whose cells are all numbers."""
        wrong = ~np.isfinite(X)
        if wrong.any():
            row, column = (int(place) for place in np.argwhere(wrong)[0])
            name = str(getattr(self, "feature_names_in_", [f"x{k}" for k in range(X.shape[1])])[column])
            if np.isinf(X[row, column]):
                raise NonFiniteError(row=row, column=name, fix="give a finite number, or leave the row out")
            raise MissingCellError(
                f"column {name!r} is missing (NaN) in row {row_number(row)}",
                fix="fill the cell in, or leave the row out",
            )
        return X

    def _with_levels(self, schema: Schema, X: Any, learning: bool) -> FloatArray:
        """(n_rows, n_questions) numbers, and 0 where a row has the level that a question asks for, else 1."""
        parts = list(encoding.batches(schema, X, vocabularies=None if learning else self._levels))
        if learning:
            self._levels: dict[str, Vocabulary] = dict(zip(schema.categories, parts[-1].vocabularies, strict=True))
            self.questions_ = [(name, None) for name in schema.numbers]
            for name, levels in self._levels.items():
                used = list(levels)[1:] if len(levels) == 2 else list(levels)  # of two levels one question is enough
                self.questions_ += [(name, level) for level in used]
        numbers = np.concatenate([part.values for part in parts])
        if np.isnan(numbers).any():
            raise DataError("a tree needs a number in every cell", fix="fill in the missing numbers, or leave them out")
        codes = np.concatenate([part.codes for part in parts])
        places = {name: k for k, name in enumerate(schema.categories)}
        by_level = [
            codes[:, places[name]] != self._levels[name].index(level)
            for name, level in self.questions_
            if level is not None
        ]
        return np.column_stack([numbers, *by_level]).astype(np.float64)

    def described(self) -> DescribedTree:
        """The tree with the bits of each node."""
        check_is_fitted(self)
        return DescribedTree(self._pruned.root(), tuple(label_of(each) for each in self.classes_))

    def plot(self, ax: Any = None) -> TreeDisplay:
        """Draw the tree, each node with its bits."""
        return self.described().plot(ax)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

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
    """What the columns of a frame or of text mean, if some are categories; anything else is a matrix of numbers."""
    if not is_frame(X) and not is_text(X):
        return None
    schema = encoding.schema_of(X, categorical=False, overrides={}, flags_as_numbers=True, booleans_as_numbers=True)
    return schema if schema.categories else None
