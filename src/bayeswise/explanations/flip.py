"""The least change of a case that changes the answer; `nearest.py` says which of several changes is the least.

If no single column is enough, this module finds how many are. Contributions add up, so the columns do not interact:
how much a change moves one state against another does not depend on the other changes.

Why taking the best columns first is optimal. Let s be the answer and t another state. Write w_j for the
weight c_jt - c_js that column j has now and v_j for the largest it can have; its gain is g_j = v_j - w_j.
Whatever values a set C of columns is changed to, the log-odds of t against s become at most (now) + sum of
g_j over C, and this is attained by the best values. Among all sets of k columns that sum is largest for the
k largest gains. So if these do not lift t above s, no k columns do, and the first k that does is the
smallest, with the largest gain of its size. A column in which t is impossible now (c_jt = -inf) has to be
changed in any case and comes first; a value that makes t impossible is never taken. The answer changes if
and only if some t overtakes s, so the smallest set over all t is the least change of all.

To make one *named* state win among three or more, it has to overtake all others, and one set must serve them
all. The largest of the pairwise minima is then only a lower bound; from there sets are tried in order of
size, and the result says whether that search came to its end.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.explanations.alternatives import Alternatives, Explainable, alternatives_of, known_columns
from bayeswise.explanations.answered import AnsweredAccount
from bayeswise.explanations.balance import value_text
from bayeswise.explanations.nearest import Changes, Nearest, ahead, another_state
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.render.labels import shown
from bayeswise.render.plain import json_value
from bayeswise.tables.schema.labels import Label, find_state

Gain = tuple[float, str, Contribution]

_ROUNDING = 1e-9  # of the log-odds, for sums of rounded gains
_TRIED = 20_000  # sets of changes, before the search for a named state gives up


@dataclass(frozen=True)
class Change:
    """One column with another value."""

    column: str
    before: Any
    after: Any


@dataclass(frozen=True, eq=False)
class Flip:
    """The answer before and after, and what has to change; `proven` if no smaller change does it."""

    state: Label
    to: Label
    changes: tuple[Change, ...]  # the most effective first
    account: Account  # of the changed case
    proven: bool = True

    @classmethod
    def of(cls, account: Account, changes: Changes, state: Label, to: Label, *, proven: bool) -> Flip:
        """What changes of an account lead to."""
        steps = _steps(account, {column: other.value for column, other in changes.items()})
        return cls(state, to, steps, account.with_changes(changes), proven)

    @classmethod
    def of_values(
        cls, account: AnsweredAccount, changes: Mapping[str, Any], state: Label, to: Label, *, proven: bool
    ) -> Flip:
        """What other values in some columns lead to."""
        return cls(state, to, _steps(account, changes), account.changed(changes), proven)

    def sentence(self, share: str = "") -> str:
        """The change in words; `share` stands behind what it leads to."""
        steps = [f"{shown(c.column)}: {value_text(c.before)} -> {value_text(c.after)}" for c in self.changes]
        least = "Least change" if self.proven else "A change"
        return f"{least} that makes it {shown(self.to)}{share}: {'; '.join(steps)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "to": json_value(self.to),
            "proven": self.proven,
            "changes": [
                {"column": step.column, "before": json_value(step.before), "after": json_value(step.after)}
                for step in self.changes
            ],
            "posterior": [float(share) for share in self.account.posterior],
        }

    def __str__(self) -> str:
        steps = (f"{c.column}: {value_text(c.before)} -> {value_text(c.after)}" for c in self.changes)
        return f"{self.state} -> {self.to} by {', '.join(steps)}"


def _steps(account: Account, changes: Mapping[str, Any]) -> tuple[Change, ...]:
    own = {c.column: c.value for c in account.contributions}
    return tuple(Change(column, own[column], value) for column, value in changes.items())


def least_change(
    account: Account, alternatives: Alternatives, to: Label | None = None, *, keep: Collection[str] = ()
) -> Flip | None:
    """The smallest set of columns, and the nearest values of them, that makes another state win.

    `alternatives` has the other values of each column; columns in `keep` stay as they are. None if nothing
    helps.

    >>> case = Account(("yes", "no"), np.log([9 / 14, 5 / 14]), (
    ...     Contribution("outlook", "sunny", np.log([2 / 9, 3 / 5])),
    ...     Contribution("humidity", "high", np.log([3 / 9, 4 / 5])),
    ... ))
    >>> normal = Contribution("humidity", "normal", np.log([6 / 9, 1 / 5]))
    >>> print(least_change(case, {"humidity": [normal]}))
    no -> yes by humidity: high -> normal
    """
    known_columns([*alternatives, *keep], account)
    offered = {column: tuple(others) for column, others in alternatives.items() if column not in keep}
    answer = find_state(account.most_probable, account.states)
    target = None if to is None else find_state(to, account.states)
    if target == answer:
        raise ParameterError(f"the answer is {to!r} already", fix="name another state")
    nearest = Nearest(account, offered, another_state(answer, target))
    one = nearest.of_one_column()
    if one is not None:
        return _flip(account, one)
    targets = [k for k in range(len(account.states)) if k != answer]
    if target is None:
        plans = [plan for target in targets if (plan := _overtake(account, offered, target, answer)) is not None]
        best = min(plans, key=lambda plan: (len(plan[0]), -plan[1]), default=None)
        proven = account.additive or account.greedy_is_least
        return None if best is None else _flip(account, nearest.pulled_back(best[0]), proven=proven)
    found = _make_win(account, offered, target, [answer, *(k for k in targets if k != target)])
    return None if found is None else _flip(account, nearest.pulled_back(found[0]), proven=found[1])


def least_change_of(
    model: Explainable, row: Any, to: Label | None = None, *, keep: Collection[str] = ()
) -> Flip | None:
    """The least change of a row that changes a model's answer."""
    return change_of(model, model.explain(row), to, keep=keep)


