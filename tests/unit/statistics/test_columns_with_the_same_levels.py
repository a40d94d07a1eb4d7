"""Columns that show the same levels are found together, be their levels few or a hundred thousand."""

from __future__ import annotations

import time

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

from bayeswise.statistics.counts.column_levels import _alike


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6), elements=st.booleans()))
def test_columns_are_grouped_by_what_they_show(shown: np.ndarray) -> None:
    found = list(_alike(shown))
    assert sorted(k for _, columns in found for k in columns.tolist()) == list(range(len(shown)))
    for kind, columns in found:
        assert (shown[columns] == kind).all()
    kinds = [kind.tolist() for kind, _ in found if not kind.all()]
    assert kinds == sorted(kinds) and len(kinds) == len({tuple(kind) for kind in kinds})


def test_a_hundred_thousand_levels_are_one_item_and_not_as_many_fields() -> None:
    shown = np.arange(300_000).reshape(3, 100_000) % 7 > 0
    start = time.process_time()
    assert len(list(_alike(shown))) == 3
    assert time.process_time() - start < 0.2
