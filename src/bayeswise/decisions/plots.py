"""Pictures of costs and decisions: expected costs over two states, regions over three, rows by action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError
from bayeswise.posteriors.normalise import as_shares, check_posterior
from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.numbers import number
from bayeswise.render.theme import INK, NEUTRAL, state_colour
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.decisions.decide import Decisions
    from bayeswise.decisions.policy.rule import Rule

_HIGHEST = 4.0  # times the range of the policy
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


class SimplexDisplay(Display):
    """Each corner is a state that is certain; each colour an action."""

    inches = (6.0, 5.5)

    def __init__(self, costs: Costs, *, posterior: Any = None) -> None:
        self.costs = costs
        self.regions = simplex_regions(costs)
        self.posterior: FloatArray | None = None  # (n_rows, 3) points to mark
        if posterior is not None:
            self.posterior = as_shares(posterior, costs.states)
            check_posterior(self.posterior, costs.states)

    def to_columns(self) -> dict[str, list[Any]]:
        """One line for each corner of each region: action, p_STATE ..."""
        lines = [(action, corner) for action, region in self.regions.items() for corner in region]
        columns = {f"p_{state}": [float(c[k]) for _, c in lines] for k, state in enumerate(self.costs.states)}
        return {"action": [action for action, _ in lines], **columns}

    def draw(self, ax: Axes) -> None:
        for k, (action, region) in enumerate(self.regions.items()):
            places = region @ _CORNERS
            ax.fill(*places.T, color=state_colour(k), alpha=0.75, linewidth=0)
            x, y = places.mean(axis=0).tolist()
            note(ax, label(action), (x, y), fontsize="medium")
        ax.plot(*_CORNERS[[0, 1, 2, 0]].T, color=NEUTRAL, linewidth=1.0)
        for state, corner, side in zip(self.costs.states, _CORNERS, ("top", "top", "bottom"), strict=True):
            ax.text(float(corner[0]), float(corner[1]), f"{label(state)} = 1", ha="center", va=side, color=INK)
        if self.posterior is not None:
            ax.plot(*(self.posterior @ _CORNERS).T, "o", color=INK, markersize=3)
        ax.set_aspect("equal")
        ax.set_xticks([])
        ax.set_yticks([])
        titled(ax, "Which action for which posterior?")
        bare(ax)


class ExpectedCostDisplay(Display):
    """The expected cost of each action over P(first state); the lowest line is the policy, divided by thresholds.

    `posterior` are rows to mark, as probabilities of the first state.
    """

    def __init__(self, rule: Rule, *, posterior: Any = None) -> None:
        if not rule.pieces:
            raise CostError(
                f"lines of expected costs need two states; there are {len(rule.costs.states)}",
                fix="decide rows, and plot the decisions",
            )
        self.rule = rule
        self.posterior = None if posterior is None else as_shares(posterior, rule.costs.states)

    def to_columns(self) -> dict[str, list[Any]]:
        """action, and its cost in each state: the ends of its line."""
        costs = self.rule.costs
        ends = {f"cost_{state}": costs.table[:, k].tolist() for k, state in enumerate(costs.states)}
        return {"action": list(costs.actions), **ends}

    def draw(self, ax: Axes) -> None:
        costs = self.rule.costs
        p = np.array([0.0, 1.0])
        for k, action in enumerate(costs.actions):
            ends = costs.table[k, ::-1]  # at p = 0 and at p = 1
            ax.plot(p, ends, color=state_colour(k), linewidth=1.2, alpha=0.7, label=label(action))
        for piece in self.rule.pieces:
            k, edges = costs.action(piece.action), np.array([float(piece.low), float(piece.high)])
            best = self._expected(k, edges)
            ax.plot(edges, best, color=state_colour(k), linewidth=3.6, solid_capstyle="butt", zorder=3)
        self._scale(ax)
        for threshold in map(float, self.rule.thresholds):
            ax.axvline(threshold, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
            above = {"xycoords": ("data", "axes fraction"), "va": "bottom"}
            note(ax, number(threshold), (threshold, 1.0), (0, 2), **above)
        if self.posterior is not None:
            across = ax.get_xaxis_transform()
            rows = self.posterior[:, 0]
            ax.plot(
                rows,
                np.full(len(rows), 0.02),
                "|",
                color=INK,
                alpha=0.8,
                markersize=14,
                markeredgewidth=1.6,
                transform=across,
            )
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel(f"P({label(costs.states[0])})")
        ax.set_ylabel("expected cost")
        ax.set_title("Which action at which probability?", loc="left", fontsize="medium", color=INK, pad=18)
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        bare(ax, "bottom", "left", grid="y")

    def _expected(self, action: int, p: FloatArray) -> FloatArray:
        first, second = self.rule.costs.table[action]
        return np.asarray(p * first + (1.0 - p) * second)

    def _scale(self, ax: Axes) -> None:
        """A line far above the policy leaves the picture."""
        costs = self.rule.costs
        ends = [(costs.action(each.action), np.array([float(each.low), float(each.high)])) for each in self.rule.pieces]
        paid = np.concatenate([self._expected(action, p) for action, p in ends])
        low, high = float(paid.min()), float(paid.max())
        top = low + _HIGHEST * ((high - low) or abs(high) or 1.0)
        if float(costs.table.max()) > top:
            ax.set_ylim(low - 0.06 * (top - low), top)


class ActionsDisplay(Display):
    """How many rows each action has."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions

    def to_columns(self) -> dict[str, list[Any]]:
        """action, rows and expected_cost, the mean over these rows."""
        found, n_actions = self.decisions, len(self.decisions.actions)
        rows = np.bincount(found.best, minlength=n_actions)
        cost = np.bincount(found.best, found.least_cost, minlength=n_actions) / np.maximum(rows, 1)
        return {"action": list(found.actions), "rows": rows.tolist(), "expected_cost": cost.tolist()}

    def size(self) -> tuple[float, float]:
        return 7.0, 1.2 + 0.42 * len(self.decisions.actions)

    def draw(self, ax: Axes) -> None:
        columns = self.to_columns()
        places = range(len(columns["action"]))
        ax.barh(places, columns["rows"], color=[state_colour(k) for k in places])
        ax.set_yticks(places, [label(action) for action in columns["action"]])
        for y, rows, cost in zip(places, columns["rows"], columns["expected_cost"], strict=True):
            said = f"{rows:,} rows, expected cost {number(cost)}" if rows else "no row"
            note(ax, said, (rows, y), (4, 0), ha="left")
        ax.set_xlim(0, 1.6 * max(1, *columns["rows"]))
        ax.invert_yaxis()
        ax.set_xlabel("rows")
        titled(ax, f"Actions of {len(self.decisions):,} rows")
        bare(ax, "left", grid="x")


def display_of(decisions: Decisions) -> ExpectedCostDisplay | SimplexDisplay | ActionsDisplay:
    """Where the rows lie among the actions of two or three states, else how many rows each action has."""
    from bayeswise.decisions.policy.rule import rule

    costs = decisions.costs
    if costs.constant and len(costs.states) == 2:
        return ExpectedCostDisplay(rule(costs), posterior=decisions.posterior)
    if costs.constant and len(costs.states) == 3:
        return SimplexDisplay(costs, posterior=decisions.posterior)
    return ActionsDisplay(decisions)
