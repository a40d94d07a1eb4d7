"""Binomial and multinomial counts on the lectures' slides, and the exponential family of Beta and Gamma."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.families import (
    Beta,
    BetaParameters,
    Binomial,
    CategoricalParameters,
    Chance,
    Gamma,
    GammaParameters,
    Multinomial,
)
from bayeswise.families.discrete.multinomial import log_coefficients

PLAYED, DAYS = 9, 14  # the golf table


def log_likelihood(theta: float) -> float:
    return Binomial(trials=DAYS).log_density(Chance.of(theta), float(PLAYED)).item()


def test_the_class_prior_by_counting_is_the_most_likely_one() -> None:
    binomial = Binomial(trials=DAYS)
    theta = binomial.estimate(binomial.statistic([float(PLAYED)])).parameters
    assert theta.probability.item() == 9 / 14
    assert theta.complement.item() == 5 / 14


def test_there_the_slope_is_zero_and_the_curve_bends_down() -> None:
    theta, step = PLAYED / DAYS, 1e-4
    before, here, after = (log_likelihood(theta + change) for change in (-step, 0.0, step))
    slope, curve = (after - before) / (2 * step), (after - 2 * here + before) / step**2
    assert slope == pytest.approx(PLAYED / theta - (DAYS - PLAYED) / (1 - theta), abs=1e-4)  # = 0
    assert curve == pytest.approx(-PLAYED / theta**2 - (DAYS - PLAYED) / (1 - theta) ** 2, rel=1e-5)


def test_ten_words_fall_into_three_kinds_in_2520_ways() -> None:
    coefficient = np.exp(log_coefficients([[2, 3, 5]])).item()
    assert coefficient == pytest.approx(3628800 / (2 * 6 * 120), rel=1e-14)


def test_the_probability_of_counts_is_ways_times_probabilities() -> None:
    kinds = CategoricalParameters.of({"sunny": 0.2, "overcast": 0.3, "rainy": 0.5})
    found = np.exp(Multinomial().log_density(kinds, [[2, 3, 5]])).item()
    assert found == pytest.approx(2520 * 0.2**2 * 0.3**3 * 0.5**5, rel=1e-13)


def test_with_two_kinds_the_multinomial_is_the_binomial() -> None:
    kinds = CategoricalParameters.of({"yes": 0.3, "no": 0.7})
    assert Multinomial().log_density(kinds, [[9, 5]]).item() == pytest.approx(log_likelihood(0.3), rel=1e-14)


def test_the_derivative_of_the_log_partition_is_the_mean_of_t_and_not_of_x() -> None:
    """For Beta T = (log x, log(1 - x)): E[T] has nothing to do with E[x] = 1/2."""
    uniform = Beta().exponential_form(BetaParameters(1.0, 1.0))
    assert [mean.item() for mean in uniform.mean_of_sufficient] == [pytest.approx(-1.0), pytest.approx(-1.0)]
    waiting = Gamma().exponential_form(GammaParameters(shape=3.0, rate=2.0))
    mean_of_log, mean_of_x = (mean.item() for mean in waiting.mean_of_sufficient)
    assert mean_of_x == 1.5
    assert mean_of_log == pytest.approx(1.0 + 1.0 / 2.0 - np.euler_gamma - np.log(2.0))
