"""python -m tests.fuzz: as many cases of each kind as there is time for, or one of them again."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from itertools import islice, repeat

from bayeswise.foundation.errors import BayeswiseError
from tests.fuzz.kinds import KINDS, module_of
from tests.fuzz.runner import Failure, run

_ROUND = 500  # cases of one seed before the next kind has its turn


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long, over all kinds [5]")
    parser.add_argument("--seed", type=int, default=0, help="the first seed [0]; each round takes the next one")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="what to generate [all]")
    parser.add_argument("--cases", type=int, help="so many cases of each kind, whatever it takes")
    parser.add_argument("--case", type=int, help="run one case of the first kind in this process")
    options = parser.parse_args()
    if options.case is not None:
        return again(options.kinds[0], options.seed, options.case)
    return many(tuple(options.kinds), options.seed, options.minutes, options.cases)


def again(kind: str, seed: int, number: int) -> int:
    """Run one case here, so that a debugger can be attached."""
    name, case = next(islice(module_of(kind).cases(seed, number + 1), number, None))
    print(name)
    try:
        case()
    except BayeswiseError as error:
        print(f"refused: {type(error).__name__}: {error}")
    except Exception:
        traceback.print_exc()
        return 1
    else:
        print("answered")
    return 0


def many(kinds: tuple[str, ...], seed: int, minutes: float, n_cases: int | None) -> int:
    """Rounds of all kinds until time is up; failures are printed when they are found."""
    endings: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    until = None if n_cases is not None else time.monotonic() + 60.0 * minutes
    rounds = [n_cases] if n_cases is not None else repeat(_ROUND)
    for step, count in enumerate(rounds):
        for kind in kinds:
            endings[kind] += run(kind, seed + step, count, until=until, report=show).endings
        if until is not None and time.monotonic() >= until:
            break
    for kind, found in endings.items():
        total = ", ".join(f"{number:,} {how}" for how, number in sorted(found.items()))
        print(f"{kind}: {total or 'no cases'}")
    return int(any(found["failed"] for found in endings.values()))


def show(failure: Failure) -> None:
    print(failure, flush=True)


if __name__ == "__main__":
    sys.exit(main())
