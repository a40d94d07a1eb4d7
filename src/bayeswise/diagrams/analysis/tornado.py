"""Tornado charts, one-way sensitivity: the utility as each entry varies within its range, the others fixed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayeswise.diagrams.analysis.entries import Entry, entries
from bayeswise.diagrams.analysis.sensitivity import Varied
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.labels import refuse_unknown
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.plots import TornadoDisplay

_CLOSE = 1e-10  # of the largest utilities


@dataclass(frozen=True)
class Bar:
    """One entry: its range, the maximum expected utility at both ends, and that of the currently best policy."""

    entry: Entry
    low: float
    high: float
    utility_low: float
    utility_high: float
    kept_low: float
    kept_high: float
    changes: bool  # whether another policy becomes better at one of the ends

    @property
    def width(self) -> float:
        """The difference of the utilities at both ends."""
        return abs(self.utility_high - self.utility_low)


@dataclass(frozen=True, eq=False)
class Tornado(Tabular):
    """The bars, the widest first, around the current utility."""

    utility: float
    bars: tuple[Bar, ...]

    def __len__(self) -> int:
        return len(self.bars)

    def to_columns(self) -> dict[str, list[Any]]:
        """entry, value, low, high, the maximum utility at both ends, its width, and whether the policy changes."""
        return {
            "entry": [str(bar.entry) for bar in self.bars],
            "value": [bar.entry.value for bar in self.bars],
            "low": [bar.low for bar in self.bars],
            "high": [bar.high for bar in self.bars],
            "utility_low": [bar.utility_low for bar in self.bars],
            "utility_high": [bar.utility_high for bar in self.bars],
            "width": [bar.width for bar in self.bars],
            "policy_changes": [bar.changes for bar in self.bars],
        }

    def plot(self, ax: Any = None) -> TornadoDisplay:
        """Draw it into the axes, or into a new figure."""
        from bayeswise.diagrams.plots import TornadoDisplay

        return TornadoDisplay(self).plot(ax)

    def __repr__(self) -> str:
        widest = f"; {self.bars[0].entry} moves it by {number(self.bars[0].width)}" if self.bars else ""
        return f"Tornado({len(self)} entries around {number(self.utility, 6)}{widest})"


def tornado(
    diagram: InfluenceDiagram,
    spread: float = 0.1,
    *,
    nodes: Iterable[str] | None = None,
    ranges: Mapping[Any, tuple[float, float]] | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Tornado:
    """The maximum expected utility as each entry of the tables varies within its range, the widest bar first.

    An entry varies by a share of itself to both sides, or within the range that is given under its name. Probabilities
    of 0 and 1 are part of the structure, and stay unless a range is given.
    """
    if not 0.0 <= spread <= 1.0:
        raise ParameterError(f"the spread is {spread}", fix="give a share of each entry from 0 to 1")
    now = diagram.solve(evidence, exact=True)
    all_entries = {str(entry): entry for entry in entries(diagram, None if nodes is None else list(nodes))}
    selected = _ranges(all_entries, spread, ranges or {})
    bars = []
    for entry, (low, high) in selected:
        varied = Varied(diagram, entry, now, low, high)
        (best_low, kept_low), (best_high, kept_high) = (_at(varied, end) for end in (low, high))
        size = max(abs(now.utility), abs(best_low), abs(best_high))
        changes = max(best_low - kept_low, best_high - kept_high) > _CLOSE * size
        bars.append(Bar(entry, low, high, best_low, best_high, kept_low, kept_high, changes))
    return Tornado(now.utility, tuple(sorted(bars, key=lambda bar: -bar.width)))


def _at(varied: Varied, value: float) -> tuple[float, float]:
    """The maximum expected utility at a value of the entry, and that of the currently best policy."""
    kept, probability = varied.total(varied.now.policies, value)
    if probability == 0.0:
        raise ParameterError(f"{varied.entry} = {value:g} makes the evidence impossible", fix="narrow its range")
    return varied.in_money(varied.best_total(value) / probability), varied.in_money(kept / probability)


def _ranges(
    known: Mapping[str, Entry], spread: float, given: Mapping[Any, tuple[float, float]]
) -> list[tuple[Entry, tuple[float, float]]]:
    for name, (low, high) in given.items():
        refuse_unknown(name, known, "the tables have no entry")
        is_probability = not known[name].is_utility
        if not low <= high or (is_probability and not 0.0 <= low <= high <= 1.0):
            raise ParameterError(f"{name} cannot go from {low:g} to {high:g}", fix="give the lower end first")
    ranges_by_entry = []
    for name, entry in known.items():
        step = 0.0 if not entry.is_utility and entry.value == 1.0 else spread * abs(entry.value)
        low, high = given.get(name, (entry.value - step, entry.value + step))
        if not entry.is_utility:
            low, high = max(0.0, low), min(1.0, high)
        if low < high:
            ranges_by_entry.append((entry, (float(low), float(high))))
    return ranges_by_entry
