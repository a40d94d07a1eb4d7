"""True states against actions, in rows and in cost."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.evaluation.curves import Curve
from bayeswise.evaluation.evaluate import Evaluation
from bayeswise.evaluation.reliability import Reliability
from bayeswise.render.numbers import count, number
from bayeswise.render.plain import Tabular
from bayeswise.render.theme import FAINT, FOR, INK, NEUTRAL, STATES, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LEVEL_LETTERS = 12  # of the longest action whose names stand beside each other


class ConfusionDisplay(Tabular):
    """States down, actions across; each cell its rows, and what they cost below."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.ax_: Axes | None = None
        self.figure_: Any = None

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

    def plot(self, ax: Axes | None = None) -> ConfusionDisplay:
        """Draw into the axes, or into a new figure."""
        decisions, counts = self.evaluation.decisions, self.evaluation.confusion
        ax = axes_or_new(ax, 1.8 + 1.2 * counts.shape[1], 1.2 + 0.8 * counts.shape[0])
        ax.imshow(counts, cmap="Blues", aspect="auto", vmin=0, vmax=1.6 * float(counts.max()) or 1.0)
        for s in range(counts.shape[0]):
            for a in range(counts.shape[1]):
                cost = self.evaluation.confusion_cost[s, a]
                ax.text(a, s, f"{count(counts[s, a])}\n({number(cost)})", ha="center", va="center", color=INK)
        names = [label(action) for action in decisions.actions]
        slanted = max(map(len, names)) > _LEVEL_LETTERS
        ax.set_xticks(range(counts.shape[1]), names, rotation=30 if slanted else 0, ha="right" if slanted else "center")
        ax.set_yticks(range(counts.shape[0]), [f"true {label(state)}" for state in decisions.states])
        ax.set_title("rows (cost)", loc="left", fontsize="medium", color=INK)
        bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class CostsDisplay:
    """One bar for each way to act, with its interval."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_frame(self) -> Any:
        """rule, cost_per_case, low, high."""
        return self.evaluation.to_frame()

    def plot(self, ax: Axes | None = None) -> CostsDisplay:
        """Draw into the axes, or into a new figure."""
        columns = self.evaluation.to_columns()
        names = [label(name) for name in columns["rule"]]
        ax = axes_or_new(ax, 7.0, 0.9 + 0.42 * len(names))
        means = np.array(columns["cost_per_case"])
        reach = np.stack([means - np.array(columns["low"]), np.array(columns["high"]) - means])
        colours = [FOR, *[NEUTRAL] * (len(names) - 1)]
        places = list(range(len(names)))
        ax.barh(places, means, color=colours, xerr=np.where(np.isfinite(reach), reach, 0.0), ecolor=INK)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set_xlabel("cost per case")
        ax.grid(axis="x", color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)
        bare(ax, "left")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class CurveDisplay:
    """Lines over one scale: thresholds, coverage, or prior and ratio of costs."""

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_frame(self) -> Any:
        """The points."""
        return self.curve.to_frame()

    def plot(self, ax: Axes | None = None) -> CurveDisplay:
        """Draw into the axes, or into a new figure."""
        ax = axes_or_new(ax, 6.5, 4.2)
        for k, (name, values) in enumerate(self.curve.y.items()):
            ax.plot(self.curve.x, values, color=STATES[k % len(STATES)], label=label(name.replace("_", " ")))
        ax.set_xlabel(label(self.curve.x_name.replace("_", " ")))
        ax.set_title(fill(label(self.curve.title, 120), 60), loc="left", fontsize="medium", color=INK)
        ax.grid(color=FAINT, linewidth=0.6)
        bare(ax, "bottom", "left")
        if len(self.curve.y) > 1:
            ax.legend(frameon=False, fontsize="small")
        else:
            ax.set_ylabel(label(next(iter(self.curve.y)).replace("_", " ")))
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ReliabilityDisplay:
    """Bins with their bands; on the diagonal probabilities mean what they say."""

    def __init__(self, reliability: Reliability) -> None:
        self.reliability = reliability
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_frame(self) -> Any:
        """The bins."""
        return self.reliability.to_frame()

    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw into the axes, or into a new figure."""
        ax = axes_or_new(ax, 5.0, 5.0)
        found = self.reliability
        ax.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1.0, linestyle="--")
        reach = np.stack([found.observed - found.low, found.high - found.observed])
        ax.errorbar(found.predicted, found.observed, np.maximum(reach, 0.0), fmt="o-", color=FOR, capsize=3)
        ax.set_xlabel(f"predicted P({label(found.state)})")
        ax.set_ylabel("observed share")
        ax.set_title(f"expected calibration error {found.ece:.3g}", loc="left", fontsize="medium", color=INK)
        ax.grid(color=FAINT, linewidth=0.6)
        bare(ax, "bottom", "left")
        self.ax_, self.figure_ = ax, ax.figure
        return self
