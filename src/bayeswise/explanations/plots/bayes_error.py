"""Reducible and irreducible error of a boundary between two classes, as areas under their weighted densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.plots.densities import Curves, draw_curves, draw_strip
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.display import Display, note, titled
from bayeswise.render.numbers import number
from bayeswise.render.theme import ERROR, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BayesErrorDisplay(Display):
    """The error of a rule that cuts at `boundary`: what any rule has, and what a better boundary would save."""

    def __init__(self, curves: Curves, boundary: float, error: Any, *, title: str = "") -> None:
        if len(curves.classes) != 2:
            raise ParameterError(f"the picture is of two classes; there are {len(curves.classes)}")
        self.curves = curves
        self.boundary = boundary
        self.error = error  # error, irreducible and reducible as shares of all rows
        self.title = title

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

    def to_columns(self) -> dict[str, list[Any]]:
        """x, the weighted density of each class, and that of the errors."""
        return {**self.curves.to_columns(), "error_density": self.error_density().tolist()}

    def size(self) -> tuple[float, float]:
        return 7.6, 4.3

    def draw(self, ax: Axes) -> None:
        c = self.curves
        top = float(c.weighted.max())
        irreducible, chosen = c.weighted.min(axis=0), self.error_density()
        ax.fill_between(c.x, 0.0, irreducible, color=NEUTRAL, alpha=0.35, linewidth=0, label=self._named("irreducible"))
        if not np.isnan(self.boundary):
            ax.fill_between(
                c.x, irreducible, chosen, color=ERROR, alpha=0.55, linewidth=0, label=self._named("reducible")
            )
        draw_curves(ax, c)
        draw_strip(ax, c, top)
        self._lines(ax, top)
        ax.set_xlim(c.x[0], c.x[-1])
        ax.set_ylim(-0.09 * top, 1.28 * top)
        ax.legend(loc="upper right", frameon=False, fontsize="small")
        titled(ax, self.title or f"Error {number(self.error.error)} of all rows")

    def _named(self, part: str) -> str:
        return f"{part} {number(getattr(self.error, part))}"

    def _lines(self, ax: Axes, top: float) -> None:
        """The best thresholds, and the boundary that is judged."""
        for x in self.curves.thresholds:
            ax.plot([x, x], [-0.075 * top, 1.06 * top], color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=4)
            note(ax, f"best {number(x)}", (x, 1.07 * top), va="bottom")
        if not np.isnan(self.boundary):
            ax.plot([self.boundary] * 2, [-0.075 * top, 1.16 * top], color=ERROR, linewidth=1.4, zorder=4)
            note(ax, f"boundary {number(self.boundary)}", (self.boundary, 1.17 * top), va="bottom")
