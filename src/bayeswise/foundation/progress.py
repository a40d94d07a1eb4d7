"""A bar on stderr: on a terminal, or on request, and only when it takes long.

A program that runs a command and reads its stderr sets BAYESWISE_PROGRESS=json: then each line that begins with
`{"progress"` says what is done, how much of it and how much there is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds without a bar
JSON = "BAYESWISE_PROGRESS"
_PAUSE = 0.1  # seconds between two lines of JSON


class _Display:
    """The bar itself; nothing is shown before a second is over, nor in a pipe unless it is requested."""

    unit = ""

    def __init__(self, *, shown: bool = True, requested: bool = False, in_notebook: bool = False) -> None:
        self._requested = requested
        on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._shown = requested or (shown and on_terminal) or (in_notebook and "ipykernel" in sys.modules)
        self._start = time.monotonic()
        self._display: tuple[Progress, TaskID] | None = None
        self._as_json = os.environ.get(JSON) == "json" and sys.stderr is not None
        self._reported: tuple[float, str] = (0.0, "")

    @property
    def may_show(self) -> bool:
        """Whether somebody would see it."""
        return self._shown

    def _show(self, what: str, done: int, total: int | None) -> None:
        if self._as_json:
            self._tell(what, done, total)
            return
        if not self._shown or time.monotonic() - self._start < PATIENCE:
            return
        if self._display is None:
            self._display = self._begun()
        progress, task = self._display
        progress.update(task, description=what, completed=done, total=total)

    def _tell(self, what: str, done: int, total: int | None) -> None:
        """A line for a program; not more often than it can read, unless something else is done now."""
        now = time.monotonic()
        if now - self._reported[0] >= _PAUSE or what != self._reported[1]:
            self._reported = now, what
            print(json.dumps({"progress": what, "done": done, "total": total}), file=sys.stderr, flush=True)

    def _begun(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn(f"{{task.completed:,}}{self.unit}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=not self._requested,
        )
        progress.start()
        return progress, progress.add_task("", total=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._display is not None:
            self._display[0].stop()
            self._display = None


class Bar(_Display):
    """Rows as they pass."""

    unit = " rows"

    def __init__(self, what: str, *, shown: bool = True, requested: bool = False) -> None:
        super().__init__(shown=shown, requested=requested)
        self._what = what
        self._rows = 0
        self._total: int | None = None

    def begin(self, total: int | None) -> None:
        """A sweep begins, over so many rows if that is known."""
        self._rows, self._total = 0, total
        if self._display is not None:
            progress, task = self._display
            progress.reset(task, total=total)

    def rename(self, what: str) -> None:
        """What is being done from now on."""
        self._what = what
        self._show(self._what, self._rows, self._total)

    def advance(self, rows: int) -> None:
        """So many rows more."""
        self._rows += rows
        self._show(self._what, self._rows, self._total)


class StepsBar(_Display):
    """Work that has steps and no rows: called with what is done, how much of it, and how much there is, if known."""

    def __call__(self, what: str, done: int, total: int | None) -> None:
        self._show(what, done, total)
