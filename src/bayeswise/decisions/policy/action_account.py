"""Why this action and not that one: costs, posterior, how far the boundary is, what each column moved, what flips it.

d_s = cost(rival, s) - cost(action, s) is what the action saves in state s, and sum_s p_s d_s what it saves on average.
Split into gain and loss, log sum_{d>0} p d - log sum_{d<0} p |d| is the distance from the boundary; for two states it
is the log-odds less those of the threshold, and every column moves it by its own weight of evidence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import costs_and_prior, learned_prior
from bayeswise.decisions.policy.action_change import ChangeSearch, expected_costs, half_saved, lead
from bayeswise.explanations import Account, Flip
from bayeswise.explanations.alternatives import Alternatives, Explainable, alternatives_of
from bayeswise.explanations.answered import AnsweredAccount
from bayeswise.explanations.balance import factor_text, value_text
from bayeswise.explanations.flip import no_other_texts, texts_of
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, listed
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import guess, shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import json_number, json_value
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.source import open_source

_ONE_ACTION = "the costs have the single action"


@dataclass(frozen=True, eq=False)
class ActionAccount:
    """The best action of one case beside a rival, by default the second best.

    >>> from bayeswise.explanations import Contribution
    >>> case = Account(("good", "bad"), np.log([0.7, 0.3]), (
    ...     Contribution("duration", 48, np.log([0.2, 0.4])),
    ... ))
    >>> loan = Costs({"lend": {"good": 0, "bad": 5}, "refuse": {"good": 1, "bad": 0}})
    >>> story = ActionAccount.of(case, loan)
    >>> story
    ActionAccount(refuse, not lend; expected cost: refuse 0.5385, lend 2.308)
    >>> print(story.summary())
    Why refuse, not lend?
    Expected cost: refuse 0.5385, lend 2.308.
    P(bad) = 0.4615; refuse is cheaper from 0.1667 on, lend below it: the odds are 4.29 times those of the threshold.
    The most probable class is good (0.5385), but lend in the case of bad costs 5 more than refuse.
    """

    account: Account  # of the states
    costs: Costs  # of this case: numbers, in the order of the states
    action: Label
    rival: Label
    change: Flip | None = None  # the least change that changes the action, if it was looked for and there is one
    searched: bool = False
    texts: tuple[str, ...] = ()  # columns that the search left as they are

    @classmethod
    def of(cls, account: Account, costs: Any, against: Any = None) -> ActionAccount:
        """The action of least expected cost; `against` names the action to compare it with."""
        table = Costs.of(costs, account.states)
        if len(table.actions) < 2:
            raise ParameterError(f"{_ONE_ACTION} {table.actions[0]!r}", fix="add another action to compare it with")
        expected = expected_costs(account, table.table)
        best = int(np.argmin(expected))
        if against is None:
            others = [k for k in range(len(expected)) if k != best]
            rival = min(others, key=lambda k: (expected[k], k))
        else:
            rival = table.action(against)
            if rival == best:
                raise ParameterError(f"{against!r} is the action itself", fix="name another action, or none")
        return cls(account, table, table.actions[best], table.actions[rival])

    @cached_property
    def expected_cost(self) -> dict[Label, float]:
        """By action."""
        return dict(zip(self.costs.actions, expected_costs(self.account, self.costs.table).tolist(), strict=True))

    @cached_property
    def _saved(self) -> FloatArray:
        """(n_states,) half of what the action costs less than its rival in each state: no difference is too large."""
        return half_saved(self.costs, self.costs.action(self.action), self.costs.action(self.rival))

    @cached_property
    def states(self) -> tuple[Label, Label]:
        """The state that speaks most for the action, and the one that speaks most for its rival."""
        p, d = self.account.posterior, self._saved
        order = np.lexsort((p, p * d))
        first, last = int(order[-1]), int(order[0])
        return self.account.states[first], self.account.states[last]

    @property
    def distance(self) -> float:
        """How far beyond the boundary, in log-odds; infinite if the rival is never cheaper."""
        return lead(self.account.log_joint, self._saved)

    @property
    def threshold(self) -> float | None:
        """For two states, the probability of the first of `states` at which both actions cost the same."""
        if len(self.account.states) != 2 or not math.isfinite(self.distance):
            return None
        k = self.account.states.index(self.states[0])
        return 1.0 / (1.0 + float(self._saved[k]) / float(-self._saved[1 - k]))

    # -- in words ---------------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        costs = listed((f"{shown(action, 24)} {number(cost)}" for action, cost in self._by_cost()), 3)
        return f"ActionAccount({shown(self.action, 24)}, not {shown(self.rival, 24)}; expected cost: {costs})"

    def _by_cost(self) -> list[tuple[Label, float]]:
        """Actions with their expected costs, the least first."""
        return sorted(self.expected_cost.items(), key=lambda each: each[1])

    def summary(self) -> str:
        """The lines above the bars."""
        lines = [
            self._headline,
            f"Expected cost: {listed((f'{shown(a)} {number(cost)}' for a, cost in self._by_cost()), 6)}.",
            self._boundary(),
        ]
        return "\n".join([*lines, *self._against_the_odds()])

    def _boundary(self) -> str:
        state, p = self.states[0], self._share(self.states[0])
        if not math.isfinite(self.distance):
            return f"{shown(self.rival)} never costs less than {shown(self.action)} in a state that is possible here."
        times = number(math.exp(min(self.distance, 700.0)), 3)
        if self.threshold is None:
            return (
                f"P({shown(state)}) = {number(p)}; evidence against it of {times} to 1 would make {shown(self.rival)} "
                "as cheap."
            )
        return (
            f"P({shown(state)}) = {number(p)}; {shown(self.action)} is cheaper from {number(self.threshold)} on, "
            f"{shown(self.rival)} below it: the odds are {times} times those of the threshold."
        )

    def _against_the_odds(self) -> list[str]:
        likely, state = self.account.most_probable, self.states[0]
        if likely == state or not math.isfinite(self.distance):
            return []
        with np.errstate(over="ignore"):
            more = float(2.0 * self._saved[self.account.states.index(state)])
        amount = "far" if math.isinf(more) else number(more)
        return [
            f"The most probable class is {shown(likely)} ({number(self._share(likely))}), but {shown(self.rival)} "
            f"in the case of {shown(state)} costs {amount} more than {shown(self.action)}."
        ]

    def _share(self, state: Label) -> float:
        return float(self.account.posterior[self.account.states.index(state)])

    def to_text(self, *, width: int = 80) -> str:
        """The summary, and the bars of the columns: to the right they speak for the action."""
        from bayeswise.explanations.account_views import account_text

        bars = account_text(self.account, self.account.weigh(*self.states), width=width, question=self.question)
        return f"{self.summary()}\n\n{bars}" + (f"\n\n{change_text(self.change, self.texts)}" if self.searched else "")

    def to_html(self) -> str:
        """A page that needs nothing else: the summary, the bars of the columns, and what would change the action."""
        from bayeswise.render.page import page

        return page(self.account.title or self._headline, *self._sections())

    def to_fragment(self) -> str:
        """The same as a part of a page."""
        return "".join(self._sections())

    @property
    def _headline(self) -> str:
        return f"Why {shown(self.action)}, not {shown(self.rival)}?"

    def _sections(self) -> list[str]:
        from bayeswise.explanations.account_views import headed_parts

        lines = [*self.summary().splitlines()[1:], *([change_text(self.change, self.texts)] if self.searched else [])]
        return headed_parts(self.account, self.account.weigh(*self.states), self._headline, lines)

    def reasons(self, n: int = 3) -> str:
        """The strongest columns in a line; a factor above 1 speaks for the action, below 1 for its rival.

        >>> from bayeswise.explanations import Contribution
        >>> case = Account(("good", "bad"), np.log([0.7, 0.3]), (
        ...     Contribution("duration", 48, np.log([0.2, 0.4])),
        ... ))
        >>> loan = {"lend": {"good": 0, "bad": 5}, "refuse": {"good": 1, "bad": 0}}
        >>> ActionAccount.of(case, loan).reasons()
        'duration 48 × 2'
        """
        strongest = [each for each in self.account.weigh(*self.states).ranked if each.log_ratio != 0.0][:n]
        return "; ".join(
            f"{shown(each.column)} {value_text(each.value, each.note)} {factor_text(each.log_ratio)}"
            for each in strongest
        )

    @property
    def question(self) -> str:
        """The line above the bars."""
        first, second = map(shown, self.states)
        return f"What speaks for {first} and so for {shown(self.action)}, and what for {second}:"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the account of the states left out."""
        return {
            "action": json_value(self.action),
            "against": json_value(self.rival),
            "expected_cost": {str(action): json_number(cost) for action, cost in self.expected_cost.items()},
            "state": json_value(self.states[0]),
            "threshold": self.threshold,
            "distance": json_number(self.distance),
            **({"change": None if self.change is None else self.change.to_dict()} if self.searched else {}),
        }

    def __str__(self) -> str:
        return self.to_text()

    # -- what would change it ---------------------------------------------------------------------------------
    def least_change(self, alternatives: Alternatives, to: Any = None, *, keep: Collection[str] = ()) -> Flip | None:
        """The least change that makes another action the best one, or the named one; None if none does.

        The fewest columns, and their nearest values (`explanations/nearest.py`). For two states the fewest columns are
        proven to be so: columns move the log-odds independently, and those that move them most come first.
        """
        return ChangeSearch(self.account, self.costs, self.action).least(alternatives, to, keep=keep)


