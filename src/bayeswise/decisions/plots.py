"""Three states: which action for which posterior, as regions of a triangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError
from bayeswise.posteriors.shares import as_shares, check_posterior
from bayeswise.render.plain import Tabular
from bayeswise.render.theme import INK, NEUTRAL, STATES, axes_or_new, bare, label
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_AREA = 1e-15
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])


def simplex_regions(costs: Costs) -> dict[Label, FloatArray]:
    """The corners (n_corners, 3) of the region of each action that is best somewhere, in order around it.

    Of equal actions the first one has the region, and one that wins in a line or a point only has none.

    >>> regions = simplex_regions(Costs.zero_one(["a", "b", "c"]))
    >>> regions["a"].round(3).tolist()
    [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.333, 0.333, 0.333], [0.5, 0.0, 0.5]]
    """
    if len(costs.states) != 3:
        raise CostError(f"the triangle is for three states; there are {len(costs.states)}", fix="print the rule")
    table = costs.table / (np.abs(costs.table).max() or 1.0)  # so that no difference overflows
    found: dict[Label, FloatArray] = {}
    for a, action in enumerate(costs.actions):
        region = np.eye(3)
        for gain in table - table[a]:
            if not len(region):
                break
            region = _kept(region, gain)
        if _area(region) > _LEAST_AREA and not (table[:a] == table[a]).all(axis=1).any():
            found[action] = region
    return found


def _kept(region: FloatArray, gain: FloatArray) -> FloatArray:
    """The part of a convex region in which gain . p >= 0."""
    heights = region @ gain
    corners = []
    for k, corner in enumerate(region):
        after, height, height_after = region[(k + 1) % len(region)], heights[k], heights[(k + 1) % len(region)]
        if height >= 0:
            corners.append(corner)
        if height * height_after < 0:
            corners.append(corner + (after - corner) * height / (height - height_after))
    return np.array(corners).reshape(-1, 3)


def _area(region: FloatArray) -> float:
    """Of the outline in two of its coordinates, the whole triangle being 1 / 2."""
    if len(region) < 3:
        return 0.0
    (x, y), (x_next, y_next) = region[:, :2].T, np.roll(region[:, :2], -1, axis=0).T
    return 0.5 * abs(float(np.sum(x * y_next - x_next * y)))


class SimplexDisplay(Tabular):
    """Each corner is a state that is certain; each colour an action."""

    def __init__(self, costs: Costs, *, posterior: Any = None) -> None:
        self.costs = costs
        self.regions = simplex_regions(costs)
        self.posterior: FloatArray | None = None  # (n_rows, 3) points to mark
        if posterior is not None:
            self.posterior = as_shares(posterior, costs.states)
            check_posterior(self.posterior, costs.states)
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_columns(self) -> dict[str, list[Any]]:
        """One line for each corner of each region: action, p_STATE ..."""
        lines = [(action, corner) for action, region in self.regions.items() for corner in region]
        columns = {f"p_{state}": [float(c[k]) for _, c in lines] for k, state in enumerate(self.costs.states)}
        return {"action": [action for action, _ in lines], **columns}

    def plot(self, ax: Axes | None = None) -> SimplexDisplay:
        """Draw into the axes, or into a new figure."""
        ax = axes_or_new(ax, 6.0, 5.5)
        for k, (action, region) in enumerate(self.regions.items()):
            places = region @ _CORNERS
            ax.fill(*places.T, color=STATES[k % len(STATES)], alpha=0.75, linewidth=0)
            x, y = places.mean(axis=0).tolist()
            ground = {"facecolor": "white", "alpha": 0.6, "linewidth": 0, "pad": 1.5}  # over the points
            ax.text(x, y, label(action), ha="center", va="center", color=INK, bbox=ground, zorder=4)
        ax.plot(*_CORNERS[[0, 1, 2, 0]].T, color=NEUTRAL, linewidth=1.0)
        for state, corner, side in zip(self.costs.states, _CORNERS, ("top", "top", "bottom"), strict=True):
            ax.text(float(corner[0]), float(corner[1]), f"{label(state)} = 1", ha="center", va=side, color=INK)
        if self.posterior is not None:
            ax.plot(*(self.posterior @ _CORNERS).T, "o", color=INK, markersize=3)
        ax.set_aspect("equal")
        ax.set_xticks([])
        ax.set_yticks([])
        bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
