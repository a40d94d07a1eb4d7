"""Counts by the leading bits of a double, against the same in NumPy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics import Extents

ODD = [0.0, -0.0, 5e-324, -5e-324, 1e-310, -1e-310, 1.0, 1.125, -1.0, np.nextafter(1.0, 0.0), 1.7e308, -1.7e308, np.nan]


def bucket_of(x: float) -> int:
    """sign * (8 (exponent + 1022) + three bits): frexp gives x = m 2^e with 1/2 <= m < 1."""
    if abs(x) < 2.0**-1022:  # below the normal numbers
        return int(np.sign(x)) * int(Fraction(abs(x)) * 2**1025)
    mantissa, exponent = np.frexp(abs(x))
    return int(np.sign(x)) * (8 * int(exponent + 1022) + int(16 * mantissa) - 8)


def counted(values: Any, groups: Any, weights: Any) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for row, column in np.argwhere(np.isfinite(values)).tolist():
        weight = Fraction(1 if weights is None else float(weights[row]))
        if groups[row] >= 0 and weight:
            key = (column << 15) + (1 << 14) + bucket_of(float(values[row, column]))
            found[key] = found.get(key, Fraction(0)) + weight
    return found


def table(n_rows: int, dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(n_rows)
    values = rng.normal(size=(n_rows, 35)) * 10.0 ** rng.integers(-30, 30, (n_rows, 35))
    odd = rng.random(values.shape) < 0.3
    values[odd] = rng.choice(ODD, odd.sum())
    with np.errstate(over="ignore"):
        return values.astype(dtype)


@pytest.mark.parametrize("n_rows", [0, 1, 40, 700, 2_100])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cells_are_counted_by_their_leading_bits(n_rows: int, weighted: bool, dtype: Any) -> None:
    values, rng = table(n_rows, dtype), np.random.default_rng(1)
    groups = rng.integers(-1, 3, n_rows).astype(np.int32)
    weights = np.where(rng.random(n_rows) < 0.2, 0.0, rng.random(n_rows)) if weighted else None
    expected = counted(values, groups, weights)
    for layout in (values, np.asfortranarray(values)):
        keys, counts = _kernels.buckets(layout, groups, 3, weights)
        assert (np.diff(keys) > 0).all()
        found = ExactArray.from_counts(counts).to_fractions()
        assert dict(zip(keys.tolist(), found.tolist(), strict=True)) == expected


def test_the_layout_of_the_array_does_not_matter() -> None:
    values = table(600)
    keys, counts = _kernels.buckets(values, None, 1)
    for same in (np.asfortranarray(values), np.repeat(values, 2, axis=0)[::2], np.repeat(values, 2, axis=1)[:, ::2]):
        again, recounted = _kernels.buckets(same, None, 1)
        assert again.tolist() == keys.tolist()
        assert np.array_equal(recounted, counts)


@pytest.mark.parametrize("x", [*ODD[:-1], 3.1, -3.1, 2020.0, 0.1])
def test_a_number_lies_between_the_edges_of_its_bucket(x: float) -> None:
    span = Extents.of(np.array([[x]])).span(0)
    assert span is not None
    low, high = span.lowest
    assert low <= x <= high or abs(x) < 2.0**-1025
    assert high - low <= abs(x) / 8 or abs(x) < 2.0**-1022


def test_whole_numbers_say_more() -> None:
    def inside(*values: float, whole: bool) -> tuple[float, float]:
        span = Extents.of(np.array(values)[:, None]).span(0)
        assert span is not None
        return span.inside(whole=whole)

    assert inside(3.0, 9.0, whole=False) == (3.25, 9.0)
    assert inside(3.0, 9.0, whole=True) == (3.0, 9.0)
    assert inside(-9.0, 0.0, whole=True) == (-9.0, 0.0)
    assert inside(-17.0, 40.0, whole=True) == (-16.0, 40.0)  # of -17 and -16 one is a value
    assert inside(1001.0, 1010.0, whole=True) == (1023.0, 960.0)  # one bucket


def test_a_column_without_values_has_no_span() -> None:
    assert Extents.of(np.array([[np.nan, 1.0]])).span(0) is None
