"""`bw.AutoClassifier`: the mixture as a scikit-learn classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import bayeswise as bw


def test_it_passes_the_checks_of_scikit_learn() -> None:
    folds = "members are weighed by folds of rows, and a row of weight 2 is in one fold as two rows need not be"
    check_estimator(
        bw.AutoClassifier(), expected_failed_checks={"check_sample_weight_equivalence_on_dense_data": folds}
    )


def test_it_gives_the_mixture_of_fit() -> None:
    frame = load_iris(as_frame=True).frame
    X, y = frame.drop(columns="target"), frame["target"].astype(str)
    found = bw.AutoClassifier().fit(X, y)
    assert sum(found.weights_.values()) == pytest.approx(1.0)
    table = X.assign(target=y)
    kinds = dict.fromkeys(X.columns, "number")
    same = bw.fit(table, "target", model="auto", kinds=kinds, levels={"target": ["0", "1", "2"]})
    assert np.allclose(found.predict_proba(X), same.predict_proba(X))


def test_it_is_cloned_searched_and_scored() -> None:
    X, y = load_iris(return_X_y=True)
    again = clone(bw.AutoClassifier(choose="best", calibrate="none"))
    assert cross_val_score(again, X, y, cv=3).mean() > 0.9


def test_mixed_frames_with_missing_cells_are_welcome() -> None:
    g = np.random.default_rng(0)
    frame = pd.DataFrame({"x": g.normal(size=60), "c": g.choice(list("ab"), 60)})
    frame.loc[::7, "x"] = np.nan
    frame.loc[::9, "c"] = None
    y = np.where(frame["c"] == "a", "yes", "no")
    assert bw.AutoClassifier().fit(frame, y).score(frame, y) > 0.85
