"""Points for a paper computer: read off each column's points, add them, read off the probability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayeswise.explanations.account import Account, Contribution
from bayeswise.explanations.alternatives import Alternatives, Explainable, alternatives_of, known_columns
from bayeswise.explanations.balance import value_text
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.normalise import probability_of
from bayeswise.tables.schema.labels import Label, find_state

if TYPE_CHECKING:
    from bayeswise.explanations.plots import NomogramDisplay

TOP_POINTS = 100.0


@dataclass(frozen=True)
class NomogramLine:
    """The values of a column by points; values that decide alone (infinite weight) stand apart."""

    column: str
    values: tuple[str, ...]
    points: tuple[float, ...]
    current: int | None  # the position of the case's own value
    decisive: tuple[str, ...] = ()

    @property
    def span(self) -> float:
        return self.points[-1] - self.points[0] if self.points else 0.0


@dataclass(frozen=True)
class Nomogram:
    """log-odds = log_odds_at_zero + log_odds_per_point x total points.

    The least favourable value of each column has 0 points, the widest column reaches 100. With more than two
    states it compares two of them; one against all others is not a sum over columns.

    >>> import numpy as np
    >>> case = Account(("yes", "no"), np.log([0.5, 0.5]), (Contribution("wind", "weak", np.log([0.6, 0.2])),))
    >>> storm = Contribution("wind", "strong", np.log([0.4, 0.8]))
    >>> nomogram = Nomogram.of(case, {"wind": [storm]}, "yes")
    >>> nomogram.lines[0].values, nomogram.lines[0].points, nomogram.total
    (('strong', 'weak'), (0.0, 100.0), 100.0)
    >>> round(nomogram.probability(100.0), 4), round(nomogram.probability(0.0), 4)
    (0.75, 0.3333)
    """

    state: Label
    against: Label
    lines: tuple[NomogramLine, ...]  # the widest first
    log_odds_at_zero: float
    log_odds_per_point: float
    complete: bool = True  # whether there is no third state

    @classmethod
    def of(
        cls,
        account: Account,
        alternatives: Alternatives,
        state: Label | None = None,
        against: Label | None = None,
    ) -> Nomogram:
        """From the case and what each of its columns could be instead."""
        known_columns(alternatives, account)
        state = account.most_probable if state is None else state
        against = account.rival_of(state) if against is None else against
        pair = find_state(state, account.states), find_state(against, account.states)
        if pair[0] == pair[1]:
            raise ParameterError(f"{state!r} has no points against itself", fix="name two different states")
        scales = [_scale(own, alternatives.get(own.column, ()), pair) for own in account.contributions]
        widest = max((scale[-1][1] - scale[0][1] for scale in map(_finite, scales) if scale), default=0.0)
        unit = widest / TOP_POINTS or 1.0
        lines = [_line(own.column, scale, unit) for own, scale in zip(account.contributions, scales, strict=True)]
        log_prior = account.log_prior
        lowest = [scale[0][1] for scale in map(_finite, scales) if scale]
        base = math.fsum([float(log_prior[pair[0]]), -float(log_prior[pair[1]]), *lowest])
        ordered = tuple(sorted(lines, key=lambda line: -line.span))
        return cls(state, against, ordered, base, unit, complete=len(account.states) == 2)

    @classmethod
    def of_model(
        cls, model: Explainable, row: Any, state: Label | None = None, against: Label | None = None
    ) -> Nomogram:
        """From a model and a row, beside what its columns could be instead."""
        account = model.explain(row)
        return cls.of(account, alternatives_of(model, account.columns), state, against)

    def plot(self, ax: Any = None, *, title: str = "", most_columns: int = 15) -> NomogramDisplay:
        """Draw the points as rulers to read off and add."""
        from bayeswise.explanations.plots import NomogramDisplay

        return NomogramDisplay(self, title=title, most_columns=most_columns).plot(ax)

    @property
    def total(self) -> float | None:
        """The points of the case itself; None if one of its values decides alone."""
        if any(line.current is None for line in self.lines):
            return None
        return math.fsum(line.points[line.current] for line in self.lines if line.current is not None)

    @property
    def most_points(self) -> float:
        return math.fsum(line.span for line in self.lines)

    def points(self, values: Mapping[str, Any]) -> float:
        """The total of some values, by column; a column that is not named counts as in the case."""
        known = [line.column for line in self.lines]
        given = {known[find_state(c, known, what="there is no column")]: v for c, v in values.items()}
        return math.fsum(_points_of(line, given) for line in self.lines)

    def log_odds(self, points: float) -> float:
        return self.log_odds_at_zero + self.log_odds_per_point * points

    def probability(self, points: float) -> float:
        """The probability of the state, of the two that are compared."""
        return float(probability_of(self.log_odds(points)))

    def points_for(self, probability: float) -> float:
        """How many points give that probability; may lie beyond what the columns can reach."""
        log_odds = math.log(probability) - math.log1p(-probability)
        return (log_odds - self.log_odds_at_zero) / self.log_odds_per_point


Scale = Sequence[tuple[str, float, bool]]  # value, log-likelihood ratio, whether it is the case's own


def _scale(own: Contribution, others: Sequence[Contribution], pair: tuple[int, int]) -> Scale:
    """Every value once, by its weight."""
    ratios: dict[str, tuple[str, float, bool]] = {}
    for contribution, is_own in [*((other, False) for other in others), (own, True)]:
        log_for, log_against = (float(contribution.log_likelihood[k]) for k in pair)
        if log_for == log_against == -math.inf:
            continue  # impossible in both states: it cannot be seen
        text = value_text(contribution.value)
        ratios[text] = (text, log_for - log_against, is_own)
    return sorted(ratios.values(), key=lambda entry: entry[1])


def _finite(scale: Scale) -> Scale:
    return [entry for entry in scale if math.isfinite(entry[1])]


def _line(column: str, scale: Scale, unit: float) -> NomogramLine:
    finite = _finite(scale)
    low = finite[0][1] if finite else 0.0
    current = next((k for k, (_, _, own) in enumerate(finite) if own), None)
    return NomogramLine(
        column,
        tuple(text for text, _, _ in finite),
        tuple((ratio - low) / unit for _, ratio, _ in finite),
        current,
        tuple(text for text, ratio, _ in scale if math.isinf(ratio)),
    )


def _points_of(line: NomogramLine, given: Mapping[str, Any]) -> float:
    if line.column in given:
        return line.points[
            find_state(value_text(given[line.column]), line.values, what=f"{line.column!r} has no value")
        ]
    if line.current is None:
        raise ParameterError(f"the case's value of {line.column!r} decides alone", fix="name another value for it")
    return line.points[line.current]
