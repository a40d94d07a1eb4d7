"""A generative model and its discriminative twin in one picture: their weights, and the rows on which they part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.render.display import Display, bare, label, note
from bayeswise.render.theme import AGAINST, FOR, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TwinDisplay(Display):
    """Log p(row) against the probability that each twin gives; outliers stand left of the dashed line.

    Takes what `bw.compare_twins` answers. A row far to the left and near 0 or 1 in blue is one of which logistic
    regression is sure though nothing like it was ever seen.
    """

    def __init__(self, comparison: Any) -> None:
        self.comparison = comparison

    def to_columns(self) -> dict[str, list[Any]]:
        """log_evidence, p_generative and p_discriminative of each row."""
        names = ("log_evidence", "p_generative", "p_discriminative")
        return {name: np.asarray(getattr(self.comparison, name)).tolist() for name in names}

    def size(self) -> tuple[float, float]:
        return 7.0, 4.0

    def draw(self, ax: Axes) -> None:
        twins = self.comparison
        seen = np.maximum(twins.log_evidence, np.finfo(np.float64).min)
        ax.scatter(seen, twins.p_generative, s=14, color=AGAINST, label="generative")
        ax.scatter(seen, twins.p_discriminative, s=14, color=FOR, label="logistic")
        ax.axvline(twins.outlier_below, color=NEUTRAL, linestyle="--", linewidth=1)
        for row in twins.overconfident:
            note(ax, f"row {row + 1}", (seen[row], twins.p_discriminative[row]), (4, -6), ha="left", va="top")
        ax.set_xlabel("log p(row)", color=INK)
        ax.set_ylabel(f"p({label(twins.state)} | row)", color=INK)
        ax.set_ylim(-0.05, 1.05)
        ax.legend(frameon=False, loc="center left")
        bare(ax, "left", "bottom")
