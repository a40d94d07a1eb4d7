"""More columns than rows: n x n takes the place of d x d, and what has no room is refused with its size."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import bayeswise as bw
from bayeswise.foundation.errors import FitError, NotMergedError, TooLargeError
from bayeswise.models.files import bytes_of
from bayeswise.models.regression.linear import LinearModel
from bayeswise.models.regression.row_blocks import Design
from bayeswise.models.regression.solving import logistic_fit, wide
from bayeswise.models.regression.solving.wide import WideModel, fit_wide


def rows_of(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d)) * generator.uniform(0.1, 10.0, d) + generator.normal(size=d)
    return X, X[:, 0] - X[:, 1] + generator.normal(size=n)


@pytest.mark.parametrize("options", [{"scale": 0.3}, {"scale": "evidence"}, {"scale": 2.0, "fit_intercept": False}])
@pytest.mark.parametrize("shape", [(12, 30), (60, 5)])
def test_products_of_rows_give_what_products_of_columns_give(options: dict[str, Any], shape: tuple[int, int]) -> None:
    X, y = rows_of(*shape)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = bw.LinearRegression(**options).fit(X, y, weights)
    narrow = model.model_
    batch = next(iter(model._batches(X)))
    design = Design.of(narrow.schema, [batch], "error")
    scale = narrow.scale if shape[0] < shape[1] else options["scale"]  # with fewer rows many scales are equally good
    turned = fit_wide(design.features, design.matrix, y, weights, narrow.settings.changed(scale=scale))
    assert turned.scale == pytest.approx(narrow.scale, rel=1e-6)
    assert np.allclose(turned.weights, narrow.weights, rtol=1e-6, atol=1e-9)
    assert turned.log_evidence() == pytest.approx(narrow.log_evidence(), rel=1e-6)
    far = X[:3] * 3.0
    for ours, theirs in zip(
        (turned.predictive(far), turned.predictive(X)), (narrow.predictive(far), narrow.predictive(X)), strict=True
    ):
        assert np.allclose(ours.location, theirs.location, rtol=1e-6)
        assert np.allclose(ours.scale, theirs.scale, rtol=1e-5)
        assert np.allclose(ours.df, theirs.df)


def test_ten_thousand_columns_are_fitted_saved_and_refused_what_needs_all_pairs(tmp_path: Any) -> None:
    X, y = rows_of(20, 10_000)
    model = bw.LinearRegression().fit(X, y)
    assert isinstance(model.model_, WideModel)
    order = np.random.default_rng(0).permutation(20)
    assert bytes_of(bw.LinearRegression().fit(X[order], y[order]).model_) == bytes_of(model.model_)
    model.save(tmp_path / "wide.bayeswise")
    again = bw.load(tmp_path / "wide.bayeswise")
    assert np.array_equal(again.predictive(X).stddev, model.predict(X, return_std=True)[1])
    with pytest.raises(FitError, match="keeps no moments of this many columns"):
        model.partial_fit(X, y)
    with pytest.raises(NotMergedError, match=r"no moments of this many columns.* Fix: fit all rows at once"):
        model.merge(model)
    for change in (again.merge, again.forget):
        with pytest.raises(NotMergedError, match=r"no moments of this many columns.* Fix: fit all rows at once"):
            change(again)
    for refused in (bw.LinearRegression(prior="laplace"), bw.LinearRegression(prior=None)):
        with pytest.raises(TooLargeError, match=r"all pairs of 10,000 columns.*2\.4 GB; at most 2\.1"):
            refused.fit(X, y)
    classes = np.arange(20) % 2
    with pytest.raises(TooLargeError, match=r"all pairs of 10,000 columns.*covariance='diagonal'"):
        bw.GaussianBayes().fit(X, classes)
    with pytest.raises(TooLargeError, match=r"the curvature of 10,000 columns and 2 classes.*prior='gaussian'"):
        bw.LogisticRegression("student-t", marginalize=True).fit(X, classes)
    assert bw.NaiveBayes().fit(X, classes).predict_proba(X).shape == (20, 2)


def test_fewer_rows_than_thousands_of_columns_are_fitted_by_products_of_rows() -> None:
    """Pairs of 5,000 columns have room, but take minutes: products of the rows are the same regression in a second."""
    X, y = rows_of(40, 5_000)
    names = [f"x{k}" for k in range(5_000)]
    rows = {**dict(zip(names, X.T, strict=True)), "y": y}
    model = bw.fit(rows, "y", model="linear")
    assert isinstance(model, WideModel)
    assert np.array_equal(model.weights, bw.LinearRegression().fit(X, y).coef_)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = Ridge(alpha=model.scale**-2, solver="svd").fit(z, y)
    assert np.allclose(model.weights * X.std(axis=0), peer.coef_, rtol=1e-6, atol=1e-9)
    with pytest.raises(AttributeError, match="begin with partial_fit"):
        _ = bw.LinearRegression().fit(X, y).sigma_


def test_what_needs_pairs_of_columns_keeps_them_whatever_the_number_of_rows(monkeypatch: Any) -> None:
    monkeypatch.setattr(wide, "FEWEST_TURNED", 10)
    X, y = rows_of(12, 20)
    assert isinstance(bw.LinearRegression().fit(X, y).model_, WideModel)
    for kept in (
        bw.LinearRegression(scale="cv").fit(X, y),
        bw.LinearRegression(prior="laplace", scale=1.0).fit(X, y),
        bw.LinearRegression().fit(*rows_of(20, 20)),
        bw.LinearRegression().partial_fit(X, y),
    ):
        assert isinstance(kept.model_, LinearModel)
    parts = bw.LinearRegression().partial_fit(X[:5], y[:5]).partial_fit(X[5:], y[5:])
    assert bytes_of(parts.model_) == bytes_of(bw.LinearRegression().partial_fit(X, y).model_)
    assert np.allclose(parts.predict(X), bw.LinearRegression().fit(X, y).predict(X), rtol=1e-6)


def test_rows_of_a_stream_and_of_partitions_are_counted_and_make_the_same_file(monkeypatch: Any, tmp_path: Any) -> None:
    import dask.dataframe as dd
    import pandas as pd

    monkeypatch.setattr(wide, "FEWEST_TURNED", 10)
    X, y = rows_of(12, 20)
    frame = pd.DataFrame({**{f"x{k}": X[:, k] for k in range(20)}, "y": y})
    frame.to_csv(tmp_path / "t.csv", index=False)
    here = bytes_of(bw.fit(frame, "y", model="linear"))
    for table in (tmp_path / "t.csv", dd.from_pandas(frame, npartitions=3)):
        model = bw.fit(table, "y", model="linear")
        assert isinstance(model, WideModel) and bytes_of(model) == here


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [0.1, "evidence"])
def test_classes_in_fewer_columns_have_the_same_weights(n_classes: int, scale: Any, monkeypatch: Any) -> None:
    X, y = rows_of(40, 120)
    classes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    plain = bw.LogisticRegression(scale=scale).fit(X, classes)
    monkeypatch.setattr(logistic_fit, "FEWEST_TO_TURN", 50)
    turned = bw.LogisticRegression(scale=scale).fit(X, classes)
    assert not turned.model_.covariance.size and turned.certificate_.converged
    assert turned.scale_ == pytest.approx(plain.scale_, rel=1e-3)
    assert np.allclose(turned.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    assert np.allclose(turned.coef_, plain.coef_, atol=1e-4 * np.abs(plain.coef_).max())


def test_a_category_of_a_hundred_thousand_levels_is_refused_by_name() -> None:
    rows = {"c": [f"k{i}" for i in range(100_000)], "y": ["a", "b"] * 50_000}
    with pytest.raises(TooLargeError, match=r"100,000 levels of 'c'.*80.0 GB.*--ignore c"):
        bw.fit(rows, "y", model="logistic", kinds={"c": "category"})
    rows["y"] = np.arange(100_000.0).tolist()
    with pytest.raises(TooLargeError, match=r"of 'c'.*GB.*--ignore c"):
        bw.fit(rows, "y", model="linear", kinds={"c": "category"})


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prior", ["laplace", "student-t"])
def test_other_priors_find_the_same_weights_without_a_hessian_of_all_columns(
    n_classes: int, prior: str, monkeypatch: Any
) -> None:
    X, y = rows_of(40, 120)
    classes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    by = np.random.default_rng(2).integers(1, 3, 40).astype(float)
    for scale in (0.1, "cv") if prior == "laplace" else (0.1,):
        plain = bw.LogisticRegression(prior, scale=scale, tol=1e-10).fit(X, classes, by)
        monkeypatch.setattr(logistic_fit, "MOST_ENTRIES", 1_000)
        without = bw.LogisticRegression(prior, scale=scale, tol=1e-10).fit(X, classes, by)
        monkeypatch.undo()
        assert without.certificate_.converged and without.scale_ == plain.scale_
        assert np.allclose(without.coef_, plain.coef_, atol=1e-6)


def test_twenty_thousand_columns_have_few_weights_under_a_laplace_prior_in_any_order_of_rows() -> None:
    X, y = rows_of(60, 20_000)
    classes = (y > 0).astype(int)
    model = bw.LogisticRegression("laplace", scale=0.2).fit(X, classes)
    assert model.certificate_.converged and 0 < np.count_nonzero(model.coef_) < 60
    order = np.random.default_rng(0).permutation(60)
    assert bytes_of(bw.LogisticRegression("laplace", scale=0.2).fit(X[order], classes[order]).model_) == bytes_of(
        model.model_
    )


def test_a_thousand_weights_under_a_laplace_prior_have_the_least_loss_that_liblinear_finds() -> None:
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(0)
    X = generator.normal(size=(700, 1_100))
    y = (X[:, :40] @ generator.normal(size=40) + generator.normal(size=700) * 4.0 > 0).astype(int)
    model = bw.LogisticRegression(prior="laplace", scale=1.0, standardise=False, fit_intercept=False).fit(X, y).model_
    assert model.certificate.converged
    peer = LogisticRegression(l1_ratio=1, C=1.0, solver="liblinear", tol=1e-7, fit_intercept=False).fit(X, y)

    def loss(weights: Any) -> float:
        scores = X @ weights
        return float(np.logaddexp(0.0, np.where(y == 1, -scores, scores)).sum() + np.abs(weights).sum())

    assert loss(model.weights[1]) <= loss(peer.coef_[0]) * (1 + 1e-12)
    assert loss(model.weights[1]) == pytest.approx(loss(peer.coef_[0]), rel=1e-5)
    assert np.count_nonzero(model.weights[1]) > 300


@pytest.mark.parametrize("estimator", [bw.LogisticRegression, bw.LinearRegression])
def test_a_wide_table_is_not_copied_more_than_a_few_times(estimator: Any) -> None:
    X = np.random.default_rng(0).normal(size=(200, 20_000))
    y = np.arange(200) % 2
    estimator().fit(X[:20, :5], y[:20])
    tracemalloc.start()
    try:
        estimator().fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < 3.6 * X.nbytes
    finally:
        tracemalloc.stop()
