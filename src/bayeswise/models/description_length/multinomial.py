"""The normalised maximum likelihood code of counts: what the best multinomial in hindsight costs, and not one bit less.

A sequence is coded with log2 C(n, k) bits more than under its own maximum-likelihood multinomial, whatever it is. The
regret log C of n cells over k levels takes O(n + k) steps (Kontkanen and Myllymaki 2007):

    C(n, 1) = 1
    C(n, 2) = sum over h of binomial(n, h) (h/n)^h ((n-h)/n)^(n-h)
    C(n, j+2) = C(n, j+1) + n/j C(n, j)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log_sum_exp

LOG_TWO = math.log(2.0)


def log_regret(n: int, k: int) -> float:
    """log C(n, k).

    >>> round(math.exp(log_regret(2, 2)), 12)       # the sequences aa and bb at 1, ab and ba at 1/4
    2.5
    """
    if n < 0 or k < 1 or n != int(n):
        raise ParameterError(f"counts need whole n >= 0 and k >= 1; found n={n}, k={k}", fix="count rows and levels")
    if n == 0 or k == 1:
        return 0.0
    log_before, log_now = 0.0, _log_of_two(int(n))
    for j in range(1, k - 1):
        log_before, log_now = log_now, float(np.logaddexp(log_now, math.log(n / j) + log_before))
    return log_now


def _log_of_two(n: int) -> float:
    h = np.arange(n + 1, dtype=np.float64)
    rest = n - h
    log_sequences = gammaln(n + 1.0) - gammaln(h + 1.0) - gammaln(rest + 1.0)
    return float(log_sum_exp(log_sequences + xlogy(h, h / n) + xlogy(rest, rest / n)))


def nml_bits(counts: ArrayLike) -> tuple[float, float]:
    """The bits of the model (the regret) and of the cells under maximum likelihood, of one column of counts.

    >>> [round(bits, 4) for bits in nml_bits([2, 0])]
    [1.3219, 0.0]
    """
    seen = np.asarray(counts, dtype=np.float64)
    n = float(seen.sum())
    if n != int(n):
        raise ParameterError(f"the code of counts needs whole numbers; their sum is {n:g}", fix="leave out weights")
    data = -float(xlogy(seen, seen / n).sum()) / LOG_TWO if n > 0 else 0.0
    return log_regret(int(n), len(seen)) / LOG_TWO, data + 0.0