def change_of(
    model: Explainable, account: Account, to: Label | None = None, *, keep: Collection[str] = ()
) -> Flip | None:
    """The least change of a row that a model has explained."""
    if isinstance(account, AnsweredAccount):
        return _by_answers(account, to, keep)
    changeable = [column for column in account.cells if column not in keep]
    return least_change(account, alternatives_of(model, changeable), to, keep=keep)


def texts_of(model: Any, account: Account) -> tuple[str, ...]:
    """The columns of texts, which stay as they are: a text has no list of others."""
    schema = getattr(model, "schema", None)
    return () if schema is None else tuple(name for name in account.cells if name in schema.texts)


def no_other_texts(texts: Collection[str]) -> str:
    """What the search for a change left out, behind its answer."""
    return f"; other texts are not tried ({', '.join(map(shown, texts))})" if texts else ""


def _by_answers(account: AnsweredAccount, to: Label | None, keep: Collection[str]) -> Flip | None:
    """Of a model in which columns go together."""
    known_columns(keep, account)
    answer = find_state(account.most_probable, account.states)
    target = None if to is None else find_state(to, account.states)
    if target == answer:
        raise ParameterError(f"the answer is {to!r} already", fix="name another state")

    found = account.least_change(partial(ahead, answer=answer, target=target), keep=keep)
    if found is None:
        return None
    changes, proven = found
    return Flip.of_values(
        account, changes, account.most_probable, account.changed(changes).most_probable, proven=proven
    )


# -- one state against one: the best gains first --


def _overtake(account: Account, offered: Alternatives, target: int, rival: int) -> tuple[Changes, float] | None:
    """The least changes that lift the target above the rival, the most effective first, and by how much."""
    if account.log_prior[target] == -np.inf:
        return None
    best = {c.column: _best(offered.get(c.column, ()), target, rival) for c in account.contributions}
    changes: Changes = {}
    gains: list[Gain] = []
    for current in account.contributions:
        other = best[current.column]
        if current.log_likelihood[target] == -np.inf:
            if other is None:
                return None
            changes[current.column] = other
        elif other is not None:
            gains.append((_weight(other, target, rival) - _weight(current, target, rival), current.column, other))
    helpful = iter(sorted((gain for gain in gains if gain[0] > 0.0), key=lambda gain: -gain[0]))
    while True:
        log_joint = account.with_changes(changes).log_joint
        if _beats(log_joint, target, rival):
            return changes, float(log_joint[target] - log_joint[rival])
        # As many as are needed by the sum of their gains; the comparison above has the last word.
        missing = float(log_joint[rival] - log_joint[target]) if account.additive else 0.0
        added = list(_until(helpful, missing))
        if not added:
            return None
        changes |= {column: other for _, column, other in added}


