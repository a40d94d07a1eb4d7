"""Reducible and irreducible error of a boundary between two classes, as areas under their weighted densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.plots.densities import Curves, draw_curves, draw_strip, note
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.theme import INK, NEUTRAL, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REDUCIBLE = "#b8505a"


class BayesErrorDisplay:
    """The error of a rule that cuts at `boundary`: what any rule has, and what a better boundary would save."""

    def __init__(self, curves: Curves, boundary: float, error: Any, *, title: str = "") -> None:
        if len(curves.classes) != 2:
            raise ParameterError(f"the picture is of two classes; there are {len(curves.classes)}")
        self.curves = curves
        self.boundary = boundary
        self.error = error  # error, irreducible and reducible as shares of all rows
        self.title = title
        self.ax_: Axes | None = None
        self.figure_: Any = None

    @classmethod
    def from_model(cls, model: Any, boundary: float | None = None, **settings: Any) -> BayesErrorDisplay:
        """A model of one column and two classes; without a boundary the best rule is shown."""
        curves = Curves.of(model)
        if boundary is None:
            best = model.bayes_error()
            return cls(curves, float("nan"), best, **settings)
        return cls(curves, float(boundary), model.error_at(boundary), **settings)

    def error_density(self) -> FloatArray:
        """(n_points,) the weighted density of the class that the rule does not take."""
        c = self.curves
        if np.isnan(self.boundary):
            return np.asarray(c.weighted.min(axis=0))
        low = int(np.argmin([c.x[np.argmax(values)] for values in c.weighted]))
        return np.asarray(np.where(c.x < self.boundary, c.weighted[1 - low], c.weighted[low]))

    def plot(self, ax: Axes | None = None) -> BayesErrorDisplay:
        """Draw into the axes, or into a new figure."""
        c = self.curves
        ax = axes_or_new(ax, 7.6, 4.3)
        top = float(c.weighted.max())
        irreducible, chosen = c.weighted.min(axis=0), self.error_density()
        ax.fill_between(c.x, 0.0, irreducible, color=NEUTRAL, alpha=0.35, linewidth=0, label=self._named("irreducible"))
        if not np.isnan(self.boundary):
            ax.fill_between(
                c.x, irreducible, chosen, color=REDUCIBLE, alpha=0.55, linewidth=0, label=self._named("reducible")
            )
        draw_curves(ax, c)
        draw_strip(ax, c, top)
        self._lines(ax, top)
        ax.set_xlim(c.x[0], c.x[-1])
        ax.set_ylim(-0.09 * top, 1.28 * top)
        ax.legend(loc="upper right", frameon=False, fontsize="small")
        ax.set_title(self.title or f"Error {self.error.error:.4g} of all rows", loc="left", fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _named(self, part: str) -> str:
        return f"{part} {getattr(self.error, part):.4g}"

    def _lines(self, ax: Axes, top: float) -> None:
        """The best thresholds, and the boundary that is judged."""
        for x in self.curves.thresholds:
            ax.plot([x, x], [-0.075 * top, 1.06 * top], color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=4)
            note(ax, f"best {x:.4g}", (x, 1.07 * top), ha="center", va="bottom")
        if not np.isnan(self.boundary):
            ax.plot([self.boundary] * 2, [-0.075 * top, 1.16 * top], color=REDUCIBLE, linewidth=1.4, zorder=4)
            note(ax, f"boundary {self.boundary:.4g}", (self.boundary, 1.17 * top), ha="center", va="bottom")
