"""Weighted densities of classes over one number, with the regions in which each class is the most probable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.labels import distinct_texts
from bayeswise.render.numbers import number
from bayeswise.render.theme import INK, NEUTRAL, state_colour
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Curves:
    """p(state) p(x | state) along one column, and where the decision changes."""

    column: str
    x: FloatArray  # (n_points,) ascending
    weighted: FloatArray  # (n_states, n_points)
    classes: tuple[Label, ...]
    thresholds: FloatArray  # (n_regions - 1,) those between the first x and the last
    states: tuple[Label, ...]  # (n_regions,) the most probable class in each region
    beyond: tuple[str, ...] = ()  # what changes where the picture does not reach

    @classmethod
    def of(cls, model: Any, column: str | None = None, *, points: int = 801, reach: float = 3.6) -> Curves:
        """From a model of one column, or the marginal of one column; so many stddevs around the means."""
        regions = model.regions(column)
        at = model.columns.index(regions.column)
        mean, stddev = model.means[:, at], np.sqrt(model.covariances[:, at, at])
        low, high = float((mean - reach * stddev).min()), float((mean + reach * stddev).max())
        below, inside = (regions.thresholds <= low), (regions.thresholds > low) & (regions.thresholds < high)
        first = int(below.sum())
        thresholds = regions.thresholds[inside]
        states = regions.states[first : first + len(thresholds) + 1]
        x = np.unique(np.concatenate([np.linspace(low, high, points), thresholds]))
        z = (x - mean[:, None]) / stddev[:, None]
        prior = np.exp(model.log_prior)[:, None]
        weighted = prior * np.exp(-0.5 * z**2) / (stddev[:, None] * np.sqrt(2.0 * np.pi))
        return cls(regions.column, x, weighted, model.classes, thresholds, states, _beyond(regions, low, high))

    def to_columns(self) -> dict[str, list[Any]]:
        """x, and the weighted density of each class."""
        named = zip(distinct_texts(self.classes), self.weighted, strict=True)
        return {self.column: self.x.tolist(), **{f"density_{name}": values.tolist() for name, values in named}}


def _beyond(regions: Any, low: float, high: float) -> tuple[str, ...]:
    cuts = zip(regions.thresholds.tolist(), regions.states[:-1], regions.states[1:], strict=True)
    words = [
        f"◄ {label(before, 18)} below {number(x)}" if x <= low else f"{label(after, 18)} from {number(x)} on ►"
        for x, before, after in cuts
        if x <= low or x >= high
    ]
    return tuple(words)


class ClassDensityDisplay(Display):
    """Densities of the classes, weighted by their priors; the strip below shows the decision.

    The area below the highest curve is how often the decision is right. A density may exceed 1.
    """

    inches = (7.2, 4.0)

    def __init__(self, curves: Curves, *, title: str = "") -> None:
        self.curves = curves
        self.title = title

    @classmethod
    def from_model(cls, model: Any, column: str | None = None, **settings: Any) -> ClassDensityDisplay:
        """The picture of a Gaussian Bayes model on one of its columns, the others integrated out."""
        return cls(Curves.of(model, column), **settings)

    def to_columns(self) -> dict[str, list[Any]]:
        """x, and the weighted density of each class."""
        return self.curves.to_columns()

    def draw(self, ax: Axes) -> None:
        c = self.curves
        top = float(c.weighted.max())
        draw_curves(ax, c)
        draw_strip(ax, c, top)
        draw_thresholds(ax, c, top)
        class_legend(ax)
        ax.set_ylim(-0.09 * top, 1.16 * top)
        ax.set_xlim(c.x[0], c.x[-1])
        titled(ax, self.title or f"Which class at which {label(c.column, 30)}?")


def draw_curves(ax: Axes, curves: Curves) -> None:
    """One curve for each class; what changes where the picture does not reach stands below the axis."""
    for state, values in enumerate(curves.weighted):
        colour = state_colour(state)
        ax.plot(curves.x, values, color=colour, linewidth=1.8, zorder=3, label=label(curves.classes[state], 18))
    beyond = "   ".join(curves.beyond)
    ax.set_xlabel(f"{label(curves.column, 40)}\n{beyond}" if beyond else label(curves.column, 40))
    ax.set_ylabel("p(class) p(x | class)")
    bare(ax, "bottom", "left")
    ax.axhline(0.0, color=NEUTRAL, linewidth=0.8, zorder=2)


def draw_strip(ax: Axes, curves: Curves, top: float) -> None:
    """The regions, as a strip of the colours of their classes under the axis."""
    edges = [float(curves.x[0]), *curves.thresholds.tolist(), float(curves.x[-1])]
    for low, high, state in zip(edges[:-1], edges[1:], curves.states, strict=True):
        colour = state_colour(curves.classes.index(state))
        ax.fill_between([low, high], -0.075 * top, -0.02 * top, color=colour, linewidth=0, zorder=2)


def draw_thresholds(ax: Axes, curves: Curves, top: float, word: str = "") -> None:
    """A line at each threshold, with its number."""
    for x in curves.thresholds.tolist():
        ax.plot([x, x], [-0.075 * top, 1.06 * top], color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=4)
        draw_number(ax, curves, x, 1.07 * top, f"{word}{number(x)}")


def draw_number(ax: Axes, curves: Curves, x: float, y: float, text: str) -> None:
    """A text above a line, moved inwards at the edges of the picture."""
    low, high = float(curves.x[0]), float(curves.x[-1])
    share = (x - low) / (high - low)
    note(ax, text, (x, y), va="bottom", ha="left" if share < 0.08 else "right" if share > 0.92 else "center")


def class_legend(ax: Axes) -> None:
    """The names of the classes above the axes, where they cover no curve."""
    how: dict[str, Any] = {"frameon": False, "fontsize": "small", "borderaxespad": 0.2, "handlelength": 1.4}
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=6, **how)
