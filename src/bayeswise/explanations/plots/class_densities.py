"""Densities of classes over one column: p(x | class), p(class) p(x | class) and p(class | x), and the regions below.

The error of a rule on that column is drawn as areas under the weighted densities: reducible and irreducible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.class_densities import ClassDensities
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.line_regions import Regions
from bayeswise.render.display import Display, bare, headed, label, note, titled
from bayeswise.render.numbers import number
from bayeswise.render.theme import ERROR, GROUND, INK, NEUTRAL, state_colour
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = {"density": "p(x | class)", "weighted": "p(class) p(x | class)", "posterior": "p(class | x)"}
_MOST_BARS = 60  # counts that are drawn as bars; more are steps
_MOST_NAMED = 8  # classes in the legend
_LETTER = 0.085  # inches of a letter in the strip
_STRIP, _GAP = 0.055, 0.035  # of the height of the axes


class ClassDensityDisplay(Display):
    """Up to three panels above each other over one axis, and a strip of the regions R1, R2, ... of the decisions.

    The area below the highest weighted curve is how often the decision is right. A density may exceed 1; p(class | x)
    does not. Counts and categories are bars. `regions` are those of actions, where they are not the classes.
    """

    def __init__(
        self,
        densities: ClassDensities,
        *,
        regions: Regions | None = None,
        actions: Sequence[Label] | None = None,
        panels: Sequence[str] | None = None,
        title: str = "",
    ) -> None:
        self.densities = densities
        self.x = densities.points()
        self.strip = Strip(densities, self.x, regions, actions)
        self.panels = tuple(PANELS if panels is None else panels)
        unknown = [panel for panel in self.panels if panel not in PANELS]
        if unknown or not self.panels:
            raise ParameterError(f"the panels are {self.panels}", fix=f"choose among {', '.join(PANELS)}")
        self.title = title

    def curve_of(self, panel: str) -> Callable[[FloatArray], FloatArray]:
        """What a panel shows, (n_states, n_points) of points."""
        d = self.densities
        return {"density": d.density, "weighted": d.weighted, "posterior": d.posterior}[panel]

    def to_columns(self) -> dict[str, list[Any]]:
        """The column, and density, weighted density and posterior of each class."""
        return self.densities.to_columns()

    def size(self) -> tuple[float, float]:
        return 7.2, 1.8 + 1.75 * len(self.panels)

    def slide_size(self) -> tuple[float, float]:
        return 7.2, 1.6 + 1.05 * len(self.panels)

    def draw(self, ax: Axes) -> None:
        ax.set_axis_off()
        places = [*_places(len(self.panels)), (0.0, _STRIP)]
        rooms = [ax.inset_axes((0.0, low, 1.0, height)) for low, height in places]
        for room, panel in zip(rooms[:-1], self.panels, strict=True):
            self._panel(room, panel)
        _strip_axes(rooms[-1], self.strip)
        for room in rooms:
            room.set_xlim(*self.strip.limits)
        class_legend(rooms[0], "")
        titled(ax, self.title or f"Which {self.strip.word} at which {label(self.densities.column, 30)}?")
        ax.title.set_visible(True)

    def _panel(self, ax: Axes, panel: str) -> None:
        values = self.curve_of(panel)(self.x)
        top = 1.0 if panel == "posterior" else highest(self.curve_of(panel), self.x, self.densities)
        draw_values(ax, self.densities, self.x, values)
        ax.set_ylabel(PANELS[panel])
        ax.set_ylim(0.0, (1.04 if panel == "posterior" else 1.08) * top)
        ax.tick_params(axis="x", labelbottom=False, length=0)
        for x in self.strip.thresholds if self.densities.kind == "number" else ():
            ax.axvline(x, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=4)


class Strip:
    """Intervals of decisions within the picture: their numbers R1, R2, ..., names and colours."""

    def __init__(
        self,
        densities: ClassDensities,
        x: FloatArray,
        regions: Regions | None = None,
        actions: Sequence[Label] | None = None,
    ) -> None:
        found = densities.regions if regions is None else regions
        names = tuple(densities.classes if actions is None else actions)
        self.densities = densities
        self.word = "class" if actions is None else "action"
        half = 0.0 if densities.kind == "number" else 0.5
        self.limits = float(x[0]) - half, float(x[-1]) + half
        low, high = self.limits
        cuts = found.thresholds.tolist()
        self.beyond = tuple(_beyond(found, low, high)) if densities.kind == "number" else ()
        edges = [-np.inf, *cuts, np.inf]
        self.pieces = [  # from, to, position of the decision
            (max(start, low), min(end, high), names.index(state))
            for start, end, state in zip(edges[:-1], edges[1:], found.states, strict=True)
            if start < high and end > low
        ]
        self.thresholds = [cut for cut in cuts if low < cut < high]
        self.names = names
        known = {state: k for k, state in enumerate(densities.classes)}
        spare = len(densities.classes)
        self.colours = [
            state_colour(known[name]) if name in known else state_colour(spare + k) for k, name in enumerate(names)
        ]

    def texts(self, inches: float) -> list[str]:
        """What fits into each interval of a strip that is so wide: R1 and the name, R1, or nothing."""
        low, high = self.limits
        found = []
        for start, end, position in self.pieces:
            room = (end - start) / (high - low) * inches
            forms = (f"R{position + 1}: {label(self.names[position], 18)}", f"R{position + 1}", "")
            found.append(next(form for form in forms if len(form) * _LETTER <= room or not form))
        return found


def _places(n: int) -> list[tuple[float, float]]:
    """Bottom and height of the panels above the strip, from top to bottom."""
    low = _STRIP + _GAP
    height = (1.0 - low - _GAP * (n - 1)) / n
    return [(low + (n - 1 - k) * (height + _GAP), height) for k in range(n)]


def _strip_axes(ax: Axes, strip: Strip) -> None:
    """The regions as axes of their own, with the numbers and the name of the column below them."""
    draw_strip(ax, strip, 0.0, 1.0)
    ax.set_ylim(0.0, 1.0)
    ax.set_yticks([])
    bare(ax)
    name_column(ax, strip)
    mark_thresholds(ax, strip)


def name_column(ax: Axes, strip: Strip) -> None:
    """The name of the column, its levels as ticks, and in words what changes where the picture does not reach."""
    d = strip.densities
    beyond = "   ".join(strip.beyond)
    ax.set_xlabel(f"{label(d.column, 40)}\n{beyond}" if beyond else label(d.column, 40))
    if d.kind == "category":
        short = len(d.levels) <= 8
        names = [label(level, 14 if short else 20) for level in d.levels]
        ax.set_xticks(range(len(names)), names, rotation=0 if short else 45, ha="center" if short else "right")
    elif d.kind == "count":
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def mark_thresholds(ax: Axes, strip: Strip) -> None:
    """The numbers of the thresholds as minor ticks, in ink, below those of the axis."""
    if strip.densities.kind != "number" or not strip.thresholds or len(strip.thresholds) > 8:
        return
    low, high = strip.limits
    texts, last = [], -np.inf
    for x in strip.thresholds:  # a number that would touch the one before it is left out
        texts.append(number(x) if x - last > 0.09 * (high - low) else "")
        last = x if texts[-1] else last
    ax.set_xticks(strip.thresholds, texts, minor=True)
    ax.tick_params(axis="x", which="minor", length=5, width=1.2, color=INK, pad=17, labelcolor=INK, labelsize="small")
    for tick in ax.get_xticklabels(minor=True):
        tick.set_fontweight("bold")


def draw_strip(ax: Axes, strip: Strip, low: float, high: float) -> None:
    """Intervals in the colours of their decisions, with R1, R2, ... where there is room."""
    figure = ax.get_figure(root=True)
    inches = ax.get_window_extent().width / (figure.dpi if figure is not None else 100.0)
    for (start, end, position), text in zip(strip.pieces, strip.texts(inches), strict=True):
        ax.fill_between([start, end], low, high, color=strip.colours[position], linewidth=0, zorder=2)
        how: dict[str, Any] = {"ha": "center", "va": "center", "color": GROUND, "fontsize": "small", "zorder": 3}
        ax.text(0.5 * (start + end), 0.5 * (low + high), text, clip_on=True, fontweight="bold", **how)


def draw_values(ax: Axes, densities: ClassDensities, x: FloatArray, values: FloatArray) -> None:
    """A curve for each class, or bars side by side for counts and levels."""
    n = len(densities.classes)
    for state, row in enumerate(values):
        how: dict[str, Any] = {"color": state_colour(state), "label": label(densities.classes[state], 18), "zorder": 3}
        if densities.kind == "number":
            ax.plot(x, row, linewidth=1.8, **how)
        elif len(x) <= _MOST_BARS:
            ax.bar(x + (state - 0.5 * (n - 1)) * 0.84 / n, row, width=0.8 / n, **how)
        else:
            ax.step(x, row, where="mid", linewidth=1.3, **how)
    bare(ax, "bottom", "left")
    ax.axhline(0.0, color=NEUTRAL, linewidth=0.8, zorder=2)


def highest(curve: Callable[[FloatArray], FloatArray], x: FloatArray, densities: ClassDensities) -> float:
    """The height of the picture; a density without a bound is cut where 5 percent of its class lie beyond."""
    values = curve(x)
    top = float(values[np.isfinite(values)].max(initial=0.0))
    if densities.kind != "number":
        return top or 1.0
    inner = curve(np.concatenate([each.ppf(np.linspace(0.05, 0.95, 91)) for each in densities.likelihoods]))
    usual = float(inner[np.isfinite(inner)].max(initial=0.0))
    return min(top, 1.5 * usual) or 1.0


def class_legend(ax: Axes, title: str) -> None:
    """The title, and the names of the classes above the axes, where they cover no curve."""
    handles, names = ax.get_legend_handles_labels()
    if len(handles) > _MOST_NAMED:
        from matplotlib.lines import Line2D

        handles = [*handles[:_MOST_NAMED], Line2D([], [], linestyle="none")]
        names = [*names[:_MOST_NAMED], f"and {len(names) - _MOST_NAMED} more"]
    headed(ax, title, handles, names, right=True)


def _beyond(regions: Regions, low: float, high: float) -> list[str]:
    cuts = zip(regions.thresholds.tolist(), regions.states[:-1], regions.states[1:], strict=True)
    return [
        f"◄ {label(before, 18)} below {number(x)}" if x <= low else f"{label(after, 18)} from {number(x)} on ►"
        for x, before, after in cuts
        if (x <= low or x >= high) and abs(x) > 1e-300
    ]


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
