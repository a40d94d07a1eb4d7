"""Sums, means, variances and covariances against exact rational arithmetic that shares no code with ours."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import N_COLUMNS, N_GROUPS, Rows, rows

from bayeswise.foundation.errors import NonFiniteError, TooFewRowsError
from bayeswise.statistics import Moments, Scatter


def cells(sample: Rows, group: int, column: int) -> list[tuple[Fraction, Fraction]]:
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    picked = zip(sample.values[:, column], sample.groups, weights, strict=True)
    return [(Fraction(w), Fraction(x)) for x, g, w in picked if g == group and not math.isnan(x)]


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_exact(weighted: bool) -> None:
    @settings(max_examples=200)
    @given(sample=rows(weighted))
    def law(sample: Rows) -> None:
        moments = Moments.of(sample.values, sample.groups, N_GROUPS, sample.weights)
        for g in range(N_GROUPS):
            for c in range(N_COLUMNS):
                terms = cells(sample, g, c)
                assert moments.weight[g, c].to_fractions().item() == sum(w for w, _ in terms)
                assert moments.total[g, c].to_fractions().item() == sum(w * x for w, x in terms)
                assert moments.squares[g, c].to_fractions().item() == sum(w * x * x for w, x in terms)

    law()


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_products_are_exact(weighted: bool) -> None:
    @settings(max_examples=200)
    @given(sample=rows(weighted))
    def law(sample: Rows) -> None:
        scatter = Scatter.of(sample.values, sample.groups, N_GROUPS, sample.weights)
        weights = np.ones(len(sample)) if sample.weights is None else sample.weights
        whole = ~np.isnan(sample.values).any(axis=1)
        for g in range(N_GROUPS):
            chosen = [k for k in range(len(sample)) if whole[k] and sample.groups[k] == g]
            w = [Fraction(weights[k]) for k in chosen]
            x, y = ([Fraction(sample.values[k, c]) for k in chosen] for c in range(2))
            expected = [
                sum(a * b * b for a, b in zip(w, x, strict=True)),
                sum(a * b * c for a, b, c in zip(w, x, y, strict=True)),
                sum(a * b * b for a, b in zip(w, y, strict=True)),
            ]
            assert scatter.cross[g].to_fractions().tolist() == expected
            assert scatter.weight[g].to_fractions().item() == sum(w)

    law()


def ulps(found: float, exact: Fraction) -> float:
    return abs(float((Fraction(found) - exact) / Fraction(math.ulp(float(exact)))))


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e15, -1e15, 1e300, 1e-300])
@pytest.mark.parametrize("divisor", ["n", "n-1"])
def test_mean_and_variance_are_within_two_ulp_at_any_offset(offset: float, divisor: str) -> None:
    values = offset + np.random.default_rng(7).normal(size=1000)
    exact = [Fraction(x) for x in values]
    mean = sum(exact) / 1000
    less = {"n": 0, "n-1": 1}[divisor]
    variance = sum((x - mean) ** 2 for x in exact) / (1000 - less)
    moments = Moments.of(values[:, None])
    assert ulps(moments.mean().item(), mean) <= 0.5
    if variance == 0:
        assert moments.variance(divisor).item() == 0.0
    else:
        assert ulps(moments.variance(divisor).item(), variance) <= 0.5
        assert moments.stddev(divisor).item() == pytest.approx(math.sqrt(variance), rel=4e-16)


def test_two_classes_at_0_and_1e9_in_one_column_keep_their_variances() -> None:
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 2, 5000).astype(np.int32)
    values = rng.normal(size=5000) + groups * 1e9
    moments = Moments.of(values[:, None], groups, 2)
    for g in range(2):
        exact = [Fraction(x) for x in values[groups == g]]
        mean = sum(exact) / len(exact)
        assert ulps(moments.variance()[g, 0], sum((x - mean) ** 2 for x in exact) / len(exact)) <= 0.5


def test_an_outlier_of_1e200_leaves_no_trace_once_it_is_forgotten() -> None:
    values = np.random.default_rng(5).normal(size=(2000, 3))
    outlier = np.array([[1e200, -1e200, 1e-200]])
    clean = Moments.of(values)
    assert clean.merge(Moments.of(outlier)).subtract(Moments.of(outlier)) == clean
    both = Scatter.of(np.concatenate([values, outlier]))
    assert both.subtract(Scatter.of(outlier)) == Scatter.of(values)


def test_covariances_are_correctly_rounded_at_1e15() -> None:
    rng = np.random.default_rng(11)
    values = 1e15 + rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3))
    covariance = Scatter.of(values).covariance("n-1")[0]
    exact = [[Fraction(x) for x in values[:, c]] for c in range(3)]
    means = [sum(column) / 300 for column in exact]
    for i in range(3):
        for j in range(3):
            pairs = zip(exact[i], exact[j], strict=True)
            expected = sum((x - means[i]) * (y - means[j]) for x, y in pairs) / 299
            assert ulps(covariance[i, j], expected) <= 0.5


def test_the_pooled_variance_divides_by_rows_less_groups() -> None:
    values = np.array([[1.0], [3.0], [10.0], [14.0], [12.0]])
    groups = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    moments = Moments.of(values, groups, 2)
    assert moments.variance("n-K").tolist() == [[10.0 / 3.0], [10.0 / 3.0]]  # (2 + 8) / (5 - 2)
    assert Scatter.of(values, groups, 2).within_covariance("n-K").tolist() == [[10.0 / 3.0]]


def test_a_variance_of_one_row_with_divisor_n_minus_1_is_refused_or_the_given_value() -> None:
    moments = Moments.of(np.array([[4.0]]))
    with pytest.raises(TooFewRowsError, match="n-1"):
        moments.variance("n-1")
    assert moments.variance("n-1", empty=7.0).item() == 7.0
    assert moments.variance("n").item() == 0.0


def test_the_standard_deviation_is_finite_where_the_variance_is_not() -> None:
    moments = Moments.of(np.array([[1.5e308], [-1.5e308]]))
    assert moments.stddev().item() == 1.5e308
    assert moments.variance().item() == math.inf


WIDE = np.array([[2**62 + 3, 5], [-(2**61) - 7, -9], [2**53 + 1, 2**40]], dtype=np.int64)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5])])
@pytest.mark.parametrize("cells", [WIDE, np.abs(WIDE).astype(np.uint64) * 2])
def test_integers_beyond_doubles_are_summed_exactly(cells, weights) -> None:  # type: ignore[no-untyped-def]
    groups = np.array([0, 1, 0], dtype=np.int32)
    w = [Fraction(1)] * 3 if weights is None else [Fraction(x) for x in weights]
    moments, scatter = Moments.of(cells, groups, 2, weights), Scatter.of(cells, groups, 2, weights)
    for g in range(2):
        rows = [k for k in range(3) if groups[k] == g]
        x, y = ([Fraction(int(cells[k, c])) for k in rows] for c in range(2))
        mine = [w[k] for k in rows]
        assert moments.total[g].to_fractions().tolist() == [
            sum(a * b for a, b in zip(mine, column, strict=True)) for column in (x, y)
        ]
        expected = [
            sum(a * b * c for a, b, c in zip(mine, first, second, strict=True))
            for first, second in ((x, x), (x, y), (y, y))
        ]
        assert scatter.cross[g].to_fractions().tolist() == expected
        assert moments.squares[g].to_fractions().tolist() == [expected[0], expected[2]]


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.int64, np.float32, bool])
def test_every_type_of_number_is_taken_exactly(kind) -> None:  # type: ignore[no-untyped-def]
    cells = np.array([[1, 0], [0, 1], [1, 1]]).astype(kind)
    assert Moments.of(cells) == Moments.of(cells.astype(np.float64))


def test_an_infinite_cell_is_an_error_that_knows_its_place() -> None:
    with pytest.raises(NonFiniteError, match="column 'x1' has an infinite value in row 3"):
        Moments.of(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.inf]]))
