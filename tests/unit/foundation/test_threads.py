"""One pool of threads, and a limit that holds for all of it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation import threads
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.threads import Shared, ahead, alone, available, each, limit_threads


class Gauge:
    """How many threads are inside of it, and how many were at most; the first wait for those that are expected."""

    def __init__(self, expected: int = 1) -> None:
        self.lock, self.here, self.most, self.expected = threading.Condition(), 0, 0, expected

    def __call__(self, _: object = None) -> None:
        with self.lock:
            self.here += 1
            self.most = max(self.most, self.here)
            self.lock.notify_all()
            self.lock.wait_for(lambda: self.most >= self.expected, timeout=10)
        time.sleep(0.01)  # for those that should not come
        with self.lock:
            self.here -= 1


def most_at_once(expected: int) -> int:
    gauge = Gauge(expected)
    each(gauge, range(12))
    return gauge.most


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_so_many_threads_work_at_a_time_and_no_more(limit: int) -> None:
    with limit_threads(limit):
        assert available() == limit
        assert most_at_once(limit) == limit


def test_a_limit_inside_another_never_exceeds_it() -> None:
    with limit_threads(2), limit_threads(8):
        assert available() == 2
        assert most_at_once(2) == 2


def test_a_task_of_a_cluster_works_alone() -> None:
    with limit_threads(3):
        with alone():
            assert available() == 1
            assert set(each(lambda _: threading.get_ident(), range(8))) == {threading.get_ident()}
        assert available() == 3


def test_work_may_share_parts_of_itself_within_the_same_limit() -> None:
    gauge = Gauge()

    def tree(depth: int) -> int:
        if depth:
            return sum(each(tree, [depth - 1] * 3))
        gauge()
        return 1

    with limit_threads(3):
        assert tree(4) == 81
    assert 1 < gauge.most <= 3


def test_answers_come_in_order_and_the_first_error_is_raised() -> None:
    def work(number: int) -> int:
        time.sleep(0.001 * (5 - number % 5))
        if number in (7, 23):
            raise ValueError(number)
        return number

    with limit_threads(4):
        assert each(work, range(7)) == list(range(7))
        for _ in range(5):
            with pytest.raises(ValueError, match=r"^7$"):
                each(work, range(40))


def test_helpers_begin_before_anybody_asks_for_the_answers() -> None:
    begun = threading.Event()
    with limit_threads(2):
        shared = Shared(lambda _: begun.set(), [0], helpers=1)
        assert begun.wait(10)
        assert list(shared) == [None]


def test_items_made_ahead_come_in_order_and_are_closed_when_given_up() -> None:
    closed = []

    def numbers() -> Iterator[int]:
        try:
            yield from range(1_000)
        finally:
            closed.append(True)

    for limit in (1, 2):
        with limit_threads(limit):
            assert list(ahead(numbers())) == list(range(1_000))
            some = ahead(numbers())
            assert [next(some) for _ in range(5)] == list(range(5))
            some.close()  # type: ignore[attr-defined]
    assert closed == 4 * [True]


def test_with_one_thread_nothing_is_made_ahead() -> None:
    made_by = []

    def numbers() -> Iterator[int]:
        for number in range(5):
            made_by.append(threading.current_thread())
            yield number

    with limit_threads(1):
        list(ahead(numbers()))
    assert set(made_by) == {threading.current_thread()}


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "2"])
def test_what_is_not_a_number_of_threads_is_refused(limit: object) -> None:
    with pytest.raises(ParameterError, match="not a number of threads"), limit_threads(limit):  # type: ignore[arg-type]
        pass


def test_a_helper_that_becomes_free_goes_on_with_work_that_has_begun() -> None:
    free, joined = threading.Event(), threading.Event()
    owner = threading.current_thread()

    def work(_: int) -> bool:
        if threading.current_thread() is owner:
            free.set()
            return joined.wait(10)
        joined.set()
        return True

    with limit_threads(2):
        busy = Shared(lambda _: free.wait(10), [None], helpers=1)
        assert each(work, range(4)) == [True] * 4  # the first part ends when somebody else has begun the second
        assert list(busy) == [True]


def test_work_that_nobody_asks_about_is_struck_off_the_list_of_what_is_short_of_helpers() -> None:
    free = threading.Event()
    with limit_threads(2):
        busy = Shared(lambda _: free.wait(10), [None], helpers=1)
        forgotten = Shared(abs, range(3))
        given_up = Shared(abs, range(3))
        given_up.give_up()
        assert threads._crew()._short == [forgotten]
        free.set()
        assert list(busy) == [True]
        assert list(forgotten) == [0, 1, 2]
        assert threads._crew()._short == []


def test_threads_that_share_within_each_other_and_fail_at_random_leave_nothing_behind() -> None:
    def work(depth: int, number: int) -> int:
        if number % 97 == 13:
            raise ValueError(number)
        if depth == 0:
            return number
        return sum(each(lambda k: work(depth - 1, 7 * number + k), range(number % 4 + 1)))

    def outcome(number: int) -> object:
        try:
            return work(4, number)
        except ValueError as error:
            return str(error)

    with limit_threads(1):
        expected = [outcome(number) for number in range(60)]
    with limit_threads(4):
        for _ in range(5):
            assert each(outcome, range(60)) == expected
            assert [outcome(number) for number in range(60)] == expected
        until = time.monotonic() + 10
        while threads._crew()._free < 3 and time.monotonic() < until:
            time.sleep(0.01)
        assert threads._crew()._free == 3
        assert threads._crew()._short == []


def test_all_helpers_are_free_again_after_errors_and_abandoned_work() -> None:
    def fail(_: int) -> None:
        raise ValueError

    with limit_threads(4):
        for _ in range(20):
            with pytest.raises(ValueError):
                each(fail, range(9))
            next(iter(Shared(abs, range(9))))
        assert most_at_once(4) == 4


def test_a_helper_that_never_began_is_given_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_process", threads._Process())
    hold, busy = threading.Event(), ThreadPoolExecutor(1)
    busy.submit(hold.wait)
    monkeypatch.setattr(threads._process.pool, "helper", lambda: busy)
    with limit_threads(2):
        assert list(ahead(iter("abc"))) == ["a", "b", "c"]
        assert threads._crew()._free == 1
    hold.set()
    busy.shutdown()


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("bayeswise")]


def test_short_tasks_one_by_one_share_one_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_process", threads._Process())
    before = len(helpers())
    with limit_threads(2):
        for _ in range(20):
            list(ahead(iter(range(100))))
        assert len(helpers()) - before <= 1
    threads._process.pool.shrink(0)


def test_threads_beyond_the_limit_end_with_the_block_that_raised_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_process", threads._Process())
    threads._process.crew = threads._Crew(2)
    others = set(helpers())
    with limit_threads(9):
        assert most_at_once(9) == 9
        assert len(set(helpers()) - others) == 8
    until = time.monotonic() + 10
    while len(set(helpers()) - others) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(set(helpers()) - others) == 1
    assert each(abs, [-1, -2, -3]) == [1, 2, 3]
    threads._process.pool.shrink(0)


def test_blas_has_the_limit_too_and_its_own_number_afterwards() -> None:
    import scipy.linalg  # noqa: F401  it has a BLAS of its own
    from threadpoolctl import threadpool_info, threadpool_limits

    with threadpool_limits(limits=2):
        with limit_threads(1):
            inside = {library["num_threads"] for library in threadpool_info()}
        after = {library["num_threads"] for library in threadpool_info()}
    assert (inside, after) == ({1}, {2})


def test_a_blas_that_is_loaded_while_algebra_has_one_thread_has_one_too() -> None:
    script = """
