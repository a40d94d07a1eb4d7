"""Two columns: contours of the classes' densities over the regions of classes or actions, and rows on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.class_plane import RADII, ClassPlane, Points
from bayeswise.render.display import Display, bare, headed, label, note, titled
from bayeswise.render.theme import INK, NEUTRAL, mixed, state_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COMPARABLE = 2.25  # times one range may be the other and both axes still have one scale
_MOST_NAMED = 8  # decisions in the legend
_EDGES = {(-1, 0): "<", (1, 0): ">", (0, -1): "v", (0, 1): "^"}


class RegionDisplay(Display):
    """Regions in pale colours, the boundary between them, and contours at 1, 2 and 3 stddevs around each class.

    Both axes have one scale where their ranges are comparable: a circle is a circle. Rows that lie far out stand at
    the edge as triangles.
    """

    def __init__(self, plane: ClassPlane, *, equal: bool | None = None, title: str = "") -> None:
        self.plane = plane
        self.equal = is_comparable(plane) if equal is None else equal
        self.title = title

    def to_columns(self) -> dict[str, list[Any]]:
        """Both columns and the most probable class or best action, at every point of the grid."""
        return self.plane.to_columns()

    def size(self) -> tuple[float, float]:
        if not self.equal:
            return 6.4, 5.4
        width, height = ranges(self.plane)
        unit = min(6.0 / width, 5.0 / height)
        return max(3.4, width * unit + 0.9), max(2.8, height * unit + 0.9)

    def draw(self, ax: Axes) -> None:
        plane = self.plane
        _regions(ax, plane)
        if plane.mean is not None:
            for state in range(len(plane.classes)):
                _ellipses(ax, plane, state)
        elif plane.log_density is not None:
            _contours(ax, plane)
        if plane.rows is not None:
            _points(ax, plane, plane.rows)
        ax.set_xlim(plane.x[0], plane.x[-1])
        ax.set_ylim(plane.y[0], plane.y[-1])
        ax.set_aspect("equal" if self.equal else "auto")
        ax.set_xlabel(label(plane.columns[0], 40))
        ax.set_ylabel(label(plane.columns[1], 40))
        bare(ax, "bottom", "left")
        word = "class" if plane.table is None else "action"
        ellipses = "; ellipses at 1, 2 and 3 stddevs" if plane.mean is not None else ""
        title = self.title or f"Which {word} where{ellipses}"
        if plane.table is None and plane.mean is not None:
            titled(ax, title)  # the ellipses have names
        else:
            _headed(ax, title, plane)


class RegionsBesideDisplay(Display):
    """Two planes or more side by side on the same axes, each with a title of its own."""

    def __init__(self, planes: Sequence[ClassPlane], titles: Sequence[str] = (), *, equal: bool | None = None) -> None:
        self.planes = tuple(planes)
        self.titles = [*titles, *([""] * len(planes))][: len(planes)]
        self.equal = is_comparable(planes[0]) if equal is None else equal

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns of each plane, one below the other, and the plane's title."""
        found: dict[str, list[Any]] = {}
        for title, plane in zip(self.titles, self.planes, strict=True):
            for k, (_, values) in enumerate(plane.to_columns().items()):
                found.setdefault((*plane.columns, "decision")[k], []).extend(values)
            found.setdefault("plane", []).extend([title] * plane.x.size * plane.y.size)
        return found

    def size(self) -> tuple[float, float]:
        width, height = RegionDisplay(self.planes[0], equal=self.equal).size()
        scale = min(1.0, 11.0 / (len(self.planes) * width))
        return len(self.planes) * width * scale, height * scale + 0.3

    def draw(self, ax: Axes) -> None:
        ax.set_axis_off()
        n, gap = len(self.planes), 0.09
        share = (1.0 - gap * (n - 1)) / n
        low_x, high_x = max(p.x[0] for p in self.planes), min(p.x[-1] for p in self.planes)
        low_y, high_y = max(p.y[0] for p in self.planes), min(p.y[-1] for p in self.planes)
        for k, (plane, title) in enumerate(zip(self.planes, self.titles, strict=True)):
            room = ax.inset_axes((k * (share + gap), 0.0, share, 1.0))
            RegionDisplay(plane, equal=self.equal, title=title).draw(room)
            room.set_xlim(low_x, high_x)
            room.set_ylim(low_y, high_y)


def ranges(plane: ClassPlane) -> tuple[float, float]:
    """How far both axes reach."""
    return float(plane.x[-1] - plane.x[0]), float(plane.y[-1] - plane.y[0])


