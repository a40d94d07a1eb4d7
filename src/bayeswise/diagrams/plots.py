"""Pictures of a diagram: the graph, the risk profile of a policy, sensitivity to one entry, and tornado charts."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.render.display import Display, bare, headed, inches_across, label, letters_across, note, titled
from bayeswise.render.graph.picture import MOST_NODES, Bar, DrawnNode, Kind, Picture
from bayeswise.render.numbers import number, percent
from bayeswise.render.page import fragment, picture, text_block
from bayeswise.render.theme import AGAINST, FAINT, FOR, INK, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeswise.diagrams.analysis.risk import RiskProfile
    from bayeswise.diagrams.analysis.sensitivity import Sensitivity
    from bayeswise.diagrams.analysis.tornado import Bar as TornadoBar
    from bayeswise.diagrams.analysis.tornado import Tornado
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.solving.solution import Solution


_MOST_BARS = 60


class RiskDisplay(Display):
    """P(utility) as bars, or as the curve of P(at most) where there are many outcomes."""

    inches = (7.0, 4.0)

    def __init__(self, profile: RiskProfile, *, title: str = "Outcomes of the policy") -> None:
        self.profile = profile
        self.title = title

    def to_columns(self) -> dict[str, list[Any]]:
        """utility, probability, at_most."""
        return self.profile.to_columns()

    def draw(self, ax: Axes) -> None:
        if len(self.profile.values) <= _MOST_BARS:
            self._bars(ax)
        else:
            self._curve(ax)
        mean = self.profile.mean
        ax.axvline(mean, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
        note(ax, f"mean {number(mean)}", (mean, 1.0), (4, -2), xycoords=("data", "axes fraction"), ha="left", va="top")
        ax.set_xlabel("utility")
        loss = self.profile.probability_of_loss
        titled(ax, f"{self.title}\nprobability of a loss {number(loss, 3)}")
        bare(ax, "bottom", "left")

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
                note(ax, f"{number(value)}\n{number(p, 3)}", (value, p), (0, 3), va="bottom")
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


class SensitivityDisplay(Display):
    """The expected utility of the best policy at each value of the entry, and of the current policy."""

    def __init__(self, sensitivity: Sensitivity) -> None:
        self.sensitivity = sensitivity

    def to_columns(self) -> dict[str, list[Any]]:
        """from, to, utility_from, utility_to, policy."""
        return self.sensitivity.to_columns()

    def draw(self, ax: Axes) -> None:
        curve = self.sensitivity
        places = np.unique([*np.linspace(curve.low, curve.high, 201), curve.entry.value, *curve.thresholds])
        places = places[(places >= curve.low) & (places <= curve.high)]
        best = [curve.utility_at(t) for t in places.tolist()]
        kept = [curve.kept_at(t) for t in places.tolist()]
        ax.plot(places, kept, color=NEUTRAL, linewidth=1.2, linestyle=(0, (4, 3)), label="current policy")
        ax.plot(places, best, color=FOR, linewidth=2.0, label="best policy")
        line, before = 0, -np.inf
        for threshold in curve.thresholds:
            line = line + 1 if threshold - before < 0.1 * (curve.high - curve.low) else 0
            before = threshold
            ax.axvline(threshold, color=NEUTRAL, linewidth=0.8)
            place = {"xycoords": ("data", "axes fraction"), "ha": "left", "va": "top"}
            note(ax, number(threshold), (threshold, 1.0), (3, -2 - 12 * line), **place)
        if curve.low <= curve.entry.value <= curve.high:
            now, utility = curve.entry.value, curve.utility_at(curve.entry.value)
            ax.plot([now], [utility], "o", color=INK, markersize=5, label=f"now {number(now)}")
        ax.set_xlabel(label(str(curve.entry), 80))
        ax.set_ylabel("expected utility")
        headed(ax, "Where the best policy changes", right=True)
        bare(ax, "bottom", "left")


class TornadoDisplay(Display):
    """How far the maximum expected utility changes as each entry varies within its range."""

    def __init__(self, tornado: Tornado, *, most_bars: int = 15, title: str = "What the utility depends on") -> None:
        self.tornado = tornado
        self.most_bars = most_bars
        self.title = title

    def to_columns(self) -> dict[str, list[Any]]:
        """entry, value, low, high, utility_low, utility_high, width, policy_changes."""
        return self.tornado.to_columns()

    def size(self) -> tuple[float, float]:
        return 8.5, 1.5 + 0.36 * max(1, len(self.bars()))

    def draw(self, ax: Axes) -> None:
        bars = self.bars()
        for y, bar in enumerate(bars):
            self._bar(ax, y, bar)
        ax.axvline(self.tornado.utility, color=INK, linewidth=1.0, zorder=4)
        ends = [end for bar in bars for end in (bar.utility_low, bar.utility_high)] or [self.tornado.utility]
        span = (max(ends) - min(ends)) or 1.0
        ax.set_xlim(min(ends) - 0.12 * span, max(ends) + 0.12 * span)
        ax.set_ylim(len(bars) - 0.4, -0.6)
        room = max(18, letters_across(inches_across(ax)) // 2)
        names = [textwrap.wrap(label(str(bar.entry), 56), room) for bar in bars]
        size = "medium" if all(len(lines) == 1 for lines in names) else "x-small"
        ax.set_yticks(range(len(bars)), ["\n".join(lines) for lines in names], fontsize=size)
        ax.set_xlabel(f"best expected utility (now {number(self.tornado.utility)})")
        changing = any(bar.changes for bar in bars)
        caption = "\norange: another policy becomes better at one of the ends" if changing else ""
        titled(ax, f"{self.title}{caption}", inches=0.55 * inches_across(ax))
        bare(ax, "bottom")
        ax.tick_params(axis="y", length=0)

    def bars(self) -> list[TornadoBar]:
        """The widest bars, of entries with an effect."""
        return [bar for bar in self.tornado.bars if bar.width > 0.0][: self.most_bars]

    def _bar(self, ax: Axes, y: int, bar: TornadoBar) -> None:
        ax.axhline(y, color=FAINT, linewidth=0.5, zorder=0)
        start, end = sorted((bar.utility_low, bar.utility_high))
        ax.barh(y, end - start, left=start, height=0.62, color=AGAINST if bar.changes else FOR, zorder=3)
        for utility, value in ((bar.utility_low, bar.low), (bar.utility_high, bar.high)):
            right = utility == end
            note(ax, number(value, 3), (utility, y), (3 if right else -3, 0), ha="left" if right else "right")


def picture_of(diagram: InfluenceDiagram, solution: Solution | None = None, title: str = "") -> Picture:
    """The nodes with their states; with a solution the beliefs, the options and the expected utilities."""
    nodes = [_inner(diagram, name, solution) for name in diagram.names]
    nodes += [_utility(name, solution) for name in diagram.utilities]
    known = [(node, name) for name in diagram.decisions for node in diagram.parents(name)]
    edges = [(parent, name) for name in diagram if name not in diagram.decisions for parent in diagram.parents(name)]
    return Picture.of(nodes, [*edges, *known], dashed=known, title=title)


def _inner(diagram: InfluenceDiagram, name: str, solution: Solution | None) -> DrawnNode:
    kind = Kind.decision if name in diagram.decisions else Kind.chance
    if solution is None:
        return DrawnNode(name, kind=kind, notes=(", ".join(map(str, diagram.states(name)[:8])),))
    seen = solution.evidence
    bars = tuple(
        Bar(str(state), p, percent(p), name in seen and state == seen[name])
        for state, p in solution.query(name).items()
    )
    return DrawnNode(name, bars, kind=kind, marked=name in seen)


def _utility(name: str, solution: Solution | None) -> DrawnNode:
    notes = (number(solution.parts[name]),) if solution is not None else ()
    return DrawnNode(name, kind=Kind.utility, notes=notes)


def notebook_html(diagram: InfluenceDiagram, solution: Solution | None = None) -> str:
    """What a notebook shows: the picture if it is legible, and the answer as text."""
    text = text_block(str(solution) if solution is not None else repr(diagram))
    if len(diagram) > MOST_NODES:
        return fragment(text)
    return fragment(picture(picture_of(diagram, solution).svg()), text if solution is not None else "")
