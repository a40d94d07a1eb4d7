"""Files larger than memory: CSV and Parquet to statistics beside three readers, and where the time goes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np

from bayeswise.foundation.threads import IDLE_THREADS_SLEEP
from benchmarks.harness import Figure, Outcome, Row, Size, cpu_time_of_children, seconds

EVERY_ISA = True
N_NUMBERS = 12
CLASSES = np.array(["ham", "spam", "unsure"])
BLOCK_ROWS = 5_000
N_BLOCKS = 16  # different ones, then they repeat
MEMORY_RUNS = 3
PART_GIGABYTES = 0.2  # what pandas reads for comparison
GIGABYTE = 1_000_000_000


def csv_block(seed: int) -> bytes:
    """Some rows as text: numbers with six decimals, and a class that they depend on."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, len(CLASSES), BLOCK_ROWS)
    values = generator.standard_normal((BLOCK_ROWS, N_NUMBERS)) * 100.0 + codes[:, None]
    text = io.StringIO()
    np.savetxt(text, values, fmt="%.6f", delimiter=",", newline=",\n")
    lines = text.getvalue().splitlines()
    return "".join(f"{line}{name}\n" for line, name in zip(lines, CLASSES[codes], strict=True)).encode()


@dataclass(frozen=True)
class CsvFile:
    """A generated file that exists while its folder does."""

    folder: tempfile.TemporaryDirectory[str]
    gigabytes: float

    @cached_property
    def path(self) -> Path:
        path = Path(self.folder.name) / f"{self.gigabytes:g}.csv"
        block = cache(csv_block)
        with path.open("wb") as file:
            file.write(",".join([*(f"x{k}" for k in range(N_NUMBERS)), "y"]).encode() + b"\n")
            turn = 0
            while file.tell() < self.gigabytes * GIGABYTE:
                file.write(block(turn % N_BLOCKS))
                turn += 1
        return path

    @cached_property
    def parquet(self) -> Path:
        import duckdb

        path = self.path.with_suffix(".parquet")
        duckdb.read_csv(str(self.path)).write_parquet(str(path))
        return path

    @cached_property
    def ours(self) -> dict[str, float]:
        """The least of a few runs: how much memory is in use at a time depends on which thread comes first."""
        runs = [answer_of(self.path, "bayeswise") for _ in range(MEMORY_RUNS)]
        return {name: min(run[name] for run in runs) for name in runs[0]}

    @cached_property
    def seconds_by_pandas(self) -> float:
        import pandas as pd
        from sklearn.naive_bayes import GaussianNB

        def read_and_fit() -> None:
            frame = pd.read_csv(self.path)
            GaussianNB().fit(frame.drop(columns="y").to_numpy(), frame["y"])

        return min(seconds(read_and_fit) for _ in range(2))

    @property
    def bytes(self) -> int:
        return self.path.stat().st_size


def answer_of(path: Path, what: str) -> dict[str, float]:
    """Seconds, processor time, peak megabytes and rows of a fresh process that makes statistics of a file.

    `busy` is the time after imports, `whole` that of the process, which finds byte code as that of installed packages.
    Threads of OpenBLAS, which start with NumPy and have nothing to do here, sleep as they do in `bayeswise fit`.
    """
    module = "benchmarks.tables" if what in ("bayeswise", "stages") else "benchmarks.peer_readers"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(path.parent / "byte-code")
    environment.setdefault(*IDLE_THREADS_SLEEP)
    command = [sys.executable, "-m", module, str(path), what]
    before = cpu_time_of_children()
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found: dict[str, float] = json.loads(answer.stdout)
    return found | {"whole": cpu_time_of_children() - before}


