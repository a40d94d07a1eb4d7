"""The lecture's picture of learning: p(h), p(h | first datum), p(h | first two), ... side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.render.display import Chosen, SteppedDisplay, bare, label, titled
from bayeswise.render.theme import FOR, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.models.hypotheses.space import HypothesisSpace

_MOST_NAMED = 30
_SHORT = 6  # letters of a label that has room under its bar
_LONGEST = 26
_LETTER = 0.075  # inches


class PosteriorDisplay(SteppedDisplay):
    """One panel for each step: chosen ones, all, or the prior, the last one and steps between.

    Labels that have no room under their bars stand to the left of bars that lie.
    """

    def __init__(self, space: HypothesisSpace, *, steps: Chosen = None, most_panels: int = 3) -> None:
        super().__init__(len(space.data), steps, most_panels)
        self.space = space
        self.history = [[float(p) for p in step.values()] for step in space.history]
        self.top = max(p for step in self.history for p in step)
        names = [label(h, _LONGEST) for h in space.hypotheses]
        self.lying = len(names) <= _MOST_NAMED and (len(names) > 10 or max(map(len, names)) > _SHORT)
        self.margin = 0.2 + _LETTER * max(map(len, names)) if self.lying else 0.35
        tall = max(2.3, 0.9 + 0.2 * len(names)) if self.lying else 2.3
        self.panel = (2.7, tall)

    def to_columns(self) -> dict[str, list[Any]]:
        """hypothesis, and its probability in each panel."""
        panels = {f"after_{step}": list(self.history[step]) for step in self.steps()}
        return {"hypothesis": list(self.space.hypotheses), **panels}

    def draw_step(self, ax: Axes, step: int, *, first: bool) -> None:
        self._panel(ax, self.history[step])
        titled(ax, self._title(step), inches=self.panel[0])
        ax.tick_params(labelleft=first)

    def _title(self, step: int) -> str:
        if step == 0:
            return "p(h)"
        datum = label(self.space.data[step - 1], 14)
        return f"p(h | {step} {'datum' if step == 1 else 'data'}), last {datum}"

    def _panel(self, ax: Axes, heights: list[float]) -> None:
        places = range(len(heights))
        names = [label(h, _LONGEST) for h in self.space.hypotheses] if len(heights) <= _MOST_NAMED else []
        if self.lying:
            ax.barh(places, heights, height=0.8, color=FOR, zorder=3)
            ax.set_yticks(places, names, fontsize="small")
            ax.set_ylim(len(heights) - 0.4, -0.6)
            ax.set_xlim(0.0, 1.05 * self.top)
            ax.set_xlabel("probability", fontsize="small", color=INK)
            bare(ax, "left", grid="x")
            return
        ax.bar(places, heights, width=0.85, color=FOR, zorder=3)
        ax.set_xticks(places if names else [], names)
        ax.set_ylim(0.0, 1.05 * self.top)
        ax.set_xlabel("hypothesis" if names else f"{len(heights):,} hypotheses", fontsize="small", color=INK)
        bare(ax, "bottom", grid="y")
