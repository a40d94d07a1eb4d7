"""The limits of the fast path: sums that fill their registers, tiles of every shape, every kind of processor."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels
from tests.unit.kernels.exact import exact_oracle as oracle

BELOW_ONE = np.nextafter(1.0, 0.0)
FULL_SLICES = int("1" * 22 + "0" + "1" * 22 + "0" + "1" * 7, 2) / 2**53  # each slice nearly as large as it can be
TOO_LARGE = int("1" * 23 + "0" + "1" * 22 + "0" + "1" * 6, 2) / 2**52  # the same on the grid of values below 1
ALTERNATING = int("10" * 26, 2) / 2**52


@pytest.mark.parametrize("x", [BELOW_ONE, FULL_SLICES, -FULL_SLICES, TOO_LARGE, ALTERNATING])
@pytest.mark.parametrize("w", [None, BELOW_ONE, FULL_SLICES, ALTERNATING])
def test_long_sums_of_the_largest_values_of_a_grid_do_not_overflow(x: float, w: float | None) -> None:
    n_small, n_large = 1024, 300_000  # small values first: they choose a grid that the large ones just fit
    values = np.full((n_small + n_large, 2), x)
    values[:n_small] = 0.49
    weights = None if w is None else np.full(len(values), w)
    if weights is not None:
        weights[:n_small] = 0.49
    weight = Fraction(1) if w is None else Fraction(w)
    first_weight = Fraction(1) if w is None else Fraction(0.49)
    powers = [
        n_small * first_weight * Fraction(0.49) ** power + n_large * weight * Fraction(x) ** power for power in range(3)
    ]
    moments = [oracle.to_fractions(pair) for pair in _kernels.moments(values, None, 1, weights)]
    assert [set(sums[0]) for sums in moments] == [{power} for power in powers]
    scatter = [oracle.to_fractions(pair) for pair in _kernels.scatter(values, None, 1, weights)[:3]]
    assert [set(sums.ravel()) for sums in scatter] == [{power} for power in powers]


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 129])
@pytest.mark.parametrize("n_rows", [1, 31, 33, 1025])
def test_tiles_of_every_shape_add_up_like_their_halves(n_rows: int, n_columns: int) -> None:
    random = np.random.default_rng(n_columns)
    values = random.standard_normal((n_rows, n_columns))
    for kernel in (_kernels.moments, _kernels.scatter):
        whole = [oracle.to_integers(pair) for pair in kernel(values, None, 1)]
        halves = [kernel(values[rows], None, 1) for rows in (slice(None, n_rows // 2), slice(n_rows // 2, None))]
        parts = [[oracle.to_integers(pair) for pair in half] for half in halves]
        for both, one, other in zip(whole, *parts, strict=True):
            assert (both == one + other).all()


def test_a_small_table_equals_numpy_where_numpy_is_exact() -> None:
    values = np.random.default_rng(0).integers(-1000, 1000, (5000, 70)).astype(float)
    groups = np.random.default_rng(1).integers(0, 3, 5000).astype(np.int32)
    weight, total, cross, _ = (oracle.to_fractions(pair) for pair in _kernels.scatter(values, groups, 3))
    for group in range(3):
        part = values[groups == group].astype(np.int64)
        assert weight[group] == len(part)
        assert (total[group] == part.sum(axis=0)).all()
        assert (cross[group] == (part.T @ part)[np.tril_indices(70)]).all()


PROGRAM = "from tests.unit.kernels.exact.test_exact_limits import digest; print(digest())"


def digest() -> str:
    """The bytes of sums of awkward data: many scales, missing values, weights, groups."""
    random = np.random.default_rng(7)
    values = np.ldexp(random.standard_normal((3000, 21)), random.integers(-40, 40, (3000, 21)))
    values[random.random(values.shape) < 0.002] = np.nan
    values[5, 5], values[6, 6], values[7, 7] = 1e200, 1e-310, -0.0
    groups, weights = random.integers(-1, 4, 3000, dtype=np.int32), random.random(3000)
    answers: list[Any] = []
    for w in (None, weights):
        answers += [*_kernels.moments(values, groups, 4, w), *_kernels.scatter(values, groups, 4, w)]
    integers = [oracle.to_integers(pair).tolist() for pair in answers]
    return hashlib.sha256(repr(integers).encode()).hexdigest()


@pytest.mark.parametrize("processor", ["plain", "avx2"])
def test_every_processor_gives_the_same_sums(processor: str) -> None:
    environment = {**os.environ, "BAYESWISE_ISA": processor}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    assert answer.stdout.strip() == digest()
