"""The multinomial family against scipy, fractions and mpmath, dense and sparse."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, prod
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import sparse, stats

from bayeswise.families import CategoricalParameters, Dirichlet, Multinomial
from bayeswise.families.discrete.multinomial import log_coefficients
from bayeswise.foundation.errors import DataError, ParameterError, PriorError, SchemaError
from bayeswise.statistics import WordCounts, fingerprint
from bayeswise.tables.schema.labels import Vocabulary
from tests.reference.families.oracle import error_of_density, gradient, hessian, log_beta, near, relative_error

MULTINOMIAL = Multinomial()
WORDS = Vocabulary(["buy", "now", "spam"])
P = CategoricalParameters.of({"buy": 0.5, "now": 0.125, "spam": 0.375})  # shares that floats hold exactly


def log_coefficient(x: Any) -> Any:
    return mp.loggamma(mp.fsum(x) + 1) - mp.fsum(mp.loggamma(mp.mpf(v) + 1) for v in x)


def exact_log_density(probability: Any, x: Any) -> Any:
    return log_coefficient(x) + mp.fsum(mp.mpf(v) * mp.log(p) for v, p in zip(x, probability, strict=True) if v)


def exact_log_predictive(weight: Any, x: Any) -> Any:
    after = [mp.mpf(w) + mp.mpf(v) for w, v in zip(weight, x, strict=True)]
    return log_coefficient(x) + log_beta(*after) - log_beta(*weight)


ROWS = [
    [0, 0, 0],
    [1, 0, 0],
    [2, 3, 5],
    [0, 40, 1],
    [500, 125, 375],
    [10**6, 0, 1],
    [5 * 10**9 + 10**5, 125 * 10**7 - 10**5, 375 * 10**7],
]


@pytest.mark.parametrize("x", ROWS, ids=str)
def test_density_and_predictive_agree_with_mpmath(x: list[int]) -> None:
    found = MULTINOMIAL.log_density(P, np.array([x], dtype=float))
    assert found.shape == (1, 1)
    assert error_of_density(found.item(), exact_log_density([0.5, 0.125, 0.375], x)) <= 1e-12
    for weight in ([1.0, 1.0, 1.0], [1e-3, 20.0, 1e6], [5e9, 1.25e9, 3.75e9]):
        exact = exact_log_predictive(weight, x)
        predicted = MULTINOMIAL.log_predictive(Dirichlet(WORDS, np.array(weight)), np.array([x], dtype=float))
        bound = max(1e-12 * max(1, abs(exact)), 1e-15 * min(sum(x), sum(weight)))  # as documented
        assert abs(mp.mpf(predicted.item()) - exact) <= bound


def test_the_density_is_that_of_scipy() -> None:
    x = np.random.default_rng(2).multinomial(9, [0.5, 0.125, 0.375], 20)
    found = MULTINOMIAL.log_density(P, x)[:, 0]
    np.testing.assert_allclose(found, stats.multinomial(9, [0.5, 0.125, 0.375]).logpmf(x), rtol=1e-12)
    weight = np.array([0.5, 3.0, 1.5])
    predicted = MULTINOMIAL.log_predictive(Dirichlet(WORDS, weight), x)[:, 0]
    np.testing.assert_allclose(predicted, stats.dirichlet_multinomial(weight, 9).logpmf(x), rtol=1e-11)


def test_with_two_words_it_is_binomial() -> None:
    x = np.array([[k, 12 - k] for k in range(13)])
    parameters = CategoricalParameters.of({"heads": 0.3, "tails": 0.7})
    np.testing.assert_allclose(
        MULTINOMIAL.log_density(parameters, x)[:, 0], stats.binom(12, 0.3).logpmf(x[:, 0]), rtol=1e-12
    )


def test_log_coefficients_are_logarithms_of_whole_numbers() -> None:
    for x in ([2, 3, 5], [0, 0], [7], [1, 1, 1, 1], [30, 1, 12], [100, 200, 300]):
        whole = factorial(sum(x)) // prod(map(factorial, x))
        assert error_of_density(log_coefficients([x]).item(), mp.log(whole)) <= 1e-14


def test_words_that_never_occur_are_impossible_without_a_prior() -> None:
    parameters = CategoricalParameters.of({"buy": 1.0, "now": 0.0})
    assert MULTINOMIAL.log_density(parameters, [[3, 0], [3, 1]]).tolist() == [[0.0], [-np.inf]]
    forbidden = Dirichlet(Vocabulary(["buy", "now"]), np.array([2.0, 0.0]))
    assert MULTINOMIAL.log_predictive(forbidden, [[3, 0], [3, 1]])[:, 0].tolist() == [0.0, -np.inf]


def test_outside_the_support_the_density_is_zero_and_missing_stays_missing() -> None:
    rows = np.array([[1.0, 0.5, 0.0], [-1.0, 2.0, 0.0], [np.nan, 1.0, 1.0], [np.inf, 1.0, 0.0]])
    for log_p in (
        MULTINOMIAL.log_density(P, rows),
        MULTINOMIAL.log_predictive(Dirichlet.laplace(WORDS), rows),
    ):
        assert log_p[[0, 1, 3], 0].tolist() == [-np.inf] * 3 and np.isnan(log_p[2, 0])


# -- the statistic --------------------------------------------------------------------------------------------
def test_sparse_and_dense_counts_give_the_same_bytes_and_the_same_answers() -> None:
    generator = np.random.default_rng(3)
    dense = generator.poisson(0.3, (50, 3)).astype(float)
    groups, weights = generator.integers(0, 2, 50).astype(np.int32), generator.random(50)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array):
        for weigh in (None, weights):
            one = MULTINOMIAL.statistic(dense, WORDS, groups, 2, weigh)
            other = MULTINOMIAL.statistic(kind(dense), WORDS, groups, 2, weigh)
            assert fingerprint(one) == fingerprint(other)
        np.testing.assert_array_equal(MULTINOMIAL.log_density(P, dense), MULTINOMIAL.log_density(P, kind(dense)))


def test_cells_that_a_sparse_matrix_holds_twice_are_added_and_zeros_are_nothing() -> None:
    split = sparse.csr_matrix((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 3))
    assert fingerprint(MULTINOMIAL.statistic(split, WORDS)) == fingerprint(MULTINOMIAL.statistic([[0, 3, 0]], WORDS))


def test_word_sums_are_exact_for_any_weights() -> None:
    x, weights = np.array([[3.0, 0.0, 1e9], [1.0, 2.0, 7.0]]), np.array([0.1, 1e15 + 0.125])
    seen = MULTINOMIAL.statistic(x, WORDS, weights=weights).words
    for level, column in zip(seen.levels, (WORDS.code(level) for level in seen.levels), strict=True):
        exact = sum(Fraction(w) * Fraction(v) for w, v in zip(weights, x[:, column], strict=True))
        assert seen.weight.to_fractions()[0, seen.levels.code(level)] == exact


def test_many_columns_are_never_made_dense() -> None:
    words = Vocabulary.trusted(tuple(f"{k:07d}" for k in range(300_000)))
    rows = sparse.csr_matrix(sparse.eye_array(2000, 300_000, k=150_000))
    seen = WordCounts.of(rows, words)
    assert seen.words.weight.sum().to_floats() == 2000
    assert len(seen.words.levels) == 2000


def test_a_row_with_a_missing_value_is_counted_apart() -> None:
    seen = MULTINOMIAL.statistic([[1, 2, 0], [np.nan, 5, 5]], WORDS)
    assert repr(seen.words) == "Counts(buy=1, now=2, missing=1)"
    assert seen.rows.to_floats().tolist() == [2.0]


def test_a_cell_that_is_not_a_count_is_an_error_that_names_it() -> None:
    for wrong in (-1.0, 0.5, np.inf):
        rows = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, wrong]])
        with pytest.raises(DataError, match="row 2 of column 'x2'"):
            MULTINOMIAL.statistic(sparse.csr_matrix(rows), WORDS)
        left_out = MULTINOMIAL.statistic(rows, WORDS, groups=np.array([0, -1], dtype=np.int32))
        assert fingerprint(left_out) == fingerprint(MULTINOMIAL.statistic(rows[:1], WORDS))


def test_counts_and_words_must_match_in_number() -> None:
    with pytest.raises(SchemaError, match="3 words need as many columns"):
        MULTINOMIAL.statistic([[1, 2]], WORDS)
    with pytest.raises(ParameterError, match="3 words need as many columns"):
        MULTINOMIAL.log_density(P, [[1, 2]])


# -- estimates and evidence -----------------------------------------------------------------------------------
def test_the_estimate_is_the_share_of_each_word() -> None:
    estimate = MULTINOMIAL.estimate(MULTINOMIAL.statistic([[2, 1, 0], [0, 1, 2]], WORDS))
    assert estimate.exists.all()
    np.testing.assert_array_equal(estimate.parameters.probability, [[1 / 3, 1 / 3, 1 / 3]])
    assert MULTINOMIAL.n_free_parameters(3) == 2


@pytest.mark.parametrize("rows", [np.empty((0, 3)), np.full((2, 3), np.nan), np.zeros((2, 3))])
def test_without_words_there_is_no_estimate(rows: np.ndarray) -> None:
    statistic = MULTINOMIAL.statistic(rows, WORDS, declared=WORDS)
    estimate = MULTINOMIAL.estimate(statistic)
    assert not estimate.exists.any() and estimate.reason.startswith("no rows")
    assert MULTINOMIAL.log_marginal(statistic, Dirichlet.laplace(WORDS)).tolist() == [0.0]


def test_the_evidence_agrees_with_mpmath() -> None:
    rows, weights, weight = [[2, 0, 1], [1000, 3, 40], [0, 0, 7]], [1.0, 2.0, 0.5], [0.5, 1.0, 2.0]
    statistic = MULTINOMIAL.statistic(rows, WORDS, weights=np.array(weights))
    total = [sum(w * row[j] for w, row in zip(weights, rows, strict=True)) for j in range(3)]
    exact = log_beta(*(a + mp.mpf(n) for a, n in zip(weight, total, strict=True))) - log_beta(*weight)
    exact += mp.fsum(w * log_coefficient(row) for w, row in zip(weights, rows, strict=True))
    found = MULTINOMIAL.log_marginal(statistic, Dirichlet(WORDS, np.array(weight)))
    assert relative_error(found.item(), exact) <= 1e-12


def test_a_prior_must_name_the_words_that_were_seen() -> None:
    with pytest.raises(PriorError, match="'now' was seen"):
        MULTINOMIAL.posterior(MULTINOMIAL.statistic([[1, 2, 0]], WORDS), Dirichlet.of({"buy": 1.0}))


def test_the_derivatives_of_the_log_partition_are_mean_and_covariance() -> None:
    family = Multinomial(trials=6)
    form = family.exponential_form(P)
    eta = [mp.mpf(value.item()) for value in form.natural]

    def log_partition(*point: Any) -> Any:
        return 6 * mp.log(1 + mp.fsum(map(mp.exp, point)))

    near(form.log_partition, log_partition(*eta))
    for found, exact in zip(form.mean_of_sufficient, gradient(log_partition, eta), strict=True):
        near(found, exact)
    for found_row, exact_row in zip(form.covariance_of_sufficient, hessian(log_partition, eta), strict=True):
        for found, exact in zip(found_row, exact_row, strict=True):
            near(found, exact)
    rows = np.array([[a, b, 6 - a - b] for a in range(7) for b in range(7 - a)], dtype=float)
    log_p = family.log_density(P, rows)[:, 0]
    np.testing.assert_allclose(form.log_density(rows), log_p, rtol=1e-12)
    share = np.exp(log_p)
    assert share.sum() == pytest.approx(1.0, rel=1e-13)
    assert share @ rows[:, 0] == pytest.approx(form.mean_of_sufficient[0].item(), rel=1e-12)
    moment = share @ (rows[:, 0] * rows[:, 1]) - (share @ rows[:, 0]) * (share @ rows[:, 1])
    assert moment == pytest.approx(form.covariance_of_sufficient[0][1].item(), rel=1e-10)


def test_draws_have_the_expected_length_and_mean() -> None:
    draws = Multinomial(trials=20).sample(P, 5000, np.random.default_rng(4))
    assert draws.shape == (5000, 1, 3) and (draws.sum(axis=-1) == 20).all()
    np.testing.assert_allclose(draws.mean(axis=0)[0], [10.0, 2.5, 7.5], rtol=0.03)
    for call in (lambda: MULTINOMIAL.sample(P, 1, np.random.default_rng(4)), lambda: MULTINOMIAL.exponential_form(P)):
        with pytest.raises(ParameterError, match=r"Multinomial\(trials=100\)"):
            call()
    with pytest.raises(ParameterError, match="whole number"):
        Multinomial(trials=-1)
