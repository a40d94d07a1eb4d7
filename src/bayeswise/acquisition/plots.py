"""Accuracy against the number of labels, one line for each strategy with a band over the seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.render.display import Display, bare, label, titled
from bayeswise.render.theme import INK, NEUTRAL, STATES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.acquisition.curves import LearningCurves

ENOUGH = 0.99


class LearningCurveDisplay(Display):
    """The mean over the seeds, the middle half of them as a band, and the model of all labels as a line across.

    A dot marks the label from which on the mean is 99 % of that line. Strategies of equal queries are one line.
    """

    inches = (7.2, 4.4)

    def __init__(self, curves: LearningCurves) -> None:
        self.curves = curves

    def to_columns(self) -> dict[str, list[Any]]:
        """The points."""
        return self.curves.to_columns()

    def draw(self, ax: Axes) -> None:
        self._draw_goals(ax)
        groups = same_curves(self.curves)
        colours = iter(STATES * (len(groups) // len(STATES) + 1))
        for names in groups:
            self._draw_line(ax, names, NEUTRAL if "random" in names else next(colours), 0.3 / len(groups))
        self._dress(ax)

    def _draw_line(self, ax: Axes, names: list[str], colour: str, alpha: float) -> None:
        curves, name = self.curves, names[0]
        mean, low, high = curves.band(name)
        points = np.arange(1, curves.n_labels + 1)
        reached = curves.labels_of_the_mean(ENOUGH)[name]
        never = reached > curves.n_labels
        needs = f"more than {curves.n_labels}" if never else f"{reached}"
        ax.fill_between(points, low, high, color=colour, alpha=alpha, linewidth=0)
        ax.plot(points, mean, color=colour, linewidth=1.8, label=f"{label(', '.join(names), 60)}: {needs}")
        if not never:
            ax.plot([reached], [mean[reached - 1]], "o", color=colour, markersize=6, markeredgecolor="white")

    def _draw_goals(self, ax: Axes) -> None:
        """What all labels reach, and nearly that."""
        full = float(self.curves.full.mean())
        ax.axhline(full, color=INK, linewidth=0.9, zorder=1.5)
        ax.axhline(ENOUGH * full, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1.5)
        beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "color": INK}
        small: dict[str, Any] = {"fontsize": "small", **beside}
        ax.annotate(f"all {self.curves.n_pool:,} labels", (1.0, full), (5, 0), va="bottom", **small)
        ax.annotate(f"{100 * ENOUGH:g} % of that", (1.0, ENOUGH * full), (5, 0), va="top", **small)

    def _dress(self, ax: Axes) -> None:
        curves = self.curves
        settled = slice(curves.n_labels // 10, None)  # the first labels may fall far below
        bands = [curves.band(name) for name in curves.accuracy]
        full = float(curves.full.mean())
        bottom = min(full - 0.02, *(low[settled].min() for _, low, _ in bands))
        top = max(full, *(high.max() for _, _, high in bands))
        ax.set_ylim(max(-0.01, bottom - 0.02), min(1.005, top + 0.02))
        ax.set_xlim(0, curves.n_labels + 1)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("labels", color=INK)
        where = f"accuracy on {curves.n_test:,} rows held out" if curves.n_test else "accuracy on the pool"
        ax.set_ylabel(where, color=INK)
        titled(ax, label(curves.title, 80))
        bare(ax, "bottom", "left", grid="both")
        lines, names = ax.get_legend_handles_labels()
        how: dict[str, Any] = {"frameon": False, "fontsize": "small", "loc": "lower right", "alignment": "left"}
        if "random" in curves.accuracy:  # drawn first, named last
            lines, names = [*lines[1:], lines[0]], [*names[1:], names[0]]
        legend = ax.legend(lines, names, title=f"labels to {100 * ENOUGH:g} %", **how)
        legend.get_title().set(fontsize="small", color=INK)


def same_curves(curves: LearningCurves) -> list[list[str]]:
    """The strategies, those together whose curves are equal in every seed; random sampling first, to lie below."""
    groups: list[list[str]] = []
    for name in sorted(curves.accuracy, key=lambda name: name != "random"):
        accuracy = curves.accuracy[name]
        twins = next((group for group in groups if np.array_equal(curves.accuracy[group[0]], accuracy)), None)
        if twins is None:
            groups.append([name])
        else:
            twins.append(name)
    return groups
