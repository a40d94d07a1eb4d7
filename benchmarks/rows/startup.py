"""How long a user waits before anything happens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.harness import Figure, Row, Size, best_of


def best_start(command: list[str]) -> float:
    """Time a fresh process from start to end; the files are in the page cache after the first turn."""
    [best] = best_of(7, partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL))
    return best


def import_time(module: str) -> float:
    """Time an import in a fresh interpreter, less the start of the interpreter itself."""
    return max(0.0, best_start([sys.executable, "-c", f"import {module}"]) - best_start([sys.executable, "-c", ""]))


def rows(size: Size) -> Iterator[Row]:
    command = str(Path(sys.executable).parent / "bayeswise")
    yield Figure("import bayeswise", partial(import_time, "bayeswise"), at_most=0.15)
    yield Figure("bayeswise --help", partial(best_start, [command, "--help"]), at_most=0.4)
