"""The border of cost tables: names, cells and errors that say which cell is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from bayeswise.decisions.costs.expressions import Expression
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError, SchemaError, row_number
from bayeswise.render.labels import closest, guess, shown, with_article
from bayeswise.tables.schema.labels import Label, label_key, label_of

Cell: TypeAlias = float | Expression


def position_of(label: Any, among: tuple[Label, ...], what: str) -> int:
    """The position of a label, or an error that guesses what was meant."""
    for k, known in enumerate(among):
        if label == known and isinstance(label, str) == isinstance(known, str):
            return k
    raise CostError(f"{what} {label!r}", fix=guess(label, among))


def false_alarms(costs: Any, false_positive: Any, false_negative: Any, states: Sequence[Any] | None) -> Any:
    """The table of two states that are their own actions, the positive one first."""
    if costs is not None or false_positive is None or false_negative is None or states is None or len(states) != 2:
        raise CostError(
            "cFP and cFN go together, with two states and no other table",
            fix="write Costs(cFP=1, cFN=9, states=[POSITIVE, NEGATIVE])",
        )
    positive, negative = states
    return {positive: {positive: 0.0, negative: false_positive}, negative: {positive: false_negative, negative: 0.0}}


def by_action(costs: Mapping[Any, Any]) -> dict[Label, Any]:
    """What each action costs, as it was given, by its name as a label."""
    if not costs:
        raise CostError("there is no action", fix="write {action: {state: cost}}")
    labels = [named(action, "action") for action in costs]
    check_distinct(labels, "action")
    return dict(zip(labels, costs.values(), strict=True))


def named(value: Any, what: str) -> Label:
    """A name of an action or a state as a label."""
    try:
        return label_of(value)
    except SchemaError as error:
        which = f"the name of {with_article(what)}"
        raise CostError(f"{which} is unusable: {error.what}", fix="use a text or a number") from None


def check_distinct(labels: Sequence[Label], what: str) -> None:
    """Refuse a name that stands twice."""
    seen: set[Any] = set()
    for label in labels:
        if label_key(label) in seen:
            raise CostError(f"the {what} {label!r} is named twice", fix=f"name each {what} once")
        seen.add(label_key(label))


_LONGEST_UNIT = 20


def checked_unit(unit: Any) -> str | None:
    """A short word for what costs are counted in, or none.

    >>> checked_unit(" EUR "), checked_unit(None)
    ('EUR', None)
    """
    if unit is None:
        return None
    word = unit.strip() if isinstance(unit, str) else ""
    if not (word and word.isprintable() and len(word) <= _LONGEST_UNIT):
        raise CostError(f"the unit of costs is a short word; found {shown(unit)}", fix='write unit = "EUR"')
    return word


def states_named(given_actions: Mapping[Label, Any], given: Sequence[Any] | None) -> tuple[Label, ...]:
    """The states, as given or in the order in which actions name them."""
    if given is not None:
        states = tuple(named(state, "state") for state in given)
        check_distinct(states, "state")
    else:
        all_named = (state for entries in given_actions.values() if isinstance(entries, Mapping) for state in entries)
        by_key = {label_key(label): label for label in (named(state, "state") for state in all_named)}
        states = tuple(by_key.values())
    if not states:
        raise CostError("no action has costs by state", fix="write {action: {state: cost}}, or give states=[...]")
    return states


def cells_of(action: Label, entries: Any, states: tuple[Label, ...]) -> tuple[Cell, ...]:
    """The costs of an action in every state: a number or a formula each."""
    if not isinstance(entries, Mapping):
        cell = _cell(action, None, entries)
        return (cell,) * len(states)
    by_key = {label_key(named(state, "state")): value for state, value in entries.items()}
    known = {label_key(state) for state in states}
    for state in entries:
        if label_key(label_of(state)) not in known:
            raise CostError(f"the action {action!r} names the unknown state {state!r}", fix=guess(state, states))
    for state in states:
        if label_key(state) not in by_key:
            alike = closest(state, entries)
            fix = f"add {state!r}: COST to {action!r}"
            if alike is not None:
                fix = f"write {alike!r} and {state!r} alike if they are one state, else {fix}"
            raise CostError(f"the action {action!r} has no cost in state {state!r}", fix=fix)
    return tuple(_cell(action, state, by_key[label_key(state)]) for state in states)


def _cell(action: Label, state: Label | None, value: Any) -> Cell:
    where = f"the cost of {action!r}" + ("" if state is None else f" in state {state!r}")
    if isinstance(value, Expression):
        return value if value.names else _finite(where, float(value.values({})))
    if isinstance(value, str):
        try:
            formula = Expression.parse(value)
        except CostError as error:
            raise CostError(f"{where}: {error.what}", fix=error.fix) from None
        return formula if formula.names else _finite(where, float(formula.values({})))
    number = plain_number(value)
    if number is None:
        found = "an empty cell" if value is None else shown(value, 40)
        raise CostError(f"{where} must be a number; found {found}", fix="write a number or a formula there")
    return _finite(where, number)


def plain_number(value: Any) -> float | None:
    """A number as a float; None for what is not a number (flags are none), or too large for a float."""
    if isinstance(value, bool | np.bool_ | str):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _finite(where: str, number: float) -> float:
    if not math.isfinite(number):
        instead = "a number or a formula there" if math.isnan(number) else "a large number for what must not happen"
        raise CostError(f"{where} must be finite; found {number}", fix=f"write {instead}")
    return number + 0.0


def cell_values(action: Label, state: Label, cell: Cell, columns: Mapping[str, FloatArray], n_rows: int) -> Any:
    """A number, or (n_rows,) what the formula of the cell gives for each row; all finite."""
    if not isinstance(cell, Expression):
        return cell
    values = np.broadcast_to(cell.values(columns), (n_rows,))
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        given = {name: float(columns[name][row]) for name in cell.names}
        raise RowCostError(f"the cost of {action!r} in state {state!r}, {cell.text!r},", float(values[row]), given, row)
    return values


class RowCostError(CostError):
    """A formula that gives no cost in a row; `at` says where in the whole table the row is."""

    def __init__(self, which: str, value: float, given: Mapping[str, float], row: int) -> None:
        self.which, self.value, self.given, self.row = which, value, given, row
        empty = [name for name, number in given.items() if math.isnan(number)]
        if empty:
            what, fix = f"has no number for {empty[0]!r}", "give a number in that cell, or leave the row out"
        else:
            what = f"is {value} with {', '.join(f'{name} = {number:g}' for name, number in given.items())}"
            fix = "write a formula that is finite there"
        super().__init__(f"{which} {what} in row {row_number(row)}", fix=fix)

    def at(self, row: int) -> RowCostError:
        """The same error, with the place in the whole table."""
        return RowCostError(self.which, self.value, self.given, row)


def turned(entries: Any) -> Any:
    """Gains as costs; what is not a number stays as it is, and is refused where cells are checked."""
    if isinstance(entries, Mapping):
        return {state: turned(value) for state, value in entries.items()}
    if isinstance(entries, str):
        try:
            return Expression.parse(entries).negated()
        except CostError:
            return entries
    number = plain_number(entries)
    return entries if number is None else -number
