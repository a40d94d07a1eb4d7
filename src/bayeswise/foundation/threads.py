"""One pool of threads for everything: whoever has work to share borrows helpers, and works too.

A limit holds for all that is done inside of it: our own threads, those of BLAS and OpenMP, of DuckDB and of Arrow.
Kernels are single-threaded and release the GIL, so a thread at work is a core in use.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bayeswise.foundation.errors import ParameterError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

__all__ = [
    "Shared",
    "ahead",
    "available",
    "each",
    "let_idle_threads_sleep",
    "limit_threads",
]

Item = TypeVar("Item")
Answer = TypeVar("Answer")

POLARS = "POLARS_MAX_THREADS"
"""The environment variable that says how many threads polars starts when it is imported."""


def cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Crew:
    """So many threads may work at a time; the one that asks is one of them."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._free = threads - 1
        self._lock = threading.Lock()
        self._short: list[Shared[Any, Any]] = []  # work that got fewer helpers than it has use for

    def borrow(self, most: int) -> int:
        """Take up to so many helpers, those that are free."""
        with self._lock:
            taken = max(0, min(most, self._free))
            self._free -= taken
        return taken

    def give_back(self, helpers: int) -> None:
        with self._lock:
            self._free += helpers

    def list_as_short(self, work: Shared[Any, Any]) -> None:
        """A helper that has nothing left to do may go on with this work."""
        with self._lock:
            self._short.append(work)

    def strike(self, work: Shared[Any, Any]) -> None:
        """The work needs no more helpers."""
        with self._lock:
            if work in self._short:
                self._short.remove(work)

    def short_of_helpers(self) -> Shared[Any, Any] | None:
        """The work that was listed last: what others wait for."""
        with self._lock:
            return self._short[-1] if self._short else None

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While the thread that asks waits, another may work in its place."""
        self.give_back(1)
        try:
            yield
        finally:
            self.give_back(-1)


class _Pool:
    """Helpers, each a thread of its own; those without work are kept for the next caller.

    An executor of many threads starts another one whenever the last is not idle yet: after a thousand short tasks,
    one by one, it has a hundred. A helper that gets a task while it finishes another runs it afterwards.
    """

    def __init__(self) -> None:
        self._idle: list[ThreadPoolExecutor] = []
        self._lock = threading.Lock()

    def helper(self) -> ThreadPoolExecutor:
        """An idle one, else a new one, whose thread starts with its first task."""
        from concurrent.futures import ThreadPoolExecutor  # late: a small table needs no helper

        with self._lock:
            return self._idle.pop() if self._idle else ThreadPoolExecutor(1, thread_name_prefix="bayeswise")

    def keep(self, helper: ThreadPoolExecutor, most: int) -> None:
        """Keep a helper for others, unless so many are idle already."""
        with self._lock:
            self._idle.append(helper)
        self.shrink(most)

    def shrink(self, most: int) -> None:
        """Let the threads of all idle helpers beyond so many end."""
        with self._lock:
            others, self._idle = self._idle[most:], self._idle[:most]
        for helper in others:
            helper.shutdown(wait=False)


class _Process:
    """The threads of this process, and how many may work unless there is a limit."""

    def __init__(self) -> None:
        self.pool = _Pool()
        self.crew = _Crew(cores())
        self.is_forked = False


_process = _Process()
_limited: ContextVar[_Crew | None] = ContextVar("bayeswise_threads", default=None)


def _after_fork() -> None:
    global _process
    _process = _Process()  # a forked process has none of its parent's threads
    _process.is_forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _crew() -> _Crew:
    return _limited.get() or _process.crew


def is_forked() -> bool:
    """Whether this process has lost the threads that libraries had started in its parent."""
    return _process.is_forked


def available() -> int:
    """How many threads may work at a time: the cores of this process, or the limit.

    >>> with limit_threads(1):
    ...     available()
    1
    """
    return _crew().threads


def is_limited() -> bool:
    """Whether fewer threads may work at a time than this process has cores."""
    return available() < cores()


def cap_threads(threads: int) -> None:
    """Let so many threads of this process work at a time, where a limit does not say less."""
    _process.crew = _Crew(threads)


IDLE_THREADS_SLEEP = ("OPENBLAS_THREAD_TIMEOUT", "20")
"""The environment variable for it: 2^20 cycles; 2^26 unless set."""


def let_idle_threads_sleep() -> None:
    """Let threads of OpenBLAS wait for work for half a millisecond instead of 30, unless the user says how long.

    They start at the import of NumPy and SciPy, and until they sleep each of them keeps a core busy: longer than a
    command on a small table takes.
    """
    os.environ.setdefault(*IDLE_THREADS_SLEEP)


def each(work: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
    """The work on each item, in order; of several errors, the first in order is raised.

    >>> each(str.upper, ["a", "b"])
    ['A', 'B']
    """
    every = list(items)
    return list(Shared(work, every)) if len(every) > 1 else [work(item) for item in every]


class Shared(Generic[Item, Answer]):
    """Work that helpers begin at once, as far as any are free; whoever asks for the answers does what is left.

    Nobody waits for a thread that has not begun, so work may share parts of itself in turn. Helpers that were not free
    come when they are, as long as there are parts that nobody has begun.

    >>> list(Shared(len, ["one", "three"]))
    [3, 5]
    """

    def __init__(
        self,
        work: Callable[[Item], Answer],
        items: Iterable[Item],
        helpers: int | None = None,
        stop: Callable[[], None] | None = None,
    ) -> None:
        self._work = work
        self._stop = stop  # called when an interrupt or an error ends the work, before helpers are waited for
        self._items: Sequence[Item] = list(items)
        self._crew = _crew()
        self._context = copy_context()
        self._lock = threading.Lock()  # of what says whether helpers may come, and who came
        self._helpers: list[tuple[Future[None], ThreadPoolExecutor]] = []
        most = min(self._crew.threads - 1, len(self._items) - 1 if helpers is None else helpers)
        n_helpers = self._crew.borrow(most)
        self._missing = most - n_helpers  # helpers that would be of use
        self._is_shared = most > 0
        self._answers: list[Future[Answer]] = self._promised() if self._is_shared else []
        self._left = deque(range(len(self._answers)))
        if self._missing:
            self._crew.list_as_short(self)
        self._hire(n_helpers)

    def _promised(self) -> list[Future[Answer]]:
        from concurrent.futures import Future

        return [Future() for _ in self._items]

    def _hire(self, helpers: int) -> None:
        """As many of the helpers as threads can be started: a machine may allow fewer than it has cores."""
        for k in range(helpers):
            if not self._is_helped_by(_process.pool.helper()):
                self._crew.give_back(helpers - k)
                return

    def _is_helped_by(self, helper: ThreadPoolExecutor) -> bool:
        """Let a helper begin, unless its thread cannot be started."""
        try:
            task = helper.submit(self._context.copy().run, self._help, helper)
        except RuntimeError:
            return False
        self._helpers.append((task, helper))
        return True

    def _gains(self, helper: ThreadPoolExecutor) -> bool:
        """Let a helper that has become free begin, if it is still of use."""
        with self._lock:
            is_of_use = self._missing > 0 and bool(self._left) and self._is_helped_by(helper)
            self._missing = self._missing - 1 if is_of_use else 0
        if not self._missing:
            self._crew.strike(self)
        return is_of_use

    def __iter__(self) -> Iterator[Answer]:
        """The answers in order, each as soon as it is there."""
        if not self._is_shared:
            yield from map(self._work, self._items)
            return
        try:
            for answer in self._answers:
                while not answer.done() and self._take_one():
                    pass
                if not answer.done():
                    with self._crew.lent():
                        answer.exception()
                yield answer.result()
        except BaseException:
            if self._stop is not None:
                self._stop()
            raise
        finally:
            self._dismiss()

    def give_up(self) -> None:
        """Begin no other part; nobody will ask for the answers."""
        self._dismiss()

    def _help(self, helper: ThreadPoolExecutor) -> None:
        try:
            while self._take_one():
                pass
        finally:
            self._release(helper)

    def _release(self, helper: ThreadPoolExecutor) -> None:
        """The helper goes on with work that is short of helpers. If there is none, it is idle before another may be
        borrowed in its place, so that no thread is started needlessly.
        """
        while (other := self._crew.short_of_helpers()) is not None:
            if other._gains(helper):
                return
        _process.pool.keep(helper, self._crew.threads - 1)
        self._crew.give_back(1)

    def _take_one(self) -> bool:
        """Do the next part; after an error nobody begins another one."""
        try:
            k = self._left.popleft()
        except IndexError:
            return False
        try:
            self._answers[k].set_result(self._work(self._items[k]))
        except BaseException as error:
            self._left.clear()
            self._answers[k].set_exception(error)
            if not isinstance(error, Exception):  # an interrupt is for the thread that it reached
                raise
        return True

    def _dismiss(self) -> None:
        """Send home the helpers that have not begun, and wait for the others to finish their part."""
        self._left.clear()
        with self._lock:  # nobody comes from here on
            is_listed, self._missing = self._missing > 0, 0
            helpers, self._helpers = self._helpers, []
        if is_listed:
            self._crew.strike(self)
        for task, helper in helpers:
            if task.cancel():
                self._release(helper)
        for task, _ in helpers:
            if not task.cancelled():
                task.exception()


def ahead(items: Iterator[Item], stop: Callable[[], None] | None = None) -> Iterator[Item]:
    """The same items, each made by a helper, if one is free, while the one before is in use.

    `stop` is called at the end, so that a helper which still works on an item that nobody waits for can give up.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    end: Any = object()

    def following() -> Shared[None, Item]:
        return Shared(lambda _: next(items, end), [None], helpers=1, stop=stop)

    coming = following()
    try:
        while True:
            (item,) = coming
            if item is end:
                return
            coming = following()
            yield item
    finally:
        if stop is not None:
            stop()
        coming.give_up()
        if isinstance(items, Generator):  # a sweep that is given up leaves no stream and no file open
            items.close()


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """Limit the threads of everything inside the block: ours, those of BLAS and OpenMP, of DuckDB and of Arrow.

    None sets no limit; a limit inside another never exceeds it. The pool of polars has the size that the environment
    variable POLARS_MAX_THREADS gave it when polars was imported: a lazy frame that needs more than the limit says so.

    >>> import bayeswise as bw
    >>> with bw.limit_threads(1):
    ...     model = bw.fit({"wind": ["weak", "strong"], "play": ["yes", "no"]}, "play", model="naive-bayes")
    """
    if threads is None:
        yield
        return
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ParameterError(f"threads is {threads!r}, which is not a number of threads", fix="give 1 or more")
    outer = _limited.get()
    most = threads if outer is None else min(threads, outer.threads)
    before = _limited.set(_Crew(most))
    try:
        with _limited_libraries(most):
            yield
    finally:
        _limited.reset(before)
        _process.pool.shrink(_crew().threads - 1)


