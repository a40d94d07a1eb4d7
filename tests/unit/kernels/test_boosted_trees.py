"""Trees of Newton steps against their plain NumPy twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels

DEPTH, LEAST_CURVATURE, RIDGE = 3, 0.5, 1.0


def rows(seed: int = 0, n_rows: int = 300) -> tuple[Any, Any, Any, Any]:
    """Codes, bins, slopes and curvatures that are sums of few powers of two: exact in any order."""
    g = np.random.default_rng(seed)
    n_bins = np.array([2, 7, 1, 32])
    codes = np.column_stack([g.integers(0, n, n_rows) for n in n_bins]).astype(np.uint8)
    slope = g.integers(-64, 65, n_rows) / 64.0 + 0.5 * (codes[:, 1] > 3) - 0.25 * (codes[:, 0] * (codes[:, 3] > 9))
    return codes, n_bins, slope, g.integers(1, 17, n_rows) / 64.0


def grown(codes: Any, n_bins: Any, slope: Any, curvature: Any, depth: int = DEPTH) -> tuple[Any, Any, Any]:
    feature, border = (np.empty((1 << depth) - 1, dtype=np.int64) for _ in range(2))
    leaf = np.empty(len(codes), dtype=np.int64)
    _kernels.grow_tree(codes, n_bins, slope, curvature, depth, LEAST_CURVATURE, RIDGE, feature, border, leaf)
    return feature, border, leaf


def best_question(codes: Any, n_bins: Any, slope: Any, curvature: Any) -> tuple[int, int]:
    """Of the rows of a node; (0, 0) where no question gains."""

    def worth(part: Any) -> float:
        return float(slope[part].sum() ** 2 / (curvature[part].sum() + RIDGE))

    best, found = 1e-9, (0, 0)
    for feature, n in enumerate(n_bins):
        for border in range(1, n):
            yes = codes[:, feature] >= border
            if min(curvature[yes].sum(), curvature[~yes].sum()) < LEAST_CURVATURE:
                continue
            gain = worth(yes) + worth(~yes) - worth(slice(None))
            if gain > best:
                best, found = gain, (feature, border)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_each_node_asks_the_question_of_the_largest_gain(seed: int) -> None:
    codes, n_bins, slope, curvature = rows(seed)
    feature, border, leaf = grown(codes, n_bins, slope, curvature)
    node = np.zeros(len(codes), dtype=np.int64)
    for k in range(len(feature)):
        here = node == k
        expected = best_question(codes[here], n_bins, slope[here], curvature[here])
        assert (feature[k], border[k]) == expected
        yes = codes[here, feature[k]] >= border[k] if border[k] else np.zeros(here.sum(), dtype=bool)
        node[here] = 2 * k + 1 + yes
    assert np.array_equal(leaf, node - len(feature))


def test_rows_without_a_slope_follow_and_have_no_say() -> None:
    codes, n_bins, slope, curvature = rows()
    feature, border, leaf = grown(codes[:200], n_bins, slope[:200], curvature[:200])
    again = grown(codes, n_bins, slope[:200], curvature[:200])
    assert np.array_equal(again[0], feature)
    assert np.array_equal(again[1], border)
    assert np.array_equal(again[2][:200], leaf)


def test_a_branch_of_little_curvature_is_not_made() -> None:
    codes, n_bins, slope, curvature = rows()
    feature, border, leaf = grown(codes, n_bins, slope, 1e-6 * curvature)
    assert not feature.any()
    assert not border.any()
    assert not leaf.any()


def test_what_questions_add_is_counted_for_the_number_that_they_are_about() -> None:
    g = np.random.default_rng(1)
    numbers, n_nodes = g.normal(size=(50, 3)), 7
    state, feature = np.array([0, 1, 1]), g.integers(0, 3, (3, n_nodes))
    threshold, value = g.normal(size=(3, n_nodes)), g.normal(size=(3, 2 * n_nodes + 1))
    threshold[0, 1] = np.inf
    added = np.zeros((50, 2, 3))
    _kernels.add_by_feature(numbers, state, feature, threshold, value, added)
    expected = np.zeros_like(added)
    for r, x in enumerate(numbers):
        for k in range(3):
            node = 0
            while node < n_nodes:
                after = 2 * node + 1 + bool(x[feature[k, node]] >= threshold[k, node])
                expected[r, state[k], feature[k, node]] += value[k, after] - value[k, node]
                node = after
    assert np.array_equal(added, expected)


def test_codes_and_nodes_that_are_not_there_are_refused() -> None:
    codes, n_bins, slope, curvature = rows()
    with pytest.raises(ValueError, match="outside its bins"):
        grown(codes + np.uint8(1), n_bins, slope, curvature)
    with pytest.raises(ValueError, match="differ in rows"):
        grown(codes[:10], n_bins, slope, curvature)
    with pytest.raises(ValueError, match="depth"):
        grown(codes, n_bins, slope, curvature, depth=0)
    nothing = np.zeros((1, 1)), np.zeros((1, 3))
    with pytest.raises(ValueError, match="not there"):
        _kernels.add_by_feature(
            np.zeros((2, 1)), np.array([0]), np.array([[5]]), nothing[0], nothing[1], np.zeros((2, 1, 1))
        )
