"""Limits on threads and processes: libraries are held to them, and a refused thread is an error with its remedy."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bayeswise.foundation.errors import TooManyThreadsError
from bayeswise.foundation.threads import POLARS, cap_threads, cores

__all__ = ["keep_to_process_limit", "refused_thread", "starting"]

_MANY_PROCESSES = 10_000  # a limit above leaves room for every thread
_LIMITS = ("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max")
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", POLARS)


def keep_to_process_limit() -> None:
    """If the limit is too low for all libraries that may be imported, give each of them one thread, and cap ours.

    OpenBLAS starts its threads at the import of NumPy and SciPy, and interrupts the process if it cannot.
    """
    if _process_limit() < _MANY_PROCESSES and not _can_start(4 * cores()):
        for name in _ONE_THREAD:
            os.environ.setdefault(name, "1")
        cap_threads(1)


def _process_limit() -> float:
    """The maximum number of processes and threads of this user or container."""
    limits = [math.inf]
    with suppress(ImportError):
        import resource

        own = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        limits.append(math.inf if own == resource.RLIM_INFINITY else own)
    for path in _LIMITS:
        with suppress(OSError, ValueError):  # no such folder, or "max"
            limits.append(int(Path(path).read_text()))
    return min(limits)


def _can_start(threads: int) -> bool:
    """Whether this many threads can run at the same time."""
    over, started = threading.Event(), []
    try:
        for _ in range(threads):
            thread = threading.Thread(target=over.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        over.set()
        for thread in started:
            thread.join()
    return True


def refused_thread(error: Exception) -> TooManyThreadsError | None:
    """The error to raise in place of Python's "can't start new thread"; None for any other error.

    >>> refused_thread(RuntimeError("can't start new thread"))
    TooManyThreadsError('no further thread or process can be started on this machine. Fix: ...')
    """
    if not isinstance(error, RuntimeError) or "start new thread" not in str(error):
        return None
    return _too_many_threads()


def _too_many_threads() -> TooManyThreadsError:
    return TooManyThreadsError(
        "no further thread or process can be started on this machine",
        fix="end other processes, or raise their limit (ulimit -u, or that of the container)",
    )


@contextmanager
def starting() -> Iterator[None]:
    """Around the start of a thread or process that is needed: raise TooManyThreadsError if it is refused."""
    try:
        yield
    except BlockingIOError as error:  # of a fork
        raise _too_many_threads() from error
    except RuntimeError as error:
        if (refused := refused_thread(error)) is None:
            raise
        raise refused from error
