"""Jobs: bayeswise commands in processes of their own, with progress, result and cancellation.

A job is the command that the page shows. It runs in the workspace's folder and answers in JSON; only arguments go in
and only text comes out. It is bounded in time and memory, and killing it leaves the server as it was. What it
writes takes its place when the job is done and the file is still the one that the user saw.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter
from fastapi import Path as InUrl

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, NotFoundError, TooManyThreadsError, UsageError, quoted
from bayeswise.foundation.process_limit import starting
from bayeswise.foundation.progress import JSON
from bayeswise.workbench.messages import PROBLEMS, Message, Problem, arguments, shell
from bayeswise.workbench.safety import Limits
from bayeswise.workbench.workspace import Workspace

if TYPE_CHECKING:
    from bayeswise.workbench.bench import Bench

JobName = Annotated[str, InUrl(min_length=1, max_length=64)]
JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]
_KEPT = 50  # jobs that are over
_MOST_ANSWER = 64 << 20  # bytes
_GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_FIX = re.compile(r"^(?P<what>.*?)\. Fix: (?P<fix>.*?)\.?$", re.DOTALL)


@dataclass
class Job:
    """A command, its progress and its result."""

    id: str
    words: tuple[str, ...]
    options: Mapping[str, Any]
    state: JobState = "queued"
    progress: str = ""
    done: int = 0
    total: int | None = None
    notes: deque[str] = field(default_factory=lambda: deque(maxlen=50))
    result: dict[str, Any] | None = None
    problem: Problem | None = None
    started: float | None = None
    ended: float | None = None
    output: str | None = None
    version: str | None = None
    cancelled: bool = False
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def command(self) -> str:
        """The line for the shell."""
        return shell(*self.words, options={**self.options, "--output": self.output})

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return 0.0 if self.started is None else (self.ended or time.monotonic()) - self.started


class Jobs:
    """The jobs of one workspace: a few at once, the others wait in order."""

    def __init__(self, workspace: Workspace, limits: Limits) -> None:
        self.workspace, self.limits = workspace, limits
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._places = threading.Semaphore(limits.jobs)

    def start(
        self, *words: str, options: Mapping[str, Any], output: str | None = None, version: str | None = None
    ) -> Job:
        """Begin a command; it writes a file of another name, which becomes `output` when it is done."""
        if output is not None:
            self.workspace.check_version(output, version)
        job = Job(secrets.token_hex(8), words, options, output=output, version=version)
        with self._lock:
            waiting = [each for each in self._jobs.values() if not each.is_over]
            if len(waiting) >= 20:
                raise UsageError("20 jobs are waiting already", fix="wait for one, or cancel one")
            for each in [each for each in self._jobs.values() if each.is_over][:-_KEPT]:
                del self._jobs[each.id]
            self._jobs[job.id] = job
        try:
            with starting():
                threading.Thread(target=self._run, args=(job,), name=f"job-{job.id}", daemon=True).start()
        except TooManyThreadsError:
            with self._lock:
                del self._jobs[job.id]
            raise
        return job

    def all(self) -> list[Job]:
        """The jobs, the latest first."""
        with self._lock:
            return list(self._jobs.values())[::-1]

    def get(self, name: str) -> Job:
        with self._lock:
            if name not in self._jobs:
                raise NotFoundError(f"there is no job {quoted(name)}", fix="choose one that GET /api/jobs lists")
            return self._jobs[name]

    def cancel(self, name: str) -> Job:
        """Ask the process to end, and end it if it does not."""
        job = self.get(name)
        job.cancelled = True
        if job.state == "queued":
            job.state = "cancelled"
        _end(job)
        return job

    def close(self) -> None:
        """End all of them."""
        for job in self.all():
            job.cancelled = True
            _end(job, grace=0.5)

    # -- one job ------------------------------------------------------------------------------------------------
    def _run(self, job: Job) -> None:
        with self._places:
            if job.cancelled:
                job.state, job.ended = "cancelled", time.monotonic()
                return
            temporary = None if job.output is None else f".bayeswise-job-{job.id}{Path(job.output).suffix}"
            try:
                self._work(job, temporary)
            except BayeswiseError as error:
                job.problem, job.state = Problem.of(error), "failed"
            except Exception as error:
                job.problem = Problem(error="Bug", what=f"this is a bug: {type(error).__name__}: {error}")
                job.state = "failed"
            finally:
                job.ended = time.monotonic()
                if temporary is not None:
                    with contextlib.suppress(OSError):
                        (self.workspace.root / temporary).unlink()

    def _work(self, job: Job, temporary: str | None) -> None:
        job.started, job.state = time.monotonic(), "running"
        words = arguments(*job.words, options={**job.options, "--output": temporary})
        with starting():
            job.process = subprocess.Popen(
                [sys.executable, "-m", "bayeswise", *words, "--json"],
                cwd=self.workspace.root,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, JSON: "json", "NO_COLOR": "1"},
                start_new_session=True,
            )
        _bound(job.process.pid, self.limits.job_bytes)
        if job.cancelled:  # while the process was being started, so that there was none to end
            _end(job)
        clock = threading.Timer(self.limits.job_seconds, _end, [job])
        clock.daemon = True
        assert job.process.stdout is not None and job.process.stderr is not None
        reader = threading.Thread(target=_read_notes, args=(job, job.process.stderr), daemon=True)
        try:
            with starting():
                clock.start()
                reader.start()
        except TooManyThreadsError:
            clock.cancel()
            _end(job)
            raise
        with job.process.stdout as stdout:
            answer = stdout.read(_MOST_ANSWER + 1)
        if len(answer) > _MOST_ANSWER:
            _end(job)
        code = job.process.wait()
        reader.join(5)
        clock.cancel()
        if job.cancelled:
            job.state = "cancelled"
        elif code == 0 and len(answer) <= _MOST_ANSWER:
            result = json.loads(answer) if answer.strip() else {}
            if temporary is not None and job.output is not None:
                self.workspace.take(temporary, job.output, job.version)
                result = _renamed(result, temporary, job.output)
                job.notes = deque(
                    (_renamed(note, temporary, job.output) for note in job.notes), maxlen=job.notes.maxlen
                )
            job.result, job.state = result, "done"
        else:
            job.problem, job.state = self._problem(job, code), "failed"

    def _problem(self, job: Job, code: int) -> Problem:
        if job.seconds >= self.limits.job_seconds:
            what = f"the job took longer than {self.limits.job_seconds:,.0f} s and was ended"
            return Problem(error="TimeLimit", what=what, fix="use fewer rows, or the command line, which has no limit")
        message = next((note for note in reversed(job.notes) if note.startswith("bayeswise: ")), None)
        if code in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT) or "MemoryError" in (message or ""):
            what = f"the job ended without an answer; it may take {self.limits.job_bytes >> 30} GB of memory"
            return Problem(error="Ended", what=what, fix="use fewer rows, or the command line, which has no limit")
        text = (message or f"bayeswise: the command ended with code {code}").removeprefix("bayeswise: ")
        matched = _FIX.match(text)
        return Problem(
            error=f"Exit{code}", what=matched["what"] if matched else text, fix=matched["fix"] if matched else None
        )


def _read_notes(job: Job, stderr: IO[bytes]) -> None:
    """Progress and other output of the command; long lines are cut."""
    with stderr:
        while line := stderr.readline(1 << 16):
            text = line.decode("utf-8", "replace").rstrip("\n")
            if text.startswith('{"progress"'):
                with contextlib.suppress(ValueError, KeyError):
                    step = json.loads(text)
                    job.progress, job.done, job.total = str(step["progress"]), int(step["done"]), step["total"]
            elif text.strip():
                job.notes.append(text[:2_000])


def _end(job: Job, grace: float = _GRACE) -> None:
    process = job.process
    if process is None or process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGTERM) if hasattr(os, "killpg") else process.terminate()
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()


def _bound(process: int, most: int) -> None:
    """Bound the memory of a process where the system can."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(process, resource.RLIMIT_AS, (most, most))


