"""Kernels meet arrays of any size and content: none, one cell, NaN, infinities, huge and tiny values.

They answer or raise; `make sanitize` runs this with the address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise import _kernels
from tests.cases.kernel_cases import counting_and_deciding_kernels, gaussian_kernels, pool_kernels, regression_kernels

ODD = [0.0, -0.0, 1.0, -1.5, 5e-324, -1e-310, 1e308, -1.7e308, 1e16 + 2, np.nan, np.inf, -np.inf]
SIZES = st.sampled_from([0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65])


def odd_values(seed: int, n_rows: int, n_columns: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    plain = generator.normal(size=(n_rows, n_columns))
    return np.where(generator.random(plain.shape) < 0.3, generator.choice(ODD, plain.shape), plain)


@pytest.mark.parametrize("kernels", [gaussian_kernels, regression_kernels, pool_kernels, counting_and_deciding_kernels])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n_rows=SIZES, n_columns=SIZES, n_states=st.integers(1, 4))
def test_products_and_scores_of_odd_arrays(
    kernels: Callable[..., list[np.ndarray]], seed: int, n_rows: int, n_columns: int, n_states: int
) -> None:
    values = odd_values(seed, n_rows, max(n_columns, 1))
    try:
        kernels(np.random.default_rng(seed), values, n_states)
    except ValueError:  # an infinite cell among sums that are exact
        assert not np.isfinite(values).all()


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n_rows=SIZES, n_columns=SIZES, weighted=st.booleans(), single=st.booleans())
def test_exact_sums_of_odd_arrays(seed: int, n_rows: int, n_columns: int, weighted: bool, single: bool) -> None:
    with np.errstate(over="ignore"):
        values = odd_values(seed, n_rows, n_columns).astype(np.float32 if single else np.float64)
    weights = np.random.default_rng(seed).random(n_rows) if weighted else None
    groups = np.random.default_rng(seed).integers(-1, 3, n_rows).astype(np.int32)
    for kernel in (_kernels.moments, _kernels.scatter):
        try:
            kernel(values, groups, 3, weights)
        except ValueError:
            assert np.isinf(values).any()


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n_rows=SIZES, n_groups=st.integers(1, 4), weighted=st.booleans())
def test_cuts_of_odd_columns(seed: int, n_rows: int, n_groups: int, weighted: bool) -> None:
    values = odd_values(seed, n_rows, 1)[:, 0]
    values = np.where(np.isnan(values), 0.0, values)
    generator = np.random.default_rng(seed)
    weights = generator.random(n_rows) if weighted else None
    cuts = _kernels.cut_points(values, generator.integers(0, n_groups, n_rows).astype(np.int32), n_groups, weights)
    assert cuts == sorted(set(cuts))


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n_rows=SIZES, n_columns=st.integers(2, 9), dirichlet=st.booleans())
def test_scores_of_few_rows(seed: int, n_rows: int, n_columns: int, dirichlet: bool) -> None:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 6, n_columns)
    codes = np.stack([generator.integers(0, size, n_rows) for size in sizes]).astype(np.uint8)
    scores = _kernels.FamilyScores(codes, sizes.tolist(), dirichlet, 0.5, 1.0)
    found = scores.additions(0, list(range(2, min(n_columns, 4))), [1])
    assert np.isfinite(found).all()
