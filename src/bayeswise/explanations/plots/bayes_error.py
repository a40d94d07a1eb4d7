"""Reducible and irreducible error of a boundary between two classes, as areas under their weighted densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.plots.densities import (
    Curves,
    class_legend,
    draw_curves,
    draw_number,
    draw_strip,
    draw_thresholds,
)
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.display import Display, titled
from bayeswise.render.numbers import number
from bayeswise.render.theme import ERROR, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BayesErrorDisplay(Display):
    """The error of a rule that cuts at `boundary`: what any rule has, and what a better boundary would save."""

    inches = (7.6, 4.3)

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
        class_legend(ax)
        titled(ax, self.title or self._heading())

    def _heading(self) -> str:
        if np.isnan(self.boundary):
            return f"Bayes error {number(self.error.error)}"
        return f"Error {number(self.error.error)} with the boundary at {number(self.boundary)}"

    def _named(self, part: str) -> str:
        return f"{part} {number(getattr(self.error, part))}"

    def _lines(self, ax: Axes, top: float) -> None:
        """The best thresholds, and the boundary that is evaluated."""
        draw_thresholds(ax, self.curves, top, "best ")
        if not np.isnan(self.boundary):
            ax.plot([self.boundary] * 2, [-0.075 * top, 1.16 * top], color=ERROR, linewidth=1.4, zorder=4)
            draw_number(ax, self.curves, self.boundary, 1.17 * top, f"boundary {number(self.boundary)}")
