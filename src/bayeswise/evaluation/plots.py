"""Pictures of an evaluation: rows by state and action, costs with intervals, curves, reliability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.evaluation.cost_curves import Curve
from bayeswise.evaluation.evaluate import Evaluation
from bayeswise.evaluation.reliability import Reliability
from bayeswise.render.display import Display, bare, label, titled
from bayeswise.render.numbers import count, number
from bayeswise.render.theme import FOR, INK, NEUTRAL, state_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LEVEL_LETTERS = 12  # of the longest action, up to which names fit beside each other


class ConfusionDisplay(Display):
    """States down, actions across; each cell its rows, and what they cost below."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    def to_columns(self) -> dict[str, list[Any]]:
        """state, action, rows, cost of each cell."""
        decisions = self.evaluation.decisions
        cells = [(s, a) for s in range(len(decisions.states)) for a in range(len(decisions.actions))]
        return {
            "state": [decisions.states[s] for s, _ in cells],
            "action": [decisions.actions[a] for _, a in cells],
            "rows": [float(self.evaluation.confusion[cell]) for cell in cells],
            "cost": [float(self.evaluation.confusion_cost[cell]) for cell in cells],
        }

    def size(self) -> tuple[float, float]:
        n_states, n_actions = self.evaluation.confusion.shape
        return 2.2 + 1.2 * n_actions, 1.5 + 0.8 * n_states

    def draw(self, ax: Axes) -> None:
        decisions, counts = self.evaluation.decisions, self.evaluation.confusion
        ax.imshow(counts, cmap="Blues", aspect="auto", vmin=0, vmax=1.6 * float(counts.max()) or 1.0)
        for s in range(counts.shape[0]):
            for a in range(counts.shape[1]):
                cost = self.evaluation.confusion_cost[s, a]
                ax.text(a, s, f"{count(counts[s, a])}\ncost {number(cost)}", ha="center", va="center", color=INK)
        names = [label(action) for action in decisions.actions]
        slanted = max(map(len, names)) > _LEVEL_LETTERS
        ax.set_xticks(range(counts.shape[1]), names, rotation=30 if slanted else 0, ha="right" if slanted else "center")
        ax.set_yticks(range(counts.shape[0]), [label(state) for state in decisions.states])
        ax.set_xlabel("action")
        ax.set_ylabel("true state")
        titled(ax, "Rows, and what they cost together")
        bare(ax)


class CostsDisplay(Display):
    """One bar for each way to act, with its interval."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    def to_columns(self) -> dict[str, list[Any]]:
        """rule, cost_per_case, low, high."""
        return self.evaluation.to_columns()

    def size(self) -> tuple[float, float]:
        return 7.0, 1.2 + 0.42 * len(self.to_columns()["rule"])

    def draw(self, ax: Axes) -> None:
        columns = self.evaluation.to_columns()
        names = [label(name) for name in columns["rule"]]
        means = np.array(columns["cost_per_case"])
        reach = np.stack([means - np.array(columns["low"]), np.array(columns["high"]) - means])
        colours = [FOR, *[NEUTRAL] * (len(names) - 1)]
        places = list(range(len(names)))
        ax.barh(places, means, color=colours, xerr=np.where(np.isfinite(reach), reach, 0.0), ecolor=INK)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set_xlabel(self.evaluation.decisions.costs.in_unit("cost per case"))
        titled(ax, f"Cost per case, with {number(100 * self.evaluation.level)} % intervals")
        bare(ax, "left", grid="x")


class CurveDisplay(Display):
    """Lines over one scale: thresholds, coverage, or prior and ratio of costs."""

    inches = (6.5, 4.2)

    def __init__(self, curve: Curve) -> None:
        self.curve = curve

    def to_columns(self) -> dict[str, list[Any]]:
        """The points."""
        return self.curve.to_columns()

    def draw(self, ax: Axes) -> None:
        settled = self.curve.x >= self.curve.least_x
        for k, (name, values) in enumerate(self.curve.lines().items()):
            ax.plot(self.curve.x[settled], values[settled], color=state_colour(k), label=label(name))
        for k, (name, x) in enumerate(self.curve.marks.items(), start=len(self.curve.y)):
            ax.axvline(x, color=state_colour(k), linewidth=1.2, linestyle=(0, (4, 3)), label=f"{name} {number(x)}")
        ax.set_xlabel(label(self.curve.x_name.replace("_", " ")))
        ax.set_ylabel(label(self.curve.y_name))
        titled(ax, label(self.curve.title, 120))
        bare(ax, "bottom", "left", grid="both")
        if len(self.curve.y) + len(self.curve.marks) > 1:
            ax.legend(frameon=False, fontsize="small")


class ReliabilityDisplay(Display):
    """Bins with their bands; on the diagonal probabilities mean what they say."""

    inches = (5.0, 5.0)

    def __init__(self, reliability: Reliability) -> None:
        self.reliability = reliability

    def to_columns(self) -> dict[str, list[Any]]:
        """The bins."""
        return self.reliability.to_columns()

    def draw(self, ax: Axes) -> None:
        found = self.reliability
        ax.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1.0, linestyle="--")
        reach = np.stack([found.observed - found.low, found.high - found.observed])
        ax.errorbar(found.predicted, found.observed, np.maximum(reach, 0.0), fmt="o-", color=FOR, capsize=3)
        ax.set_xlabel(f"predicted P({label(found.state)})")
        ax.set_ylabel("observed share")
        titled(ax, f"Expected calibration error {number(found.ece, 3)}")
        bare(ax, "bottom", "left", grid="both")
