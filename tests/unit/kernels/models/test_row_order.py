"""The order that rows give themselves against its plain NumPy twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.models.row_order import in_own_order, mixed_bits, odd_factors, row_hashes


def hashes_in_numpy(matrix: Any, target: Any) -> Any:
    bits = np.uint32 if matrix.dtype == np.float32 else np.uint64
    odd = odd_factors(matrix.shape[1] + 1)
    cells = np.ascontiguousarray(matrix + matrix.dtype.type(0)).view(bits).astype(np.uint64)
    beside = (target + 0.0).view(np.uint64)
    return mixed_bits(cells, odd[:-1]).sum(axis=1, dtype=np.uint64) + mixed_bits(beside, odd[-1])


def test_factors_are_those_of_the_generator_of_numpy() -> None:
    drawn = np.random.default_rng(0).integers(1, 1 << 62, 5_000, dtype=np.uint64)
    assert odd_factors(5_000).tolist() == (2 * drawn + 1).tolist()
    assert odd_factors(3).tolist() == odd_factors(5)[:3].tolist()


def order_in_numpy(matrix: Any, target: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Rows by hash, then by their cells; equal ones as one, with the weights added from the least."""
    weights = np.ones(len(matrix)) if weights is None else weights
    matrix = matrix + matrix.dtype.type(0)
    order = np.lexsort([weights, target, *matrix.T[::-1], hashes_in_numpy(matrix, target)])
    matrix, target, weights = matrix[order], target[order], weights[order]
    first = np.ones(len(matrix), dtype=np.bool_)
    first[1:] = np.any(matrix[1:] != matrix[:-1], axis=1) | (target[1:] != target[:-1])
    return matrix[first], target[first], np.add.reduceat(weights, np.flatnonzero(first))


def table(n_rows: int, n_columns: int, kind: type, decimals: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(n_rows + n_columns)
    values = generator.standard_normal((n_rows, n_columns)).round(decimals).astype(kind)
    return values, generator.integers(0, 3, n_rows).astype(np.int32)


@pytest.mark.parametrize("n_rows", [1, 25, 30_000])
@pytest.mark.parametrize("n_columns", [0, 1, 7])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("decimals", [0, 15])
def test_rows_stand_as_numpy_would_order_them(n_rows: int, n_columns: int, kind: type, decimals: int) -> None:
    values, target = table(n_rows, n_columns, kind, decimals)
    weights = np.random.default_rng(5).random(n_rows)
    for isa in _kernels.available_isas():
        best = _kernels.isa()
        _kernels.use_isa(isa)
        try:
            for form in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2]):
                assert np.array_equal(row_hashes(form, target), hashes_in_numpy(values, target))
                for by in (None, weights):
                    rows, classes, sums = in_own_order(form, target, by)
                    expected = order_in_numpy(values, target, by)
                    assert rows.tobytes() == expected[0].tobytes()
                    assert np.array_equal(classes, expected[1])
                    assert np.array_equal(sums if len(sums) else np.ones(len(rows)), expected[2])
        finally:
            _kernels.use_isa(best)


def unmixed(bits: int, odd: int) -> int:
    """The bits of the cell that `mixed_bits` makes these of."""
    bits ^= bits >> 29 ^ bits >> 58
    bits = bits * pow(odd, -1, 1 << 64) % (1 << 64)
    return bits ^ bits >> 32


def test_two_rows_of_one_hash_stay_apart_in_any_order() -> None:
    odd = odd_factors(3)
    for seed in range(20):  # a cell that makes the hash of (a, b) that of (c, d)
        a, b, c = np.random.default_rng(seed).standard_normal(3)
        own = mixed_bits(np.array([a, b, c]).view(np.uint64), odd[[0, 1, 0]])
        d = np.array([unmixed(int(own[0] + own[1] - own[2]), int(odd[1]))], dtype=np.uint64).view(np.float64)[0]
        if np.isfinite(d):
            break
    values = np.array([[a, b], [c, d], [a, b], [0.5, -0.0], [c, d], [a, b]])
    target = np.array([1, 1, 1, 0, 1, 1])
    assert len(np.unique(row_hashes(values, target))) == 2
    weights = np.array([0.1, 1.0, 0.2, 1.0, 2.0, 0.3])
    expected = in_own_order(values, target, weights)
    assert np.allclose(np.sort(expected[2]), [0.6, 1.0, 3.0])
    assert not np.signbit(expected[0][expected[1] == 0]).any()
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(6)
        for found, sought in zip(in_own_order(values[order], target[order], weights[order]), expected, strict=True):
            assert found.tobytes() == sought.tobytes()


def test_places_are_checked() -> None:
    rows = np.zeros((2, 3))
    with pytest.raises(ValueError, match="not one of a row"):
        _kernels.rows_at(rows, np.array([0, 2]), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="differ in rows"):
        _kernels.row_hashes(rows, np.zeros(3), np.zeros(4, dtype=np.uint64), np.zeros(2, dtype=np.uint64))
    with pytest.raises(ValueError, match="begins with a byte"):
        empty = np.empty(0, dtype=np.uint64)
        _kernels.places_by_hash(empty, 0, 257, np.empty(0, dtype=np.int64), empty)
