"""Run the benchmarks whose file or name contains one of the given words; all of them without words."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules

from bayeswise import _kernels
from benchmarks import rows as folder
from benchmarks.harness import Row, Size, cpu_time, run_all


def select(words: Sequence[str], size: Size, only_copies: bool = False) -> Iterator[Row]:
    """Find the rows that are named, file by file; files that are named first, since others take long to import.

    With `only_copies`, files are left out whose kernels are the same for every instruction set.
    """
    files = [module.name for module in iter_modules(folder.__path__)]
    for file in sorted(files, key=lambda file: not any(word in file for word in words)):
        module = import_module(f"{folder.__name__}.{file}")
        if (only_copies and not getattr(module, "EVERY_ISA", False)) or (
            not words and getattr(module, "BY_NAME", False)
        ):
            continue
        for row in module.rows(size):
            if not words or any(word in f"{file} {row.what}" for word in words):
                yield row


def announced(rows: Iterable[Row]) -> Iterator[Row]:
    """Say on stderr which row is being measured: one may take minutes."""
    for row in rows:
        print(f"measuring {row.what} ...", file=sys.stderr, flush=True)
        yield row


def run_again(isa: str) -> int:
    """The same run in a process of its own for an instruction set, or for each; kernels choose theirs when loaded.

    Of all, only the last and best measures what is the same for every one of them.
    """
    words = sys.argv[1:]
    at = next(k for k, word in enumerate(words) if word.startswith("--isa"))
    del words[at : at + (1 if "=" in words[at] else 2)]
    isas = _kernels.available_isas() if isa == "all" else [isa]
    codes = [
        subprocess.run(
            [sys.executable, "-m", "benchmarks", *words, *(["--only-copies"] if each != isas[-1] else [])],
            env={**os.environ, "BAYESWISE_ISA": each},
        ).returncode
        for each in isas
    ]
    return max(codes)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="FILTER")
    parser.add_argument("--json", action="store_true", help="outcomes as JSON on stdout, the table on stderr")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of rows (1)")
    parser.add_argument("--csv-gb", type=float, default=2.0, help="size of the generated CSV file (2)")
    parser.add_argument("--repeats", type=int, default=5, help="best of how many turns, and their spread (5)")
    parser.add_argument("--cpu", action="store_true", help="race by processor time, for machines that are busy")
    parser.add_argument(
        "--isa", metavar="NAME", help="instruction set of the kernels; all: one run for each that is here"
    )
    parser.add_argument(
        "--only-copies", action="store_true", help="leave out what is the same for every instruction set"
    )
    arguments = parser.parse_args()
    if arguments.isa:
        sys.exit(run_again(arguments.isa))
    size = Size(arguments.scale, arguments.csv_gb, arguments.repeats, cpu_time if arguments.cpu else time.perf_counter)
    say = partial(print, file=sys.stderr if arguments.json else sys.stdout, flush=True)
    machine = {
        "instruction set": _kernels.isa(),
        "races by": "processor time" if arguments.cpu else "the clock on the wall",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        **{name: version(name) for name in ("bayeswise", "numpy", "scikit-learn", "pandas")},
    }
    say(", ".join(f"{name} {value}" for name, value in machine.items()))
    outcomes = run_all(announced(select(arguments.words, size, arguments.only_copies)), size, say)
    if arguments.json:
        print(json.dumps({"machine": machine, "outcomes": outcomes}, indent=1))


if __name__ == "__main__":
    main()
