"""Mahalanobis distances and linear scores against their NumPy twins, for any shape, type and layout of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels

SHAPES = [(1, 1, 1), (7, 3, 2), (16, 4, 3), (17, 6, 2), (33, 5, 1), (100, 17, 4), (64, 40, 2), (5, 0, 2), (0, 3, 2)]


def parameters(d: int, k: int) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(d + 100 * k)
    mean, low = rng.normal(size=(k, d)), 1e-17 * rng.normal(size=(k, d))
    scale = np.exp(rng.normal(size=(k, d)))
    return mean, low, scale, np.tril(rng.normal(size=(k, d, d)))


def distances(values: Any, mean: Any, low: Any, scale: Any, whiteners: Any) -> Any:
    packed = np.ascontiguousarray(whiteners[:, *np.tril_indices(mean.shape[1])])
    out = np.empty((len(values), len(mean)))
    _kernels.squared_distances(out, values, mean, low, scale, packed)
    return out


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
@pytest.mark.parametrize("layout", ["rows", "columns", "reversed", "float32"])
def test_distances_are_those_of_whitened_rows(n: int, d: int, k: int, layout: str) -> None:
    values = np.random.default_rng(n).normal(size=(n, d))
    given = {
        "rows": lambda: values,
        "columns": lambda: np.asfortranarray(values),
        "reversed": lambda: values[::-1, ::-1],
        "float32": lambda: values.astype(np.float32),
    }[layout]()
    mean, low, scale, white = parameters(d, k)
    found = distances(given, mean, low, scale, white)
    scores = ((given.astype(float)[:, None, :] - mean) - low) * scale
    expected = (np.einsum("kij,nkj->nki", white, scores) ** 2).sum(axis=2)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_without_whiteners_the_columns_are_uncorrelated() -> None:
    values = np.random.default_rng(0).normal(size=(19, 6))
    mean, low, scale, _ = parameters(6, 2)
    out = np.empty((19, 2))
    _kernels.squared_distances(out, values, mean, low, scale, np.empty((2, 0)))
    assert out == pytest.approx(((((values[:, None] - mean) - low) * scale) ** 2).sum(axis=2), rel=1e-13)


@pytest.mark.parametrize(("n", "d", "k"), SHAPES)
def test_linear_scores_are_weighted_sums(n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(n)
    values, centre, weights, constants = (rng.normal(size=shape) for shape in ((n, d), (2, d), (k, d), (1, k)))
    out = np.empty((n, k))
    _kernels.linear_scores(out, values, centre, weights, constants)
    assert out == pytest.approx((values - centre[0] - centre[1]) @ weights.T + constants, rel=1e-12, abs=1e-12)


def test_a_row_has_the_same_bits_alone_and_in_any_place_of_a_batch() -> None:
    values = np.random.default_rng(3).normal(size=(50, 9))
    settings = parameters(9, 3)
    together = distances(values, *settings)
    alone = np.concatenate([distances(values[k : k + 1], *settings) for k in range(50)])
    assert alone.tolist() == together.tolist()


def test_a_missing_cell_spoils_its_own_row_only() -> None:
    values = np.random.default_rng(4).normal(size=(20, 5))
    settings = parameters(5, 2)
    with_missing = values.copy()
    with_missing[7, 2] = np.nan
    found, whole = distances(with_missing, *settings), distances(values, *settings)
    assert np.isnan(found[7]).all()
    assert np.delete(found, 7, axis=0).tolist() == np.delete(whole, 7, axis=0).tolist()


def test_shapes_that_do_not_match_are_refused() -> None:
    mean, low, scale, white = parameters(3, 2)
    with pytest.raises(ValueError, match="differ in shape"):
        distances(np.zeros((4, 2)), mean, low, scale, white)
    with pytest.raises(ValueError, match="differ in columns"):
        _kernels.linear_scores(np.empty((4, 2)), np.zeros((4, 2)), np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((1, 2)))
