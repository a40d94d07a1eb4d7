"""The sweeps of regression against their plain NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from bayeswise import _kernels


@pytest.mark.parametrize("n_rows", [1, 31, 33, 200])
@pytest.mark.parametrize("n_columns", [1, 7, 8, 20])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_sweep_is_its_formula(n_rows: int, n_columns: int, kind: type, weighted: bool) -> None:
    generator = np.random.default_rng(n_rows + n_columns)
    values = generator.standard_normal((n_rows, n_columns)).astype(kind)
    if n_columns == 7:
        values = values[:, ::-1]  # columns that do not follow each other
    centre, inverse = generator.standard_normal(n_columns), generator.random(n_columns) + 0.5
    z = np.column_stack([(values.astype(np.float64) - centre) * inverse, np.ones(n_rows)])
    by = generator.integers(0, 3, n_rows).astype(float) if weighted else np.ones(n_rows)
    given = by if weighted else np.empty(0)
    n = n_columns + 1

    weights, targets = generator.standard_normal(n), generator.integers(0, 2, n_rows).astype(np.int32)
    gradient, hessian = np.empty(n), np.empty((n, n))
    loss = _kernels.logistic_pass(values, centre, inverse, weights, targets, given, gradient, hessian)
    score = z @ weights
    p = 1.0 / (1.0 + np.exp(-score))
    assert np.isclose(loss, by @ (np.logaddexp(0.0, score) - targets * score), rtol=1e-12)
    assert np.allclose(gradient, (by * (p - targets)) @ z, atol=1e-11)
    assert np.allclose(hessian, z.T @ (z * (by * p * (1 - p))[:, None]), atol=1e-11)

    for n_classes in (3, 8, 10):
        vectors = generator.standard_normal((n_classes, n))
        classes = generator.integers(0, n_classes, n_rows).astype(np.int32)
        slopes, probabilities = np.empty((n_classes, n)), np.empty((n_rows, n_classes))
        loss = _kernels.softmax_pass(values, centre, inverse, vectors, classes, given, slopes, probabilities)
        log_p = log_softmax(z @ vectors.T, axis=1)
        p = np.exp(log_p)
        left = by[:, None] * (p - np.eye(n_classes)[classes])
        assert np.isclose(loss, -by @ log_p[np.arange(n_rows), classes], rtol=1e-12)
        assert np.allclose(slopes, left.T @ z, atol=1e-11)
        assert np.allclose(probabilities, p, rtol=1e-12)
        direction, product = generator.standard_normal((n_classes, n)), np.empty((n_classes, n))
        _kernels.softmax_along(values, centre, inverse, direction, probabilities, given, product)
        u = z @ direction.T
        bent = by[:, None] * p * (u - (p * u).sum(axis=1, keepdims=True))
        assert np.allclose(product, bent.T @ z, atol=1e-10)
        tiles = np.full(_kernels.shape_of_tiles(*values.shape), np.nan, dtype=np.float32)
        _kernels.fill_tiles(values, centre, inverse, tiles)
        assert (tiles[:n_rows, :n] == z.astype(np.float32)).all()
        assert np.count_nonzero(tiles) == np.count_nonzero(tiles[:n_rows, :n])
        _kernels.softmax_roughly_along(tiles, direction, probabilities, given, product)
        size = np.abs(z) @ np.abs(direction).T  # what is added up, before it cancels
        size = by[:, None] * p * (size + (p * size).sum(axis=1, keepdims=True))
        assert np.all(np.abs(product - bent.T @ z) <= 40 * np.finfo(np.float32).eps * size.T @ np.abs(z))

    products = np.empty((n, n))
    _kernels.weighted_products(values, centre, inverse, by, products)
    assert np.allclose(products, z.T @ (z * by[:, None]), atol=1e-11)


def test_probabilities_of_far_scores_have_every_digit() -> None:
    scores = np.concatenate([np.linspace(-700.0, 0.0, 20_001), [-1e-300, -5e-324, -745.0, -1e308]])
    found = np.empty((len(scores), 2))
    _kernels.softmax_pass(
        scores[:, None],
        np.zeros(1),
        np.ones(1),
        np.array([[0.0, 0.0], [1.0, 0.0]]),
        np.zeros(len(scores), dtype=np.int32),
        np.empty(0),
        np.empty((2, 2)),
        found,
    )
    with np.errstate(under="ignore"):
        small = np.exp(scores)
    assert np.allclose(found[:, 1], small / (1.0 + small), rtol=2e-15, atol=1e-307)


def test_arguments_that_do_not_fit_are_refused() -> None:
    values, one = np.zeros((4, 2)), np.ones(2)
    with pytest.raises(ValueError, match="rows"):
        _kernels.weighted_products(values, one, one, np.ones(3), np.empty((3, 3)))
    with pytest.raises(ValueError, match="not a class"):
        targets = np.array([0, 1, 2, 3], dtype=np.int32)
        _kernels.softmax_pass(
            values, one, one, np.zeros((3, 3)), targets, np.empty(0), np.empty((3, 3)), np.empty((4, 3))
        )


@pytest.mark.parametrize("n", [1, 3, 17, 64])
def test_rounds_over_coordinates_are_those_of_the_plain_loop(n: int) -> None:
    generator = np.random.default_rng(n)
    rows = generator.standard_normal((n + 2, n))
    rows[:, n // 2] *= n % 2  # a column of zeros has no curve, and keeps its weight
    matrix = rows.T @ rows
    matrix = 0.5 * (matrix + matrix.T)
    moment, penalty = generator.standard_normal(n) * 5.0, generator.random(n)
    v = np.where(np.diag(matrix) > 0, generator.standard_normal(n), 0.0)
    slope = moment - matrix @ v
    found, left = v.copy(), slope.copy()
    moved = _kernels.coordinate_rounds(matrix, penalty, found, left, 3)
    for _ in range(3):
        largest = 0.0
        for j in np.flatnonzero(np.diag(matrix) > 0):
            target = slope[j] + matrix[j, j] * v[j]
            change = np.sign(target) * max(abs(target) - penalty[j], 0.0) / matrix[j, j] - v[j]
            slope -= matrix[j] * change
            v[j] += change
            largest = max(largest, abs(change))
        if largest <= 1e-9 * np.abs(v).max(initial=1e-300):
            break
    np.testing.assert_allclose(found, v, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(left, slope, rtol=1e-9, atol=1e-11)
    assert moved == pytest.approx(largest / np.abs(v).max(initial=1e-300), rel=1e-6, abs=1e-12)
