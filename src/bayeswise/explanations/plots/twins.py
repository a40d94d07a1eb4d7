"""A generative model and its discriminative twin in one picture: their weights, and the rows on which they part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.theme import AGAINST, FOR, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FARTHEST = 1.5  # times the range of ordinary rows
_MOST_NAMED = 12


class TwinDisplay(Display):
    """Log p(row) against the probability that each twin gives; outliers stand left of the dashed line.

    Takes what `bw.compare_twins` answers. A row far to the left and near 0 or 1 in blue is one of which logistic
    regression is sure though nothing like it was ever seen.
    """

    inches = (7.0, 4.0)

    def __init__(self, comparison: Any) -> None:
        self.comparison = comparison

    def to_columns(self) -> dict[str, list[Any]]:
        """log_evidence, p_generative and p_discriminative of each row."""
        names = ("log_evidence", "p_generative", "p_discriminative")
        return {name: np.asarray(getattr(self.comparison, name)).tolist() for name in names}

    def draw(self, ax: Axes) -> None:
        twins = self.comparison
        # far outliers are drawn at the left edge, or they would squash all other rows into a line
        least = twins.outlier_below - _FARTHEST * (float(twins.log_evidence.max()) - twins.outlier_below)
        seen = np.maximum(twins.log_evidence, least)
        far = twins.log_evidence < least
        for p, colour, name in (
            (twins.p_generative, AGAINST, "generative"),
            (twins.p_discriminative, FOR, "logistic"),
        ):
            ax.scatter(seen[~far], p[~far], s=14, color=colour, label=name)
            ax.scatter(seen[far], p[far], s=36, color=colour, marker="<")
        if far.any():
            note(ax, f"◄ {int(far.sum()):,} farther", (least, 0.5), (6, 0), ha="left")
        ax.axvline(twins.outlier_below, color=NEUTRAL, linestyle="--", linewidth=1, label="outliers are left of this")
        for row in twins.overconfident[:_MOST_NAMED]:
            p = float(twins.p_discriminative[row])
            inwards = (4, -6) if p > 0.5 else (4, 6)
            note(ax, f"row {row + 1}", (seen[row], p), inwards, ha="left", va="top" if p > 0.5 else "bottom")
        ax.set_xlabel("log p(row)", color=INK)
        ax.set_ylabel(f"p({label(twins.state)} | row)", color=INK)
        ax.set_ylim(-0.05, 1.05)
        titled(ax, "A generative model and its logistic twin on the same rows")
        ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize="small")
        bare(ax, "left", "bottom")
