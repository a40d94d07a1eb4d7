"""The maximum expected utility as a function of one entry of the tables, and where the best policy changes.

Under a fixed policy sum P(path, evidence) utility is linear in one entry, so its maximum over policies is convex and
piecewise linear. The pieces are found exactly: where the lines of two policies cross, either a better policy is found
or there is none between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bayeswise.diagrams.analysis.entries import Entry, WeightEntry, entry_of
from bayeswise.diagrams.solving.policy import Policy
from bayeswise.diagrams.solving.solution import Solution, policies_of
from bayeswise.diagrams.solving.solve import evidence_codes, policy_tables, solver_for
from bayeswise.diagrams.solving.solver import Outcome
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.plots import SensitivityDisplay

_CLOSE = 1e-14  # of the largest sums at both ends of the range
_APART = 1e-12  # of the range: closer thresholds are merged
_MOST_PIECES = 1_000


@dataclass(frozen=True)
class Line:
    """start + slope * t: the expected utility of a policy, times P(evidence) relative to its current value."""

    start: float
    slope: float

    def at(self, t: float) -> float:
        return self.start + self.slope * t


@dataclass(frozen=True)
class Piece:
    """The range in which one policy is best, and its rules."""

    low: float
    high: float
    line: Line
    rules: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Sensitivity(Tabular):
    """The pieces from the lowest to the highest value of the entry, and its current value."""

    entry: Entry | WeightEntry
    pieces: tuple[Piece, ...]
    evidence: Line  # P(evidence) as the entry varies, relative to its current value
    kept: Line  # of the currently best policy
    in_money: Callable[[float], float] = float  # from the unit of the lines: the sum, or its utility

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The values of the entry at which the best policy changes."""
        return tuple(piece.low for piece in self.pieces[1:])

    @property
    def low(self) -> float:
        """The lowest value of the range."""
        return self.pieces[0].low

    @property
    def high(self) -> float:
        """The highest value of the range."""
        return self.pieces[-1].high

    def utility_at(self, value: float) -> float:
        """The maximum expected utility if the entry had this value."""
        return self._given_evidence(max(piece.line.at(value) for piece in self.pieces), value)

    def kept_at(self, value: float) -> float:
        """The expected utility of the current policy if the entry had this value."""
        return self._given_evidence(self.kept.at(value), value)

    def _given_evidence(self, sum_of_all: float, value: float) -> float:
        if not self.low <= value <= self.high:
            raise ParameterError(f"{value:g} lies outside of {self.low:g} to {self.high:g}", fix="widen low and high")
        probability = self.evidence.at(value)
        return self.in_money(sum_of_all / probability) if probability > 0.0 else math.nan

    def to_columns(self) -> dict[str, list[Any]]:
        """from, to, the utility at both ends, and the policy between."""
        return {
            "from": [piece.low for piece in self.pieces],
            "to": [piece.high for piece in self.pieces],
            "utility_from": [self.utility_at(piece.low) for piece in self.pieces],
            "utility_to": [self.utility_at(piece.high) for piece in self.pieces],
            "policy": ["; ".join(piece.rules) for piece in self.pieces],
        }

    def plot(self, ax: Any = None) -> SensitivityDisplay:
        """Draw it into the axes, or into a new figure."""
        from bayeswise.diagrams.plots import SensitivityDisplay

        return SensitivityDisplay(self).plot(ax)

    def __str__(self) -> str:
        lines = [f"{self.entry} is {number(self.entry.value, 6)}"]
        for piece in self.pieces:
            lines.append(f"from {number(piece.low, 6)} to {number(piece.high, 6)}: {'; '.join(piece.rules)}")
        return "\n".join(lines)


