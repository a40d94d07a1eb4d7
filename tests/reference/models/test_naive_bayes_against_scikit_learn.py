"""Equality with scikit-learn's five classifiers where the conventions coincide, and the whole suite of its checks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayeswise as bw


def not_applicable(estimator: bw.NaiveBayes) -> dict[str, str]:
    """The one check that gives every classifier with class weights negative numbers, which cannot be word counts."""
    of_words = estimator.families in ("multinomial", "complement")
    return {"check_class_weight_classifiers": "its cells are negative"} if of_words else {}


@parametrize_with_checks(
    [
        bw.NaiveBayes(),
        bw.NaiveBayes(shared_variance=True, variance_divisor="n-1"),
        bw.NaiveBayes(missing="error"),
        *map(bw.NaiveBayes, ("categorical", "multinomial", "bernoulli", "complement")),
    ],
    expected_failed_checks=not_applicable,
)
def test_every_check_of_scikit_learn_passes(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_gaussian_posteriors_are_scikit_learns(load) -> None:  # type: ignore[no-untyped-def]
    """With weights scikit-learn adds a share of the unweighted variance, so the rows are repeated for it instead."""
    X, y = load(return_X_y=True)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    for repeats in (np.ones(len(y), dtype=int), times):
        ours = bw.NaiveBayes(convention="scikit-learn").fit(X, y, sample_weight=repeats.astype(float))
        theirs = GaussianNB().fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
        assert ours.predict_log_proba(X) == pytest.approx(theirs.predict_log_proba(X), abs=1e-8)
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-10)


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_categorical_posteriors_are_scikit_learns(alpha: float) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 400)
    X = (rng.integers(0, 5, size=(400, 6)) + y[:, None]) % 5
    ours = bw.NaiveBayes(families="categorical", smoothing=alpha).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(CategoricalNB(alpha=alpha).fit(X, y).predict_proba(X), abs=1e-10)


@pytest.mark.parametrize("alpha", [0.1, 1.0])
@pytest.mark.parametrize(
    ("family", "peer"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB), ("complement", ComplementNB)]
)
def test_models_of_words_are_scikit_learns(alpha: float, family: str, peer) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 300)
    X = csr_array(rng.poisson(0.2 + 0.5 * rng.random((3, 50))[y]).astype(float))
    # scikit-learn's complement model has no class prior; an even one is the same
    prior = dict.fromkeys(range(3), 1 / 3) if family == "complement" else None
    ours = bw.NaiveBayes(families=family, smoothing=alpha, class_prior=prior).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(peer(alpha=alpha).fit(X, y).predict_proba(X), abs=1e-10)


def test_it_works_in_pipelines_searches_and_calibration() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(make_pipeline(StandardScaler(), bw.NaiveBayes()), X, y).mean() > 0.92
    search = GridSearchCV(bw.NaiveBayes(), {"variance_floor": [1e-9, 1e-2], "shared_variance": [False, True]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    calibrated = CalibratedClassifierCV(bw.NaiveBayes(), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (569, 2)