def explain_action(
    model: Explainable,
    row: Any,
    costs: Any,
    *,
    against: Any = None,
    prior: Mapping[Any, float] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> ActionAccount:
    """Why a model and costs lead to an action for one row; `columns` are those that formulas of the costs name.

    The path of a decision file is costs, too; its prior replaces the model's, unless `prior` is given.

    >>> import bayeswise as bw
    >>> rows = [{"wind": w, "fire": f} for w, f in 3 * [("weak", "no")] + [("strong", "no"), ("strong", "yes")]]
    >>> alarm = {"call": {"yes": 0, "no": 1}, "wait": {"yes": 20, "no": 0}}
    >>> print(bw.explain_action(bw.fit(rows, target="fire", model="naive-bayes"), {"wind": "strong"}, alarm).summary())
    Why call, not wait?
    Expected cost: call 0.6667, wait 6.667.
    P(yes) = 0.3333; call is cheaper from 0.04762 on, wait below it: the odds are 10 times those of the threshold.
    The most probable class is no (0.6667), but wait in the case of yes costs 20 more than call.
    """
    account = model.explain(row)
    if not isinstance(account, Account):
        raise ParameterError("actions have costs by class, and this model predicts a number", fix="use bw.decide")
    table, moved = costs_and_prior(costs, account.states)
    needed = table.columns
    if not table.constant:
        table = table.for_row(_cells_of(row if columns is None else columns, needed))
    after = moved if prior is None else prior_by_state(prior, account.states)
    if after is not None:
        account = with_prior(account, learned_prior(model), after)
    return with_change(model, ActionAccount.of(account, table, against), keep=needed)


def _cells_of(row: Any, names: Sequence[str]) -> Mapping[Any, Any]:
    """The cells of one row by column, whatever has it: those that a model explains."""
    from bayeswise.tables.encoding.one_row import is_row, row_in

    cells = row_in(row, names)
    if cells is not None and (cells is not row or is_row(cells)):
        return cells
    if isinstance(row, Batch):  # encoded, without the names of its columns
        return {}
    source = open_source(row)
    known = [column.name for column in source.columns if column.name in names]
    return {name: cell for chunk in source.chunks(known) for name in known for cell in chunk.cells(name)}


def with_change(model: Any, story: ActionAccount, to: Any = None, *, keep: Collection[str] = ()) -> ActionAccount:
    """The story with the least change of the action, where the model provides the other values of each column."""
    inside = getattr(model, "model_", model)  # of an estimator
    offers = getattr(getattr(inside, "capabilities", None), "alternatives", False)
    if not (offers or isinstance(story.account, AnsweredAccount)):
        return story
    known = [name for name in keep if name in story.account.columns]
    return replace(
        story,
        change=change_of_action(inside, story, to, keep=known),
        searched=True,
        texts=texts_of(inside, story.account),
    )


def with_prior(account: Account, before: FloatArray, after: FloatArray) -> Account:
    """The account under another prior: the same evidence."""
    return account.shifted(log(after) - log(before))


def change_of_action(
    model: Explainable, story: ActionAccount, to: Any = None, *, keep: Collection[str] = ()
) -> Flip | None:
    """The least change of the row that changes the action; columns that the costs name stay."""
    if isinstance(story.account, AnsweredAccount):
        return ChangeSearch(story.account, story.costs, story.action).by_answers(story.account, to, keep=keep)
    columns = [column for column in story.account.cells if column not in keep]
    return story.least_change(alternatives_of(model, columns), to, keep=keep)


def change_text(change: Flip | None, texts: Collection[str] = ()) -> str:
    """What would change the action, in a sentence."""
    found = "No change of the columns changes the action" if change is None else change.sentence()
    return found + no_other_texts(texts) + ("." if change is None else "")


def action_named(text: str, costs: Costs) -> Label:
    """The action that a text means."""
    for action in costs.actions:
        if str(action) == text:
            return action
    raise ParameterError(f"the costs have no action {text!r}", fix=guess(text, costs.actions))
