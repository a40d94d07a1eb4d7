"""A tree of yes-no questions with the bits of each node: its cheapest pruning, as text and as a picture.

A node costs one bit (split or leaf); a split log2(columns) bits for its column and log2(places) for its question: the
thresholds of a number, the levels of a category. A leaf costs log2(k) bits for its class, and each row that it gets
wrong log2(m) + log2(k) bits: which of the m rows it is, and which of the k classes it has. That is expensive where
classes overlap, as exceptions are a poor code of noise; with code="nml" a leaf costs what normalised maximum likelihood
takes for its classes. Costs add up over nodes, so that going up from the leaves once finds the best pruning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.description_length.bits import DescriptionLength, Part, nml_bits
from bayeswise.render.display import Display, label, titled
from bayeswise.render.labels import shown
from bayeswise.render.numbers import count, number
from bayeswise.render.plain import Tabular
from bayeswise.render.theme import GROUND, INK, NEUTRAL, mixed, state_colour
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Question = tuple[str, Label | None]  # a column and a level; None: a number below a threshold


@dataclass(frozen=True)
class TreeNode:
    """One node: a question and two branches, or a leaf with the class that it says."""

    counts: tuple[float, ...]  # rows of each class
    bits: float  # of this node alone: its split, or its class and exceptions
    column: str = ""  # of the question; empty for a leaf
    level: Label | None = None  # `column = level`; None: a number below the threshold
    threshold: float = 0.0
    yes: TreeNode | None = None
    no: TreeNode | None = None

    @property
    def is_leaf(self) -> bool:
        return self.yes is None

    @property
    def question(self) -> str:
        """What it asks of a row.

        >>> TreeNode((1.0,), 0.0, "wind", "weak").question, TreeNode((1.0,), 0.0, "x", None, 2.5).question
        ('wind = weak', 'x <= 2.5')
        """
        return f"{shown(self.column)} " + (
            f"<= {number(self.threshold)}" if self.level is None else f"= {shown(self.level)}"
        )

    @property
    def total_bits(self) -> float:
        """Of this node and all below it."""
        return math.fsum(node.bits for _, _, node in self.walk())

    def walk(self) -> Iterator[tuple[int, str, TreeNode]]:
        """Depth, branch ("", "yes" or "no") and node, from the root on."""
        pending: list[tuple[int, str, TreeNode]] = [(0, "", self)]
        while pending:
            level, branch, node = pending.pop()
            yield level, branch, node
            if node.yes is not None and node.no is not None:
                pending += [(level + 1, "no", node.no), (level + 1, "yes", node.yes)]


@dataclass(frozen=True, eq=False)
class DescribedTree(Tabular):
    """A tree, its classes, and what it costs to describe it and the classes of the rows under it."""

    root: TreeNode
    classes: tuple[Label, ...]

    @property
    def bits(self) -> float:
        """Of the whole."""
        return self.root.total_bits

    @property
    def n_leaves(self) -> int:
        return sum(node.is_leaf for _, _, node in self.root.walk())

    @property
    def summary(self) -> str:
        """How many leaves and bits there are."""
        return f"{self.n_leaves} {'leaf' if self.n_leaves == 1 else 'leaves'}, {number(self.bits)} bits"

    def said(self, node: TreeNode) -> Label:
        """The commonest class of a node; the first of equal ones."""
        return self.classes[max(range(len(self.classes)), key=lambda k: node.counts[k])]

    def to_columns(self) -> dict[str, list[Any]]:
        """depth, branch, question (None for a leaf), class, rows and bits of each node."""
        nodes = list(self.root.walk())
        return {
            "depth": [depth for depth, _, _ in nodes],
            "branch": [branch for _, branch, _ in nodes],
            "question": [None if node.is_leaf else node.question for _, _, node in nodes],
            "class": [self.said(node) for _, _, node in nodes],
            "rows": [sum(node.counts) for _, _, node in nodes],
            "bits": [node.bits for _, _, node in nodes],
        }

    def leaf_text(self, node: TreeNode) -> str:
        """The class, and how many of the rows have it."""
        return f"{shown(self.said(node))} ({count(max(node.counts))} of {count(sum(node.counts))})"

    def plot(self, ax: Any = None) -> TreeDisplay:
        """Draw the tree, each node with its bits."""
        return TreeDisplay(self).plot(ax)

    def __str__(self) -> str:
        lines = []
        for depth, branch, node in self.root.walk():
            text = self.leaf_text(node) if node.is_leaf else f"{node.question}?"
            lines.append(f"{'  ' * depth}{branch + ': ' if branch else ''}{text}  [{number(node.bits)} bits]")
        return "\n".join([*lines, f"{self.summary} in all"])

    def __repr__(self) -> str:
        return f"DescribedTree({self.summary})"


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


class TreeDisplay(Display):
    """Left is yes, right is no. The bits of all nodes add up to those of the title."""

    def __init__(self, tree: DescribedTree) -> None:
        self.tree = tree
        self.places: dict[int, tuple[float, int]] = {}  # by id of the node: place across, depth
        self._place(tree.root, 0, 0.0)

    def _place(self, node: TreeNode, depth: int, left: float) -> float:
        """Leaves stand one beside the other, questions above the middle of theirs; the place after the last leaf."""
        if node.yes is None or node.no is None:
            self.places[id(node)] = (left + 0.5, depth)
            return left + 1.0
        middle = self._place(node.yes, depth + 1, left)
        end = self._place(node.no, depth + 1, middle)
        across = 0.5 * (self.places[id(node.yes)][0] + self.places[id(node.no)][0])
        self.places[id(node)] = (across, depth)
        return end

    def to_columns(self) -> dict[str, list[Any]]:
        """Those of the tree."""
        return self.tree.to_columns()

    def size(self) -> tuple[float, float]:
        depth = max(depth for _, depth in self.places.values())
        return max(4.0, 1.75 * self.tree.n_leaves), 1.4 + 1.15 * depth

    def draw(self, ax: Axes) -> None:
        deepest = max(depth for _, depth in self.places.values())
        for _, _, node in self.tree.root.walk():
            x, depth = self.places[id(node)]
            for word, child in (("yes", node.yes), ("no", node.no)):
                if child is not None:
                    to_x, to_depth = self.places[id(child)]
                    ax.plot([x, to_x], [-depth, -to_depth], color=NEUTRAL, linewidth=1.1, zorder=1)
                    middle = (0.5 * (x + to_x), -0.5 * (depth + to_depth))
                    how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small", "color": INK}
                    ax.text(*middle, word, bbox={"facecolor": GROUND, "edgecolor": "none", "pad": 1.0}, **how)
            self._box(ax, node, x, depth)
        ax.set_xlim(0.0, float(self.tree.n_leaves))
        ax.set_ylim(-deepest - 0.5, 0.5)
        ax.set_axis_off()
        titled(ax, f"{self.tree.summary} in all")

    def _box(self, ax: Axes, node: TreeNode, x: float, depth: int) -> None:
        colour = state_colour(self.tree.classes.index(self.tree.said(node))) if node.is_leaf else NEUTRAL
        text = self.tree.leaf_text(node) if node.is_leaf else f"{node.question}?"
        box = {"boxstyle": "round,pad=0.4", "facecolor": mixed(colour, 0.18), "edgecolor": mixed(colour, 0.7)}
        words = f"{label(text, 24)}\n{number(node.bits)} bits"
        ax.text(x, -depth, words, ha="center", va="center", fontsize="small", color=INK, bbox=box, zorder=3)
