"""Bytes of a file, also of one that gives them only once: a pipe, a descriptor of a shell, standard input."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

from bayeswise.foundation.errors import SourceError, UsageError, shortened

STDIN = "-"
STANDARD_INPUT = "standard input"
_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")


def is_read_once(path: Path) -> bool:
    """True for pipes, sockets and devices, and for descriptors, which some systems do not open again."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # ValueError: not a name of a file; opening it says what is wrong
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISBLK(mode)) or str(path.parent) in _DESCRIPTORS


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether nothing but the bytes themselves can say what they are: standard input, or a pipe without a suffix."""
    return os.fspath(path) == STDIN or (not Path(path).suffix and is_read_once(Path(path)))


def standard_input() -> Any:
    """The bytes of standard input."""
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed", fix="name a file in place of -, or feed it with a pipe")
    return sys.stdin.buffer


def name_of(path: str | os.PathLike[str]) -> str:
    """What a file, or a stream, is called in messages."""
    if os.fspath(path) == STDIN:
        return STANDARD_INPUT
    return str(path) if Path(path).is_relative_to("/dev") else Path(path).name


def content_of(path: str | os.PathLike[str], most: int, what: str) -> bytes:
    """All bytes of a file or stream that has at most so many; `what` it should hold is said where it cannot be read."""
    try:
        if os.fspath(path) == STDIN:
            data: bytes = standard_input().read(most + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(most + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, UsageError):  # standard input is closed
            raise
        why = error.strerror if isinstance(error, OSError) else "no file can have this name"
        raise SourceError(
            f"cannot read {shortened(os.fspath(path))!r}: {why}", fix=f"name a file that holds {what}"
        ) from None
    if len(data) > most:
        raise SourceError(
            f"{shortened(os.fspath(path))!r} is larger than {most >> 20} MB", fix=f"give a smaller file with {what}"
        )
    return data
