"""Text files as a stream of UTF-8, whatever their compression and encoding."""

from __future__ import annotations

import codecs
import importlib
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from bayeswise.foundation.errors import NotInstalledError, ParameterError, SourceError

SAMPLE_BYTES = 1 << 18
_NAME_IT = 'name its encoding, as in encoding="latin-1" (--encoding latin-1)'
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BOMS = (("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE))


class Utf8Stream:
    """Bytes of a file, decoded and encoded again as UTF-8; UTF-8 itself passes untouched."""

    def __init__(self, raw: BinaryIO, encoding: str, name: str) -> None:
        self._raw = raw
        self._name = name
        self._encoding = encoding
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("strict")
        self._at_start = True

    def read(self, size: int) -> bytes:
        """About `size` bytes; none at the end of the file."""
        with translated(self._name):
            fresh = self._raw.read(size)
            if self._decoder is not None:
                text = self._decoded(fresh)
                while fresh and not text:  # half a character
                    fresh = self._raw.read(size)
                    text = self._decoded(fresh)
                fresh = text.encode("utf-8")
        if self._at_start and fresh:
            self._at_start = False
            fresh = fresh.removeprefix(codecs.BOM_UTF8)
            return fresh or self.read(size)
        return fresh

    def _decoded(self, fresh: bytes) -> str:
        assert self._decoder is not None
        try:
            return self._decoder.decode(fresh, final=not fresh)
        except UnicodeDecodeError:
            raise
        except UnicodeError as problem:  # no byte is to blame: there is no mark at the beginning
            raise SourceError(f"{self._name} is not {self._encoding}: {problem}", fix=_NAME_IT) from None


@contextmanager
def opened(path: Path, encoding: str, name: str) -> Iterator[Utf8Stream]:
    """The file's text as UTF-8; messages call it by the name."""
    with translated(name), decompressed(path, name) as raw:
        yield Utf8Stream(raw, encoding, name)


@contextmanager
def decompressed(path: Path, name: str) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked if its first bytes say that it is packed."""
    with path.open("rb") as start:
        magic = start.read(6)
    for signature, module in ((b"\x1f\x8b", "gzip"), (b"BZh", "bz2")):
        if magic.startswith(signature):
            with importlib.import_module(module).open(path, "rb") as stream:
                yield cast(BinaryIO, stream)
            return
    with _zstd(path, name) if magic.startswith(b"\x28\xb5\x2f\xfd") else path.open("rb") as stream:
        yield stream


def _zstd(path: Path, name: str) -> BinaryIO:
    for module in ("compression.zstd", "zstandard"):
        try:
            return cast(BinaryIO, importlib.import_module(module).open(path, "rb"))
        except ImportError:
            continue
    raise NotInstalledError(f"{name} is packed with zstd", fix="pip install zstandard, or unpack it first")


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Failures of reading as errors that name the file."""
    try:
        yield
    except (EOFError, zlib.error) as problem:
        raise SourceError(f"{name} is cut off or damaged ({problem})", fix="fetch or pack the file again") from None
    except UnicodeDecodeError as problem:
        what = f"{name} is not {problem.encoding}: byte {problem.object[problem.start]:#04x}"
        raise SourceError(what, fix=_NAME_IT) from None
    except OSError as problem:
        raise SourceError(f"{name} cannot be read: {problem.strerror or problem}", fix="check the file") from None
    except Exception as problem:
        if type(problem).__name__ != "ZstdError":
            raise
        raise SourceError(f"{name} is damaged ({problem})", fix="fetch or pack the file again") from None


def sample_of(path: Path, name: str) -> tuple[bytes, bool]:
    """The first bytes of a file, unpacked, and whether that is all."""
    with translated(name), decompressed(path, name) as raw:
        start = raw.read(SAMPLE_BYTES)
        return start, not raw.read(1)


def encoding_of(name: str, sample: bytes, whole: bool) -> str:
    """UTF-8 or UTF-16, by byte order mark or pattern, else a Western code page.

    >>> encoding_of("a.csv", "größe".encode("latin-1"), whole=True), encoding_of("a.csv", b"size", whole=True)
    ('latin-1', 'utf-8')
    """
    for encoding, mark in _BOMS:
        if sample.startswith(mark):
            return encoding
    zeros = sample.count(0)
    controls = len(_CONTROLS.findall(sample))
    if zeros == len(sample) > 0:
        raise SourceError(f"{name} is not text: it begins with {zeros:,} zero bytes", fix="give a text file")
    if zeros * 3 > len(sample):
        encoding = "utf-16-le" if sample[1::2].count(0) > sample[::2].count(0) else "utf-16-be"
        if "\0" in decoded(sample, encoding):  # zero bytes in pairs are those of numbers, not of letters
            raise SourceError(f"{name} is not text: it holds zero bytes", fix="give a text file")
        return encoding
    if zeros or controls * 20 > len(sample):
        raise SourceError(f"{name} is not text: it holds control codes", fix="give a text file")
    if _decodes(sample, "utf-8", whole):
        return "utf-8"
    # Western files differ in 0x80-0x9F only: letters and quotes on Windows, control codes elsewhere.
    return "cp1252" if re.search(rb"[\x80-\x9f]", sample) and _decodes(sample, "cp1252", whole) else "latin-1"


def _decodes(sample: bytes, encoding: str, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)("strict").decode(sample, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def decoded(sample: bytes, encoding: str) -> str:
    """The text of a sample, which may end within a character."""
    try:
        return codecs.getincrementaldecoder(encoding)("replace").decode(sample).removeprefix("\ufeff")
    except UnicodeError:  # the reader says what is wrong
        return ""


def known_encoding(encoding: str) -> str:
    """The encoding under the name that the rest of this module uses."""
    try:
        "".encode(encoding)  # rot13 and the like are known, and encode no text
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise ParameterError(f"unknown encoding {encoding!r}", fix="use utf-8, utf-16, latin-1, cp1252, ...") from None
    return "utf-8" if name in ("utf-8", "utf-8-sig", "ascii") else name
