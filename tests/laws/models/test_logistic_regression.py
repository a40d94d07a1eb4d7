"""Laws of logistic regression: the certificate, weights, threads, changes of units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw


def table(seed: int, n_classes: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, 3)) * [1.0, 100.0, 0.01]
    scores = (X / [1.0, 100.0, 0.01]) @ generator.standard_normal((3, n_classes))
    return X, np.argmax(scores + generator.gumbel(size=scores.shape), axis=1)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 5]), st.floats(0.1, 10.0))
def test_the_gradient_that_is_left_is_what_the_certificate_says(seed: int, n_classes: int, scale: float) -> None:
    X, y = table(seed, n_classes)
    model = bw.LogisticRegression(scale=scale).fit(X, y)
    z = (X - model.model_.centre) / model.model_.unit
    left = model.predict_proba(X)
    left[np.arange(len(y)), np.searchsorted(model.classes_, y)] -= 1.0
    left = left[:, 1:] if left.shape[1] == 2 else left
    slopes = left.T @ z + model.coef_ * model.model_.unit / scale**2
    norm = max(abs(slopes).max(), abs(left.sum(axis=0)).max()) / len(y)
    assert model.certificate_.converged
    assert norm <= 1e-8 + 1e-12


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([2, 3]), st.sampled_from(["gaussian", "laplace", "student-t"]))
def test_a_weight_of_k_is_k_rows(seed: int, n_classes: int, prior: str) -> None:
    X, y = table(seed, n_classes)
    weights = np.random.default_rng(seed).integers(0, 4, len(y))
    many = np.repeat(np.arange(len(y)), weights)
    one = bw.LogisticRegression(prior, tol=1e-11).fit(X, y, weights)
    two = bw.LogisticRegression(prior, tol=1e-11).fit(X[many], y[many])
    assert np.allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-7, atol=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0.001, 1000.0), st.floats(-1e6, 1e6), st.booleans())
def test_units_and_zero_points_of_columns_do_not_matter(seed: int, factor: float, shift: float, fold: bool) -> None:
    X, y = table(seed, 2)
    moved = X.copy()
    moved[:, 0] = moved[:, 0] * factor + shift
    one, two = (bw.LogisticRegression(marginalize=fold).fit(each, y) for each in (X, moved))
    assert np.allclose(one.predict_proba(X), two.predict_proba(moved), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 12])
def test_one_thread_and_several_give_the_same_bits(n_classes: int) -> None:
    X, y = table(0, n_classes, n=45_000)
    found = []
    for threads in (1, 2, 4):
        with bw.limit_threads(threads):
            found.append(bw.LogisticRegression().fit(X, y).coef_.tobytes())
    assert len(set(found)) == 1


def test_the_folds_do_not_depend_on_the_order_of_the_rows() -> None:
    X, y = table(4, 2, n=200)
    order = np.random.default_rng(0).permutation(len(y))
    scales = {bw.LogisticRegression(scale="cv").fit(*each).scale_ for each in ((X, y), (X[order], y[order]))}
    assert len(scales) == 1


def test_the_account_adds_up_to_the_posterior() -> None:
    X, y = table(1, 3)
    model = bw.LogisticRegression().fit(X, y)
    account = model.explain(X[:1])
    assert np.allclose(account.posterior, model.predict_proba(X[:1])[0], rtol=1e-12)
    assert np.allclose(account.contributions[1].log_likelihood, model.coef_[:, 1] * (X[0, 1] - X[:, 1].mean()))
