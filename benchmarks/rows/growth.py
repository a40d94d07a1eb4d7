"""How the time of a naive Bayes fit and prediction grows with rows, columns, classes and levels, as an exponent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Row, Size, best_of

Table = Callable[[int], tuple[Any, Any]]


def by_rows(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).normal(size=(n, 20)), np.arange(n) % 3


def by_columns(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).normal(size=(200, n)), np.arange(200) % 3


def by_classes(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).normal(size=(20_000, 20)), np.arange(20_000) % n


def by_levels(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).integers(0, n, (100_000, 3)), np.arange(100_000) % 3


def exponent(table: Table, sizes: Sequence[int], repeats: int, *, categories: bool = False) -> float:
    """The slope of log time over log size, by least squares: 1 is linear."""
    import bayeswise as bw

    seconds = []
    for size in sizes:
        values, groups = table(size)
        model = bw.NaiveBayes(families="categorical") if categories else bw.NaiveBayes()

        def fit_and_ask(model: Any = model, values: Any = values, groups: Any = groups) -> None:
            model.fit(values, groups).predict_proba(values[:100])

        seconds += best_of(repeats, fit_and_ask)
    return max(0.0, float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]))


def rows(size: Size) -> Iterator[Row]:
    grown = (
        ("rows", by_rows, (10_000, 100_000, 1_000_000), False),
        ("columns", by_columns, (10, 200, 2_000, 20_000), False),
        ("classes", by_classes, (2, 100, 1_000, 10_000), False),
        ("levels", by_levels, (10, 1_000, 100_000), True),
    )
    for what, table, sizes, categories in grown:
        chosen = sizes if size.scale >= 1 else sizes[:2]
        measure = partial(exponent, table, chosen, min(size.repeats, 3), categories=categories)
        yield Figure(f"growth with {what}, {chosen[0]:,} to {chosen[-1]:,}", measure, at_most=1.1, unit="(exponent)")
