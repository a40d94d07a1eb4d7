"""Sums of pairs of columns: kept while rows are few, the same in any order; and shapes that do not match."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.foundation.errors import NotMergedError, SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics import Moments, Scatter, fingerprint
from bayeswise.statistics.numbers.scatter import PairSums

VALUES = np.random.default_rng(0).normal(size=(12, 3))
GROUPS = np.arange(12, dtype=np.int32) % 2


def sums(rows: slice, most_rows: int | None) -> PairSums:
    return PairSums.of(VALUES[rows], GROUPS[rows], 2, None, most_rows)


@pytest.mark.parametrize("most_rows", [None, 20, 12, 11, 5, 0])
def test_parts_merge_to_the_whole_to_the_last_byte_wherever_the_limit_lies(most_rows: int | None) -> None:
    whole = sums(slice(0, 12), most_rows)
    assert whole.keeps_pairs == (most_rows is None or most_rows >= 12)
    for cut in range(13):
        for first, second in ((slice(0, cut), slice(cut, 12)), (slice(cut, 12), slice(0, cut))):
            assert fingerprint(sums(first, most_rows).merge(sums(second, most_rows))) == fingerprint(whole)


def test_rows_are_forgotten_to_the_last_byte_below_the_limit() -> None:
    left = sums(slice(0, 12), 12).subtract(sums(slice(7, 12), 12))
    assert fingerprint(left) == fingerprint(sums(slice(0, 7), 12))
    with pytest.raises(NotMergedError):
        sums(slice(0, 3), 12).subtract(sums(slice(0, 12), 12))


def test_pairs_once_let_go_do_not_come_back() -> None:
    left = sums(slice(0, 12), 8).subtract(sums(slice(4, 12), 8))
    assert not left.keeps_pairs
    assert fingerprint(left.moments) == fingerprint(Moments.of(VALUES[:4], GROUPS[:4], 2))


def test_a_weight_counts_as_rows() -> None:
    weighed = PairSums.of(VALUES[:3], weights=np.full(3, 4.0), most_rows=11)
    assert not weighed.keeps_pairs


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_covariances_in_units_of_the_columns_stay_in_range(scale: float) -> None:
    found = Scatter.of(VALUES * scale).covariance_in(np.full(3, scale))
    assert found[0] == pytest.approx(np.cov(VALUES.T, bias=True), rel=1e-12)


def test_a_group_without_complete_rows_has_no_covariance() -> None:
    found = Scatter.of(np.array([[1.0, np.nan], [2.0, 3.0], [3.0, 5.0]]), np.array([0, 1, 1], dtype=np.int32), 2)
    assert found.covariance_in(np.ones(2)).tolist() == [[[0.0, 0.0], [0.0, 0.0]], [[0.25, 0.5], [0.5, 1.0]]]


def test_sums_of_different_numbers_of_groups_or_columns_are_refused() -> None:
    one, two = ExactArray.zeros((1, 2)), ExactArray.zeros((2, 2))
    with pytest.raises(SchemaError, match="do not match"):
        Moments(ExactArray.zeros(2), one, one, one)
    with pytest.raises(SchemaError, match="do not match"):
        Moments(ExactArray.zeros(2), two, two, ExactArray.zeros((2, 3)))
    with pytest.raises(SchemaError, match="do not match"):
        Moments(ExactArray.zeros(2), *(ExactArray.zeros(2) for _ in range(3)))
    with pytest.raises(SchemaError, match="do not match"):
        Scatter(ExactArray.zeros(2), two, two, ExactArray.zeros(2))
    with pytest.raises(SchemaError, match="do not match"):
        Scatter(ExactArray.zeros(2), two, ExactArray.zeros((2, 3)), ExactArray.zeros(1))
    with pytest.raises(SchemaError, match="do not match"):
        PairSums(Moments.empty(3, 2), Scatter.empty(2, 2))
