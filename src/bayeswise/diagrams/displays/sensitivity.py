"""The best utility over one entry, straight between the thresholds at which the policy changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.displays.style import FOR, INK, NEUTRAL, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.diagrams.sensitivity import Sensitivity


class SensitivityDisplay:
    """The best policy at each value of the entry, and the policy of today if nobody changed it."""

    def __init__(self, sensitivity: Sensitivity) -> None:
        self.sensitivity = sensitivity
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_columns(self) -> dict[str, list[Any]]:
        """from, to, utility_from, utility_to, policy."""
        return self.sensitivity.to_columns()

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        return self.sensitivity.to_frame()

    def plot(self, ax: Axes | None = None) -> SensitivityDisplay:
        """Draw into the axes, or into a new figure."""
        found = self.sensitivity
        ax = axes_or_new(ax, 7.0, 4.2)
        places = np.unique([*np.linspace(found.low, found.high, 201), found.entry.value, *found.thresholds])
        places = places[(places >= found.low) & (places <= found.high)]
        best = [found.utility_at(t) for t in places.tolist()]
        kept = [found.kept_at(t) for t in places.tolist()]
        ax.plot(places, kept, color=NEUTRAL, linewidth=1.2, linestyle=(0, (4, 3)), label="policy of today")
        ax.plot(places, best, color=FOR, linewidth=2.0, label="best policy")
        line, before = 0, -np.inf
        for threshold in found.thresholds:
            line = line + 1 if threshold - before < 0.1 * (found.high - found.low) else 0
            before = threshold
            ax.axvline(threshold, color=NEUTRAL, linewidth=0.8)
            ax.annotate(
                f"{threshold:.4g}",
                (threshold, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(3, -2 - 12 * line),
                textcoords="offset points",
                va="top",
                fontsize="small",
                color=INK,
            )
        if found.low <= found.entry.value <= found.high:
            ax.plot([found.entry.value], [found.utility_at(found.entry.value)], "o", color=INK, markersize=5)
        ax.set_xlabel(label(str(found.entry), 80))
        ax.set_ylabel("expected utility")
        ax.set_title("Where the best policy changes", loc="left", fontsize="medium")
        ax.legend(frameon=False, fontsize="small", loc="upper right", bbox_to_anchor=(1.0, 1.12), ncols=2)
        bare(ax, "bottom", "left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
