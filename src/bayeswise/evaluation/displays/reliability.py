"""Predicted against observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.evaluation.reliability import Reliability
from bayeswise.explanations.displays.style import FAINT, FOR, INK, NEUTRAL, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay:
    """Bins with their bands; on the diagonal probabilities mean what they say."""

    def __init__(self, reliability: Reliability) -> None:
        self.reliability = reliability
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_frame(self) -> Any:
        """The bins."""
        return self.reliability.to_frame()

    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw into the axes, or into a new figure."""
        ax = axes_or_new(ax, 5.0, 5.0)
        found = self.reliability
        ax.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1.0, linestyle="--")
        reach = np.stack([found.observed - found.low, found.high - found.observed])
        ax.errorbar(found.predicted, found.observed, np.maximum(reach, 0.0), fmt="o-", color=FOR, capsize=3)
        ax.set_xlabel(f"predicted P({label(found.state)})")
        ax.set_ylabel("observed share")
        ax.set_title(f"expected calibration error {found.ece:.3g}", loc="left", fontsize="medium", color=INK)
        ax.grid(color=FAINT, linewidth=0.6)
        bare(ax, "bottom", "left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
