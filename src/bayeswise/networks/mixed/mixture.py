"""What is believed of a number: a mixture of normals, one for each configuration of the states that matter to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.special import ndtr


@dataclass(frozen=True)
class NormalMixture:
    """sum of weight * Normal(mean, stddev); exact unless `standard_error` (of the mean) says otherwise.

    >>> NormalMixture("x", np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.array([1.0, 1.0]))
    NormalMixture(x: mean 0, stddev 1.414)
    """

    node: str
    weights: FloatArray = field(repr=False)  # (n_components,) they sum to 1
    means: FloatArray = field(repr=False)
    stddevs: FloatArray = field(repr=False)
    log_evidence: float = 0.0
    standard_error: float = 0.0
    effective_rows: float = math.inf
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        return float(self.weights @ self.means)

    @property
    def stddev(self) -> float:
        """The root of the mean variance within components plus the variance of their means."""
        far = np.hypot(self.stddevs, self.means - self.mean)
        unit = float(far.max()) or 1.0
        return unit * math.sqrt(float(self.weights @ (far / unit) ** 2))

    def density(self, x: Any) -> FloatArray:
        """p(x) at each of some numbers; infinite at a number that was observed."""
        at = np.asarray(x, dtype=np.float64)[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (at - self.means) / self.stddevs
            each = np.exp(-0.5 * z**2) / (self.stddevs * math.sqrt(2.0 * math.pi))
        each = np.where(self.stddevs > 0.0, each, np.where(at == self.means, math.inf, 0.0))
        return np.asarray((self.weights * each).sum(axis=-1))

    def cdf(self, x: Any) -> FloatArray:
        """P(X <= x) at each of some numbers."""
        at = np.asarray(x, dtype=np.float64)[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            each = ndtr((at - self.means) / self.stddevs)
        each = np.where(self.stddevs > 0.0, each, (at >= self.means).astype(np.float64))
        return np.asarray((self.weights * each).sum(axis=-1))

    def quantile(self, p: float) -> float:
        """The number that X is below with probability p, by bisection down to neighbouring doubles.

        >>> one = NormalMixture("x", np.array([1.0]), np.array([10.0]), np.array([2.0]))
        >>> round(one.quantile(0.975), 3)
        13.92
        """
        if not 0.0 < p < 1.0:
            raise ParameterError(f"the probability of a quantile is {p!r}", fix="give one between 0 and 1")
        low = float((self.means - 40.0 * self.stddevs).min())
        high = float((self.means + 40.0 * self.stddevs).max())
        while (middle := low + 0.5 * (high - low)) not in (low, high):
            low, high = (middle, high) if float(self.cdf(middle)) < p else (low, middle)
        return high

    def interval(self, p: float = 0.95) -> tuple[float, float]:
        """From the quantile (1 - p) / 2 to the quantile (1 + p) / 2."""
        return self.quantile(0.5 - 0.5 * p), self.quantile(0.5 + 0.5 * p)

    def __repr__(self) -> str:
        error = f" +- {self.standard_error:.2g}" if self.standard_error else ""
        rows = "" if math.isinf(self.effective_rows) else f", worth {self.effective_rows:,.0f} rows"
        notes = "".join(f"; {note}" for note in self.notes)
        return f"NormalMixture({self.node}: mean {self.mean:.4g}{error}, stddev {self.stddev:.4g}{rows}{notes})"
