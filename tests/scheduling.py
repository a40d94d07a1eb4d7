"""How the workers of pytest-xdist share the tests: file by file, and files that take long first.

What a file sets up (a browser, a server, fitted models) is then set up once, and no worker is left with a long file
when the other has ended. All tests of Spark are in files that have its name, and go to one worker: one process of Java.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer

# More than about 10 seconds each, the longest first.
LONG = (
    "tests/unit/engines/test_spark.py",
    "tests/unit/house/test_benchmarks.py",
    "tests/laws/models/test_left_out_rows.py",
    "tests/fuzz/test_fuzz.py",
    "tests/unit/models/auto/test_auto.py",
    "tests/unit/render/test_every_plot.py",
    "tests/unit/house/test_documentation.py",
    "tests/workbench/test_journeys.py",
    "tests/workbench/test_same_as.py",
    "tests/workbench/pages/test_network_page.py",
    "tests/cli/test_pipes.py",
    "tests/unit/estimators/test_auto.py",
    "tests/workbench/test_safety.py",
    "tests/laws/test_statistics_are_a_group.py",
    "tests/unit/kernels/exact/test_exact_moments.py",
    "tests/unit/models/test_comparing.py",
    "tests/unit/kernels/exact/test_exact_scatter.py",
    "tests/reference/exports/test_exported_queries.py",
    "tests/cli/test_interrupts.py",
    "tests/unit/house/test_public_names.py",
    "tests/unit/engines/test_dask.py",
    "tests/unit/networks/test_network_files.py",
    "tests/unit/house/test_site.py",
    "tests/workbench/pages/test_model_page.py",
)


def unit_of(nodeid: str) -> str:
    """The tests that one worker runs in one go.

    >>> unit_of("tests/laws/test_screen.py::test_a_row[x::y]"), unit_of("tests/cli/fit/test_spark_engine.py::test_a")
    ('tests/laws/test_screen.py', 'spark')
    """
    path = nodeid.partition("::")[0]
    return "spark" if "spark" in PurePath(path).name and path.startswith("tests/") else path


def is_last_of_spark(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Whether a worker needs no session of Spark after this test."""
    return unit_of(item.nodeid) == "spark" and (following is None or unit_of(following.nodeid) != "spark")


def longest_first(items: list[pytest.Item]) -> None:
    """Files in the order of LONG, then the others as they are; every worker does the same.

    What needs a cluster of Spark is the last of its unit: the session that the others share is started once.
    """
    place = {unit_of(path): k for k, path in enumerate(LONG)}
    items.sort(key=lambda item: (place.get(unit_of(item.nodeid), len(LONG)), _needs_cluster(item)))


def _needs_cluster(item: pytest.Item) -> bool:
    return "spark_cluster" in getattr(item, "fixturenames", ())


_turns: list[object] = []  # what this process holds


@contextmanager
def by_turns() -> Iterator[None]:
    """What starts processes and threads by the hundred, Spark or a browser, waits for the one in another worker.

    A machine may limit how many there are. The lock is on this file, so that nothing is left behind.
    """
    if _turns:
        yield
        return
    with Path(__file__).open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        _turns.append(turn)
        try:
            yield
        finally:
            _turns.clear()


def scheduler(config: pytest.Config, log: Producer) -> object:
    """File by file, in the order in which they were collected."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False
    return ByFile(config, log)
