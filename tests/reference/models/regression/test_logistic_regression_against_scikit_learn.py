"""The same weights as scikit-learn's with C = scale^2 (laplace: C = scale), on columns as they are or standardised."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import bayeswise as bw
from bayeswise.models.regression.logistic import marginalized_scores


def table(n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(n_classes)
    X = generator.standard_normal((200, 3)) * [1.0, 5.0, 0.2] + [0.5, 2.0, 3.0]
    scores = X @ generator.standard_normal((3, n_classes)) / 2
    y = np.argmax(scores + generator.gumbel(size=scores.shape), axis=1)
    return X, y, generator.integers(0, 4, 200).astype(float)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [0.3, 20.0])
def test_gaussian_prior_is_l2_with_c_the_squared_scale(n_classes: int, intercept: bool, c: float) -> None:
    X, y, weights = table(n_classes)
    ours = bw.LogisticRegression(scale=c**0.5, standardise=False, fit_intercept=intercept, tol=1e-12)
    peer = LogisticRegression(C=c, fit_intercept=intercept, solver="newton-cholesky", tol=1e-13, max_iter=1_000)
    ours.fit(X, y, weights)
    peer.fit(X, y, weights)
    assert np.allclose(ours.coef_, peer.coef_, rtol=1e-8, atol=1e-10)
    assert np.allclose(ours.intercept_, peer.intercept_, rtol=1e-8, atol=1e-9)
    assert np.allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_standardised_columns_are_those_of_a_standard_scaler() -> None:
    X, y, _ = table(2)
    scaler = StandardScaler().fit(X)
    peer = LogisticRegression(C=2.0, solver="newton-cholesky", tol=1e-13).fit(scaler.transform(X), y)
    ours = bw.LogisticRegression(scale=2.0**0.5, tol=1e-12).fit(X, y)
    assert np.allclose(ours.coef_ * scaler.scale_, peer.coef_, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_laplace_prior_is_l1_with_c_the_scale(n_classes: int) -> None:
    X, y, _ = table(n_classes)
    X = StandardScaler().fit_transform(X)
    peer = LogisticRegression(C=0.05, l1_ratio=1.0, solver="saga", tol=1e-12, max_iter=200_000).fit(X, y)
    ours = bw.LogisticRegression("laplace", scale=0.05, standardise=False, tol=1e-12).fit(X, y)
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-8)
    assert ours.certificate_.gradient_norm < 1e-12


def test_binary_weights_against_arithmetic_of_fifty_digits() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    model = bw.LogisticRegression(scale=1.5, standardise=False, tol=1e-14).fit(X, y)
    with mpmath.workdps(50):

        def slopes(w: mpmath.mpf, b: mpmath.mpf) -> list[mpmath.mpf]:
            left = [1 / (1 + mpmath.exp(-(w * x[0] + b))) - t for x, t in zip(X, y, strict=True)]
            return [
                mpmath.fsum(r * x[0] for r, x in zip(left, X, strict=True)) + w / mpmath.mpf(1.5) ** 2,
                mpmath.fsum(left),
            ]

        w, b = mpmath.findroot(slopes, (mpmath.mpf(1), mpmath.mpf(-1)))
    assert np.isclose(model.coef_[0, 0], float(w), rtol=1e-13)
    assert np.isclose(model.intercept_[0], float(b), rtol=1e-13)


@pytest.mark.parametrize("copied", [True, False])
def test_many_classes_and_columns_by_conjugate_gradients_reach_the_same_weights(
    copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a copy of the rows in single precision, and without, where they would take too much memory."""
    if not copied:
        monkeypatch.setattr("bayeswise.models.regression.solving.conjugate_gradients.MOST_COPIED", 3_000 * 40 - 1)
        monkeypatch.delattr("bayeswise._kernels.softmax_roughly_along")
    generator = np.random.default_rng(0)
    X = generator.standard_normal((3_000, 40)) @ (np.eye(40) + 0.2 * generator.standard_normal((40, 40)))
    scores = X @ generator.standard_normal((40, 30)) / 3
    y = np.argmax(scores + generator.gumbel(size=scores.shape), axis=1)
    ours = bw.LogisticRegression(standardise=False, tol=1e-11).fit(X, y)
    slopes = ours.predict_proba(X)
    slopes[np.arange(len(y)), y] -= 1.0
    assert abs(slopes.T @ X + ours.coef_).max() / len(y) < 1e-10
    assert ours.certificate_.converged


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0, 10.0, 50.0])
def test_the_marginalized_probability_is_within_two_hundredths_of_the_integral(spread: float) -> None:
    means = np.linspace(0.0, 30.0, 61)
    at = np.linspace(-12.0, 12.0, 20_001)
    weight = np.exp(-0.5 * at**2)
    exact = np.array([(weight / (1 + np.exp(-(mean + spread * at)))).sum() / weight.sum() for mean in means])
    scores = np.column_stack([np.zeros_like(means), means])
    marginalized = marginalized_scores(scores, np.ones((len(means), 1)), np.diag([spread**2, 0.0]))
    assert abs(1 / (1 + np.exp(-marginalized[:, 1])) - exact).max() < 0.02


def test_the_evidence_is_near_the_integral_of_the_likelihood_over_the_prior() -> None:
    generator = np.random.default_rng(2)
    X = generator.standard_normal((60, 1))
    y = (X[:, 0] + generator.logistic(size=60) > 0).astype(int)
    model = bw.LogisticRegression(scale=1.0).fit(X, y).model_
    w, b = np.meshgrid(np.linspace(-6, 6, 801), np.linspace(-6, 6, 801))
    z = (X[:, 0] - model.centre[0]) / model.unit[0]
    log_p = -0.5 * w**2 - 0.5 * np.log(2 * np.pi)
    for value, target in zip(z, y, strict=True):
        score = w * value + b
        log_p = log_p - np.logaddexp(0.0, score) + target * score
    exact = np.log(np.exp(log_p - log_p.max()).sum() * 0.015**2) + log_p.max()
    assert np.isclose(model.log_evidence_of_scale, exact, atol=0.05)
