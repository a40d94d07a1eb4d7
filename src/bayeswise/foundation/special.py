"""Special functions of scipy, loaded when the first of them is called: that takes longer than a small table."""

from __future__ import annotations

from typing import Any


def _special() -> Any:
    import scipy.special

    return scipy.special


def gammaln(x: Any) -> Any:
    """log |gamma(x)|.

    >>> f"{gammaln(5.0):.6f}"  # log(1 * 2 * 3 * 4)
    '3.178054'
    """
    return _special().gammaln(x)


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
    """x log y, and 0 where x is 0."""
    return _special().xlogy(x, y)


def chdtrc(freedom: Any, x: Any) -> Any:
    """P(a chi-square variable > x)."""
    return _special().chdtrc(freedom, x)


def ndtr(x: Any) -> Any:
    """The share of a standard normal below x."""
    return _special().ndtr(x)


def ndtri(p: Any) -> Any:
    """The quantile p of a standard normal."""
    return _special().ndtri(p)


def expit(x: Any) -> Any:
    """1 / (1 + e^-x)."""
    return _special().expit(x)
