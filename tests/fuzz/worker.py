"""The process in which cases run: python -m tests.fuzz.worker KIND SEED FIRST COUNT.

It says on its standard output, one JSON list per line, which case begins and how it ended; what a case prints goes
nowhere. It may die or hang at any time: `tests.fuzz.runner` watches it.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from itertools import islice
from typing import IO

from bayeswise.foundation.errors import BayeswiseError
from tests.fuzz.answers import check_message
from tests.fuzz.kinds import module_of


def ending(case: Callable[[], None]) -> tuple[str, str]:
    """How a case ended: "answered", "refused" or "failed", and what was said."""
    try:
        case()
        return "answered", ""
    except BayeswiseError as error:
        try:
            check_message(error)
        except AssertionError as too_long:
            return "failed", str(too_long)
        return "refused", f"{type(error).__name__}: {error}"
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "bayeswise" in frame.filename] or list(frames)
        where = f"{ours[-1].filename.rpartition('bayeswise/')[2]}:{ours[-1].lineno}"
        return "failed", f"{where}: {type(error).__name__}: {str(error)[:500]}"


def quiet() -> IO[str]:
    """The standard output for our lines alone; what anybody else prints goes nowhere."""
    lines = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    return lines


def main(kind: str, seed: int, first: int, count: int) -> None:
    lines = quiet()
    warnings.simplefilter("ignore")
    cases = module_of(kind).cases(seed, first + count)
    for number, (name, case) in enumerate(islice(cases, first, None), start=first):
        print(json.dumps(["begin", number, name]), file=lines)
        print(json.dumps(["end", number, *ending(case)]), file=lines)
        if number % 100 == 99:
            gc.collect()
    lines.flush()
    os._exit(0)  # threads of a case must not keep the process


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
