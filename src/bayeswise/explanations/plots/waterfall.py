"""From the prior log-odds to the posterior log-odds, one step for each column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayeswise.explanations.balance import Balance, factor_text, remarks_of, value_text, weight_text
from bayeswise.foundation.dataclass import dataclass
from bayeswise.render.display import Display, bare, inches_across, label, letters_across, note, titled
from bayeswise.render.numbers import probability
from bayeswise.render.theme import AGAINST, FAINT, FOR, INK, NEUTRAL
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.explanations.account import Account

# By priority: those that fit are drawn on the axis of probabilities.
_TICKS = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 1e-4, 1 - 1e-4, 1e-6, 1 - 1e-6, 1e-9, 1 - 1e-9, 0.25, 0.75)


@dataclass(frozen=True)
class Bar:
    """One line of the picture."""

    name: str
    start: float
    end: float
    colour: str
    remark: str


class WaterfallDisplay(Display):
    """The weights of one comparison as steps in log-odds; the upper axis has the probability."""

    def __init__(self, balance: Balance, *, title: str = "", most_columns: int = 15) -> None:
        self.balance = balance
        self.title = title
        self.most_columns = most_columns

    @classmethod
    def from_account(
        cls,
        account: Account,
        state: Label | None = None,
        against: Label | None = None,
        *,
        title: str | None = None,
        most_columns: int = 15,
    ) -> WaterfallDisplay:
        """The most probable state against its strongest rival, or the states that are named."""
        remarks = " · ".join(remarks_of(account))
        return cls(account.weigh(state, against), title=remarks if title is None else title, most_columns=most_columns)

    def to_columns(self) -> dict[str, list[Any]]:
        """name, start, end and remark of each bar."""
        names = ("name", "start", "end", "remark")
        return {name: [getattr(bar, name) for bar in self.bars()] for name in names}

    def size(self) -> tuple[float, float]:
        return 8.0, 1.9 + 0.36 * len(self.bars())

    def draw(self, ax: Axes) -> None:
        bars = self.bars()
        for y, bar in enumerate(bars):
            ax.barh(y, bar.end - bar.start, left=bar.start, height=0.62, color=bar.colour, zorder=3)
            if y + 1 < len(bars):
                ax.plot([bar.end, bar.end], [y, y + 1], color=NEUTRAL, linewidth=0.8, zorder=2)
        self._scale(ax, bars)
        for y, bar in enumerate(bars):
            right = bar.end >= bar.start
            note(ax, bar.remark, (bar.end, y), (4 if right else -4, 0), ha="left" if right else "right")
        self._dress(ax, bars)

    def bars(self) -> list[Bar]:
        """The lines from top to bottom: prior, strongest column first, posterior."""
        weights = self.balance.strongest(self.most_columns)
        beyond = _beyond([self.balance.log_prior_odds, *(weight.log_ratio for weight in weights)])
        position = _drawn(self.balance.log_prior_odds, beyond)
        bars = [Bar(self.balance.start, 0.0, position, NEUTRAL, self.balance.share(self.balance.prior))]
        for weight in weights:
            end = position + _drawn(weight.log_ratio, beyond)
            text = value_text(weight.value, weight.note)
            name = f"{label(weight.column, 24)} = {label(text, 20)}" if text else label(weight.column, 34)
            remark = f"{weight_text(weight.log_ratio)}  {factor_text(weight.log_ratio)}"
            bars.append(Bar(name, position, end, FOR if weight.log_ratio > 0 else AGAINST, remark))
            position = end
        bars.append(Bar("posterior", 0.0, position, INK, self.balance.share(self.balance.probability, 4)))
        return bars

    def _scale(self, ax: Axes, bars: Sequence[Bar]) -> None:
        ends = [0.0, *(bar.end for bar in bars)]
        low, high = min(ends), max(ends)
        span = high - low or 1.0
        # The remarks stand outside of the bars: to the left of those that go left, else to the right.
        leftmost = min([high, *(bar.end for bar in bars if bar.end < bar.start)])
        rightmost = max([low, *(bar.end for bar in bars if bar.end >= bar.start)])
        names, remarks = max(len(bar.name) for bar in bars), max(len(bar.remark) for bar in bars)
        across = letters_across(inches_across(ax) * 1.1) - names
        share = min(0.42, (remarks * 0.9 + 2.0) / max(across, 16))  # of the width, for the longest remark
        first, last = low - 0.06 * span, high + 0.06 * span
        for _ in range(20):  # a wider scale makes the same remark longer
            width = last - first
            first, last = (
                min(low - 0.06 * span, leftmost - share * width),
                max(high + 0.06 * span, rightmost + share * width),
            )
        ax.set_xlim(first, last)
        ax.set_ylim(len(bars) - 0.4, -0.6)

    def _dress(self, ax: Axes, bars: Sequence[Bar]) -> None:
        state, rival = label(self.balance.state, 24), label(self.balance.rival, 24)
        ax.set_yticks(range(len(bars)), [bar.name for bar in bars])
        ax.axvline(0.0, color=NEUTRAL, linewidth=1.0, zorder=1)
        for y in range(len(bars)):
            ax.axhline(y, color=FAINT, linewidth=0.5, zorder=0)
        ax.set_xlabel(f"log-odds:  ◄ {rival}      {state} ►")
        bare(ax, "bottom", "top")
        ax.tick_params(axis="y", length=0)
        self._probability_axis(ax)
        caption = f"\n{label(self.title, 80)}" if self.title else ""
        titled(ax, f"Why {state}, not {rival}?{caption}")

    def _probability_axis(self, ax: Axes) -> None:
        low, high = ax.get_xlim()
        ticks = _spaced([p for p in _TICKS if low < _logit(p) < high], 0.09 * (high - low))
        above = ax.secondary_xaxis("top")
        above.set_xticks([_logit(p) for p in ticks], [probability(p) for p in ticks])
        above.tick_params(length=3, color=NEUTRAL, labelcolor=INK, labelsize="small")
        above.spines["top"].set_color(NEUTRAL)


def _beyond(sizes: Sequence[float]) -> float:
    """Where an infinite weight ends: beyond everything finite."""
    return 1.5 * (sum(abs(size) for size in sizes if math.isfinite(size)) + 1.0)


def _drawn(log_ratio: float, beyond: float) -> float:
    return log_ratio if math.isfinite(log_ratio) else math.copysign(beyond, log_ratio)


def _logit(probability: float) -> float:
    return math.log(probability) - math.log1p(-probability)


def _spaced(ticks: list[float], gap: float) -> list[float]:
    """Leave out ticks that would touch one of higher priority."""
    kept: list[float] = []
    for tick in ticks:
        if all(abs(_logit(tick) - _logit(other)) > gap for other in kept):
            kept.append(tick)
    return sorted(kept)
