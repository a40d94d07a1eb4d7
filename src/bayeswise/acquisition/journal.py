"""An append-only journal: a line for each record, on the disk before it counts, and one writer at a time.

A line is the CRC-32 of a JSON object and the object. A line that a kill or a full disk cut off was never confirmed: it
is taken away when the journal is opened again. Any other damage is an error that names the line.

>>> from tempfile import TemporaryDirectory
>>> folder = TemporaryDirectory()
>>> path = Path(folder.name) / "journal"
>>> with Journal.open(path, {"target": "y"}) as journal:
...     journal.append({"row": 3, "label": "no"})
>>> with Journal.open(path, {"target": "y"}) as journal:
...     journal.records
[{'row': 3, 'label': 'no'}]
>>> folder.cleanup()
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any

from bayeswise.foundation.atomic import FULL, check_writable, sync, sync_directory
from bayeswise.foundation.errors import StoreError, UsageError, quoted
from bayeswise.store.parsing import parse_json, tree_bytes

MOST_BYTES = 1 << 30
MOST_IN_A_LINE = 1 << 22
_OURS = re.compile(rb"[0-9a-f]{8} ")
_OPEN = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Journal:
    """An open journal: its header, its records so far, and how many bytes were cut off at its end."""

    def __init__(self, path: Path, number: int) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.records: list[dict[str, Any]] = []
        self.bytes_cut = 0
        self.is_new = False
        self._number = number
        self._size = 0

    @classmethod
    def open(cls, path: Path, header: dict[str, Any]) -> Journal:
        """Begin a journal with this header, or go on with the one that is there, whose header stays."""
        check_writable(path)
        if path.exists() and not path.is_file():
            raise UsageError(f"{quoted(path)} is not a file", fix="name another session")
        journal = cls(path, os.open(path, _OPEN, 0o666))
        try:
            journal._lock()
            journal._read(line_of(header))
            if not journal.header:
                journal._begin(header)
        except BaseException:
            journal.close()
            raise
        return journal

    def append(self, record: dict[str, Any]) -> None:
        """Write a record; when this returns, it is on the disk. If it fails, nothing has changed."""
        self._write(record)
        self.records.append(record)

    def close(self) -> None:
        """Let another process go on."""
        if self._number >= 0:
            os.close(self._number)
            self._number = -1

    # -- writing ----------------------------------------------------------------------------------------------
    def _begin(self, header: dict[str, Any]) -> None:
        self.is_new = True
        self._write(header)
        sync_directory(self.path.resolve().parent)
        self.header = header

    def _write(self, record: dict[str, Any]) -> None:
        line = line_of(record)
        if len(line) > MOST_IN_A_LINE:
            raise UsageError(f"an answer of {len(line):,} bytes is too long", fix="choose a shorter name")
        try:
            written = os.write(self._number, line)
            while written < len(line):
                written += os.write(self._number, line[written:])
            sync(self._number)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._number, self._size)
            raise _unwritten(self.path, error) from error
        self._refuse_if_gone()
        self._size += len(line)

    def _refuse_if_gone(self) -> None:
        """A file that was deleted takes what is written, and is gone with the process."""
        if os.fstat(self._number).st_nlink == 0:
            raise StoreError(
                f"{str(self.path)!r} was deleted while it was in use: answers are no longer saved",
                fix="restore a copy of it, or start another session",
            )

    # -- reading ----------------------------------------------------------------------------------------------
    def _read(self, first_line: bytes) -> None:
        size = os.fstat(self._number).st_size
        if size > MOST_BYTES:
            raise StoreError(f"{self.path} has {size:,} bytes, too many for a journal", fix="name another session")
        with os.fdopen(os.dup(self._number), "rb") as file:
            file.seek(0)
            *lines, rest = file.read().split(b"\n")
        _refuse_foreign(lines[0] if lines else rest, self.path, first_line)
        trees = [_tree(line, self.path, k + 1) for k, line in enumerate(lines)]
        self._size = sum(len(line) + 1 for line in lines)
        if rest:
            with contextlib.suppress(StoreError):  # whole, but for the end of its line
                trees.append(_tree(rest, self.path, len(lines) + 1))
            self._repair(rest, whole=len(trees) > len(lines))
        if trees:
            self.header, *self.records = trees

    def _repair(self, rest: bytes, whole: bool) -> None:
        """Give the last line its end, or take away what is left of it."""
        try:
            if whole:
                os.write(self._number, b"\n")
                self._size += len(rest) + 1
            else:
                os.ftruncate(self._number, self._size)
                self.bytes_cut = len(rest)
            sync(self._number)
        except OSError as error:
            raise _unwritten(self.path, error) from error

    # -- one writer -------------------------------------------------------------------------------------------
    def _lock(self) -> None:
        """The lock ends with the process, however that ends."""
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(self._number, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(self._number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"another process is working on {str(self.path)!r}", fix="end it first, or name another session"
            ) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def line_of(record: dict[str, Any]) -> bytes:
    """A record as it stands in the journal.

    >>> line_of({"row": 3})
    b'1f13039d {"row":3}\\n'
    """
    tree = tree_bytes(record)
    return b"%08x %b\n" % (zlib.crc32(tree), tree)


def _refuse_foreign(line: bytes, path: Path, first_line: bytes) -> None:
    """Refuse a file whose first line is not a journal header, nor what a kill left of one."""
    if not _OURS.match(line) and not first_line.startswith(line):
        raise UsageError(
            f"{quoted(path)} already exists, and is not a bayeswise journal",
            fix="name another session, or move the file away",
        )


def _tree(line: bytes, path: Path, number: int) -> dict[str, Any]:
    where = f"line {number} of {path}"
    crc, _, tree = line.partition(b" ")
    if len(line) > MOST_IN_A_LINE or crc != b"%08x" % zlib.crc32(tree):
        raise StoreError(f"{where} is damaged", fix="restore a copy of the journal, or name another session")
    record = parse_json(tree, where, most_nodes=1 << 16, deepest=20)
    if not isinstance(record, dict):
        raise StoreError(f"{where} is not a record", fix="restore a copy of the journal, or name another session")
    return record


def _unwritten(path: Path, error: OSError) -> StoreError:
    why = "the disk is full, or no file may be so large" if error.errno in FULL else (error.strerror or str(error))
    return StoreError(
        f"the answer could not be saved in {str(path)!r}: {why}; all earlier ones are safe",
        fix="free some space and run the same command again",
    )
