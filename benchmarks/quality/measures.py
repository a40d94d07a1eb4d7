"""What is measured of posteriors and decisions, and ranks over tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

FloatArray = np.ndarray

MEASURES = ("log-loss", "Brier", "ECE", "error", "cost 1:1", "cost 5:1", "cost 20:1+reject")


def measured(posterior: FloatArray, truth: FloatArray, rare: int) -> dict[str, float]:
    """Of (n_rows, n_states) posteriors, the position of the true state and of the rarest; less of each is better."""
    rows = np.arange(len(truth))
    own = posterior[rows, truth]
    target = np.zeros_like(posterior)
    target[rows, truth] = 1.0
    return {
        "log-loss": float(-np.log(np.maximum(own, 1e-15)).mean()),  # as scikit-learn's does for what trees call 0
        "Brier": float(((posterior - target) ** 2).sum(axis=1).mean()),
        "ECE": expected_calibration_error(posterior, truth),
        "error": float((posterior.argmax(axis=1) != truth).mean()),
        "cost 1:1": cost(posterior, truth, rare, 1.0),
        "cost 5:1": cost(posterior, truth, rare, 5.0),
        "cost 20:1+reject": cost(posterior, truth, rare, 20.0, reject=0.5),
    }


def cost(posterior: FloatArray, truth: FloatArray, rare: int, dear: float, reject: float | None = None) -> float:
    """The mean cost where to miss the rarest class costs `dear`, any other mistake 1, and a reject as given."""
    costs = cost_table(posterior.shape[1], rare, dear)
    if reject is not None:
        costs = np.vstack([costs, np.full(posterior.shape[1], reject)])
    action = (posterior @ costs.T).argmin(axis=1)
    return float(costs[action, truth].mean())


def cost_table(n_states: int, rare: int, dear: float) -> FloatArray:
    """(n_actions, n_states) 1 for a mistake, `dear` for one about the rarest class."""
    costs = 1.0 - np.eye(n_states)
    costs[:, rare] *= dear
    return costs


def expected_calibration_error(posterior: FloatArray, truth: FloatArray, n_bins: int = 10) -> float:
    """How far the confidence of answers is from the share of right ones, over ten bins of equal width."""
    sure, right = posterior.max(axis=1), posterior.argmax(axis=1) == truth
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    found = 0.0
    for k in range(n_bins):
        inside = bins == k
        if inside.any():
            found += inside.mean() * abs(sure[inside].mean() - right[inside].mean())
    return float(found)


def mean_ranks(scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The mean rank of each method over tables, 1 is best; equal ones share their ranks.

    >>> mean_ranks({"a": [0.1, 0.2], "b": [0.3, 0.2]})
    {'a': 1.25, 'b': 1.75}
    """
    from scipy.stats import rankdata

    table = np.array(list(scores.values()))  # (n_methods, n_tables)
    ranks = rankdata(table, axis=0).mean(axis=1)
    return dict(zip(scores, ranks.tolist(), strict=True))


def critical_difference(n_methods: int, n_tables: int) -> float:
    """Nemenyi: mean ranks farther apart than this differ at 5 %."""
    from scipy.stats import studentized_range

    q = studentized_range.ppf(0.95, n_methods, 1e6) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_tables)))
