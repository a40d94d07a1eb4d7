"""Degrees of freedom were called freedom: earlier names still work, with a warning, and are those of model files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayeswise.families import (
    Likelihood,
    LogNormal,
    MultivariateNormal,
    Normal,
    NormalInverseWishart,
    StudentT,
    StudentTParameters,
    distribution,
)
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.gaussian_bayes.densities import Densities
from bayeswise.models.regression.linear import WeightPosterior
from bayeswise.models.regression.predictive import Predictive
from bayeswise.models.regression.solving.wide import WideModel
from bayeswise.store.fields import written


def prior(**named: float) -> NormalInverseWishart:
    return NormalInverseWishart(mean=np.zeros(2), strength=1.0, scale=np.eye(2), **named)


def predictive(**named: float) -> Predictive:
    return Predictive("student-t", np.zeros(1), np.ones(1), **named)


def posterior(**named: float) -> WeightPosterior:
    return WeightPosterior((), np.zeros(0), np.zeros((0, 0)), rest=1.0, **named)


MAKERS: list[Callable[..., Any]] = [
    prior,
    predictive,
    posterior,
    StudentT,
    lambda **n: StudentTParameters(0.0, 1.0, **n),
]


@pytest.mark.parametrize("make", MAKERS)
def test_degrees_of_freedom_can_be_given_and_read_by_their_earlier_name(make: Callable[..., Any]) -> None:
    today = make(df=4.0)
    with pytest.warns(DeprecationWarning, match="freedom is now called df; the old name will be removed"):
        before = make(freedom=4.0)
    assert np.array_equal(before.df, today.df) and repr(before) == repr(today)
    with pytest.warns(DeprecationWarning, match="freedom is now called df") as warned:
        assert np.array_equal(today.freedom, today.df)
    assert warned[0].filename == __file__
    with pytest.raises(ParameterError, match="freedom and df are the same setting"):
        make(df=4.0, freedom=4.0)


def test_the_lower_bound_of_estimated_degrees_of_freedom_has_its_earlier_name_too() -> None:
    with pytest.warns(DeprecationWarning, match="least_freedom is now called min_df"):
        assert StudentT(least_freedom=0.5) == StudentT(min_df=0.5)


@pytest.mark.parametrize("family", [Normal, LogNormal, MultivariateNormal])
def test_the_divisor_of_variances_has_one_name_and_its_earlier_one(family: Any) -> None:
    with pytest.warns(DeprecationWarning, match="divisor is now called variance_divisor"):
        assert family(divisor="n-1") == family(variance_divisor="n-1")
    assert written(family()) == {"divisor": "variance_divisor"}


def test_functions_of_a_student_t_take_the_earlier_name() -> None:
    likelihood = Likelihood(StudentT(), np.array([-1.0, 0.0, 2.0, 9.0]))
    with pytest.warns(DeprecationWarning, match="freedom is now called df"):
        assert likelihood.at(location=0.0, scale=1.0, freedom=3.0) == likelihood.at(location=0.0, scale=1.0, df=3.0)
    with pytest.warns(DeprecationWarning, match="freedom is now called df"):
        assert distribution("student-t", location=0.0, scale=1.0, freedom=3.0).cdf(0.0) == 0.5


@pytest.mark.parametrize("kind", [Densities, WideModel])
def test_models_can_be_read_by_the_earlier_name(kind: type) -> None:
    value = object.__new__(kind)
    object.__setattr__(value, "df", 4.0)
    with pytest.warns(DeprecationWarning, match="freedom is now called df"):
        assert value.freedom == 4.0  # type: ignore[attr-defined]


def test_model_files_keep_the_earlier_names() -> None:
    assert written(StudentT()) == {"freedom": "df", "least_freedom": "min_df"}
    assert written(prior(df=4.0))["freedom"] == "df"
