"""The distribution of a target that has not been seen yet, one for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.foundation.special import ndtri

_SCIPY = {"student-t": "t", "gaussian": "norm", "laplace": "laplace", "poisson": "poisson", "exponential": "expon"}


@earlier_fields(freedom="df")
@dataclass(frozen=True, eq=False)
class Predictive:
    """p(y | row): the mean, stddev and quantiles of y for each row.

    >>> ahead = Predictive("student-t", np.array([10.0]), np.array([2.0]), df=4.0)
    >>> ahead.mean.tolist(), ahead.stddev.round(4).tolist(), ahead.quantile(0.975).round(4).tolist()
    ([10.0], [2.8284], [15.5529])
    """

    kind: str
    location: FloatArray  # (n_rows,)
    scale: FloatArray  # (n_rows,); for counts and times the mean is all there is
    df: FloatArray | float = np.inf

    @classmethod
    def joined(cls, parts: Sequence[Predictive]) -> Predictive:
        """Some rows, and some more."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            raise FitError("there are no rows", fix="give at least one")
        location, scale = (np.concatenate([getattr(part, name) for part in parts]) for name in ("location", "scale"))
        df = np.concatenate([np.broadcast_to(part.df, part.location.shape) for part in parts])
        return cls(parts[0].kind, location, scale, df)

    @property
    def mean(self) -> FloatArray:
        """(n_rows,) E[y | row]; undefined (an error) for a student-t of at most one degree of freedom."""
        if self.kind == "student-t" and np.any(np.asarray(self.df) <= 1):
            least = float(np.min(self.df))
            raise ParameterError(f"a student-t of {least:g} degrees of freedom has no mean", fix="use quantile(0.5)")
        return self.location

    @property
    def stddev(self) -> FloatArray:
        """(n_rows,); infinite for a student-t of at most two degrees of freedom."""
        if self.kind == "student-t":
            df = np.maximum(self.df, 2.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = np.sqrt(np.where(np.isinf(df), 1.0, df / (df - 2.0)))
                known = np.where(self.scale == 0, 0.0, self.scale * factor)  # without noise nothing is uncertain
            return np.where(np.isinf(factor), known, within_floats(known))
        if self.kind in ("poisson", "exponential"):  # of a mean that is too small to be a float, too
            return np.sqrt(self.location) if self.kind == "poisson" else self.location
        with np.errstate(over="ignore"):
            return within_floats(self._law().std() * np.ones_like(self.location))

    def quantile(self, probability: ArrayLike) -> FloatArray:
        """(n_rows,) the value that y stays below with this probability; (n_rows, n) for several."""
        p = np.asarray(probability, dtype=np.float64)
        if not np.all((p >= 0) & (p <= 1)):
            what = f"a probability lies between 0 and 1; found {probability!r}"
            raise ParameterError(what, fix="give shares, such as 0.05 and 0.95")
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.asarray(self._law(p.ndim).ppf(p))
        if self.kind == "poisson":  # beyond what counts one by one, a normal of the same mean and variance
            mean = self.location.reshape(-1, *[1] * p.ndim)
            found = np.where((mean > 1e12) & (p > 0) & (p < 1), mean + np.sqrt(mean) * ndtri(p), found)
        certain = (self.scale.reshape(-1, *[1] * p.ndim) == 0) & (self.kind != "poisson")
        return np.where(np.isinf(found) & ((p == 0) | (p == 1)) & ~certain, found, within_floats(found))

    def cdf(self, value: ArrayLike) -> FloatArray:
        """(n_rows,) the probability that y is at most this value: one for all rows, or one for each."""
        return np.asarray(self._law().cdf(np.asarray(value, dtype=np.float64)))

    def log_density(self, value: ArrayLike) -> FloatArray:
        """(n_rows,) log p(value | row)."""
        law = self._law()
        at = np.asarray(value, dtype=np.float64)
        return np.asarray(law.logpmf(at) if self.kind == "poisson" else law.logpdf(at))

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> FloatArray:
        """(n, n_rows) draws."""
        return np.asarray(self._law().rvs(size=(n, len(self.location)), random_state=np.random.default_rng(seed)))

    def _law(self, more_axes: int = 0) -> Any:
        from scipy import stats

        shape = (-1, *[1] * more_axes)
        # A scale of 0 is the certain value `location`; scipy needs one above 0.
        location = self.location.reshape(shape)
        scale = np.maximum(self.scale.reshape(shape), np.finfo(np.float64).tiny)
        law = getattr(stats, _SCIPY[self.kind])
        if self.kind == "student-t":
            df = np.broadcast_to(np.asarray(self.df, dtype=np.float64), self.location.shape).reshape(shape)
            return law(df, loc=location, scale=scale)
        if self.kind == "poisson":
            return law(location)
        if self.kind == "exponential":
            return law(scale=np.maximum(location, np.finfo(np.float64).tiny))
        return law(loc=location, scale=scale)


def within_floats(values: Any) -> FloatArray:
    """Beyond the range of floats, the largest float."""
    most = float(np.finfo(np.float64).max)
    return np.asarray(np.clip(values, -most, most))
