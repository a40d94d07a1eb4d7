"""Statistics form an abelian group, to the last byte, whatever the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import GROUPS, LEVELS, N_GROUPS, Rows, rows

from bayeswise.foundation.errors import NotMergedError
from bayeswise.statistics import (
    ColumnCounts,
    Counts,
    Extents,
    Grouped,
    JointCounts,
    Moments,
    PairCounts,
    Product,
    RowsWithMissing,
    Sample,
    Scatter,
    Weights,
    WordCounts,
    fingerprint,
)
from bayeswise.statistics.counts.column_counts import CodedCounts
from bayeswise.tables.schema.labels import Vocabulary

Summarise = Callable[[Rows], Any]


def weights_of(sample: Rows) -> Weights:
    return Weights.of(len(sample), sample.groups, N_GROUPS, sample.weights)


def moments_of(sample: Rows) -> Moments:
    return Moments.of(sample.values, sample.groups, N_GROUPS, sample.weights)


def extents_of(sample: Rows) -> Extents:
    return Extents.of(sample.values, sample.groups, N_GROUPS, sample.weights)


def scatter_of(sample: Rows) -> Scatter:
    return Scatter.of(sample.values, sample.groups, N_GROUPS, sample.weights)


def sample_of(sample: Rows) -> Sample:
    return Sample.of(sample.values, sample.groups, N_GROUPS, sample.weights)


def counts_of(sample: Rows) -> Counts:
    return Counts.of(sample.codes[:, 0], LEVELS, sample.groups, N_GROUPS, sample.weights)


def columns_of(sample: Rows) -> ColumnCounts:
    levels = [LEVELS] * sample.codes.shape[1]
    names = [f"x{k}" for k in range(len(levels))]
    return CodedCounts.of(names, sample.codes, levels, sample.groups, N_GROUPS, sample.weights).settled()


def joint_of(sample: Rows) -> JointCounts:
    return JointCounts.of(sample.codes, [LEVELS, LEVELS], sample.groups, N_GROUPS, sample.weights)


def pairs_of(sample: Rows) -> PairCounts:
    return PairCounts.of(sample.codes, [LEVELS, LEVELS], sample.groups, N_GROUPS, sample.weights)


def holes_of(sample: Rows) -> Product:
    rows = RowsWithMissing.of(sample.codes, [LEVELS, LEVELS], sample.groups, N_GROUPS, sample.weights)
    return Product({"all": weights_of(sample), "missing": rows})


def words_of(sample: Rows) -> WordCounts:
    counts = np.where(sample.codes < 0, np.nan, 3.0 * sample.codes)
    return WordCounts.of(counts, Vocabulary(["now", "buy"]), sample.groups, N_GROUPS, sample.weights)


def product_of(sample: Rows) -> Product:
    return Product({"numbers": moments_of(sample), "colour": counts_of(sample)})


def grouped_of(sample: Rows) -> Grouped[Product]:
    return Grouped.of(GROUPS, product_of(sample))


UNNAMED: list[Summarise] = [
    weights_of,
    moments_of,
    extents_of,
    scatter_of,
    sample_of,
    counts_of,
    columns_of,
    joint_of,
    pairs_of,
    holes_of,
    words_of,
    product_of,
]
EVERY: list[Summarise] = [*UNNAMED, grouped_of]  # all of them are computed from the rows of each example
pairs = st.booleans().flatmap(lambda weighted: st.tuples(rows(weighted), rows(weighted)))
triples = st.booleans().flatmap(lambda weighted: st.tuples(rows(weighted), rows(weighted), rows(weighted)))


@given(sample=rows())
def test_no_rows_are_the_identity(sample: Rows) -> None:
    for of in EVERY:
        statistic, nothing = of(sample), of(sample.take(slice(0, 0)))
        same = {fingerprint(each) for each in (statistic, statistic.merge(nothing), nothing.merge(statistic))}
        empty = {fingerprint(each) for each in (nothing, nothing.merge(nothing), statistic.zero())}
        assert (len(same), len(empty)) == (1, 1), of.__name__


@given(both=pairs)
def test_merge_is_commutative(both: tuple[Rows, Rows]) -> None:
    for of in EVERY:
        left, right = map(of, both)
        assert fingerprint(left.merge(right)) == fingerprint(right.merge(left)), of.__name__


@given(three=triples)
def test_merge_is_associative(three: tuple[Rows, Rows, Rows]) -> None:
    for of in EVERY:
        a, b, c = map(of, three)
        assert fingerprint(a.merge(b).merge(c)) == fingerprint(a.merge(b.merge(c))), of.__name__


@given(both=pairs)
def test_subtract_undoes_merge(both: tuple[Rows, Rows]) -> None:
    for of in EVERY:
        left, right = map(of, both)
        assert fingerprint(left.merge(right).subtract(right)) == fingerprint(left), of.__name__


@given(both=pairs)
def test_the_statistic_of_all_rows_is_the_merge_of_its_parts(both: tuple[Rows, Rows]) -> None:
    for of in EVERY:
        assert fingerprint(of(both[0].joined(both[1]))) == fingerprint(of(both[0]).merge(of(both[1]))), of.__name__


@given(sample=rows(weighted=True), seed=st.randoms())
def test_the_order_of_rows_does_not_matter(sample: Rows, seed: Any) -> None:
    order = list(range(len(sample)))
    seed.shuffle(order)
    for of in EVERY:
        assert fingerprint(of(sample)) == fingerprint(of(sample.take(order))), of.__name__


@given(sample=rows(), times=st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_a_weight_of_k_is_k_copies_of_the_row(sample: Rows, times: list[int]) -> None:
    repeats = times[: len(sample)]
    copies = sample.take([k for k, count in enumerate(repeats) for _ in range(count)])
    weighted = Rows(sample.values, sample.codes, sample.groups, np.array(repeats, dtype=np.float64))
    for of in EVERY:
        assert fingerprint(of(weighted)) == fingerprint(of(copies)), of.__name__


@given(sample=rows())
def test_the_order_of_groups_does_not_matter_once_they_have_names(sample: Rows) -> None:
    renamed = Vocabulary([GROUPS[1], GROUPS[2], GROUPS[0]])
    moved = np.array([2, 0, 1, -1], dtype=np.int32)[sample.groups]
    same = Rows(sample.values, sample.codes, moved, None)
    for of in UNNAMED:
        named = fingerprint(Grouped.of(GROUPS, of(sample))), fingerprint(Grouped.of(renamed, of(same)))
        assert named[0] == named[1], of.__name__


@settings(max_examples=20)
@given(sample=rows())
def test_subtracting_what_was_never_merged_is_seen(sample: Rows) -> None:
    kept = sample.take([k for k in range(len(sample)) if sample.groups[k] >= 0])
    for of in EVERY if len(kept) else []:
        with pytest.raises(NotMergedError, match="never merged"):
            of(sample.take(slice(0, 0))).subtract(of(kept))


def test_a_level_vanishes_with_its_last_row_unless_it_was_declared() -> None:
    red, blue = np.array([0], dtype=np.int32), np.array([3], dtype=np.int32)
    both = Counts.of(red, LEVELS).merge(Counts.of(blue, LEVELS))
    assert list(both.subtract(Counts.of(red, LEVELS)).levels) == ["blue"]
    declared = Vocabulary(["red", "green"])
    kept = Counts.of(red, LEVELS, declared=declared)
    assert list(kept.subtract(Counts.of(red, LEVELS)).levels) == ["green", "red"]


def test_a_class_vanishes_with_its_last_row_unless_it_was_declared() -> None:
    one = np.array([[1.0]])
    a = Grouped.of(GROUPS, Moments.of(one, np.array([1], dtype=np.int32), 3))
    b = Grouped.of(GROUPS, Moments.of(one, np.array([2], dtype=np.int32), 3))
    assert list(a.merge(b).labels) == ["a", "b"]
    assert fingerprint(a.merge(b).subtract(a)) == fingerprint(b)