@dataclass(frozen=True)
class ReaderRace:
    """Ours beside another reader of the same file, each in fresh processes in turn, by one of the times of both."""

    what: str
    path: Callable[[], Path]
    reader: str
    at_least: float | None
    timed: str = "busy"

    def run(self, size: Size) -> Outcome:
        turns = [
            (answer_of(self.path(), "bayeswise"), answer_of(self.path(), self.reader)) for _ in range(size.repeats)
        ]
        ours, peer = (min(each[self.timed] for each in side) for side in zip(*turns, strict=True))
        ratios = [theirs[self.timed] / mine[self.timed] for mine, theirs in turns]
        target = "" if self.at_least is None else f">= {self.at_least:g}x"
        met = None if self.at_least is None else peer / ours >= self.at_least
        return Outcome(self.what, ours, peer, "s", peer / ours, target, met, (min(ratios), max(ratios)))


@dataclass(frozen=True)
class Stage:
    """The processor time of one stage; there is no target."""

    what: str
    measure: Callable[[], float]

    def run(self, size: Size) -> Outcome:
        return Outcome(self.what, self.measure(), None, "s", None, "", None)


@dataclass(frozen=True)
class TimePerByte:
    """Ours on the whole file beside pandas and scikit-learn on a part, carried over to the size of the whole."""

    what: str
    whole: CsvFile
    part: CsvFile
    at_least: float

    def run(self, size: Size) -> Outcome:
        ours = self.whole.ours["seconds"]
        peer = self.part.seconds_by_pandas * self.whole.bytes / self.part.bytes
        return Outcome(self.what, ours, peer, "s", peer / ours, f">= {self.at_least:g}x", peer / ours >= self.at_least)


def rows(size: Size) -> Iterator[Row]:
    folder = tempfile.TemporaryDirectory(prefix="bayeswise-bench-")
    whole = CsvFile(folder, size.csv_gigabytes)
    twice = CsvFile(folder, 2 * size.csv_gigabytes)
    part = CsvFile(folder, min(PART_GIGABYTES, size.csv_gigabytes / 2))
    name = f"CSV of {size.csv_gigabytes:g} GB to statistics"
    part_name = f"{part.gigabytes:g} GB to statistics, processor time"
    by_clock = f"{part.gigabytes:g} GB to statistics, by the clock"
    for form, path in (("CSV", lambda: part.path), ("the same rows as Parquet", lambda: part.parquet)):
        yield ReaderRace(f"{form}, {part_name} | polars, streaming", path, "polars", at_least=1)
        yield ReaderRace(f"{form}, {part_name} with imports | polars", path, "polars", at_least=None, timed="whole")
        yield ReaderRace(f"{form}, {by_clock} | polars, streaming", path, "polars", at_least=None, timed="seconds")
        yield ReaderRace(f"{form}, {part_name} | DuckDB", path, "duckdb", at_least=None)
    spent = cache(lambda: answer_of(part.path, "stages"))
    for stage in ("bytes read", "cells found", "numbers parsed", "kinds of columns", "sums"):
        yield Stage(f"CSV of {part.gigabytes:g} GB, processor time: {stage}", partial(_stage, spent, stage))
    of_parquet = cache(lambda: answer_of(part.parquet, "stages"))
    for stage in ("columns decoded", "numbers copied", "kinds of columns", "sums"):
        yield Stage(f"the same rows as Parquet, processor time: {stage}", partial(_stage, of_parquet, stage))
    yield TimePerByte(f"{name} | read_csv + GaussianNB", whole, part, at_least=3)
    yield Figure(f"{name}: peak memory", lambda: whole.ours["megabytes"], at_most=500, unit="MB")
    yield Figure("the same at twice the size: peak memory", lambda: twice.ours["megabytes"], at_most=500, unit="MB")
    yield Figure(
        "the same at twice the size: growth of memory",
        partial(growth, whole, twice),
        at_most=1.1,
        unit="x",
    )


def _stage(spent: Callable[[], dict[str, float]], stage: str) -> float:
    return spent()[stage]


def growth(whole: CsvFile, twice: CsvFile) -> float:
    """How much more memory the longer file takes."""
    return twice.ours["megabytes"] / whole.ours["megabytes"]
