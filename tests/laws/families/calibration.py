"""Simulation-based calibration: the truth is as likely to have any rank among draws of the posterior.

Draw parameters from the prior, rows from the parameters, and then parameters from the posterior of these rows. If the
posterior is right, the rank of the truth among the draws is uniform; the chi-squared statistic of the ranks says so.
Everything comes from one fixed seed, so a test passes always or never.

All replications are one call: each is a group of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from bayeswise.foundation.arrays import CodeArray, FloatArray

N_REPLICATIONS = 2000
N_DRAWS = 99
N_BINS = 20
LIMIT = float(stats.chi2(N_BINS - 1).ppf(0.999))

Quantities = Callable[[Any], Mapping[str, FloatArray]]  # of parameters with shapes (..., n_replications)
Summarise = Callable[[Any, FloatArray, CodeArray, int], Any]


def of_numbers(family: Any, rows: FloatArray, groups: CodeArray, n_groups: int) -> Any:
    """The statistic of a family of numbers, from draws (n_rows, n_replications, 1)."""
    return family.statistic(rows.reshape(-1, 1), groups, n_groups)


def rank_statistics(
    family: Any,
    prior: Any,
    quantities: Quantities,
    *,
    n_rows: int,
    seed: int,
    summarise: Summarise = of_numbers,
    posterior: Callable[[Any, Any], Any] | None = None,
) -> dict[str, float]:
    """The chi-squared statistic of the ranks of each quantity; below `LIMIT` if the posterior is right."""
    generator = np.random.default_rng(seed)
    truth = family.sample_prior(prior, N_REPLICATIONS, generator)
    rows = family.sample(truth, n_rows, generator)
    groups = np.tile(np.arange(N_REPLICATIONS, dtype=np.int32), n_rows)
    statistic = summarise(family, rows, groups, N_REPLICATIONS)
    after = (posterior or family.posterior)(statistic, prior)
    draws = quantities(family.sample_prior(after, N_DRAWS, generator))
    true = quantities(truth)
    return {name: chi_squared((draws[name] < true[name]).sum(axis=0).ravel()) for name in true}


def chi_squared(ranks: FloatArray) -> float:
    """How far ranks from 0 to `N_DRAWS` are from uniform."""
    counts = np.bincount(ranks * N_BINS // (N_DRAWS + 1), minlength=N_BINS)
    expected = len(ranks) / N_BINS
    return float(((counts - expected) ** 2 / expected).sum())
