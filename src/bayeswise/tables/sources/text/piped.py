"""Text that comes through a pipe and is read once: nothing of it is kept but the block in use."""

from __future__ import annotations

import io
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayeswise import _kernels
from bayeswise.foundation.errors import SourceError
from bayeswise.tables.sources.text import stream as text_file
from bayeswise.tables.sources.text.csv import CsvPiece, CsvSource

_PATIENCE = 0.02  # seconds to wait for more before a block that is not full is passed on


class Piped:
    """A stream whose beginning can be looked at, again and again, before it is read.

    >>> stream = Piped(io.BytesIO(b"wind,play"))
    >>> stream.peek(4), stream.read(100), stream.read(100), stream.read(100)
    (b'wind', b'wind', b',play', b'')
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._seen = b""

    def peek(self, size: int) -> bytes:
        """The first bytes, fewer only if there are no more."""
        while len(self._seen) < size and (fresh := self._raw.read(size - len(self._seen))):
            self._seen += fresh
        return self._seen[:size]

    def read(self, size: int = 1 << 20, /) -> bytes:
        """What was looked at, then what has come by now, at least one byte before the end."""
        if self._seen:
            seen, self._seen = self._seen, b""
            return seen
        return self._fresh(size)

    def _fresh(self, size: int) -> bytes:
        if not _is_selectable(self._raw):
            return bytes(self._raw.read(size))
        pieces: list[bytes] = [self._raw.read1(size)]
        missing = size - len(pieces[-1])
        while pieces[-1] and missing > 0 and select.select([self._raw], [], [], _PATIENCE)[0]:
            pieces.append(self._raw.read1(missing))
            missing -= len(pieces[-1])
        return b"".join(pieces)


def _is_selectable(raw: Any) -> bool:
    """True for a pipe or a terminal of a system that can wait for one."""
    try:
        select.select([raw], [], [], 0)
    except (OSError, ValueError, TypeError, io.UnsupportedOperation):
        return False
    return hasattr(raw, "read1")


class PipedCsvSource(CsvSource):
    """Delimited text that can be swept once; its dialect and names are those of its beginning."""

    def __init__(self, stream: Piped, path: Path, **options: Any) -> None:
        self._stream = stream
        self._swept = False
        super().__init__(path, **options)

    def _read(self, blocks: Iterator[_kernels.CsvBlock]) -> Iterator[_kernels.CsvBlock]:
        return blocks  # a thread that waits for a pipe could not be stopped

    def _sample(self) -> tuple[bytes, bool]:
        with text_file.translated(self._name):
            start = self._stream.peek(text_file.SAMPLE_BYTES + 1)
        return start[: text_file.SAMPLE_BYTES], len(start) <= text_file.SAMPLE_BYTES

    @contextmanager
    def _opened(self) -> Iterator[text_file.Utf8Stream]:
        raw: Any = self._stream if self._swept else _Beginning(self._stream)
        yield text_file.Utf8Stream(raw, self._encoding, self._name)

    def pieces(self, indices: Sequence[int]) -> Iterator[CsvPiece]:
        if self._swept:
            raise SourceError(f"{self._name} was read already", fix="open it without once=True to read it again")
        self._swept = True
        return super().pieces(indices)


class _Beginning:
    """The beginning of a stream that stays unread, as long as a reader wants it."""

    def __init__(self, stream: Piped) -> None:
        self._stream = stream
        self._done = 0

    def read(self, size: int) -> bytes:
        wanted = self._done + size if self._done else text_file.SAMPLE_BYTES
        fresh = self._stream.peek(wanted)[self._done :]
        self._done += len(fresh)
        return fresh
