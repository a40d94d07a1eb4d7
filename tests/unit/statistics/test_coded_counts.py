"""Counts by code: the same bytes as counts in canonical order, whatever the codes."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.foundation.arrays import CodeArray
from bayeswise.statistics import Counts, Product, fingerprint
from bayeswise.statistics.counts import CodedCounts
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


@pytest.mark.parametrize("weights", [False, True])
def test_codes_that_grow_from_batch_to_batch_settle_to_the_same_bytes(weights: bool) -> None:
    first, second = slice(0, 25), slice(25, 60)
    both = coded(CODES, 3, weights, first).merge(coded(CODES + (CODES >= 0), 5, weights, second))
    assert isinstance(both, CodedCounts)
    expected = canonical(CODES, 3, weights, first).merge(canonical(CODES + (CODES >= 0), 5, weights, second))
    assert fingerprint(both.settled()) == fingerprint(expected)
    assert fingerprint(both.weight_of_rows) == fingerprint(expected.weight_of_rows)
    backwards = coded(CODES + (CODES >= 0), 5, weights, second).merge(coded(CODES, 3, weights, first))
    assert isinstance(backwards, CodedCounts) and fingerprint(backwards.settled()) == fingerprint(expected)


def test_codes_of_another_order_are_merged_by_label() -> None:
    first, second = slice(0, 25), slice(25, 60)
    other = coded(CODES, 3, False, second, COLOURS[::-1])
    both = coded(CODES, 3, False, first).merge(other)
    expected = canonical(CODES, 3, False, first).merge(other.settled())
    assert isinstance(both, Product) and fingerprint(both) == fingerprint(expected)
    again = both.merge(coded(CODES, 3, False, second))  # type: ignore[arg-type]
    assert fingerprint(again) == fingerprint(both.merge(canonical(CODES, 3, False, second)))
    mixed = coded(CODES, 3, False, second).merge(both)
    assert fingerprint(mixed) == fingerprint(again)


def test_groups_are_taken_and_moved_with_their_codes() -> None:
    whole = coded(CODES, 3, False, slice(0, 60))
    expected = canonical(CODES, 3, False, slice(0, 60))
    places = np.array([2, 0])
    assert fingerprint(whole.regroup(places, 3).settled()) == fingerprint(expected.regroup(places, 3))
    assert fingerprint(whole.take(np.array([1])).settled()) == fingerprint(expected.take(np.array([1])))
