"""Cost per case beside what else one could do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.evaluation.evaluate import Evaluation
from bayeswise.explanations.displays.style import FAINT, FOR, INK, NEUTRAL, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CostsDisplay:
    """One bar for each way to act, with its interval."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_frame(self) -> Any:
        """rule, cost_per_case, low, high."""
        return self.evaluation.to_frame()

    def plot(self, ax: Axes | None = None) -> CostsDisplay:
        """Draw into the axes, or into a new figure."""
        columns = self.evaluation.to_columns()
        names = [label(name) for name in columns["rule"]]
        ax = axes_or_new(ax, 7.0, 0.9 + 0.42 * len(names))
        means = np.array(columns["cost_per_case"])
        reach = np.stack([means - np.array(columns["low"]), np.array(columns["high"]) - means])
        colours = [FOR, *[NEUTRAL] * (len(names) - 1)]
        places = list(range(len(names)))
        ax.barh(places, means, color=colours, xerr=np.where(np.isfinite(reach), reach, 0.0), ecolor=INK)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set_xlabel("cost per case")
        ax.grid(axis="x", color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)
        bare(ax, "left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
