"""Reducible and irreducible error of a rule on one column, as areas under the weighted densities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.class_densities import ClassDensities
from bayeswise.explanations.plots.densities import (
    PANELS,
    Strip,
    class_legend,
    draw_strip,
    draw_values,
    highest,
    name_column,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.posteriors.line_regions import Regions
from bayeswise.render.display import Display, note
from bayeswise.render.numbers import number
from bayeswise.render.theme import ERROR, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BayesErrorDisplay(Display):
    """Three areas: what any rule errs, what this one errs, and the part between them that a better one would save.

    Without a boundary the rule is the best one, and nothing is between them. Counts and levels are stacked bars.
    """

    inches = (7.6, 4.4)

    def __init__(
        self,
        densities: ClassDensities,
        boundary: float | Sequence[float] | None = None,
        *,
        states: Sequence[Any] | None = None,
        title: str = "",
    ) -> None:
        self.densities = densities
        self.x = densities.points()
        self.title = title
        if boundary is None:
            self.boundaries: list[float] = []
            self.regions, self.error = densities.regions, densities.error
        else:
            self.boundaries, taken = densities.rule_of(boundary, states)
            self.regions = Regions(densities.column, np.array(self.boundaries), taken)
            self.error = densities.error_of(self.boundaries, taken)

    def irreducible_density(self) -> FloatArray:
        """(n_points,) the weighted densities of all classes but the most probable one."""
        weighted = self.densities.weighted(self.x)
        with np.errstate(invalid="ignore"):
            return np.asarray(weighted.sum(axis=0) - weighted.max(axis=0))

    def error_density(self) -> FloatArray:
        """(n_points,) the weighted densities of the classes that the rule does not take."""
        weighted = self.densities.weighted(self.x)
        region = np.searchsorted(self.regions.thresholds, self.x, side="left")
        taken = np.array([self.densities.classes.index(state) for state in self.regions.states])[region]
        weighted[taken, np.arange(len(self.x))] = 0.0
        return np.asarray(weighted.sum(axis=0))

    def to_columns(self) -> dict[str, list[Any]]:
        """The column, the curves of each class, and the densities of errors: of any rule and of this one."""
        areas = {"irreducible_density": self.irreducible_density(), "error_density": self.error_density()}
        return {**self.densities.to_columns(), **{name: area.tolist() for name, area in areas.items()}}

    def draw(self, ax: Axes) -> None:
        d = self.densities
        weighted = d.weighted(self.x)
        top = highest(d.weighted, self.x, d)
        self._areas(ax)
        draw_values(ax, d, self.x, weighted)
        strip = Strip(d, self.x, self.regions)
        low, high = -0.105 * top, -0.025 * top
        ax.set_xlim(*strip.limits)
        ax.set_ylim(low, 1.3 * top if self.boundaries else 1.14 * top)
        draw_strip(ax, strip, low, high)
        self._lines(ax, top)
        name_column(ax, strip)
        ax.set_yticks([tick for tick in ax.get_yticks() if 0.0 <= tick <= 1.3 * top])
        ax.set_ylabel(PANELS["weighted"])
        class_legend(ax, self.title or self._heading())

    def _areas(self, ax: Axes) -> None:
        least, chosen = self.irreducible_density(), self.error_density()
        pale: dict[str, Any] = {"color": NEUTRAL, "alpha": 0.35, "linewidth": 0, "label": self._named("irreducible")}
        strong: dict[str, Any] = {"color": ERROR, "alpha": 0.55, "linewidth": 0, "label": self._named("reducible")}
        if self.densities.kind == "number":
            ax.fill_between(self.x, 0.0, least, **pale)
            if self.boundaries:
                ax.fill_between(self.x, least, chosen, **strong)
                ax.plot(self.x, chosen, color=ERROR, linewidth=0.9, linestyle=(0, (1, 1.5)), label=self._named("error"))
            return
        ax.bar(self.x, least, width=0.96, zorder=4, **pale)
        if self.boundaries:
            ax.bar(self.x, chosen - least, width=0.96, bottom=least, zorder=4, **strong)

    def _heading(self) -> str:
        if not self.boundaries:
            return f"Bayes error {number(self.error.error)}"
        where = ", ".join(number(cut) for cut in self.boundaries)
        return f"Error {number(self.error.error)} with the boundary at {where}"

    def _named(self, part: str) -> str:
        word = {"error": "error of the rule"}.get(part, part)
        return f"{word} {number(getattr(self.error, part))}"

    def _lines(self, ax: Axes, top: float) -> None:
        """The best thresholds, and the boundaries that are evaluated."""
        low, high = ax.get_xlim()
        if self.densities.kind == "number":
            for x in self.densities.regions.thresholds.tolist():
                if low < x < high:
                    ax.plot([x, x], [0.0, 1.04 * top], color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=4)
                    _write(ax, x, 1.05 * top, f"best {number(x)}")
        for x in self.boundaries:
            if low < x < high:
                ax.plot([x, x], [-0.105 * top, 1.16 * top], color=ERROR, linewidth=1.4, zorder=4)
                _write(ax, x, 1.17 * top, f"boundary {number(x)}")


def _write(ax: Axes, x: float, y: float, text: str) -> None:
    """A text above a line, moved inwards at the edges of the picture."""
    low, high = ax.get_xlim()
    share = (x - low) / (high - low)
    note(ax, text, (x, y), va="bottom", ha="left" if share < 0.08 else "right" if share > 0.92 else "center")
