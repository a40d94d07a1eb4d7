"""Pictures of a network: how far each finding moves the belief, and a distribution as bars; the graph is a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bayeswise.networks.explaining.account_views import change_text, finding_text
from bayeswise.render.display import Display, bare, label, note, titled
from bayeswise.render.numbers import percent
from bayeswise.render.theme import AGAINST, FOR, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.networks.explaining.account import FindingWeight, NetworkAccount
    from bayeswise.networks.inference.distribution import Distribution

_MOST_BARS = 30


class FindingsDisplay(Display):
    """The weight of each finding beside the others: to the right it speaks for the state, to the left against it."""

    def __init__(self, account: NetworkAccount) -> None:
        self.account = account

    def to_columns(self) -> dict[str, list[Any]]:
        """finding, alone, beside."""
        found = self.account.findings
        return {
            "finding": [finding_text(each) for each in found],
            "alone": [each.alone for each in found],
            "beside": [each.beside for each in found],
        }

    def size(self) -> tuple[float, float]:
        return 7.5, 1.4 + 0.4 * max(2, len(self._drawn()))

    def _drawn(self) -> list[FindingWeight]:
        return list(self.account.findings[:_MOST_BARS])

    def draw(self, ax: Axes) -> None:
        account, findings = self.account, self._drawn()
        weights = [each.beside or 0.0 for each in findings]
        top = 1.5 * (sum(abs(w) for w in weights if math.isfinite(w)) or 1.0)  # where an infinite weight ends
        ends = [w if math.isfinite(w) else math.copysign(top, w) for w in weights]
        ax.barh(range(len(ends)), ends, height=0.62, color=[FOR if end > 0 else AGAINST for end in ends], zorder=3)
        reach = max([1e-9, *map(abs, ends)])
        for y, (end, finding) in enumerate(zip(ends, findings, strict=True)):
            said = "  ".join(change_text(finding.beside)) if finding.relevant else "says nothing beside the others"
            note(ax, said, (end, y), (4 if end >= 0 else -4, 0), ha="left" if end >= 0 else "right")
        ax.set_xlim(-1.7 * reach, 1.7 * reach)
        ax.set_ylim(len(ends) - 0.4, -0.6)
        ax.set_yticks(range(len(ends)), [label(finding_text(each), 40) for each in findings])
        ax.axvline(0.0, color=NEUTRAL, linewidth=1.0, zorder=1)
        state = f"{label(account.node)} = {label(account.state)}"
        ax.set_xlabel(f"weight of evidence in log-odds:  ◄ against      for {state} ►")
        before, after = percent(account.prior[account.state]), percent(account.posterior[account.state])
        titled(ax, f"Why {state}: {after}, and {before} before the evidence?")
        bare(ax, "bottom", grid="x")


class DistributionDisplay(Display):
    """The probability of each state, or of each combination of states, as bars."""

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution

    def to_columns(self) -> dict[str, list[Any]]:
        """The states of each node, and their probability."""
        found = self.distribution
        keys = [key if isinstance(key, tuple) else (key,) for key in found]
        return {**{n: [key[k] for key in keys] for k, n in enumerate(found.nodes)}, "probability": list(found.values())}

    def size(self) -> tuple[float, float]:
        return 6.5, 1.2 + 0.34 * min(_MOST_BARS, max(2, len(self.distribution)))

    def draw(self, ax: Axes) -> None:
        kept = sorted(self.distribution.items(), key=lambda item: -item[1])[:_MOST_BARS]
        chosen = {key for key, _ in kept}
        bars = [(key, p) for key, p in self.distribution.items() if key in chosen]
        names = [label(", ".join(map(str, key)) if isinstance(key, tuple) else key, 40) for key, _ in bars]
        ax.barh(range(len(bars)), [p for _, p in bars], height=0.7, color=FOR, zorder=3)
        for y, (_, p) in enumerate(bars):
            note(ax, percent(p), (p, y), (4, 0), ha="left")
        ax.set_yticks(range(len(bars)), names)
        ax.set_ylim(len(bars) - 0.4, -0.6)
        ax.set_xlim(0.0, 1.14 * max((p for _, p in bars), default=1.0))
        ax.set_xlabel("probability")
        hidden = len(self.distribution) - len(bars)
        more = f" ({hidden:,} less probable ones are not drawn)" if hidden else ""
        titled(ax, f"P({', '.join(label(node) for node in self.distribution.nodes)}){more}")
        bare(ax, "left", grid="x")
