"""Two columns: contours of the classes' densities over the regions in which each class is the most probable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.theme import INK, mixed, state_colour
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RADII = (1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Plane:
    """Two Gaussian classes or more, seen on two of their columns."""

    columns: tuple[str, str]
    classes: tuple[Label, ...]
    x: FloatArray  # (n_x,)
    y: FloatArray  # (n_y,)
    log_joint: FloatArray  # (n_y, n_x, n_states) up to a number for each point
    mean: FloatArray  # (n_states, 2)
    covariance: FloatArray  # (n_states, 2, 2)

    @classmethod
    def of(cls, model: Any, columns: Sequence[str] | None = None, *, points: int = 241, reach: float = 3.4) -> Plane:
        """From a Gaussian Bayes model: its two columns, or two of them with the others integrated out."""
        names = tuple(model.columns if columns is None else columns)
        if len(names) != 2:
            raise ParameterError(f"a plane has two columns; found {len(names)}", fix="name two columns")
        at = np.array([model.columns.index(name) for name in names])
        mean, covariance = model.means[:, at], model.covariances[:, at[:, None], at]
        stddev = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        low, high = (mean - reach * stddev).min(axis=0), (mean + reach * stddev).max(axis=0)
        x, y = (np.linspace(low[k], high[k], points) for k in range(2))
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        relative = model.densities.block(at).relative(grid) + model.log_prior
        joint = relative.reshape(points, points, len(model.classes))
        return cls((names[0], names[1]), model.classes, x, y, joint, mean, covariance)

    def winners(self) -> IntArray:
        """(n_y, n_x) the most probable class at each point."""
        return np.asarray(np.argmax(self.log_joint, axis=2))

    def ellipse(self, state: int, radius: float, points: int = 181) -> FloatArray:
        """(points, 2) the curve of one density: where the Mahalanobis distance is `radius`."""
        angle = np.linspace(0.0, 2.0 * np.pi, points)
        circle = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        values, vectors = np.linalg.eigh(self.covariance[state])
        return np.asarray(self.mean[state] + (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


class RegionDisplay(Display):
    """Regions in pale colours, the boundary between them, and ellipses at 1, 2 and 3 stddevs around each mean."""

    inches = (6.4, 5.4)

    def __init__(
        self, plane: Plane, *, rows: FloatArray | None = None, row_states: Any = None, title: str = ""
    ) -> None:
        self.plane = plane
        self.rows = rows  # (n_rows, 2) points to be shown
        self.row_states = row_states  # (n_rows,) positions of their classes
        self.title = title

    @classmethod
    def from_model(cls, model: Any, columns: Sequence[str] | None = None, **settings: Any) -> RegionDisplay:
        """The picture of a Gaussian Bayes model on two of its columns."""
        return cls(Plane.of(model, columns), **settings)

    def to_columns(self) -> dict[str, list[Any]]:
        """Both columns and the most probable class, at every point of the grid."""
        plane = self.plane
        x, y = np.meshgrid(plane.x, plane.y)
        states = [plane.classes[k] for k in plane.winners().ravel().tolist()]
        return {plane.columns[0]: x.ravel().tolist(), plane.columns[1]: y.ravel().tolist(), "class": states}

    def draw(self, ax: Axes) -> None:
        plane = self.plane
        self._regions(ax)
        self._points(ax)
        for state in range(len(plane.classes)):
            self._ellipses(ax, state)
        ax.set_xlim(plane.x[0], plane.x[-1])
        ax.set_ylim(plane.y[0], plane.y[-1])
        ax.set_xlabel(label(plane.columns[0], 40))
        ax.set_ylabel(label(plane.columns[1], 40))
        bare(ax, "bottom", "left")
        titled(ax, self.title or "Which class where? Ellipses at 1, 2 and 3 stddevs")

    def _regions(self, ax: Axes) -> None:
        from matplotlib.colors import to_rgb

        plane, winners = self.plane, self.plane.winners()
        extent = (plane.x[0], plane.x[-1], plane.y[0], plane.y[-1])
        pale = np.array([to_rgb(mixed(state_colour(s), 0.22)) for s in range(len(plane.classes))])[winners]
        ax.imshow(pale, origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
        for state in np.unique(winners):
            others = np.delete(plane.log_joint, state, axis=2)
            if others.shape[2]:
                lead = plane.log_joint[:, :, state] - others.max(axis=2)
                ax.contour(plane.x, plane.y, lead, levels=[0.0], colors=[INK], linewidths=1.2, zorder=3)

    def _points(self, ax: Axes) -> None:
        if self.rows is None:
            return
        states = np.zeros(len(self.rows), int) if self.row_states is None else np.asarray(self.row_states)
        for state in np.unique(states):
            chosen = self.rows[states == state]
            colour = state_colour(int(state))
            ax.scatter(chosen[:, 0], chosen[:, 1], s=12, color=colour, edgecolor="white", linewidth=0.4, zorder=2)

    def _ellipses(self, ax: Axes, state: int) -> None:
        colour = state_colour(state)
        for radius, width in zip(RADII, (1.8, 1.2, 0.8), strict=True):
            curve = self.plane.ellipse(state, radius)
            ax.plot(curve[:, 0], curve[:, 1], color=colour, linewidth=width, zorder=4)
        x, y = self.plane.mean[state]
        ax.plot([x], [y], marker="+", color=colour, markersize=9, markeredgewidth=2, zorder=5)
        note(ax, label(self.plane.classes[state], 18), (x, y), (7, 6), fontweight="bold", ha="left", va="bottom")
