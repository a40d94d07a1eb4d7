"""python -m tests.soak: kills, full disks, closed pipes and rival writers, for a given time."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.soak.events import soaked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long [5]")
    parser.add_argument("--seed", type=int, default=0, help="which events [0]")
    options = parser.parse_args()
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="bayeswise-soak-") as folder:
        try:
            for name in soaked(Path(folder), options.seed, time.monotonic() + 60.0 * options.minutes):
                seen[name] += 1
        except AssertionError as error:
            print(f"FAILED {error}")
            return 1
        finally:
            print(", ".join(f"{name}: {count}" for name, count in seen.items()) or "no event")
    return 0


if __name__ == "__main__":
    sys.exit(main())
