"""The categorical distribution and its Dirichlet prior against fractions and mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from bayeswise.families import Categorical, CategoricalParameters, Dirichlet
from bayeswise.foundation.errors import ParameterError, PriorError
from bayeswise.statistics import Counts
from bayeswise.tables.batch import MISSING, UNSEEN
from bayeswise.tables.schema.labels import Vocabulary
from tests.reference.families.oracle import (
    check_exponential_form,
    check_moments_of_sufficient,
    log_beta,
    relative_error,
)

CATEGORICAL = Categorical()
COLOURS = Vocabulary(["blue", "green", "red"])


def counted(*weights: float) -> Counts:
    codes = np.arange(len(COLOURS), dtype=np.int32)
    return CATEGORICAL.statistic(codes, COLOURS, weights=np.array(weights), declared=COLOURS)


def test_the_estimate_is_the_share_of_each_level_correctly_rounded() -> None:
    codes = np.array([0, 2, 2, 1, 2, 1, 2, -1], dtype=np.int32)
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32)
    estimate = CATEGORICAL.estimate(CATEGORICAL.statistic(codes, COLOURS, groups, 2))
    expected = [[Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)], [Fraction(0), Fraction(1, 3), Fraction(2, 3)]]
    assert estimate.parameters.probability.tolist() == [[float(share) for share in row] for row in expected]
    assert estimate.parameters.complement.tolist() == [[float(1 - share) for share in row] for row in expected]
    assert estimate.exists.all()
    assert "border" in estimate.reason


def test_the_density_keeps_its_digits_at_both_ends() -> None:
    parameters = CATEGORICAL.estimate(counted(1e15, 1.0, 2.0)).parameters
    log_p = CATEGORICAL.log_density(parameters, np.array([0, 1, 2]))[:, 0]
    total = mp.mpf(10) ** 15 + 3
    for found, weight in zip(log_p, (mp.mpf(10) ** 15, 1, 2), strict=True):
        assert relative_error(found, mp.log(weight / total)) <= 1e-15


def test_codes_beyond_the_levels() -> None:
    parameters = CategoricalParameters.of({"blue": 0.5, "red": 0.3}, unseen=0.2)
    log_p = CATEGORICAL.log_density(parameters, np.array([[0, 1], [UNSEEN, MISSING]], dtype=np.int32))
    assert log_p.shape == (2, 2, 1)
    np.testing.assert_allclose(np.exp(log_p[..., 0].ravel()[:3]), [0.5, 0.3, 0.2], rtol=1e-15)
    assert np.isnan(log_p[1, 1, 0])
    no_room = CategoricalParameters.of({"blue": 0.5, "red": 0.5})
    assert CATEGORICAL.log_density(no_room, np.array([UNSEEN])).tolist() == [[-np.inf]]
    for code in (2, -3):
        with pytest.raises(ParameterError, match=f"found {code}"):
            CATEGORICAL.log_density(parameters, np.array([code]))


# -- smoothing is a prior ---------------------------------------------------------------------------------------
def test_laplace_adds_one_row_of_each_value_of_the_column() -> None:
    parameters = CATEGORICAL.parameters(counted(3.0, 0.0, 1.0), Dirichlet.laplace(COLOURS))
    np.testing.assert_allclose(parameters.probability, [[4 / 7, 1 / 7, 2 / 7]], rtol=1e-15)


def test_the_m_estimate_with_even_and_with_given_shares() -> None:
    seen = counted(3.0, 0.0, 1.0)
    even = CATEGORICAL.parameters(seen, Dirichlet.m_estimate(COLOURS, m=6))
    np.testing.assert_allclose(even.probability, [[5 / 10, 2 / 10, 3 / 10]], rtol=1e-15)
    given = Dirichlet.m_estimate(COLOURS, m=8, p={"red": 0.5, "green": 0.25, "blue": 0.25})
    np.testing.assert_allclose(CATEGORICAL.parameters(seen, given).probability, [[5 / 12, 2 / 12, 5 / 12]], rtol=1e-15)
    no_rows = CATEGORICAL.parameters(seen, Dirichlet.m_estimate(COLOURS, m=0)).probability
    assert no_rows.tolist() == CATEGORICAL.estimate(seen).parameters.probability.tolist()


@pytest.mark.parametrize(
    "p", [{"red": 1.0}, {"red": 0.5, "green": 0.25, "pink": 0.25}, {"red": 0.5, "green": 0.5, "blue": 0.5}]
)
def test_shares_with_wrong_names_or_a_wrong_sum_are_refused(p: dict[str, float]) -> None:
    with pytest.raises(PriorError):
        Dirichlet.m_estimate(COLOURS, m=1, p=p)


def test_an_unseen_level_gets_the_requested_mass() -> None:
    parameters = CATEGORICAL.parameters(counted(3.0, 0.0, 1.0), Dirichlet.laplace(COLOURS, unseen=2.0))
    np.testing.assert_allclose(parameters.unseen, [2 / 9], rtol=1e-15)
    np.testing.assert_allclose(parameters.probability.sum() + parameters.unseen, 1.0, rtol=1e-15)


def test_a_level_of_prior_weight_zero_stays_zero_until_it_is_seen() -> None:
    prior = Dirichlet.of({"blue": 1.0, "green": 0.0, "red": 1.0})
    assert CATEGORICAL.parameters(counted(3.0, 0.0, 1.0), prior).probability[0, 1] == 0.0
    assert np.isfinite(CATEGORICAL.log_marginal(counted(3.0, 0.0, 1.0), prior)).all()
    assert CATEGORICAL.log_marginal(counted(3.0, 1.0, 1.0), prior).tolist() == [-np.inf]


def test_a_prior_must_name_every_level_that_was_seen() -> None:
    with pytest.raises(PriorError, match="'green' was seen"):
        CATEGORICAL.posterior(counted(1.0, 1.0, 1.0), Dirichlet.of({"blue": 1.0, "red": 1.0}))


def test_the_posterior_reads_as_counts_in_the_order_of_the_prior() -> None:
    seen = CATEGORICAL.statistic(np.array([2, 2, 0], dtype=np.int32), COLOURS)
    posterior = CATEGORICAL.posterior(seen, Dirichlet.of({"red": 4.0, "blue": 1.0}))
    assert repr(posterior) == "Dirichlet(red=6, blue=2)"


# -- evidence ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("weights", "counts"),
    [
        ((1.0, 1.0, 1.0), (5.0, 0.0, 2.0)),
        ((0.5, 0.5, 0.5), (1e15, 3.0, 0.0)),
        ((1e15, 2e15, 3e15), (4.0, 0.0, 7.0)),
        ((1e-3, 1e4, 1e12), (1e9, 1.0, 1e15)),
        ((1e-300, 1.0, 1.0), (2.0, 3.0, 0.0)),
    ],
)
def test_the_evidence_agrees_with_mpmath(weights: tuple[float, ...], counts: tuple[float, ...]) -> None:
    prior = Dirichlet(COLOURS, np.array(weights))
    exact = log_beta(*(mp.mpf(w) + mp.mpf(n) for w, n in zip(weights, counts, strict=True))) - log_beta(*weights)
    assert relative_error(CATEGORICAL.log_marginal(counted(*counts), prior).item(), exact) <= 1e-12


def test_the_unseen_cell_takes_part_in_the_evidence() -> None:
    found = CATEGORICAL.log_marginal(counted(2.0, 0.0, 1.0), Dirichlet.laplace(COLOURS, unseen=0.5))
    exact = log_beta(3, 1, 2, 0.5) - log_beta(1, 1, 1, 0.5)
    assert relative_error(found.item(), exact) <= 1e-12


# -- exponential form -------------------------------------------------------------------------------------------
def test_the_derivatives_of_the_log_partition_are_means_and_covariances() -> None:
    parameters = CategoricalParameters.of({"blue": 0.2, "green": 0.5, "red": 0.3})
    form = CATEGORICAL.exponential_form(parameters)
    check_exponential_form(form, lambda first, second: mp.log1p(mp.exp(first) + mp.exp(second)))
    codes = np.arange(3)
    np.testing.assert_allclose(form.log_density(codes[:, None]), CATEGORICAL.log_density(parameters, codes), rtol=1e-14)
    check_moments_of_sufficient(form, codes, np.array([0.2, 0.5, 0.3]))
    assert form.log_density(np.array([3, -1])).tolist() == [-np.inf, -np.inf]


def test_probabilities_of_zero_have_no_exponential_form() -> None:
    with pytest.raises(ParameterError, match="above 0"):
        CATEGORICAL.exponential_form(CategoricalParameters.of({"blue": 0.0, "red": 1.0}))


# -- awkward rows -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("codes", [[], [-1, -1]])
def test_without_rows_there_is_no_estimate(codes: list[int]) -> None:
    statistic = CATEGORICAL.statistic(np.array(codes, dtype=np.int32), COLOURS, declared=COLOURS)
    estimate = CATEGORICAL.estimate(statistic)
    assert not estimate.exists.any()
    assert estimate.reason.startswith("no rows")
    np.testing.assert_allclose(estimate.parameters.probability, [[1 / 3] * 3], rtol=1e-15)
    assert CATEGORICAL.log_marginal(statistic, Dirichlet.laplace(COLOURS)).tolist() == [0.0]
    with pytest.raises(PriorError, match="group without rows"):
        CATEGORICAL.parameters(statistic, Dirichlet.m_estimate(COLOURS, m=0))


def test_without_any_level_there_is_still_an_answer() -> None:
    statistic = CATEGORICAL.statistic(np.array([-1], dtype=np.int32), Vocabulary())
    assert not CATEGORICAL.estimate(statistic).exists.any()
    parameters = CATEGORICAL.parameters(statistic, Dirichlet.laplace(Vocabulary(), unseen=1.0))
    assert CATEGORICAL.log_density(parameters, np.array([UNSEEN])).tolist() == [[0.0]]


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_impossible_weights_are_refused(weight: float) -> None:
    with pytest.raises(ParameterError, match="must not be negative"):
        Dirichlet.of({"blue": 1.0, "red": weight})


def test_weights_and_levels_must_match_in_number() -> None:
    with pytest.raises(ParameterError, match="3 levels need as many weights"):
        Dirichlet(COLOURS, np.ones(2))


@pytest.mark.parametrize("shares", [{"blue": 0.7, "red": 0.7}, {"blue": -0.5, "red": 1.5}])
def test_impossible_probabilities_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        CategoricalParameters.of(shares)


# -- sampling ---------------------------------------------------------------------------------------------------
def test_draws_have_the_expected_shares_and_never_an_impossible_level() -> None:
    parameters = CategoricalParameters.of({"blue": 0.25, "green": 0.0, "red": 0.25}, unseen=0.5)
    draws = CATEGORICAL.sample(parameters, 20_000, np.random.default_rng(6))
    assert draws.shape == (20_000, 1)
    shares = {code: float((draws == code).mean()) for code in (0, 1, 2, UNSEEN)}
    assert shares[1] == 0.0
    assert shares == pytest.approx({0: 0.25, 1: 0.0, 2: 0.25, UNSEEN: 0.5}, abs=0.015)


def test_draws_of_a_prior_have_its_mean() -> None:
    drawn = CATEGORICAL.sample_prior(
        Dirichlet.of({"blue": 1.0, "green": 0.0, "red": 3.0}), 20_000, np.random.default_rng(7)
    )
    np.testing.assert_allclose(drawn.probability.mean(axis=0), [0.25, 0.0, 0.75], atol=0.01)
