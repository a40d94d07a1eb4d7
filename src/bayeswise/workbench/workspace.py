"""A workspace: one folder of plain files, beyond which no name leads, and writes that notice what others wrote."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import ConflictError, NotFoundError, UsageError, quoted
from bayeswise.networks.formats import FORMATS, MODEL_SUFFIX
from bayeswise.workbench.messages import Message

FileKind: TypeAlias = Literal["table", "model", "decision", "network", "diagram", "labels", "report"]

_TABLES: tuple[str, ...] = (
    ".csv",
    ".tsv",
    ".txt",
    ".parquet",
    ".arrow",
    ".feather",
    ".jsonl",
    ".ndjson",
    ".json",
    ".xlsx",
    ".ods",
)
_TABLES += (".sqlite", ".db", ".csv.gz", ".tsv.gz", ".csv.zst", ".jsonl.gz")
_KINDS: tuple[tuple[FileKind, tuple[str, ...]], ...] = (
    ("model", (MODEL_SUFFIX,)),
    ("decision", (".toml",)),
    ("network", tuple(FORMATS)),
    ("report", (".html",)),
    ("table", _TABLES),
)
_SESSION = "journal"  # what makes a folder a labelling session
_DIAGRAMS = {  # what only a diagram has, by the format of its file
    ".toml": re.compile(rb"^\s*\[(chance|decision|utility)[.\]]", re.MULTILINE),
    ".xdsl": re.compile(rb"<(decision|utility)\s"),
    ".net": re.compile(rb"^\s*(decision|utility)\s+\w", re.MULTILINE),
    ".dne": re.compile(rb"\bkind\s*=\s*(DECISION|UTILITY)\s*;"),
    **dict.fromkeys(
        (".xmlbif", ".bifxml", ".xml"), re.compile(rb"TYPE\s*=\s*[\"'](decision|utility)[\"']", re.IGNORECASE)
    ),
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_MOST_FILES = 2_000
_DEEPEST = 4
_HASHED_BYTES = 1 << 20
_Answer = TypeVar("_Answer")


class FileView(Message):
    """A file of the workspace."""

    name: str
    kind: FileKind
    size: int
    version: str


class Workspace:
    """A folder; names are relative to it, written with /, and never lead out of it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        root = Path(folder)
        try:
            is_folder = root.is_dir()
        except OSError:  # the name is too long for a folder
            is_folder = False
        if not is_folder:
            raise UsageError(f"there is no folder {quoted(root)}", fix="name a folder with tables or models")
        self.root = root.resolve()
        self._writing = threading.Lock()
        self._answers: OrderedDict[Hashable, object] = OrderedDict()
        self._answering = threading.Lock()

    # -- names ----------------------------------------------------------------------------------------------------
    def place(self, name: str) -> Path:
        """The path of a name, whether a file is there or not; an error if it lies outside or is hidden."""
        parts = name.split("/")
        if len(name) > 1_000 or _CONTROL.search(name) or any(part == "" or part.startswith(".") for part in parts):
            raise _outside(name)
        if Path(name).is_absolute() or Path(name).drive:
            raise _outside(name)
        try:
            path = self.root.joinpath(*parts).resolve()
        except (OSError, ValueError, RuntimeError):  # links in a circle, names that no file can have
            raise _outside(name) from None
        if not path.is_relative_to(self.root) or path == self.root:
            raise _outside(name)
        return path

    def file(self, name: str) -> Path:
        """The path of a regular file that is there."""
        path = self.place(name)
        try:
            regular = stat.S_ISREG(path.stat().st_mode)
        except OSError:
            regular = False
        if not regular:
            raise NotFoundError(f"the workspace has no file {quoted(name)}", fix="choose one that GET /api/files lists")
        return path

    def folder(self, name: str) -> Path:
        """The path of a folder that is there."""
        path = self.place(name)
        if not path.is_dir():
            raise NotFoundError(f"the workspace has no folder {quoted(name)}", fix="check its name")
        return path

    def files(self) -> list[FileView]:
        """The files that a view can open, by name; hidden ones and links that lead out are left out."""
        return sorted(self._walk(self.root, 1), key=lambda entry: entry.name)[:_MOST_FILES]

    def _walk(self, folder: Path, depth: int) -> Iterator[FileView]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries[:_MOST_FILES]:
            path = Path(entry.path)
            name = path.relative_to(self.root).as_posix()
            if entry.name.startswith(".") or _CONTROL.search(entry.name) or not entry.name.isprintable():
                continue
            if entry.is_dir(follow_symlinks=False):
                if (path / _SESSION).is_file():
                    yield FileView(name=name, kind="labels", size=0, version=version_of(path / _SESSION))
                elif depth < _DEEPEST and entry.name not in ("node_modules", "__pycache__"):
                    yield from self._walk(path, depth + 1)
            elif (kind := kind_of(entry.name)) is not None:
                try:
                    found = self.file(name)
                    kind = "diagram" if is_diagram(found) else kind
                    yield FileView(name=name, kind=kind, size=found.stat().st_size, version=version_of(found))
                except (UsageError, OSError):  # a link that leads out, or a file that went away
                    continue

    # -- contents -------------------------------------------------------------------------------------------------
    def write(self, name: str, data: bytes, version: str | None) -> str:
        """Write a file whole if it still has the version that was read (None: there was no file); its new version."""
        path = self.place(name)
        with self._writing:
            self.check_version(name, version)
            write_bytes(path, data)
            return version_of(path)

    def take(self, hidden: str, name: str, version: str | None) -> str:
        """Move a temporary file into its place, unless that has changed meanwhile."""
        path = self.place(name)
        with self._writing:
            self.check_version(name, version)
            (self.root / hidden).replace(path)
            return version_of(path)

    @contextmanager
    def replacing(self, name: str, version: str | None) -> Iterator[Path]:
        """A temporary path to write to; it replaces the file if that is still the one that was read."""
        self.check_version(name, version)
        hidden = f".bayeswise-{secrets.token_hex(8)}{self.place(name).suffix}"
        try:
            yield self.root / hidden
            self.take(hidden, name, version)
        finally:
            (self.root / hidden).unlink(missing_ok=True)

    def check_version(self, name: str, version: str | None) -> None:
        """Refuse to replace a file that is not the one that the user saw."""
        path = self.place(name)
        if path.exists() and not path.is_file():
            raise UsageError(f"{quoted(name)} is not a file", fix="choose another name")
        if not path.parent.is_dir():
            raise NotFoundError(f"{quoted(name)} lies in a folder that does not exist", fix="choose another name")
        found = version_of(path) if path.exists() else None
        if found != version:
            what = "exists already" if version is None else "has changed since it was read"
            raise ConflictError(f"{quoted(name)} {what}", fix="read it again, then repeat the change")

    def remembered(
        self, path: Path, question: Hashable, answer: Callable[[], _Answer], *, also: tuple[Path, ...] = ()
    ) -> _Answer:
        """A cached answer about files, as long as they do not change."""
        key = (*((str(each), version_of(each)) for each in (path, *also)), question)
        with self._answering:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]  # type: ignore[return-value]
        found = answer()
        with self._answering:
            self._answers[key] = found
            while len(self._answers) > 24:
                self._answers.popitem(last=False)
        return found


def kind_of(name: str) -> FileKind | None:
    """What a file holds, by its suffix.

    >>> kind_of("golf.csv"), kind_of("golf.bayeswise"), kind_of("alarm.bif"), kind_of("notes.md")
    ('table', 'model', 'network', None)
    """
    return next((kind for kind, suffixes in _KINDS if name.lower().endswith(suffixes)), None)


def is_diagram(path: Path) -> bool:
    """Whether a file has decisions or utilities beside chance nodes, by its first megabyte."""
    mark = _DIAGRAMS.get(path.suffix.lower())
    if mark is None:
        return False
    with path.open("rb") as file:
        return mark.search(file.read(_HASHED_BYTES)) is not None


def version_of(path: Path) -> str:
    """A version that changes whenever the file does: a hash of a small file, time and size of a large one."""
    status = path.stat()
    if status.st_size <= _HASHED_BYTES:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:24]
    return f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"


def _outside(name: str) -> NotFoundError:
    return NotFoundError(
        f"{quoted(name)} is not a name in the workspace",
        fix="write a path from the workspace's folder on, without .. or hidden folders",
    )
