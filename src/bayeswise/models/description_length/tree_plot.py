"""The picture of a decision tree: questions above, leaves in the colour of their class below, bits in every node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.render.display import Display, label, titled
from bayeswise.render.numbers import number
from bayeswise.render.theme import GROUND, INK, NEUTRAL, mixed, state_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.models.description_length.tree import DescribedTree, TreeNode


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
