"""Minus the log of a prior of weights: what it adds to the loss, to its gradient and to its curvature.

gaussian    v^2 / (2 scale^2)          laplace    |v| / scale
student-t   (freedom + 1) / 2 log(1 + v^2 / (freedom scale^2))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.errors import ParameterError


@dataclass(frozen=True)
class Penalty:
    """The prior of the weights that are not free.

    >>> Penalty("gaussian", 2.0, np.array([False, True])).value(np.array([4.0, 9.0]))
    2.0
    """

    kind: str | None
    scale: float
    free: BoolArray  # (n,) intercepts
    freedom: float = 4.0

    def value(self, v: FloatArray) -> float:
        held = v[~self.free] / self.scale
        if self.kind == "gaussian":
            return float(0.5 * (held @ held))
        if self.kind == "laplace":
            return float(np.abs(held).sum())
        if self.kind == "student-t":
            return float(0.5 * (self.freedom + 1.0) * np.log1p(held**2 / self.freedom).sum())
        return 0.0

    def gradient(self, v: FloatArray) -> FloatArray:
        """Of the smooth part: 0 for laplace, whose part is `absolute`."""
        return self.curvature(v) * v

    def curvature(self, v: FloatArray) -> FloatArray:
        """A parabola of this curvature touches the penalty at v and stays above it, so that each step descends."""
        if self.kind == "gaussian":
            bent = np.full(len(v), self.scale**-2)
        elif self.kind == "student-t":
            bent = (self.freedom + 1.0) / (self.freedom * self.scale**2 + v**2)
        else:
            bent = np.zeros(len(v))
        return np.where(self.free, 0.0, bent)

    def second(self, v: FloatArray) -> FloatArray:
        """The second derivative itself, for the Laplace approximation."""
        if self.kind != "student-t":
            return self.curvature(v)
        wide = self.freedom * self.scale**2
        return np.where(self.free, 0.0, (self.freedom + 1.0) * (wide - v**2) / (wide + v**2) ** 2)

    @property
    def absolute(self) -> FloatArray:
        """(n,) what |v| is multiplied by."""
        return np.where(self.free, 0.0, 1.0 / self.scale if self.kind == "laplace" else 0.0)

    def log_normaliser(self) -> float:
        """log of what exp(-value) integrates to over the weights that are not free."""
        n = int(np.count_nonzero(~self.free))
        if self.kind == "gaussian":
            each = 0.5 * np.log(2.0 * np.pi) + np.log(self.scale)
        elif self.kind == "student-t":
            half = 0.5 * self.freedom
            each = gammaln(half) - gammaln(half + 0.5) + 0.5 * np.log(self.freedom * np.pi) + np.log(self.scale)
        else:
            raise ParameterError(f"a {self.kind} prior has no evidence in closed form", fix="choose a gaussian prior")
        return float(n * each)
