"""Sums and differences of exact digits against sums of Python's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswise import _kernels
from bayeswise.foundation.exact import ExactArray
from tests.unit.kernels.exact.exact_oracle import to_integers

integers = st.one_of(st.integers(-3, 3), st.integers(-(2**200), 2**200), st.sampled_from([2**31, -(2**31), 2**32 - 1]))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[ExactArray, ExactArray]:
    n_entries = draw(st.integers(0, 4))

    def exact() -> ExactArray:
        values = draw(st.lists(integers, min_size=n_entries, max_size=n_entries))
        return ExactArray.from_ints(np.array(values, dtype=object), draw(st.integers(-3, 3)))

    return exact(), exact()


@given(pairs(), st.booleans())
def test_digits_add_and_subtract_as_integers_do(both: tuple[ExactArray, ExactArray], subtract: bool) -> None:
    left, right = both
    found: Any = _kernels.add_exact(left.digits, left.low, right.digits, right.low, subtract)
    mine, theirs = (to_integers((each.digits, each.low)) for each in both)
    assert to_integers(found).tolist() == (mine - theirs if subtract else mine + theirs).tolist()


def test_sums_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        _kernels.add_exact(np.zeros((1, 1), dtype=np.int64), 0, np.zeros((2, 1), dtype=np.int64), 0, False)
