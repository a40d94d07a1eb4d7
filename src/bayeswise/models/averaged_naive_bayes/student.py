"""Normal cells with mean and variance integrated out: their evidence, and the Student-t of the next cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.families.arithmetic.deviations import log_one_plus_square
from bayeswise.families.arithmetic.evidence import log_gamma_evidence
from bayeswise.families.arithmetic.stable_functions import log_gamma_ratio
from bayeswise.foundation.arrays import FloatArray

MEAN_SHARE = 0.1
"""A pseudo-row counts as this much of a row for the mean: classes may lie some of their own stddevs apart."""


@dataclass(frozen=True)
class Summary:
    """Weight, mean and sum of squared deviations of some cells, in units of a column; arrays of one shape."""

    weight: FloatArray
    mean: FloatArray
    square: FloatArray

    def without(self, z: FloatArray, weight: FloatArray) -> Summary:
        """The same without a cell z of some weight."""
        left = self.weight - weight
        safe = np.where(left > 0, left, 1.0)
        gap = z - self.mean
        mean = np.where(left > 0, self.mean - weight * gap / safe, 0.0)
        square = np.where(left > 0, np.maximum(self.square - weight * gap**2 * (self.weight / safe), 0.0), 0.0)
        return Summary(left, mean, square)


@dataclass(frozen=True)
class Prior:
    """`strength` pseudo-counts with this variance, and a tenth of them with this mean."""

    mean: FloatArray
    variance: FloatArray  # 0: the column does not vary, and says nothing
    strength: float

    @property
    def says(self) -> Any:
        return self.variance > 0

    @property
    def shape(self) -> float:
        """Of the variance's prior: a row is worth one half."""
        return 0.5 * self.strength

    @property
    def mean_strength(self) -> float:
        """The pseudo-counts behind the mean."""
        return MEAN_SHARE * self.strength

    def scales(self, seen: Summary) -> tuple[FloatArray, FloatArray]:
        """The prior's scale, and what the cells add to it."""
        scale = self.shape * np.where(self.says, self.variance, 1.0)
        shrunk = self.mean_strength * seen.weight / (self.mean_strength + seen.weight)
        return scale, 0.5 * (seen.square + shrunk * (seen.mean - self.mean) ** 2)

    def log_evidence(self, seen: Summary) -> FloatArray:
        """log p(cells) in units of the column, but for -n/2 log(2 pi); 0 where the column says nothing."""
        scale, added = self.scales(seen)
        log_scales = log_gamma_evidence(self.shape, scale, 0.5 * seen.weight, added)
        return np.where(self.says, log_scales - 0.5 * np.log1p(seen.weight / self.mean_strength), 0.0)

    def predictive(self, seen: Summary) -> StudentT:
        """p(z | cells)."""
        strength = self.mean_strength + seen.weight
        mean = self.mean + seen.weight * (seen.mean - self.mean) / strength
        scale, added = self.scales(seen)
        shape = self.shape + 0.5 * seen.weight
        width = np.sqrt(2.0 * (1.0 + 1.0 / strength) * (scale + added))
        log_norm = log_gamma_ratio(shape, 0.5) - 0.5 * np.log(np.pi) - np.log(width)
        return StudentT(mean, width, shape + 0.5, log_norm)

    def log_predictive(self, seen: Summary, z: FloatArray) -> FloatArray:
        """log p(z | cells); 0 where the column says nothing, or the cell is missing."""
        return np.where(np.isnan(z) | ~self.says, 0.0, self.predictive(seen).log_density(z))


@dataclass(frozen=True)
class StudentT:
    """log p(z) = log_norm - power log(1 + ((z - mean) / width)^2); arrays of one shape."""

    mean: FloatArray
    width: FloatArray
    power: FloatArray
    log_norm: FloatArray

    def log_density(self, z: FloatArray) -> FloatArray:
        return np.asarray(self.log_norm - self.power * log_one_plus_square(z - self.mean, self.width))
