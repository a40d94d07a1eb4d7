"""The least, the largest and the number of cells of each column, against plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels


@pytest.fixture(params=_kernels.available_isas(), autouse=True)
def isa(request: pytest.FixtureRequest) -> Iterator[None]:
    before = _kernels.isa()
    _kernels.use_isa(request.param)
    yield
    _kernels.use_isa(before)


def in_numpy(values: Any) -> tuple[list[float], list[float], list[int]]:
    present = ~np.isnan(values)
    low = np.where(present, values, math.inf).min(axis=0, initial=math.inf)
    high = np.where(present, values, -math.inf).max(axis=0, initial=-math.inf)
    return low.tolist(), high.tolist(), present.sum(axis=0).tolist()


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 12), (1000, 5), (300, 0), (3, 200)])
@pytest.mark.parametrize("layout", ["C", "F", "every second"])
def test_extremes_are_those_of_numpy_in_any_layout(shape: tuple[int, int], layout: str) -> None:
    generator = np.random.default_rng(sum(shape))
    values = generator.normal(size=shape)
    values[generator.random(shape) < 0.1] = math.nan
    values[generator.random(shape) < 0.02] = math.inf
    values[:, :1] = math.nan  # a column without a cell
    if layout == "F":
        values = np.asfortranarray(values)
    elif layout == "every second":
        values = np.repeat(np.repeat(values, 2, axis=0), 2, axis=1)[::2, ::2]
    n_columns = values.shape[1]
    low, high, present = (
        np.full(n_columns, math.inf),
        np.full(n_columns, -math.inf),
        np.zeros(n_columns, dtype=np.int64),
    )
    _kernels.widen_extremes(values, low, high, present)
    assert (low.tolist(), high.tolist(), present.tolist()) == in_numpy(values)
    _kernels.widen_extremes(values, low, high, present)  # the same cells again widen nothing
    assert (low.tolist(), high.tolist()) == in_numpy(values)[:2]
    assert present.tolist() == [2 * n for n in in_numpy(values)[2]]


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in columns"):
        _kernels.widen_extremes(np.zeros((2, 3)), np.zeros(2), np.zeros(3), np.zeros(3, dtype=np.int64))
