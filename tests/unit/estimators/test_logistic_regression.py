"""Logistic regression as an estimator, and on awkward rows."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression
from sklearn.utils.estimator_checks import check_estimator

import bayeswise as bw
from bayeswise.foundation.errors import FitError, MissingCellError, NonFiniteError, ParameterError


@pytest.mark.parametrize(
    "beliefs",
    [
        {},
        {"prior": "laplace"},
        {"prior": "student-t"},
        {"scale": "evidence"},
        {"scale": "cv"},
        {"marginalize": True},
        {"missing": "mean"},
        {"fit_intercept": False},
    ],
    ids=str,
)
def test_scikit_learn_accepts_it_without_expected_failures(beliefs: dict) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_estimator(bw.LogisticRegression(**beliefs), on_fail=None, on_skip=None)
    assert [each["check_name"] for each in outcomes if each["status"] == "failed"] == []
    assert [each for each in outcomes if each["status"] == "xfail"] == []


@pytest.mark.parametrize("prior", ["gaussian", "laplace", "student-t"])
@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]])
def test_separable_rows_are_flagged_and_finite_under_the_prior(prior: str, classes: list[str]) -> None:
    X = np.repeat(np.arange(len(classes)), 10)[:, None] + np.tile(np.linspace(0, 0.3, 10), len(classes))[:, None]
    y = np.repeat(classes, 10)
    model = bw.LogisticRegression(prior, scale=30.0).fit(X, y)
    assert model.separable_
    assert np.isfinite(model.coef_).all()
    assert model.certificate_.converged
    y[0], y[-1] = y[-1], y[0]
    assert not bw.LogisticRegression(prior, scale=30.0).fit(X, y).separable_


def test_a_strong_prior_does_not_hide_that_rows_are_separable() -> None:
    X, y = np.column_stack([np.arange(10.0), np.arange(10.0) ** 2]), [0] * 9 + [1]
    model = bw.LogisticRegression(scale=0.2).fit(X, y)
    assert model.predict(X).tolist() != y
    assert model.separable_


def test_one_class_is_certain() -> None:
    model = bw.LogisticRegression().fit([[1.0], [2.0]], ["only", "only"])
    assert model.predict([[9.0]]).tolist() == ["only"]
    assert model.predict_proba([[9.0]]).tolist() == [[1.0]]


def test_constant_and_duplicated_columns_share_or_have_no_weight() -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal(100)
    y = x + generator.logistic(size=100) > 0
    model = bw.LogisticRegression().fit(np.column_stack([x, x, np.full(100, 5.0)]), y)
    assert np.isclose(model.coef_[0, 0], model.coef_[0, 1], rtol=1e-8)
    assert model.coef_[0, 2] == 0.0


def test_fewer_rows_than_columns_converge() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((8, 50)), np.arange(8) % 3
    model = bw.LogisticRegression().fit(X, y)
    assert model.certificate_.gradient_norm <= 1e-8


def test_large_scales_and_offsets_change_no_answer() -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((200, 2))
    y = X[:, 0] + generator.logistic(size=200) > 0
    plain = bw.LogisticRegression().fit(X, y).predict_proba(X)
    moved = np.column_stack([X[:, 0] * 1e6, X[:, 1] + 1e9])
    assert np.allclose(bw.LogisticRegression().fit(moved, y).predict_proba(moved), plain, atol=1e-6)


def test_log_probabilities_keep_their_digits_far_out() -> None:
    model = bw.LogisticRegression(scale=10.0).fit([[-1.0], [-0.5], [0.5], [1.0]], [0, 0, 1, 1])
    log_p = model.predict_log_proba([[-1e4]])[0]
    assert log_p[0] == 0.0 or -1e-300 < log_p[0] < 0.0
    assert np.isfinite(log_p[1])
    assert log_p[1] < -1e4


def test_missing_values_are_errors_or_stand_at_the_mean() -> None:
    X, y = np.array([[1.0], [2.0], [np.nan], [3.0]]), [0, 0, 1, 1]
    with pytest.raises(MissingCellError, match=r"\(NaN\) in row 3"):
        bw.LogisticRegression(missing="error").fit(X, y)
    with pytest.raises(NonFiniteError):
        bw.LogisticRegression(missing="mean").fit([[1.0], [np.inf]], [0, 1])
    model = bw.LogisticRegression(missing="mean").fit(X, y)
    assert np.allclose(model.predict_proba([[np.nan]]), model.predict_proba([[2.0]]))


def test_an_unseen_level_stands_at_the_mean_of_its_indicators() -> None:
    frame = pd.DataFrame({"size": ["S", "M", "L", "M"] * 10})
    model = bw.LogisticRegression().fit(frame, ["a", "a", "b", "b"] * 10)
    score = model.decision_function(pd.DataFrame({"size": ["XL"]}))[0]
    shares = [0.5, 0.25]  # of M and S; L is the reference
    assert np.isclose(score, model.intercept_[0] + model.coef_[0] @ shares)


def test_zero_weights_leave_out_rows_levels_and_classes() -> None:
    frame = pd.DataFrame({"size": ["S", "M", "S", "XL"], "age": [1.0, 2.0, 3.0, 4.0]})
    model = bw.LogisticRegression().fit(frame, ["a", "b", "b", "c"], [1, 1, 1, 0])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.model_.features.names == (("age", None), ("size", "S"))


def test_odd_settings_are_refused() -> None:
    for wrong in (
        {"scale": -1},
        {"scale": "best"},
        {"tol": 0},
        {"prior": "laplace", "marginalize": True},
    ):
        with pytest.raises(ParameterError):
            bw.LogisticRegression(**wrong).fit([[1.0], [2.0]], [0, 1])


def test_a_saved_model_answers_the_same(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((60, 3)), np.arange(60) % 3
    model = bw.LogisticRegression(marginalize=True).fit(X, y)
    model.save(tmp_path / "m.bayes")
    again = bw.load(tmp_path / "m.bayes")
    [batch] = model._batches(X)
    assert np.array_equal(again.probability(batch), model.predict_proba(X))
    assert again.certificate == model.certificate_


def test_without_an_intercept_it_scores_as_scikit_learn_does_far_from_zero() -> None:
    """Why the tag `poor_score` is set: on the rows of scikit-learn's own check nobody does better."""
    from sklearn.datasets import make_blobs

    X, y = make_blobs(n_samples=300, random_state=0)
    X = np.round((X - X.mean(axis=0)) / X.std(axis=0) - X.min())
    ours = bw.LogisticRegression(fit_intercept=False, standardise=False, scale=1.0).fit(X, y)
    theirs = SklearnLogisticRegression(fit_intercept=False, C=1.0, tol=1e-10, max_iter=1000).fit(X, y)
    assert ours.score(X, y) == theirs.score(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_flat_prior_is_maximum_likelihood(n_classes: int) -> None:
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + generator.logistic(size=200), [-1.0, 1.0][: n_classes - 1])
    ours = bw.LogisticRegression(prior=None).fit(X, y)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-6) and np.allclose(ours.intercept_, peer.intercept_, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "classes", "named"),
    [
        ([[0.0, 1.0], [1.0, 5.0], [2.0, 0.0], [3.0, 2.0]], [0, 0, 1, 1], "'x0' separates"),
        ([[0.0, 1.0], [1.0, 5.0], [1.0, 0.0], [3.0, 2.0]], [0, 0, 1, 1], "'x0' separates"),  # all but a tie
        ([[0.0, 0.0], [2.0, 2.0], [1.0, 0.0], [3.0, 2.0]] * 3, [0, 0, 1, 1] * 3, "'x0', 'x1' together separate"),
    ],
)
def test_what_separates_the_classes_is_named_without_a_prior(rows: list, classes: list, named: str) -> None:
    with pytest.raises(FitError, match="the weights diverge") as refused:
        bw.LogisticRegression(prior=None).fit(rows, classes)
    assert named in str(refused.value) or "'x1', 'x0' together separate" in str(refused.value)
    assert bw.LogisticRegression().fit(rows, classes).certificate_.converged