def is_comparable(plane: ClassPlane) -> bool:
    """Whether both axes can have one scale without one of them being squashed."""
    width, height = ranges(plane)
    return max(width, height) <= _COMPARABLE * min(width, height)


def _colours(plane: ClassPlane) -> list[str]:
    """Of the decisions: those of the classes; actions have colours of their own."""
    first = 0 if plane.table is None else len(plane.classes)
    known = {state: k for k, state in enumerate(plane.classes)}
    return [state_colour(known.get(name, first + k)) for k, name in enumerate(plane.decisions)]


def _regions(ax: Axes, plane: ClassPlane) -> None:
    from matplotlib.colors import to_rgb

    winners, leads = plane.winners(), plane.leads()
    extent = (plane.x[0], plane.x[-1], plane.y[0], plane.y[-1])
    pale = np.array([to_rgb(mixed(colour, 0.22)) for colour in _colours(plane)])[winners]
    ax.imshow(pale, origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
    for k in np.unique(winners).tolist():
        if np.isfinite(leads[:, :, k]).all() and np.ptp(np.sign(leads[:, :, k])):
            ax.contour(plane.x, plane.y, leads[:, :, k], levels=[0.0], colors=[INK], linewidths=1.2, zorder=3)


def _points(ax: Axes, plane: ClassPlane, rows: Points) -> None:
    """Rows in the colours of their classes; those beyond the picture as triangles at its edge, and their number."""
    low = np.array([plane.x[0], plane.y[0]])
    high = np.array([plane.x[-1], plane.y[-1]])
    inside = ((rows.values >= low) & (rows.values <= high)).all(axis=1)
    for state in np.unique(rows.states).tolist():
        colour = NEUTRAL if state < 0 else state_colour(state)
        own = rows.values[inside & (rows.states == state)]
        ax.scatter(own[:, 0], own[:, 1], s=14, color=colour, edgecolor="white", linewidth=0.4, zorder=2)
    margin = 0.015 * (high - low)
    for values, state in zip(rows.values[~inside], rows.states[~inside].tolist(), strict=True):
        beyond = np.where(values < low, -1, np.where(values > high, 1, 0))
        marker = _EDGES[(int(beyond[0]), 0) if beyond[0] else (0, int(beyond[1]))]
        x, y = np.clip(values, low + margin, high - margin)
        colour = NEUTRAL if state < 0 else state_colour(state)
        ax.plot([x], [y], marker=marker, color=colour, markeredgecolor=INK, markersize=8, zorder=6)
        inwards = -34.0 * float(beyond[0]), -12.0 * float(beyond[1])
        note(ax, f"({values[0]:.3g}, {values[1]:.3g})", (float(x), float(y)), inwards)


def _ellipses(ax: Axes, plane: ClassPlane, state: int) -> None:
    colour = state_colour(state)
    for radius, width in zip(RADII, (1.8, 1.2, 0.8), strict=True):
        curve = plane.ellipse(state, radius)
        ax.plot(curve[:, 0], curve[:, 1], color=colour, linewidth=width, zorder=4)
    assert plane.mean is not None
    x, y = plane.mean[state]
    ax.plot([x], [y], marker="+", color=colour, markersize=9, markeredgewidth=2, zorder=5)
    note(ax, label(plane.classes[state], 18), (x, y), (7, 6), fontweight="bold", ha="left", va="bottom")


def _contours(ax: Axes, plane: ClassPlane) -> None:
    """Where a density falls to that of 1, 2 and 3 stddevs of a Gaussian: exp(-1/2), exp(-2), exp(-9/2) of its peak."""
    assert plane.log_density is not None
    for state in range(len(plane.classes)):
        values = plane.log_density[:, :, state]
        top = float(values.max())
        levels = [top - 0.5 * radius**2 for radius in sorted(RADII, reverse=True)]
        if np.isfinite(values).all() and levels[-1] > values.min():
            how: dict[str, Any] = {"colors": [state_colour(state)], "linestyles": "solid", "zorder": 4}
            ax.contour(plane.x, plane.y, values, levels=levels, linewidths=(0.8, 1.2, 1.8), **how)


def _headed(ax: Axes, title: str, plane: ClassPlane) -> None:
    """The title, and below it what the colours of the regions mean."""
    from matplotlib.patches import Patch

    patches = [Patch(color=mixed(colour, 0.45)) for colour in _colours(plane)[:_MOST_NAMED]]
    headed(ax, title, patches, [label(name, 18) for name in plane.decisions[:_MOST_NAMED]], most=4)
