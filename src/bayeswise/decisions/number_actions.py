"""Actions that are numbers, for a quantity that is not known yet but has a predictive distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from bayeswise.decisions.costs.cost_cells import plain_number
from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, ParameterError

_PANELS, _NODES = 256, 8  # of the quadrature over quantiles
_TAIL_LEVELS = 40  # panels that halve towards each end, as the tails are long there
_LEAST_MASS = 1e-15  # of the counts that are left out at either end
_MOST_COUNTS = 1_000_000
_UNSETTLED = 1e-2  # of the whole cost, in the last panel of a tail


class Expectation:
    """E[cost(y)] of one predictive distribution: an integral over quantiles, or the sum over counts.

    A cost often has a kink where y is the action, and is smooth on either side of it: the integral is cut there.

    >>> from scipy.stats import norm, poisson
    >>> round(Expectation(norm(100, 20)).of(lambda y: np.abs(y - 107), kink=107), 9)
    16.925242993
    >>> round(Expectation(poisson(3)).of(lambda y: y**2), 9)  # 3 + 3^2
    12.0
    """

    def __init__(self, predictive: Any) -> None:
        self.predictive = predictive
        self.edges = np.zeros(0)  # of the panels; counts have none
        if hasattr(predictive, "pmf"):
            self.values, self.weights = _counts(predictive)
            return
        inner = np.linspace(0.0, 1.0, _PANELS + 1)[1:-1]
        tails = (1.0 / _PANELS) * 0.5 ** np.arange(1.0, _TAIL_LEVELS + 1)
        self.edges = np.concatenate([[0.0], tails[::-1], inner, 1.0 - tails, [1.0]])
        self.values, self.weights = self._panels(self.edges)

    def of(self, cost: Callable[[FloatArray], Any], kink: Any = None) -> float:
        """The mean of `cost`, a function of an array of y."""
        if not len(self.edges):
            return float(self.weights @ _costs(cost, self.values))
        level = self._level_of(kink)
        at = int(np.searchsorted(self.edges, level, side="right")) - 1
        halves, weights = self._panels(np.array([self.edges[at], level, self.edges[at + 1]]))
        both = _costs(cost, np.concatenate([self.values, halves]))
        panels = (both[: len(self.values)] * self.weights).reshape(-1, _NODES).sum(axis=1)
        panels[at] = both[len(self.values) :] @ weights
        total = float(panels.sum())
        if max(abs(panels[0]), abs(panels[-1])) > _UNSETTLED * float(np.abs(panels).sum()):
            raise CostError(
                "the expected cost does not settle: values of y that hardly ever occur cost too much",
                fix="choose a cost with a limit, or a distribution with shorter tails",
            )
        return total

    def _level_of(self, kink: Any) -> float:
        """P(y <= kink), kept away from 0 and 1; the middle where there is no kink."""
        level = one_number(self.predictive.cdf(kink)) if is_number(kink) else 0.5
        return float(np.clip(level, self.edges[1], self.edges[-2] - 2.0**-53)) if np.isfinite(level) else 0.5

    def _panels(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values of y and their weights: Gauss-Legendre between each edge and the next, in quantiles."""
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        half = 0.5 * np.diff(edges)[:, None]
        levels = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
        values = np.asarray(quantile(self.predictive, levels), dtype=np.float64)
        if values.size != levels.size:
            raise _of_one_row(values.size // levels.size)
        return values.ravel(), (half * weights).ravel()  # of a regression's distribution for one row


def _counts(predictive: Any) -> tuple[FloatArray, FloatArray]:
    low, high = (one_number(predictive.ppf(q)) for q in (_LEAST_MASS, 1.0 - _LEAST_MASS))
    if not high - low <= _MOST_COUNTS:
        raise ParameterError(f"the distribution has {high - low:.3g} values", fix="use a density that is close to it")
    values = np.arange(low, high + 1.0)
    mass = np.asarray(predictive.pmf(values))
    return values, mass / mass.sum()


def _costs(cost: Callable[[FloatArray], Any], values: FloatArray) -> FloatArray:
    try:
        found = np.broadcast_to(np.asarray(cost(values), dtype=np.float64), values.shape)
    except (TypeError, ValueError) as error:
        raise CostError(
            f"the cost function fails for an array of y: {error}", fix="use np.where, np.maximum and the like"
        ) from error
    if not np.isfinite(found).all():
        at = int(np.argmin(np.isfinite(found)))
        raise CostError(f"the cost is {found[at]} where y is {values[at]:g}", fix="choose a cost that is finite")
    return found


def quantile(predictive: Any, level: Any) -> Any:
    """The quantile of a distribution that calls it `ppf` or `quantile`."""
    if hasattr(predictive, "ppf"):
        return predictive.ppf(level)
    if not hasattr(predictive, "quantile"):
        raise ParameterError(
            f"{type(predictive).__name__} is not a predictive distribution",
            fix="give one of scipy.stats, or model.predictive(rows) of a regression",
        )
    return predictive.quantile(level)


def one_number(value: Any) -> float:
    """What a distribution of one row answers."""
    found = np.ravel(value)
    if len(found) != 1:
        raise _of_one_row(len(found))
    return float(found[0])


def _of_one_row(n_rows: int) -> ParameterError:
    return ParameterError(f"the distribution has {n_rows} rows", fix="search the action of one row at a time")


_GRID, _SECTIONS = 257, 90


class Predictive(Protocol):
    """What a predictive distribution must offer; a frozen one of scipy.stats does, and that of a regression."""

    @property
    def mean(self) -> Any:
        """E[y], or a function of nothing that gives it."""

    def ppf(self, q: Any) -> Any:
        """The quantile; a distribution may call it `quantile`."""

    def cdf(self, x: Any) -> Any:
        """P(y <= x)."""


@dataclass(frozen=True)
class Chosen:
    """The action of least expected cost, and that cost."""

    action: Any
    expected_cost: float


def squared_action(predictive: Predictive) -> Any:
    """min_a E[(y - a)^2] is the mean."""
    return predictive.mean() if callable(predictive.mean) else predictive.mean


def absolute_action(predictive: Predictive) -> Any:
    """min_a E|y - a| is the median."""
    return quantile(predictive, 0.5)


def pinball_action(predictive: Predictive, *, under: float, over: float) -> Any:
    """min_a E[under max(y - a, 0) + over max(a - y, 0)] is the quantile under / (under + over).

    `under` is what a unit too little costs, `over` a unit too much. For a normal distribution this is
    mean + stddev * Phi^-1(under / (under + over)); distributions over arrays answer row by row.

    >>> from scipy.stats import norm
    >>> round(float(pinball_action(norm(100, 20), under=9, over=1)), 3)
    125.631
    """
    return quantile(predictive, _fractile(under, over))


def within_action(predictive: Predictive, tolerance: float) -> float:
    """min_a P(|y - a| > tolerance): the middle of the window of that width that holds most.

    >>> from scipy.stats import gamma
    >>> round(within_action(gamma(3), 1e-3), 3)  # near the mode, which is 2
    2.0
    """
    if not 0 < tolerance < np.inf:
        raise ParameterError(f"the tolerance is {tolerance}", fix="choose a number above 0")

    def missed(action: FloatArray) -> FloatArray:
        return np.asarray(predictive.cdf(action - tolerance) - predictive.cdf(action + tolerance))

    low, high = (one_number(quantile(predictive, q)) for q in (1e-6, 1 - 1e-6))
    return _least(missed, low, high)


def best_action(
    predictive: Predictive,
    cost: Callable[[Any, Any], Any],
    *,
    actions: Sequence[Any] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Chosen:
    """min_a E[cost(y, a)] for any cost: over a given set of actions, or over numbers from `low` to `high`.

    The expectation is an integral over quantiles, E = int_0^1 cost(q(u), a) du, cut where y is the action, or a sum
    over counts; `cost` takes an array of y. Numbers are searched from the 1e-6 quantile to its mirror unless the limits
    are given.

    >>> from scipy.stats import norm
    >>> answer = best_action(norm(100, 20), lambda y, a: np.where(y > a, 9 * (y - a), a - y))
    >>> round(answer.action, 4)
    125.631
    >>> best_action(norm(100, 20), lambda y, a: np.where(y > a, 9 * (y - a), a - y), actions=[90, 120, 150]).action
    120
    """
    over = Expectation(predictive)

    def expected(action: Any) -> float:
        try:
            return over.of(lambda y: cost(y, action), kink=action)
        except CostError as error:
            raise CostError(f"action {action!r}: {error.what}", fix=error.fix) from error.__cause__

    if actions is not None:
        if not len(actions):
            raise CostError("there is no action", fix="name at least one")
        expectations = [expected(action) for action in actions]
        best = int(np.argmin(expectations))
        return Chosen(actions[best], expectations[best])
    bottom = one_number(quantile(predictive, 1e-6)) if low is None else low
    top = one_number(quantile(predictive, 1 - 1e-6)) if high is None else high
    if not bottom < top:
        raise ParameterError(f"there is no number from {bottom:g} to {top:g}", fix="give low= below high=")
    action = _least(lambda candidates: np.array([expected(float(a)) for a in candidates]), bottom, top)
    return Chosen(action, expected(action))


def newsvendor(
    demands: Sequence[Predictive], *, under: Sequence[float], over: Sequence[float], capacity: float | None = None
) -> FloatArray:
    """How much of each product to order: its fractile, or less, so that all together fit the capacity.

    With a price per unit of capacity, product i is ordered up to the quantile (under - price) / (under + over); the
    least price at which all fit is the best answer, as each cost is convex.

    >>> from scipy.stats import norm
    >>> newsvendor([norm(100, 20), norm(50, 5)], under=[9, 4], over=[1, 1], capacity=150).round(2).tolist()
    [104.57, 45.43]
    """
    if not len(demands) == len(under) == len(over):
        raise ParameterError(
            f"{len(demands)} demands, {len(under)} costs of too little and {len(over)} of too much",
            fix="give one of each for every product",
        )
    if capacity is not None and not capacity >= 0:
        raise ParameterError(f"the capacity is {capacity}", fix="choose a number from 0 on")
    fractiles = np.array([_fractile(u, o) for u, o in zip(under, over, strict=True)])
    total = np.asarray(under, dtype=np.float64) + np.asarray(over, dtype=np.float64)

    def orders(price: float) -> FloatArray:
        levels = fractiles - price / total
        amounts = [one_number(quantile(d, q)) if q > 0 else 0.0 for d, q in zip(demands, levels.tolist(), strict=True)]
        return np.maximum(amounts, 0.0)

    free = orders(0.0)
    if capacity is None or free.sum() <= capacity:
        return free
    low, high = 0.0, float(max(under))
    for _ in range(200):
        price = 0.5 * (low + high)
        low, high = (price, high) if orders(price).sum() > capacity else (low, price)
    return orders(high)


def _fractile(under: float, over: float) -> float:
    little, much = (np.nan if cost is None else cost for cost in map(plain_number, (under, over)))
    if not (little >= 0 and much >= 0 and 0 < little + much < np.inf):
        raise CostError(
            f"too little costs {under}, too much costs {over}: both must be from 0 on, one above 0",
            fix="give under= and over= as costs per unit",
        )
    share = float(little / (little + much))
    if share in (0.0, 1.0) and little > 0 and much > 0:
        raise CostError(
            f"too little costs {under}, too much costs {over}: next to the larger one the other does not count",
            fix="choose costs that differ by less than 1e15",
        )
    return share


def _least(function: Callable[[FloatArray], FloatArray], low: float, high: float) -> float:
    """A grid finds the valley, golden sections its floor."""
    grid = np.linspace(low, high, _GRID)
    k = int(np.argmin(function(grid)))
    left, right = float(grid[max(k - 1, 0)]), float(grid[min(k + 1, _GRID - 1)])
    ratio = 0.5 * (5.0**0.5 - 1.0)
    for _ in range(_SECTIONS):
        inner = np.array([right - ratio * (right - left), left + ratio * (right - left)])
        one, other = function(inner).tolist()
        left, right = (left, float(inner[1])) if one <= other else (float(inner[0]), right)
    return 0.5 * (left + right)
