"""Limits on actions, rows that are unknown and priors of the rows: what changes decisions when all rows are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import Decisions, decide_rows
from bayeswise.decisions.policy.capacity import within_capacity
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.prior import estimate_prior, shifted
from bayeswise.tables.schema.labels import Label


@dataclass(frozen=True)
class Limits:
    """At most so many rows (an integer) or a share of them in an action; the share of ordinary rows called unknown."""

    at_most: Mapping[Label, int | float] = field(default_factory=dict)
    novelty: float | None = None
    unknown: str = "unknown"
    estimate: bool = False  # the prior, from the rows themselves

    @classmethod
    def typed(cls, at_most: Sequence[str], novelty: float | None, costs: Costs) -> Limits:
        """ACTION=N or ACTION=P% as they were typed.

        >>> costs = Costs({"ask": 1, "bin": {"a": 0, "b": 9}, "keep": {"a": 2, "b": 0}})
        >>> Limits.typed(["ask=5%", "bin=20"], None, costs)
        Limits(at_most={'ask': 0.05, 'bin': 20}, novelty=None, unknown='unknown', estimate=False)
        """
        if novelty is not None and not 0.0 < novelty < 1.0:
            raise ParameterError(f"--novelty is {novelty:g}", fix="give a share of rows such as 0.01")
        by_text = {str(action): action for action in costs.actions}
        found: dict[Label, int | float] = {}
        for piece in at_most:
            name, equals, text = piece.rpartition("=")
            if not equals:
                raise ParameterError(f"--at-most takes ACTION=N or ACTION=P%; found {piece!r}", fix="write ask=5%")
            action = by_text[name] if name in by_text else costs.actions[costs.action(name)]
            found[action] = _most(text, piece)
        return cls(found, novelty)


def _most(text: str, piece: str) -> int | float:
    share = text.strip().endswith("%")
    digits = text.strip().removesuffix("%")
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    whole = number == int(number) if abs(number) < 2**53 else False
    if not number >= 0 or (share and number > 100) or not (share or whole):
        raise ParameterError(
            f"--at-most {piece} is not a number of rows", fix="write a whole number, or a share: ask=5%"
        )
    return number / 100 if share else int(number)


@dataclass(frozen=True)
class Decided:
    """The decisions of a chunk, which of its rows are unlike any that the model learned, and what its costs name."""

    decisions: Decisions
    unknown: BoolArray  # (n_rows,)
    cost_columns: Mapping[str, FloatArray] = field(default_factory=dict)

    def under(self, before: FloatArray, after: FloatArray) -> Decided:
        """The same rows decided under another prior."""
        posterior = shifted(self.decisions.posterior, before, after, self.decisions.states)
        return replace(self, decisions=decide_rows(posterior, self.decisions.costs, dict(self.cost_columns)))

    def columns(self, name: str) -> list[list[Any]]:
        """action, expected_cost and runner_up; of an unknown row the runner-up is what its posterior would ask for."""
        found = self.decisions
        action, cost, second = found.action.tolist(), found.least_cost.tolist(), found.runner_up.tolist()
        priced = found.cost_of(name).tolist() if name in found.actions else None
        for row in np.flatnonzero(self.unknown).tolist():
            second[row] = action[row]
            action[row] = name
            cost[row] = None if priced is None else priced[row]
        return [action, cost, second]


def estimated_prior(held: Sequence[Decided], before: FloatArray) -> FloatArray:
    """(n_states,) the prior that makes the rows most probable, those that are unknown left out."""
    states = held[0].decisions.states
    posterior = np.concatenate([each.decisions.posterior[~each.unknown] for each in held])
    found = estimate_prior(posterior, states=states, old=dict(zip(states, before.tolist(), strict=True)))
    return np.array([found.prior[state] for state in states])


def within(held: Sequence[Decided], at_most: Mapping[Label, int | float]) -> tuple[list[Decided], dict[Label, float]]:
    """The decisions of all chunks within the limits, and the price of one more place; unknown rows take none."""
    if not held:
        return [], {}
    known = [~each.unknown for each in held]
    n_rows = sum(len(each.unknown) for each in held)
    # a share is one of all rows, so that it does not shrink with what is unknown
    places = {action: most if isinstance(most, int) else int(most * n_rows + 1e-9) for action, most in at_most.items()}
    every = replace(
        held[0].decisions,
        posterior=np.concatenate([each.decisions.posterior[k] for each, k in zip(held, known, strict=True)]),
        expected_cost=np.concatenate([each.decisions.expected_cost[k] for each, k in zip(held, known, strict=True)]),
        best=np.concatenate([each.decisions.best[k] for each, k in zip(held, known, strict=True)]),
    )
    limited = within_capacity(every, places)
    best, start, answers = limited.decisions.best, 0, []
    for each, kept in zip(held, known, strict=True):
        mine = each.decisions.best.copy()
        mine[kept] = best[start : start + int(kept.sum())]
        start += int(kept.sum())
        answers.append(replace(each, decisions=replace(each.decisions, best=mine)))
    return answers, limited.price
