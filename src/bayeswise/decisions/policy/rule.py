"""The policy in words: which action for which posterior, with exact thresholds where there are two states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.policy.envelope import lower_envelope
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, ParameterError, PriorError
from bayeswise.render.labels import shown
from bayeswise.render.numbers import decimal_text, exact
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, label_key, label_of

if TYPE_CHECKING:
    from bayeswise.decisions.plots import ExpectedCostDisplay, SimplexDisplay


@dataclass(frozen=True)
class Piece:
    """Where one action is taken: from `low` to `high` of P(first state), each end inside it or not."""

    action: Label
    low: Fraction
    high: Fraction
    low_inside: bool
    high_inside: bool

    def __contains__(self, p: Fraction) -> bool:
        above = p > self.low or (self.low_inside and p == self.low)
        return above and (p < self.high or (self.high_inside and p == self.high))


@dataclass(frozen=True)
class Rule(Tabular):
    """The pieces of [0, 1] for two states, from the highest probability down; none for more states."""

    costs: Costs
    pieces: tuple[Piece, ...]

    @property
    def thresholds(self) -> tuple[Fraction, ...]:
        """The probabilities of the first state at which the action changes, from the highest down."""
        return tuple(piece.low for piece in self.pieces[:-1])

    def action_at(self, probability: Any) -> Label:
        """The action for one probability of the first state, without rounding."""
        self._two_states()
        p = exact(probability, "the probability")
        if not 0 <= p <= 1:
            raise ParameterError(f"the probability is {probability}", fix="give a number from 0 to 1")
        return next(piece.action for piece in self.pieces if p in piece)

    def likelihood_ratio(self, prior: Mapping[Any, Any]) -> str:
        """The same rule on p(row | first) / p(row | second): each threshold t becomes t / (1 - t) * prior2 / prior1.

        For two actions this is the ratio of (l12 - l22) / (l21 - l11) times the odds of the priors; where one of the
        differences is not positive there is no such threshold, and the pieces say so.

        >>> rule({"C1": {"C1": 0, "C2": 8}, "C2": {"C1": 2, "C2": 1}}).likelihood_ratio({"C1": 0.25, "C2": 0.75})
        'C1 if p(row | C1) / p(row | C2) >= 10.5, else C2'
        """
        first, second = self._two_states()
        given = {label_of(state): exact(p, f"the prior of {state!r}", PriorError) for state, p in prior.items()}
        if set(given) != {first, second} or min(given.values()) <= 0:
            raise PriorError(
                f"the prior must have {first!r} and {second!r}, both above 0; found {dict(prior)}",
                fix="name both states",
            )
        odds = given[second] / given[first]

        def text(p: Fraction) -> str:
            return "infinity" if p == 1 else decimal_text(p / (1 - p) * odds, 4)

        return _words(self.pieces, f"p(row | {shown(first)}) / p(row | {shown(second)})", text)

    def _two_states(self) -> tuple[Label, Label]:
        if len(self.costs.states) != 2:
            raise CostError(
                f"thresholds need two states; there are {len(self.costs.states)}", fix="print the rule, or decide"
            )
        return self.costs.states[0], self.costs.states[1]

    def to_columns(self) -> dict[str, list[Any]]:
        """action, from, to of each piece."""
        return {
            "action": [piece.action for piece in self.pieces],
            "from": [float(piece.low) for piece in self.pieces],
            "to": [float(piece.high) for piece in self.pieces],
        }

    def display(self, posterior: Any = None) -> ExpectedCostDisplay | SimplexDisplay:
        """Lines over two states, a triangle of three; `posterior` (n_rows, n_states) are rows to mark in it."""
        from bayeswise.decisions.plots import ExpectedCostDisplay, SimplexDisplay

        if len(self.costs.states) == 2:
            return ExpectedCostDisplay(self, posterior=posterior)
        return SimplexDisplay(self.costs, posterior=posterior)

    def plot(self, ax: Any = None, *, posterior: Any = None) -> ExpectedCostDisplay | SimplexDisplay:
        """Draw which action is best at which posterior, for two or three states."""
        return self.display(posterior).plot(ax)

    def __str__(self) -> str:
        if len(self.costs.states) == 2:
            return _words(self.pieces, f"P({shown(self.costs.states[0])})", lambda p: decimal_text(p, 4))
        if len(self.costs.states) == 1:
            return f"always {shown(self.costs.actions[int(np.argmin(self.costs.table[:, 0]))])}"
        return _many_states(self.costs)

    def __repr__(self) -> str:
        return f"Rule({self})"


def rule(costs: Any, *, row: Mapping[str, Any] | None = None) -> Rule:
    """The policy that the costs make; formulas need the `row` they are about.

    >>> print(rule({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}))
    bin if P(spam) >= 0.95, keep if P(spam) <= 0.5, else ask
    >>> print(rule(Costs.binary(positive="fire", negative="none", false_positive=1, false_negative=99)))
    fire if P(fire) >= 0.01, else none
    >>> print(rule(Costs.zero_one(["a", "b", "c"]).with_reject(0.2)))
    the most probable state if its probability is >= 0.8, else reject
    """
    table = Costs.of(costs)
    if not table.constant:
        if row is None:
            raise CostError(
                f"the costs depend on the columns {', '.join(map(repr, table.columns))}",
                fix="give row={column: value} to see the rule of one row",
            )
        table = table.for_row(row)
    return Rule(table, _pieces(table) if len(table.states) == 2 else ())


def _pieces(costs: Costs) -> tuple[Piece, ...]:
    """The lower envelope of lines over P(first state), in fractions, from 1 down to 0."""
    lines = [(exact(first, "cost"), exact(second, "cost")) for first, second in costs.table.tolist()]
    pieces: list[Piece] = []
    for each in lower_envelope(lines):
        action, point = costs.actions[each.line], each.low == each.high
        if pieces and pieces[-1].action == action:
            last = pieces.pop()
            pieces.append(Piece(action, last.low, each.high, last.low_inside, point))
        else:
            pieces.append(Piece(action, each.low, each.high, point, point))
    return tuple(reversed(pieces))


def _words(pieces: Sequence[Piece], what: str, text: Any) -> str:
    if len(pieces) == 1:
        return f"always {shown(pieces[0].action)}"
    top, *middle, bottom = pieces
    said = [f"{shown(top.action)} if {what} {'>=' if top.low_inside else '>'} {text(top.low)}"]
    if not middle:
        return f"{said[0]}, else {shown(bottom.action)}"
    if len(middle) > 1:
        said += [_between(piece, what, text) for piece in middle]
        return ", ".join([*said, f"else {shown(bottom.action)}"])
    said.append(f"{shown(bottom.action)} if {what} {'<=' if bottom.high_inside else '<'} {text(bottom.high)}")
    return ", ".join([*said, f"else {shown(middle[0].action)}"])


def _between(piece: Piece, what: str, text: Any) -> str:
    if piece.low == piece.high:
        return f"{shown(piece.action)} if {what} = {text(piece.low)}"
    return f"{shown(piece.action)} if {what} {'>=' if piece.low_inside else '>'} {text(piece.low)}"


def _many_states(costs: Costs) -> str:
    refusing = _reject_cost(costs)
    if refusing is not None:
        name, cost, first = refusing
        sign = ">" if first else ">="
        return f"the most probable state if its probability is {sign} {decimal_text(1 - cost, 4)}, else {shown(name)}"
    if _is_zero_one(costs, costs.actions):
        return "the most probable state"
    lines = [f"  {shown(action)}: {_sum_text(costs, k)}" for k, action in enumerate(costs.actions)]
    return "\n".join(["the action of least expected cost:", *lines])


def _sum_text(costs: Costs, k: int) -> str:
    row = costs.table[k].tolist()
    if len(set(row)) == 1:
        return f"{row[0]:g}"
    terms = [f"{cell:g} P({shown(state)})" for state, cell in zip(costs.states, row, strict=True) if cell]
    return " + ".join(terms).replace("+ -", "- ")


def _is_zero_one(costs: Costs, actions: Sequence[Label]) -> bool:
    known = {label_key(action): k for k, action in enumerate(costs.actions)}
    states = [label_key(state) for state in costs.states]
    if {label_key(action) for action in actions} != set(states) or len(actions) != len(states):
        return False
    return np.array_equal(costs.table[[known[key] for key in states]], 1.0 - np.eye(len(states)))


def _reject_cost(costs: Costs) -> tuple[Label, Fraction, bool] | None:
    """The refusing action, its cost and whether it is the first, where all else is 0-1 loss."""
    states = {label_key(state) for state in costs.states}
    others = [action for action in costs.actions if label_key(action) not in states]
    if len(others) != 1 or not _is_zero_one(costs, [a for a in costs.actions if a != others[0]]):
        return None
    row = costs.table[costs.action(others[0])]
    first = costs.actions[0] == others[0]
    return (others[0], exact(float(row[0]), "cost"), first) if (row == row[0]).all() else None
