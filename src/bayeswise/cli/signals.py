"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it has begun to write goes away with it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def leaving_in_order() -> Iterator[None]:
    """Turn signals to end into `SystemExit`, with the exit code that a shell would give; ignored ones stay ignored."""
    if threading.current_thread() is not threading.main_thread():  # no other thread may ask for signals
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDING}
    ours = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, _leave)
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _leave(number: int, frame: FrameType | None) -> None:
    for each in _ENDING:  # a second one must not stop the tidying up
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)
