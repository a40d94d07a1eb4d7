"""The nomogram as rulers: points above, one ruler for each column, total points and probability below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from bayeswise.explanations.nomogram import TOP_POINTS, Nomogram, NomogramLine
from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.numbers import probability
from bayeswise.render.theme import FAINT, FOR, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PROBABILITIES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.25, 0.75, 0.05, 0.95, 1e-4, 0.9999, 1e-6)
_CHARACTER = 1.25  # points of the ruler that a character takes, in a figure of the usual width
_MARGIN = 3.0  # points beyond both ends of the ruler


class NomogramDisplay(Display):
    """Rulers to read off and add; the case itself is marked."""

    def __init__(self, nomogram: Nomogram, *, title: str = "", most_columns: int = 15) -> None:
        self.nomogram = nomogram
        self.title = title
        self.most_columns = most_columns

    def to_columns(self) -> dict[str, list[Any]]:
        """column, value and points of every tick."""
        ticks = [(li.column, v, p) for li in self.nomogram.lines for v, p in zip(li.values, li.points, strict=True)]
        return {name: [tick[k] for tick in ticks] for k, name in enumerate(("column", "value", "points"))}

    def size(self) -> tuple[float, float]:
        return 10.0, 2.6 + 0.55 * min(self.most_columns, len(self.nomogram.lines))

    def slide_size(self) -> tuple[float, float]:
        return 8.0, 2.2 + 0.5 * min(self.most_columns, len(self.nomogram.lines))

    def draw(self, ax: Axes) -> None:
        lines = self.nomogram.lines[: self.most_columns]
        names = [
            "points",
            *(label(line.column, 28) for line in lines),
            "total points",
            self._probability_name(),
        ]
        self._ruler(ax, 0, [(float(p), f"{p:g}") for p in range(0, 101, 10)])
        for y, line in enumerate(lines, start=1):
            self._column(ax, y, line)
        self._totals(ax, len(lines) + 1)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.35, -0.75)
        ax.set_xlim(-_MARGIN, TOP_POINTS + _MARGIN)
        ax.set_xticks([])
        ax.vlines(range(0, 101, 10), 0, len(lines) + 0.4, color=FAINT, linewidth=0.6, zorder=0)
        bare(ax)
        ax.tick_params(axis="y", length=0)
        titled(ax, self._heading())

    def _heading(self) -> str:
        state, rival = label(self.nomogram.state, 24), label(self.nomogram.against, 24)
        left_out = len(self.nomogram.lines) - self.most_columns
        more = f" ({left_out} narrower columns are not drawn, but counted)" if left_out > 0 else ""
        caption = f"\n{label(self.title, 90)}" if self.title else ""
        return f"Points for {state} against {rival}{more}{caption}"

    def _probability_name(self) -> str:
        state = label(self.nomogram.state, 18)
        return f"P({state})" if self.nomogram.complete else f"P({state}) of the two"

    def _column(self, ax: Axes, y: int, line: NomogramLine) -> None:
        self._ruler(ax, y, [(p, label(v, 22)) for p, v in zip(line.points, line.values, strict=True)], line.current)
        if line.decisive:
            names = ", ".join(line.decisive[:3])
            ax.text(
                TOP_POINTS + _MARGIN,
                y,
                label(f"∞: {names}", 20),
                ha="right",
                va="top",
                fontsize="x-small",
                color=INK,
            )

    def _totals(self, ax: Axes, y: int) -> None:
        """Total points are scaled to the width of the ruler; so is the probability below."""
        most = self.nomogram.most_points or 1.0
        step = _round_step(most / 10)
        ticks = [k * step for k in range(int(most / step) + 1)]
        width = TOP_POINTS / most
        self._ruler(ax, y, [(tick * width, f"{tick:g}") for tick in ticks], end=TOP_POINTS)
        points = ((p, self.nomogram.points_for(p)) for p in _PROBABILITIES)
        marks = [(at * width, f"{p:g}") for p, at in points if 0.0 <= at <= most]
        ends = [
            (0.0, probability(self.nomogram.probability(0.0))),
            (TOP_POINTS, probability(self.nomogram.probability(most))),
        ]
        self._ruler(ax, y + 1, marks or ends, sides=(1,))
        if self.nomogram.total is not None:
            x = self.nomogram.total * width
            ax.plot([x, x], [y, y + 1], color=FOR, linewidth=1.4, zorder=4)
            found = probability(self.nomogram.probability(self.nomogram.total))
            remark = f"{self.nomogram.total:.0f} points: P = {found}"
            side = "left" if x < TOP_POINTS / 2 else "right"
            note(ax, remark, (x, y + 0.58), (5 if side == "left" else -5, 0), ha=side, color=FOR)

    def _ruler(
        self,
        ax: Axes,
        y: int,
        marks: Sequence[tuple[float, str]],
        current: int | None = None,
        sides: tuple[int, ...] = (0, 1),
        end: float = 0.0,
    ) -> None:
        """A line with ticks; labels above and below in turn, and none where there is no room."""
        places = [x for x, _ in marks]
        if places:
            ax.plot([min(places), max(end, *places)], [y, y], color=NEUTRAL, linewidth=1.0, zorder=2)
            ax.vlines(places, y - 0.09, y + 0.09, color=NEUTRAL, linewidth=1.0, zorder=2)
        for k, side, x in _placed(marks, current, sides):
            colour, weight = (FOR, "bold") if k == current else (INK, "normal")
            ax.text(
                x,
                y + (-0.14 if side == 0 else 0.14),
                marks[k][1],
                ha="center",
                va="bottom" if side == 0 else "top",
                fontsize="x-small",
                color=colour,
                fontweight=weight,
                zorder=3,
            )
        if current is not None:
            ax.plot(places[current], y, "o", color=FOR, markersize=6, zorder=4)


def _placed(
    marks: Sequence[tuple[float, str]], first: int | None, sides: tuple[int, ...]
) -> Iterable[tuple[int, int, float]]:
    """Which labels are written, on which side (0 above, 1 below) and where: the case's own first."""
    taken: list[list[tuple[float, float]]] = [[], []]
    order = sorted(range(len(marks)), key=lambda k: (k != first, marks[k][0]))
    for k in order:
        half = 0.5 * _CHARACTER * max(2, len(marks[k][1]))
        x = min(max(marks[k][0], half - _MARGIN), TOP_POINTS + _MARGIN - half)
        for side in sides:
            if all(x + half < low or x - half > high for low, high in taken[side]):
                taken[side].append((x - half, x + half))
                yield k, side, x
                break


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... above."""
    power = 1.0
    while power * 10 < rough:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
