"""Logistic and linear regression beside scikit-learn's, at its default settings and at a smaller gradient norm."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Race, Row, Size, Task

EVERY_ISA = True


def labelled_rows(n_rows: int, n_columns: int, n_classes: int) -> tuple[Any, Any]:
    """Correlated columns, and a class drawn from a softmax of them."""
    generator = np.random.default_rng(0)
    mixing = np.eye(n_columns) + 0.3 * generator.standard_normal((n_columns, n_columns)) / np.sqrt(n_columns)
    values = generator.standard_normal((n_rows, n_columns)) @ mixing
    scores = values @ generator.standard_normal((n_columns, n_classes)) / np.sqrt(n_columns)
    return values, np.argmax(scores + generator.gumbel(size=scores.shape), axis=1)


def logistic_fits(n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    """The same penalty on the same columns: C = scale^2 = 1."""
    from sklearn.linear_model import LogisticRegression

    import bayeswise as bw

    values, classes = labelled_rows(n_rows, n_columns, n_classes)
    return (
        lambda: bw.LogisticRegression(standardise=False).fit(values, classes),
        lambda: LogisticRegression().fit(values, classes),
    )


def gradient_norms(n_rows: int, n_columns: int, n_classes: int) -> float:
    """Our gradient norm in units of scikit-learn's, both measured here."""
    from sklearn.linear_model import LogisticRegression

    import bayeswise as bw

    values, classes = labelled_rows(n_rows, n_columns, n_classes)
    ours = bw.LogisticRegression(standardise=False).fit(values, classes)
    peer = LogisticRegression().fit(values, classes)
    return _norm(ours, values, classes) / _norm(peer, values, classes)


def _norm(model: Any, values: Any, classes: Any) -> float:
    left = model.predict_proba(values)
    left[np.arange(len(classes)), classes] -= 1.0
    if left.shape[1] == 2:
        left = left[:, 1:]
    slopes = left.T @ values + model.coef_
    return float(max(np.abs(slopes).max(), np.abs(left.sum(axis=0)).max()))


def linear_fits(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    from sklearn.linear_model import LinearRegression

    import bayeswise as bw

    values, _ = labelled_rows(n_rows, n_columns, 2)
    target = values @ np.arange(n_columns) + np.random.default_rng(1).standard_normal(n_rows)
    return (
        lambda: bw.LinearRegression(prior=None).fit(values, target).coef_,
        lambda: LinearRegression().fit(values, target).coef_,
    )


def rows(size: Size) -> Iterator[Row]:
    million, fifty = size.rows(1_000_000), size.rows(50_000)
    for n_rows, n_columns, n_classes, target in ((million, 20, 2, 2), (fifty, 100, 10, 2)):
        shape = f"{n_rows:,} x {n_columns}, {n_classes} classes"
        yield Race(
            f"logistic {shape} | LogisticRegression",
            partial(logistic_fits, n_rows, n_columns, n_classes),
            at_least=target,
        )
        yield Figure(
            f"logistic {shape}: gradient norm of ours / theirs",
            partial(gradient_norms, n_rows, n_columns, n_classes),
            at_most=1.0,
            unit="x",
        )
    yield Race(f"linear {million:,} x 20, exact moments | LinearRegression", partial(linear_fits, million, 20))