from threadpoolctl import threadpool_info, threadpool_limits
from bayeswise.foundation.threads import algebra_on_one_thread, scipy_linalg
import numpy
def threads(): return sorted(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
with algebra_on_one_thread():
    before = threads()
    scipy_linalg()
    print(*before, "then", *threads())
    scipy_linalg()
print(len(threads()), set(threads()) == {2})
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert answer.stdout.splitlines() == ["1 then 1 1", "2 True"]


def test_a_scan_by_duckdb_has_the_limit(tmp_path: Path) -> None:
    import duckdb

    from bayeswise.tables.source import open_source

    path = tmp_path / "numbers.parquet"
    duckdb.sql(f"COPY (SELECT range AS x FROM range(10)) TO '{path}'")
    source = open_source(path)
    for limit in (1, 3):
        with limit_threads(limit):
            list(source.chunks(["x"]))
        assert source._database.execute("SELECT current_setting('threads')").fetchone() == (limit,)  # type: ignore[attr-defined]


def test_polars_says_that_its_threads_are_more_than_the_limit() -> None:
    polars = pytest.importorskip("polars")
    if polars.thread_pool_size() == 1:
        pytest.skip("polars has one thread here")
    frame = polars.LazyFrame({"x": ["a", "b", "a"], "y": ["no", "yes", "no"]})
    with pytest.warns(UserWarning, match="POLARS_MAX_THREADS=1 before polars is imported"):
        bw.fit(frame, "y", threads=1, model="naive-bayes")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    with limit_threads(3):
        each(abs, range(8))
    child = os.fork()
    if child == 0:
        os._exit(0 if each(abs, [-1, -2, -3]) == [1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0


FIT = """
    import os, sys, threading, time
    import duckdb, scipy.linalg
    import numpy as np
    import pandas as pd
    import bayeswise as bw

    def started():
        return len(os.listdir("/proc/self/task"))

    path, form, model = sys.argv[1:]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200_000, 12)), columns=[f"x{k}" for k in range(12)])
    frame["level"] = rng.choice(["a", "b", "c"], len(frame))
    frame["y"] = rng.choice(["no", "yes"], len(frame))
    if form == "csv":
        frame.to_csv(path, index=False)
    else:
        duckdb.sql(f"COPY frame TO '{path}'")
    before = most = started()
    over = threading.Event()

    def watch():
        global most
        while not over.wait(0.002):
            most = max(most, started() - 1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    wall, processor = time.perf_counter(), time.process_time()
    bw.fit(path, "y", model=model, threads=1)
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    over.set()
    watcher.join()
    print(most - before, processor / wall)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads that Linux shows")
@pytest.mark.parametrize(("form", "model"), [("csv", "naive-bayes"), ("csv", "tan"), ("parquet", "logistic")])
def test_a_fit_with_one_thread_starts_none_and_uses_one_core(tmp_path: Path, form: str, model: str) -> None:
    command = [sys.executable, "-c", textwrap.dedent(FIT), str(tmp_path / f"table.{form}"), form, model]
    many = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    answer = subprocess.run(command, capture_output=True, text=True, env=many)
    assert answer.returncode == 0, answer.stderr
    n_started, cores = answer.stdout.split()
    assert int(n_started) <= 0
    assert float(cores) < 1.1


def test_one_thread_and_several_learn_the_same_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = {"x": rng.normal(size=50_000), "level": rng.choice(["a", "b"], 50_000), "y": rng.choice(["n", "y"], 50_000)}
    for limit in (1, 2, 5):
        bw.fit(rows, "y", threads=limit, model="naive-bayes").save(tmp_path / f"{limit}")
    assert len({(tmp_path / f"{limit}").read_bytes() for limit in (1, 2, 5)}) == 1


def test_where_no_thread_can_be_started_the_work_is_done_without_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_process", threads._Process())
    with limit_threads(3):
        free = threads._crew()._free
        with monkeypatch.context() as machine:
            machine.setattr(threading.Thread, "start", refused)
            assert each(abs, [-1, -2, -3]) == [1, 2, 3]
            assert list(ahead(iter("abc"))) == ["a", "b", "c"]
        assert threads._crew()._free == free == 2
        assert most_at_once(3) == 3
        assert threads._crew()._free == 2
    threads._process.pool.shrink(0)
