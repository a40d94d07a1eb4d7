"""Accounts of models in which columns go together: the model itself evaluates each change.

What a column adds depends on the others, so the effects of changes do not add up. Sets of changes are tried by size:
all of one column, then the most promising ones with one more. The first size at which one works is the least, if all
smaller sets were tried: always for one and two columns, and `Flip.proven` says so for more. Of the sets of that size
that work, `nearest.py` says which is the least.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.explanations.nearest import Changed, Distances
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.tables.schema.labels import find_state

BEAM = 32  # sets of one size that are extended by one more column
MOST_TRIED = 20_000  # sets of changes; beyond, only the best one is extended

Measure = Callable[[FloatArray], FloatArray]
"""(n, n_states) log posteriors to (n,) how far each is on the other side: above 0 where the answer is another one."""


class Cases(Protocol):
    """One row of a model, and the same row with other cells."""

    @property
    def values(self) -> Mapping[str, Sequence[Any]]:
        """What each column could be instead: values that rows have shown, or round numbers between them."""

    def log_posteriors(self, changes: Sequence[Changed]) -> FloatArray:
        """(n, n_states) the answers for the row with each of the changes."""

    def account(self, changes: Changed) -> Account:
        """The account of the row with these changes."""


@dataclass(frozen=True, eq=False, repr=False)
class AnsweredAccount(Account):
    """An account whose changes are answered by the model; `beside` names lines that are not cells of the row."""

    cases: Cases = field(kw_only=True)
    beside: tuple[str, ...] = field(default=(), kw_only=True)
    log_shift: FloatArray | None = field(default=None, kw_only=True)  # (n_states,) of the prior

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in self.beside)

    @property
    def additive(self) -> bool:
        return False

    @property
    def greedy_is_least(self) -> bool:
        return False

    def shifted(self, log_ratio: FloatArray) -> Account:
        before = 0.0 if self.log_shift is None else self.log_shift
        return replace(self, log_prior=self.log_prior + log_ratio, log_shift=before + log_ratio)

    def with_changes(self, changes: Mapping[str, Contribution]) -> Account:
        return self.changed({column: other.value for column, other in changes.items()})

    def changed(self, changes: Changed) -> Account:
        """The account of the row with other cells, under the same prior."""
        for column in changes:
            find_state(column, self.cells, what="there is no column")
        found = self.cases.account(changes)
        return found if self.log_shift is None else found.shifted(self.log_shift)

    def least_change(self, measure: Measure, *, keep: Collection[str] = ()) -> tuple[Changed, bool] | None:
        """The least change that a measure finds on the other side, and whether no fewer columns do; None if none is."""
        own = {c.column: c.value for c in self.contributions}
        offered = {
            column: [value for value in values if value != own[column]]
            for column, values in self.cases.values.items()
            if column in self.cells and column not in keep
        }
        distances = Distances(own, offered)
        beam: list[Changed] = [{}]
        tried, exhaustive, all_extended = 0, True, True
        for _ in offered:  # one more change each time
            sets = _extended(beam, offered)
            if not sets:
                return None
            reached = measure(self._answers(sets))
            tried += len(sets)
            best = next(distances.nearest(sets, reached > 0.0, reached), None)
            if best is not None:
                return self._pulled_back(sets[best], measure, distances), exhaustive
            width = BEAM if tried < MOST_TRIED else 1
            exhaustive, all_extended = all_extended, all_extended and len(sets) <= width
            beam = [sets[k] for k in np.argsort(-reached, kind="stable")[:width].tolist()]
        return None

    def _pulled_back(self, changes: Changed, measure: Measure, distances: Distances) -> Changed:
        """Several columns, each number at the nearest value that will do."""
        for column in changes if len(changes) > 1 else ():
            sets = [{**changes, column: value} for value in distances.nearer(column, changes[column])]
            reached = measure(self._answers(sets)) if sets else np.zeros(0)
            changes = next((sets[k] for k in distances.nearest(sets, reached > 0.0, reached)), changes)
        return changes

    def _answers(self, sets: Sequence[Changed]) -> FloatArray:
        found = self.cases.log_posteriors(sets)
        return found if self.log_shift is None else found + self.log_shift


def _extended(beam: Sequence[Changed], offered: Mapping[str, Sequence[Any]]) -> list[Changed]:
    """Each set with one more change, every set once."""
    found: dict[tuple[tuple[str, Any], ...], Changed] = {}
    order = {column: k for k, column in enumerate(offered)}
    for before in beam:
        for column, values in offered.items():
            if column not in before:
                for value in values:
                    more = {**before, column: value}
                    found.setdefault(tuple(sorted(more.items(), key=lambda item: order[item[0]])), more)
    return list(found.values())