@contextmanager
def alone() -> Iterator[None]:
    """Work on the calling thread alone, where a cluster's scheduler gives the other cores to other tasks."""
    before = _limited.set(_Crew(1))
    try:
        yield
    finally:
        _limited.reset(before)


_late_limits: ExitStack | None = None  # of a block that was entered before scipy's BLAS was loaded


@contextmanager
def algebra_on_one_thread() -> Iterator[None]:
    """Keep BLAS to one thread while many small systems are solved: threads that wait for each other cost more."""
    global _late_limits
    from threadpoolctl import threadpool_limits

    outer = _late_limits
    with ExitStack() as limits:
        limits.enter_context(threadpool_limits(limits=1, user_api="blas"))
        _late_limits = limits if "scipy.linalg" not in sys.modules else None
        try:
            yield
        finally:
            _late_limits = outer


def scipy_linalg() -> Any:
    """The module, whose BLAS is another one than NumPy's: loaded in `algebra_on_one_thread`, it is limited, too."""
    global _late_limits
    import scipy.linalg

    if _late_limits is not None:
        from threadpoolctl import threadpool_limits

        limits, _late_limits = _late_limits, None
        limits.enter_context(threadpool_limits(limits=1, user_api="blas"))
    return scipy.linalg


@contextmanager
def _limited_libraries(threads: int) -> Iterator[None]:
    import scipy.linalg  # noqa: F401  its BLAS is another one than NumPy's, and must be loaded to be limited
    from threadpoolctl import threadpool_limits

    arrow = sys.modules.get("pyarrow")
    before = 0 if arrow is None else int(arrow.cpu_count())
    if arrow is not None:
        arrow.set_cpu_count(min(threads, before))
    try:
        with threadpool_limits(limits=min(threads, cores())):
            yield
    finally:
        if arrow is not None:
            arrow.set_cpu_count(before)
