"""Decisions on one feature that is counted or named: an action for each value, and the risk that no rule avoids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from bayeswise.decisions.costs.cost_cells import plain_number
from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import guess, shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, find_state, label_key, label_of

_SUM = 1e-9  # by which the probabilities of a state may miss 1


@dataclass(frozen=True, eq=False)
class ValueRule(Tabular):
    """The best action for every value v of one feature, from tables of P(v | state).

    risk = sum over values of min_a sum_s p(s) P(v | s) cost[a][s]: with 0-1 loss the error that no rule goes below.

    >>> pixels = {"a": {1: 0.5, 2: 0.3, 3: 0.2}, "b": {2: 0.1, 3: 0.4, 4: 0.5}}
    >>> best = ValueRule.of(pixels, {"a": 0.75, "b": 0.25}, Costs.zero_one(["a", "b"]))
    >>> print(best)
    a if x is 1, 2, 3; b if x is 4
    >>> round(best.risk, 6), round(best.risk_of({1: "a", 2: "a", 3: "b", 4: "b"}) - best.risk, 6)
    (0.125, 0.05)
    """

    costs: Costs
    prior: FloatArray  # (n_states,)
    values: tuple[Label, ...]  # numbers from the least up, names in the order in which they were met
    likelihood: FloatArray  # (n_values, n_states)

    @classmethod
    def of(cls, likelihoods: Mapping[Any, Mapping[Any, float]], prior: Mapping[Any, float], costs: Any) -> ValueRule:
        """From {state: {value: probability}}; a value that a state does not name has the probability 0 there."""
        states = tuple(label_of(state) for state in likelihoods)
        table = (costs if isinstance(costs, Costs) else Costs(costs)).aligned(states)
        by_state = [{label_of(v): p for v, p in each.items()} for each in likelihoods.values()]
        values = _in_order({label_key(v): v for each in by_state for v in each}.values())
        cells = [[plain_number(each.get(value, 0.0)) for each in by_state] for value in values]
        found = np.array([[np.nan if p is None else p for p in row] for row in cells])
        for k, state in enumerate(states):
            total = float(found[:, k].sum())
            if not (found[:, k] >= 0.0).all() or not abs(total - 1.0) <= _SUM:
                raise ParameterError(
                    f"the probabilities of state {state!r} must be from 0 on and sum to 1; they sum to {total:.9g}",
                    fix="divide them by their sum",
                )
        return cls(table, prior_by_state(prior, states), values, found)

    @cached_property
    def risk_of_each(self) -> FloatArray:
        """(n_values, n_actions) p(v) times the expected cost of each action there."""
        return np.asarray((self.likelihood * self.prior) @ self.costs.table.T)

    @cached_property
    def _best(self) -> IntArray:
        return np.asarray(np.argmin(self.risk_of_each, axis=1))

    @property
    def actions(self) -> tuple[Label, ...]:
        """The action for each value, in the order of `values`."""
        return tuple(self.costs.actions[k] for k in self._best.tolist())

    @property
    def risk(self) -> float:
        """The expected cost per case of the best rule."""
        return float(self.risk_of_each.min(axis=1).sum())

    def risk_of(self, actions: Mapping[Any, Any]) -> float:
        """The expected cost per case of another rule: an action for every value."""
        by_value = {label_key(label_of(value)): action for value, action in actions.items()}
        missing = [value for value in self.values if label_key(value) not in by_value]
        if missing:
            raise ParameterError(f"the rule has no action for {missing[0]!r}", fix="name one for every value")
        chosen = [self.costs.action(by_value[label_key(value)]) for value in self.values]
        return float(self.risk_of_each[np.arange(len(chosen)), chosen].sum())

    def action_at(self, value: Any) -> Label:
        """The action for one value."""
        return self.actions[find_state(value, self.values, what="no state allows the value")]

    def posterior_at(self, value: Any) -> dict[Label, float]:
        """p(state | value)."""
        joint = self.likelihood[find_state(value, self.values, what="no state allows the value")] * self.prior
        if not joint.sum() > 0.0:
            raise ParameterError(f"{value!r} has probability 0 in every state", fix=guess(value, self.values))
        return dict(zip(self.costs.states, (joint / joint.sum()).tolist(), strict=True))

    def regions(self) -> Iterator[tuple[Label, list[Label]]]:
        """The action and the values of each stretch of neighbours that share it."""
        for action, pairs in groupby(zip(self.actions, self.values, strict=True), key=lambda pair: pair[0]):
            yield action, [value for _, value in pairs]

    def to_columns(self) -> dict[str, list[Any]]:
        """value, action and the posterior of each state where the value is possible."""
        joint = self.likelihood * self.prior
        total = joint.sum(axis=1, keepdims=True)
        share = np.divide(joint, total, out=np.full(joint.shape, np.nan), where=total > 0)
        posterior = {f"p_{state}": share[:, k].tolist() for k, state in enumerate(self.costs.states)}
        return {"value": list(self.values), "action": list(self.actions), **posterior}

    def __str__(self) -> str:
        parts = ((shown(action), ", ".join(map(shown, values))) for action, values in self.regions())
        return "; ".join(f"{action} if x is {values}" for action, values in parts)

    def __repr__(self) -> str:
        return f"ValueRule({self}; risk {number(self.risk)})"


def _in_order(values: Any) -> tuple[Label, ...]:
    found = list(values)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return tuple(sorted(found))
    return tuple(found)
