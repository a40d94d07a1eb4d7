"""True states against actions, in rows and in cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.evaluation.evaluate import Evaluation
from bayeswise.evaluation.text import count, number
from bayeswise.explanations.displays.style import INK, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVEL_LETTERS = 12  # of the longest action whose names stand beside each other


class ConfusionDisplay:
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

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        from bayeswise.explanations.plain import as_frame

        return as_frame(self.to_columns())

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
        ax.set_xticks(
            range(counts.shape[1]), names, rotation=30 if slanted else 0, ha="right" if slanted else "center"
        )
        ax.set_yticks(range(counts.shape[0]), [f"true {label(state)}" for state in decisions.states])
        ax.set_title("rows (cost)", loc="left", fontsize="medium", color=INK)
        bare(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
