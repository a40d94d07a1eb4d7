"""How the time and the memory of naive Bayes grow with rows, columns, classes and levels, with their exponents.

Each size is a process of its own, which learns the table, asks for 100 rows, and saves and loads the model. Times are
those of the processor, all threads together; memory is the peak beyond the table itself.

    python -m benchmarks growth                     the table
    python -m benchmarks.rows.growth levels 1000    one size of it, as JSON
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Outcome, Row, Size

LEAST_MEGABYTES = 4.0  # what a process takes now and then for no reason that the table gives


def by_rows(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).normal(size=(n, 20)), np.arange(n) % 3


def by_columns(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).normal(size=(200, n)), np.arange(200) % 3


def by_classes(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).normal(size=(20_000, 20)), np.arange(20_000) % n


def by_levels(n: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).integers(0, n, (100_000, 3)), np.arange(100_000) % 3


def by_classes_and_levels(n: int) -> tuple[Any, Any]:
    """As many levels as classes: their product grows by the square, and the rows stay."""
    return np.random.default_rng(0).integers(0, n, (100_000, 1)), np.arange(100_000) % n


@dataclass(frozen=True)
class Dimension:
    """Tables that grow in one way."""

    table: Callable[[int], tuple[Any, Any]]
    sizes: tuple[int, ...]
    options: Mapping[str, Any]


CATEGORICAL = {"families": "categorical"}
DIMENSIONS = {
    "rows": Dimension(by_rows, (10_000, 100_000, 1_000_000), {}),
    "columns": Dimension(by_columns, (10, 200, 2_000, 20_000), {}),
    "classes": Dimension(by_classes, (2, 100, 1_000, 10_000), {}),
    "levels": Dimension(by_levels, (10, 1_000, 100_000), CATEGORICAL),
    "classes and levels": Dimension(by_classes_and_levels, (10, 1_000, 10_000), CATEGORICAL),
}
STEPS = ("fit", "predict", "file")


def measured_here(what: str, n: int, repeats: int) -> dict[str, float]:
    """Seconds of each step and megabytes of all of them, for a table of one size, in this process."""
    import bayeswise as bw

    dimension = DIMENSIONS[what]
    values, groups = dimension.table(n)
    small = (values[:50], groups[:50] % 2)
    bw.NaiveBayes(**dimension.options).fit(*small).predict_proba(values[:1])  # imports
    before = _peak_megabytes()
    with tempfile.TemporaryDirectory(prefix="bayeswise-bench-") as folder:
        path = Path(folder) / "model.bayeswise"
        found = dict.fromkeys(STEPS, float("inf"))
        for _ in range(repeats):
            model = bw.NaiveBayes(**dimension.options)
            fit, ask = partial(model.fit, values, groups), partial(model.predict_proba, values[:100])
            tasks: list[Callable[[], Any]] = [fit, ask, partial(_saved_and_loaded, model, path)]
            for step, task in zip(STEPS, tasks, strict=True):
                start = time.process_time()
                task()
                found[step] = min(found[step], time.process_time() - start)
    return {**found, "memory": _peak_megabytes() - before}


def _saved_and_loaded(model: Any, path: Path) -> None:
    import bayeswise as bw

    model.model_.save(path)
    bw.load(path)


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@cache
def measured(what: str, n: int, repeats: int) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.rows.growth", what, str(n), str(repeats)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    found: dict[str, float] = json.loads(run.stdout)
    return found


@dataclass(frozen=True)
class Measured:
    """A line of the table: the time or the memory of one size."""

    what: str
    measure: Callable[[], float]
    unit: str

    def run(self, size: Size) -> Outcome:
        del size
        return Outcome(self.what, self.measure(), None, self.unit, None, "", None)


def seconds(what: str, n: int, repeats: int) -> float:
    found = measured(what, n, repeats)
    return sum(found[step] for step in STEPS)


def megabytes(what: str, n: int, repeats: int) -> float:
    return max(measured(what, n, repeats)["memory"], LEAST_MEGABYTES)


def exponent(of: Callable[[str, int, int], float], what: str, sizes: tuple[int, ...], repeats: int) -> float:
    """The slope of the logarithm over that of the size, by least squares: 1 is linear."""
    found = [of(what, n, repeats) for n in sizes]
    return max(0.0, float(np.polyfit(np.log(sizes), np.log(found), 1)[0]))


def rows(size: Size) -> Iterator[Row]:
    repeats = min(size.repeats, 3)
    for what, dimension in DIMENSIONS.items():
        sizes = dimension.sizes if size.scale >= 1 else dimension.sizes[:2]
        for n in sizes:
            yield Measured(f"growth with {what}: {n:,}, processor time", partial(seconds, what, n, repeats), "s")
            yield Measured(f"growth with {what}: {n:,}, memory", partial(megabytes, what, n, repeats), "MB")
        for name, of in (("processor time", seconds), ("memory", megabytes)):
            measure = partial(exponent, of, what, sizes, repeats)
            yield Figure(f"growth with {what}: exponent of {name}", measure, at_most=1.1, unit="(exponent)")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    name, number, *times = sys.argv[1:]
    print(json.dumps(measured_here(name, int(number), int(times[0]) if times else 3)))
