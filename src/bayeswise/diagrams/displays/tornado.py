"""Bars around the utility as it is, the widest on top; those that change the policy in another colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeswise.explanations.displays.style import AGAINST, FAINT, FOR, INK, axes_or_new, bare, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.diagrams.tornado import Bar, Tornado


class TornadoDisplay:
    """How far the best utility moves as each entry moves within its range."""

    def __init__(self, tornado: Tornado, *, most_bars: int = 15, title: str = "What the utility depends on") -> None:
        self.tornado = tornado
        self.most_bars = most_bars
        self.title = title
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_columns(self) -> dict[str, list[Any]]:
        """entry, value, low, high, utility_low, utility_high, width, policy_changes."""
        return self.tornado.to_columns()

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        return self.tornado.to_frame()

    def plot(self, ax: Axes | None = None) -> TornadoDisplay:
        """Draw into the axes, or into a new figure."""
        bars = [bar for bar in self.tornado.bars if bar.width > 0.0][: self.most_bars]
        ax = axes_or_new(ax, 8.5, 1.5 + 0.36 * max(1, len(bars)))
        for y, bar in enumerate(bars):
            self._bar(ax, y, bar)
        ax.axvline(self.tornado.utility, color=INK, linewidth=1.0, zorder=4)
        ends = [end for bar in bars for end in (bar.utility_low, bar.utility_high)] or [self.tornado.utility]
        span = (max(ends) - min(ends)) or 1.0
        ax.set_xlim(min(ends) - 0.12 * span, max(ends) + 0.12 * span)
        ax.set_ylim(len(bars) - 0.4, -0.6)
        ax.set_yticks(range(len(bars)), [label(str(bar.entry), 56) for bar in bars])
        ax.set_xlabel(f"best expected utility (now {self.tornado.utility:.4g})")
        changing = any(bar.changes for bar in bars)
        caption = "\norange: another policy becomes better at one of the ends" if changing else ""
        ax.set_title(f"{self.title}{caption}", loc="left", fontsize="medium")
        bare(ax, "bottom")
        ax.tick_params(axis="y", length=0)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bar(self, ax: Axes, y: int, bar: Bar) -> None:
        ax.axhline(y, color=FAINT, linewidth=0.5, zorder=0)
        start, end = sorted((bar.utility_low, bar.utility_high))
        ax.barh(y, end - start, left=start, height=0.62, color=AGAINST if bar.changes else FOR, zorder=3)
        for utility, value in ((bar.utility_low, bar.low), (bar.utility_high, bar.high)):
            right = utility == end
            ax.annotate(
                f"{value:.3g}",
                (utility, y),
                xytext=(3 if right else -3, 0),
                textcoords="offset points",
                ha="left" if right else "right",
                va="center",
                fontsize="small",
                color=INK,
                zorder=5,
            )
