"""A curve of costs."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from bayeswise.evaluation.curves import Curve
from bayeswise.explanations.displays.style import FAINT, INK, STATES, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CurveDisplay:
    """Lines over one scale: thresholds, coverage, or prior and ratio of costs."""

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_frame(self) -> Any:
        """The points."""
        return self.curve.to_frame()

    def plot(self, ax: Axes | None = None) -> CurveDisplay:
        """Draw into the axes, or into a new figure."""
        ax = axes_or_new(ax, 6.5, 4.2)
        for k, (name, values) in enumerate(self.curve.y.items()):
            ax.plot(self.curve.x, values, color=STATES[k % len(STATES)], label=label(name.replace("_", " ")))
        ax.set_xlabel(label(self.curve.x_name.replace("_", " ")))
        ax.set_title(fill(label(self.curve.title, 120), 60), loc="left", fontsize="medium", color=INK)
        ax.grid(color=FAINT, linewidth=0.6)
        bare(ax, "bottom", "left")
        if len(self.curve.y) > 1:
            ax.legend(frameon=False, fontsize="small")
        else:
            ax.set_ylabel(label(next(iter(self.curve.y)).replace("_", " ")))
        self.ax_, self.figure_ = ax, ax.figure
        return self