def sensitivity(
    diagram: InfluenceDiagram,
    node: str,
    state: Any = None,
    *,
    given: Mapping[str, Any] | None = None,
    low: float | None = None,
    high: float | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Sensitivity:
    """The maximum expected utility as a function of one entry of a table, and where the best policy changes.

    A probability varies from 0 to 1 by default, a utility from 0 to twice its value.
    """
    entry = entry_of(diagram, node, state, given)
    if entry.is_utility and diagram.attitude is not None:
        raise ParameterError(
            f"under an attitude to risk the utility is not piecewise linear in {entry}",
            fix="choose a probability, use tornado(), or with_attitude(None)",
        )
    bottom, top = _range(entry, low, high)
    return _pieces(diagram, entry, bottom, top, evidence)


def weight_sensitivity(
    diagram: InfluenceDiagram,
    attribute: str,
    *,
    low: float | None = None,
    high: float | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Sensitivity:
    """The maximum total as a function of one weight, and where the best policy changes.

    The weight varies from 0 to the sum of all by default; the others keep their proportions, and the sum of all weights
    stays.
    """
    weights = {name: each.weight for name, each in diagram.attributes.items()}
    diagram._weighing.attribute(attribute)
    if len(weights) == 1:
        raise ParameterError(
            f"{attribute!r} is the only attribute, so that its weight changes no policy", fix="add one"
        )
    if diagram.attitude is not None:
        raise ParameterError(
            f"under an attitude to risk the utility is not piecewise linear in the weight of {attribute!r}",
            fix="use with_attitude(None), or solve with_weights(...) at some values",
        )
    entry, total = WeightEntry(attribute, weights[attribute]), math.fsum(weights.values())
    bottom, top = 0.0 if low is None else float(low), total if high is None else float(high)
    if not 0.0 <= bottom < top <= total:
        raise ParameterError(f"the {entry} cannot go from {bottom:g} to {top:g}", fix=f"stay from 0 to {total:g}")
    return _pieces(diagram, entry, bottom, top, evidence)


def _pieces(
    diagram: InfluenceDiagram,
    entry: Entry | WeightEntry,
    bottom: float,
    top: float,
    evidence: Mapping[str, Any] | None,
) -> Sensitivity:
    """The linear pieces of the maximum expected utility, and the policy that is best in each."""
    now = diagram.solve(evidence, exact=True)
    varied = Varied(diagram, entry, now, bottom, top)
    lines = varied.envelope()
    corners = _corners(lines, bottom, top)
    pieces = [
        Piece(a, b, _highest(lines, (a + b) / 2), tuple(varied.solution((a + b) / 2).in_words()))
        for a, b in pairwise(corners)
    ]
    if not pieces:
        pieces = [Piece(bottom, top, lines[0], tuple(varied.solution(bottom).in_words()))]
    return Sensitivity(entry, tuple(pieces), varied.evidence_line(), varied.line(now.policies), varied.in_money)


def _range(entry: Entry, low: float | None, high: float | None) -> tuple[float, float]:
    if entry.is_utility:
        bottom = entry.value - abs(entry.value) if low is None else float(low)
        top = entry.value + abs(entry.value) if high is None else float(high)
    else:
        bottom, top = (0.0 if low is None else float(low)), (1.0 if high is None else float(high))
        if not 0.0 <= bottom <= top <= 1.0:
            raise ParameterError(f"{entry} cannot go from {bottom:g} to {top:g}", fix="stay from 0 to 1")
    if not (math.isfinite(bottom) and math.isfinite(top) and bottom < top):
        raise ParameterError(f"{entry} cannot go from {bottom:g} to {top:g}", fix="give low=... and high=... above it")
    return bottom, top


class Varied:
    """A diagram in which one entry varies; the rest, and the evidence, stay."""

    def __init__(
        self, diagram: InfluenceDiagram, entry: Entry | WeightEntry, now: Solution, low: float, high: float
    ) -> None:
        self.diagram, self.entry, self.now, self.low, self.high = diagram, entry, now, low, high
        self._codes = evidence_codes(diagram, now.evidence)
        self._places = {diagram.place(name): code for name, code in self._codes.items()}

    def solution(self, value: float) -> Solution:
        """The best policies with another value of the entry."""
        changed = self.entry.changed(self.diagram, value)
        if not self._is_plain:
            return changed.solve(self.now.evidence)
        return Solution(changed, self.now.evidence, self._outcome(value, {}), {})

    def total(self, policies: Mapping[str, Policy], value: float) -> tuple[float, float]:
        """Utility under policies times P(evidence), and P(evidence), both relative to the current P(evidence)."""
        outcome = self._outcome(value, policies)
        probability = math.exp(outcome.log_evidence - self.now.log_evidence)
        return outcome.utility * probability, probability

    def line(self, policies: Mapping[str, Policy]) -> Line:
        """The line of policies, through its two ends."""
        return _through(self.low, self.total(policies, self.low)[0], self.high, self.total(policies, self.high)[0])

    def evidence_line(self) -> Line:
        """P(evidence), which no policy changes."""
        first, last = (self.total(self.now.policies, end)[1] for end in (self.low, self.high))
        return _through(self.low, first, self.high, last)

    def best(self, value: float) -> Line:
        """The line of a policy that is best at this value."""
        return self.line(policies_of(self.diagram, self._outcome(value, {}), {}))

    def best_total(self, value: float) -> float:
        """The maximum expected utility at this value times P(evidence)."""
        outcome = self._outcome(value, {})
        return outcome.utility * math.exp(outcome.log_evidence - self.now.log_evidence)

    @property
    def _is_plain(self) -> bool:
        """Whether the solver can be run for other numbers as it is."""
        return self.diagram.attitude is None and not self.diagram.forgets

    def in_money(self, utility: float) -> float:
        """The certainty equivalent of an expected utility, which is linear in a probability."""
        attitude = self.diagram.attitude
        return utility if attitude is None else float(attitude.inverse(utility, self.now.utility))

    def _outcome(self, value: float, policies: Mapping[str, Policy]) -> Outcome:
        if not self._is_plain:
            outcome = self.entry.changed(self.diagram, value).solve(self.now.evidence, policies=policies).outcome
            attitude = self.diagram.attitude
            total = outcome.utility
            return outcome._replace(
                utility=total if attitude is None else float(attitude.utility(total, self.now.utility))
            )
        solver = solver_for(self.diagram, self._codes, policies)
        return solver.run(self.entry.moved(self.diagram, value), self._places, policy_tables(self.diagram, policies))

    def envelope(self) -> list[Line]:
        """The lines whose maximum is the maximum expected utility, in the order of the entry's values."""
        return envelope(self.best, self.low, self.high)


def envelope(best: Callable[[float], Line], low: float, high: float) -> list[Line]:
    """The lines of a convex piecewise linear function, from `best`, which gives a highest line at a point.

    >>> lines = [Line(0.0, 0.0), Line(-1.0, 3.0), Line(-4.0, 7.0)]
    >>> envelope(lambda t: max(lines, key=lambda line: line.at(t)), 0.0, 1.0) == lines
    True
    """
    first, last = best(low), best(high)
    size = max(abs(line.at(t)) for line in (first, last) for t in (low, high))
    lines = [first]
    waiting = [(low, first, high, last)]
    while waiting:
        a, left, b, right = waiting.pop()
        cross = _crossing(left, right)
        if cross is None or not a < cross < b or len(lines) > _MOST_PIECES:
            lines.append(right)
            continue
        middle = best(cross)
        if middle.at(cross) <= left.at(cross) + _CLOSE * size:
            lines.append(right)
            continue
        waiting += [(cross, middle, b, right), (a, left, cross, middle)]
    return [line for k, line in enumerate(lines) if k == 0 or line != lines[k - 1]]


def _crossing(left: Line, right: Line) -> float | None:
    slope = right.slope - left.slope
    return (left.start - right.start) / slope if slope > 0.0 else None


def _through(a: float, at_a: float, b: float, at_b: float) -> Line:
    slope = (at_b - at_a) / (b - a)
    return Line(at_a - slope * a, slope)


def _highest(lines: list[Line], value: float) -> Line:
    return max(lines, key=lambda line: line.at(value))


def _corners(lines: list[Line], low: float, high: float) -> list[float]:
    """Both ends, and between them the points where the highest line changes."""
    corners = [low]
    for left, right in pairwise(lines):
        cross = _crossing(left, right)
        if cross is not None and corners[-1] + _APART * (high - low) < cross < high - _APART * (high - low):
            corners.append(cross)
    return [*corners, high]
