"""Naive Bayes counts what correlated columns say again and again; the average over structures counts it once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import datasets

import bayeswise as bw
from bayeswise.evaluation.reliability import reliability
from bayeswise.models.averaged_naive_bayes import averaged, fit_averaged
from bayeswise.models.files import bytes_of
from benchmarks.rows.averaging import calibration_error, calibration_error_above_chance, log_loss, predicted


def table(name: str) -> tuple[Any, Any]:
    if name == "diabetes":
        X, y = datasets.load_diabetes(return_X_y=True)
        return X, (y > np.median(y)).astype(int)
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y


def posterior(estimator: Any, name: str, X: Any, y: Any) -> tuple[Any, Any]:
    """Rows left out in turn; of the digits one half is predicted by the other, to save time."""
    if name != "digits":
        return estimator.fit(X, y).leave_one_out(X, y), y
    return estimator.fit(X[::2], y[::2]).predict_proba(X[1::2]), y[1::2]


def scores(estimator: Any, name: str, X: Any, y: Any) -> tuple[float, float]:
    """Log-loss, and the expected calibration error, the mean over the classes."""
    p, truth = posterior(estimator, name, X, y)
    log_loss = -np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-300)).mean()
    return float(log_loss), float(np.mean([reliability(p[:, k], truth == k, k).ece for k in range(p.shape[1])]))


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits"])
def test_log_loss_and_calibration_beat_plain_naive_bayes_and_copies_change_next_to_nothing(name: str) -> None:
    X, y = table(name)
    twice = np.hstack([X, X])
    plain, ours = scores(bw.NaiveBayes(), name, X, y), scores(bw.AveragedNaiveBayes(), name, X, y)
    assert ours[0] < plain[0] and ours[1] < plain[1]
    plain_twice, ours_twice = (
        scores(bw.NaiveBayes(), name, twice, y),
        scores(bw.AveragedNaiveBayes(), name, twice, y),
    )
    assert ours_twice[0] < plain_twice[0] and ours_twice[1] < plain_twice[1]
    assert ours_twice[0] == pytest.approx(ours[0], rel=0.01)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes"])
def test_noisy_copies_and_one_column_five_times_are_cured_too(name: str) -> None:
    X, y = table(name)
    noise = 0.1 * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape)
    for wide in (np.hstack([X, X + noise]), np.hstack([X, *[X[:, -1:]] * 4])):
        plain, ours = scores(bw.NaiveBayes(), name, wide, y), scores(bw.AveragedNaiveBayes(), name, wide, y)
        assert ours[0] < plain[0] and ours[1] < plain[1]


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_most_probable_class_is_calibrated_better_over_shuffles_of_the_folds(name: str) -> None:
    """One round of folds of 178 wines says little: a handful of them are taken for others."""
    ours, plain, truth = predicted(name, 8)
    for loss in (log_loss, calibration_error, calibration_error_above_chance):
        gap = np.array([loss(a, truth) - loss(b, truth) for a, b in zip(ours, plain, strict=True)])
        assert gap.mean() < -gap.std(ddof=1) / np.sqrt(len(gap))


@pytest.mark.parametrize("shared", [False, True])
def test_copies_share_one_voice(shared: bool) -> None:
    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, 4000)
    x = generator.normal(size=(4000, 1)) + 2.0 * y[:, None]
    one = bw.AveragedNaiveBayes(shared_variance=shared).fit(np.hstack([x, generator.normal(size=(4000, 1))]), y)
    assert one.temper_ == pytest.approx(1.0, abs=0.05)
    for copies in (2, 3, 10):
        several = bw.AveragedNaiveBayes(shared_variance=shared).fit(np.repeat(x, copies, axis=1), y)
        assert several.temper_ == pytest.approx(1.0 / copies, rel=0.01)


def test_the_factor_is_the_ratio_of_the_variances_of_the_log_likelihood_ratio() -> None:
    """By simulation: two normal classes with correlated columns; V0 with columns shuffled, V as they are."""
    generator = np.random.default_rng(2)
    covariance = {0: np.array([[1.0, 0.8], [0.8, 1.0]]), 1: np.array([[2.0, -0.5], [-0.5, 1.0]])}
    mean = {0: np.zeros(2), 1: np.array([1.0, 1.5])}
    n = 30_000
    X = {k: generator.multivariate_normal(mean[k], covariance[k], n // 2) for k in (0, 1)}
    model = bw.AveragedNaiveBayes(temper="pairs").fit(np.vstack([X[0], X[1]]), np.repeat([0, 1], n // 2))

    def ratio(a: int, rows: Any) -> Any:
        b = 1 - a
        log_p = [-0.5 * ((rows - mean[k]) ** 2 / np.diag(covariance[k])).sum(axis=1) for k in (a, b)]
        return log_p[0] - log_p[1]

    log_ratios = []
    for a in (0, 1):
        rows = generator.multivariate_normal(mean[a], covariance[a], 400_000)
        shuffled = np.column_stack([rows[:, 0], generator.permutation(rows[:, 1])])
        log_ratios.append(np.log(ratio(a, shuffled).var() / ratio(a, rows).var()))
    assert model.temper_ == pytest.approx(np.exp(np.mean(log_ratios)), rel=0.03)


def test_leaving_a_row_out_leaves_it_out_of_the_factor() -> None:
    X, y = datasets.load_wine(return_X_y=True)
    X = X.copy()
    X[5, 3] = X[77, 0] = np.nan
    X[9, 2] = 1e6  # far out: what is left is refitted
    model = bw.AveragedNaiveBayes().fit(X, y)
    left_out = model.leave_one_out(X, y)
    for k in (0, 5, 9, 77, 120, 177):
        others = np.delete(np.arange(len(y)), k)
        without = bw.AveragedNaiveBayes().fit(X[others], y[others])
        assert left_out[k] == pytest.approx(without.predict_proba(X[k : k + 1])[0], rel=1e-9)


def test_rows_come_and_go_to_the_last_byte_with_their_pairs() -> None:
    X, y = datasets.load_iris(return_X_y=True)
    whole = bw.AveragedNaiveBayes().fit(X, y)
    parts = bw.AveragedNaiveBayes().fit(X[::2], y[::2]).merge(bw.AveragedNaiveBayes().fit(X[1::2], y[1::2]))
    assert bytes_of(parts.model_) == bytes_of(whole.model_)
    assert bytes_of(whole.forget(X[1::2], y[1::2]).model_) == bytes_of(
        bw.AveragedNaiveBayes().fit(X[::2], y[::2]).model_
    )


def test_many_rows_drop_the_pairs_unless_they_are_requested() -> None:
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 40_000)
    X = np.repeat(generator.normal(size=(40_000, 1)) + y[:, None], 3, axis=1)
    assert bw.AveragedNaiveBayes().fit(X, y).temper_ == 1.0
    assert bw.AveragedNaiveBayes(temper="pairs").fit(X, y).temper_ == pytest.approx(1 / 3, rel=0.01)
    assert bw.AveragedNaiveBayes(temper=0.5).fit(X, y).temper_ == 0.5


def test_an_exponent_is_above_zero_and_at_most_one() -> None:
    X, y = datasets.load_iris(return_X_y=True)
    for wrong in (0.0, 1.5, -1.0, True, "some", float("nan")):
        with pytest.raises(bw.UsageError, match="temper"):
            bw.AveragedNaiveBayes(temper=wrong).fit(X, y)


def test_a_plain_model_knows_no_pairs_and_categories_need_none() -> None:
    rows = [{"a": "p", "b": "p", "y": "yes"}, {"a": "q", "b": "q", "y": "no"}]
    assert fit_averaged(rows * 3, target="y").temper == 1.0
    numbers = [{"a": float(k), "b": float(k), "y": "ab"[k % 2]} for k in range(8)]
    kinds = {"a": "number", "b": "number"}
    assert averaged(bw.fit(numbers, target="y", kinds=kinds, model="naive-bayes")).temper == 1.0
    assert fit_averaged(numbers, target="y", kinds=kinds).temper < 0.75
