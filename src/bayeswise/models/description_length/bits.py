"""Bits, part by part: what a model costs, what the rows cost under it, and the codes of counts and of parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import xlogy

from bayeswise.families.arithmetic.evidence import log_dirichlet_evidence
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.description_length.multinomial import LOG_TWO, nml_bits

Code = Literal["evidence", "two-part", "nml"]
CODES: tuple[Code, ...] = ("evidence", "two-part", "nml")


@dataclass(frozen=True)
class Part:
    """The target, or a column given the target; the evidence code has no bits of a model apart."""

    name: str
    model_bits: float
    data_bits: float

    @property
    def bits(self) -> float:
        return self.model_bits + self.data_bits


@dataclass(frozen=True)
class DescriptionLength:
    """What each part costs."""

    code: Code
    parts: tuple[Part, ...]

    @property
    def bits(self) -> float:
        """L(h) + L(D | h)."""
        return math.fsum(part.bits for part in self.parts)

    @property
    def model_bits(self) -> float:
        """L(h)."""
        return math.fsum(part.model_bits for part in self.parts)

    @property
    def data_bits(self) -> float:
        """L(D | h)."""
        return math.fsum(part.data_bits for part in self.parts)

    def __repr__(self) -> str:
        parts = ", ".join(f"{part.name}: {part.bits:.1f}" for part in self.parts)
        return f"DescriptionLength({self.bits:.1f} bits by {self.code}; {parts})"


def counted_bits(count: FloatArray, code: Code) -> tuple[float, float]:
    """Model and data bits of counts (n_groups, n_cells); the evidence is that of Dirichlet(1) in each group.

    >>> [round(bits, 4) for code in CODES for bits in counted_bits(np.array([[2.0, 0.0]]), code)]
    [0.0, 1.585, 0.5, 0.0, 1.3219, 0.0]
    """
    if code == "evidence":
        return 0.0, -float(log_dirichlet_evidence(np.ones(count.shape[1]), count).sum()) / LOG_TWO
    if code == "nml":
        model, data = np.sum([nml_bits(row) for row in count], axis=0)
        return float(model), float(data)
    total = count.sum(axis=1)
    data = float((xlogy(total, total) - xlogy(count, count).sum(axis=1)).sum()) / LOG_TWO
    return parameter_bits(count.shape[0] * max(count.shape[1] - 1, 0), float(total.sum())), data


def parameter_bits(n_parameters: float, n_rows: float) -> float:
    """Half log2 n for each: as many digits as n rows can tell."""
    return 0.5 * n_parameters * math.log2(max(n_rows, 1.0))
