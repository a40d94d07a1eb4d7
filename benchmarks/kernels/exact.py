"""The exact kernels on two threads, beside scikit-learn, beside reading the array once, and in harder layouts.

`python -m benchmarks.kernels.exact moments` runs the rows whose name contains a word.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from bayeswise import _kernels
from benchmarks.harness import Race, Row, Size, Task, run_all

THREADS = 2
pool = ThreadPoolExecutor(THREADS)


def on_threads(work: Callable[[slice], object], n_rows: int) -> Task:
    """The task of working on one slice of the rows on each thread."""
    cuts = np.linspace(0, n_rows, THREADS + 1).astype(int)
    slices = [slice(first, last) for first, last in pairwise(cuts)]
    return lambda: list(pool.map(work, slices))


def gaussian_rows(n_rows: int, n_columns: int, n_classes: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    classes = generator.integers(0, n_classes, n_rows, dtype=np.int32)
    return generator.standard_normal((n_rows, n_columns)), classes


def sums(kernel: Any, values: Any, classes: Any, n_classes: int, weights: Any = None) -> Task:
    def work(rows: slice) -> object:
        return kernel(values[rows], classes[rows], n_classes, None if weights is None else weights[rows])

    return on_threads(work, len(values))


def reading(values: Any) -> Task:
    """The largest element is about the cheapest thing that needs every cell."""
    return on_threads(lambda rows: values[rows].max(), len(values))


def against_fit(kernel: Any, peer: str, n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.naive_bayes import GaussianNB

    values, classes = gaussian_rows(n_rows, n_columns, n_classes)
    estimator: Any = {"GaussianNB": GaussianNB, "QDA": QuadraticDiscriminantAnalysis}[peer]
    return sums(kernel, values, classes, n_classes), lambda: estimator().fit(values, classes)


def against_reading(n_rows: int, n_columns: int, n_classes: int) -> tuple[Task, Task]:
    values, classes = gaussian_rows(n_rows, n_columns, n_classes)
    return sums(_kernels.moments, values, classes, n_classes), reading(values)


def against_categorical(n_rows: int, n_classes: int, dtype: Any) -> tuple[Task, Task]:
    from sklearn.naive_bayes import CategoricalNB

    generator = np.random.default_rng(0)
    codes = generator.integers(0, 10, (n_rows, 20)).astype(dtype)
    classes = generator.integers(0, n_classes, n_rows, dtype=np.int32)
    sizes = np.full(20, 10)

    def work(rows: slice) -> object:
        return _kernels.counts(codes[rows], sizes, classes[rows], n_classes)

    return on_threads(work, n_rows), lambda: CategoricalNB().fit(codes, classes)


def with_missing(values: Any, share: float) -> Any:
    return np.where(np.random.default_rng(1).random(values.shape) < share, np.nan, values)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "column by column in memory": np.asfortranarray,
    "float32": lambda values: values.astype(np.float32),
    "0.1 % missing": lambda values: with_missing(values, 0.001),
    "10 % missing": lambda values: with_missing(values, 0.1),
    "log-normal, sigma 3": lambda values: np.exp(3 * values),
}


def against_plain(kernel: Any, layout: Callable[[Any], Any], n_rows: int) -> tuple[Task, Task]:
    """The same sums of a harder array, beside normal doubles in rows."""
    values, classes = gaussian_rows(n_rows, 20, 2)
    return sums(kernel, layout(values), classes, 2), sums(kernel, values, classes, 2)


def against_unweighted(kernel: Any, n_rows: int) -> tuple[Task, Task]:
    values, classes = gaussian_rows(n_rows, 20, 2)
    weights = np.random.default_rng(1).random(n_rows)
    return sums(kernel, values, classes, 2, weights), sums(kernel, values, classes, 2)


def rows(size: Size) -> Iterator[Row]:
    million, fifth = size.rows(1_000_000), size.rows(200_000)
    moments, scatter = _kernels.moments, _kernels.scatter
    for shape, target in (((million, 20, 2), 8), ((million, 20, 50), 5), ((fifth, 100, 10), 4)):
        setup = partial(against_fit, moments, "GaussianNB", *shape)
        yield Race(f"moments {shape[0]:,} x {shape[1]}, {shape[2]} classes | GaussianNB", setup, at_least=target)
    yield Race("moments | reading once", partial(against_reading, million, 20, 2), at_least=0.25)
    for shape, target in (((million, 20, 2), 4), ((fifth, 100, 10), 1)):
        setup = partial(against_fit, scatter, "QDA", *shape)
        yield Race(f"scatter {shape[0]:,} x {shape[1]}, {shape[2]} classes | QDA", setup, at_least=target)
    for n_classes, dtype in ((2, np.int64), (10, np.int64), (2, np.int8)):
        setup = partial(against_categorical, million, n_classes, dtype)
        yield Race(f"counts {np.dtype(dtype)}, {n_classes} classes | CategoricalNB", setup, at_least=30)
    for kernel in (moments, scatter):
        for name, layout in LAYOUTS.items():
            yield Race(f"{kernel.__name__} {name} | plain", partial(against_plain, kernel, layout, million))
        yield Race(f"{kernel.__name__} weighted | plain", partial(against_unweighted, kernel, million))


def main(words: list[str]) -> None:
    size = Size()
    selected = [row for row in rows(size) if not words or any(word in row.what for word in words)]
    run_all(selected, size, partial(print, flush=True))


if __name__ == "__main__":
    main(sys.argv[1:])
