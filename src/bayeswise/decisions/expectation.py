"""What a cost that depends on an unknown number comes to on average."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
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
                "the expected cost does not settle: values of y that are hardly ever met cost too much",
                fix="choose a cost with a limit, or a distribution with shorter tails",
            )
        return total

    def _level_of(self, kink: Any) -> float:
        """P(y <= kink), kept away from 0 and 1; the middle where there is no kink."""
        number = kink if isinstance(kink, int | float | np.integer) and not isinstance(kink, bool) else None
        level = 0.5 if number is None else one_number(self.predictive.cdf(number))
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
