"""What knowing more would be worth, in the unit of the costs: everything, or one column that is still empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import factorial
from typing import Any

import numpy as np

from bayeswise.decisions.costs.cost_cells import plain_number
from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import Decisions, columns_for, decide_rows
from bayeswise.decisions.policy.feature_rule import least_risk
from bayeswise.decisions.posterior_tables import posterior_of
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, listed
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number
from bayeswise.tables.schema.labels import Label

_SUM = 1e-6  # by which likelihoods may miss 1
_ROUNDING = 1e-12  # of the largest cost
_MOST_CASES = 5_000_000  # of a plan, which take about a minute
_SLICES = 64  # of a number column, where more than one test is planned ahead


def perfect_information(
    posterior: Any, costs: Any, *, states: Sequence[Any] | None = None, rows: Any = None
) -> FloatArray:
    """(n_rows,) min_a E[cost(a)] - E[min_a cost(a)]: the most that any test can be worth.

    >>> mail = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": 0.5}
    >>> perfect_information({"spam": [0.2, 0.7], "ham": [0.8, 0.3]}, mail).round(9).tolist()
    [0.2, 0.5]
    """
    table = Costs.of(costs)
    probability, labels = posterior_of(posterior, states, table.states)
    table = table.aligned(labels)
    columns = columns_for(table, rows, len(probability))
    return perfect_information_of(decide_rows(probability, table, columns), columns)


def perfect_information_of(decisions: Decisions, columns: Mapping[str, FloatArray]) -> FloatArray:
    """The same for decisions that are made."""
    cells = decisions.costs.of_rows(columns, len(decisions))
    known = np.zeros(len(decisions))
    for k in range(len(decisions.states)):
        least = np.broadcast_to(np.asarray(cells[0][k]), (len(decisions),))
        for line in cells[1:]:
            least = np.minimum(least, line[k])
        known += decisions.posterior[:, k] * least
    return np.maximum(decisions.least_cost - known, 0.0)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a column may show and how likely each value is in each state; the rows sum to 1 over the values."""

    values: tuple[Any, ...]
    likelihood: FloatArray  # (n_values, n_states)

    def __post_init__(self) -> None:
        table = np.asarray(self.likelihood)
        if table.ndim != 2 or len(table) != len(self.values):
            raise ParameterError(
                f"{len(self.values)} values have likelihoods of the shape {table.shape}",
                fix="give one row for each value, one column for each state",
            )
        if not ((table >= 0.0).all() and (np.abs(table.sum(axis=0) - 1.0) <= _SUM).all()):
            sums = ", ".join(number(total, 6) for total in table.sum(axis=0)[:6])
            raise ParameterError(
                f"how likely the values are must sum to 1 in each state; found {sums}", fix="divide each by its sum"
            )

    @property
    def n_states(self) -> int:
        return int(self.likelihood.shape[1])

    @classmethod
    def of_levels(cls, values: Sequence[Any], log_likelihood: FloatArray) -> Outcomes:
        """Levels with log p(level | state); what is left to 1 is a level that was never seen."""
        likelihood = np.exp(log_likelihood)
        rest = np.maximum(1.0 - likelihood.sum(axis=0), 0.0)
        if rest.max() <= 1e-12:
            return cls(tuple(values), likelihood / likelihood.sum(axis=0))
        return cls((*values, "(other)"), np.vstack([likelihood, rest]))

    def sliced(self) -> Outcomes:
        return self

    def least_cost(self, weights: FloatArray, table: FloatArray) -> float:
        """sum_v min_a sum_s w_s p(v | s) cost[a][s]: no division, so that impossible values do no harm."""
        joint = self.likelihood * weights  # (n_values, n_states)
        return float((joint @ table.T).min(axis=1).sum())


@dataclass(frozen=True, eq=False)
class Densities:
    """A column of numbers: its distribution in each state (logpdf, cdf, ppf)."""

    likelihoods: tuple[Any, ...]

    @property
    def n_states(self) -> int:
        return len(self.likelihoods)

    def least_cost(self, weights: FloatArray, table: FloatArray) -> float:
        """The risk of the best rule on that number: exact up to the edges of its regions."""
        return least_risk(table, weights, self.likelihoods)

    def sliced(self) -> Outcomes:
        """The column cut into slices of equal mass under the mean of its distributions, for plans of several steps."""
        edges = np.unique([each.ppf(q) for each in self.likelihoods for q in np.linspace(0, 1, _SLICES + 1)[1:-1]])
        below = np.array([each.cdf(edges) for each in self.likelihoods]).T  # (n_edges, n_states)
        ends = np.vstack([np.zeros(below.shape[1]), below, np.ones(below.shape[1])])
        middles = [*edges.tolist(), float(edges[-1])]
        return Outcomes(tuple(middles), np.diff(ends, axis=0))


@dataclass(frozen=True)
class TestValue:
    """One test that could be made: what it saves on average, what it costs, and what is left."""

    __test__ = False  # pytest takes the name for a test

    column: str
    value: float
    price: float

    @property
    def net(self) -> float:
        return self.value - self.price


