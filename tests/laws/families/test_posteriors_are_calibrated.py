"""Every conjugate posterior is calibrated, and the test would notice if it were not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayeswise.families import (
    Bernoulli,
    BetaPrior,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    GammaPrior,
    Geometric,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.tables.schema.labels import Vocabulary
from tests.laws.families.calibration import LIMIT, rank_statistics

COLOURS = Vocabulary(["blue", "green", "red"])


def column(value: float) -> FloatArray:
    return np.array([value])


NUMBER_FAMILIES = [
    (Bernoulli(), BetaPrior(column(1.5), column(2.5)), lambda p: {"probability": p.probability}),
    (Geometric(), BetaPrior(column(2.0), column(3.0)), lambda p: {"probability": p.probability}),
    (Poisson(), GammaPrior(column(2.0), column(0.5)), lambda p: {"rate": p.rate}),
    (Exponential(), GammaPrior(column(3.0), column(2.0)), lambda p: {"rate": p.rate}),
    (
        Normal(),
        NormalInverseGamma(column(1.0), column(0.5), column(2.0), column(3.0)),
        lambda p: {"mean": p.mean, "stddev": p.stddev, "quantile": p.mean + 2.0 * p.stddev},
    ),
    (
        LogNormal(),
        NormalInverseGamma(column(1.0), column(0.5), column(2.0), column(3.0)),
        lambda p: {"mean": p.mean, "stddev": p.stddev, "quantile": p.mean + 2.0 * p.stddev},
    ),
    (Gamma(shape=0.7), GammaPrior(column(3.0), column(2.0)), lambda p: {"rate": p.rate}),
    (Binomial(trials=7), BetaPrior(column(1.5), column(2.5)), lambda p: {"probability": p.probability}),
]


@pytest.mark.parametrize("n_rows", [1, 6])
@pytest.mark.parametrize(("family", "prior", "quantities"), NUMBER_FAMILIES, ids=lambda each: getattr(each, "name", ""))
def test_the_truth_has_any_rank(family: Any, prior: Any, quantities: Any, n_rows: int) -> None:
    found = rank_statistics(family, prior, quantities, n_rows=n_rows, seed=20)
    assert {name: value for name, value in found.items() if value > LIMIT} == {}


def test_the_truth_has_any_rank_among_probabilities_of_levels() -> None:
    def quantities(parameters: Any) -> Mapping[str, FloatArray]:
        return {str(level): parameters.probability[..., j] for j, level in enumerate(COLOURS)}

    def summarise(family: Any, rows: CodeArray, groups: CodeArray, n_groups: int) -> Any:
        return family.statistic(rows.ravel(), COLOURS, groups, n_groups, declared=COLOURS)

    prior = Dirichlet.of({"blue": 0.5, "green": 1.0, "red": 3.0})

    def count_words(family: Any, rows: FloatArray, groups: CodeArray, n_groups: int) -> Any:
        return family.statistic(rows.reshape(-1, len(COLOURS)), COLOURS, groups, n_groups, declared=COLOURS)

    words = rank_statistics(Multinomial(trials=4), prior, quantities, n_rows=3, seed=23, summarise=count_words)
    assert {name: value for name, value in words.items() if value > LIMIT} == {}
    found = rank_statistics(Categorical(), prior, quantities, n_rows=5, seed=21, summarise=summarise)
    assert {name: value for name, value in found.items() if value > LIMIT} == {}


def test_the_truth_has_any_rank_among_means_and_covariances() -> None:
    class Vectors(MultivariateNormal):
        """Draws of one prior are the groups of the replications."""

        def sample_prior(self, prior: Any, size: int, generator: np.random.Generator) -> Any:
            drawn = super().sample_prior(prior, size, generator)
            if len(prior.mean) > 1:
                return drawn
            return replace(drawn, **{name: getattr(drawn, name)[:, 0] for name in ("mean", "stddev", "correlation")})

    def quantities(parameters: Any) -> Mapping[str, FloatArray]:
        covariance = parameters.covariance
        return {
            "mean": parameters.mean[..., 0],
            "difference": parameters.mean[..., 0] - parameters.mean[..., 1],
            "variance": covariance[..., 1, 1],
            "covariance": covariance[..., 0, 1],
            "determinant": np.linalg.det(covariance),
        }

    def summarise(family: Any, rows: FloatArray, groups: CodeArray, n_groups: int) -> Any:
        return family.statistic(rows.reshape(-1, 2), groups, n_groups)

    scale = np.array([[2.0, 0.5], [0.5, 1.0]])
    prior = NormalInverseWishart(np.array([1.0, -1.0]), strength=1.5, df=4.0, scale=scale)
    found = rank_statistics(Vectors(), prior, quantities, n_rows=4, seed=22, summarise=summarise)
    assert {name: value for name, value in found.items() if value > LIMIT} == {}


@pytest.mark.parametrize("n_rows", [6])
@pytest.mark.parametrize(("family", "prior", "quantities"), NUMBER_FAMILIES, ids=lambda each: getattr(each, "name", ""))
def test_a_posterior_that_counts_its_rows_twice_is_noticed(
    family: Any, prior: Any, quantities: Any, n_rows: int
) -> None:
    def twice(statistic: Any, prior: Any) -> Any:
        return family.posterior(statistic.merge(statistic), prior)

    found = rank_statistics(family, prior, quantities, n_rows=n_rows, seed=20, posterior=twice)
    assert min(found.values()) > 3 * LIMIT
