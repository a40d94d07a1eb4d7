"""Decisions on one feature, and the risk that no rule avoids.

A measured number has regions, out to both ends of the floats; what is counted or named has an action for each value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeswise.decisions.costs.cost_cells import plain_number
from bayeswise.decisions.costs.costs import Costs
from bayeswise.explanations.class_densities import ClassDensities, check_distribution, shares_between
from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.line_regions import Regions, regions
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import guess, shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, find_state, label_key, label_of

if TYPE_CHECKING:
    from bayeswise.explanations.plots import ClassDensityDisplay

_LEAST = 1e-300  # the float just below 0, where a support begins, is shown as 0


class Density(Protocol):
    """What a distribution must offer; a frozen one of scipy.stats does."""

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density."""

    def cdf(self, x: Any) -> Any:
        """P(X <= x)."""

    def ppf(self, q: Any) -> Any:
        """The quantile."""


@dataclass(frozen=True, eq=False)
class FeatureRule:
    """The action for every value x of one feature: `actions[k]` between `edges[k-1]` and `edges[k]`.

    risk = sum over regions R of sum_s p(s) cost[action of R][s] P(x in R | s): with 0-1 loss the error probability
    that no rule goes below. Unequal spreads give two edges between two states, however far out the second one is.

    >>> from scipy.stats import norm
    >>> best = FeatureRule.of({"a": norm(-1, 1), "b": norm(1, 1)}, {"a": 0.5, "b": 0.5}, Costs.zero_one(["a", "b"]))
    >>> best.actions, [round(edge, 6) + 0.0 for edge in best.edges], round(best.risk, 6)
    (('a', 'b'), [0.0], 0.158655)
    >>> round(best.risk_of([0.5], ["a", "b"]) - best.risk, 6)  # what the worse edge adds
    0.029017
    """

    costs: Costs
    prior: FloatArray  # (n_states,)
    likelihoods: tuple[Any, ...]  # one distribution for each state
    edges: tuple[float, ...]
    actions: tuple[Label, ...]

    @classmethod
    def of(cls, likelihoods: Mapping[Any, Density], prior: Mapping[Any, float], costs: Any) -> FeatureRule:
        """The best rule for these densities and priors, by name of state."""
        states = tuple(label_of(state) for state in likelihoods)
        for state, density in zip(states, likelihoods.values(), strict=True):
            check_distribution(state, density, number=True)
        if not states:
            raise ParameterError("there is no state", fix="give {state: distribution}, such as {'a': norm(0, 1)}")
        table = Costs.of(costs, states)
        shares = prior_by_state(prior, states)
        edges, chosen = regions(table.table, shares, tuple(likelihoods.values()))
        return cls(table, shares, tuple(likelihoods.values()), tuple(edges), tuple(table.actions[a] for a in chosen))

    @cached_property
    def risk(self) -> float:
        """The expected cost per case."""
        return self.risk_of(self.edges, self.actions)

    def risk_of(self, edges: Sequence[float], actions: Sequence[Any]) -> float:
        """The expected cost of another rule: one action more than edges, which must rise."""
        if len(actions) != len(edges) + 1 or list(edges) != sorted(edges):
            raise ParameterError(
                f"{len(actions)} actions and {len(edges)} edges make no regions", fix="give rising edges, one fewer"
            )
        positions = [self.costs.action(action) for action in actions]
        return _risk(self.costs.table, self.prior, self.likelihoods, edges, positions)

    def action_at(self, x: float) -> Label:
        """The action for one value."""
        if not isinstance(x, int | float | np.number) or np.isnan(x):
            raise ParameterError(f"there is no action for {x!r}", fix="give a number")
        return self.actions[int(np.searchsorted(self.edges, x, side="left"))]

    def densities(self, column: str = "x") -> ClassDensities:
        """The states along the feature: densities, posteriors, and who errs where."""
        return ClassDensities(column, self.costs.states, self.prior, self.likelihoods)

    def plot(
        self, ax: Any = None, *, column: str = "x", panels: Sequence[str] | None = None, title: str = ""
    ) -> ClassDensityDisplay:
        """Draw p(x | state), p(state) p(x | state) and p(state | x), and below the regions of the actions."""
        from bayeswise.explanations.plots import ClassDensityDisplay

        regions = Regions(column, np.array(self.edges), self.actions)
        how: dict[str, Any] = {"regions": regions, "actions": self.costs.actions, "panels": panels, "title": title}
        return ClassDensityDisplay(self.densities(column), **how).plot(ax)

    def to_columns(self) -> dict[str, list[Any]]:
        """action, from, to of each region."""
        return {"action": list(self.actions), "from": [-np.inf, *self.edges], "to": [*self.edges, np.inf]}

    def __str__(self) -> str:
        ends = [f" up to {number(edge if abs(edge) > _LEAST else 0.0)}" for edge in self.edges]
        parts = [f"{shown(action)}{end}" for action, end in zip(self.actions, [*ends, ""], strict=True)]
        return f"always {parts[0]}" if len(parts) == 1 else f"{', '.join(parts[:-1])}, then {parts[-1]}"

    def __repr__(self) -> str:
        return f"FeatureRule({self}; risk {number(self.risk)})"


def least_risk(table: FloatArray, prior: FloatArray, likelihoods: Sequence[Any]) -> float:
    """The risk of the best rule, for a prior that may sum to anything."""
    edges, chosen = regions(table, prior, likelihoods)
    return _risk(table, prior, likelihoods, edges, chosen)


def _risk(
    table: FloatArray, prior: FloatArray, likelihoods: Sequence[Any], edges: Sequence[float], chosen: Sequence[int]
) -> float:
    inside = np.array([shares_between(each, edges) for each in likelihoods])  # (n_states, n_regions)
    return float(np.sum(prior[:, None] * inside * table[list(chosen)].T))


# -- values that are counted or named ----------------------------------------------------------------------------


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
    values: tuple[Label, ...]  # numbers from the least up, names in order of appearance
    likelihood: FloatArray  # (n_values, n_states)

    @classmethod
    def of(cls, likelihoods: Mapping[Any, Mapping[Any, float]], prior: Mapping[Any, float], costs: Any) -> ValueRule:
        """From {state: {value: probability}}; a value that a state does not name has the probability 0 there."""
        states = tuple(label_of(state) for state in likelihoods)
        table = Costs.of(costs, states)
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
    if all(map(is_number, found)):
        return tuple(sorted(found))
    return tuple(found)