def _until(gains: Iterator[Gain], missing: float) -> Iterator[Gain]:
    """At least one more, and more until what is missing is nearly reached; sums round, so not beyond."""
    nearly = _ROUNDING * missing
    for gain in gains:
        yield gain
        missing -= gain[0]
        if missing <= nearly:
            return


def _best(others: Collection[Contribution], target: int, rival: int) -> Contribution | None:
    possible = [other for other in others if other.log_likelihood[target] > -np.inf]
    return max(possible, key=lambda other: _weight(other, target, rival), default=None)


def _weight(contribution: Contribution, target: int, rival: int) -> float:
    """c_t - c_s; infinite where the rival is impossible. The caller has checked that the target is possible."""
    return float(contribution.log_likelihood[target] - contribution.log_likelihood[rival])


def _beats(log_joint: Any, target: int, rival: int) -> bool:
    """Of equal ones the first wins, as everywhere."""
    if log_joint[target] == log_joint[rival]:
        return target < rival and math.isfinite(log_joint[target])
    return bool(log_joint[target] > log_joint[rival])


# -- one named state against all --


def _make_win(account: Account, offered: Alternatives, target: int, rivals: list[int]) -> tuple[Changes, bool] | None:
    """Overtake all rivals: proven if a pairwise plan does it or the search ends, else the best found."""
    plans = [_overtake(account, offered, target, rival) for rival in rivals]
    needed = [plan[0] for plan in plans if plan is not None]
    if len(needed) < len(plans):
        return None  # one of the rivals cannot be overtaken at all
    least = max(map(len, needed))
    for changes in needed:
        if len(changes) == least and _wins(account.with_changes(changes), target):
            return changes, account.additive or account.greedy_is_least
    found = _search(account, offered, target, least)
    if found is not None:
        return found, True
    climbed = _climb(account, offered, target)
    return None if climbed is None else (climbed, False)


def _search(account: Account, offered: Alternatives, target: int, least: int) -> Changes | None:
    """Sets of columns by size, from the lower bound on; None if there is none, or too many to try."""
    columns = [c.column for c in account.contributions if offered.get(c.column)]
    tried = 0
    for size in range(least, len(columns) + 1):
        best: tuple[float, Changes] | None = None
        for chosen in combinations(columns, size):
            for values in product(*(offered[column] for column in chosen)):
                tried += 1
                if tried > _TRIED:
                    return None
                changes = dict(zip(chosen, values, strict=True))
                log_joint = _changed_joint(account, changes)
                lead = _lead(log_joint, target)
                if int(np.argmax(log_joint)) == target and (best is None or lead > best[0]):
                    best = lead, changes
        if best is not None and _wins(account.with_changes(best[1]), target):
            return best[1]
    return None


def _climb(account: Account, offered: Alternatives, target: int) -> Changes | None:
    """Change the column that helps most against the strongest rival, again and again: good, not proven."""
    ruled_out = [c.column for c in account.contributions if c.log_likelihood[target] == -np.inf]
    changes: Changes = {
        column: max(offered[column], key=lambda other: other.log_likelihood[target]) for column in ruled_out
    }
    while not _wins(account.with_changes(changes), target):
        now = _lead(_changed_joint(account, changes), target)
        steps = [
            (_lead(_changed_joint(account, {**changes, column: other}), target), column, other)
            for column, others in offered.items()
            if column not in changes
            for other in others
        ]
        lead, column, other = max(steps, key=lambda step: step[0], default=(-math.inf, "", None))
        if other is None or not lead > now:
            return None
        changes[column] = other
    return changes


def _changed_joint(account: Account, changes: Mapping[str, Contribution]) -> Any:
    if not account.additive:
        return account.with_changes(changes).log_joint
    terms = [changes.get(c.column, c).log_likelihood for c in account.contributions]
    return np.sum([account.log_prior, *terms], axis=0)  # (n_states,)


def _lead(log_joint: Any, target: int) -> float:
    """How far the target is before its strongest rival; minus infinity if it is impossible."""
    if log_joint[target] == -np.inf:
        return -math.inf
    return float(log_joint[target] - np.delete(log_joint, target).max())


def _wins(account: Account, target: int) -> bool:
    return account.log_joint[target] > -np.inf and int(np.argmax(account.log_joint)) == target


def _flip(account: Account, changes: Changes, *, proven: bool = True) -> Flip:
    to = account.with_changes(changes).most_probable
    return Flip.of(account, changes, account.most_probable, to, proven=proven)
