"""Logistic regression of a sparse matrix: the answers of dense rows, and those of scikit-learn at equal objective."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as SklearnLogisticRegression

import bayeswise as bw
from bayeswise.foundation.errors import (
    MissingCellError,
    NonFiniteError,
    NotAvailableError,
    ParameterError,
)


def texts(n_rows: int, n_words: int, density: float, n_classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Counts of words, and classes that they say something about."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n_rows, n_words), density=density, rng=rng, format="csr")
    X.data = np.ceil(3.0 * X.data)
    scores = X @ rng.normal(size=(n_words, n_classes)) + rng.gumbel(size=(n_rows, n_classes))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "settings", [{}, {"fit_intercept": False}, {"standardise": False}, {"scale": 3.0}, {"class_weight": "balanced"}]
)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_and_dense_rows_have_the_same_weights_and_answers(n_classes: int, settings: dict, form: Any) -> None:
    X, y = texts(300, 40, 0.1, n_classes)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    ours = bw.LogisticRegression(tol=1e-12, **settings).fit(form(X), y, weights)
    dense = bw.LogisticRegression(tol=1e-12, **settings).fit(X.toarray(), y, weights)
    assert ours.certificate_.converged
    np.testing.assert_allclose(ours.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, dense.intercept_, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(form(X)), dense.predict_proba(X.toarray()), atol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), ours.decision_function(X.toarray()), atol=1e-10)
    assert ours.separable_ == dense.separable_


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"prior": "laplace", "scale": 0.1},
        {"prior": "laplace", "scale": 0.1, "fit_intercept": False, "standardise": False},
        {"prior": "student-t", "scale": 0.2},
        {"scale": "cv"},
        {"prior": "student-t", "scale": "cv"},
    ],
    ids=str,
)
def test_every_prior_of_a_sparse_matrix_and_a_scale_by_folds_are_those_of_dense_rows(
    n_classes: int, settings: dict
) -> None:
    X, y = texts(200, 30, 0.1, n_classes)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 200)
    ours = bw.LogisticRegression(tol=1e-10, **settings).fit(X, y, weights)
    dense = bw.LogisticRegression(tol=1e-10, **settings).fit(X.toarray(), y, weights)
    assert ours.certificate_.converged and ours.scale_ == dense.scale_
    np.testing.assert_allclose(ours.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), dense.predict_proba(X.toarray()), atol=1e-6)


def test_the_few_weights_of_a_laplace_prior_are_those_of_scikit_learn() -> None:
    X, y = texts(150, 1_000, 0.005)
    settings = {"fit_intercept": False, "tol": 1e-10}
    ours = bw.LogisticRegression("laplace", scale=0.5, standardise=False, **settings).fit(X, y)
    peer = SklearnLogisticRegression(C=0.5, l1_ratio=1.0, solver="liblinear", max_iter=5_000, **settings).fit(X, y)
    assert 0 < np.count_nonzero(ours.coef_) < 150
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_weights_are_those_of_scikit_learn_at_equal_objective(n_classes: int) -> None:
    X, y = texts(2_000, 5_000, 0.001, n_classes)
    ours = bw.LogisticRegression(scale=2.0, standardise=False, tol=1e-11).fit(X, y)
    peer = SklearnLogisticRegression(C=4.0, tol=1e-10, max_iter=5_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_ - ours.coef_.mean(axis=0) * (n_classes > 2), peer.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-5)


def test_any_order_of_the_rows_and_copies_for_weights_give_the_same_model_file(tmp_path: Path) -> None:
    X, y = texts(500, 60, 0.05, 3)
    again = np.random.default_rng(1).integers(1, 4, 500)
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(500), again))
    with_zeros = sparse.csr_array(X)
    with_zeros.data = with_zeros.data.copy()
    with_zeros.data[::7] = 0.0
    stored = with_zeros.copy()
    stored.eliminate_zeros()
    bw.LogisticRegression().fit(with_zeros, y, again).save(tmp_path / "weights")
    bw.LogisticRegression().fit(stored[order].tocsc(), y[order]).save(tmp_path / "copies")
    assert (tmp_path / "weights").read_bytes() == (tmp_path / "copies").read_bytes()


def test_a_row_has_the_same_answer_alone_and_among_others_and_from_a_loaded_model(tmp_path: Path) -> None:
    X, y = texts(50, 30, 0.1, 3)
    model = bw.LogisticRegression().fit(X, y)
    whole = model.predict_proba(X)
    assert all((model.predict_proba(X[[k]])[0] == whole[k]).all() for k in range(50))
    model.save(tmp_path / "model")
    loaded = bw.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict_proba(X), whole, atol=1e-12)
    assert str(model.explain(X[[0]])) == str(model.explain(X[[0]].toarray()))


def test_constant_and_empty_columns_have_no_weight() -> None:
    X, y = texts(100, 5, 0.3)
    wide = sparse.hstack([X, np.full((100, 1), 0.1), np.zeros((100, 1))], format="csr")
    np.testing.assert_allclose(bw.LogisticRegression().fit(wide, y).coef_[0, 5:], 0.0, atol=1e-12)


def test_columns_whose_hessian_has_no_room_are_fitted() -> None:
    X, y = texts(300, 200_000, 5e-5)
    model = bw.LogisticRegression().fit(X, y)
    assert model.certificate_.converged
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("settings", "fix", "advised"),
    [
        ({"prior": None}, "choose prior='gaussian', 'laplace' or 'student-t'", {"prior": "laplace"}),
        ({"prior": "laplace", "scale": "cv"}, "give the scale as a number, or choose prior='gaussian'", {"scale": 1.0}),
        ({"scale": "evidence"}, "choose scale='cv', or give the scale as a number", {"scale": "cv"}),
        ({"marginalize": True}, "choose marginalize=False", {"marginalize": False}),
        ({"missing": "mean"}, "choose missing='error'", {"missing": "error"}),
    ],
    ids=str,
)
def test_settings_that_need_dense_rows_say_what_works(settings: dict, fix: str, advised: dict) -> None:
    X, y = texts(30, 5, 0.3)
    with pytest.raises(ParameterError, match=rf"sparse matrix does not take .* Fix: {fix}.*; or give X.toarray\(\)"):
        bw.LogisticRegression(**settings).fit(X, y)
    assert bw.LogisticRegression(**settings | advised).fit(X, y).certificate_.converged


def test_odd_cells_and_columns_of_a_sparse_matrix_are_typed_errors() -> None:
    X, y = texts(30, 5, 0.3)
    model = bw.LogisticRegression().fit(X, y)
    for wrong, error in ((np.nan, MissingCellError), (np.inf, NonFiniteError)):
        odd = X.copy()
        odd.data[0] = wrong
        with pytest.raises(error, match="x"):
            bw.LogisticRegression().fit(odd, y)
        with pytest.raises(error, match="x"):
            model.predict(odd)
    with pytest.raises(ParameterError, match="kinds is about named columns"):
        bw.LogisticRegression(kinds={"x0": "category"}).fit(X, y)
    with pytest.raises(NotAvailableError, match="marginalized"):
        bw.LogisticRegression(marginalize=True).fit(X.toarray(), y).predict(X)
    assert bw.LogisticRegression().fit(X, ["only"] * 30).predict_proba(X[:1]).tolist() == [[1.0]]
