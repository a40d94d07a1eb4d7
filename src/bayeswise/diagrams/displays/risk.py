"""What can come of a policy: a bar for each outcome, losses in their own colour, the mean marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.displays.style import AGAINST, FAINT, FOR, INK, NEUTRAL, axes_or_new, bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.diagrams.risk import RiskProfile

_MOST_BARS = 60


class RiskDisplay:
    """P(utility) as bars, or as the curve of P(at most) where there are many outcomes."""

    def __init__(self, profile: RiskProfile, *, title: str = "What can come of it") -> None:
        self.profile = profile
        self.title = title
        self.ax_: Axes | None = None
        self.figure_: Any = None

    def to_columns(self) -> dict[str, list[Any]]:
        """utility, probability, at_most."""
        return self.profile.to_columns()

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        return self.profile.to_frame()

    def plot(self, ax: Axes | None = None) -> RiskDisplay:
        """Draw into the axes, or into a new figure."""
        ax = axes_or_new(ax, 7.0, 4.0)
        if len(self.profile.values) <= _MOST_BARS:
            self._bars(ax)
        else:
            self._curve(ax)
        mean = self.profile.mean
        ax.axvline(mean, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
        ax.annotate(
            f"mean {mean:.4g}",
            (mean, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            color=INK,
            fontsize="small",
        )
        ax.set_xlabel("utility")
        loss = self.profile.probability_of_loss
        ax.set_title(f"{self.title}\nprobability of a loss {loss:.3g}", loc="left", fontsize="medium")
        bare(ax, "bottom", "left")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bars(self, ax: Axes) -> None:
        values, probability = self.profile.values, self.profile.probability
        span = float(values[-1] - values[0]) or max(1.0, abs(float(values[0])))
        gap = float(np.diff(values).min()) if len(values) > 1 else span
        width = max(0.012 * span, min(0.06 * span, 0.8 * gap))
        colours = [AGAINST if value < 0.0 else FOR for value in values]
        ax.axvline(0.0, color=FAINT, linewidth=1.0, zorder=0)
        ax.bar(values, probability, width=width, color=colours, zorder=3)
        if len(values) <= 12:
            for value, p in zip(values.tolist(), probability.tolist(), strict=True):
                ax.annotate(
                    f"{value:.4g}\n{p:.3g}",
                    (value, p),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="center",
                    fontsize="small",
                    color=INK,
                )
        ax.set_ylim(0.0, 1.22 * float(probability.max()))
        ax.margins(x=0.12)
        ax.set_ylabel("probability")

    def _curve(self, ax: Axes) -> None:
        values, at_most = self.profile.values, np.minimum(np.cumsum(self.profile.probability), 1.0)
        ax.step(values, at_most, where="post", color=FOR, linewidth=1.6, zorder=3)
        loss = values < 0.0
        if loss.any():
            ax.fill_between(values[loss], at_most[loss], step="post", color=AGAINST, alpha=0.5, linewidth=0)
        ax.axvline(0.0, color=NEUTRAL, linewidth=1.0, zorder=0)
        ax.set_ylim(0.0, 1.0)
        ax.set_ylabel("probability of that or less")
