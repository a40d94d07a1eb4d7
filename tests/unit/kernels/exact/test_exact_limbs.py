"""Carries moved up and limbs trimmed: the kernel against the same in plain NumPy, and against Python's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayeswise import _kernels
from bayeswise.foundation.exact import ExactArray

DIGIT_BITS, MASK, HALF = 32, (1 << 32) - 1, 1 << 31

LIMBS = st.one_of(st.integers(-2, 2), st.integers(-(2**33), 2**33), st.integers(-(2**62), 2**62))
TABLES = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(LIMBS, min_size=width, max_size=width), min_size=1, max_size=5)
)


def carried_and_trimmed(limbs: Any, low: int) -> tuple[Any, int]:
    """Digits of 32 bits, the top one signed, without top limbs that repeat a sign and bottom limbs that are zero."""
    digits = np.concatenate([limbs, np.zeros((len(limbs), 2), dtype=np.int64)], axis=1)
    for k in range(digits.shape[1] - 1):
        digits[:, k + 1] += digits[:, k] >> DIGIT_BITS
        digits[:, k] &= MASK
    if not digits.any():
        return digits[:, :0], 0
    while digits.shape[1] > 1 and np.array_equal(digits[:, -1], -(digits[:, -2] >= HALF).astype(np.int64)):
        digits = digits[:, :-1].copy()
        digits[:, -1] = (digits[:, -1] ^ HALF) - HALF
    first = int(np.argmax(digits.any(axis=0)))
    return digits[:, first:], low + first


@given(TABLES, st.integers(-9, 9))
def test_limbs_of_any_size_become_the_same_digits_as_in_numpy(limbs: list[list[int]], low: int) -> None:
    table = np.array(limbs, dtype=np.int64)
    found, first = _kernels.canonical(table, low)
    expected, expected_first = carried_and_trimmed(table, low)
    np.testing.assert_array_equal(found, expected)
    assert first == expected_first


@given(TABLES, st.integers(-9, 9))
def test_digits_mean_what_the_limbs_meant(limbs: list[list[int]], low: int) -> None:
    found = ExactArray.from_limbs(np.array(limbs, dtype=np.int64), low)
    whole = [sum(limb << (DIGIT_BITS * k) for k, limb in enumerate(entry)) for entry in limbs]
    integers, exponent = found.to_ints()
    assert [value << (exponent + 320) for value in integers] == [value << (DIGIT_BITS * low + 320) for value in whole]


def test_no_entry_and_no_limb_are_not_limbs() -> None:
    assert ExactArray.from_limbs(np.zeros((2, 3, 0), dtype=np.int64), 5) == ExactArray.zeros((2, 3))
    assert ExactArray.from_limbs(np.zeros((0, 4), dtype=np.int64), 5) == ExactArray.zeros(0)
