"""What a family takes as rows, and how its priors and parameters read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise.families import (
    Bernoulli,
    BetaPrior,
    Chance,
    Exponential,
    GammaPrior,
    Geometric,
    MultivariateNormal,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    NormalParameters,
    Poisson,
    PoissonParameters,
)
from bayeswise.foundation.errors import DataError
from bayeswise.statistics import fingerprint

FAMILIES = [Bernoulli(), Geometric(), Poisson(), Exponential(), Normal(), MultivariateNormal()]
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@each_family
@pytest.mark.parametrize(
    "values",
    [
        [1, 0, 0],
        [True, False, False],
        np.array([1, 0, 0], dtype=np.uint8),
        np.array([[1], [0], [0]], dtype=np.float32),
        np.asfortranarray([[1.0], [0.0], [0.0]]),
        np.array([[1.0, 9.0], [0.0, 9.0], [0.0, 9.0]])[:, :1],
    ],
)
def test_the_same_numbers_in_any_form_are_the_same_statistic(family: Any, values: Any) -> None:
    assert fingerprint(family.statistic(values)) == fingerprint(family.statistic(np.array([[1.0], [0.0], [0.0]])))


@each_family
@pytest.mark.parametrize("values", [["a", "b"], [[1.0], [1.0, 2.0]], 3.0, np.zeros((2, 2, 2)), [object()]])
def test_what_is_not_a_table_of_numbers_is_a_typed_error(family: Any, values: Any) -> None:
    with pytest.raises(DataError):
        family.statistic(values)


@each_family
def test_a_statistic_of_no_rows_changes_nothing(family: Any) -> None:
    seen = family.statistic([1.0, 0.0, 0.0])
    assert fingerprint(seen.merge(family.statistic(np.empty((0, 1))))) == fingerprint(seen)
    assert fingerprint(seen.subtract(seen)) == fingerprint(seen.zero())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (BetaPrior(3, 1), "BetaPrior(successes=3, failures=1)"),
        (GammaPrior(np.array([[2.0, 0.5]]), 1), "GammaPrior(shape=[2, 0.5], rate=1)"),
        (NormalInverseGamma(0, 1, 2, 3), "NormalInverseGamma(mean=0, strength=1, shape=2, scale=3)"),
        (NormalInverseWishart(np.zeros(1), 1, 2, np.eye(1)), "NormalInverseWishart(strength=1, df=2, mean=0)"),
        (Chance.of(0.25), "Chance(probability=0.25)"),
        (PoissonParameters(2.5), "Poisson(rate=2.5)"),
        (NormalParameters(0.0, 1.0), "Normal(mean=0, stddev=1)"),
    ],
)
def test_everything_reads_as_one_line(value: Any, words: str) -> None:
    assert repr(value) == words
