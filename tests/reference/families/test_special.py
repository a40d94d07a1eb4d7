"""Special functions against mpmath at 60 digits, where the textbook formulas lose theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from bayeswise.families.arithmetic import stable_functions
from bayeswise.families.arithmetic.evidence import log_beta_power

SIZES = [1e-300, 1e-10, 0.3, 1.0, 2.5, 9.99, 10.0, 10.01, 37.5, 1e3, 1e6, 1e10, 1e15]
STEPS = [0.0, 1e-12, 0.5, 1.0, 7.25, 1e4, 1e9]


@pytest.fixture(autouse=True)
def sixty_digits() -> Any:
    with mp.workdps(60):
        yield


def error(found: Any, exact: Any) -> float:
    """The error beside the larger of the result and one."""
    return float(abs(mp.mpf(float(found)) - exact) / max(1, abs(exact)))


def log_beta_exactly(a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(mp.mpf(a) + mp.mpf(b))


@pytest.mark.parametrize("d", [-0.999, -0.51, -0.5, -0.3, -1e-3, -1e-12, 1e-140, 1e-9, 0.01, 0.49, 0.51, 3.0, 1e9])
def test_log1p_minus_keeps_all_its_digits(d: float) -> None:
    with mp.workdps(400):
        assert abs(stable_functions.log1p_minus(d).item() / (mp.log1p(mp.mpf(d)) - mp.mpf(d)) - 1) < 1e-15


@pytest.mark.parametrize("a", [10.0, 10.5, 31.0, 1e4, 1e9, 1e15])
@pytest.mark.parametrize(
    ("ours", "exact"),
    [
        (
            stable_functions.stirling_error,
            lambda a: mp.loggamma(a) - ((a - 0.5) * mp.log(a) - a + mp.log(2 * mp.pi) / 2),
        ),
        (stable_functions.log_minus_digamma, lambda a: mp.log(a) - mp.digamma(a)),
        (stable_functions.trigamma_minus_inverse, lambda a: mp.polygamma(1, a) - 1 / a),
        (stable_functions.digamma_half_step, lambda a: mp.digamma(a + 0.5) - mp.digamma(a) - 1 / (2 * a)),
    ],
)
def test_remainders_of_stirling_keep_all_digits(ours: Callable[..., Any], exact: Callable[..., Any], a: float) -> None:
    assert abs(ours(a).item() / exact(mp.mpf(a)) - 1) < 2e-15


@pytest.mark.parametrize("a", [1e-100, 1e-5, 0.01, 0.7, 1.0, 3.0, 9.9])
def test_remainders_of_stirling_below_ten(a: float) -> None:
    m = mp.mpf(a)
    remainder = mp.loggamma(m) - ((m - 0.5) * mp.log(m) - m + mp.log(2 * mp.pi) / 2)
    assert error(stable_functions.stirling_error(a), remainder) < 2e-15
    assert error(stable_functions.log_minus_digamma(a), mp.log(m) - mp.digamma(m)) < 2e-15
    assert error(stable_functions.trigamma_minus_inverse(a), mp.polygamma(1, m) - 1 / m) < 2e-15
    assert error(stable_functions.digamma_half_step(a), mp.digamma(m + 0.5) - mp.digamma(m) - 1 / (2 * m)) < 2e-15


@pytest.mark.parametrize("a", SIZES)
def test_a_ratio_of_gamma_functions(a: float) -> None:
    for step in STEPS:
        exact = mp.loggamma(mp.mpf(a) + mp.mpf(step)) - mp.loggamma(a)
        assert error(stable_functions.log_gamma_ratio(a, step), exact) < 5e-15, step


@pytest.mark.parametrize("a", SIZES)
def test_the_beta_function_of_any_two_sizes(a: float) -> None:
    for b in SIZES:
        assert error(stable_functions.log_beta(a, b), log_beta_exactly(a, b)) < 5e-15, b


@pytest.mark.parametrize("a", SIZES)
@pytest.mark.parametrize("sigmas", [-3.0, 0.0, 1e-3, 1.0, 30.0])
def test_powers_near_their_peak_and_far_from_it(a: float, sigmas: float) -> None:
    for b in SIZES:
        share = mp.mpf(a) / (mp.mpf(a) + b)
        x = mp.mpf(float(share + sigmas * mp.sqrt(share * (1 - share) / (mp.mpf(a) + b + 1))))
        if 0 < x < 1:
            exact = a * mp.log(x) + b * mp.log1p(-x) - log_beta_exactly(a, b)
            found = log_beta_power(a, b, float(x), float(1 - x), float(a * (1 - x) - b * x))
            assert error(found, exact) < 2e-14, b


@pytest.mark.parametrize("x", [5e-324, 1e-310, 1e-200, 0.1, 0.7, 0.99999, 1.0, 1.4, 3.7, 1e15, 1.7e308])
def test_the_logarithm_as_a_pair_has_a_tiny_absolute_error(x: float) -> None:
    high, low = stable_functions.log_pair(x)
    assert abs(mp.mpf(float(high)) + mp.mpf(float(low)) - mp.log(mp.mpf(x))) < 1.2e-16


def test_two_product_is_exact() -> None:
    generator = np.random.default_rng(1)
    a, b = generator.standard_normal((2, 100)) * 10.0 ** generator.integers(-100, 100, (2, 100))
    high, low = stable_functions.two_product(a, b)
    for k in range(100):
        assert mp.mpf(high[k]) + mp.mpf(low[k]) == mp.mpf(a[k]) * mp.mpf(b[k])


def test_two_product_stays_quiet_at_the_ends_of_the_range() -> None:
    high, low = stable_functions.two_product([1e308, 1e200, 5e-324], [1.5, 1e200, 0.5])
    assert high.tolist() == [1.5e308, np.inf, 0.0] and low.tolist() == [0.0, 0.0, 0.0]
