"""How a benchmark is run and how its outcome reads."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

Task = Callable[[], object]


@dataclass(frozen=True)
class Size:
    """How large the data are: `scale` = 1 is the size that the targets are about."""

    scale: float = 1.0
    csv_gigabytes: float = 2.0
    repeats: int = 5

    def rows(self, full: int) -> int:
        """Scale a number of rows, keeping enough of them for a fit.

        >>> Size(scale=0.001).rows(1_000_000)
        1000
        """
        return max(1_000, round(full * self.scale))

    def columns(self, full: int) -> int:
        """Scale a number of columns, keeping many of them.

        >>> Size().columns(20_000), Size(scale=0.001).columns(20_000)
        (20000, 1000)
        """
        return min(full, max(1_000, round(full * self.scale)))


@dataclass(frozen=True)
class Outcome:
    """One line of the table; `met` is None where there is no target."""

    what: str
    ours: float
    peer: float | None
    unit: str
    ratio: float | None
    target: str
    met: bool | None


@dataclass(frozen=True)
class Race:
    """Ours beside a peer; `setup` makes the data and gives back the two tasks, ours first."""

    what: str
    setup: Callable[[], tuple[Task, Task]]
    at_least: float | None = None

    def run(self, size: Size) -> Outcome:
        ours, peer = self.setup()
        ours_seconds, peer_seconds = best_of(size.repeats, ours, peer)
        ratio = peer_seconds / ours_seconds
        target = "" if self.at_least is None else f">= {self.at_least:g}x"
        met = None if self.at_least is None else ratio >= self.at_least
        return Outcome(self.what, ours_seconds, peer_seconds, "s", ratio, target, met)


@dataclass(frozen=True)
class Figure:
    """A number with a limit."""

    what: str
    measure: Callable[[], float]
    at_most: float
    unit: str = "s"

    def run(self, size: Size) -> Outcome:
        found = self.measure()
        limit = f"<= {amount(self.at_most, self.unit)}"
        return Outcome(self.what, found, None, self.unit, None, limit, found <= self.at_most)


class Row(Protocol):
    """Whatever has a name and an outcome."""

    @property
    def what(self) -> str: ...

    def run(self, size: Size) -> Outcome: ...


def best_of(repeats: int, *tasks: Task, budget: float = 60.0) -> list[float]:
    """Time the tasks in turn, so that a busy moment of the machine meets all of them, and keep each one's best.

    No new turn begins after `budget` seconds.
    """
    best = [float("inf")] * len(tasks)
    start = time.perf_counter()
    were_frozen = gc.get_freeze_count() > 0
    gc.freeze()  # what is there already is not looked through before every call
    try:
        for _ in range(repeats):
            for place, task in enumerate(tasks):
                best[place] = min(best[place], seconds(task))
            if time.perf_counter() - start > budget:
                break
    finally:
        if not were_frozen:
            gc.unfreeze()
    return best


def seconds(task: Task) -> float:
    """Time one call without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        task()
        return time.perf_counter() - start
    finally:
        gc.enable()


def duration(time_in_seconds: float) -> str:
    """Write a time in the unit in which it is easy to read.

    >>> duration(0.0312), duration(12.5), duration(4.2e-6)
    ('31.2 ms', '12.5 s', '4.2 us')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if time_in_seconds >= factor:
            return f"{time_in_seconds / factor:.3g} {unit}"
    return f"{time_in_seconds / 1e-6:.3g} us"


def amount(value: float | None, unit: str) -> str:
    """Write a number with its unit; seconds as a duration."""
    if value is None:
        return ""
    return duration(value) if unit == "s" else f"{value:.4g} {unit}".rstrip()


HEAD = ("what", "ours", "peer", "ratio", "target", "")


def cells(outcome: Outcome) -> Sequence[str]:
    """Turn an outcome into the cells of its line."""
    ratio = "" if outcome.ratio is None else f"{outcome.ratio:.2f}x"
    met = {True: "met", False: "missed", None: ""}[outcome.met]
    ours, peer = amount(outcome.ours, outcome.unit), amount(outcome.peer, outcome.unit)
    return (outcome.what, ours, peer, ratio, outcome.target, met)


def line(texts: Sequence[str]) -> str:
    """Lay the cells out in columns of fixed width, so that a line can be printed as soon as it is known."""
    widths = (58, 10, 10, 9, 11, 6)
    shown = [
        text.ljust(width) if place == 0 else text.rjust(width)
        for place, (text, width) in enumerate(zip(texts, widths, strict=True))
    ]
    return "  ".join(shown).rstrip()


def run_all(rows: Iterable[Row], size: Size, tell: Callable[[str], None]) -> list[dict[str, object]]:
    """Run the rows one after the other, telling each line as it comes; a row that fails does not stop the others."""
    tell(line(HEAD))
    outcomes: list[dict[str, object]] = []
    for row in rows:
        try:
            outcome = row.run(size)
        except Exception as error:
            tell(f"{row.what}: {type(error).__name__}: {error}")
            outcomes.append({"what": row.what, "met": False, "error": f"{type(error).__name__}: {error}"})
            continue
        tell(line(cells(outcome)))
        outcomes.append(asdict(outcome))
    return outcomes
