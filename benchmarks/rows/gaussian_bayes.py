"""Gaussian Bayes beside scikit-learn's discriminant analyses, and leave-one-out beside one fit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Race, Row, Size, Task
from benchmarks.rows.statistics import gaussian_rows

EVERY_ISA = True


def peers() -> tuple[Any, Any]:
    """Quadratic and linear discriminant analysis; the linear one with the solver that computes covariances."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis(), LinearDiscriminantAnalysis(solver="lsqr")


def fitting(n_rows: int, n_columns: int, n_classes: int, shared: bool) -> tuple[Task, Task]:
    import bayeswise as bw

    values, groups = gaussian_rows(n_rows, n_columns, n_classes)
    peer = peers()[1 if shared else 0]
    ours = bw.GaussianBayes("shared" if shared else "per-class")
    return lambda: ours.fit(values, groups), lambda: peer.fit(values, groups)


def predicting(n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    """Both models learn from a part; every row is predicted."""
    import bayeswise as bw

    values, groups = gaussian_rows(n_rows, n_columns, n_classes)
    some = slice(0, min(n_rows, 20_000 + 200 * n_columns * n_classes))
    peer = peers()[0].fit(values[some], groups[some])
    ours = bw.GaussianBayes().fit(values[some], groups[some])
    assert np.allclose(ours.predict_proba(values[:100]), peer.predict_proba(values[:100]), atol=1e-3)
    return lambda: ours.predict_proba(values), lambda: peer.predict_proba(values)


def leaving_one_out(n_rows: int, n_columns: int, covariance: str) -> tuple[Task, Task]:
    """The peer is one fit of our own: a ratio of 0.1 means ten fits for all the rows."""
    import bayeswise as bw

    values, groups = gaussian_rows(n_rows, n_columns, 2)
    ours = bw.GaussianBayes(covariance).fit(values, groups)
    return lambda: ours.leave_one_out(values, groups), lambda: bw.GaussianBayes(covariance).fit(values, groups)


def rows(size: Size) -> Iterator[Row]:
    million, fifth, tenth = size.rows(1_000_000), max(size.rows(200_000), 2_000), size.rows(100_000)
    for n_rows, n_columns, n_classes, shared, target in (
        (million, 20, 2, False, 4),
        (million, 20, 2, True, 3),
        (fifth, 100, 10, False, 1),
    ):
        what = f"{'shared ' if shared else ''}fit {n_rows:,} x {n_columns}, {n_classes} classes"
        peer = "LDA lsqr" if shared else "QDA"
        yield Race(f"{what} | {peer}", partial(fitting, n_rows, n_columns, n_classes, shared), at_least=target)
    for n_rows, n_columns, n_classes in ((million, 20, 2), (fifth, 100, 10)):
        what = f"predict_proba {n_rows:,} x {n_columns}, {n_classes} classes"
        yield Race(f"{what} | QDA", partial(predicting, n_rows, n_columns, n_classes), at_least=5)
    for form in ("per-class", "shared"):
        what = f"leave-one-out {tenth:,} x 20, {form}"
        yield Race(f"{what} | one fit", partial(leaving_one_out, tenth, 20, form), at_least=0.1)
