"""Decisions on one measured number: regions of the line, the risk they have, and what no rule can avoid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bayeswise.decisions.costs import Costs
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.posteriors.wording import shown
from bayeswise.tables.labels import Label, label_of

_QUANTILES = 400  # of each state, between which at most one change of action is looked for at a time
_HALVINGS = 200


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
    that no rule goes below. Unequal spreads may give two edges between two states.

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
        table = (costs if isinstance(costs, Costs) else Costs(costs)).aligned(states)
        shares = prior_by_state(prior, states)
        edges, chosen = _regions(table.table, shares, tuple(likelihoods.values()))
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
        return self.actions[int(np.searchsorted(self.edges, x, side="left"))]

    def to_columns(self) -> dict[str, list[Any]]:
        """action, from, to of each region."""
        return {"action": list(self.actions), "from": [-np.inf, *self.edges], "to": [*self.edges, np.inf]}

    def __str__(self) -> str:
        ends = [f" up to {edge:.4g}" for edge in self.edges]
        parts = [f"{shown(action)}{end}" for action, end in zip(self.actions, [*ends, ""], strict=True)]
        return f"always {parts[0]}" if len(parts) == 1 else f"{', '.join(parts[:-1])}, then {parts[-1]}"

    def __repr__(self) -> str:
        return f"FeatureRule({self}; risk {self.risk:.4g})"


def least_risk(table: FloatArray, prior: FloatArray, likelihoods: Sequence[Any]) -> float:
    """The risk of the best rule, for a prior that may sum to anything."""
    edges, chosen = _regions(table, prior, likelihoods)
    return _risk(table, prior, likelihoods, edges, chosen)


def _risk(
    table: FloatArray, prior: FloatArray, likelihoods: Sequence[Any], edges: Sequence[float], chosen: Sequence[int]
) -> float:
    below = np.array([[float(each.cdf(edge)) for edge in edges] for each in likelihoods]).reshape(len(prior), -1)
    ends = np.concatenate([np.zeros((len(prior), 1)), below, np.ones((len(prior), 1))], axis=1)
    inside = np.diff(ends, axis=1)  # (n_states, n_regions)
    return float(np.sum(prior[:, None] * inside * table[list(chosen)].T))


def _regions(table: FloatArray, prior: FloatArray, likelihoods: Sequence[Any]) -> tuple[list[float], list[int]]:
    log_prior = log(prior)

    def best(x: FloatArray) -> Any:
        log_joint = np.stack([each.logpdf(x) for each in likelihoods], axis=-1) + log_prior  # (n, n_states)
        top = log_joint.max(axis=-1, keepdims=True)
        weights = np.exp(log_joint - np.where(np.isfinite(top), top, 0.0))
        return np.argmin(weights @ table.T, axis=-1)

    grid = _grid(likelihoods)
    found = best(grid)
    edges: list[float] = []
    actions = [int(found[0])]
    for k in np.flatnonzero(np.diff(found)).tolist():
        low, high = float(grid[k]), float(grid[k + 1])
        while actions[-1] != found[k + 1] and low < high:  # a third action may show up in between
            low, high_side = _first_change(best, low, high, actions[-1])
            edges.append(low)
            actions.append(int(best(np.array([high_side]))[0]))
            low = high_side
    return edges, actions


def _first_change(best: Any, low: float, high: float, action: int) -> tuple[float, float]:
    """Neighbouring numbers on both sides of the end of the region of `action`."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if best(np.array([middle]))[0] == action:
            low = middle
        else:
            high = middle
    return low, high


def _grid(likelihoods: Sequence[Any]) -> FloatArray:
    inner = np.linspace(0.0, 1.0, _QUANTILES + 1)[1:-1]
    tails = 10.0 ** -np.arange(3.0, 13.0)
    levels = np.concatenate([tails, inner, 1.0 - tails])
    found = np.unique(np.concatenate([np.asarray(each.ppf(levels), dtype=np.float64) for each in likelihoods]))
    return np.asarray(found[np.isfinite(found)])
