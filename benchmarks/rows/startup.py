"""How long a user waits before anything happens."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import bayeswise as bw
from benchmarks.harness import Figure, Row, Size, best_of

BAYESWISE = str(Path(sys.executable).parent / "bayeswise")
EXAMPLES = Path(__file__).parents[2] / "examples"


def best_start(command: list[str], repeats: int) -> float:
    """Time a fresh process from start to end; the files are in the page cache after the first turn."""
    [best] = best_of(repeats, partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL))
    return best


def import_time(module: str, repeats: int) -> float:
    """Time an import in a fresh interpreter, less the start of the interpreter itself."""
    importing, nothing = (best_start([sys.executable, "-c", script], repeats) for script in (f"import {module}", ""))
    return max(0.0, importing - nothing)


def processor_time(words: list[str], repeats: int) -> float:
    """The least time of the processor, of all threads together, that a command on 14 rows takes."""
    with tempfile.TemporaryDirectory(prefix="bayeswise-bench-") as folder:
        model = str(Path(folder) / "golf.bayeswise")
        files = {"GOLF": "golf.csv", "NEW": "golf-tomorrow.csv", "COSTS": "golf.toml"}
        places = {"MODEL": model} | {word: str(EXAMPLES / name) for word, name in files.items()}
        if "MODEL" in words and words[0] != "fit":
            bw.fit(places["GOLF"], "play", model="naive-bayes").save(model)
        command = [BAYESWISE, *(places.get(word, word) for word in words)]
        return min(_children_seconds(command) for _ in range(repeats + 1))  # the first may compile modules


def _children_seconds(command: list[str]) -> float:
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=compiled)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


COMMANDS = (
    "look GOLF",
    "fit GOLF -t play --model naive-bayes -o MODEL",
    "predict MODEL NEW",
    "inspect MODEL",
    "decide MODEL NEW --costs COSTS",
    "explain MODEL NEW --row-number 1",
    "check MODEL GOLF",
    "fit GOLF -t play -o MODEL",  # tries a dozen models, each learned again without each part of the rows
)


def rows(size: Size) -> Iterator[Row]:
    yield Figure("import bayeswise", partial(import_time, "bayeswise", size.repeats), at_most=0.15)
    yield Figure("bayeswise --help", partial(best_start, [BAYESWISE, "--help"], size.repeats), at_most=0.4)
    for line in COMMANDS:
        measure = partial(processor_time, line.split(), size.repeats)
        yield Figure(f"processor time of bayeswise {line}", measure, at_most=0.35)
