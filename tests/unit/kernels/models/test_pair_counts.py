"""All pairs of levels in one sweep: bitmaps against products of one-hot rows."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from bayeswise import _kernels
from bayeswise.foundation.errors import SchemaError
from bayeswise.statistics import PairCounts
from bayeswise.tables.schema.labels import Vocabulary


def by_products(codes: NDArray, sizes: NDArray, groups: NDArray, n_groups: int, weights: NDArray | None) -> NDArray:
    """The sum of w z z' over the rows of each group, z having a one in the slot of each cell."""
    starts = np.cumsum(sizes + 1) - (sizes + 1)
    hot = np.zeros((len(codes), int((sizes + 1).sum())), dtype=np.float64)  # exact below 2^53
    np.put_along_axis(hot, np.where(codes < 0, sizes, codes) + starts, 1, axis=1)
    weigh = np.ones(len(codes)) if weights is None else weights
    return np.stack([hot.T @ (hot * (weigh * (groups == g))[:, None]) for g in range(n_groups)])


def counted(codes: NDArray, sizes: NDArray, groups: NDArray | None, n_groups: int, weights: NDArray | None) -> NDArray:
    n_slots = int((sizes + 1).sum())
    table = np.zeros((n_groups, n_slots, n_slots), dtype=np.int64)
    _kernels.pair_counts(codes, sizes, groups, weights, table)
    return table


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("largest", [2, 6, 40, 120])
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_are_products_of_rows(kind: type, layout: str, largest: int, weighted: bool) -> None:
    generator = np.random.default_rng(largest)
    for n_rows in (0, 1, 64, 500):
        sizes = generator.integers(0, largest, 5)
        columns = [generator.integers(-1, size, n_rows) for size in sizes]
        codes = np.array(np.stack(columns, axis=1), dtype=kind, order=layout)
        groups = generator.integers(-1, 3, n_rows).astype(np.int32)
        weights = generator.integers(0, 2**31, n_rows) if weighted else None
        found = counted(codes, sizes, groups, 3, weights)
        assert np.array_equal(found, by_products(codes, sizes, groups, 3, weights))


def test_more_rows_than_a_tile_and_more_levels_than_a_byte() -> None:
    generator = np.random.default_rng(0)
    sizes = np.array([3, 260, 2])
    codes = np.stack([generator.integers(-1, size, 20_000) for size in sizes], axis=1).astype(np.int32)
    groups = generator.integers(0, 3, 20_000).astype(np.int32)
    assert np.array_equal(counted(codes, sizes, groups, 3, None), by_products(codes, sizes, groups, 3, None))
    assert np.array_equal(counted(codes, sizes, None, 1, None)[0], by_products(codes, sizes, groups, 3, None).sum(0))


@pytest.mark.parametrize("processor", ["plain", "avx2"])
def test_every_processor_counts_alike(processor: str) -> None:
    program = (
        "import numpy as np; from bayeswise import _kernels\n"
        "codes = np.random.default_rng(1).integers(-1, 4, (9_000, 6)).astype(np.int8)\n"
        "table = np.zeros((1, 30, 30), dtype=np.int64)\n"
        "_kernels.pair_counts(codes, np.full(6, 4), None, None, table)\n"
        "print(table.ravel().tolist())"
    )
    environment = {**os.environ, "BAYESWISE_ISA": processor}
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    codes = np.random.default_rng(1).integers(-1, 4, (9_000, 6)).astype(np.int8)
    assert answer.stdout.strip() == str(counted(codes, np.full(6, 4), None, 1, None).ravel().tolist())


def test_a_code_outside_its_column_is_reported_by_row_and_column() -> None:
    codes = np.array([[0, 1], [1, 2]], dtype=np.int32)
    with pytest.raises(_kernels.CodeError, match=r"^1 1$"):
        counted(codes, np.array([2, 2]), None, 1, None)
    with pytest.raises(ValueError, match="do not fit"):
        _kernels.pair_counts(codes, np.array([2, 2]), None, None, np.zeros((1, 5, 5), dtype=np.int64))
    with pytest.raises(ValueError, match="row 0 has group 1"):
        counted(codes, np.array([2, 3]), np.array([1, 0], dtype=np.int32), 1, None)


def test_fractions_of_a_row_add_up_exactly() -> None:
    codes = np.array([[0, 0]] * 10 + [[0, 1]], dtype=np.int32)
    ab = Vocabulary(["a", "b"])
    weights = np.array([0.1] * 10 + [1e-30])
    seen = PairCounts.of(codes, [ab, ab], weights=weights)
    assert seen.pair(0, 1).tolist() == [[[1.0, 1e-30]]]
    tenth = PairCounts.of(codes[:1], [ab, ab], weights=weights[:1])
    nine = PairCounts.of(codes[1:], [ab, ab], weights=weights[1:])
    assert seen.subtract(tenth) == nine


def test_tables_too_large_are_refused_before_they_are_made() -> None:
    many = Vocabulary(list(range(9_000)))
    with pytest.raises(SchemaError, match="too many to hold"):
        PairCounts.of(np.zeros((1, 1), dtype=np.int32), [many])
