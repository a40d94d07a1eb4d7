"""Files that are there whole or not at all: written beside their place, forced to the disk, moved into it.

A kill at any moment leaves the old file or the new one, and at most a hidden `.bayeswise-*.partial` beside it, which
the next writer in that directory takes away. Of several writers the last whole one wins. As with `open`: a new file
gets the permissions of the umask, an existing one keeps its own, a link stays and the file it leads to is replaced, a
write-protected file is refused, and a pipe or device (/dev/null) is written to directly. Owner and hard links of
a replaced file are not kept.

>>> from tempfile import TemporaryDirectory
>>> folder = TemporaryDirectory()
>>> path = Path(folder.name) / "answer.txt"
>>> with replacing_text(path) as file:
...     _ = file.write("whole")
...     path.exists()
False
>>> path.read_text()
'whole'
>>> folder.cleanup()
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from bayeswise.foundation.errors import BayeswiseError, StoreError, UsageError

FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_PARTIAL = re.compile(r"\.bayeswise-[0-9a-f]{16}\.partial")
_SECONDS_OF_GRACE = 60.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a place where no file can be written, before the work that would fill it."""
    with _explaining(path):
        status = _status(path)
    folder = Path(os.path.realpath(path)).parent
    if (status is None or stat.S_ISREG(status.st_mode)) and not os.access(folder, os.W_OK):
        raise _cannot(path, "its directory is write-protected", "choose another directory")


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Put the bytes into a file, atomically and durably."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file that takes its place when the block ends without an error; line ends stay as they are."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(OSError, ValueError):
                text.detach()


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes its place when the block ends without an error; otherwise nothing happened."""
    with _explaining(path):
        status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        with _writing_directly(path) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    _clean_up(target.parent)
    partial = target.with_name(f".bayeswise-{os.urandom(8).hex()}.partial")
    beside: BinaryIO | None = None
    try:
        with _explaining(path):
            beside = _created(partial, status)
        with _explaining(path, FULL):  # other errors of the block are not about this file
            yield beside
        with _explaining(path):
            _finish(beside, partial, target)
    except BaseException:
        _abandon(beside, partial)
        raise


@contextlib.contextmanager
def _writing_directly(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    with _explaining(path):
        file = Path(path).open("wb")  # noqa: SIM115 - closed below, where other errors count
    with _explaining(path, FULL), file:
        yield file


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What stands at the path, None if nothing does; an error if no file can."""
    text = os.fspath(path)
    try:
        status = os.stat(text)  # noqa: PTH116 - a Path would drop the slash that says "directory"
    except FileNotFoundError:
        folder = Path(os.path.realpath(text)).parent
        if not folder.is_dir():
            raise _cannot(path, f"there is no directory {str(folder)!r}", "create it first") from None
        if not text or text.endswith(("/", os.sep)):
            raise _cannot(path, "it names no file", "add the name of a file") from None
        return None
    except ValueError as error:  # a zero byte in the path
        raise _cannot(path, str(error), "choose another path") from None
    if stat.S_ISDIR(status.st_mode):
        raise _cannot(path, "it is a directory", "add the name of a file")
    if not os.access(text, os.W_OK):
        raise _cannot(path, "the file is write-protected", "choose another path, or allow writing to it")
    return status


def _clean_up(folder: Path) -> None:
    """Take away what killed writers left: files of our name, a minute old, that no living process has locked."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PARTIAL.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):  # it is in use, or another writer was faster
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _SECONDS_OF_GRACE:
                        _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    number = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0))
    try:
        _lock(number)
        if sys.platform != "win32":
            path.unlink()
    finally:
        os.close(number)
    if sys.platform == "win32":  # an open file stays
        path.unlink()


def _lock(number: int) -> None:
    """Mark a file as in use until it is closed, however its process ends; an error if another one has marked it."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _created(partial: Path, replaced: os.stat_result | None) -> BinaryIO:
    number = os.open(partial, _NEW, 0o666)
    with contextlib.suppress(OSError):  # not every file system has locks
        _lock(number)
    if replaced is not None and hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):  # not every file system has permissions
            os.fchmod(number, stat.S_IMODE(replaced.st_mode) & 0o777)
    return os.fdopen(number, "wb")


def _finish(file: BinaryIO, partial: Path, target: Path) -> None:
    """The order matters: the content is on the disk before the name leads to it."""
    file.flush()
    sync(file.fileno())
    file.close()
    partial.replace(target)
    sync_directory(target.parent)


def _abandon(file: BinaryIO | None, partial: Path) -> None:
    with contextlib.suppress(OSError):  # closing flushes, and the disk may be full
        if file is not None:
            file.close()
    with contextlib.suppress(OSError):
        partial.unlink()


def sync(number: int) -> None:
    """Wait until an open file is on the disk."""
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):  # fsync of macOS leaves the data in the cache of the drive
            fcntl.fcntl(number, fcntl.F_FULLFSYNC)
            return
    os.fsync(number)


def sync_directory(folder: Path) -> None:
    """Make the new name durable; Windows has no such call, and some file systems refuse it."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextlib.contextmanager
def _explaining(path: str | os.PathLike[str], only: frozenset[int] | None = None) -> Iterator[None]:
    """Turn an error of the operating system into one that says what to do, all of them or only some."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BayeswiseError) or (only is not None and error.errno not in only):
            raise
        if error.errno in FULL:
            what = "the disk is full, or no file may be so large; nothing was changed"
            fix = "free some space, or choose another disk"
            raise StoreError(f"cannot write {os.fspath(path)!r}: {what}", fix=fix) from error
        if error.errno in _READ_ONLY:
            raise _cannot(path, "its directory is write-protected", "choose another directory") from error
        raise _cannot(path, error.strerror or str(error), "choose another path") from error


def _cannot(path: str | os.PathLike[str], why: str, fix: str) -> UsageError:
    return UsageError(f"cannot write {os.fspath(path)!r}: {why}", fix=fix)
