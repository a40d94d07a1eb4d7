"""The fitted tree: questions about one column each, the classes of the rows in each node, and the bits of each node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.logspace import log
from bayeswise.models.base.table_model import Capabilities, ModelFacts, where_rows_are
from bayeswise.models.description_length.bits import DescriptionLength
from bayeswise.models.description_length.tree import DescribedTree, TreeNode, leaf_bits, tree_length
from bayeswise.models.relearning import RelearnedModel
from bayeswise.models.settings.tree import TreeSettings
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.models.description_length.tree import TreeDisplay


@dataclass(frozen=True, eq=False)
class TreeModel(RelearnedModel):
    """A tree whose nodes are numbered from the root on; the branch of yes comes right after its question.

    In a leaf of n rows, n_c of which are of class c, p(c) is (n_c + s k p_c) / (n + s k), where p_c is the share of the
    class in all k classes' rows and s the smoothing.
    """

    schema: Schema
    settings: TreeSettings
    levels: tuple[Vocabulary, ...]  # of each category, those of the rows that were learned
    labels: Vocabulary
    column: IntArray  # (n_nodes,) the place in schema.used of the column of the question; -1: a leaf
    level: IntArray  # (n_nodes,) the place of the level of the question; -1: of a number, or a leaf
    threshold: FloatArray  # (n_nodes,) of a number: yes up to it
    no: IntArray  # (n_nodes,) the node after the answer no; -1: a leaf
    counts: FloatArray  # (n_nodes, n_classes) the weight of the rows of each class
    bits: FloatArray  # (n_nodes,) of the split, or of the leaf and its rows
    capabilities: ClassVar[Capabilities] = Capabilities(classes=True, relearns=True, questions=True)

    def refuse_impossible(self) -> None:
        """Nodes that are not those of one tree of questions about these columns."""
        n, k = len(self.column), len(self.labels)
        shapes = [each.shape for each in (self.column, self.level, self.threshold, self.no, self.bits)]
        if not n or not k or shapes != 5 * [(n,)] or self.counts.shape != (n, k):
            raise SchemaError("the nodes of a tree do not match each other, or there are none")
        if self.schema.target is None or self.schema.texts or len(self.levels) != len(self.schema.categories):
            raise SchemaError("a tree has a target, levels of each category and no texts")
        numbers = np.concatenate([self.threshold, self.bits, self.counts.ravel()])
        if not np.isfinite(numbers).all() or (self.counts < 0).any() or not (self.counts[0] > 0).all():
            raise SchemaError("thresholds, bits and counts of a tree are not finite, or below zero")
        if not _is_one_tree(self.column, self.no):
            raise SchemaError("the nodes of a tree are not one below the other")
        known = dict(zip(self.schema.categories, self.levels, strict=True))
        for column, level in zip(self.column.tolist(), self.level.tolist(), strict=True):
            name = self.schema.used[column] if -1 < column < len(self.schema.used) else None
            if (column != -1 and name is None) or not -1 <= level < len(known.get(name or "", ())):
                raise SchemaError("a tree asks about a column or a level that it does not know")
            if (name in known) != (level >= 0):
                raise SchemaError("a tree asks for a level of a number, or for a number of a category")
        split = self.column >= 0
        below = self.counts[np.flatnonzero(split) + 1] + self.counts[self.no[split]]
        if not np.allclose(below, self.counts[split], rtol=1e-9, atol=0.0):
            raise SchemaError("the rows of a node of a tree are not those of its branches")

    # -- what it is ---------------------------------------------------------------------------------------------
    @property
    def class_weight(self) -> FloatArray:
        """(n_classes,) the weight of the rows of each class."""
        return np.asarray(self.counts[0])

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        return dict(zip(self.schema.categories, self.levels, strict=True))

    @cached_property
    def log_prior(self) -> FloatArray:
        """(n_classes,) the shares of the classes in all rows, or as given by `class_prior`."""
        given = self.log_class_prior
        if given is not None:
            return given
        return np.asarray(log(self.counts[0]) - log(self.counts[0].sum()))

    @cached_property
    def _log_shares(self) -> FloatArray:
        """(n_nodes, n_classes) the logarithm of the smoothed shares of the classes in each node."""
        pseudo = self.settings.smoothing * len(self.classes)
        smoothed = self.counts + pseudo * self.counts[0] / self.counts[0].sum()
        return np.asarray(log(smoothed) - log(smoothed.sum(axis=1, keepdims=True)))

    def n_free_parameters(self) -> int:
        """The shares of the classes in each leaf, and the threshold of each question about a number."""
        n_leaves = int((self.column < 0).sum())
        return n_leaves * (len(self.classes) - 1) + int(((self.column >= 0) & (self.level < 0)).sum())

    def facts(self) -> ModelFacts:
        columns = [self.schema.used[place] for place in self.column[self.column >= 0]]
        words = {name: columns.count(name) for name in self.schema.used}
        return ModelFacts({name: f"{n} question{'s' * (n != 1)}" if n else "not asked" for name, n in words.items()})

    def description_length(self) -> DescriptionLength:
        """The bits of the splits and of the leaves; they describe the classes, given the columns."""
        leaf, code = self.column < 0, self.settings.code
        model_bits, data_bits = leaf_bits(self.counts[leaf], self.rows_learned, code).sum(axis=0).tolist()
        return tree_length(float(self.bits[~leaf].sum()), model_bits, data_bits, code)

    def described(self) -> DescribedTree:
        """The tree with the bits of each node, as text and as a picture."""
        made: dict[int, TreeNode] = {}
        for at in range(len(self.column) - 1, -1, -1):
            counts, bits = tuple(self.counts[at].tolist()), float(self.bits[at])
            if self.column[at] < 0:
                made[at] = TreeNode(counts, bits)
                continue
            name, level = self._question(at)
            made[at] = TreeNode(
                counts, bits, name, level, float(self.threshold[at]), made[at + 1], made[int(self.no[at])]
            )
        return DescribedTree(made[0], self.classes)

    def _question(self, at: int) -> tuple[str, Label | None]:
        name = self.schema.used[int(self.column[at])]
        level = int(self.level[at])
        return name, None if level < 0 else self.vocabularies[name][level]

    def plot(self, ax: Any = None) -> TreeDisplay:
        """Draw the tree, each node with its bits."""
        return self.described().plot(ax)

    def __repr__(self) -> str:
        n_leaves, bits = int((self.column < 0).sum()), float(self.bits.sum())
        leaves = f"{n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}"
        return f"TreeModel({len(self.classes)} classes, {leaves}, {bits:.1f} bits, {self.settings})"

    # -- what it says about rows --------------------------------------------------------------------------------
    def _answers(self, batch: Batch, node: int, rows: IntArray) -> Any:
        """(n_rows,) whether the answer to the question of a node is yes; a missing cell answers no."""
        name = self.schema.used[int(self.column[node])]
        if self.level[node] >= 0:
            return batch.codes[rows, self.schema.categories.index(name)] == self.level[node]
        with np.errstate(invalid="ignore"):
            return batch.values[rows, self.schema.numbers.index(name)] <= self.threshold[node]

    def leaf_of(self, batch: Batch) -> IntArray:
        """(n_rows,) the leaf of each row."""
        batch = self.recoded(batch)
        leaf = np.zeros(batch.n_rows, dtype=np.int64)
        pending = [(0, np.arange(batch.n_rows))]
        while pending:
            node, rows = pending.pop()
            if self.column[node] < 0:
                leaf[rows] = node
            elif len(rows):
                yes = self._answers(batch, node, rows)
                pending += [(node + 1, rows[yes]), (int(self.no[node]), rows[~yes])]
        return leaf

    def log_relative(self, batch: Batch) -> FloatArray:
        """(n_rows, n_classes) the logarithm of the shares in the leaf of each row, with the prior that was given."""
        found = self._log_shares + (self.log_prior - self._log_shares[0])
        return np.asarray(found[self.leaf_of(batch)])

    @where_rows_are
    def explain(self, row: Any) -> Account:
        """Why: the classes of all rows, and what each question on the path to the leaf adds, for one row."""
        batch = self.recoded(self.row_of(row))
        terms = {name: np.zeros(len(self.classes)) for name in self.schema.used}
        notes: dict[str, list[str]] = {name: [] for name in self.schema.used}
        described, node = self.described().root, 0
        while described.yes is not None and described.no is not None:
            name = described.column
            yes = bool(self._answers(batch, node, np.zeros(1, dtype=np.int64))[0])
            after = node + 1 if yes else int(self.no[node])
            with np.errstate(invalid="ignore"):  # a class that a node without smoothing has no rows of
                terms[name] += np.nan_to_num(self._log_shares[after] - self._log_shares[node], neginf=-np.inf)
            notes[name].append(f"{described.question}: {'yes' if yes else 'no'}")
            node, described = after, described.yes if yes else described.no
        parts = []
        for name in self.schema.used:
            value, note = self.shown_cell(name, batch, "missing: answers no", "unseen: answers no")
            text = "; ".join(notes[name]) or "not asked"
            parts.append(Contribution(name, value, terms[name], f"{text} ({note})" if note and notes[name] else text))
        return Account(self.classes, self.log_prior, tuple(parts), f"tree, {self.settings.convention}")

    # -- rows left out ------------------------------------------------------------------------------------------
    def learned_like(self, table: Any) -> tuple[TreeModel, Report]:
        """The tree of the table under the same columns and settings, and its report."""
        from bayeswise.models.tree.growing import grown_from

        return grown_from(open_like(table, self.schema), self.schema, self.settings)

    @property
    def selected_by_rows(self) -> tuple[str, ...]:
        return ("questions",)

    @property
    def cells_per_row(self) -> int:
        """How many cells a fit reads of each row, about: those of a tree ten questions deep."""
        return 10 * max(1, len(self.schema.used))

    def relearned(self, batches: Sequence[Batch]) -> TreeModel:
        """The tree of these rows alone; schema and settings stay."""
        from bayeswise.models.tree.growing import of_batches

        return of_batches(batches, self.schema, self.settings)


def _is_one_tree(column: IntArray, no: IntArray) -> bool:
    """Whether nodes in the order of a walk are those of one tree: every branch of no begins where that of yes ends.

    >>> _is_one_tree(np.array([0, -1, -1]), np.array([2, -1, -1])), _is_one_tree(np.array([0, -1]), np.array([0, -1]))
    (True, False)
    """
    expected = [0]
    for node, (question, other) in enumerate(zip(column.tolist(), no.tolist(), strict=True)):
        if not expected or expected.pop() != node or (question < 0) != (other == -1):
            return False
        if question >= 0:
            expected += [other, node + 1]
    return not expected