@dataclass(frozen=True)
class NextTest:
    """The tests by what they leave, the action without any, and whether to stop."""

    action: Label
    expected_cost: float  # of acting now
    perfect: float  # what knowing the state would be worth
    tests: tuple[TestValue, ...]
    planned_cost: float  # of acting on the plan: tests bought, then the best action
    posterior: Mapping[Label, float] = field(default_factory=dict)  # that it was computed with
    left_out: Mapping[str, str] = field(default_factory=dict)  # columns whose value cannot be computed, and why

    @property
    def best(self) -> TestValue | None:
        """The test to make next; None if acting now is best."""
        return self.tests[0] if self.tests and self.tests[0].net > 0 else None

    def __str__(self) -> str:
        if self.best is None:
            return f"stop and {self.action}: no test is worth its price"
        return f"{self.best.column}: worth {number(self.best.value)} at a price of {self.best.price:g}"


def next_test(
    posterior: Mapping[Any, float],
    costs: Any,
    columns: Mapping[str, Outcomes | Densities],
    prices: Mapping[str, float] | float = 0.0,
    *,
    depth: int = 1,
) -> NextTest:
    """Which empty column to look up next for one case, given that columns are independent in each state.

    value = min_a E[cost(a)] - sum_v p(v) min_a E[cost(a) | v], never below 0; `net` takes the price off. With `depth`
    above 1 the value counts what can be bought afterwards, so that two tests which only help together are found.

    >>> test = Outcomes(("+", "-"), np.array([[0.98, 0.03], [0.02, 0.97]]))
    >>> answer = next_test({"cancer": 0.008, "none": 0.992}, {"treat": {"cancer": 0, "none": 5},
    ...     "wait": {"cancer": 100, "none": 0}}, {"lab": test}, {"lab": 0.1})
    >>> answer.action, round(answer.expected_cost, 4), round(answer.best.value, 4)
    ('wait', 0.8, 0.6352)
    """
    if depth < 1:
        raise ParameterError(f"the depth is {depth}", fix="plan at least one test ahead")
    table = Costs.of(costs)
    shares, labels = posterior_of(posterior, None, table.states)
    table = table.aligned(labels)
    for name, outcomes in columns.items():
        if outcomes.n_states != len(labels):
            raise ParameterError(
                f"the outcomes of {name!r} are about {outcomes.n_states} states; there are {len(labels)}",
                fix=f"give them for {listed(map(repr, labels))}, in this order",
            )
    decisions = decide_rows(shares, table, {})
    now = float(decisions.least_cost[0])
    known = {name: outcomes.sliced() if depth > 1 else outcomes for name, outcomes in columns.items()}
    paid = {name: _price(prices, name) for name in columns}
    sizes = [len(each.values) for each in known.values() if isinstance(each, Outcomes)]
    if depth > 1 and (cases := _cases(sizes, depth)) > _MOST_CASES:
        raise ParameterError(
            f"a plan of {depth} tests out of {len(known)} has {cases:,} cases", fix="choose a smaller depth"
        )
    found = []
    for name in known:
        after = _Plan(table.table, paid).after(name, shares[0], known, depth)
        # a difference of rounding is not a value: it would send people to tests that show nothing
        saved = now - after if now - after > _ROUNDING * float(np.abs(table.table).max()) else 0.0
        found.append(TestValue(name, saved, paid[name]))
    found.sort(key=lambda test: -test.net)
    perfect = float(perfect_information_of(decisions, {})[0])
    planned = now - max([test.net for test in found] + [0.0])
    believed = dict(zip(labels, shares[0].tolist(), strict=True))
    return NextTest(decisions.action[0], now, perfect, tuple(found), planned, believed)


def _cases(sizes: Sequence[int], depth: int) -> int:
    """How many outcomes a plan looks at: of all but the last test of every sequence, times the last ones.

    >>> _cases([2, 3], 2)  # either first, the other after each of its outcomes
    5
    """
    k = min(depth, len(sizes)) - 1
    chosen = [1, *[0] * k]  # the products of k sizes, over all choices
    for size in sizes:
        for j in range(k, 0, -1):
            chosen[j] += chosen[j - 1] * size
    return factorial(k) * chosen[k] * (len(sizes) - k) if sizes else 0


def _price(prices: Mapping[str, float] | float, name: str) -> float:
    given = prices.get(name, 0.0) if isinstance(prices, Mapping) else prices
    price = plain_number(given)
    if price is None or not price >= 0.0:
        raise ParameterError(f"the price of {name!r} is {shown(given, 40)}", fix="give a number from 0 on")
    return price


@dataclass(frozen=True, eq=False)
class _Plan:
    """Tests bought one after the other, and the best action after them."""

    table: FloatArray  # (n_actions, n_states)
    prices: Mapping[str, float]

    def after(self, name: str, weights: FloatArray, columns: Mapping[str, Any], depth: int) -> float:
        """The expected cost once a column is known, the plan for the others included but not its own price."""
        rest = {other: each for other, each in columns.items() if other != name}
        if depth == 1 or not rest:
            return float(columns[name].least_cost(weights, self.table))
        joints = (weights * likelihood for likelihood in columns[name].likelihood)
        return sum(self._least(joint, rest, depth - 1) for joint in joints if joint.sum() > 0.0)

    def _least(self, joint: FloatArray, columns: Mapping[str, Any], depth: int) -> float:
        """The least of acting now and of each test with what follows; costs are in proportion to the mass."""
        mass = float(joint.sum())
        bought = (self.prices[name] * mass + self.after(name, joint, columns, depth) for name in columns)
        return min(float((self.table @ joint).min()), *bought)
