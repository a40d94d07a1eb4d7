"""Naive Bayes beside scikit-learn's: fits, predictions, text, a file to a saved model, one row at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Race, Row, Size, Task, best_of
from benchmarks.rows.statistics import N_VALUES, gaussian_rows

EVERY_ISA = True


def gaussian_fits(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import GaussianNB

    import bayeswise as bw

    values, groups = gaussian_rows(n_rows, n_columns, 2)
    return lambda: bw.NaiveBayes().fit(values, groups), lambda: GaussianNB().fit(values, groups)


def categorical_fits(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import CategoricalNB

    import bayeswise as bw

    codes, groups = category_codes(n_rows, n_columns)
    ours = bw.NaiveBayes(families="categorical")
    return lambda: ours.fit(codes, groups), lambda: CategoricalNB().fit(codes, groups)


def category_codes(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, N_VALUES, (n_rows, n_columns))
    return codes, generator.integers(0, 2, n_rows)


def gaussian_predictions(n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import GaussianNB

    import bayeswise as bw

    values, groups = gaussian_rows(n_rows, n_columns, n_classes)
    few = slice(0, 10_000)
    ours = bw.NaiveBayes().fit(values[few], groups[few])
    peer = GaussianNB().fit(values[few], groups[few])
    return partial(ours.predict_proba, values), partial(peer.predict_proba, values)


def categorical_predictions(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import CategoricalNB

    import bayeswise as bw

    codes, groups = category_codes(n_rows, n_columns)
    few = slice(0, 10_000)
    ours = bw.NaiveBayes(families="categorical").fit(codes[few], groups[few])
    peer = CategoricalNB(min_categories=N_VALUES).fit(codes[few], groups[few])
    return partial(ours.predict_proba, codes), partial(peer.predict_proba, codes)


def documents(n_rows: int) -> tuple[Any, Any]:
    """Word counts, 100 words to a row out of 50,000, in 20 classes."""
    from scipy.sparse import csr_matrix

    generator = np.random.default_rng(0)
    words = generator.zipf(1.3, (n_rows, 100)) % 50_000
    starts = np.arange(0, words.size + 1, 100)
    counts = csr_matrix((np.ones(words.size), words.ravel(), starts), shape=(n_rows, 50_000))
    counts.sum_duplicates()
    return counts, generator.integers(0, 20, n_rows)


def text_fits(n_rows: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import MultinomialNB

    import bayeswise as bw

    counts, groups = documents(n_rows)
    return (
        lambda: bw.NaiveBayes(families="multinomial").fit(counts, groups),
        lambda: MultinomialNB().fit(counts, groups),
    )


def text_predictions(n_rows: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import MultinomialNB

    import bayeswise as bw

    counts, groups = documents(n_rows)
    ours = bw.NaiveBayes(families="multinomial").fit(counts, groups)
    peer = MultinomialNB().fit(counts, groups)
    return partial(ours.predict_proba, counts), partial(peer.predict_proba, counts)


def mixed_csv(n_rows: int, path: Path) -> None:
    """Ten numbers, five categories and a class."""
    import pandas as pd

    generator = np.random.default_rng(0)
    numbers = {f"number{k}": generator.standard_normal(n_rows).round(6) for k in range(10)}
    colours = np.array(["red", "green", "blue", "white", "black"])
    categories = {f"colour{k}": colours[generator.integers(0, len(colours), n_rows)] for k in range(5)}
    target = {"y": np.array(["no", "yes"])[generator.integers(0, 2, n_rows)]}
    pd.DataFrame(numbers | categories | target).to_csv(path, index=False)


def file_to_model(n_rows: int) -> tuple[Task, Task]:
    import pandas as pd
    from sklearn.naive_bayes import CategoricalNB, GaussianNB
    from sklearn.preprocessing import OrdinalEncoder

    import bayeswise as bw

    folder = tempfile.TemporaryDirectory(prefix="bayeswise-bench-")
    path = Path(folder.name) / "mixed.csv"
    mixed_csv(n_rows, path)

    def ours() -> None:
        bw.fit(str(path), target="y", model="naive-bayes").save(Path(folder.name) / "model.bayes")

    def peer() -> None:
        frame = pd.read_csv(path)
        numbers = [name for name in frame if name.startswith("number")]
        categories = [name for name in frame if name.startswith("colour")]
        GaussianNB().fit(frame[numbers].to_numpy(), frame["y"])
        CategoricalNB().fit(OrdinalEncoder().fit_transform(frame[categories]).astype(int), frame["y"])

    return ours, peer


def one_row() -> float:
    """The time of one prediction from a fitted model, the row already encoded."""
    import bayeswise as bw

    values, groups = gaussian_rows(10_000, 20, 2)
    model = bw.NaiveBayes().fit(values, groups).model_
    [batch] = model.batches(values[:1])
    [best] = best_of(5, lambda: [model.posterior(batch) for _ in range(1_000)])
    return best / 1_000


def rows(size: Size) -> Iterator[Row]:
    million, fifth = size.rows(1_000_000), size.rows(200_000)
    yield Race(f"fit {million:,} x 20, 2 classes | GaussianNB", partial(gaussian_fits, million, 20), at_least=8)
    yield Race(
        f"fit {million:,} x 20, {N_VALUES} values | CategoricalNB", partial(categorical_fits, million, 20), at_least=30
    )
    for n_rows, n_columns, n_classes, target in ((million, 20, 2, 8), (fifth, 100, 10, 8), (million, 20, 50, 20)):
        yield Race(
            f"predict {n_rows:,} x {n_columns}, {n_classes} classes | GaussianNB",
            partial(gaussian_predictions, n_rows, n_columns, n_classes),
            at_least=target,
        )
    yield Race(
        f"predict {million:,} x 20, {N_VALUES} values | CategoricalNB",
        partial(categorical_predictions, million, 20),
        at_least=8,
    )
    yield Race(f"text {fifth:,} x 50,000 fit | MultinomialNB", partial(text_fits, fifth), at_least=2)
    yield Race(f"text {fifth:,} x 50,000 predict | MultinomialNB", partial(text_predictions, fifth), at_least=1)
    yield Race(f"mixed CSV {million:,} rows to model | pandas + fits", partial(file_to_model, million), at_least=3)
    yield Figure("predict one row from a model", one_row, at_most=50e-6)
