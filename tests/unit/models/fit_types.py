"""What type checkers know of public names: read by mypy and never run; an expected error that is not found is one."""

from __future__ import annotations

from typing import Any, assert_type

import bayeswise as bw
from bayeswise.decisions import Costs
from bayeswise.estimators import NaiveBayes
from bayeswise.families import Beta
from bayeswise.models.auto.model import AutoModel
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.regression.glm import IteratedModel
from bayeswise.models.regression.linear import LinearModel
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.models.regression.solving.wide import WideModel
from bayeswise.models.tree.model import TreeModel
from bayeswise.networks import BeliefNetwork
from bayeswise.networks.classifiers.model import NetworkClassifierModel


def a_model_is_of_the_type_that_its_name_says(table: Any, name: str) -> None:
    assert_type(bw.fit(table, "y"), AutoModel)
    assert_type(bw.fit(table, "y", model="auto", within="60s"), AutoModel)
    assert_type(bw.fit(table, "y", smoothing=2.0), NaiveBayesModel)
    assert_type(bw.fit(table, "y", model="naive-bayes"), NaiveBayesModel)
    assert_type(
        bw.fit(table, target="y", smoothing=2.0, kinds={"zip": "category"}, model="naive-bayes"), NaiveBayesModel
    )
    assert_type(bw.fit(table, "y", model="averaged", relevance={"age": 0.9}), AveragedNaiveBayesModel)
    assert_type(bw.fit(table, "y", model="gaussian", covariance="shared"), GaussianBayesModel)
    assert_type(bw.fit(table, "y", model="logistic", marginalize=True), LogisticModel)
    assert_type(bw.fit(table, "y", model="linear", prior=None), LinearModel | IteratedModel | WideModel)
    assert_type(bw.fit(table, "y", model="tan", cuts={"age": [30, 50]}), NetworkClassifierModel)
    assert_type(bw.fit(table, "y", model="aode", min_frequency=2), NetworkClassifierModel)
    assert_type(bw.fit(table, "y", model="k-dependence", k=1), NetworkClassifierModel)
    assert_type(bw.fit(table, "y", model="markov-blanket", score="aic"), NetworkClassifierModel)
    assert_type(bw.fit(table, "y", model="tree", code="exceptions", max_depth=3), TreeModel)
    assert_type(bw.fit(table, "y", model=name, ignore=["id"]), Any)


def a_setting_of_no_or_of_another_model_is_an_error(table: Any) -> None:
    bw.fit(table, "y", smothing=1.0, model="naive-bayes")  # type: ignore[call-overload]
    bw.fit(table, "y", model="linear", smoothing=1.0)  # type: ignore[call-overload]
    bw.fit(table, "y", model="gaussian", covariance="full")  # type: ignore[call-overload]
    bw.fit(table, "y", 1.0, model="naive-bayes")  # type: ignore[call-overload]


def a_public_name_has_the_type_of_its_module(path: str) -> None:
    assert_type(bw.Costs, type[Costs])
    assert_type(bw.NaiveBayes(), NaiveBayes)
    assert_type(bw.BeliefNetwork.read(path), BeliefNetwork)
    assert_type(bw.families.Beta, type[Beta])
    bw.load()  # type: ignore[call-arg]
