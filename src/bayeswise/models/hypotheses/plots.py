"""The lecture's picture of learning: p(h), p(h | first datum), p(h | first two), ... side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.render.theme import FAINT, FOR, INK, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.models.hypotheses.space import HypothesisSpace

_GAP = 0.04


class PosteriorDisplay:
    """One panel for each step, at most `most_panels` of them: the prior, the last one, and steps between."""

    def __init__(self, space: HypothesisSpace, *, most_panels: int = 3) -> None:
        self.space = space
        self.most_panels = max(2, most_panels)
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def steps(self) -> list[int]:
        """How many data each panel has seen."""
        last = len(self.space.data)
        n_panels = min(self.most_panels, last + 1)
        return [round(k * last / max(n_panels - 1, 1)) for k in range(n_panels)]

    def plot(self, ax: Axes | None = None) -> PosteriorDisplay:
        """Draw into the axes, or into a new figure."""
        steps, history = self.steps(), self.space.history
        ax = axes_or_new(ax, 3.2 * len(steps), 2.6)
        ax.set_axis_off()
        width = (1.0 - _GAP * (len(steps) - 1)) / len(steps)
        top = max(float(p) for step in steps for p in history[step].values())
        for k, step in enumerate(steps):
            panel = ax.inset_axes((k * (width + _GAP), 0.12, width, 0.74))
            self._panel(panel, [float(p) for p in history[step].values()], step, top)
            panel.tick_params(labelleft=k == 0)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _panel(self, ax: Axes, heights: list[float], step: int, top: float) -> None:
        ax.bar(range(len(heights)), heights, width=0.85, color=FOR, zorder=3)
        ax.set_ylim(0.0, 1.08 * top)
        ax.set_title("p(h)" if step == 0 else f"p(h | {step} {'datum' if step == 1 else 'data'})", color=INK)
        few = len(heights) <= 12
        ax.set_xticks(range(len(heights)) if few else [], [label(h, 10) for h in self.space.hypotheses] if few else [])
        ax.set_xlabel("" if few else f"{len(heights):,} hypotheses", fontsize="small", color=INK)
        ax.grid(axis="y", color=FAINT, linewidth=0.6, zorder=0)
        bare(ax, "bottom")
