"""What a least change is, the same for another class and for another action, for models of every kind:

1. the fewest columns;
2. of as many columns the nearest: a number counts by how far it moves, in standard deviations of the values that the
   column could have instead, and another level of a category (or a number in the place of a missing one) counts as 1;
3. of equally near ones the one that goes furthest: the largest lead of the posterior, or the most that is saved.

All changes of one column are compared. Of two columns or more, the search that found how many are needed has values
that go far; `pulled_back` moves each number back to the nearest value with which the change still does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.explanations.alternatives import Alternatives
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass

Changed = Mapping[str, Any]  # other values, by column
Changes = dict[str, Contribution]
Reached = Callable[[FloatArray], tuple[BoolArray, FloatArray]]
"""(n, n_states) log joints to (n,) whether each is on the other side, and (n,) how far."""

_SAME = 1e-9  # of a distance


@dataclass(frozen=True)
class Distances:
    """How far a change moves the cells of a row.

    >>> distances = Distances({"age": 40.0, "size": "S"}, {"age": (10.0, 30.0, 50.0, 70.0), "size": ("M", "L")})
    >>> distances.of({"size": "L"}), round(distances.of({"age": 50.0}), 3), round(distances.of({"age": 10.0}), 3)
    (1.0, 0.447, 1.342)
    """

    own: Mapping[str, Any]  # the cells of the row
    offered: Mapping[str, Sequence[Any]]  # what each column could be instead

    def of(self, changes: Changed) -> float:
        return sum(self.of_one(column, value) for column, value in changes.items())

    def of_one(self, column: str, value: Any) -> float:
        before = self.own[column]
        if not (_is_number(before) and _is_number(value)):
            return 1.0
        spread = float(np.std([each for each in self.offered[column] if _is_number(each)]))
        return abs(value - before) / spread if spread > 0.0 else 1.0

    def nearest(self, sets: Sequence[Changed], works: BoolArray, far: FloatArray) -> Iterator[int]:
        """The sets that work, the nearest first; of equally near ones those that go furthest."""
        there = np.flatnonzero(works).tolist()
        return iter(sorted(there, key=lambda k: (float(f"{self.of(sets[k]):.9g}"), -far[k])))

    def nearer(self, column: str, value: Any) -> list[Any]:
        """The numbers that the column could be instead, nearer to the present one than a value; the nearest first."""
        if not (_is_number(self.own[column]) and _is_number(value)):
            return []
        before, far = self.own[column], abs(value - self.own[column])
        found = [x for x in self.offered[column] if _is_number(x) and 0.0 < abs(x - before) < far * (1.0 - _SAME)]
        return sorted(found, key=lambda x: abs(x - before))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest changes of a case whose columns contribute one by one."""

    account: Account
    offered: Alternatives
    reached: Reached

    @property
    def distances(self) -> Distances:
        own = {c.column: c.value for c in self.account.contributions}
        return Distances(own, {column: [other.value for other in others] for column, others in self.offered.items()})

    def of_one_column(self) -> Changes | None:
        """The nearest change of a single column; None if no single column is enough."""
        options, log_joint = single_changes(self.account, self.offered, {})
        return self._first(options, log_joint, {})

    def pulled_back(self, changes: Changes) -> Changes:
        """The same columns, each number at the nearest value that will do; the least effective column first."""
        distances, found = self.distances, dict(changes)
        for column in reversed(list(changes)):
            nearer = set(distances.nearer(column, found[column].value))
            options = [other for other in self.offered[column] if other.value in nearer] if nearer else []
            if options:
                rest = {name: other for name, other in found.items() if name != column}
                better = self._first(*single_changes(self.account, {column: options}, rest), rest)
                found[column] = found[column] if better is None else better[column]
        return found

    def _first(self, options: Sequence[Contribution], log_joint: FloatArray, changes: Changes) -> Changes | None:
        """The nearest option; sums round, so the exact sum has the last word."""
        if not options:
            return None
        sets = [{each.column: each.value} for each in options]
        for k in self.distances.nearest(sets, *self.reached(log_joint)):
            found = {**changes, options[k].column: options[k]}
            if self.reached(self.account.with_changes(found).log_joint[None])[0].all():
                return found
        return None


def single_changes(account: Account, offered: Alternatives, changes: Changes) -> tuple[list[Contribution], FloatArray]:
    """Every other value of a column that is not changed yet, and (n_options, n_states) the log joint with it."""
    changed = account.with_changes(changes)
    terms = changed.column_terms  # (1 + n_columns, n_states)
    ruled_out = np.isneginf(terms)
    finite = np.where(ruled_out, 0.0, terms)
    total, n_ruled_out = finite.sum(axis=0), ruled_out.sum(axis=0)
    options: list[Contribution] = []
    sums: list[FloatArray] = []
    for k, column in enumerate(changed.columns, start=1):
        if column in changes or not offered.get(column):
            continue
        rest = np.where(n_ruled_out > ruled_out[k], -np.inf, total - finite[k])
        for other in offered[column]:
            options.append(other)
            sums.append(rest + other.log_likelihood)
    return options, changed.log_joint_of(np.array(sums).reshape(len(options), len(total)))


def ahead(log_joint: FloatArray, answer: int, target: int | None = None) -> FloatArray:
    """(n,) the lead of a target over all other states, or of the best other one over the answer.

    >>> ahead(np.log([[0.2, 0.8], [0.75, 0.25]]), 1).round(3).tolist()
    [-1.386, 1.099]
    """
    one = answer if target is None else target
    with np.errstate(invalid="ignore"):  # where both are impossible
        lead = log_joint[:, one] - np.delete(log_joint, one, axis=1).max(axis=1)
    return np.asarray(-lead if target is None else lead)


def another_state(answer: int, target: int | None = None) -> Reached:
    """Whether another state (or the target) is the answer, of equal ones the first, and how far it is ahead."""

    def reached(log_joint: FloatArray) -> tuple[BoolArray, FloatArray]:
        winner = np.argmax(log_joint, axis=1)
        wins = winner != answer if target is None else winner == target
        return wins & (log_joint > -np.inf).any(axis=1), ahead(log_joint, answer, target)

    return reached
