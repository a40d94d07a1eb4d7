"""A generative model and its discriminative twin in one picture: their weights, and the rows on which they part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.render.theme import AGAINST, FOR, INK, NEUTRAL, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TwinDisplay:
    """Log p(row) against the probability that each twin gives; outliers stand left of the dashed line.

    Takes what `bw.compare_twins` answers. A row far to the left and near 0 or 1 in blue is one of which logistic
    regression is sure though nothing like it was ever seen.
    """

    def __init__(self, comparison: Any) -> None:
        self.comparison = comparison
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def plot(self, ax: Axes | None = None) -> TwinDisplay:
        """Draw into the axes, or into a new figure."""
        twins = self.comparison
        ax = axes_or_new(ax, 7.0, 4.0)
        seen = np.maximum(twins.log_evidence, np.finfo(np.float64).min)
        ax.scatter(seen, twins.p_generative, s=14, color=AGAINST, label="generative")
        ax.scatter(seen, twins.p_discriminative, s=14, color=FOR, label="logistic")
        ax.axvline(twins.outlier_below, color=NEUTRAL, linestyle="--", linewidth=1)
        for row in twins.overconfident:
            ax.annotate(
                f"row {row + 1}",
                (seen[row], twins.p_discriminative[row]),
                color=INK,
                xytext=(4, -10),
                textcoords="offset points",
            )
        ax.set_xlabel("log p(row)", color=INK)
        ax.set_ylabel(f"p({label(twins.state)} | row)", color=INK)
        ax.set_ylim(-0.05, 1.05)
        ax.legend(frameon=False, loc="center left")
        bare(ax, "left", "bottom")
        self.ax_, self.figure_ = ax, ax.figure
        return self
