"""Means, variances and standard deviations of exact sums are the nearest floats, whatever the sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt, ldexp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswise import _kernels
from bayeswise.foundation.exact import ExactArray, object_array
from bayeswise.statistics import Moments, Scatter

COMMON = st.floats(-1e3, 1e3)
WILD = st.floats(allow_nan=False, allow_infinity=False, width=64)
CLOSE = st.integers(0, 7).map(lambda k: 1e15 + k / 8)
TINY = st.integers(-9, 9).map(lambda k: k * 5e-324)
COLUMNS = st.one_of(*(st.lists(kind, min_size=1, max_size=9) for kind in (COMMON, WILD, CLOSE, TINY)))


def nearest_root(square: Fraction) -> float:
    """The float nearest to the square root, by integers alone."""
    if square == 0:
        return 0.0
    shift = 2 * (1200 + square.denominator.bit_length())
    scaled = (square.numerator << shift) // square.denominator
    root = isqrt(scaled)
    exact = Fraction(root, 1 << (shift // 2))
    sticky = Fraction(0) if exact * exact == square else Fraction(1, 1 << (shift // 2 + 1))
    try:
        return float(exact + sticky)
    except OverflowError:
        return float("inf")


def nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def exact_variance(column: list[float], less: int) -> Fraction:
    values = [Fraction(x) for x in column]
    n, total = len(values), sum(values, Fraction(0))
    return (n * sum((x * x for x in values), Fraction(0)) - total * total) / (n * (n - less))


def moments_of(column: list[float]) -> Moments:
    return Moments.of(np.array(column)[:, None])


@given(COLUMNS)
def test_the_mean_is_the_nearest_float_and_what_it_leaves_is_too(column: list[float]) -> None:
    mean = sum(map(Fraction, column), Fraction(0)) / len(column)
    high, low = moments_of(column).mean_pair()
    assert high.item() == float(mean)
    assert low.item() == float(mean - Fraction(high.item()))


@given(COLUMNS, st.sampled_from(["n", "n-1"]))
def test_the_standard_deviation_is_the_nearest_float(column: list[float], divisor: Any) -> None:
    less = 0 if divisor == "n" else 1
    found = moments_of(column).stddev(divisor, empty=-1.0).item()
    assert found == (-1.0 if len(column) <= less else nearest_root(exact_variance(column, less)))


@given(st.lists(COMMON, min_size=2, max_size=9), st.sampled_from(["n", "n-1"]))
def test_the_variance_is_the_nearest_float(column: list[float], divisor: Any) -> None:
    assert moments_of(column).variance(divisor).item() == float(exact_variance(column, 0 if divisor == "n" else 1))


@given(COLUMNS)
def test_long_integers_in_python_say_the_same_as_the_kernel(column: list[float]) -> None:
    """Weights of a half are not counts, so the same rows at half weight go the other way."""
    whole = moments_of(column * 2)
    half = Moments.of(np.array(column * 4)[:, None], weights=np.full(4 * len(column), 0.5))
    assert whole.weight == half.weight
    slow = replace(half)
    object.__setattr__(slow.weight, "as_counts", lambda: None)
    for mine, theirs in zip(whole.mean_pair(), slow.mean_pair(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(whole.stddev("n"), slow.stddev("n"))
    np.testing.assert_array_equal(whole.variance("n-1", empty=0.0), slow.variance("n-1", empty=0.0))


@given(st.data())
def test_sums_of_any_length_over_any_count_of_rows_are_rounded_once(data: st.DataObject) -> None:
    """Also where the mean is next to a float, and what it leaves has lost most of its leading bits."""
    count = data.draw(st.integers(1, 2**31 - 1) | st.integers(1, 9))
    near = data.draw(st.integers(-(2**53), 2**53)) * count << data.draw(st.integers(0, 200))
    total = near + data.draw(st.integers(-9, 9) | st.integers(-(2**90), 2**90))
    low = data.draw(st.integers(-12, 8))
    sums = ExactArray.from_ints(object_array([total], (1, 1)), low)
    high, rest = np.empty((1, 1)), np.empty((1, 1))
    assert _kernels.exact_means(high, rest, sums.digits, sums.low, np.full((1, 1), count))
    mean = total * Fraction(2) ** (32 * low) / count
    assert high.item() == float(mean)
    assert rest.item() == float(mean - Fraction(high.item()))


@given(st.data())
def test_spreads_of_any_length_over_any_count_of_rows_are_rounded_once(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 2**31 - 1) | st.integers(2, 9))
    total = data.draw(st.integers(-(2**100), 2**100))
    beyond = data.draw(st.integers(0, 9) | st.integers(0, 2**180))
    squares = -(-total * total // count) + beyond
    variance = Fraction(count * squares - total * total, count * (count - 1)) / Fraction(2) ** 128
    sums = [ExactArray.from_ints(object_array([each], (1, 1)), low) for each, low in ((total, -2), (squares, -4))]
    parts = (part for each in sums for part in (each.digits, each.low))
    found = np.empty((1, 1))
    arguments = (*parts, np.full((1, 1), count), 1)
    assert _kernels.exact_spreads(found, *arguments, False)
    assert found.item() == float(variance)
    assert _kernels.exact_spreads(found, *arguments, True)
    assert found.item() == nearest_root(variance)


@given(st.data())
def test_scatters_of_any_length_and_sign_are_rounded_once(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 2**31 - 1) | st.integers(1, 9))
    long = st.integers(-(2**100), 2**100) | st.integers(-9, 9)
    totals = data.draw(st.lists(long, min_size=2, max_size=2))
    near = totals[0] * totals[1] // count  # so that most digits cancel
    cross = data.draw(long) + data.draw(st.sampled_from([0, near, -near]))
    exponents = data.draw(st.lists(st.integers(-1074, 1023), min_size=2, max_size=2))
    sums = ExactArray.from_ints(object_array(totals, (1, 2)), -2)
    products = ExactArray.from_ints(object_array([0, cross, 0], (1, 3)), -4)
    found = np.empty((1, 3))
    shown = sums.digits, sums.low, products.digits, products.low, np.full((1, 1), count), np.array(exponents)
    assert _kernels.exact_scatters(found, *shown)
    for at, (i, j, product) in enumerate(((0, 0, 0), (1, 0, cross), (1, 1, 0))):
        scatter = Fraction(count * product - totals[i] * totals[j], count) / Fraction(2) ** 128
        assert found[0, at] == nearest(scatter / Fraction(2) ** (exponents[i] + exponents[j]))


@given(COLUMNS, COLUMNS, st.integers(-300, 300))
def test_long_integers_in_python_say_the_same_of_scatters(one: list[float], other: list[float], exponent: int) -> None:
    rows = np.array([one[: len(other)], other[: len(one)]]).T
    fast, slow = Scatter.of(rows), Scatter.of(rows)
    object.__setattr__(slow.weight, "as_counts", lambda: None)
    exponents = np.array([exponent, -7])
    np.testing.assert_array_equal(fast.about_means(exponents), slow.about_means(exponents))


@pytest.mark.parametrize("exponent", [-1070, -540, 0, 500, 1022])
def test_ties_of_the_mean_go_to_the_even_float(exponent: int) -> None:
    one = ldexp(1.0, exponent)
    up = float(np.nextafter(one, np.inf))
    assert moments_of([one, up]).mean().item() == one
    assert moments_of([up, float(np.nextafter(up, np.inf))]).mean().item() == float(np.nextafter(up, np.inf))


def test_20_000_columns_are_answered_without_long_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(30, 20_000))
    found = Moments.of(rows)
    monkeypatch.setattr("bayeswise.statistics.numbers.moments.Dyadic.of", None)
    mean, stddev = found.mean(), found.stddev("n-1")
    np.testing.assert_allclose(mean[0], rows.mean(axis=0), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(stddev[0], rows.std(axis=0, ddof=1), rtol=1e-12)
