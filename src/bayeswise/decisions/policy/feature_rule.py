"""Decisions on one measured number: its regions out to both ends of the floats, their risk, what no rule can avoid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.explanations.class_densities import ClassDensities, check_distribution, shares_between
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.line_regions import Regions, regions
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number
from bayeswise.tables.schema.labels import Label, label_of

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
        table = (costs if isinstance(costs, Costs) else Costs(costs)).aligned(states)
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
