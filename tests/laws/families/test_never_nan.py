"""Densities, predictions and evidence are numbers for every prior from 1e-300 to 1e300 and every value."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.families import (
    Bernoulli,
    Beta,
    BetaParameters,
    BetaPrior,
    Binomial,
    Chance,
    Exponential,
    ExponentialParameters,
    Gamma,
    GammaParameters,
    GammaPrior,
    Geometric,
    Laplace,
    LaplaceParameters,
    LogNormal,
    LogNormalParameters,
    Normal,
    NormalInverseGamma,
    NormalParameters,
    Poisson,
    PoissonParameters,
    StudentT,
    StudentTParameters,
)

sizes = st.floats(-300.0, 300.0).map(lambda exponent: 10.0**exponent)
values = st.one_of(
    st.floats(allow_nan=False),
    st.integers(0, 20).map(float),
    st.sampled_from([1e15, 1e16, 1e300, 1.7e308, -1.7e308, 5e-324, np.inf, -np.inf]),
)
shares = st.one_of(st.floats(1e-300, 1.0), st.sampled_from([0.0, 1.0, 1.0 - 2.0**-53]))

Case = tuple[Any, Callable[..., Any], Callable[..., Any], Any]
CASES: list[Case] = [
    (Bernoulli(), lambda a, b: Chance.of(min(a, 1.0)), BetaPrior, [0.0, 1.0, 1.0]),
    (Geometric(), lambda a, b: Chance.of(min(a, 1.0)), BetaPrior, [0.0, 1.0, 1e15]),
    (Poisson(), lambda a, b: PoissonParameters(a), GammaPrior, [0.0, 3.0, 1e6]),
    (Exponential(), lambda a, b: ExponentialParameters(a), GammaPrior, [0.0, 1.5, 1e300]),
    (
        Normal(),
        lambda a, b: NormalParameters(a, b),
        lambda a, b: NormalInverseGamma(mean=0.0, strength=1.0, shape=a, scale=b),
        [0.0, 1.5, 1e15],
    ),
    (
        LogNormal(),
        lambda a, b: LogNormalParameters(a, b),
        lambda a, b: NormalInverseGamma(mean=0.0, strength=1.0, shape=a, scale=b),
        [5e-324, 1.5, 1e300],
    ),
    (Gamma(shape=0.5), GammaParameters, GammaPrior, [5e-324, 1.5, 1e300]),
    (Gamma(shape=1e6), GammaParameters, GammaPrior, [1e-3, 1.5, 1e300]),
    (Binomial(trials=3), lambda a, b: Chance.of(min(a, 1.0)), BetaPrior, [0.0, 1.0, 3.0]),
    (Binomial(trials=10**15), lambda a, b: Chance.of(min(a, 1.0)), BetaPrior, [0.0, 1.0, 1e15]),
]


@pytest.mark.parametrize(("family", "parameters", "prior", "rows"), CASES, ids=lambda each: getattr(each, "name", ""))
def test_no_answer_is_nan(family: Any, parameters: Any, prior: Any, rows: Any) -> None:
    statistic = family.statistic(rows)

    @settings(max_examples=300)
    @given(first=sizes, second=sizes, x=values)
    def law(first: float, second: float, x: float) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            belief = prior(first, second)
            answers = (
                family.log_density(parameters(first, second), x),
                family.log_predictive(belief, x),
                family.log_marginal(statistic, belief),
            )
        assert not any(np.isnan(answer).any() for answer in answers)

    law()


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        (Beta(), BetaParameters),
        (Laplace(), LaplaceParameters),
        (StudentT(), lambda a, b: StudentTParameters(0.0, a, b)),
        (StudentT(), lambda a, b: StudentTParameters(a, b, 3.0)),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_no_density_is_nan_where_there_is_no_prior(family: Any, parameters: Any) -> None:
    @settings(max_examples=300)
    @given(first=sizes, second=sizes, x=values)
    def law(first: float, second: float, x: float) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not np.isnan(family.log_density(parameters(first, second), x))

    law()


@pytest.mark.parametrize("family", [Bernoulli(), Geometric(), Binomial(trials=20)], ids=lambda family: family.name)
def test_probabilities_on_the_border_have_a_density(family: Any) -> None:
    @settings(max_examples=100)
    @given(share=shares, x=values)
    def law(share: float, x: float) -> None:
        log_p = family.log_density(Chance.of(share), x)
        assert log_p <= 0.0

    law()
