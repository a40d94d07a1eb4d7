"""Trees of Newton steps against their plain NumPy twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels

N_LEAVES, LEAST_CURVATURE, RIDGE = 7, 0.5, 1.0


def rows(seed: int = 0, n_rows: int = 300) -> tuple[Any, Any, Any, Any]:
    """Codes, bins, slopes and curvatures that are sums of few powers of two: exact in any order."""
    g = np.random.default_rng(seed)
    n_bins = np.array([2, 7, 1, 32])
    codes = np.column_stack([g.integers(0, n, n_rows) for n in n_bins]).astype(np.uint8)
    slope = g.integers(-64, 65, n_rows) / 64.0 + 0.5 * (codes[:, 1] > 3) - 0.25 * (codes[:, 0] * (codes[:, 3] > 9))
    return codes, n_bins, slope, g.integers(1, 17, n_rows) / 64.0


def grown(
    codes: Any,
    n_bins: Any,
    slope: Any,
    curvature: Any,
    n_leaves: int = N_LEAVES,
    offered: Any = None,
    weight: Any = None,
    least_weight: float = 0.0,
) -> tuple[Any, Any, Any, Any]:
    offered = np.arange(len(n_bins)) if offered is None else np.asarray(offered)
    node, feature, border = np.empty((3, n_leaves - 1), dtype=np.int64)
    leaf = np.empty(len(codes), dtype=np.int64)
    weight = np.ones(len(slope)) if weight is None else weight
    limits = (least_weight, LEAST_CURVATURE, RIDGE)
    _kernels.grow_tree(codes, n_bins, offered, weight, slope, curvature, *limits, node, feature, border, leaf)
    return node, feature, border, leaf


def best_split(codes: Any, n_bins: Any, slope: Any, curvature: Any) -> tuple[float, int, int]:
    """Its gain, feature and border, of the rows of a node; (0, 0, 0) where no split gains."""

    def worth(part: Any) -> float:
        return float(slope[part].sum() ** 2 / (curvature[part].sum() + RIDGE))

    found = (0.0, 0, 0)
    for feature, n in enumerate(n_bins):
        for border in range(1, n):
            yes = codes[:, feature] >= border
            if min(curvature[yes].sum(), curvature[~yes].sum()) < LEAST_CURVATURE:
                continue
            gain = worth(yes) + worth(~yes) - worth(slice(None))
            if gain > max(found[0], 1e-9):
                found = (gain, feature, border)
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_leaves", [2, 7, 12])
def test_the_split_of_the_largest_gain_is_made_next(seed: int, n_leaves: int) -> None:
    codes, n_bins, slope, curvature = rows(seed)
    node, feature, border, leaf = grown(codes, n_bins, slope, curvature, n_leaves)
    at = np.zeros(len(codes), dtype=np.int64)
    for k in range(n_leaves - 1):
        best = {}
        for each in np.unique(at).tolist():
            here = at == each
            best[each] = best_split(codes[here], n_bins, slope[here], curvature[here])
        widest = max(sorted(best), key=lambda each: best[each][0])
        assert (node[k], feature[k], border[k]) == (widest, *best[widest][1:])
        here = at == widest
        at[here] = 2 * k + 1 + (codes[here, feature[k]] >= border[k])
    assert np.array_equal(leaf, at)


def test_splits_are_on_features_that_are_offered() -> None:
    codes, n_bins, slope, curvature = rows()
    node, feature, border, leaf = grown(codes, n_bins, slope, curvature, offered=[1, 3])
    alone = grown(np.ascontiguousarray(codes[:, [1, 3]]), n_bins[[1, 3]], slope, curvature)
    assert np.array_equal(feature, np.array([1, 3])[alone[1]])
    assert np.array_equal((node, border), (alone[0], alone[2]))
    assert np.array_equal(leaf, alone[3])


def test_rows_without_a_slope_follow_and_have_no_say() -> None:
    codes, n_bins, slope, curvature = rows()
    *splits, leaf = grown(codes[:200], n_bins, slope[:200], curvature[:200])
    *again, leaves = grown(codes, n_bins, slope[:200], curvature[:200])
    assert np.array_equal(again, splits)
    assert np.array_equal(leaves[:200], leaf)


def test_a_branch_of_little_curvature_is_not_made() -> None:
    codes, n_bins, slope, curvature = rows()
    node, _, _, leaf = grown(codes, n_bins, slope, 1e-6 * curvature)
    assert (node == -1).all()
    assert not leaf.any()


@pytest.mark.parametrize("least_weight", [10.0, 40.0, 140.0])
def test_a_branch_of_little_weight_is_not_made(least_weight: float) -> None:
    codes, n_bins, slope, curvature = rows()
    weight = np.random.default_rng(5).integers(0, 3, len(slope)).astype(float)
    node, _, _, leaf = grown(codes, n_bins, slope, curvature, weight=weight, least_weight=least_weight)
    by_leaf = [weight[leaf == each].sum() for each in np.unique(leaf)]
    assert node[0] == 0
    assert min(by_leaf) >= least_weight
    free = grown(codes, n_bins, slope, curvature)
    assert min(weight[free[3] == each].sum() for each in np.unique(free[3])) < least_weight


def test_what_splits_add_is_counted_for_the_feature_that_they_are_on() -> None:
    g = np.random.default_rng(1)
    numbers, n_splits = g.normal(size=(50, 3)), 7
    state, feature = np.array([0, 1, 1]), g.integers(0, 3, (3, n_splits))
    threshold, value = g.normal(size=(3, n_splits)), g.normal(size=(3, 2 * n_splits + 1))
    node = np.array([range(7), [0, 2, 1, 4, 7, -1, -1], [0, 2, 4, 6, 8, 10, 12]])  # complete, some way, and a chain
    threshold[0, 1] = np.inf
    added = np.zeros((50, 2, 3))
    _kernels.add_by_feature(numbers, state, node, feature, threshold, value, added)
    expected = np.zeros_like(added)
    for r, x in enumerate(numbers):
        for t in range(3):
            at = 0
            while at in node[t]:
                k = node[t].tolist().index(at)
                after = 2 * k + 1 + bool(x[feature[t, k]] >= threshold[t, k])
                expected[r, state[t], feature[t, k]] += value[t, after] - value[t, at]
                at = after
    assert np.array_equal(added, expected)


def test_codes_and_nodes_that_are_not_there_are_refused() -> None:
    codes, n_bins, slope, curvature = rows()
    with pytest.raises(ValueError, match="outside its bins"):
        grown(codes + np.uint8(1), n_bins, slope, curvature)
    with pytest.raises(ValueError, match="differ in rows"):
        grown(codes[:10], n_bins, slope, curvature)
    with pytest.raises(ValueError, match="splits on features"):
        grown(codes, n_bins, slope, curvature, n_leaves=1)
    for offered in ([4], [-1], np.empty(0, dtype=np.int64)):
        with pytest.raises(ValueError, match="not there"):
            grown(codes, n_bins, slope, curvature, offered=offered)
    nothing = np.zeros((1, 1)), np.zeros((1, 3)), np.zeros((2, 1, 1))
    for node, feature in ((0, 5), (1, 0), (-2, 0)):  # a feature, and nodes, that are not there
        with pytest.raises(ValueError, match="not there"):
            _kernels.add_by_feature(
                np.zeros((2, 1)), np.array([0]), np.array([[node]]), np.array([[feature]]), *nothing
            )
