"""Actions that are numbers, for a quantity that is not known yet but has a predictive distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError, ParameterError

_PANELS, _NODES = 256, 8  # of the quadrature over quantiles
_TAIL_LEVELS = 40  # panels that halve towards each end, as the tails are long there
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
    if not tolerance > 0:
        raise ParameterError(f"the tolerance is {tolerance}", fix="choose a number above 0")

    def missed(action: FloatArray) -> FloatArray:
        return np.asarray(predictive.cdf(action - tolerance) - predictive.cdf(action + tolerance))

    low, high = (_one(quantile(predictive, q)) for q in (1e-6, 1 - 1e-6))
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

    The expectation is an integral over quantiles, E = int_0^1 cost(q(u), a) du; `cost` takes an array of y.
    Numbers are searched from the 1e-6 quantile to its mirror unless the limits are given.

    >>> from scipy.stats import norm
    >>> answer = best_action(norm(100, 20), lambda y, a: np.where(y > a, 9 * (y - a), a - y))
    >>> round(answer.action, 2)
    125.63
    >>> best_action(norm(100, 20), lambda y, a: np.where(y > a, 9 * (y - a), a - y), actions=[90, 120, 150]).action
    120
    """
    values, weights = quadrature(predictive)

    def expected(action: Any) -> float:
        total = float(weights @ np.broadcast_to(np.asarray(cost(values, action), dtype=np.float64), values.shape))
        if not np.isfinite(total):
            raise CostError(f"the expected cost of action {action!r} is {total}", fix="choose a cost that is finite")
        return total

    if actions is not None:
        if not len(actions):
            raise CostError("there is no action", fix="name at least one")
        expectations = [expected(action) for action in actions]
        best = int(np.argmin(expectations))
        return Chosen(actions[best], expectations[best])
    bottom = _one(quantile(predictive, 1e-6)) if low is None else low
    top = _one(quantile(predictive, 1 - 1e-6)) if high is None else high
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
    fractiles = np.array([_fractile(u, o) for u, o in zip(under, over, strict=True)])
    total = np.asarray(under, dtype=np.float64) + np.asarray(over, dtype=np.float64)

    def orders(price: float) -> FloatArray:
        levels = fractiles - price / total
        wanted = [_one(quantile(d, q)) if q > 0 else 0.0 for d, q in zip(demands, levels.tolist(), strict=True)]
        return np.maximum(wanted, 0.0)

    free = orders(0.0)
    if capacity is None or free.sum() <= capacity:
        return free
    if capacity < 0:
        raise ParameterError(f"the capacity is {capacity}", fix="choose a number from 0 on")
    low, high = 0.0, float(max(under))
    for _ in range(200):
        price = 0.5 * (low + high)
        low, high = (price, high) if orders(price).sum() > capacity else (low, price)
    return orders(high)


def quantile(predictive: Any, level: Any) -> Any:
    """The quantile of a distribution that calls it `ppf` or `quantile`."""
    return predictive.ppf(level) if hasattr(predictive, "ppf") else predictive.quantile(level)


def quadrature(predictive: Any) -> tuple[FloatArray, FloatArray]:
    """Values of y and weights that sum to 1: Gauss-Legendre on panels of quantiles, narrow towards the tails."""
    inner = np.linspace(0.0, 1.0, _PANELS + 1)[1:-1]
    tails = (1.0 / _PANELS) * 0.5 ** np.arange(1.0, _TAIL_LEVELS + 1)
    edges = np.concatenate([[0.0], tails[::-1], inner, 1.0 - tails, [1.0]])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)[:, None]
    levels = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
    values = np.asarray(quantile(predictive, levels), dtype=np.float64)
    if values.size != levels.size:
        raise _of_one_row(values.size // levels.size)
    values = values.ravel()  # of a regression's distribution for one row
    return values, (half * weights).ravel()


def _one(value: Any) -> float:
    found = np.ravel(value)
    if len(found) != 1:
        raise _of_one_row(len(found))
    return float(found[0])


def _of_one_row(n_rows: int) -> ParameterError:
    return ParameterError(f"the distribution has {n_rows} rows", fix="search the action of one row at a time")


def _fractile(under: float, over: float) -> float:
    if not (under >= 0 and over >= 0 and 0 < under + over < np.inf):
        raise CostError(
            f"too little costs {under}, too much costs {over}: both must be from 0 on, one above 0",
            fix="give under= and over= as costs per unit",
        )
    return under / (under + over)


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
