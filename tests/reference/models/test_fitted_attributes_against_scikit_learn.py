"""What was learned, under the names that scikit-learn gives it, and equal to what scikit-learn learns."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

import bayeswise as bw
from bayeswise.foundation.errors import CostError

X, Y = load_iris(return_X_y=True)
COUNTS = np.random.default_rng(0).poisson(0.7, size=(90, 12)).astype(float)
CLASSES = np.arange(90) % 3
LEARNED = (
    "class_count_",
    "class_prior_",
    "class_log_prior_",
    "theta_",
    "var_",
    "feature_count_",
    "feature_log_prob_",
    "category_count_",
    "n_categories_",
    "means_",
    "covariance_",
    "priors_",
    "coef_",
    "intercept_",
)


def same(ours: Any, theirs: Any, names: list[str], rtol: float = 1e-9) -> None:
    for name in names:
        mine, other = getattr(ours, name), getattr(theirs, name)
        if isinstance(other, list):
            assert len(mine) == len(other)
            for one, two in zip(mine, other, strict=True):
                np.testing.assert_allclose(one, two, rtol=rtol, err_msg=name)
        else:
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=1e-12, err_msg=name)
            assert np.shape(mine) == np.shape(other)


@pytest.mark.parametrize("y", [Y, Y > 0], ids=["three", "two"])
def test_normal_columns(y: Any) -> None:
    ours, theirs = bw.NaiveBayes(convention="scikit-learn").fit(X, y), GaussianNB().fit(X, y)
    same(ours, theirs, ["theta_", "var_", "class_count_", "class_prior_", "n_features_in_"])
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)
    prior = np.full(len(theirs.classes_), 1 / len(theirs.classes_))
    same(bw.NaiveBayes(class_prior=prior).fit(X, y), GaussianNB(priors=prior).fit(X, y), ["class_prior_"])


@pytest.mark.parametrize("alpha", [0.3, 1.0])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("family", "peer"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB), ("complement", ComplementNB)]
)
def test_words(family: str, peer: Any, sparse: bool, alpha: float) -> None:
    rows = csr_array(COUNTS) if sparse else COUNTS
    ours, theirs = bw.NaiveBayes(family, smoothing=alpha).fit(rows, CLASSES), peer(alpha=alpha).fit(rows, CLASSES)
    same(ours, theirs, ["feature_count_", "feature_log_prob_", "class_count_", "class_log_prior_", "n_features_in_"])
    if family != "complement":  # which has no prior of classes in scikit-learn
        np.testing.assert_allclose(ours.predict_joint_log_proba(rows), theirs.predict_joint_log_proba(rows), rtol=1e-9)


def test_categories() -> None:
    rows = COUNTS[:, :4].clip(max=2).astype(int)
    ours, theirs = bw.NaiveBayes("categorical").fit(rows, CLASSES), CategoricalNB().fit(rows, CLASSES)
    names = ["category_count_", "feature_log_prob_", "n_categories_", "class_count_", "class_log_prior_"]
    same(ours, theirs, names)
    np.testing.assert_allclose(ours.predict_joint_log_proba(rows), theirs.predict_joint_log_proba(rows), rtol=1e-9)


@pytest.mark.parametrize("y", [Y, Y > 0], ids=["three", "two"])
def test_linear_discriminants(y: Any) -> None:
    ours = bw.GaussianBayes("shared").fit(X, y)  # scikit-learn divides by n in all of its solvers, from 1.9 on
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    same(ours, theirs, ["means_", "priors_", "coef_", "intercept_"], rtol=1e-7)
    scores, expected = ours.decision_function(X), theirs.decision_function(X)
    if scores.ndim == 2:  # scores of more than two classes are known up to a number for each row
        scores, expected = scores - scores[:, :1], expected - expected[:, :1]
    np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-9)
    stored = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    same(bw.GaussianBayes("shared").fit(X, y), stored, ["covariance_"], rtol=1e-9)


@pytest.mark.parametrize("y", [Y, Y > 0], ids=["three", "two"])
def test_quadratic_discriminants(y: Any) -> None:
    ours = bw.GaussianBayes().fit(X, y)
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    same(ours, theirs, ["means_", "priors_", "covariance_"])


def test_an_attribute_is_there_only_where_it_has_a_meaning() -> None:
    frame = pd.DataFrame({"age": X[:, 0], "size": np.where(X[:, 1] > 3, "L", "S")})
    shared = ["class_count_"]
    prior = [*shared, "class_prior_", "class_log_prior_"]
    gaussian = [*shared, "means_", "covariance_", "priors_"]
    expected: list[tuple[Any, Any, list[str]]] = [
        (bw.NaiveBayes(), X, [*prior, "theta_", "var_"]),
        (bw.NaiveBayes("poisson"), COUNTS, prior),
        (bw.NaiveBayes("multinomial"), COUNTS, [*prior, "feature_count_", "feature_log_prob_"]),
        (bw.NaiveBayes("categorical"), COUNTS, [*prior, "feature_log_prob_", "category_count_", "n_categories_"]),
        (bw.NaiveBayes(), frame, prior),
        (bw.AveragedNaiveBayes(), X, prior),
        (bw.GaussianBayes(), X, gaussian),
        (bw.GaussianBayes("shared"), X, [*gaussian, "coef_", "intercept_"]),
        (bw.GaussianBayes("shared", predictive="student-t"), X, gaussian),
        (bw.NetworkClassifier("aode"), X, shared),
    ]
    for estimator, rows, names in expected:
        assert [name for name in LEARNED if hasattr(estimator, name)] == []
        fitted = estimator.fit(rows, np.arange(len(rows)) % 3)
        assert sorted(name for name in LEARNED if hasattr(fitted, name)) == sorted(names), estimator


STRUCTURES = ["naive", "tan", "aode", "k-dependence", "markov-blanket"]
ESTIMATORS = [
    bw.NaiveBayes(),
    bw.NaiveBayes("poisson"),
    bw.NaiveBayes("categorical"),
    bw.AveragedNaiveBayes(),
    bw.GaussianBayes(),
    bw.GaussianBayes("shared"),
    *map(bw.NetworkClassifier, STRUCTURES),
    bw.LogisticRegression(),
    bw.LinearRegression(),
    bw.LinearRegression("poisson"),
    bw.DecisionMaker(bw.NaiveBayes()),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_an_estimator_shows_itself_in_a_notebook_before_and_after_it_is_fitted(estimator: Any) -> None:
    for shown in (estimator, clone(estimator).fit(COUNTS, CLASSES)):
        assert len(shown._repr_html_()) > 1000
        for name in dir(shown):  # an attribute that is not there says so by AttributeError alone
            getattr(shown, name, None)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_estimators_fit_and_predict_in_other_processes(estimator: Any) -> None:
    fitted = clone(estimator).fit(COUNTS, CLASSES)
    with joblib.parallel_config("loky", n_jobs=2):
        there = joblib.Parallel()(joblib.delayed(fitted.predict)(part) for part in (COUNTS[:45], COUNTS[45:]))
    assert np.array_equal(np.concatenate(there), fitted.predict(COUNTS))
    here, others = (cross_val_score(estimator, COUNTS, CLASSES, cv=2, n_jobs=n) for n in (1, 2))
    assert np.array_equal(here, others)


def test_fishers_projection_is_a_frame_on_request() -> None:
    projected = bw.GaussianBayes().set_output(transform="pandas").fit(X, Y).transform(X)
    assert projected.columns.tolist() == ["gaussianbayes0", "gaussianbayes1"]


@pytest.mark.parametrize("estimator", [bw.LinearRegression(), bw.LogisticRegression()], ids=str)
def test_weights_of_expanded_categories_have_names_and_whole_columns_are_selected(estimator: Any) -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"size": np.tile(["S", "M", "L"], 30), "noise": generator.normal(size=90)})
    y = (frame["size"] == "M").astype(int)
    fitted = estimator.fit(frame, y)
    assert fitted.get_feature_names_out().tolist() == ["noise", "size_M", "size_S"]
    assert len(fitted.get_feature_names_out()) == np.shape(fitted.coef_)[-1]
    noise, *sizes = np.atleast_2d(fitted.coef_)[-1]
    assert fitted.feature_importances_ == pytest.approx([np.hypot(*sizes), abs(noise)])
    chosen = SelectFromModel(estimator, importance_getter="feature_importances_", max_features=1).fit(frame, y)
    assert chosen.get_feature_names_out().tolist() == ["size"]
    plain = SelectFromModel(estimator, max_features=1).fit(X, Y > 1)
    assert plain.transform(X).shape == (150, 1)


def test_a_threshold_is_tuned_to_costs() -> None:
    y = (Y > 1).astype(int)
    costs = {1: {1: 0.0, 0: 1.0}, 0: {1: 20.0, 0: 0.0}}
    scorer = bw.expected_cost_scorer(costs)
    tuned = TunedThresholdClassifierCV(bw.NaiveBayes(), scoring=scorer, cv=3).fit(X, y)
    assert tuned.best_threshold_ < 0.3  # a missed one is expensive
    # the thresholds it tried are scored by what their decisions cost
    chance = bw.NaiveBayes().fit(X, y).predict_proba(X)[:, 1]
    chosen = (chance >= 0.1).astype(int)
    by_hand = np.mean(np.where(chosen == 1, 1.0 * (y == 0), 20.0 * (y == 1)))
    assert scorer._score_func(y, chosen) == pytest.approx(by_hand, rel=1e-12)
    assert bw.expected_cost_scorer()._score_func(y, chosen) == pytest.approx(np.mean(y != chosen))
    with pytest.raises(CostError, match="no action 0"):
        bw.expected_cost_scorer({1: {1: 0, 0: 1}, "wait": {1: 2, 0: 0}})._score_func(y, chosen)
    with pytest.raises(CostError, match="depend on the row"):
        bw.expected_cost_scorer({1: {1: 0, 0: "x0"}, 0: {1: 2, 0: 0}})._score_func(y, chosen)
