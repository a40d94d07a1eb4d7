"""Exact sums of w, w x_i and w x_i x_j over complete rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bayeswise import _kernels
from tests.unit.kernels.exact import exact_oracle as oracle


def exact_scatter(values: np.ndarray, groups: Any, n_groups: int, weights: Any = None) -> list[np.ndarray]:
    return [oracle.to_fractions(pair) for pair in _kernels.scatter(values, groups, n_groups, weights)]


def assert_equal(ours: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(ours, expected, strict=True):
        assert one.shape == other.shape
        assert (one == other).all()


rare_nan = st.one_of(oracle.finite, oracle.finite, oracle.finite, oracle.cells)


@st.composite
def tables(draw: st.DrawFn, weighted: bool = False) -> tuple[np.ndarray, np.ndarray, int, np.ndarray | None]:
    n_rows, n_columns, n_groups = draw(st.integers(0, 10)), draw(st.integers(0, 6)), draw(st.integers(1, 3))
    values = draw(hnp.arrays(np.float64, (n_rows, n_columns), elements=rare_nan))
    groups = draw(hnp.arrays(np.int32, n_rows, elements=st.integers(-1, n_groups - 1)))
    weights = draw(hnp.arrays(np.float64, n_rows, elements=oracle.weights_of_rows)) if weighted else None
    return values, groups, n_groups, weights


@given(tables())
def test_cross_products_of_any_finite_doubles_equal_sums_of_fractions(table: Any) -> None:
    assert_equal(exact_scatter(*table), oracle.scatter(*table))


@given(tables(weighted=True))
def test_weighted_cross_products_are_exact(table: Any) -> None:
    assert_equal(exact_scatter(*table), oracle.scatter(*table))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset, scale", [(0, 1), (1e15, 1), (0, 1e-310), (-1e-200, 1e-210)])
@pytest.mark.parametrize("n_columns", [1, 9, 20, 37])
def test_many_rows_at_any_scale_equal_sums_of_fractions(
    offset: float, scale: float, n_columns: int, weighted: bool
) -> None:
    random = np.random.default_rng(n_columns)
    values = offset + scale * random.standard_normal((12_000 // n_columns**2 + 40, n_columns))
    values[random.random(len(values)) < 0.03, 0] = np.nan
    groups = random.integers(-1, 3, len(values), dtype=np.int32)
    weights = random.random(len(values)) if weighted else None
    assert_equal(exact_scatter(values, groups, 3, weights), oracle.scatter(values, groups, 3, weights))


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_wildly_different_sizes_equal_sums_of_fractions(weighted: bool) -> None:
    random = np.random.default_rng(1)
    values = np.ldexp(random.standard_normal((1100, 4)), random.integers(-900, 900, (1100, 4)))
    weights = np.ldexp(random.random(1100), random.integers(-300, 300, 1100)) if weighted else None
    assert_equal(exact_scatter(values, None, 1, weights), oracle.scatter(values, None, 1, weights))


@pytest.mark.parametrize("weighted", [False, True])
def test_heavy_tails_equal_sums_of_fractions(weighted: bool) -> None:
    random = np.random.default_rng(2)
    values = np.exp(8 * random.standard_normal((1100, 4)))
    weights = random.random(1100) if weighted else None
    assert_equal(exact_scatter(values, None, 1, weights), oracle.scatter(values, None, 1, weights))


@given(tables(weighted=True), st.data())
def test_the_sums_of_any_split_of_rows_add_up(table: Any, data: st.DataObject) -> None:
    values, groups, n_groups, weights = table
    cut = data.draw(st.integers(0, len(values)))
    head = exact_scatter(values[:cut], groups[:cut], n_groups, weights[:cut])
    tail = exact_scatter(values[cut:], groups[cut:], n_groups, weights[cut:])
    whole = exact_scatter(values, groups, n_groups, weights)
    assert_equal([a + b for a, b in zip(head, tail, strict=True)], whole)


@given(tables(), st.data())
def test_a_weight_of_k_equals_k_copies_of_the_row(table: Any, data: st.DataObject) -> None:
    values, groups, n_groups, _ = table
    copies = data.draw(hnp.arrays(np.int64, len(values), elements=st.integers(0, 3)))
    repeated = exact_scatter(np.repeat(values, copies, axis=0), np.repeat(groups, copies), n_groups)
    assert_equal(exact_scatter(values, groups, n_groups, copies.astype(float)), repeated)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_layout_of_the_array_does_not_matter(order: Any, dtype: Any) -> None:
    random = np.random.default_rng(4)
    base = np.array(random.standard_normal((701, 14)), dtype=dtype, order=order)
    base[random.random(base.shape) < 0.01] = np.nan
    base.flags.writeable = False
    groups, weights = random.integers(-1, 4, 1402, dtype=np.int32)[::2], random.random(1402)[::-2]
    for view in (base, base[::-1], base[::3, ::2], base[:, ::-1], base[5:6], base[:, 3:4], base[:0]):
        n = len(view)
        for w in (None, weights[:n]):
            copy = np.ascontiguousarray(view, dtype=np.float64)
            assert_equal(
                exact_scatter(view, groups[:n], 4, w),
                exact_scatter(copy, groups[:n].copy(), 4, None if w is None else w.copy()),
            )


def test_the_diagonal_of_the_scatter_is_the_sum_of_squares() -> None:
    values = np.random.default_rng(6).standard_normal((3000, 11)) + 1e9
    squares = oracle.to_fractions(_kernels.moments(values, None, 1)[2])
    cross = oracle.to_fractions(_kernels.scatter(values, None, 1)[2])
    diagonal = [i * (i + 1) // 2 + i for i in range(11)]
    assert (cross[:, diagonal] == squares).all()


def test_the_first_infinite_value_in_row_order_is_named() -> None:
    values = np.zeros((3000, 20))
    values[2100, 3], values[2000, 15], values[2000, 18], values[2000, 0] = np.inf, -np.inf, np.inf, np.nan
    with pytest.raises(_kernels.InfiniteValueError, match=r"^2000 15$"):
        _kernels.scatter(values, None, 1)


def test_many_groups_equal_sums_of_fractions() -> None:
    random = np.random.default_rng(5)
    values = random.standard_normal((300, 12)) * 10.0 ** random.integers(-3, 3, 12)
    groups = random.integers(0, 90, 300, dtype=np.int32)
    assert_equal(exact_scatter(values, groups, 90), oracle.scatter(values, groups, 90))
