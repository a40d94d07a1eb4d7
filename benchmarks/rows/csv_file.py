"""A CSV file larger than memory is meant to hold: time and peak memory, and the same at twice the size."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path

import numpy as np

from benchmarks.harness import Figure, Outcome, Row, Size, seconds

N_NUMBERS = 12
CLASSES = np.array(["ham", "spam", "unsure"])
BLOCK_ROWS = 5_000
N_BLOCKS = 16  # different ones, then they repeat
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
    def ours(self) -> dict[str, float]:
        """Seconds, peak megabytes and rows of a fresh process that makes statistics of the file."""
        command = [sys.executable, "-m", "benchmarks.tables", str(self.path)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        found: dict[str, float] = json.loads(answer.stdout)
        return found

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
    yield TimePerByte(f"{name} | read_csv + GaussianNB", whole, part, at_least=3)
    yield Figure(f"{name}: peak memory", lambda: whole.ours["megabytes"], at_most=500, unit="MB")
    yield Figure("the same at twice the size: peak memory", lambda: twice.ours["megabytes"], at_most=500, unit="MB")
    yield Figure(
        "the same at twice the size: growth of memory",
        partial(growth, whole, twice),
        at_most=1.1,
        unit="x",
    )


def growth(whole: CsvFile, twice: CsvFile) -> float:
    """How much more memory the longer file takes."""
    return twice.ours["megabytes"] / whole.ours["megabytes"]