def _renamed(result: Any, temporary: str, name: str) -> Any:
    """The answer with the name of the file as the user knows it."""
    if isinstance(result, dict):
        return {key: _renamed(value, temporary, name) for key, value in result.items()}
    if isinstance(result, list):
        return [_renamed(value, temporary, name) for value in result]
    return result.replace(temporary, name) if isinstance(result, str) else result


# -- requests and answers ---------------------------------------------------------------------------------------------


class JobView(Message):
    """A command in the background; `result` is what it prints with --json."""

    id: str
    state: JobState
    command: str
    progress: str
    done: int
    total: int | None
    seconds: float
    notes: list[str]
    output: str | None
    result: dict[str, Any] | None
    problem: Problem | None

    @classmethod
    def of(cls, job: Job) -> JobView:
        return cls.model_validate(job)


def routes(bench: Bench) -> APIRouter:
    """GET /api/jobs, GET /api/jobs/{id}, POST /api/jobs/{id}/cancel."""
    router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=PROBLEMS)

    @router.get("")
    def jobs() -> list[JobView]:
        """All jobs since the server was started, the latest first."""
        return [JobView.of(job) for job in bench.jobs.all()]

    @router.get("/{name}")
    def job(name: JobName) -> JobView:
        """The progress and the result of a job."""
        return JobView.of(bench.jobs.get(name))

    @router.post("/{name}/cancel")
    def cancel(name: JobName) -> JobView:
        """End a job; what it would have written stays as it was."""
        return JobView.of(bench.jobs.cancel(name))

    return router
