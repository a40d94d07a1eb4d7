"""Medians and mean absolute deviations of samples, against plain rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import N_COLUMNS, N_GROUPS, Rows, finite, rows

from bayeswise.foundation.errors import NotMergedError, SupportError, TooFewRowsError
from bayeswise.statistics import Sample, fingerprint


def medians_of(cells: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """The lowest and the highest value with at most half the weight below and above."""
    half = sum(weight for _, weight in cells) / 2
    fit = [
        value
        for value, _ in cells
        if sum(w for v, w in cells if v < value) <= half and sum(w for v, w in cells if v > value) <= half
    ]
    return min(fit), max(fit)


@given(sample=rows(weighted=True))
def test_median_and_deviation_are_the_rounded_rationals(sample: Rows) -> None:
    seen = Sample.of(sample.values, sample.groups, N_GROUPS, sample.weights)
    medians, deviations = seen.median(empty=7.0), seen.mean_absolute_deviation(empty=7.0)
    for group in range(N_GROUPS):
        for column in range(N_COLUMNS):
            cells = [
                (Fraction(value), Fraction(weight))
                for value, g, weight in zip(sample.values[:, column], sample.groups, sample.weights, strict=True)
                if g == group and weight > 0 and not np.isnan(value)
            ]
            if not cells:
                assert medians[group, column] == deviations[group, column] == 7.0
                continue
            low, high = medians_of(cells)
            total = sum(weight for _, weight in cells)
            assert medians[group, column] == float((low + high) / 2)
            assert deviations[group, column] == float(sum(w * abs(v - low) for v, w in cells) / total)


@given(values=st.lists(finite, min_size=1, max_size=9))
def test_any_median_has_the_same_mean_deviation(values: list[float]) -> None:
    exact = sorted(map(Fraction, values))
    low, high = exact[(len(exact) - 1) // 2], exact[len(exact) // 2]
    assert sum(abs(v - low) for v in exact) == sum(abs(v - high) for v in exact)


@given(sample=rows(weighted=True))
def test_groups_and_columns_are_chosen_and_pooled_like_rows(sample: Rows) -> None:
    seen = Sample.of(sample.values, sample.groups, N_GROUPS, sample.weights)
    swapped = Sample.of(sample.values[:, ::-1], sample.groups, N_GROUPS, sample.weights)
    assert fingerprint(seen.columns(np.array([1, 0]))) == fingerprint(swapped)
    kept = sample.groups >= 0
    together = Sample.of(sample.values[kept], None, 1, sample.weights[kept])
    assert fingerprint(seen.pooled()) == fingerprint(together)
    moved = np.array([2, 0, 1, -1], dtype=np.int32)[sample.groups]
    relabelled = Sample.of(sample.values, moved, N_GROUPS, sample.weights)
    assert fingerprint(seen.regroup(np.array([2, 0, 1]), N_GROUPS)) == fingerprint(relabelled)
    assert fingerprint(relabelled.take(np.array([2, 0, 1]))) == fingerprint(seen)


def test_removing_a_value_that_was_never_there_is_seen() -> None:
    with pytest.raises(NotMergedError, match="never merged"):
        Sample.of(np.array([[1.0], [2.0]])).subtract(Sample.of(np.array([[1.5]])))


def test_an_infinite_cell_is_named_unless_its_row_is_left_out() -> None:
    table = np.array([[1.0, 2.0], [3.0, np.inf]])
    with pytest.raises(SupportError, match="row 2 of column 'x1'"):
        Sample.of(table)
    assert Sample.of(table, weights=np.array([1.0, 0.0])).sizes.tolist() == [[1, 1]]


def test_no_cell_has_no_median() -> None:
    with pytest.raises(TooFewRowsError, match="column 0 of group 0"):
        Sample.of(np.array([[np.nan]])).median()
    assert Sample.of(np.array([[np.nan]])).rows.to_floats().tolist() == [1.0]
