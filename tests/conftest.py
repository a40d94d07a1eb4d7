"""What every test may use: a way to run commands in this process, and one pace for hypothesis.

A run has a temporary folder of its own, and fails if it leaves something there.
"""

from __future__ import annotations

import gc
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from bayeswise.cli import main
from tests import scheduling
from tests import spark_sessions as spark_of_tests

# Workers and the threads of BLAS multiply, and threads that wait for each other crawl on a busy machine. This holds for
# commands under test too; NumPy is not loaded yet.
for library in ("OPENBLAS", "OMP", "MKL", "BLIS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("ARROW_IO_THREADS", "1")  # 8 unless set

# A run of the tests is repeatable; HYPOTHESIS_PROFILE=explore looks for new counterexamples.
# No deadline: a busy machine is not a bug.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@dataclass(frozen=True)
class Answer:
    """What a command gave back."""

    code: int
    out: str
    err: str


@pytest.fixture
def bayeswise(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Run `bayeswise WORDS...` in this process, as in `bayeswise("look", path, "-t", "play", stdin=b"...")`."""

    def call(*words: object, stdin: bytes = b"") -> Answer:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = main([str(word) for word in words])
        return Answer(code, *capsys.readouterr())

    return call


def pytest_runtest_setup() -> None:
    """Close what earlier tests have drawn: pyplot warns of 20 open figures, and a warning is an error."""
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


# -- Spark: one session for all tests, in one process ----------------------------------------------------------
spark_sessions = spark_of_tests.spark_sessions
spark = spark_of_tests.spark
spark_cluster = spark_of_tests.spark_cluster
spark_connect = spark_of_tests.spark_connect


# -- which worker runs what ------------------------------------------------------------------------------------
@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    return scheduling.scheduler(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of Spark must be where the scheduler looks for them."""
    for item in items:
        if "spark_sessions" in getattr(item, "fixturenames", ()) and scheduling.unit_of(item.nodeid) != "spark":
            raise pytest.UsageError(
                f"{item.nodeid} takes a session of Spark: put it into a file with spark in its name"
            )
    if "PYTEST_XDIST_WORKER" in os.environ:
        scheduling.longest_first(items)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Spark ends with its last test, so that a browser in another worker has its turn."""
    sessions = item.config.stash.get(spark_of_tests.SESSIONS, None)
    if sessions is not None and "PYTEST_XDIST_WORKER" in os.environ and scheduling.is_last_of_spark(item, nextitem):
        sessions.stop()


# -- a temporary folder that must be empty at the end ----------------------------------------------------------

FOLDER = pytest.StashKey[Path]()
LEFT = pytest.StashKey[list[str]]()
# Removed when the interpreter ends, which is too late for us: the memory-mapped arrays of scikit-learn's checks, and
# the tables of benchmarks, which live as long as their rows; and what ONNX Runtime writes when it is imported.
EXCUSED = ("sklearn_testing_", "bayeswise-bench-", ".ses")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of collected tests stay to the end: the garbage collector need not look through them each time."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Workers of xdist and commands under test inherit the folder; what pytest keeps of failed tests stays outside."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    config.stash[FOLDER] = Path(tempfile.mkdtemp(prefix="bayeswise-tests-"))
    os.environ["TMPDIR"] = tempfile.tempdir = str(config.stash[FOLDER])


@pytest.hookimpl(trylast=True)  # the workers have ended
def pytest_sessionfinish(session: pytest.Session) -> None:
    folder = session.config.stash.get(FOLDER, None)
    if folder is None:
        return
    left = sorted(path.name for path in folder.iterdir() if not path.name.startswith(EXCUSED))
    session.config.stash[LEFT] = left
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left := config.stash.get(LEFT, []):
        shown = ", ".join(left[:20]) + (", ..." if len(left) > 20 else "")
        terminalreporter.write_line(f"FAILED: {len(left)} files left in the temporary folder: {shown}", red=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    if (folder := config.stash.get(FOLDER, None)) is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.environ["TMPDIR"] = tempfile.tempdir = os.environ["PYTEST_DEBUG_TEMPROOT"]
