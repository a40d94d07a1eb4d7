"""Plain twins of the exact kernels: sums of fractions.Fraction, one cell at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bayeswise.foundation.exact import ExactArray

ExactPair = tuple[np.ndarray, int]

EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e308, -1.7976931348623157e308, 1e-200, 1e200]
finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10, allow_nan=False),
    st.integers(-5, 5).map(float),
    st.sampled_from(EXTREMES),
    st.integers(-1022, 1023).map(lambda exponent: 2.0**exponent),
)
cells = st.one_of(finite, st.just(math.nan))
weights_of_rows = st.one_of(
    st.just(0.0),
    st.integers(1, 4).map(float),
    st.floats(0, 1e3),
    st.floats(0, allow_infinity=False, allow_nan=False),
)


LOWEST_LIMB = -110  # below the square of the least double times the least weight


def to_integers(pair: ExactPair) -> np.ndarray:
    """Each entry in units of 2^(32 LOWEST_LIMB); checks that the digits are carried and trimmed."""
    digits, low = pair
    assert digits.dtype == np.int64
    again = ExactArray.from_limbs(digits, low)
    assert (again.digits.shape, again.low) == (digits.shape, low)  # nothing to trim
    if digits.shape[-1] == 0:
        return np.zeros(digits.shape[:-1], dtype=object)
    assert ((digits[..., :-1] >= 0) & (digits[..., :-1] < 2**32)).all()
    assert ((digits[..., -1] >= -(2**31)) & (digits[..., -1] < 2**31)).all()
    places = np.array([1 << (32 * (low - LOWEST_LIMB + k)) for k in range(digits.shape[-1])], dtype=object)
    return (digits.astype(object) * places).sum(axis=-1)


def to_fractions(pair: ExactPair) -> np.ndarray:
    """The value of each entry."""
    integers = np.asarray(to_integers(pair), dtype=object)
    values = zeros(*integers.shape)
    for index in np.ndindex(*integers.shape):
        values[index] = Fraction(integers[index], 1 << (-32 * LOWEST_LIMB))
    return values


def zeros(*shape: int) -> np.ndarray:
    return np.full(shape, Fraction(0), dtype=object)


def kept_rows(groups: Any, weights: Any, n_rows: int) -> Iterator[tuple[int, int, Fraction]]:
    """(row, group, weight) of every row that counts."""
    for row in range(n_rows):
        group = 0 if groups is None else int(groups[row])
        weight = Fraction(1) if weights is None else Fraction(float(weights[row]))
        if group >= 0 and weight:
            yield row, group, weight


def moments(values: np.ndarray, groups: Any, n_groups: int, weights: Any = None) -> list[np.ndarray]:
    weight, total, squares = (zeros(n_groups, values.shape[1]) for _ in range(3))
    for row, group, w in kept_rows(groups, weights, len(values)):
        for column, x in enumerate(values[row]):
            if not math.isnan(x):
                x = Fraction(float(x))
                weight[group, column] += w
                total[group, column] += w * x
                squares[group, column] += w * x * x
    return [weight, total, squares]


def scatter(values: np.ndarray, groups: Any, n_groups: int, weights: Any = None) -> list[np.ndarray]:
    d = values.shape[1]
    weight, incomplete = zeros(n_groups), zeros(n_groups)
    total, cross = zeros(n_groups, d), zeros(n_groups, d * (d + 1) // 2)
    for row, group, w in kept_rows(groups, weights, len(values)):
        if np.isnan(values[row]).any():
            incomplete[group] += w
            continue
        x = [Fraction(float(value)) for value in values[row]]
        weight[group] += w
        total[group] += np.array([w * xi for xi in x], dtype=object)
        cross[group] += np.array([w * x[i] * x[j] for i in range(d) for j in range(i + 1)], dtype=object)
    return [weight, total, cross, incomplete]


def counts(codes: np.ndarray, sizes: np.ndarray, groups: Any, n_groups: int, weights: Any = None) -> np.ndarray:
    table = zeros(n_groups, int(sizes.sum()) + len(sizes))
    first = np.concatenate([[0], np.cumsum(sizes + 1)])
    for row, group, w in kept_rows(groups, weights, len(codes)):
        for column, code in enumerate(codes[row]):
            table[group, first[column] + (sizes[column] if code == -1 else code)] += w
    return table


def joint_counts(codes: np.ndarray, sizes: np.ndarray, weights: Any = None) -> tuple[np.ndarray, Fraction]:
    table, incomplete = zeros(*sizes), Fraction(0)
    for row, _, w in kept_rows(None, weights, len(codes)):
        if (codes[row] == -1).any():
            incomplete += w
        else:
            table[tuple(codes[row])] += w
    return table.reshape(-1), incomplete
