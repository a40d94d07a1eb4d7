"""Runs cases in a worker that is watched: one that dies, hangs or takes too much memory is reported and replaced."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 10.0  # of processor time, which a busy machine does not change
MOST_SECONDS_ASLEEP = 120.0  # by the clock, without any use of the processor
MOST_BYTES = 2 << 30
_GLANCE = 0.05  # seconds between two looks at a worker


@dataclass(frozen=True)
class Failure:
    """A case that did not end as it must."""

    kind: str
    seed: int
    number: int
    name: str
    what: str

    def __str__(self) -> str:
        again = f"python -m tests.fuzz --kinds {self.kind} --seed {self.seed} --case {self.number}"
        return f"{self.name}\n    {self.what}\n    again: {again}"


@dataclass
class Result:
    """How many cases ended how, and those that failed."""

    endings: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)


@dataclass
class Watched:
    """A worker, what it has said so far, and the case that it is at."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    rest: bytes = b""
    number: int = -1
    name: str = "before the first case"
    begun: float = 0.0  # by the clock: the case, or its last use of the processor
    begun_processor: float = 0.0
    used: float = 0.0  # of the processor so far

    def processor_seconds(self) -> float:
        try:
            numbers = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(numbers[11]) + int(numbers[12])) / float(os.sysconf("SC_CLK_TCK"))

    def resident_bytes(self) -> int:
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return 0
        return pages * int(os.sysconf("SC_PAGE_SIZE"))

    def trouble(self) -> str | None:
        """Why the worker must be ended, if it must."""
        if self.resident_bytes() > MOST_BYTES:
            return f"took more than {MOST_BYTES >> 20} MB of memory"
        if self.processor_seconds() - self.begun_processor > MOST_SECONDS:
            return f"took more than {MOST_SECONDS:g} s of processor time"
        if self.processor_seconds() > self.used:
            self.used, self.begun = self.processor_seconds(), time.monotonic()
        if time.monotonic() - self.begun > MOST_SECONDS_ASLEEP:
            return f"slept for {MOST_SECONDS_ASLEEP:g} s"
        return None


def run(
    kind: str,
    seed: int,
    count: int,
    *,
    until: float | None = None,
    report: Callable[[Failure], None] | None = None,
) -> Result:
    """Run so many cases of one kind, or as many as there is time for: `until` is a time of `time.monotonic()`."""
    result = Result()
    first = 0
    while first < count and (until is None or time.monotonic() < until):
        first = _run_one_worker(kind, seed, first, count, until, result, report)
    return result


def _run_one_worker(
    kind: str,
    seed: int,
    first: int,
    count: int,
    until: float | None,
    result: Result,
    report: Callable[[Failure], None] | None,
) -> int:
    """Cases until the worker has done all, or was ended; the number of the case to go on with."""

    def failed(what: str) -> None:
        failure = Failure(kind, seed, worker.number, worker.name, what)
        result.endings["failed"] += 1
        result.failures.append(failure)
        if report is not None:
            report(failure)

    with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory(prefix="bayeswise-fuzz-") as folder:
        worker = _started(kind, seed, first, count, errors, folder)
        try:
            trouble = _followed(worker, until, result, failed)
        finally:
            worker.process.kill()
            worker.process.wait()
            if worker.process.stdout is not None:
                worker.process.stdout.close()
        if trouble == "":
            return count
        if trouble is None:
            errors.seek(0)
            last_words = errors.read()[-1500:].decode(errors="replace")
            trouble = f"ended the process with {worker.process.returncode}: {last_words}"
        failed(trouble)
    if worker.number < 0:
        raise RuntimeError(f"the worker for {kind} does not start: {trouble}")
    return worker.number + 1


def _started(kind: str, seed: int, first: int, count: int, errors: IO[bytes], folder: str) -> Watched:
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fuzz.worker", kind, str(seed), str(first), str(count - first)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1", "TMPDIR": folder},
    )
    return Watched(process, errors, begun=time.monotonic())


def _followed(worker: Watched, until: float | None, result: Result, failed: Callable[[str], None]) -> str | None:
    """Listen to a worker: "" if all is done, None if it died, or why it had to be ended."""
    stdout = worker.process.stdout
    assert stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        while until is None or time.monotonic() < until:
            if selector.select(_GLANCE):
                piece = os.read(stdout.fileno(), 1 << 16)
                if not piece:
                    return "" if worker.process.wait() == 0 else None
                _heard(worker, piece, result, failed)
            trouble = worker.trouble()
            if trouble is not None:
                return trouble
    return ""


def _heard(worker: Watched, piece: bytes, result: Result, failed: Callable[[str], None]) -> None:
    """Take in what a worker said."""
    *lines, worker.rest = (worker.rest + piece).split(b"\n")
    for line in lines:
        event, number, *words = json.loads(line)
        worker.number = number
        worker.begun, worker.begun_processor = time.monotonic(), worker.processor_seconds()
        if event == "begin":
            worker.name = words[0]
        elif words[0] == "failed":
            failed(words[1])
        else:
            result.endings[words[0]] += 1
