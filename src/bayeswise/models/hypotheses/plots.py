"""The lecture's picture of learning: p(h), p(h | first datum), p(h | first two), ... side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.render.display import Display, bare, label, titled
from bayeswise.render.theme import FOR, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.models.hypotheses.space import HypothesisSpace

_GAP = 0.04
_MOST_NAMED = 30
_SHORT = 6  # letters of a label that has room under its bar
_LONGEST = 26


class PosteriorDisplay(Display):
    """One panel for each step, at most `most_panels` of them: the prior, the last one, and steps between.

    Labels that have no room under their bars stand to the left of bars that lie.
    """

    def __init__(self, space: HypothesisSpace, *, most_panels: int = 3) -> None:
        self.space = space
        self.most_panels = max(2, most_panels)

    def steps(self) -> list[int]:
        """How many data each panel has seen."""
        last = len(self.space.data)
        n_panels = min(self.most_panels, last + 1)
        return [round(k * last / max(n_panels - 1, 1)) for k in range(n_panels)]

    def to_columns(self) -> dict[str, list[Any]]:
        """hypothesis, and its probability in each panel."""
        history = self.space.history
        panels = {f"after_{step}": [float(p) for p in history[step].values()] for step in self.steps()}
        return {"hypothesis": list(self.space.hypotheses), **panels}

    @property
    def _lying(self) -> bool:
        names = [label(h) for h in self.space.hypotheses]
        return len(names) <= _MOST_NAMED and (len(names) > 10 or max(map(len, names)) > _SHORT)

    def size(self) -> tuple[float, float]:
        n_panels = len(self.steps())
        if self._lying:
            return 1.8 + 2.6 * n_panels, 1.0 + 0.26 * max(5, len(self.space.hypotheses))
        return 3.2 * n_panels, 2.8

    def draw(self, ax: Axes) -> None:
        steps, history = self.steps(), self.space.history
        ax.set_axis_off()
        left = 0.02 + 0.0072 * max(min(len(label(h)), _LONGEST) for h in self.space.hypotheses) if self._lying else 0.06
        width = (1.0 - left - _GAP * (len(steps) - 1)) / len(steps)
        top = max(float(p) for step in steps for p in history[step].values())
        for k, step in enumerate(steps):
            panel = ax.inset_axes((left + k * (width + _GAP), 0.16, width, 0.72))
            self._panel(panel, [float(p) for p in history[step].values()], top)
            titled(panel, "p(h)" if step == 0 else f"p(h | {step} {'datum' if step == 1 else 'data'})")
            panel.tick_params(labelleft=k == 0)

    def _panel(self, ax: Axes, heights: list[float], top: float) -> None:
        places = range(len(heights))
        names = [label(h, _LONGEST) for h in self.space.hypotheses] if len(heights) <= _MOST_NAMED else []
        if self._lying:
            ax.barh(places, heights, height=0.8, color=FOR, zorder=3)
            ax.set_yticks(places, names, fontsize="small")
            ax.set_ylim(len(heights) - 0.4, -0.6)
            ax.set_xlim(0.0, 1.05 * top)
            ax.set_xlabel("probability", fontsize="small", color=INK)
            bare(ax, "left", grid="x")
            return
        ax.bar(places, heights, width=0.85, color=FOR, zorder=3)
        ax.set_xticks(places if names else [], names)
        ax.set_ylim(0.0, 1.05 * top)
        ax.set_xlabel("hypothesis" if names else f"{len(heights):,} hypotheses", fontsize="small", color=INK)
        bare(ax, "bottom", grid="y")
