"""Quantiles that need no scipy: those of scipy and of mpmath, to the last digits."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv, ndtri, stdtrit

from bayeswise.foundation.special import beta_quantile, beta_share, normal_quantile, student_quantile

SHARES = [1e-9, 1e-4, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999]


@pytest.mark.parametrize("p", [1e-300, *SHARES])
def test_a_normal_quantile_is_that_of_scipy(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(float(ndtri(p)), rel=4e-15, abs=1e-15)


@pytest.mark.parametrize("df", [0.5, 1.0, 2.0, 13.0, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("p", SHARES[1:])
def test_a_quantile_of_students_t_is_that_of_scipy(df: float, p: float) -> None:
    assert student_quantile(df, p) == pytest.approx(float(stdtrit(df, p)), rel=2e-11)


@pytest.mark.parametrize("a", [0.1, 1.0, 3.7, 200.0, 1e5])
@pytest.mark.parametrize("b", [0.5, 1.0, 9.0, 1e3, 1e6])
@pytest.mark.parametrize("p", [1e-3, 0.025, 0.5, 0.975])
def test_a_quantile_of_a_beta_is_that_of_scipy(a: float, b: float, p: float) -> None:
    assert beta_quantile(a, b, p) == pytest.approx(float(betaincinv(a, b, p)), rel=1e-11)


@pytest.mark.parametrize(("a", "b"), [(0.3, 8.0), (14.0, 2.0), (3e5, 7e5), (2e8, 5e8)])
def test_the_share_of_a_beta_below_a_value_is_right_to_twelve_digits(a: float, b: float) -> None:
    x = a / (a + b) - 2.0 * math.sqrt(a * b / (a + b)) / (a + b) if a > 1 else 0.001
    with mpmath.workdps(40):  # by the density, which needs no series of a million terms
        below = mpmath.quad(
            lambda at: mpmath.exp(
                (a - 1) * mpmath.log(at) + (b - 1) * mpmath.log1p(-at) - mpmath.log(mpmath.beta(a, b))
            ),
            [mpmath.mpf(x) * n / 64 for n in range(65)] if a < 100 else [x - x * n / 4096 for n in range(60, -1, -1)],
        )
    assert beta_share(a, b, x) == pytest.approx(float(below), rel=1e-9)


@given(st.floats(0.05, 1e4), st.floats(0.05, 1e4), st.floats(1e-6, 1.0 - 1e-6))
def test_the_share_below_a_quantile_is_the_requested_one(a: float, b: float, p: float) -> None:
    at = beta_quantile(a, b, p)
    below, above = beta_share(a, b, math.nextafter(at, 0.0)), beta_share(a, b, math.nextafter(at, 1.0))
    assert below - 1e-9 <= p <= above + 1e-9


def test_quantiles_of_nothing_and_of_all_are_the_ends() -> None:
    assert (beta_quantile(2.0, 3.0, 0.0), beta_quantile(2.0, 3.0, 1.0)) == (0.0, 1.0)
    assert (normal_quantile(0.0), normal_quantile(1.0)) == (-math.inf, math.inf)
    assert student_quantile(5.0, 0.5) == 0.0
