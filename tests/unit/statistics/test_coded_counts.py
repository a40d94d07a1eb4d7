"""Counts by code: the same bytes as counts in canonical order, whatever the codes."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.foundation.arrays import CodeArray
from bayeswise.foundation.errors import KindError, NotMergedError
from bayeswise.statistics import ColumnCounts, Counts, Product, fingerprint
from bayeswise.statistics.counts.column_counts import CodedCounts
from bayeswise.tables.schema.labels import Vocabulary

COLOURS = ["red", "blue", "green", "amber", "white"]
GENERATOR = np.random.default_rng(0)
CODES = GENERATOR.integers(-1, 3, (60, 2)).astype(np.int32)
GROUPS = GENERATOR.integers(-1, 2, 60).astype(np.int32)
WEIGHTS = GENERATOR.random(60)


def coded(codes: CodeArray, n_levels: int, weights: bool, rows: slice, names: list[str] = COLOURS) -> CodedCounts:
    levels = [Vocabulary(names[:n_levels]), Vocabulary(names[::-1][:n_levels])]
    weigh = WEIGHTS[rows] if weights else None
    return CodedCounts.of(["one", "two"], codes[rows], levels, GROUPS[rows], 2, weigh, [None, Vocabulary(["extra"])])


def canonical(codes: CodeArray, n_levels: int, weights: bool, rows: slice) -> Product:
    levels = [Vocabulary(COLOURS[:n_levels]), Vocabulary(COLOURS[::-1][:n_levels])]
    weigh = WEIGHTS[rows] if weights else None
    found = Counts.of_columns(codes[rows], levels, GROUPS[rows], 2, weigh, [None, Vocabulary(["extra"])])
    return Product(dict(zip(["one", "two"], found, strict=True)))


def by_column(counts: ColumnCounts) -> str:
    """The fingerprint of the counts of each column."""
    return fingerprint(Product({name: counts[name] for name in counts}))


@pytest.mark.parametrize("weights", [False, True])
def test_codes_that_grow_from_batch_to_batch_settle_to_the_same_bytes(weights: bool) -> None:
    first, second = slice(0, 25), slice(25, 60)
    both = coded(CODES, 3, weights, first).merge(coded(CODES + (CODES >= 0), 5, weights, second))
    assert isinstance(both, CodedCounts)
    expected = canonical(CODES, 3, weights, first).merge(canonical(CODES + (CODES >= 0), 5, weights, second))
    assert by_column(both.settled()) == fingerprint(expected)
    assert fingerprint(both.weight_of_rows) == fingerprint(expected.weight_of_rows)
    backwards = coded(CODES + (CODES >= 0), 5, weights, second).merge(coded(CODES, 3, weights, first))
    assert isinstance(backwards, CodedCounts) and by_column(backwards.settled()) == fingerprint(expected)


def test_codes_of_another_order_are_merged_by_label() -> None:
    first, second = slice(0, 25), slice(25, 60)
    other = coded(CODES, 3, False, second, COLOURS[::-1])
    both = coded(CODES, 3, False, first).merge(other)
    labelled = Product({name: other.settled()[name] for name in other.settled()})
    expected = canonical(CODES, 3, False, first).merge(labelled)
    assert isinstance(both, ColumnCounts) and by_column(both) == fingerprint(expected)
    again = both.merge(coded(CODES, 3, False, second))  # type: ignore[arg-type]
    assert by_column(again) == fingerprint(expected.merge(canonical(CODES, 3, False, second)))
    mixed = coded(CODES, 3, False, second).merge(both)
    assert fingerprint(mixed) == fingerprint(again)


def test_groups_are_taken_and_moved_with_their_codes() -> None:
    whole = coded(CODES, 3, False, slice(0, 60))
    expected = canonical(CODES, 3, False, slice(0, 60))
    places = np.array([2, 0])
    assert by_column(whole.regroup(places, 3).settled()) == fingerprint(expected.regroup(places, 3))
    assert by_column(whole.take(np.array([1])).settled()) == fingerprint(expected.take(np.array([1])))


@pytest.mark.parametrize("n_columns", [1, 3, 40])
def test_one_table_of_many_columns_does_what_the_counts_of_each_column_do(n_columns: int) -> None:
    """With few rows columns show different levels, and lose some when rows are taken away."""
    generator = np.random.default_rng(n_columns)
    names = [f"x{k}" for k in range(n_columns)]
    levels = [Vocabulary(COLOURS)] * n_columns
    declared = [None if k % 3 else Vocabulary(["violet", "red"]) for k in range(n_columns)]
    codes = generator.integers(-1, 5, (14, n_columns)).astype(np.int32)
    groups = generator.integers(0, 2, 14).astype(np.int32)

    def counts(rows: slice) -> tuple[ColumnCounts, Product]:
        together = CodedCounts.of(names, codes[rows], levels, groups[rows], 2, None, declared).settled()
        apart = Counts.of_columns(codes[rows], levels, groups[rows], 2, None, declared)
        return together, Product(dict(zip(names, apart, strict=True)))

    (one, one_apart), (other, other_apart) = counts(slice(0, 9)), counts(slice(9, 14))
    both, both_apart = one.merge(other), one_apart.merge(other_apart)
    assert by_column(both) == fingerprint(both_apart)
    assert fingerprint(other.merge(one)) == fingerprint(both)
    assert fingerprint(both.subtract(other)) == fingerprint(one.merge(one.zero()))
    assert by_column(both.subtract(one)) == fingerprint(both_apart.subtract(one_apart))
    assert by_column(both.zero()) == fingerprint(both_apart.zero())
    assert by_column(both.pooled()) == fingerprint(both_apart.pooled())
    assert by_column(both.take(np.array([1]))) == fingerprint(both_apart.take(np.array([1])))
    both.levels.refuse_impossible()
    both.refuse_impossible()


def test_a_count_that_was_never_merged_is_not_subtracted() -> None:
    seen, more = coded(CODES, 3, False, slice(0, 9)).settled(), coded(CODES, 3, False, slice(0, 30)).settled()
    with pytest.raises(NotMergedError, match="never merged"):
        seen.subtract(more)
    other = CodedCounts.of(["three"], CODES[:, :1], [Vocabulary(COLOURS)], GROUPS, 2).settled()
    with pytest.raises(KindError, match="different columns"):
        seen.merge(other)
