"""How a benchmark is run and how its outcome reads."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from bayeswise import _kernels

Task = Callable[[], object]
Clock = Callable[[], float]

PAUSE = 0.05
"""Seconds before each turn: threads of OpenBLAS wait for more work for 30 ms, and keep a core from whoever is next."""


def cpu_time() -> float:
    """Seconds of processor time of this process, on all threads, and of the processes that it has waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime + cpu_time_of_children()


def cpu_time_of_children() -> float:
    """That of the processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Size:
    """How large the data are: `scale` = 1 is the size that the targets are about."""

    scale: float = 1.0
    csv_gigabytes: float = 2.0
    repeats: int = 5
    clock: Clock = time.perf_counter  # what races are timed by

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
    """One line of the table; `met` is None where there is no target.

    `ratio` is that of the best times; `spread` has the least and the largest ratio of one turn, ours beside the peer.
    """

    what: str
    ours: float
    peer: float | None
    unit: str
    ratio: float | None
    target: str
    met: bool | None
    spread: tuple[float, float] | None = None


@dataclass(frozen=True)
class Race:
    """Ours beside a peer; `setup` makes the data and gives back the two tasks, ours first."""

    what: str
    setup: Callable[[], tuple[Task, Task]]
    at_least: float | None = None

    @property
    def least(self) -> float | None:
        """The target with the kernels in use: plain ones need not be faster than the peer, only not slower."""
        if self.at_least is None or _kernels.isa() != "plain":
            return self.at_least
        return min(self.at_least, 1.0)

    def run(self, size: Size) -> Outcome:
        ours, peer = self.setup()
        turns = times(size.repeats, ours, peer, clock=size.clock)
        ours_seconds, peer_seconds = map(min, zip(*turns, strict=True))
        ratio = peer_seconds / ours_seconds
        ratios = [of_peer / of_ours for of_ours, of_peer in turns]
        target = "" if self.least is None else f">= {self.least:g}x"
        met = None if self.least is None else ratio >= self.least
        spread = (min(ratios), max(ratios))
        return Outcome(self.what, ours_seconds, peer_seconds, "s", ratio, target, met, spread)


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


def best_of(repeats: int, *tasks: Task, clock: Clock = time.perf_counter) -> list[float]:
    """Each task's best time, in seconds."""
    return [min(each) for each in zip(*times(repeats, *tasks, clock=clock), strict=True)]


def times(
    repeats: int, *tasks: Task, clock: Clock = time.perf_counter, budget: float = 60.0
) -> list[tuple[float, ...]]:
    """Time the tasks in turn, so that a busy moment of the machine meets all of them: for each turn their seconds.

    No new turn begins after `budget` seconds.
    """
    turns: list[tuple[float, ...]] = []
    start = time.perf_counter()
    were_frozen = gc.get_freeze_count() > 0
    gc.freeze()  # what is there already is not looked through before every call
    try:
        while len(turns) < repeats and (not turns or time.perf_counter() - start <= budget):
            turns.append(tuple(seconds(task, clock) for task in tasks))
    finally:
        if not were_frozen:
            gc.unfreeze()
    return turns


def seconds(task: Task, clock: Clock = time.perf_counter) -> float:
    """Time one call without the garbage collector, when threads of the call before it have gone to sleep."""
    gc.collect()
    time.sleep(PAUSE)
    gc.disable()
    try:
        start = clock()
        task()
        return max(clock() - start, 1e-9)  # a clock of processor time may stand still
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


HEAD = ("what", "isa", "ours", "peer", "ratio", "spread", "target", "")


def cells(outcome: Outcome) -> Sequence[str]:
    """Turn an outcome into the cells of its line."""
    ratio = "" if outcome.ratio is None else f"{outcome.ratio:.2f}x"
    spread = "" if outcome.spread is None else "{:.2f}-{:.2f}".format(*outcome.spread)
    met = {True: "met", False: "missed", None: ""}[outcome.met]
    ours, peer = amount(outcome.ours, outcome.unit), amount(outcome.peer, outcome.unit)
    return (outcome.what, _kernels.isa(), ours, peer, ratio, spread, outcome.target, met)


def line(texts: Sequence[str]) -> str:
    """Lay the cells out in columns of fixed width, so that a line can be printed as soon as it is known."""
    widths = (58, 6, 10, 10, 9, 13, 11, 6)
    shown = [
        text.ljust(width) if place < 2 else text.rjust(width)
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
        outcomes.append(asdict(outcome) | {"isa": _kernels.isa()})
    return outcomes
