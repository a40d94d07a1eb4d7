"""Tables with more columns than fit a cache are summed piece by piece, to the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswise import _kernels
from bayeswise.foundation.errors import NonFiniteError
from bayeswise.foundation.exact import ExactArray, side_by_side
from bayeswise.statistics import Moments, fingerprint

GENERATOR = np.random.default_rng(0)
WIDE = GENERATOR.normal(size=(12, 9_000)) * 10.0 ** GENERATOR.integers(-20, 20, 9_000)
GROUPS = (np.arange(12) % 3).astype(np.int32)


@pytest.mark.parametrize("weights", [None, GENERATOR.random(12)])
def test_the_moments_of_pieces_are_those_of_the_whole(weights: np.ndarray | None) -> None:
    found = Moments.of(WIDE, GROUPS, 3, weights)
    whole = [ExactArray.from_kernel(*sums) for sums in _kernels.moments(WIDE, GROUPS, 3, weights)]
    assert fingerprint((found.weight, found.total, found.squares)) == fingerprint(tuple(whole))
    chosen = np.array([0, 4_321, 8_999])
    few = Moments.of(WIDE[:, chosen], GROUPS, 3, weights)
    for name in ("mean", "stddev", "variance"):
        assert np.array_equal(getattr(found, name)()[:, chosen], getattr(few, name)())


def test_the_first_infinite_value_of_the_rows_is_named_whatever_piece_it_is_in() -> None:
    values = WIDE.copy()
    values[7, 3], values[2, 8_888] = np.inf, -np.inf
    with pytest.raises(NonFiniteError) as caught:
        Moments.of(values, GROUPS, 3)
    assert (caught.value.row, caught.value.column) == (2, 8_888)


SCALED = st.tuples(st.lists(st.integers(-(10**6), 10**6), max_size=3), st.integers(-200, 200))


@given(st.lists(SCALED, min_size=1, max_size=4))
def test_exact_arrays_side_by_side_are_the_array_of_all(parts: list[tuple[list[int], int]]) -> None:
    floats = [np.ldexp(np.array(integers, dtype=float), exponent) for integers, exponent in parts]
    found = side_by_side([ExactArray.from_floats(each) for each in floats])
    assert fingerprint(found) == fingerprint(ExactArray.from_floats(np.concatenate(floats)))
