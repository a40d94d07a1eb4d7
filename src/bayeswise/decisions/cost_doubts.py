"""What a cost table says that was probably not meant."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.tables.labels import label_key

if TYPE_CHECKING:
    from bayeswise.decisions.costs import Costs

_MOST_CELLS = 2_500  # beyond it, only pairs of actions are compared
_MOST_PAIRED = 100_000  # beyond it, nothing is
_TOLERANCE = 1e-12  # of the linear program, relative to the largest cost


def doubts(costs: Costs) -> Iterator[str]:
    """Sentences about actions that are never best, and about being right that is dearer than being wrong."""
    if not costs.constant:
        return
    yield from _never_best(costs)
    yield from _right_is_dearer(costs)


def _never_best(costs: Costs) -> Iterator[str]:
    table = costs.table
    if len(table) < 2 or table.size > _MOST_PAIRED:
        return
    for a, action in enumerate(costs.actions):
        rival = _dominating(table, a)
        if rival is not None:
            same = bool((table[rival] == table[a]).all())
            how = "costs the same as" if same else "never costs less than"
            yield f"the action {action!r} is never best: it {how} {costs.actions[rival]!r}, whatever the state"
        elif table.size <= _MOST_CELLS and not wins_somewhere(table, a):
            yield _hopeless(costs, a)


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

    >>> wins_somewhere(np.array([[0.0, 10.0], [1.0, 0.0], [0.5, 0.5]]), 2)
    True
    >>> wins_somewhere(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]), 2)
    False
    """
    gain = np.delete(table, a, axis=0) - table[a]  # (n_others, n_states)
    if (gain > 0).all(axis=0).any():
        return True
    if table.shape[1] == 2:
        return _wins_between_two(gain)
    from scipy.optimize import linprog

    n_others, n_states = gain.shape
    scale = float(np.abs(gain).max()) or 1.0
    answer = linprog(
        c=np.r_[np.zeros(n_states), -1.0],
        A_ub=np.c_[-gain / scale, np.ones(n_others)],
        b_ub=np.zeros(n_others),
        A_eq=[np.r_[np.ones(n_states), 0.0]],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * n_states + [(None, None)],
    )
    return bool(-answer.fun > _TOLERANCE)


def _wins_between_two(gain: FloatArray) -> bool:
    """The same for two states, exactly: where all lines of gains lie above zero."""
    low, high = Fraction(0), Fraction(1)
    for at_first, at_second in gain.tolist():
        first, second = Fraction(repr(at_first)), Fraction(repr(at_second))
        slope = first - second  # the gain is second + slope * p
        if slope == 0:
            if second <= 0:
                return False
        elif slope > 0:
            low = max(low, -second / slope)
        else:
            high = min(high, -second / slope)
    return low < high


def _right_is_dearer(costs: Costs) -> Iterator[str]:
    by_name = {label_key(action): k for k, action in enumerate(costs.actions)}
    named = [(s, by_name[label_key(state)]) for s, state in enumerate(costs.states) if label_key(state) in by_name]
    for s, right in named:
        for _, other in named:
            if other != right and costs.table[right, s] > costs.table[other, s]:
                state, wrong = costs.states[s], costs.actions[other]
                yield (
                    f"in state {state!r} the right decision {state!r} costs {costs.table[right, s]:g}, "
                    f"more than the wrong one {wrong!r} ({costs.table[other, s]:g}): is the table the other way round?"
                )
                break
