"""The rows of a pool, part by part; another thread takes parts of many, if it comes in time."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

Work: TypeAlias = Callable[[slice], None]

_ROWS = 32_768  # what is believed of them stays in the second-level cache


class Parts:
    """Work for ranges of rows, each done once.

    >>> Parts(100, size=200)(print)
    slice(0, 100, None)
    """

    def __init__(self, n_rows: int, size: int = _ROWS) -> None:
        self._ranges = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
        alone = len(self._ranges) < 2 or (os.cpu_count() or 1) < 2
        self._other_thread = None if alone else ThreadPoolExecutor(1)

    def __call__(self, work: Work) -> None:
        """Do the work for all rows; nobody waits for a thread that has not begun."""
        left = iter(self._ranges)

        def take_parts() -> None:
            for rows in left:
                work(rows)

        other = None if self._other_thread is None else self._other_thread.submit(take_parts)
        take_parts()
        if other is not None and not other.cancel():
            other.result()