def test_a_rare_level_of_one_class_is_found_among_many_rows() -> None:
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(size=(20_000, 2)), np.arange(20_000) < 30])
    y = (X[:, 0] + generator.logistic(size=20_000) > 0).astype(int)
    y[:30] = 0
    with pytest.raises(FitError, match="'x2' separates the classes"):
        bw.LogisticRegression(prior=None).fit(X, y)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e10])
def test_the_weights_of_several_classes_sum_to_zero_under_any_scale(scale: float) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(150, 3))
    y = np.digitize(X[:, 0] + generator.logistic(size=150), [-1.0, 1.0])
    assert np.abs(bw.LogisticRegression(scale=scale).fit(X, y).coef_.sum(axis=0)).max() < 1e-12


def test_class_weights_are_weights_of_rows() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(90, 2)), np.array(["a"] * 70 + ["b"] * 20)
    by = {"a": 0.5, "b": 2.0}
    ours = bw.LogisticRegression(class_weight=by).fit(X, y)
    same = bw.LogisticRegression().fit(X, y, [by[label] for label in y])
    assert np.array_equal(ours.coef_, same.coef_)
    balanced = bw.LogisticRegression(class_weight="balanced", standardise=False).fit(X, y)
    peer = SklearnLogisticRegression(class_weight="balanced", tol=1e-10, max_iter=1_000).fit(X, y)
    assert np.allclose(balanced.coef_, peer.coef_, atol=1e-6)
    for wrong in ("even", {"c": 1.0}, {"a": 0.0, "b": 0.0}):
        with pytest.raises(ValueError, match="class_weight"):
            bw.LogisticRegression(class_weight=wrong).fit(X, y)


def test_names_of_weights_agree_with_their_number() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 5.0], "size": ["S", "M", "L", "M"]})
    for estimator in (bw.LogisticRegression(), bw.LinearRegression()):
        estimator.fit(frame, [0, 1, 0, 1])
        assert estimator.get_feature_names_out().tolist() == ["age", "size_M", "size_S"]
        assert estimator.coef_.shape[-1] == 3


def test_a_subclass_may_fix_a_setting_as_an_attribute_of_the_class() -> None:
    """scikit-learn's own classes are made of ours in this way: `standardise` and a scale that follows from C."""

    class Ridged(bw.LogisticRegression):
        prior, standardise, marginalize, missing, kinds, levels = "gaussian", False, False, "error", None, None
        scale = property(lambda self: float(np.sqrt(self.C)))  # type: ignore[assignment]

        def __init__(self, C: float = 1.0, fit_intercept: bool = True, class_weight: None = None) -> None:
            self.C, self.fit_intercept, self.class_weight = C, fit_intercept, class_weight

    X = np.array([[-4.0, 0], [-3, 0], [-2, 1], [-1, 0], [0, 1], [1, 1], [2, 1], [3, 0], [4, 0]])
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    found = Ridged(1 / 9)._settings()
    assert (found.standardise, found.scale) == (False, 1 / 3)
    expected = bw.LogisticRegression(scale=1 / 3, standardise=False).fit(X, y)
    assert Ridged(1 / 9).fit(X, y).coef_ == pytest.approx(expected.coef_)
