"""Exact statistics of arrays in memory, on all threads, beside the fits of scikit-learn that need the same sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from bayeswise.engines import Request, summarise
from bayeswise.statistics import Moments, Scatter
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema, Target
from benchmarks.harness import Race, Row, Size, Task

EVERY_ISA = True
N_VALUES = 10


def gaussian_rows(n_rows: int, n_columns: int, n_classes: int) -> tuple[Any, Any]:
    """Normal columns whose mean depends on the class."""
    generator = np.random.default_rng(0)
    groups = generator.integers(0, n_classes, n_rows).astype(np.int32)
    values = generator.standard_normal((n_rows, n_columns)) + 0.1 * groups[:, None]
    return values, groups


def numbers(values: Any, groups: Any, summary: Callable[..., Any]) -> Task:
    """The task of summarising number columns through the local engine."""
    names = [f"x{k}" for k in range(values.shape[1])]
    classes = Vocabulary(range(int(groups.max()) + 1))
    schema = Schema(tuple(Column(name, "number") for name in names), Target("y", "integer"))
    no_codes = np.zeros((len(values), 0), dtype=np.int32)
    batch = Batch(len(values), values, no_codes, groups=groups, group_labels=classes)
    return partial(summarise, [batch], schema, Request.numbers("numbers", names, summary))


def against_gaussian_naive_bayes(n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import GaussianNB

    values, groups = gaussian_rows(n_rows, n_columns, n_classes)
    return numbers(values, groups, Moments.of), lambda: GaussianNB().fit(values, groups)


def against_reading_once(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    """The largest element is about the cheapest thing that needs every cell; NumPy takes it on one thread."""
    values, groups = gaussian_rows(n_rows, n_columns, 2)
    return numbers(values, groups, Moments.of), lambda: values.max()


def against_discriminant_analysis(n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    values, groups = gaussian_rows(n_rows, n_columns, n_classes)
    return numbers(values, groups, Scatter.of), lambda: QuadraticDiscriminantAnalysis().fit(values, groups)


def against_categorical_naive_bayes(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    from sklearn.naive_bayes import CategoricalNB

    generator = np.random.default_rng(0)
    codes = generator.integers(0, N_VALUES, (n_rows, n_columns)).astype(np.int32)
    groups = generator.integers(0, 2, n_rows).astype(np.int32)
    names = [f"x{k}" for k in range(n_columns)]
    levels = Vocabulary(range(N_VALUES))
    schema = Schema(tuple(Column(name, "category", "integer") for name in names), Target("y", "integer"))
    batch = Batch(
        n_rows,
        np.zeros((n_rows, 0)),
        codes,
        vocabularies=(levels,) * n_columns,
        groups=groups,
        group_labels=Vocabulary([0, 1]),
    )
    ours = partial(summarise, [batch], schema, Request.counts("counts", names))
    return ours, lambda: CategoricalNB().fit(codes, groups)


def rows(size: Size) -> Iterator[Row]:
    million, fifth = size.rows(1_000_000), size.rows(200_000)
    for n_rows, n_columns, n_classes, target in ((million, 20, 2, 8), (million, 20, 50, 5), (fifth, 100, 10, 4)):
        yield Race(
            f"moments {n_rows:,} x {n_columns}, {n_classes} classes | GaussianNB.fit",
            partial(against_gaussian_naive_bayes, n_rows, n_columns, n_classes),
            at_least=target,
        )
    yield Race(
        f"moments {million:,} x 20, 2 classes | reading once",
        partial(against_reading_once, million, 20),
        at_least=1 / 3,
    )
    yield Race(
        f"counts {million:,} x 20, {N_VALUES} values | CategoricalNB.fit",
        partial(against_categorical_naive_bayes, million, 20),
        at_least=30,
    )
    for n_rows, n_columns, n_classes, target in ((million, 20, 2, 4), (max(fifth, 2_000), 100, 10, 1)):
        yield Race(
            f"scatter {n_rows:,} x {n_columns}, {n_classes} classes | QDA.fit",
            partial(against_discriminant_analysis, n_rows, n_columns, n_classes),
            at_least=target,
        )
