"""class_weight of the estimators that learn from statistics: weights of rows, remembered with the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import NotAvailableError, ParameterError

ESTIMATORS = [bw.NaiveBayes, bw.GaussianBayes, bw.AveragedNaiveBayes, bw.NetworkClassifier]
RNG = np.random.default_rng(0)
Y = np.array(["rare"] * 12 + ["often"] * 48)
X = RNG.normal(size=(60, 2)) + (Y == "rare")[:, None] * [1.5, 1.0]
BY = {"rare": 3.0, "often": 0.5}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_class_weights_are_weights_of_rows(kind: Any) -> None:
    rows = np.where(Y == "rare", 3.0, 0.5)
    weighted = kind(class_weight=BY).fit(X, Y)
    assert (weighted.predict_proba(X) == kind().fit(X, Y, rows).predict_proba(X)).all()
    twice = kind(class_weight=BY).fit(X, Y, np.full(60, 2.0))
    assert (twice.predict_proba(X) == kind().fit(X, Y, 2.0 * rows).predict_proba(X)).all()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_balanced_classes_weigh_the_same(kind: Any) -> None:
    balanced = kind(class_weight="balanced").fit(X, Y)
    np.testing.assert_allclose(balanced.class_count_, [30.0, 30.0])
    assert (balanced.predict(X) == "rare").sum() >= (kind().fit(X, Y).predict(X) == "rare").sum()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_rows_are_added_and_forgotten_with_the_weights_that_they_were_learned_with(kind: Any) -> None:
    first = np.arange(60) % 2 == 0
    whole = kind(class_weight=BY).fit(X, Y)
    if kind is not bw.NetworkClassifier:  # whose cuts are those of the first rows
        added = kind(class_weight=BY).partial_fit(X[first], Y[first]).partial_fit(X[~first], Y[~first])
        assert (added.predict_proba(X) == whole.predict_proba(X)).all()
    for by in (BY, "balanced"):
        one, other = kind(class_weight=by).fit(X, Y), kind(class_weight=by).fit(X, Y)
        one.forget(X[first], Y[first]).forget(X[~first][:6], Y[~first][:6])
        other.forget(X[~first][:6], Y[~first][:6]).forget(X[first], Y[first])
        kept = np.flatnonzero(~first)[6:]
        weight = 1.0 if by == "balanced" else BY["often"]
        share = 60 / (2 * 48) if by == "balanced" else 1.0
        often = one.class_count_[list(one.classes_).index("often")]
        np.testing.assert_allclose(often, weight * share * (Y[kept] == "often").sum())
        assert (one.predict_proba(X) == other.predict_proba(X)).all()


def test_leaving_a_row_out_takes_its_weight_away() -> None:
    left = bw.NaiveBayes(class_weight="balanced").fit(X, Y).leave_one_out(X, Y)
    rows = np.where(Y == "rare", 60 / 24, 60 / 96)
    assert (left == bw.NaiveBayes().fit(X, Y, rows).leave_one_out(X, Y, rows)).all()


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("wrong", ["even", 3.0, {"other": 1.0}, {"rare": -1.0}, {"rare": "x"}, {"rare": 0, "often": 0}])
def test_class_weights_of_another_kind_are_refused(kind: Any, wrong: Any) -> None:
    with pytest.raises(ValueError, match="class_weight"):
        kind(class_weight=wrong).fit(X, Y)


def test_balanced_weights_need_all_rows_at_once() -> None:
    with pytest.raises(ParameterError, match="partial_fit sees some of them"):
        bw.NaiveBayes(class_weight="balanced").partial_fit(X, Y)
    later = bw.NaiveBayes(class_weight="balanced").fit(X, Y)
    with pytest.raises(ParameterError, match="partial_fit sees some of them"):
        later.partial_fit(X, Y)
    both = later.merge(bw.NaiveBayes(class_weight="balanced").fit(X[6:], Y[6:]))
    with pytest.raises(NotAvailableError, match="different weights of classes"):
        both.forget(X, Y)
