"""Counts of codes by group and column, and of combinations of codes."""

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

CODE_TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64]


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray]:
    n_rows, n_columns, n_groups = draw(st.integers(0, 20)), draw(st.integers(0, 4)), draw(st.integers(1, 3))
    sizes = draw(hnp.arrays(np.int64, n_columns, elements=st.integers(1, 5)))
    dtype = draw(st.sampled_from(CODE_TYPES))
    lowest = 0 if dtype is np.uint8 else -1
    columns = [draw(hnp.arrays(dtype, n_rows, elements=st.integers(lowest, int(size) - 1))) for size in sizes]
    codes = np.stack(columns, axis=1) if columns else np.zeros((n_rows, 0), dtype)
    groups = draw(hnp.arrays(np.int32, n_rows, elements=st.integers(-1, n_groups - 1)))
    weights = draw(hnp.arrays(np.float64, n_rows, elements=oracle.weights_of_rows))
    return codes, sizes, groups, n_groups, weights


@given(tables())
def test_counts_equal_counting_by_hand(table: Any) -> None:
    codes, sizes, groups, n_groups, weights = table
    ours = _kernels.counts(codes, sizes, groups, n_groups)
    assert ours.dtype == np.int64
    assert (ours == oracle.counts(codes, sizes, groups, n_groups)).all()
    weighted = oracle.to_fractions(_kernels.counts(codes, sizes, groups, n_groups, weights))
    assert (weighted == oracle.counts(codes, sizes, groups, n_groups, weights)).all()


@given(tables())
def test_joint_counts_equal_counting_by_hand(table: Any) -> None:
    codes, sizes, _, _, weights = table
    ours, left_out = _kernels.joint_counts(codes, sizes)
    expected, expected_left_out = oracle.joint_counts(codes, sizes)
    assert ours.shape == expected.shape
    assert (ours == expected).all()
    assert left_out == expected_left_out
    ours, left_out = (oracle.to_fractions(pair) for pair in _kernels.joint_counts(codes, sizes, weights))
    expected, expected_left_out = oracle.joint_counts(codes, sizes, weights)
    assert (ours == expected).all()
    assert left_out[()] == expected_left_out


@pytest.mark.parametrize("dtype", CODE_TYPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_in_any_layout_are_counted_alike(dtype: Any, weighted: bool) -> None:
    random = np.random.default_rng(1)
    sizes = np.array([2, 10, 3, 7, 1], dtype=np.int64)
    base = random.integers(0 if dtype is np.uint8 else -1, sizes, (9000, 5)).astype(dtype)
    groups, weights = random.integers(-1, 4, 9000, dtype=np.int32), random.random(9000)
    for view in (base, np.asfortranarray(base), base[::-1], base[::7]):
        n, w = len(view), weights if weighted else None
        w = None if w is None else w[:n]
        table = _kernels.counts(view, sizes, groups[:n], 4, w)
        table = oracle.to_fractions(table) if weighted else table
        assert (table == oracle.counts(view, sizes, groups[:n], 4, w)).all()


def test_weights_of_any_size_are_counted_exactly() -> None:
    random = np.random.default_rng(2)
    sizes = np.array([3, 4], dtype=np.int64)
    codes = random.integers(-1, sizes, (5000, 2))
    weights = np.ldexp(random.random(5000), random.integers(-1000, 1000, 5000))
    weights[::5] = random.integers(0, 4, 1000)
    table = oracle.to_fractions(_kernels.counts(codes, sizes, None, 1, weights))
    assert (table == oracle.counts(codes, sizes, None, 1, weights)).all()


@pytest.mark.parametrize("wrong", [-2, 3, 120])
@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_a_code_outside_its_column_is_named_by_row_and_column(wrong: int, dtype: Any) -> None:
    codes, sizes = np.zeros((5000, 4), dtype), np.array([200, 3, 3, 200], dtype=np.int64)
    codes[4000, 2] = codes[4500, 1] = wrong
    for call in (lambda: _kernels.counts(codes, sizes, None, 1), lambda: _kernels.joint_counts(codes, sizes)):
        with pytest.raises(_kernels.CodeError, match=r"^4000 2$"):
            call()
    assert issubclass(_kernels.CodeError, ValueError)


def test_a_wrong_code_in_a_row_left_out_is_not_looked_at() -> None:
    codes, sizes = np.array([[0], [9], [9]]), np.array([1], dtype=np.int64)
    groups, weights = np.array([0, -1, 0], dtype=np.int32), np.array([1.0, 1.0, 0.0])
    table = oracle.to_fractions(_kernels.counts(codes, sizes, groups, 1, weights))
    assert table.tolist() == [[Fraction(1), Fraction(0)]]


def test_a_joint_table_too_large_to_address_is_refused() -> None:
    with pytest.raises(ValueError, match="too many cells"):
        _kernels.joint_counts(np.zeros((1, 3), np.int64), np.full(3, 2**40, dtype=np.int64))
