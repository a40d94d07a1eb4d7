"""A row to label and the reason; rows whose best action is to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.acquisition.pool_risk import Step
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import Decisions
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, ParameterError, listed
from bayeswise.render.labels import shown
from bayeswise.tables.schema.labels import Label

_REASONS = {
    "entropy": "its entropy is the largest ({score:.3g} bits)",
    "margin": "its two most probable classes are closest ({lead:.3g} apart)",
    "least confident": "its most probable class has the lowest probability ({confidence:.3g})",
    "density-weighted": "it is uncertain and like many others (entropy times likeness {score:.3g})",
    "expected cost": "its label lowers the expected cost of a row most (by {score:.3g})",
    "ask": "asking saves {score:.3g} against the best action without it",
    "warm-up": "it was drawn at random, as long as a class has fewer than 3 labels",
    "random": "it was drawn at random, to find what is not suspected and to keep the estimate of the risk honest",
}


@dataclass(frozen=True)
class Query:
    """A row to label: its score (0 where it was drawn at random), its posterior, and the probability of its choice."""

    row: int
    score: float
    posterior: Mapping[Label, float]
    strategy: str
    chance: float
    n_open: int

    @property
    def why(self) -> str:
        """Why this row, in a sentence.

        >>> print(Query(7, 0.8, {"a": 0.6, "b": 0.4}, "margin", 1.0, 10).why)
        row 7: its two most probable classes are closest (0.2 apart); posterior: a 0.6, b 0.4
        """
        top = sorted(self.posterior.values(), reverse=True)
        reason = _REASONS[self.strategy].format(score=self.score, lead=top[0] - top[1], confidence=top[0])
        likely = sorted(self.posterior.items(), key=lambda item: -item[1])
        probable = listed((f"{shown(label, 40)} {p:.3g}" for label, p in likely), 5)
        return f"row {self.row}: {reason}; posterior: {probable}"

    def answered(self, label: Label | None) -> Step:
        """The step of a session that the answer makes."""
        return Step(self.row, label, self.chance, self.n_open)


@dataclass(frozen=True)
class RowToAsk:
    """A row whose best action is to ask: what asking saves against the best other action."""

    row: int
    saving: float
    instead: Label


def asking_action(costs: Costs, action: Any = None) -> int:
    """The position of the action that asks: the one named, the one that refuses, or one called "ask"."""
    if action is not None:
        return costs.action(action)
    for name in (costs.reject, "ask"):
        if name is not None and name in costs.actions:
            return costs.actions.index(name)
    raise CostError("no action of these costs asks for a label", fix='add one, as in "ask": 0.5')


def savings_of_asking(expected_cost: FloatArray, asking: int) -> tuple[FloatArray, IntArray]:
    """(n_rows,) what asking saves against the best other action, below 0 where it does not; and that other action."""
    others = expected_cost.copy()
    others[:, asking] = np.inf
    instead = np.argmin(others, axis=1)
    return others[np.arange(len(others)), instead] - expected_cost[:, asking], instead


def rows_to_ask(decisions: Decisions, action: Any = None) -> list[RowToAsk]:
    """The rows whose best action is to ask, the one that saves most first; ties by the order of the rows.

    >>> from bayeswise.decisions.decide import decide
    >>> costs = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}
    >>> for each in rows_to_ask(decide({"spam": [0.99, 0.7, 0.2, 0.9], "ham": [0.01, 0.3, 0.8, 0.1]}, costs)):
    ...     print(each.row, round(each.saving, 3), each.instead)
    3 0.4 keep
    1 0.2 keep
    """
    asking = asking_action(decisions.costs, action)
    saving, instead = savings_of_asking(decisions.expected_cost, asking)
    rows = np.flatnonzero(decisions.best == asking)
    ordered: Sequence[int] = rows[np.argsort(-saving[rows], kind="stable")].tolist()
    return [RowToAsk(row, float(saving[row]), decisions.actions[int(instead[row])]) for row in ordered]


def refuse_unless_share(**given: Any) -> None:
    """An error for settings that are not shares, by name."""
    for name, share in given.items():
        if not (isinstance(share, int | float | np.number) and 0 <= share <= 1):
            raise ParameterError(f"{name} is {share!r}", fix="give a share from 0 to 1")
