"""Edges by their probability, averaged over all orders of the columns and the graphs of each: exact for few columns.

An order is as probable as any other beforehand, so that a graph counts once for each order that it fits.
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks.learning.constraints import Constraints, Progress, silent
from bayeswise.networks.learning.search.exact import Families
from bayeswise.networks.learning.search.scores import Scores

MOST_COLUMNS = 16


def edge_posteriors(
    scores: Scores, constraints: Constraints | None = None, *, progress: Progress = silent
) -> FloatArray:
    """(n, n) P(edge parent -> child | rows), up to 16 columns.

    With f(S) the weight of all graphs over S, b(S) that of all ways on from it, and a_v(S) the sum of exp score(v | P)
    over P within S:  P(u -> v) = sum_S f(S) (a_v(S) - a_v(S - u)) b(S + v) / f(all).
    """
    n = len(scores.names)
    refuse_improbable(scores)
    if n > MOST_COLUMNS:
        raise TooLargeError(
            f"averaging over all orders of {n} columns takes too long; it goes up to {MOST_COLUMNS}",
            fix="draw orders with sampled_edges, or ignore some columns",
        )
    families = Families(scores, constraints or Constraints(), only_the_best=False)
    families.count(lambda done, total: progress("sets of columns counted", done, total))
    log_within = np.stack([_log_sums_of_subsets(families.scores_of(v), n) for v in range(n)]) if n else np.zeros((0, 1))
    log_before, log_after = _log_before(log_within, n), _log_after(log_within, n)
    found = np.zeros((n, n))
    for child in range(n):
        sets = _without(np.arange(1 << n), child)
        log_path = log_before[sets] + log_after[sets | 1 << child] - log_before[-1]
        for parent in (k for k in range(n) if k != child):
            here = sets >> parent & 1 == 1
            log_with, log_less = log_within[child, sets[here]], log_within[child, sets[here] & ~(1 << parent)]
            found[parent, child] = _summed(log_path[here], log_with, log_less)
    return np.clip(found, 0.0, 1.0)


def refuse_improbable(scores: Scores) -> None:
    """Only the log of a probability can be averaged."""
    if scores.score in ("aic", "mdl"):
        raise ParameterError(
            f"{scores.score.upper()} is not a log probability of the rows", fix="average with 'bdeu', 'k2' or 'bic'"
        )


def _log_sums_of_subsets(log_values: FloatArray, n: int) -> FloatArray:
    """(2^n,) the log of the sum over all subsets of each set."""
    sums = log_values.copy()
    for k in range(n):
        pairs = sums.reshape(-1, 2, 1 << k)
        pairs[:, 1] = np.logaddexp(pairs[:, 0], pairs[:, 1])
    return sums


def _without(sets: IntArray, member: int) -> IntArray:
    return np.asarray(sets[sets >> member & 1 == 0])


def _log_before(log_within: FloatArray, n: int) -> FloatArray:
    """(2^n,) f(S) = sum over the last node v of S:  a_v(S - v) f(S - v)."""
    log_weight = np.full(1 << n, -np.inf)
    log_weight[0] = 0.0
    sets = np.arange(1 << n)
    sizes = np.bitwise_count(sets)
    for size in range(1, n + 1):
        for last in range(n):
            here = sets[(sizes == size) & (sets >> last & 1 == 1)]
            before = here & ~(1 << last)
            log_weight[here] = np.logaddexp(log_weight[here], log_weight[before] + log_within[last, before])
    return log_weight


def _log_after(log_within: FloatArray, n: int) -> FloatArray:
    """(2^n,) b(S) = sum over the next node v:  a_v(S) b(S + v)."""
    log_weight = np.full(1 << n, -np.inf)
    log_weight[-1] = 0.0
    sets = np.arange(1 << n)
    sizes = np.bitwise_count(sets)
    for size in range(n - 1, -1, -1):
        for following in range(n):
            here = sets[(sizes == size) & (sets >> following & 1 == 0)]
            log_weight[here] = np.logaddexp(
                log_weight[here], log_weight[here | 1 << following] + log_within[following, here]
            )
    return log_weight


def _summed(log_path: FloatArray, log_with: FloatArray, log_less: FloatArray) -> float:
    """sum exp(path) (exp(with) - exp(less))."""
    share = -np.expm1(np.where(log_with > -np.inf, log_less - np.where(log_with > -np.inf, log_with, 0.0), 0.0))
    return float(np.sum(np.exp(log_path + np.where(log_with > -np.inf, log_with, -np.inf)) * share))
