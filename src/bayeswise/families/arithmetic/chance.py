"""A probability and its complement, both with all their digits: 1 - 1e-20 is not a float, but 1e-20 is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.protocol import one_line, refuse_unless
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dyadic import Dyadic
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.logspace import log


@dataclass(frozen=True, repr=False)
class Chance:
    """The probability of success, and that of failure.

    >>> Chance.of(0.25)
    Chance(probability=0.25)
    """

    probability: FloatArray
    complement: FloatArray

    @classmethod
    def of(cls, probability: ArrayLike) -> Chance:
        """From the probability alone."""
        value = np.asarray(probability, dtype=np.float64)
        refuse_unless((value >= 0) & (value <= 1), "a probability must lie between 0 and 1", value)
        return cls(value, 1.0 - value)

    @classmethod
    def of_weights(cls, successes: ArrayLike, failures: ArrayLike) -> Chance:
        """successes / (successes + failures), for weights that are not both zero."""
        for_it, against = np.asarray(successes, dtype=np.float64), np.asarray(failures, dtype=np.float64)
        total = for_it + against
        return cls(np.asarray(for_it / total), np.asarray(against / total))

    @classmethod
    def of_exact(cls, successes: ExactArray, failures: ExactArray) -> tuple[Chance, BoolArray]:
        """successes / (successes + failures), correctly rounded, and where there is any; 1/2 where both are zero."""
        total = Dyadic.of(successes + failures)
        none = total.is_zero()
        safe = total.or_one(none)
        shares = (np.where(none, 0.5, Dyadic.of(part).over(safe)) for part in (successes, failures))
        return cls(*shares), ~none

    @property
    def log_probability(self) -> FloatArray:
        return log_share(self.probability, self.complement)

    @property
    def log_complement(self) -> FloatArray:
        return log_share(self.complement, self.probability)

    def __repr__(self) -> str:
        return one_line("Chance", {"probability": self.probability})


def log_share(share: FloatArray, rest: FloatArray) -> FloatArray:
    """log of a share, from the rest where that is the smaller part.

    >>> log_share(np.array(1.0), np.array(1e-20)).item()
    -1e-20
    """
    return np.where(share <= 0.5, log(share), np.log1p(-np.minimum(rest, 0.5)))
