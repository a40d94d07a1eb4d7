"""What a cost table says that was probably not meant."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.decisions.policy.envelope import lower_envelope
from bayeswise.foundation.arrays import FloatArray
from bayeswise.render.numbers import exact
from bayeswise.tables.schema.labels import label_key

if TYPE_CHECKING:
    from bayeswise.decisions.costs.costs import Costs

_MOST_SAID = 8  # of one table
_MOST_CELLS = 2_500  # beyond it, only pairs of actions are compared
_MOST_PAIRED = 100_000  # beyond it, nothing is
_TRIED = 4_000  # posteriors, before a linear program is solved
_CLEAR = 1e-9  # by which the cheapest action must win there
_TOLERANCE = 1e-12  # of the linear program, relative to the largest cost


class CostWarning(UserWarning):
    """A cost table that is legal, but probably not meant."""


def warn_of(messages: Sequence[str], stacklevel: int) -> None:
    """Say the first of them, and how many more there are; `stacklevel` is counted from who calls this."""
    for message in messages[:_MOST_SAID]:
        warnings.warn(message, CostWarning, stacklevel=stacklevel)
    if len(messages) > _MOST_SAID:
        more = f"and {len(messages) - _MOST_SAID} more warnings: see costs.warnings"
        warnings.warn(more, CostWarning, stacklevel=stacklevel)


def cost_warnings(costs: Costs) -> Iterator[str]:
    """Sentences on a single action, actions that are never best, and correct decisions that cost more than wrong."""
    if len(costs.actions) == 1:
        yield f"there is nothing to decide: {costs.actions[0]!r} is the only action"
    if not costs.constant:
        return
    yield from _never_best(costs)
    yield from _right_is_dearer(costs)


def _never_best(costs: Costs) -> Iterator[str]:
    table = costs.table
    if len(table) < 2 or table.size > _MOST_PAIRED:
        return
    rivals = [_dominating(table, a) for a in range(len(table))]
    hopeless = _not_winning(table, [a for a, rival in enumerate(rivals) if rival is None])
    for a, rival in enumerate(rivals):
        if rival is not None:
            same = bool((table[rival] == table[a]).all())
            how = "costs the same as" if same else "never costs less than"
            named = f"the action {costs.actions[a]!r}"
            yield f"{named} is never best: it {how} {costs.actions[rival]!r}, whatever the state"
        elif a in hopeless:
            yield _hopeless(costs, a)


def _not_winning(table: FloatArray, undominated: list[int]) -> set[int]:
    """Of the actions without a rival that is always as good, those that no posterior makes cheaper than all others."""
    rows = table[undominated]
    if len(rows) < 3 or rows.size > _MOST_CELLS:
        return set()  # of two that do not dominate each other both win
    if rows.shape[1] == 2:
        lines = [(exact(one, "cost"), exact(other, "cost")) for one, other in rows.tolist()]
        winning = {each.line for each in lower_envelope(lines) if each.low < each.high}
    else:
        winning = _seen_winning(rows)
        winning |= {a for a in range(len(rows)) if a not in winning and wins_somewhere(rows, a)}
    return {a for k, a in enumerate(undominated) if k not in winning}


def _seen_winning(table: FloatArray) -> set[int]:
    """Actions that are cheapest at one of many posteriors, well beyond rounding: no program is needed for them."""
    n_states = table.shape[1]
    drawn = np.random.default_rng(0).dirichlet(np.ones(n_states), _TRIED)
    cost = np.concatenate([np.eye(n_states), drawn]) @ scaled(table).T  # (n_tried, n_actions)
    two = np.partition(cost, 1, axis=1)
    return set(np.argmin(cost, axis=1)[two[:, 1] - two[:, 0] > _CLEAR].tolist())


def scaled(table: FloatArray) -> FloatArray:
    """The same table in units of its largest cost, so that no difference overflows."""
    largest = float(np.abs(table).max())
    return table / largest if largest > 0.0 else table


def _hopeless(costs: Costs, a: int) -> str:
    row, n_states = costs.table[a], len(costs.states)
    others = np.delete(costs.table, a, axis=0)
    zero_one = n_states >= 2 and sorted(map(tuple, others.tolist())) == sorted(
        map(tuple, (1.0 - np.eye(n_states)).tolist())
    )
    if (row == row[0]).all():
        limit = f"; with 0-1 loss over {n_states} states it must cost below {1 - 1 / n_states:.4g}" if zero_one else ""
        return f"the action {costs.actions[a]!r} can never win at a cost of {row[0]:g}{limit}"
    return f"the action {costs.actions[a]!r} is never best: at every posterior another one costs no more"


def _dominating(table: FloatArray, a: int) -> int | None:
    """An action that never costs more and sometimes less, or the same and stands before."""
    never_more = (table <= table[a]).all(axis=1)
    equal = (table == table[a]).all(axis=1)
    for b in np.flatnonzero(never_more).tolist():
        if b != a and (not equal[b] or b < a):
            return int(b)
    return None


def wins_somewhere(table: FloatArray, a: int) -> bool:
    """Whether some posterior makes the action cheaper than all others: max_p min_b (cost_b - cost_a) . p > 0.

    >>> wins_somewhere(np.array([[0.0, 10.0, 9.0], [1.0, 0.0, 9.0], [0.5, 0.5, 8.0]]), 2)
    True
    >>> wins_somewhere(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.5]]), 2)
    False
    """
    from scipy.optimize import linprog

    units = scaled(table)
    gain = np.delete(units, a, axis=0) - units[a]  # (n_others, n_states)
    n_others, n_states = gain.shape
    answer = linprog(
        c=np.r_[np.zeros(n_states), -1.0],
        A_ub=np.c_[-gain, np.ones(n_others)],
        b_ub=np.zeros(n_others),
        A_eq=[np.r_[np.ones(n_states), 0.0]],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * n_states + [(None, None)],
    )
    return bool(-answer.fun > _TOLERANCE)


def _right_is_dearer(costs: Costs) -> Iterator[str]:
    by_name = {label_key(action): k for k, action in enumerate(costs.actions)}
    named = [(s, by_name[label_key(state)]) for s, state in enumerate(costs.states) if label_key(state) in by_name]
    decisions = [action for _, action in named]
    for s, right in named:
        cheaper = np.flatnonzero(costs.table[decisions, s] < costs.table[right, s])
        if len(cheaper):
            other = decisions[int(cheaper[0])]
            state, wrong = costs.states[s], costs.actions[other]
            yield (
                f"in state {state!r} the right decision {state!r} costs {costs.table[right, s]:g}, "
                f"more than the wrong one {wrong!r} ({costs.table[other, s]:g}): is the table the other way round?"
            )
