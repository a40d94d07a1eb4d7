"""Pictures of probability tables: a probability mass function as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.numbers import fraction_text, number
from bayeswise.render.theme import FOR, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.posteriors.joint_table import JointTable

_MOST_WRITTEN = 14  # bars with their probability above them


class MassDisplay(Display):
    """P of each combination of levels; a single variable of numbers is drawn at its numbers, with its mean marked."""

    inches = (6.6, 3.8)

    def __init__(self, table: JointTable) -> None:
        self.table = table

    def to_columns(self) -> dict[str, list[Any]]:
        """The levels of each variable, and P."""
        cells = self.table.exact.items()
        found: dict[str, list[Any]] = {
            name: [cell[k] for cell, _ in cells] for k, name in enumerate(self.table.variables)
        }
        return {**found, "P": [float(p) for _, p in cells]}

    def draw(self, ax: Axes) -> None:
        cells = list(self.table.exact.items())
        numeric = self.table.is_numeric
        places = [float(cell[0]) for cell, _ in cells] if numeric else list(map(float, range(len(cells))))
        heights = [float(p) for _, p in cells]
        apart = min((abs(a - b) for a in places for b in places if a != b), default=1.0)
        ax.bar(places, heights, width=0.8 * apart, color=FOR, zorder=3)
        if len(cells) <= _MOST_WRITTEN:
            for x, (_, p) in zip(places, cells, strict=True):
                text = fraction_text(p) if len(fraction_text(p)) <= 7 else number(float(p))
                note(ax, text, (x, float(p)), (0, 3), va="bottom")
        if numeric:
            mean = float(self.table.expectation())
            ax.axvline(mean, color=NEUTRAL, linestyle=(0, (4, 3)), linewidth=1.0, zorder=2)
            ax.set_xlabel(f"{label(self.table.variables[0], 40)} (mean {number(mean)}, dashed)")
            if len(cells) <= 20:
                ax.set_xticks(places)
        else:
            names = [label(", ".join(map(str, cell)), 22) for cell, _ in cells]
            slanted = max(map(len, names)) * len(names) > 60
            ax.set_xticks(places, names, rotation=35 if slanted else 0, ha="right" if slanted else "center")
            ax.set_xlabel(label(", ".join(self.table.variables), 40))
        ax.set_ylim(0.0, 1.15 * max(heights))
        ax.set_ylabel("P", color=INK)
        titled(ax, f"P({label(', '.join(self.table.variables), 40)})")
        bare(ax, "bottom", grid="y")
