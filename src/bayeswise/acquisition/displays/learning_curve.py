"""Accuracy against the number of labels, one line for each strategy with a band over the seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.explanations.displays.style import FAINT, INK, NEUTRAL, STATES, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.acquisition.curves import LearningCurves


class LearningCurveDisplay:
    """The mean over the seeds, the middle half of them as a band, and the model of all labels as a line across."""

    def __init__(self, curves: LearningCurves) -> None:
        self.curves = curves
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_frame(self) -> Any:
        """The points."""
        return self.curves.to_frame()

    def plot(self, ax: Axes | None = None) -> LearningCurveDisplay:
        """Draw into the axes, or into a new figure."""
        ax = axes_or_new(ax, 6.5, 4.2)
        curves = self.curves
        points = range(1, curves.n_labels + 1)
        reached = curves.mean_labels_to_reach(0.99)
        full = float(curves.full.mean())
        for k, name in enumerate(curves.accuracy):
            colour = NEUTRAL if name == "random" else STATES[k % len(STATES)]
            mean, low, high = curves.band(name)
            ax.fill_between(points, low, high, color=colour, alpha=0.15, linewidth=0)
            ax.plot(points, mean, color=colour, label=f"{label(name)}: {reached[name]:.0f} labels to 99 %")
        ax.axhline(full, color=INK, linewidth=0.8, linestyle="--")
        ax.annotate(f"all {curves.n_pool:,} labels", (1, full), (0, 3), textcoords="offset points", color=INK)
        ax.set_xlabel("labels")
        ax.set_ylabel("accuracy")
        bottom = min(curves.band(name)[1][min(4, curves.n_labels - 1)] for name in curves.accuracy)
        ax.set_ylim(max(0.0, bottom - 0.05), min(1.02, max(full + 0.06, 1.0)))
        ax.set_title(label(curves.title, 80), loc="left", fontsize="medium", color=INK)
        ax.grid(color=FAINT, linewidth=0.6)
        bare(ax, "bottom", "left")
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
