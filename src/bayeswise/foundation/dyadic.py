"""Exact arithmetic on arrays of dyadic rationals, so that derived quantities round once.

>>> weight, total, squares = (Dyadic.of_integers([v]) for v in (3, 6, 14))      # the rows 1, 2, 3
>>> (weight * squares - total * total).over(weight * weight).tolist()           # the variance 2/3
[0.6666666666666666]
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import BoolArray, FloatArray, ObjectArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.exact import ExactArray, object_array, quotient


@dataclass(frozen=True, eq=False)
class Dyadic:
    """Python integers of any size times 2^exponent."""

    integers: ObjectArray
    exponent: int

    @classmethod
    def of(cls, exact: ExactArray) -> Dyadic:
        return cls(*exact.to_ints())

    @classmethod
    def of_integers(cls, integers: ArrayLike) -> Dyadic:
        return cls(np.asarray(integers).astype(object), 0)

    @classmethod
    def of_floats(cls, floats: ArrayLike) -> Dyadic:
        return cls.of(ExactArray.from_floats(floats))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.integers.shape

    def __getitem__(self, index: Any) -> Dyadic:
        return Dyadic(np.asarray(self.integers[index], dtype=object), self.exponent)

    def __add__(self, other: Dyadic) -> Dyadic:
        exponent = min(self.exponent, other.exponent)
        return Dyadic(self._in_units(exponent) + other._in_units(exponent), exponent)

    def __sub__(self, other: Dyadic) -> Dyadic:
        return self + Dyadic(-other.integers, other.exponent)

    def __mul__(self, other: Dyadic) -> Dyadic:
        return Dyadic(np.asarray(self.integers * other.integers, dtype=object), self.exponent + other.exponent)

    def or_one(self, none: BoolArray) -> Dyadic:
        """A divisor with one in place of what must not divide."""
        return Dyadic(np.where(none, 1, self.integers).astype(object), self.exponent)

    def sum(self, axis: int) -> Dyadic:
        return Dyadic(np.asarray(self.integers.sum(axis=axis), dtype=object), self.exponent)

    def is_negative(self) -> BoolArray:
        return np.asarray(self.integers < 0, dtype=np.bool_)

    def is_zero(self) -> BoolArray:
        return np.asarray(self.integers == 0, dtype=np.bool_)

    def over(self, divisor: Dyadic) -> FloatArray:
        """The quotient, correctly rounded; the divisor must not be zero."""
        above, below = np.broadcast_arrays(self.integers, divisor.integers)
        return quotient(above, below, self.exponent - divisor.exponent)

    def over_pair(self, divisor: Dyadic) -> tuple[FloatArray, FloatArray]:
        """The quotient as high + low: twice the digits of a float, for differences x - high - low near the mean."""
        high = self.over(divisor)
        rest = self - Dyadic.of_floats(high) * divisor
        return high, rest.over(divisor)

    def sqrt_over(self, divisor: Dyadic) -> FloatArray:
        """The square root of the quotient, correctly rounded, without leaving the range of floats."""
        above, below = np.broadcast_arrays(self.integers, divisor.integers)
        exponent = self.exponent - divisor.exponent
        roots = [_root(int(a), int(b), exponent) for a, b in zip(above.ravel(), below.ravel(), strict=True)]
        return np.array(roots, dtype=np.float64).reshape(above.shape)

    def to_fractions(self) -> ObjectArray:
        unit = Fraction(2) ** self.exponent
        return object_array([Fraction(value) * unit for value in self.integers.ravel()], self.shape)

    def _in_units(self, exponent: int) -> ObjectArray:
        shift = self.exponent - exponent
        return np.asarray(self.integers * (1 << shift), dtype=object) if shift else self.integers


def _root(numerator: int, denominator: int, exponent: int) -> float:
    """sqrt(numerator / denominator * 2^exponent) by an integer root of 64 bits or more, and a bit for what it lost."""
    shift = 2 * max(0, 64 - (numerator.bit_length() - denominator.bit_length()) // 2) + (exponent & 1)
    quotient, left = divmod(numerator << shift, denominator)
    root = isqrt(quotient)
    half = (exponent - shift) // 2 - 1
    twice = 2 * root + (left != 0 or root * root != quotient)
    try:
        return twice / (1 << -half) if half < 0 else float(twice << half)
    except OverflowError:
        return float("inf")
