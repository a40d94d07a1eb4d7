"""mpmath at 50 digits as the oracle of the families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np

from bayeswise.families.protocol import ExponentialForm


def relative_error(found: Any, exact: Any) -> float:
    """|found - exact| / |exact|, computed at 50 digits; 0 if both are zero or the same infinity."""
    one, other = mp.mpf(float(found)), mp.mpf(exact)
    if one == other:
        return 0.0
    return float(abs(one - other) / abs(other))


def error_of_density(found: Any, exact: Any) -> float:
    """The error of a log density, relative to it or, where it is near zero, that of the density itself."""
    one, other = mp.mpf(float(found)), mp.mpf(exact)
    return float(abs(one - other) / max(mp.mpf(1), abs(other)))


def log_beta(*weights: Any) -> Any:
    """The logarithm of the multivariate beta function."""
    return mp.fsum(mp.loggamma(mp.mpf(weight)) for weight in weights) - mp.loggamma(mp.fsum(map(mp.mpf, weights)))


def log_gamma_evidence(shape: Any, rate: Any, events: Any, time: Any) -> Any:
    a, b, k, t = (mp.mpf(value) for value in (shape, rate, events, time))
    return mp.loggamma(a + k) - mp.loggamma(a) + a * mp.log(b) - (a + k) * mp.log(b + t)


def gradient(function: Callable[..., Any], point: Sequence[Any]) -> list[Any]:
    return [mp.diff(function, tuple(point), _order(len(point), i)) for i in range(len(point))]


def hessian(function: Callable[..., Any], point: Sequence[Any]) -> list[list[Any]]:
    size = range(len(point))
    return [[mp.diff(function, tuple(point), _order(len(point), i, j)) for j in size] for i in size]


def _order(size: int, *positions: int) -> tuple[int, ...]:
    return tuple(positions.count(k) for k in range(size))


def check_exponential_form(form: ExponentialForm, log_partition: Callable[..., Any]) -> None:
    """The form's numbers are those of its log-partition a(eta), and its derivatives those of mpmath."""
    eta = [mp.mpf(float(np.squeeze(value))) for value in form.natural]
    near(form.log_partition, log_partition(*eta))
    for found, exact in zip(form.mean_of_sufficient, gradient(log_partition, eta), strict=True):
        near(found, exact)
    for found_row, exact_row in zip(form.covariance_of_sufficient, hessian(log_partition, eta), strict=True):
        for found, exact in zip(found_row, exact_row, strict=True):
            near(found, exact)


def near(found: Any, exact: Any) -> None:
    assert abs(mp.mpf(float(np.squeeze(found))) - exact) <= mp.mpf(1e-12) * max(abs(exact), 1)


def check_moments_of_sufficient(form: ExponentialForm, x: Any, probability: Any) -> None:
    """Mean and covariance of T(x), summed over points x with their probabilities, are those that the form says."""
    share = probability / probability.sum()
    terms = [np.asarray(t, dtype=np.float64) for t in form.sufficient(x)]
    means = [float((share * t).sum()) for t in terms]
    np.testing.assert_allclose(means, [float(np.squeeze(m)) for m in form.mean_of_sufficient], rtol=1e-8, atol=1e-10)
    for i, row in enumerate(form.covariance_of_sufficient):
        for j, covariance in enumerate(row):
            found = float((share * (terms[i] - means[i]) * (terms[j] - means[j])).sum())
            np.testing.assert_allclose(found, float(np.squeeze(covariance)), rtol=1e-8, atol=1e-8)
