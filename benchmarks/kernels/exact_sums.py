"""Exact kernels on two threads beside scikit-learn's fit, and beside reading the array once; best of several runs.

python benchmarks/kernels/exact_sums.py [moments] [scatter] [counts]
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from bayeswise import _kernels

THREADS = 2
REPEATS = 7


def best_time(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds of the fastest run."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def on_threads(pool: ThreadPoolExecutor, work: Callable[[slice], Any], n_rows: int) -> list[Any]:
    cuts = np.linspace(0, n_rows, THREADS + 1).astype(int)
    return list(pool.map(work, [slice(a, b) for a, b in itertools.pairwise(cuts)]))


def report(name: str, ours: float, reading: float, peer: float) -> None:
    print(
        f"{name:44} ours {ours * 1e3:8.1f} ms   reading {reading * 1e3:6.1f} ms ({ours / reading:5.2f}x)"
        f"   scikit-learn {peer * 1e3:8.1f} ms   {peer / ours:6.1f} times faster",
        flush=True,
    )


def gaussian_table(n_rows: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.standard_normal((n_rows, n_columns)), random.integers(0, n_classes, n_rows, dtype=np.int32)


def compare_sums(pool: ThreadPoolExecutor, kernel: Any, peer: Any, shapes: list[tuple[int, int, int]]) -> None:
    for n_rows, n_columns, n_classes in shapes:
        values, classes = gaussian_table(n_rows, n_columns, n_classes)

        def ours(rows: slice, values: Any = values, classes: Any = classes, n_classes: int = n_classes) -> Any:
            return kernel(values[rows], classes[rows], n_classes)

        def reading(rows: slice, values: Any = values) -> Any:
            return np.max(values[rows])

        report(
            f"{kernel.__name__} {n_rows:,} x {n_columns}, {n_classes} classes",
            best_time(lambda: on_threads(pool, ours, n_rows)),  # noqa: B023
            best_time(lambda: on_threads(pool, reading, n_rows)),  # noqa: B023
            best_time(lambda: peer().fit(values, classes), 3) if peer else float("nan"),  # noqa: B023
        )


def compare_counts(pool: ThreadPoolExecutor, peer: Any) -> None:
    n_rows, n_columns, n_values = 1_000_000, 20, 10
    sizes = np.full(n_columns, n_values, dtype=np.int64)
    random = np.random.default_rng(0)
    codes = random.integers(0, n_values, (n_rows, n_columns))
    for n_classes in (2, 10):
        classes = random.integers(0, n_classes, n_rows, dtype=np.int32)

        def ours(rows: slice, classes: Any = classes, n_classes: int = n_classes) -> Any:
            return _kernels.counts(codes[rows], sizes, classes[rows], n_classes)

        report(
            f"counts {n_rows:,} x {n_columns}, {n_values} values, {n_classes} classes",
            best_time(lambda: on_threads(pool, ours, n_rows)),
            best_time(lambda: on_threads(pool, lambda rows: np.max(codes[rows]), n_rows)),
            best_time(lambda: peer().fit(codes, classes), 2) if peer else float("nan"),  # noqa: B023
        )


def main(wanted: list[str]) -> None:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    with_peers = "--ours" not in wanted
    wanted = [name for name in wanted if name != "--ours"] or ["moments", "scatter", "counts"]
    with ThreadPoolExecutor(THREADS) as pool:
        if "moments" in wanted:
            shapes = [(1_000_000, 20, 2), (1_000_000, 20, 50), (200_000, 100, 10)]
            compare_sums(pool, _kernels.moments, GaussianNB if with_peers else None, shapes)
        if "scatter" in wanted:
            shapes = [(1_000_000, 20, 2), (200_000, 100, 10)]
            compare_sums(pool, _kernels.scatter, QuadraticDiscriminantAnalysis if with_peers else None, shapes)
        if "counts" in wanted:
            compare_counts(pool, CategoricalNB if with_peers else None)


if __name__ == "__main__":
    main(sys.argv[1:])
