"""How long a user waits before anything happens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.harness import Figure, Row, Size, best_of


def best_start(command: list[str], repeats: int) -> float:
    """Time a fresh process from start to end; the files are in the page cache after the first turn."""
    [best] = best_of(repeats, partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL))
    return best


def import_time(module: str, repeats: int) -> float:
    """Time an import in a fresh interpreter, less the start of the interpreter itself."""
    importing, nothing = (best_start([sys.executable, "-c", script], repeats) for script in (f"import {module}", ""))
    return max(0.0, importing - nothing)


def rows(size: Size) -> Iterator[Row]:
    command = str(Path(sys.executable).parent / "bayeswise")
    yield Figure("import bayeswise", partial(import_time, "bayeswise", size.repeats), at_most=0.15)
    yield Figure("bayeswise --help", partial(best_start, [command, "--help"], size.repeats), at_most=0.4)
