"""Calls of the kernels that have copies for several instruction sets, with random arguments for given values."""

from __future__ import annotations

import numpy as np

from bayeswise import _kernels

Arrays = list[np.ndarray]


def gaussian_kernels(g: np.random.Generator, values: np.ndarray, k: int) -> Arrays:
    n, d = values.shape
    mean, low, inverse = g.normal(size=(k, d)), 1e-17 * g.normal(size=(k, d)), g.random((k, d))
    full, diagonal, scores = np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k))
    _kernels.squared_distances(full, values, mean, low, inverse, g.normal(size=(k, d * (d + 1) // 2)))
    _kernels.squared_distances(diagonal, values, mean, low, inverse, np.zeros((k, 0)))
    _kernels.linear_scores(scores, values, np.stack([mean[0], low[0]]), mean, g.normal(size=(1, k)))
    joint = np.zeros((n, k))
    _kernels.add_normal(joint, values, mean, low, inverse, g.normal(size=(k, d)))
    shares, evidence = np.zeros((n, k)), np.zeros(n)
    _kernels.normalise_rows(shares, joint, np.empty(0), evidence)
    return [full, diagonal, scores, joint, shares, evidence]


def regression_kernels(g: np.random.Generator, values: np.ndarray, k: int) -> Arrays:
    n, d = values.shape
    centre, inverse, row_weights = g.normal(size=d), g.random(d), g.random(n) * g.integers(0, 2, n)
    gradient, hessian, products = np.zeros(d + 1), np.zeros((d + 1, d + 1)), np.zeros((d + 1, d + 1))
    weights, yes = g.normal(size=d + 1), g.integers(0, 2, n).astype(np.int32)
    loss = _kernels.logistic_pass(values, centre, inverse, weights, yes, row_weights, gradient, hessian)
    _kernels.weighted_products(values, centre, inverse, row_weights, products)
    slopes, shares = np.zeros((k, d + 1)), np.zeros((n, k))
    targets = g.integers(0, k, n).astype(np.int32)
    softmax = _kernels.softmax_pass(
        values, centre, inverse, g.normal(size=(k, d + 1)), targets, row_weights, slopes, shares
    )
    exact, rough = np.zeros((k, d + 1)), np.zeros((k, d + 1))
    _kernels.softmax_along(values, centre, inverse, slopes, shares, row_weights, exact)
    tiles = np.zeros(_kernels.shape_of_tiles(n, d), dtype=np.float32)
    _kernels.fill_tiles(values, centre, inverse, tiles)
    _kernels.softmax_roughly_along(tiles, slopes, shares, row_weights, rough)
    step = np.zeros(d + 1)
    pivot = _kernels.solve_positive(hessian + np.eye(d + 1), gradient, step)
    return [np.array([loss, softmax, pivot]), gradient, hessian, products, slopes, shares, exact, tiles, rough, step]


def pool_kernels(g: np.random.Generator, values: np.ndarray, k: int) -> Arrays:
    n, d = values.shape
    holed = np.where(g.random((n, d)) < 0.1, np.nan, values)
    columns, mean, rate, peak = np.ascontiguousarray(holed.T), g.normal(size=d), g.random(d), g.normal(size=d)
    log_likelihood, rough = np.zeros(n), np.zeros(n, dtype=np.float32)
    _kernels.normal_column(log_likelihood, columns, mean, 1e-17 * mean, rate, peak)
    with np.errstate(over="ignore"):
        _kernels.rough_normal(rough, columns.astype(np.float32), mean, rate, peak)
    moments = np.zeros((4, d))
    _kernels.moments_of_rows(moments, holed)
    states, prior, is_open = 5 * g.normal(size=(k, n)), g.normal(size=k), g.random(n) < 0.9
    scores = [np.zeros(n) for _ in range(4)]
    for kind, score in enumerate(scores):
        _kernels.uncertainty(score, states, prior, is_open, kind)
    upper = np.zeros(n, dtype=np.float32)
    _kernels.upper_log_odds(upper, states.astype(np.float32), prior, is_open, 1e-6)
    return [log_likelihood, rough, moments, *scores, upper]


def counting_and_deciding_kernels(g: np.random.Generator, values: np.ndarray, k: int) -> Arrays:
    n, d = values.shape
    codes = g.integers(0, 3, (d, n)).astype(np.uint8)
    counts = np.zeros(9 if d > 1 else 3, dtype=np.int64)
    _kernels.count_family(codes, [0, d - 1][: min(d, 2)], [3, 3][: min(d, 2)], counts)
    pairs = np.zeros((1, 4 * d, 4 * d), dtype=np.int64)
    _kernels.pair_counts(np.ascontiguousarray(codes.T).astype(np.int8), np.full(d, 3), None, None, pairs)
    shares, costs = g.dirichlet(np.ones(k), n), g.random((d, k))
    expected, best, moved = np.zeros((d, n)), np.zeros(n, dtype=np.int64), np.zeros((n, k))
    _kernels.expected_costs(shares, costs, expected, best)
    _kernels.shift_rows(shares, g.random(k) + 0.1, moved)
    sums = [digits for pair in _kernels.scatter(values, None, 1, None) for digits in pair[:1]]
    node, feature, border, leaf = (np.empty(size, dtype=np.int64) for size in (7, 7, 7, n))
    limits, grown = (0.5, 0.1, 1.0), (node, feature, border, leaf)
    seen = np.ascontiguousarray(codes.T), np.full(d, 3), np.arange(d), np.ones(n), g.normal(size=n), g.random(n)
    _kernels.grow_tree(*seen, *limits, *grown)
    return [counts, pairs, expected, best, moved, *sums, *grown]
