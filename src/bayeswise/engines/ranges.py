"""Ranges of rows on threads: for work that writes each row's answer to its own place."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

ROWS_WORTH_A_THREAD = 20_000


def row_ranges(n_rows: int, n_ranges: int) -> list[slice]:
    """At most so many ranges, each worth a thread.

    >>> row_ranges(100, 4), row_ranges(50_000, 4)
    ([slice(0, 100, None)], [slice(0, 25000, None), slice(25000, 50000, None)])
    """
    useful = min(n_ranges, n_rows // ROWS_WORTH_A_THREAD)
    if useful <= 1:
        return [slice(0, n_rows)]
    edges = np.linspace(0, n_rows, useful + 1).astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(edges)]


def over_ranges(work: Callable[[slice], None], n_rows: int, threads: int | None = None) -> None:
    """Do the work for every range of rows; the first error is raised."""
    if n_rows < 2 * ROWS_WORTH_A_THREAD or threads == 1:
        work(slice(0, n_rows))
        return
    ranges = row_ranges(n_rows, threads or os.cpu_count() or 1)
    with ThreadPoolExecutor(len(ranges)) as pool:
        for job in [pool.submit(work, rows) for rows in ranges]:
            job.result()
