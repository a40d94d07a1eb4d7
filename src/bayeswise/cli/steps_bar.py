"""A bar for work that has steps and no rows: on a terminal only, and only when it takes long."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from bayeswise.foundation.progress import PATIENCE

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class StepsBar:
    """Called with what is done, how much of it, and how much there is if that is known."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._start = time.monotonic()
        self._display: tuple[Progress, TaskID] | None = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if not self._shown or time.monotonic() - self._start < PATIENCE:
            return
        if self._display is None:
            self._display = _begun()
        progress, task = self._display
        progress.update(task, description=what, completed=done, total=total)

    def __enter__(self) -> StepsBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._display is not None:
            self._display[0].stop()
            self._display = None


def _begun() -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    progress.start()
    return progress, progress.add_task("", total=None)
