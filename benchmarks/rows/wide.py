"""Tables of thousands of columns beside scikit-learn's naive Bayes, their files, and single rows."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Race, Row, Size, Task, best_of

EVERY_ISA = True
SHAPES = ((60, 20_000), (2_000, 5_000), (2_000, 1_000))
N_VALUES = 10


def numbers(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    return generator.normal(size=(n_rows, n_columns)), np.arange(n_rows) % 3


def codes(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    return generator.integers(0, N_VALUES, (n_rows, n_columns)), np.arange(n_rows) % 3


def models(kind: str) -> tuple[Any, Any]:
    """Ours and the peer of a kind of column, not fitted."""
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    import bayeswise as bw

    if kind == "numbers":
        return bw.NaiveBayes(), GaussianNB()
    return bw.NaiveBayes(families="categorical"), CategoricalNB(min_categories=N_VALUES)


def table_of(kind: str, n_rows: int, n_columns: int) -> tuple[Any, Any]:
    return numbers(n_rows, n_columns) if kind == "numbers" else codes(n_rows, n_columns)


def fits(kind: str, n_rows: int, n_columns: int) -> tuple[Task, Task]:
    values, groups = table_of(kind, n_rows, n_columns)
    ours, peer = models(kind)
    return lambda: ours.fit(values, groups), lambda: peer.fit(values, groups)


def fits_and_predictions(kind: str, n_rows: int, n_columns: int) -> tuple[Task, Task]:
    """With the parameters, which ours makes from the statistics when the first row is predicted."""
    values, groups = table_of(kind, n_rows, n_columns)
    ours, peer = models(kind)
    return (
        lambda: ours.fit(values, groups).predict_proba(values),
        lambda: peer.fit(values, groups).predict_proba(values),
    )


def predictions(kind: str, n_rows: int, n_columns: int) -> tuple[Task, Task]:
    values, groups = table_of(kind, n_rows, n_columns)
    ours, peer = (model.fit(values, groups) for model in models(kind))
    return partial(ours.predict_proba, values), partial(peer.predict_proba, values)


def frame_fits(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    import pandas as pd
    from sklearn.naive_bayes import GaussianNB

    import bayeswise as bw

    values, groups = numbers(n_rows, n_columns)
    names = [f"gene{k}" for k in range(n_columns)]
    frame = pd.DataFrame(values, columns=names).assign(y=np.array(["a", "b", "c"])[groups])

    def peer() -> None:
        GaussianNB().fit(frame[names], frame["y"])

    return lambda: bw.fit(frame, target="y", model="naive-bayes"), peer


def gaussian_fits_and_predictions(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    """Gaussian classes without correlations."""
    from sklearn.naive_bayes import GaussianNB

    import bayeswise as bw

    values, groups = numbers(n_rows, n_columns)
    ours, peer = bw.GaussianBayes(covariance="diagonal"), GaussianNB()
    return (
        lambda: ours.fit(values, groups).predict_proba(values),
        lambda: peer.fit(values, groups).predict_proba(values),
    )


def file_seconds(kind: str, n_rows: int, n_columns: int, work: str) -> float:
    """The time to save or to load a model."""
    import bayeswise as bw

    model = models(kind)[0].fit(*table_of(kind, n_rows, n_columns)).model_
    with tempfile.TemporaryDirectory(prefix="bayeswise-bench-") as folder:
        path = Path(folder) / "model.bayes"
        model.save(path)
        task: Callable[[], object] = partial(model.save, path) if work == "save" else partial(bw.load, os.fspath(path))
        [best] = best_of(3, task)
    return best


def one_row_of_a_model(form: str) -> float:
    """The time of one row in some form, mixed columns, through a model of a table."""
    import pandas as pd
    import polars as pl

    import bayeswise as bw

    generator = np.random.default_rng(0)
    rows = [
        {
            "age": float(generator.normal(40, 9)),
            "size": "SML"[k % 3],
            "member": bool(k % 2),
            "y": ("no", "yes")[k % 2],
        }
        for k in range(500)
    ]
    model = bw.fit(rows, target="y", model="naive-bayes")
    row = {name: cell for name, cell in rows[3].items() if name != "y"}
    made: dict[str, Callable[[Any], Any]] = {"dict": dict, "pandas frame": pd.DataFrame, "polars frame": pl.DataFrame}
    table = made[form](row if form == "dict" else [row])
    [best] = best_of(20, lambda: [model.predict_proba(table) for _ in range(100)])
    return best / 100


def one_row() -> tuple[Task, Task]:
    """One row of a matrix through the estimators."""
    values, groups = numbers(10_000, 20)
    ours, peer = (model.fit(values, groups) for model in models("numbers"))
    row = values[:1]
    return (
        lambda: [ours.predict_proba(row) for _ in range(100)],
        lambda: [peer.predict_proba(row) for _ in range(100)],
    )


def rows(size: Size) -> Iterator[Row]:
    shapes = list(dict.fromkeys((n_rows, size.columns(n_columns)) for n_rows, n_columns in SHAPES))
    widest = shapes[0]
    for kind, peer in (("numbers", "GaussianNB"), ("codes", "CategoricalNB")):
        for shape in shapes:
            what = "{:,} x {:,}".format(*shape)
            yield Race(f"{kind} {what} fit | {peer}", partial(fits, kind, *shape), at_least=0.5)
            yield Race(
                f"{kind} {what} fit, predict | {peer}", partial(fits_and_predictions, kind, *shape), at_least=0.5
            )
            yield Race(f"{kind} {what} predict | {peer}", partial(predictions, kind, *shape), at_least=0.5)
        for work in ("save", "load"):
            what = "{:,} x {:,}".format(*widest)
            yield Figure(f"{kind} {what} {work}", partial(file_seconds, kind, *widest, work), at_most=1.0)
    for shape in shapes:
        what = "{:,} x {:,}".format(*shape)
        race = partial(gaussian_fits_and_predictions, *shape)
        yield Race(f"diagonal Gaussian {what} fit, predict | GaussianNB", race, at_least=0.5)
        yield Race(f"bw.fit(frame) {what} | GaussianNB on the frame", partial(frame_fits, *shape))
    for form, at_most in (("dict", 60e-6), ("pandas frame", 200e-6), ("polars frame", 200e-6)):
        yield Figure(f"one row as a {form}, from a model", partial(one_row_of_a_model, form), at_most=at_most)
    yield Race("100 x one row, estimator | GaussianNB", one_row, at_least=1)
