"""Exact sums of w, w x and w x^2."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bayeswise import _kernels
from tests.unit.kernels.exact import exact_oracle as oracle


def exact_moments(values: np.ndarray, groups: Any, n_groups: int, weights: Any = None) -> list[np.ndarray]:
    return [oracle.to_fractions(pair) for pair in _kernels.moments(values, groups, n_groups, weights)]


def assert_equal(ours: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(ours, expected, strict=True):
        assert one.shape == other.shape
        assert (one == other).all()


@st.composite
def tables(draw: st.DrawFn, weighted: bool = False) -> tuple[np.ndarray, np.ndarray, int, np.ndarray | None]:
    n_rows, n_columns, n_groups = draw(st.integers(0, 12)), draw(st.integers(0, 10)), draw(st.integers(1, 3))
    values = draw(hnp.arrays(np.float64, (n_rows, n_columns), elements=oracle.cells))
    groups = draw(hnp.arrays(np.int32, n_rows, elements=st.integers(-1, n_groups - 1)))
    weights = draw(hnp.arrays(np.float64, n_rows, elements=oracle.weights_of_rows)) if weighted else None
    return values, groups, n_groups, weights


@given(tables())
def test_sums_of_any_finite_doubles_equal_sums_of_fractions(table: Any) -> None:
    assert_equal(exact_moments(*table), oracle.moments(*table))


@given(tables(weighted=True))
def test_weighted_sums_are_sums_of_exact_products(table: Any) -> None:
    assert_equal(exact_moments(*table), oracle.moments(*table))


@pytest.mark.parametrize("offset, scale", [(0, 1), (1e15, 1), (0, 1e-310), (3e8, 1e100), (-1e-200, 1e-210)])
@pytest.mark.parametrize("n_columns", [1, 7, 20, 70])
def test_many_rows_at_any_scale_equal_sums_of_fractions(offset: float, scale: float, n_columns: int) -> None:
    random = np.random.default_rng(n_columns)
    values = offset + scale * random.standard_normal((15_000 // n_columns, n_columns))
    groups = random.integers(-1, 3, len(values), dtype=np.int32)
    assert_equal(exact_moments(values, groups, 3), oracle.moments(values, groups, 3))


@pytest.mark.parametrize("isa", _kernels.available_isas())
def test_values_half_way_between_multiples_of_a_unit_equal_sums_of_fractions(isa: str) -> None:
    random = np.random.default_rng(2)
    odd = 2.0 * random.integers(-(2**19), 2**19, (600, 5)) + 1.0
    values = np.ldexp(odd, -random.choice([21, 22, 44, 45, 67, 68], odd.shape))  # units are 2^-20, 2^-43 and 2^-66
    values[::100] = 1.0
    before = _kernels.isa()
    _kernels.use_isa(isa)
    try:
        assert_equal(exact_moments(values, None, 1), oracle.moments(values, np.zeros(600, np.int32), 1, None))
    finally:
        _kernels.use_isa(before)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_wildly_different_sizes_equal_sums_of_fractions(weighted: bool) -> None:
    random = np.random.default_rng(1)
    values = np.ldexp(random.standard_normal((1500, 5)), random.integers(-900, 900, (1500, 5)))
    values[random.random(values.shape) < 0.1] = np.nan
    weights = np.ldexp(random.random(1500), random.integers(-300, 300, 1500)) if weighted else None
    assert_equal(exact_moments(values, None, 1, weights), oracle.moments(values, None, 1, weights))


@pytest.mark.parametrize("weighted", [False, True])
def test_heavy_tails_equal_sums_of_fractions(weighted: bool) -> None:
    random = np.random.default_rng(2)
    values = np.exp(8 * random.standard_normal((1500, 6)))
    weights = random.random(1500) if weighted else None
    assert_equal(exact_moments(values, None, 1, weights), oracle.moments(values, None, 1, weights))


def test_one_outlier_and_back_leaves_the_sums_of_the_rest() -> None:
    random = np.random.default_rng(3)
    values = random.standard_normal((10_000, 3))
    values[5000, 1] = 1e200
    _, total, squares = exact_moments(values, None, 1)
    _, total_without, squares_without = oracle.moments(np.delete(values, 5000, axis=0), None, 1)
    assert total[0, 1] - Fraction(1e200) == total_without[0, 1]
    assert squares[0, 1] - Fraction(1e200) ** 2 == squares_without[0, 1]


@given(tables(weighted=True), st.data())
def test_the_sums_of_any_split_of_rows_add_up(table: Any, data: st.DataObject) -> None:
    values, groups, n_groups, weights = table
    cut = data.draw(st.integers(0, len(values)))
    whole = exact_moments(values, groups, n_groups, weights)
    head = exact_moments(values[:cut], groups[:cut], n_groups, weights[:cut])
    tail = exact_moments(values[cut:], groups[cut:], n_groups, weights[cut:])
    assert_equal([a + b for a, b in zip(head, tail, strict=True)], whole)


@given(tables(), st.data())
def test_a_weight_of_k_equals_k_copies_of_the_row(table: Any, data: st.DataObject) -> None:
    values, groups, n_groups, _ = table
    copies = data.draw(hnp.arrays(np.int64, len(values), elements=st.integers(0, 3)))
    repeated = exact_moments(np.repeat(values, copies, axis=0), np.repeat(groups, copies), n_groups)
    assert_equal(exact_moments(values, groups, n_groups, copies.astype(float)), repeated)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_layout_of_the_array_does_not_matter(order: Any, dtype: Any) -> None:
    random = np.random.default_rng(4)
    base = np.array(random.standard_normal((4001, 30)), dtype=dtype, order=order)
    base[random.random(base.shape) < 0.01] = np.nan
    base.flags.writeable = False
    groups, weights = random.integers(-1, 4, 8002, dtype=np.int32)[::2], random.random(8002)[::-2]
    for view in (base, base[::-1], base[::3, ::2], base[:, ::-1], base[5:6], base[:, 3:4], base[:0]):
        n = len(view)
        for w in (None, weights[:n]):
            copy = np.ascontiguousarray(view, dtype=np.float64)
            assert_equal(
                exact_moments(view, groups[:n], 4, w),
                exact_moments(copy, groups[:n].copy(), 4, None if w is None else w.copy()),
            )


def test_float32_is_widened_exactly() -> None:
    values = np.array([[0.1, 3e38], [1e-45, np.nan]], dtype=np.float32)
    assert_equal(exact_moments(values, None, 1), oracle.moments(values, None, 1))


def test_the_first_infinite_value_in_row_order_is_named() -> None:
    values = np.zeros((3000, 200))
    values[2100, 3], values[2000, 150], values[2000, 180] = np.inf, -np.inf, np.inf
    with pytest.raises(_kernels.InfiniteValueError, match=r"^2000 150$"):
        _kernels.moments(values, None, 1)
    assert issubclass(_kernels.InfiniteValueError, ValueError)


def test_infinity_in_a_row_left_out_is_not_looked_at() -> None:
    values = np.array([[1.0], [np.inf], [np.inf]])
    groups, weights = np.array([0, -1, 0], dtype=np.int32), np.array([1.0, 1.0, 0.0])
    assert exact_moments(values, groups, 1, weights)[1][0, 0] == 1


def test_a_group_beyond_the_last_one_is_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has group 2"):
        _kernels.moments(np.zeros((2, 1)), np.array([0, 2], dtype=np.int32), 2)


def test_many_groups_and_columns_equal_sums_of_fractions() -> None:
    random = np.random.default_rng(5)
    values = random.standard_normal((500, 130)) * 10.0 ** random.integers(-3, 3, 130)
    groups = random.integers(0, 90, 500, dtype=np.int32)
    assert_equal(exact_moments(values, groups, 90), oracle.moments(values, groups, 90))


@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 8), st.integers(0, 9)), elements=oracle.cells))
def test_column_sums_leave_out_missing_values(values: np.ndarray) -> None:
    assert (oracle.to_fractions(_kernels.accumulate(values)) == oracle.moments(values, None, 1)[1][0]).all()
