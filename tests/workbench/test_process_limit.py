"""Where no further thread or process can be started, a page says so, and nothing is left running."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayeswise.foundation.errors import TooManyThreadsError
from bayeswise.workbench.pages.jobs import Jobs
from bayeswise.workbench.pages.label import Sessions
from bayeswise.workbench.safety import Limits
from bayeswise.workbench.workspace import Workspace


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[threading.Thread], bool]], None]:
    """Let some threads not start."""
    start = threading.Thread.start

    def install(is_refused: Callable[[threading.Thread], bool]) -> None:
        def limited(thread: threading.Thread) -> None:
            if is_refused(thread):
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", limited)

    return install


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Those that were started."""
    found: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            found.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return found


def test_a_job_without_a_thread_is_not_begun(folder: Path, refuse: Callable[..., None]) -> None:
    jobs = Jobs(Workspace(folder), Limits())
    refuse(lambda thread: True)
    with pytest.raises(TooManyThreadsError, match="ulimit -u"):
        jobs.start("look", "golf.csv", options={})
    assert jobs.all() == []


def test_a_job_that_nobody_can_listen_to_is_ended(
    folder: Path, refuse: Callable[..., None], processes: list[subprocess.Popen[bytes]]
) -> None:
    refuse(lambda thread: not thread.name.startswith("job-"))
    job = Jobs(Workspace(folder), Limits()).start("look", "golf.csv", options={})
    until = time.monotonic() + 60
    while not job.is_over and time.monotonic() < until:
        time.sleep(0.01)
    assert job.problem is not None and job.problem.error == "TooManyThreadsError"
    assert [process.poll() is not None for process in processes] == [True]


def test_a_process_that_cannot_be_started_fails_its_job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    job = Jobs(Workspace(folder), Limits()).start("look", "golf.csv", options={})
    until = time.monotonic() + 60
    while not job.is_over and time.monotonic() < until:
        time.sleep(0.01)
    assert job.problem is not None and job.problem.error == "TooManyThreadsError"


def test_a_session_of_labels_that_nobody_can_listen_to_is_ended(
    folder: Path, refuse: Callable[..., None], processes: list[subprocess.Popen[bytes]]
) -> None:
    refuse(lambda thread: True)
    words = ("golf-tomorrow.csv", "--target", "play", "--classes", "no", "yes")
    with pytest.raises(TooManyThreadsError):
        Sessions(Workspace(folder)).start("labels", words)
    assert [process.poll() is not None for process in processes] == [True]
