"""Pseudo-counts of the whole column, as the conjugate prior of a family."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeswise.families.arithmetic.chance import Chance
from bayeswise.families.priors import BetaPrior, GammaPrior
from bayeswise.foundation.arrays import FloatArray

_LEAST_CHANCE = 1e-6


def pseudo_rows_of(family: Any, whole: Any, n_pseudo: float) -> BetaPrior | GammaPrior | None:
    """So many pseudo-counts like the whole column's; None where the family has no prior of that kind.

    `whole` is the statistic of the whole column, (n_groups, n_columns). A column of zeros stands for one event in as
    many rows and one more.
    """
    if n_pseudo == 0 or not getattr(family, "streams", True):  # those keep all values, and have no such prior
        return None
    parameters = family.estimate(whole).parameters
    n_rows = whole.weight_of_rows.to_floats()[:, None]
    if family.name == "poisson":
        rate = _usable(parameters.rate, 1.0 / (n_rows + 1.0))
        return GammaPrior(n_pseudo * rate, np.full_like(rate, n_pseudo))
    if family.name == "exponential":
        rate = _usable(parameters.rate, n_rows + 1.0)
        return GammaPrior(np.full_like(rate, n_pseudo), n_pseudo / rate)
    if isinstance(parameters, Chance):
        share = np.clip(parameters.probability, _LEAST_CHANCE, 1.0 - _LEAST_CHANCE)
        return BetaPrior(n_pseudo * share, n_pseudo * (1.0 - share))
    return None


def _usable(rate: FloatArray, otherwise: FloatArray) -> FloatArray:
    return np.where((rate > 0) & np.isfinite(rate), rate, otherwise)
