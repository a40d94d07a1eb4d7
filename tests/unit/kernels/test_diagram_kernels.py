"""Sums over pairs of probabilities and utilities, and the best options, against plain NumPy."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from bayeswise import _kernels


class Pairs(NamedTuple):
    sizes: list[int]
    scopes: list[list[int]]
    is_utility: list[bool]
    of: list[int]
    tables: list[Any]

    def plan(self, keep: list[int], largest: float = 1e9) -> _kernels.PairElimination:
        return _kernels.PairElimination(self.sizes, self.scopes, self.is_utility, self.of, keep, largest)


def drawn(seed: int, zeros: float = 0.0) -> Pairs:
    """A network of up to eight nodes, some factors that are not normalised, and utilities."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(1, 9))
    sizes = generator.integers(1, 5, n).tolist()
    scopes, of, tables = [], [], []
    for x in range(n):
        parents = generator.choice(x, min(x, int(generator.integers(0, 3))), replace=False).tolist() if x else []
        table = generator.random([sizes[v] for v in (*sorted(parents), x)]) + 0.01
        table[generator.random(table.shape) < zeros] = 0.0
        table[..., 0] += table.sum(axis=-1) == 0.0
        scopes.append([*sorted(parents), x])
        tables.append(table / table.sum(axis=-1, keepdims=True))
        of.append(x)
    n_factors, n_utilities = int(generator.integers(0, 3)), int(generator.integers(0, 4))
    for k in range(n_factors + n_utilities):
        scopes.append(sorted(generator.choice(n, min(n, int(generator.integers(0, 4))), replace=False).tolist()))
        values = generator.random if k < n_factors else generator.normal
        tables.append(values(size=[sizes[v] for v in scopes[-1]]))
        of.append(-1)
    return Pairs(sizes, scopes, [False] * (n + n_factors) + [True] * n_utilities, of, tables)


def spread(pairs: Pairs, k: int) -> Any:
    """A table with an axis for each variable."""
    return pairs.tables[k].reshape([size if v in pairs.scopes[k] else 1 for v, size in enumerate(pairs.sizes)])


def summed(pairs: Pairs, keep: list[int]) -> tuple[Any, Any]:
    """sum p and sum p u / sum p from the tables over all variables."""
    probability, utility = np.ones(pairs.sizes), np.zeros(pairs.sizes)
    for k, is_utility in enumerate(pairs.is_utility):
        if is_utility:
            utility = utility + spread(pairs, k)
        else:
            probability = probability * spread(pairs, k)
    away = tuple(v for v in range(len(pairs.sizes)) if v not in keep)
    total = probability.sum(axis=away)
    return total, (probability * utility).sum(axis=away) / np.where(total > 0.0, total, 1.0)


@pytest.mark.parametrize("seed", range(60))
def test_pairs_are_those_of_the_tables_over_all_variables(seed: int) -> None:
    pairs = drawn(seed, zeros=0.3 * (seed % 2))
    generator = np.random.default_rng(seed)
    keep = [v for v in range(len(pairs.sizes)) if generator.random() < 0.4]
    probability, utility, log_scale = pairs.plan(keep).run(pairs.tables)
    expected, mean = summed(pairs, keep)
    assert probability.shape == utility.shape == expected.shape
    np.testing.assert_allclose(probability * math.exp(log_scale), expected, rtol=1e-13, atol=0)
    np.testing.assert_allclose(utility[expected > 0.0], mean[expected > 0.0], rtol=1e-12, atol=1e-13)


def test_products_that_no_double_can_hold_are_scaled() -> None:
    small = [np.array([1e-200, 3e-200]) for _ in range(4)]
    plan = _kernels.PairElimination([2], [[0]] * 5, [False] * 4 + [True], [-1] * 5, [], 1e9)
    probability, utility, log_scale = plan.run([*small, np.array([1.0, 2.0])])
    assert math.log(float(probability)) + log_scale == pytest.approx(math.log(82.0) - 800 * math.log(10.0), rel=1e-14)
    assert float(utility) == pytest.approx((1 + 2 * 81) / 82, rel=1e-14)


def test_a_table_that_is_too_large_is_named_and_not_made() -> None:
    scopes = [[0, 3], [1, 3], [2, 3], [3]]
    plan = _kernels.PairElimination([100, 100, 100, 2], scopes, [False, False, False, True], [-1] * 4, [0, 1], 1e4)
    assert plan.too_large == [0, 1, 3] and plan.n_cells == 2e4
    with pytest.raises(ValueError, match="do not fit"):
        plan.run([np.ones((100, 2))] * 3 + [np.ones(2)])


def test_tables_that_do_not_fit_are_refused() -> None:
    plan = _kernels.PairElimination([2, 3], [[0, 1]], [False], [-1], [0], 1e9)
    for tables in ([], [np.ones((2, 2))], [np.ones((2, 3)), np.ones(2)]):
        with pytest.raises(ValueError):
            plan.run(tables)
    for scope in ([1, 0], [0, 0], [2], [-1]):
        with pytest.raises(ValueError):
            _kernels.PairElimination([2, 3], [scope], [False], [-1], [0], 1e9)


@pytest.mark.parametrize("seed", range(20))
def test_best_options_are_the_first_within_reach_of_the_greatest(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = generator.integers(1, 5, int(generator.integers(1, 5))).tolist()
    axis = int(generator.integers(len(shape)))
    utility = generator.integers(0, 4, shape).astype(np.float64)
    probability = generator.integers(0, 2, shape).astype(np.float64)
    turned = np.moveaxis(utility, axis, -1)
    allowed = None
    if seed % 2:
        allowed = np.ascontiguousarray(generator.random(turned.shape) < 0.5)
        allowed[..., -1] |= ~allowed.any(axis=-1)
    near = 0.5 * (seed % 3)
    option, value, expected, possible, best, is_tied = _kernels.best_options(probability, utility, axis, near, allowed)
    compared = turned if allowed is None else np.where(allowed, turned, -np.inf)
    as_good = compared >= compared.max(axis=-1, keepdims=True) - near
    np.testing.assert_array_equal(expected, turned)
    np.testing.assert_array_equal(best, as_good)
    np.testing.assert_array_equal(option, as_good.argmax(axis=-1))
    np.testing.assert_array_equal(value, np.take_along_axis(turned, option[..., None], axis=-1)[..., 0])
    np.testing.assert_array_equal(possible, (np.moveaxis(probability, axis, -1) > 0.0).any(axis=-1))
    assert is_tied == bool((as_good.sum(axis=-1) > 1)[possible].any())
