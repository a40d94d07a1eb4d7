"""Cuts of a column beside the formula of Fayyad and Irani in plain Python."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise import _kernels
from bayeswise.models.description_length import codes_of, cut_points


def entropy(classes: list[int]) -> float:
    return -sum(n / len(classes) * math.log2(n / len(classes)) for n in Counter(classes).values())


def cuts_by_formula(rows: list[tuple[int, int]]) -> list[float]:
    """The best cut of sorted (value, class) pairs if it pays, and those of both sides."""
    rows = sorted(rows)
    classes = [group for _, group in rows]
    n, best = len(rows), None
    for at in range(1, n):
        if rows[at - 1][0] < rows[at][0]:
            left, right = classes[:at], classes[at:]
            bits = len(left) * entropy(left) + len(right) * entropy(right)
            if best is None or bits < best[0] - 1e-9:
                best = bits, at
    if best is None:
        return []
    bits, at = best
    parts = [classes, classes[:at], classes[at:]]
    k, k1, k2 = (len(set(part)) for part in parts)
    delta = math.log2(3**k - 2) - (k * entropy(parts[0]) - k1 * entropy(parts[1]) - k2 * entropy(parts[2]))
    if n * entropy(classes) - bits <= math.log2(n - 1) + delta + 1e-9:
        return []
    return sorted([*cuts_by_formula(rows[:at]), (rows[at - 1][0] + rows[at][0]) / 2, *cuts_by_formula(rows[at:])])


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(1, 60), n_classes=st.integers(1, 4))
def test_the_cuts_are_those_of_the_formula(seed: int, n_rows: int, n_classes: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 20, n_rows)
    groups = (values * n_classes // 20 + (generator.random(n_rows) < 0.15)) % n_classes
    found = cut_points(values.astype(float), groups)
    assert found.tolist() == cuts_by_formula(list(zip(values.tolist(), groups.tolist(), strict=True)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_row_of_weight_k_cuts_like_k_rows_in_any_order(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=80).round(1)
    groups = (values + generator.normal(0, 0.4, 80) > 0).astype(int)
    weights = generator.integers(1, 4, 80)
    order = generator.permutation(80)
    copied = cut_points(np.repeat(values, weights), np.repeat(groups, weights))
    np.testing.assert_array_equal(cut_points(values[order], groups[order], weights=weights[order]), copied)


def test_a_cut_separates_neighbours_however_close_or_far() -> None:
    for low, high in ((1.0, np.nextafter(1.0, 2.0)), (-1.7e308, 1.7e308), (5e-324, 1e-323), (0.0, 5e-324)):
        values, groups = np.repeat([low, high], 20), np.repeat([0, 1], 20)
        (cut,) = cut_points(values, groups)
        assert low < cut <= high
        np.testing.assert_array_equal(codes_of(values, np.array([cut])), groups)


@pytest.mark.parametrize("zeros", [[0.0, -0.0], [-0.0, 0.0]])
@pytest.mark.parametrize("weights", [None, np.full(40, 2.0)])
def test_a_cut_at_zero_has_no_sign_in_any_order(zeros: list[float], weights: np.ndarray | None) -> None:
    values = np.array([-5e-324] * 20 + zeros * 10)
    (cut,) = cut_points(values, np.repeat([0, 1], 20), weights=weights)
    assert cut == 0.0
    assert not np.signbit(cut)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="a group lies outside"):
        _kernels.cut_points(np.zeros(2), np.array([0, 2], dtype=np.int32), 2, None)
    with pytest.raises(ValueError, match="differ in length"):
        _kernels.cut_points(np.zeros(2), np.array([0], dtype=np.int32), 2, None)
