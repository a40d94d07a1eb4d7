"""Special functions and Cholesky factors of scipy, loaded when the first of them is called: that takes longer than a
small table, and a model that is only read needs none.

What small tables need does without scipy: log gamma, x log y, and the one or two quantiles of the normal, the beta or
Student's t distribution of an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.logspace import log
from bayeswise.foundation.threads import scipy_linalg

_HALF_LOG_TAU = 0.5 * math.log(math.tau)
_TINY = 1e-300


def _special() -> Any:
    import scipy.special

    return scipy.special


def gammaln(x: Any) -> Any:
    """log |gamma(x)|.

    >>> f"{gammaln(5.0):.6f}"  # log(1 * 2 * 3 * 4)
    '3.178054'
    """
    numbers = np.asarray(x, dtype=np.float64)
    found = np.empty(numbers.shape)
    _kernels.log_gamma(numbers.ravel(), found.reshape(-1))
    return found[()]


def betaln(a: Any, b: Any) -> Any:
    """log |beta(a, b)|."""
    return _special().betaln(a, b)


def digamma(x: Any) -> Any:
    """The derivative of log gamma."""
    return _special().digamma(x)


def polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of digamma."""
    return _special().polygamma(n, x)


def xlogy(x: Any, y: Any) -> Any:
    """x log y, and 0 where x is 0.

    >>> xlogy([0.0, 2.0], [0.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    return x * log(np.where(np.equal(x, 0.0), 1.0, y))


def chdtrc(df: Any, x: Any) -> Any:
    """P(a chi-square variable > x)."""
    return _special().chdtrc(df, x)


def ndtr(x: Any) -> Any:
    """The share of a standard normal below x."""
    return _special().ndtr(x)


def ndtri(p: Any) -> Any:
    """The quantile p of a standard normal."""
    return _special().ndtri(p)


def expit(x: Any) -> Any:
    """1 / (1 + e^-x)."""
    return _special().expit(x)


def normal_quantile(p: float) -> float:
    """The value below which a share p of a standard normal lies.

    >>> f"{normal_quantile(0.975):.12f}"
    '1.959963984540'
    """
    if not 0.0 < p < 1.0:
        return math.copysign(math.inf, p - 0.5)
    if p > 0.5:
        return -normal_quantile(1.0 - p)
    below = -math.sqrt(-2.0 * math.log(p)) - 1.0
    return _solved(
        lambda z: 0.5 * math.erfc(-z * math.sqrt(0.5)) - p,
        lambda z: math.exp(-0.5 * z * z - _HALF_LOG_TAU),
        below,
        0.0,
    )


def student_quantile(df: float, p: float) -> float:
    """The value below which a share p of Student's t with so many degrees of freedom lies.

    >>> f"{student_quantile(13.0, 0.975):.12f}"
    '2.160368656463'
    """
    if p == 0.5:
        return 0.0
    rest = beta_quantile(0.5 * df, 0.5, 2.0 * min(p, 1.0 - p))  # df / (df + t^2)
    part = 1.0 - rest  # t^2 / (df + t^2)
    if part < 0.01:
        part = beta_quantile(0.5, 0.5 * df, abs(1.0 - 2.0 * p))
        rest = 1.0 - part
    return math.copysign(math.sqrt(df * part / rest) if rest > 0.0 else math.inf, p - 0.5)


def beta_quantile(a: float, b: float, p: float) -> float:
    """The value below which a share p of Beta(a, b) lies.

    >>> f"{beta_quantile(9.0, 6.0, 0.025):.12f}"
    '0.351380110616'
    """
    if p <= 0.0 or p >= 1.0:
        return float(p >= 1.0)
    return _solved(
        lambda x: beta_share(a, b, x) - p,
        lambda x: math.exp(_log_kernel(a, b, x)) / (x * (1.0 - x)),
        0.0,
        1.0,
    )


def beta_share(a: float, b: float, x: float) -> float:
    """The share of Beta(a, b) below x, by the continued fraction of the side on which it converges quickly."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    front = math.exp(_log_kernel(a, b, x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _solved(
    excess: Callable[[float], float], slope: Callable[[float], float], low: float, high: float, rounds: int = 1100
) -> float:
    """The zero of an increasing function: Newton's step where it stays inside of the bracket, its middle elsewhere."""
    x = 0.5 * (low + high)
    for _ in range(rounds):  # halving alone comes to the least double in 1,074 of them
        found = excess(x)
        if found == 0.0:
            return x
        low, high = (x, high) if found < 0.0 else (low, x)
        steepness = slope(x)
        following = x - found / steepness if steepness > 0.0 else -math.inf
        if following == x:  # a step below the last bit
            return x
        x = following if low < following < high else 0.5 * (low + high)
        if x in (low, high):
            return x
    return x


def _log_kernel(a: float, b: float, x: float) -> float:
    """log(x^a (1 - x)^b / B(a, b)), by what x differs from the mean: of large a and b nothing cancels."""
    n = a + b
    beyond = x - a / n
    low = math.log1p(beyond * n / a) if abs(beyond * n) < 0.5 * a else math.log(x) - math.log(a / n)
    high = math.log1p(-beyond * n / b) if abs(beyond * n) < 0.5 * b else math.log1p(-x) - math.log(b / n)
    return a * low + b * high + 0.5 * math.log(a / n * b) - _HALF_LOG_TAU + _stirling(n) - _stirling(a) - _stirling(b)


def _stirling(z: float) -> float:
    """What Stirling's formula lacks of log gamma(z)."""
    if z < 16.0:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - _HALF_LOG_TAU
    w = 1.0 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / z


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, from the front (Lentz)."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 10_000_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            c, d = _away(1.0 + term / c), 1.0 / _away(1.0 + term * d)
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


# -- Cholesky factors -----------------------------------------------------------------------------------------


def cho_factor(matrix: Any, **options: Any) -> Any:
    """The factor of a positive definite matrix, and which triangle it is in; `numpy.linalg.LinAlgError` of any other.

    >>> factor = cho_factor([[4.0, 2.0], [2.0, 5.0]], lower=True)
    >>> cho_solve(factor, [8.0, 12.0]).tolist()
    [1.0, 2.0]
    """
    return scipy_linalg().cho_factor(matrix, **options)


def cho_solve(factor: Any, right: Any, **options: Any) -> Any:
    """The solution of a system whose matrix was factored."""
    return scipy_linalg().cho_solve(factor, right, **options)
