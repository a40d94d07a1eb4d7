"""What each action costs in each state: named, checked once, then trusted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.costs.cost_cells import (
    Cell,
    by_action,
    cell_values,
    cells_of,
    check_distinct,
    checked_unit,
    false_alarms,
    position_of,
    states_named,
    turned,
)
from bayeswise.decisions.costs.expressions import Expression
from bayeswise.decisions.costs.warnings import cost_warnings, warn_of
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, listed
from bayeswise.render.labels import closest, guess, markup, shown
from bayeswise.tables.schema.labels import Label, label_key, label_of

if TYPE_CHECKING:
    from bayeswise.decisions.plots import ExpectedCostDisplay, SimplexDisplay
    from bayeswise.decisions.policy.rule import Rule


@dataclass(frozen=True, init=False, repr=False)
class Costs:
    """cost[action][state]: what an action costs when a state is true; a gain is a negative cost.

    A number instead of a mapping is an action that costs the same in every state; a text is a formula over the
    columns of the row. The order of the actions decides ties: the first one wins. `cFP`, `cFN` and two `states`, the
    positive one first, are the table of false positives and false negatives.

    costs     {action: {state: cost}}, or a frame with a column of actions and one for each state
    cFP       the cost of a false positive
    cFN       the cost of a false negative
    states    all states, in order; two of them, the positive one first, with cFP and cFN
    reject    the action that refuses to decide, if there is one
    unit      what the costs are counted in, such as EUR or minutes: for headings
    textual   names of states are text, whatever the labels of a model are, as in a file

    >>> mail = Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5})
    >>> mail
    Costs(bin: spam 0, ham 10; keep: spam 1, ham 0; ask: 0.5)
    >>> Costs(cFP=10, cFN=1, states=["spam", "ham"])
    Costs(spam: spam 0, ham 10; ham: spam 1, ham 0)
    >>> Costs({"bin": {"spam": 0}, "keep": {"spam": 1, "ham": 0}})
    Traceback (most recent call last):
    bayeswise.foundation.errors.CostError: the action 'bin' has no cost in state 'ham'. Fix: ...
    """

    actions: tuple[Label, ...]
    states: tuple[Label, ...]
    cells: tuple[tuple[Cell, ...], ...]  # one row for each action, one cell for each state
    reject: Label | None  # the action that refuses to decide, if one does
    textual: bool  # read from a file: the names of states are text, whatever the labels are
    unit: str | None  # what the costs are counted in

    def __init__(
        self,
        costs: Any = None,
        *,
        cFP: Any = None,
        cFN: Any = None,
        states: Sequence[Any] | None = None,
        reject: Any = None,
        textual: bool = False,
        unit: str | None = None,
    ) -> None:
        if cFP is not None or cFN is not None:
            costs = false_alarms(costs, cFP, cFN, states)
        elif costs is None:
            raise CostError("there is no action", fix="write {action: {state: cost}}")
        if not isinstance(costs, Mapping):
            from bayeswise.decisions.costs.tables import from_frame

            costs = from_frame(costs)
        given = by_action(costs)
        found = states_named(given, states)
        cells = tuple(cells_of(action, entries, found) for action, entries in given.items())
        actions = tuple(given)
        refusing = None if reject is None else actions[position_of(reject, actions, "the costs have no action")]
        self._fill(actions, found, cells, refusing, textual, checked_unit(unit))
        warn_of(self.warnings, stacklevel=3)

    def _fill(
        self, actions: Any, states: Any, cells: Any, reject: Label | None, textual: bool, unit: str | None
    ) -> None:
        self.__dict__.update(actions=actions, states=states, cells=cells, reject=reject, textual=textual, unit=unit)

    @classmethod
    def _of_parts(
        cls,
        actions: tuple[Label, ...],
        states: tuple[Label, ...],
        cells: Any,
        reject: Label | None = None,
        textual: bool = False,
        unit: str | None = None,
    ) -> Costs:
        """A table made of checked parts, without further warnings."""
        made = cls.__new__(cls)
        made._fill(actions, states, cells, reject, textual, unit)
        return made

    # -- other ways to give them ------------------------------------------------------------------------------
    @classmethod
    def of(cls, costs: Any, states: Sequence[Any] | None = None) -> Costs:
        """Costs as functions take them: a `Costs`, {action: {state: cost}}, a frame, or the path of a decision file.

        With `states` they are in this order, and no costs at all are 0-1 loss. Of a file these are the costs alone.

        >>> Costs.of({"act": {"y": 0, "n": 5}, "wait": {"y": 2, "n": 0}}, ["n", "y"])
        Costs(act: n 5, y 0; wait: n 0, y 2)
        """
        if costs is None and states is not None:
            return cls.zero_one(states)
        if isinstance(costs, str | os.PathLike):
            from bayeswise.decisions.costs.decision_file import DecisionFile

            costs = DecisionFile.read(costs, states).costs
        made = costs if isinstance(costs, Costs) else cls(costs)
        return made if states is None else made.aligned(states)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Costs:
        """The `costs` of a TOML file, or a CSV file with a column `action` and one for each state."""
        from bayeswise.decisions.costs.tables import costs_in, read_document

        return costs_in(read_document(path), path)

    @classmethod
    def binary(
        cls,
        *,
        positive: Any,
        negative: Any,
        false_positive: Any,
        false_negative: Any,
        true_positive: Any = 0.0,
        true_negative: Any = 0.0,
    ) -> Costs:
        """Two states that are their own actions; decide `positive` iff p >= cFP / (cFP + cFN) if being right is free.

        false_positive   the cost of deciding `positive` where `negative` is true
        false_negative   the cost of deciding `negative` where `positive` is true
        true_positive    the cost of being right about `positive`
        true_negative    the cost of being right about `negative`

        >>> Costs.binary(positive="fire", negative="none", false_positive=1, false_negative=99)
        Costs(fire: fire 0, none 1; none: fire 99, none 0)
        """
        return cls(
            {
                positive: {positive: true_positive, negative: false_positive},
                negative: {positive: false_negative, negative: true_negative},
            }
        )

    @classmethod
    def zero_one(cls, states: Sequence[Any]) -> Costs:
        """Every mistake costs 1: the least cost is the most probable state.

        >>> Costs.zero_one(["a", "b"]).with_reject(0.2)
        Costs(a: a 0, b 1; b: a 1, b 0; reject: 0.2)
        """
        labels = tuple(label_of(state) for state in states)
        check_distinct(labels, "state")
        if not labels:
            raise CostError("there is no state", fix="name the states")
        wrong = 1.0 - np.eye(len(labels))
        return cls._of_parts(labels, labels, tuple(map(tuple, wrong.tolist())))

    @classmethod
    def utilities(cls, gains: Any, *, states: Sequence[Any] | None = None) -> Costs:
        """Gains instead of costs: each sign is turned.

        gains   {action: {state: gain}}, or a frame

        >>> Costs.utilities({"sell": {"up": -3, "down": 2}, "hold": {"up": 1, "down": -1}})
        Costs(sell: up 3, down -2; hold: up -1, down 1)
        """
        from bayeswise.decisions.costs.tables import from_frame

        given = gains if isinstance(gains, Mapping) else from_frame(gains)
        return cls({action: turned(entries) for action, entries in given.items()}, states=states)

    def with_reject(self, cost: Any, name: Any = "reject", *, first: bool = False) -> Costs:
        """The same table with one action more, which costs the same whatever is true.

        With 0-1 loss a state is chosen iff its probability is >= 1 - cost; `first` lets the rejection win ties, so
        that it is taken iff the highest probability is <= 1 - cost.
        """
        label = label_of(name)
        if label in self.actions:
            raise CostError(f"there is an action {label!r} already", fix="name the rejection differently")
        row = cells_of(label, cost, self.states)
        actions, cells = (label, *self.actions), (row, *self.cells)
        if not first:
            actions, cells = (*self.actions, label), (*self.cells, row)
        made = Costs._of_parts(actions, self.states, cells, label, self.textual, self.unit)
        warn_of(made.warnings, stacklevel=3)
        return made

    def changed(self, cells: Mapping[Any, Mapping[Any, Any] | Any]) -> Costs:
        """The same table with other costs for some actions.

        >>> Costs({"act": {"y": 0, "n": 5}, "wait": {"y": 2, "n": 0}}).changed({"act": {"n": 7}})
        Costs(act: y 0, n 7; wait: y 2, n 0)
        """
        rows: dict[Any, Any] = {action: dict(zip(self.states, row, strict=True)) for action, row in self._rows()}
        for action, entries in cells.items():
            label = self.actions[position_of(action, self.actions, "the costs have no action")]
            rows[label] = {**rows[label], **entries} if isinstance(entries, Mapping) else entries
        return Costs(rows, states=self.states, reject=self.reject, textual=self.textual, unit=self.unit)

    # -- the numbers ------------------------------------------------------------------------------------------
    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the formulas need."""
        formulas = (cell for row in self.cells for cell in row if isinstance(cell, Expression))
        return tuple(dict.fromkeys(name for formula in formulas for name in formula.names))

    @property
    def constant(self) -> bool:
        """Whether every row has the same costs."""
        return not any(isinstance(cell, Expression) for row in self.cells for cell in row)

    @cached_property
    def table(self) -> FloatArray:
        """(n_actions, n_states) the costs; they must not depend on the row."""
        if not self.constant:
            raise CostError(
                f"the costs depend on the columns {', '.join(map(repr, self.columns))}",
                fix=f"take those of one row: costs.for_row({{{self.columns[0]!r}: ...}})",
            )
        table = np.array(self.cells, dtype=np.float64)
        table.setflags(write=False)
        return table

    def of_rows(self, columns: Mapping[str, FloatArray], n_rows: int) -> list[list[Any]]:
        """The cell of every action and state: a number, or an array with one for each row, all finite."""
        return [
            [cell_values(action, state, cell, columns, n_rows) for state, cell in zip(self.states, row, strict=True)]
            for action, row in self._rows()
        ]

    def for_row(self, row: Mapping[str, Any]) -> Costs:
        """The table of one row: formulas become numbers.

        >>> loan = Costs({"grant": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0})
        >>> loan.for_row({"amount": 200})
        Costs(grant: good -20, bad 200; refuse: 0)
        """
        from bayeswise.decisions.costs.tables import numbers_of

        for name in self.columns:
            if row.get(name) is None:
                meant = closest(name, [each for each in row if each not in self.columns])
                fix = f"give {name} too" if meant is None else f"write {name} instead of {meant}"
                raise CostError(f"the costs depend on {name!r}, which the row does not have", fix=fix)
        cells = self.of_rows(numbers_of({name: [row[name]] for name in self.columns}, self.columns), 1)
        numbers = tuple(tuple(float(np.ravel(cell)[0]) for cell in line) for line in cells)
        return Costs._of_parts(self.actions, self.states, numbers, self.reject, self.textual, self.unit)

    def aligned(self, states: Sequence[Any]) -> Costs:
        """The same costs with the states in another order; both must name the same ones."""
        labels = tuple(label_of(state) for state in states)
        known = {_match(state, self.textual): k for k, state in enumerate(self.states)}
        classes = {_match(state, self.textual) for state in labels}
        unknown = [state for state in self.states if _match(state, self.textual) not in classes]
        lacking = [state for state in labels if _match(state, self.textual) not in known]
        if unknown:  # a name that is not a class is more likely misspelled than a class without costs
            without = f", and have no entry for state {lacking[0]!r}" if lacking else ""
            raise CostError(
                f"costs name {unknown[0]!r}, which is not a class{without}; "
                f"the classes are {listed(map(repr, labels))}",
                fix=guess(unknown[0], lacking or labels),
            )
        if lacking:
            raise CostError(
                f"costs have no entry for state {lacking[0]!r}; they know {listed(map(repr, self.states))}",
                fix=f"add a cost for {lacking[0]!r} to every action",
            )
        order = [known[_match(state, self.textual)] for state in labels]
        cells = tuple(tuple(row[k] for k in order) for row in self.cells)
        return Costs._of_parts(self.actions, labels, cells, self.reject, self.textual, self.unit)

    def action(self, label: Any) -> int:
        """The position of an action."""
        return position_of(label, self.actions, "the costs have no action")

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Probable mistakes: actions that are never best, and correct decisions that cost more than wrong ones."""
        return tuple(cost_warnings(self))

    def rule(self, row: Mapping[str, Any] | None = None) -> Rule:
        """The policy in words, with exact thresholds for two states; formulas need the `row` they are about.

        >>> print(Costs({"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}).rule())
        bin if P(spam) >= 0.95, keep if P(spam) <= 0.5, else ask
        """
        from bayeswise.decisions.policy.rule import rule

        return rule(self, row=row)

    def plot(
        self, ax: Any = None, *, row: Mapping[str, Any] | None = None, posterior: Any = None
    ) -> ExpectedCostDisplay | SimplexDisplay:
        """Draw which action is best at which posterior, for two or three states; formulas need the `row`."""
        return self.rule(row).plot(ax, posterior=posterior)

    # -- as data, text and pages ---------------------------------------------------------------------------------
    def in_unit(self, what: str) -> str:
        """A heading with the unit, where there is one.

        >>> Costs({"act": {"y": 0, "n": 5}, "wait": {"y": 2, "n": 0}}, unit="EUR").in_unit("cost per case")
        'cost per case (EUR)'
        """
        return what if self.unit is None else f"{what} ({self.unit})"

    def to_dict(self) -> dict[Label, dict[Label, float | str]]:
        """{action: {state: cost}}, formulas as text."""
        return {
            action: {s: str(c) if isinstance(c, Expression) else c for s, c in zip(self.states, row, strict=True)}
            for action, row in self._rows()
        }

    def _rows(self) -> list[tuple[Label, tuple[Cell, ...]]]:
        return list(zip(self.actions, self.cells, strict=True))

    def __repr__(self) -> str:
        def line(row: tuple[Cell, ...]) -> str:
            if len(set(map(str, row))) == 1 and len(row) > 1:
                return _shown(row[0])
            return ", ".join(f"{shown(state)} {_shown(cell)}" for state, cell in zip(self.states, row, strict=True))

        return f"Costs({'; '.join(f'{shown(action)}: {line(row)}' for action, row in self._rows())})"

    def _repr_html_(self) -> str:
        from bayeswise.render.page import fragment, table

        rows = [[action, *map(_shown, row)] for action, row in self._rows()]
        return fragment(f"<h3>{markup(self.in_unit('Costs'))}</h3>", table(["action", *self.states], rows))


def _shown(cell: Cell) -> str:
    return cell.text if isinstance(cell, Expression) else f"{cell:.6g}"


def _match(state: Label, textual: bool) -> Any:
    return str(state) if textual else label_key(state)
